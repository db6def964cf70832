// Allocation problems built here, beside those read from a file: the shapes that grow badly
// elsewhere.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace allot::bench {

/// (name, case as a JSON line).
[[nodiscard]] std::vector<std::pair<std::string, std::string>> HardProblems();

}  // namespace allot::bench
