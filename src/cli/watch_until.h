// WatchUntil: follows one object until a condition holds.
// Thread safety: one thread.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "cli/connection.h"
#include "cli/discovery.h"
#include "text/value.h"

namespace allot::cli {

/// Calls `holds` with the object (null when it does not exist) now and after every change, until it
/// says true. A timeout of 0 means no limit. Errors: kTimeout; those of the server.
[[nodiscard]] base::Result<void> WatchUntil(
    Connection& connection,
    const ApiResource& resource,
    const std::string& ns,
    const std::string& name,
    std::chrono::nanoseconds timeout,
    const std::function<bool(const text::Value* object)>& holds);

/// Go's duration text of --timeout; a bare number means seconds; negative means a week, as kubectl
/// has it. Errors: kInvalid naming the flag.
[[nodiscard]] base::Result<std::chrono::nanoseconds> ParseTimeout(std::string_view text);

}  // namespace allot::cli
