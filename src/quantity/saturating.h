// Sums of quantities that end where 128 bits do. A quantity of a request may be the largest there
// is, so a plain sum of two of them overflows, and a negative total fits everywhere.
// Thread safety: pure functions.
#pragma once

#include <limits>

#include "quantity/quantity.h"

namespace allot::quantity {

inline constexpr Int128 kMaxInt128 = std::numeric_limits<Int128>::max();
inline constexpr Int128 kMinInt128 = std::numeric_limits<Int128>::min();

/// a + b, or the end of the range the sum lies beyond.
[[nodiscard]] constexpr Int128 SaturatingAdd(Int128 a, Int128 b) {
  Int128 sum = 0;
  return !__builtin_add_overflow(a, b, &sum) ? sum : a < 0 ? kMinInt128 : kMaxInt128;
}

[[nodiscard]] constexpr Int128 SaturatingSubtract(Int128 a, Int128 b) {
  Int128 rest = 0;
  return !__builtin_sub_overflow(a, b, &rest) ? rest : a < 0 ? kMinInt128 : kMaxInt128;
}

[[nodiscard]] constexpr Int128 SaturatingMultiply(Int128 a, Int128 b) {
  Int128 product = 0;
  return !__builtin_mul_overflow(a, b, &product) ? product
         : (a < 0) != (b < 0)                    ? kMinInt128
                                                 : kMaxInt128;
}

/// Adds the value of `amount`; `sum` keeps its format.
constexpr void AddTo(Quantity& sum, const Quantity& amount) {
  sum.nanos = SaturatingAdd(sum.nanos, amount.nanos);
}

}  // namespace allot::quantity
