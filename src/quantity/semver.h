// Semver: a semantic version 2.0.0 as the API's version attributes and CEL's semver() hold it.
// Thread safety: values. Lifetime: views into the text they were parsed from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace allot::quantity {

struct Semver {
  std::uint64_t major_number = 0;
  std::uint64_t minor_number = 0;
  std::uint64_t patch_number = 0;
  std::string_view pre;    ///< pre-release identifiers, joined by dots; empty = none
  std::string_view build;  ///< build identifiers, joined by dots; empty = none

  [[nodiscard]] std::string ToString() const;
};

/// Parses strictly: MAJOR.MINOR.PATCH[-pre][+build].
/// Errors: kInvalid with the text of blang/semver. Lifetime: the answer points into `text`.
[[nodiscard]] base::Result<Semver> ParseSemver(std::string_view text);

/// Rewrites a lenient version ("v1.02") to a strict one ("1.2.0") as CEL's semver(s, true) does.
/// Errors: kInvalid, a short version with pre-release or build.
[[nodiscard]] base::Result<std::string> NormalizeSemver(std::string_view text);

/// Precedence: -1, 0 or 1. Build data counts for nothing.
[[nodiscard]] int CompareSemver(const Semver& a, const Semver& b);

}  // namespace allot::quantity
