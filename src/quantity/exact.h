// ExactQuantity: a quantity in the two forms upstream computes with, an int64 with a decimal
// exponent (fast) and a decimal of any length (slow). Which form a value has is visible to CEL:
// only the fast form is ever an integer. Thread safety: values; the decimal behind a slow form is
// immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "quantity/decimal.h"
#include "quantity/quantity.h"

namespace allot::quantity {

class ExactQuantity {
 public:
  ExactQuantity() = default;
  explicit ExactQuantity(std::int64_t value,
                         std::int32_t exponent = 0,
                         Format format = Format::kDecimalSi)
      : value_(value), exponent_(exponent), format_(format) {}

  /// Parses upstream's grammar. Errors: kInvalid with upstream's text.
  static base::Result<ExactQuantity> Parse(std::string_view text);
  /// The form the canonical text of `q` parses to: what a stored object holds.
  static ExactQuantity FromQuantity(const Quantity& q);

  [[nodiscard]] bool fast() const { return slow_ == nullptr; }
  [[nodiscard]] std::int64_t value() const { return value_; }
  [[nodiscard]] std::int32_t exponent() const { return exponent_; }
  [[nodiscard]] Format format() const { return format_; }
  [[nodiscard]] const Decimal* slow() const { return slow_.get(); }
  /// Whether upstream prints the text the value was parsed from instead of a canonical one.
  [[nodiscard]] bool keeps_text() const { return keeps_text_; }

  [[nodiscard]] int Sign() const;
  /// The value as int64; nothing for the slow form, a negative exponent or an overflow.
  [[nodiscard]] std::optional<std::int64_t> AsInt64() const;
  /// Upstream's AsApproximateFloat64: two roundings.
  [[nodiscard]] double AsApproximateDouble() const;
  [[nodiscard]] Decimal ToDecimal() const;
  /// The slow form of the same value.
  [[nodiscard]] ExactQuantity Slowed() const;
  /// Nanos, saturated.
  [[nodiscard]] Quantity ToQuantity() const;
  /// Upstream's canonical text.
  [[nodiscard]] std::string ToString() const;

  /// -1, 0 or 1, exact.
  [[nodiscard]] static int Compare(const ExactQuantity& a, const ExactQuantity& b);
  [[nodiscard]] static ExactQuantity Add(const ExactQuantity& a, const ExactQuantity& b);
  [[nodiscard]] static ExactQuantity Subtract(const ExactQuantity& a, const ExactQuantity& b);

 private:
  std::int64_t value_ = 0;
  std::int32_t exponent_ = 0;
  Format format_ = Format::kDecimalSi;
  bool keeps_text_ = false;
  std::shared_ptr<const Decimal> slow_;
};

}  // namespace allot::quantity
