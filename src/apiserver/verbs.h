// Verb: what a request does to a resource, spelt as the API spells it, and sets of verbs.
// Thread safety: values.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace allot::apiserver {

enum class Verb : std::uint8_t {
  kCreate,
  kDelete,
  kDeleteCollection,
  kGet,
  kList,
  kPatch,
  kUpdate,
  kWatch,
};

/// The word of discovery and authorization ("deletecollection").
[[nodiscard]] constexpr std::string_view VerbText(Verb verb) {
  constexpr std::string_view kTexts[] = {
      "create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
  return kTexts[static_cast<int>(verb)];
}

class VerbSet {
 public:
  constexpr VerbSet() = default;
  constexpr VerbSet(std::initializer_list<Verb> verbs) {
    for (const Verb verb : verbs) {
      bits_ |= Bit(verb);
    }
  }
  [[nodiscard]] constexpr bool Has(Verb verb) const { return (bits_ & Bit(verb)) != 0; }

 private:
  static constexpr std::uint32_t Bit(Verb verb) { return 1U << static_cast<unsigned>(verb); }
  std::uint32_t bits_ = 0;
};

}  // namespace allot::apiserver
