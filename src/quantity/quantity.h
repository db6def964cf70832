// Quantity: resource.Quantity of the Kubernetes API as an exact scalar value.
//
// A value is a count of nanos (10^-9), which holds every quantity the API admits: upstream caps at
// +-(2^63-1) and rounds up to nanos on parsing. Trivially copyable, so it lives in arena structs.
// Thread safety: a value.  See: apimachinery pkg/api/resource; reference pages cel.md and
// allocation.md.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace allot::quantity {

__extension__ using Int128 = __int128;

/// The family of suffixes a quantity was written with and is printed with.
enum class Format : std::uint8_t { kDecimalSi, kBinarySi, kDecimalExponent };

struct Quantity {
  Int128 nanos = 0;
  Format format = Format::kDecimalSi;

  /// Compares by value alone: "1" equals "1000m".
  friend std::strong_ordering operator<=>(const Quantity& a, const Quantity& b) {
    return a.nanos < b.nanos   ? std::strong_ordering::less
           : a.nanos > b.nanos ? std::strong_ordering::greater
                               : std::strong_ordering::equal;
  }
  friend bool operator==(const Quantity& a, const Quantity& b) { return a.nanos == b.nanos; }

  [[nodiscard]] bool IsZero() const { return nanos == 0; }
  /// The value rounded up to whole units (away from zero), as upstream's Value(); saturates at
  /// int64.
  [[nodiscard]] std::int64_t Value() const;
  /// The value in thousandths rounded up, as upstream's MilliValue(); saturates at int64.
  [[nodiscard]] std::int64_t MilliValue() const;
  /// The canonical text: upstream's String() of a computed quantity ("1500m", "1Gi", "12e6").
  [[nodiscard]] std::string ToString() const;

  [[nodiscard]] static Quantity FromInt(std::int64_t units, Format format = Format::kDecimalSi) {
    return {static_cast<Int128>(units) * 1'000'000'000, format};
  }
};

/// Parses the text of a quantity with upstream's grammar.
/// Errors: kInvalid with upstream's text ("quantities must match the regular expression ...").
[[nodiscard]] base::Result<Quantity> ParseQuantity(std::string_view text);

}  // namespace allot::quantity
