// What others have reported of a pod that waits: why its claim cannot be created (a quota, say), or
// why its devices cannot be prepared. The scheduler knows neither. Thread safety: pure functions.
#pragma once

#include <string>

#include "text/value.h"

namespace allot::cli {

/// Causes with examples and what helps, from an EventList; empty when no event tells of one.
[[nodiscard]] std::string ReportedText(const text::Value& events);

}  // namespace allot::cli
