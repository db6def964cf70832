// UnifiedDiff: the lines in which two texts differ, with three lines around, as Python's difflib
// and its Go port find them. Thread safety: stateless.
#pragma once

#include <string>
#include <string_view>

namespace allot::api {

/// `@@ -3,7 +3,7 @@` and the lines, each group with its own head; empty when the texts are equal.
[[nodiscard]] std::string UnifiedDiff(std::string_view before, std::string_view after);

}  // namespace allot::api
