// Decimal: an exact decimal number of any length, for quantities that outgrow 64 bits. It is the
// slow form; see exact.h. A value is unscaled * 10^-scale. Thread safety: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace allot::quantity {

class Decimal {
 public:
  Decimal() = default;
  Decimal(std::int64_t unscaled, std::int32_t scale);
  /// REQUIRES: digits holds decimal digits only (empty is zero).
  static Decimal FromDigits(std::string_view digits, bool negative, std::int64_t scale);

  [[nodiscard]] bool IsZero() const { return limbs_.empty(); }
  /// -1, 0 or 1.
  [[nodiscard]] int Sign() const { return limbs_.empty() ? 0 : negative_ ? -1 : 1; }
  void Negate() { negative_ = !negative_ && !limbs_.empty(); }
  /// Multiplies by 2^exponent. REQUIRES: exponent <= 60.
  void ShiftLeft(unsigned exponent);
  /// Rounds away from zero so that no more than `scale` digits stay after the point.
  void RoundUp(std::int64_t scale);
  /// Rounds like RoundUp and gives other numbers than zero that scale, where that takes no more
  /// than 10,000 further digits.
  void Rescale(std::int64_t scale);

  /// -1, 0 or 1. Cost: linear in the digits, whatever the exponents.
  [[nodiscard]] static int Compare(const Decimal& a, const Decimal& b);
  /// Exact sum. When the operands' exponents lie more than 10,000 digits apart, the larger one
  /// alone.
  [[nodiscard]] static Decimal Add(const Decimal& a, const Decimal& b);
  [[nodiscard]] static Decimal Subtract(const Decimal& a, const Decimal& b);

  /// The unscaled number in decimal digits, with its sign.
  [[nodiscard]] std::string UnscaledText() const;
  [[nodiscard]] std::int64_t scale() const { return scale_; }
  /// What the digits take. Unit: bytes.
  [[nodiscard]] std::size_t bytes() const { return limbs_.size() * sizeof(limbs_[0]); }
  /// The unscaled number as the nearest double.
  [[nodiscard]] double UnscaledDouble() const;

 private:
  [[nodiscard]] std::int64_t Digits() const;
  void ScaleUp(std::int64_t digits);
  void MultiplySmall(std::uint32_t factor);
  void Trim();
  static int CompareMagnitude(const Decimal& a, const Decimal& b);

  std::vector<std::uint32_t> limbs_;  // base 10^9, lowest first, no leading zero limb
  bool negative_ = false;
  std::int64_t scale_ = 0;
};

}  // namespace allot::quantity
