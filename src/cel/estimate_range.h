// Saturating ranges of sizes and costs. Thread safety: values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace allot::cel {

inline constexpr std::uint64_t kUnbounded = std::numeric_limits<std::uint64_t>::max();

[[nodiscard]] constexpr std::uint64_t SaturatingAdd(std::uint64_t a, std::uint64_t b) {
  return a > kUnbounded - b ? kUnbounded : a + b;
}
[[nodiscard]] constexpr std::uint64_t SaturatingMultiply(std::uint64_t a, std::uint64_t b) {
  return b != 0 && a > kUnbounded / b ? kUnbounded : a * b;
}
/// The product with a factor, rounded up.
[[nodiscard]] inline std::uint64_t ScaledUp(std::uint64_t size, double factor) {
  constexpr double kTwo64 = 18446744073709551616.0;
  const double number = static_cast<double>(size);
  if (number > 0 && factor > 0 && number > kTwo64 / factor) {
    return kUnbounded;
  }
  const double up = std::ceil(number * factor);
  return up >= kTwo64 ? kUnbounded : static_cast<std::uint64_t>(up);
}

struct Range {
  std::uint64_t min = 0;
  std::uint64_t max = 0;

  static constexpr Range Fixed(std::uint64_t value) { return {value, value}; }
  static constexpr Range Unknown() { return {0, kUnbounded}; }

  [[nodiscard]] constexpr Range Plus(Range other) const {
    return {SaturatingAdd(min, other.min), SaturatingAdd(max, other.max)};
  }
  [[nodiscard]] constexpr Range Times(Range other) const {
    return {SaturatingMultiply(min, other.min), SaturatingMultiply(max, other.max)};
  }
  [[nodiscard]] Range Scaled(double factor) const {
    return {ScaledUp(min, factor), ScaledUp(max, factor)};
  }
  [[nodiscard]] constexpr Range Union(Range other) const {
    return {std::min(min, other.min), std::max(max, other.max)};
  }
};

}  // namespace allot::cel
