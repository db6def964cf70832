// How far one word is from another, for "did you mean" hints.
#pragma once

#include <cstddef>
#include <string_view>

namespace allot::cli {

/// Levenshtein's distance: characters to insert, delete or replace.
[[nodiscard]] std::size_t EditDistance(std::string_view a, std::string_view b);

}  // namespace allot::cli
