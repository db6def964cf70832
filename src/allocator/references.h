// References: which attributes and capacities an expression reads, for explanations.
//
// Read off the text, not the parsed expression: a reference that is built at run time is not seen,
// and nothing but the words of an explanation depends on it. Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace allot::allocator {

enum class Section : std::uint8_t { kAttributes, kCapacity };

/// `device.attributes["domain"].id`, with all spellings of it.
struct Reference {
  Section section = Section::kAttributes;
  std::string domain;  ///< empty: `device.driver`
  std::string id;

  friend bool operator==(const Reference&, const Reference&) = default;
};

/// The references of an expression, each once, in the order of the text.
[[nodiscard]] std::vector<Reference> ReferencesOf(std::string_view expression);
/// The drivers it compares `device.driver` with by `==`.
[[nodiscard]] std::vector<std::string> DriversOf(std::string_view expression);

/// The candidate that looks like a misspelling of `name`; empty when none does.
[[nodiscard]] std::string_view LooksLike(std::string_view name,
                                         const std::vector<std::string_view>& candidates);

}  // namespace allot::allocator
