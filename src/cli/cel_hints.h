// Hints for people whose device expression does not do what they meant.
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cel/device.h"

namespace allot::cli {

/// What may be wrong with an expression, one sentence each. `device` is null when none is known;
/// `error` is the compile or run-time error, empty when there was none.
[[nodiscard]] std::vector<std::string> CelHints(std::string_view expression,
                                                std::string_view error,
                                                const cel::DeviceView* device);

}  // namespace allot::cli
