// Label and field selectors of list, watch and deletecollection requests.
// Thread safety: values; const access from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace allot::apiserver {

class LabelSelector {
 public:
  enum class Op : std::uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGreater, kLess };
  struct Requirement {
    std::string key;
    Op op = Op::kExists;
    std::vector<std::string> values;

    friend bool operator==(const Requirement&, const Requirement&) = default;
  };

  LabelSelector() = default;
  /// Parses `a=b,c!=d,e in (f,g),h notin (i),j,!k,l>1`.
  /// Errors: kBadRequest with upstream's texts.
  [[nodiscard]] static base::Result<LabelSelector> Parse(std::string_view text);

  [[nodiscard]] bool empty() const { return requirements_.empty(); }
  /// `lookup` is any callable from a key to optional<string_view>.
  template <typename Lookup>
  [[nodiscard]] bool Matches(const Lookup& lookup) const {
    for (const Requirement& requirement : requirements_) {
      if (!MatchesOne(requirement, lookup(requirement.key))) {
        return false;
      }
    }
    return true;
  }

  friend bool operator==(const LabelSelector&, const LabelSelector&) = default;

 private:
  static bool MatchesOne(const Requirement& requirement, std::optional<std::string_view> value);

  std::vector<Requirement> requirements_;
};

class FieldSelector {
 public:
  struct Term {
    std::string field;
    std::string value;
    bool equal = true;  ///< false for !=

    friend bool operator==(const Term&, const Term&) = default;
  };

  FieldSelector() = default;
  /// Parses `a.b=c,d.e!=f` with backslash escapes. Errors: kBadRequest with upstream's texts.
  [[nodiscard]] static base::Result<FieldSelector> Parse(std::string_view text);

  [[nodiscard]] bool empty() const { return terms_.empty(); }
  [[nodiscard]] const std::vector<Term>& terms() const { return terms_; }
  /// The value that `field` must have, when the selector fixes it.
  [[nodiscard]] std::optional<std::string_view> Required(std::string_view field) const;

  friend bool operator==(const FieldSelector&, const FieldSelector&) = default;

 private:
  std::vector<Term> terms_;
};

}  // namespace allot::apiserver
