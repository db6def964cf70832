// Waiting for SIGINT or SIGTERM, the way every long-running verb ends.
// Thread safety: call Block in main before any thread is made.
#pragma once

#include <chrono>
#include <functional>

namespace allot {

/// Blocks SIGINT and SIGTERM in this thread and all made later, so that Wait gets them.
void BlockEndSignals();
/// Waits for one of them, or until `ended` says true (asked four times a second). Returns whether
/// it was a signal.
bool WaitForEnd(const std::function<bool()>& ended = [] { return false; });

}  // namespace allot
