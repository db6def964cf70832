#include "quantity/exact.h"

#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

namespace allot::quantity {
namespace {

constexpr std::string_view kFormatWrong =
    "quantities must match the regular expression "
    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

struct Scanned {
  bool negative = false;
  std::string_view num;    // digits before the point, leading zeros cut
  std::string_view denom;  // digits after the point
  std::string_view suffix;
  bool digits = false;  // there is one, be it a leading zero
};

std::size_t DigitsEnd(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
    ++at;
  }
  return at;
}

// Splits the text as upstream's scanner does; a missing number is zero to it. False: not the form
// of a quantity.
bool Scan(std::string_view text, Scanned& out) {
  std::size_t at = 0;
  if (text[0] == '-' || text[0] == '+') {
    out.negative = text[0] == '-';
    at = 1;
  }
  const std::size_t first = at;
  while (at < text.size() && text[at] == '0') {
    ++at;
  }
  std::size_t end = DigitsEnd(text, at);
  out.num = end == at ? std::string_view("0") : text.substr(at, end - at);
  at = end;
  if (at < text.size() && text[at] == '.') {
    end = DigitsEnd(text, at + 1);
    out.denom = text.substr(at + 1, end - at - 1);
    at = end;
  }
  out.digits = end > first && (end > first + 1 || text[first] != '.');
  end = at;
  while (end < text.size() && std::string_view("eEinumkKMGTP").contains(text[end])) {
    ++end;
  }
  if (end < text.size() && (text[end] == '-' || text[end] == '+')) {
    ++end;
  }
  end = DigitsEnd(text, end);
  out.suffix = text.substr(at);
  return end == text.size();
}

struct Suffix {
  int base = 10;
  std::int32_t exponent = 0;
  Format format = Format::kDecimalSi;
};

bool ReadExponent(std::string_view text, std::int32_t& out) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) {
    text.remove_prefix(1);
  }
  if (text.empty()) {
    return false;
  }
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || __builtin_mul_overflow(value, 10U, &value) ||
        __builtin_add_overflow(value, static_cast<unsigned>(c - '0'), &value)) {
      return false;
    }
  }
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (value > kMax + (negative ? 1U : 0U)) {
    return false;
  }
  // Upstream reads 64 bits and keeps the lower 32.
  out = static_cast<std::int32_t>(static_cast<std::uint32_t>(negative ? 0 - value : value));
  return true;
}

bool ReadSuffix(std::string_view text, Suffix& out) {
  if (text.empty()) {
    return true;
  }
  constexpr std::string_view kScale = "KMGTPE";
  if (text.size() == 1) {
    switch (text[0]) {
      case 'n': out.exponent = -9; return true;
      case 'u': out.exponent = -6; return true;
      case 'm': out.exponent = -3; return true;
      case 'k': out.exponent = 3; return true;
      default: break;
    }
    const std::size_t index = kScale.find(text[0]);
    if (index == std::string_view::npos || index == 0) {
      return false;
    }
    out.exponent = static_cast<std::int32_t>(index + 1) * 3;
    return true;
  }
  if (text.size() == 2 && text[1] == 'i') {
    const std::size_t index = kScale.find(text[0]);
    if (index == std::string_view::npos) {
      return false;
    }
    out = {2, static_cast<std::int32_t>(index + 1) * 10, Format::kBinarySi};
    return true;
  }
  if (text[0] == 'e' || text[0] == 'E') {
    out.format = Format::kDecimalExponent;
    return ReadExponent(text.substr(1), out.exponent);
  }
  return false;
}

bool FastValue(const Scanned& scanned, const Suffix& suffix, std::int64_t& out) {
  std::int64_t value = 0;
  for (const std::string_view part : {scanned.num, scanned.denom}) {
    for (const char c : part) {
      if (__builtin_mul_overflow(value, std::int64_t{10}, &value) ||
          __builtin_add_overflow(value, std::int64_t{c - '0'}, &value)) {
        return false;
      }
    }
  }
  if (suffix.base == 2 &&
      __builtin_mul_overflow(value, std::int64_t{1} << suffix.exponent, &value)) {
    return false;
  }
  out = scanned.negative ? -value : value;
  return true;
}

bool MultiplyPow10(std::int64_t& value, std::int64_t exponent) {
  if (value == 0) {
    return true;
  }
  for (; exponent > 0; --exponent) {
    if (__builtin_mul_overflow(value, std::int64_t{10}, &value)) {
      return false;
    }
  }
  return true;
}

// Upstream's int64 addition at the smaller exponent; false when it would overflow.
bool AddFast(std::int64_t& value,
             std::int32_t& exponent,
             std::int64_t other,
             std::int32_t other_exponent) {
  if (other == 0) {
    return true;
  }
  if (value == 0) {
    value = other;
    exponent = other_exponent;
    return true;
  }
  std::int64_t left = value;
  const std::int32_t low = std::min(exponent, other_exponent);
  if (!MultiplyPow10(left, std::int64_t{exponent} - low) ||
      !MultiplyPow10(other, std::int64_t{other_exponent} - low) ||
      __builtin_add_overflow(left, other, &left)) {
    return false;
  }
  value = left;
  exponent = low;
  return true;
}

// Go's Pow10: a power of 10^32 times (below one: through) a smaller one, which rounds once more.
double GoPow10(std::int64_t exponent) {
  static constexpr double kSmall[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                      1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                      1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22, 1e23,
                                      1e24, 1e25, 1e26, 1e27, 1e28, 1e29, 1e30, 1e31};
  static constexpr double kLarge[] = {
      1e0, 1e32, 1e64, 1e96, 1e128, 1e160, 1e192, 1e224, 1e256, 1e288};
  static constexpr double kTiny[] = {
      1e0, 1e-32, 1e-64, 1e-96, 1e-128, 1e-160, 1e-192, 1e-224, 1e-256, 1e-288, 1e-320};
  if (exponent > 308) {
    return std::numeric_limits<double>::infinity();
  }
  if (exponent >= 0) {
    return kLarge[exponent / 32] * kSmall[exponent % 32];
  }
  return exponent < -323 ? 0.0 : kTiny[-exponent / 32] / kSmall[-exponent % 32];
}

Int128 SaturateNanos(const Decimal& decimal) {
  constexpr Int128 kMax = static_cast<Int128>(~static_cast<unsigned __int128>(0) >> 1);
  Decimal rounded = decimal;
  rounded.RoundUp(9);
  const std::string text = rounded.UnscaledText();
  const bool negative = text[0] == '-';
  Int128 value = 0;
  const auto push = [&](int digit) {
    return !__builtin_mul_overflow(value, static_cast<Int128>(10), &value) &&
           !__builtin_add_overflow(value, static_cast<Int128>(digit), &value);
  };
  for (const char c : std::string_view(text).substr(negative ? 1 : 0)) {
    if (!push(c - '0')) {
      return negative ? -kMax : kMax;
    }
  }
  for (std::int64_t i = rounded.scale(); i < 9 && value != 0; ++i) {
    if (!push(0)) {
      return negative ? -kMax : kMax;
    }
  }
  return negative ? -value : value;
}

// A whole number with the largest binary suffix that it has; nothing when it is not whole.
std::optional<std::string> BinaryText(std::string digits, std::int64_t scale) {
  constexpr std::int64_t kLongest = 10'000;
  if (scale <= 0 && -scale <= kLongest) {
    digits.append(static_cast<std::size_t>(-scale), '0');
  } else {
    const std::size_t end = digits.find_last_not_of('0') + 1;
    if (scale < 0 || static_cast<std::int64_t>(digits.size() - end) < scale) {
      return std::nullopt;
    }
    digits.resize(digits.size() - static_cast<std::size_t>(scale));
  }
  const bool negative = digits[0] == '-';
  digits.erase(0, negative ? 1 : 0);
  constexpr std::string_view kSuffix[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  std::size_t step = 0;
  for (; step + 1 < std::size(kSuffix); ++step) {
    std::string quotient;
    int rest = 0;
    for (const char c : digits) {
      rest = rest * 10 + (c - '0');
      if (!quotient.empty() || rest >= 1024) {
        quotient += static_cast<char>('0' + rest / 1024);
      }
      rest %= 1024;
    }
    if (rest != 0) {
      break;
    }
    digits = std::move(quotient);
  }
  return (negative ? "-" : "") + digits + std::string(kSuffix[step]);
}

}  // namespace

base::Result<ExactQuantity> ExactQuantity::Parse(std::string_view text) {
  Scanned scanned;
  if (text.empty() || !Scan(text, scanned)) {
    return base::Error(base::Reason::kInvalid, std::string(kFormatWrong));
  }
  Suffix suffix;
  if (!ReadSuffix(scanned.suffix, suffix)) {
    return base::Error(base::Reason::kInvalid, "unable to parse quantity's suffix");
  }
  const auto num = static_cast<std::int64_t>(scanned.num.size());
  const auto denom = static_cast<std::int64_t>(scanned.denom.size());
  std::int64_t precision = 18 - num - denom;
  std::int32_t exponent = suffix.exponent;
  if (suffix.base == 2) {
    exponent = 0;
    precision = denom != 0 ? -1 : 15 - num - std::int64_t{suffix.exponent * 3 / 10} - 1;
  }
  ExactQuantity out;
  out.format_ = suffix.format;
  // 32 bits upstream, which wrap at the lowest exponent.
  const auto shifted = static_cast<std::int32_t>(exponent - denom);
  if (precision >= 0 && shifted >= -9 && FastValue(scanned, suffix, out.value_)) {
    out.exponent_ = shifted;
    const std::string digits = std::string(scanned.num) + std::string(scanned.denom);
    out.keeps_text_ = suffix.base == 2
                          ? ((out.value_ >> suffix.exponent) & 7) != 0
                          : out.exponent_ % 3 == 0 && !digits.ends_with("000") && digits[0] != '0';
    out.keeps_text_ = out.keeps_text_ || text == "0";
    return out;
  }
  if (!scanned.digits) {
    return base::Error(base::Reason::kInvalid, "unable to parse numeric part of quantity");
  }
  out.value_ = 0;
  const std::string digits = std::string(scanned.num) + std::string(scanned.denom);
  const std::int64_t scale = denom - (suffix.base == 10 ? suffix.exponent : 0);
  Decimal amount = Decimal::FromDigits(digits, /*negative=*/false, scale);
  if (suffix.base == 2) {
    amount.ShiftLeft(static_cast<unsigned>(suffix.exponent));
  }
  // Upstream keeps every slow form in nanos, which the two roundings of its float show.
  amount.Rescale(9);
  if (suffix.base == 2) {
    const Decimal cap(std::numeric_limits<std::int64_t>::max(), 0);
    if (Decimal::Compare(amount, cap) > 0) {
      amount = cap;
    }
    if (!amount.IsZero() && Decimal::Compare(amount, Decimal(1, 0)) < 0) {
      out.format_ = Format::kDecimalSi;
    }
  }
  if (scanned.negative) {
    amount.Negate();
  }
  out.slow_ = std::make_shared<const Decimal>(std::move(amount));
  return out;
}

ExactQuantity ExactQuantity::FromQuantity(const Quantity& q) {
  // Whole small numbers are the common case and need no text.
  constexpr Int128 kNano = 1'000'000'000;
  if (q.format == Format::kDecimalSi && q.nanos % kNano == 0) {
    const Int128 units = q.nanos / kNano;
    if (units > -1'000'000'000'000'000 && units < 1'000'000'000'000'000) {
      return ExactQuantity(static_cast<std::int64_t>(units), 0, q.format);
    }
  }
  // So are binary ones that print with a suffix, where the digits leave room for it.
  if (q.format == Format::kBinarySi && q.nanos != 0 && q.nanos % (kNano * 1024) == 0) {
    const Int128 units = q.nanos / kNano;
    if (units > -1'000'000'000'000 && units < 1'000'000'000'000) {
      return ExactQuantity(static_cast<std::int64_t>(units), 0, q.format);
    }
  }
  auto parsed = Parse(q.ToString());
  return parsed ? *std::move(parsed) : ExactQuantity();
}

int ExactQuantity::Sign() const {
  return slow_ != nullptr ? slow_->Sign() : value_ == 0 ? 0 : value_ < 0 ? -1 : 1;
}

std::optional<std::int64_t> ExactQuantity::AsInt64() const {
  std::int64_t value = value_;
  if (slow_ != nullptr || exponent_ < 0 || !MultiplyPow10(value, exponent_)) {
    return std::nullopt;
  }
  return value;
}

double ExactQuantity::AsApproximateDouble() const {
  const double base = slow_ != nullptr ? slow_->UnscaledDouble() : static_cast<double>(value_);
  const std::int64_t exponent = slow_ != nullptr ? -slow_->scale() : exponent_;
  if (exponent == 0) {
    return base;
  }
  return base * GoPow10(exponent);
}

Decimal ExactQuantity::ToDecimal() const {
  return slow_ != nullptr ? *slow_ : Decimal(value_, -exponent_);
}

ExactQuantity ExactQuantity::Slowed() const {
  ExactQuantity out = *this;
  if (slow_ == nullptr) {
    out.slow_ = std::make_shared<const Decimal>(ToDecimal());
    out.value_ = 0;
    out.exponent_ = 0;
  }
  return out;
}

Quantity ExactQuantity::ToQuantity() const {
  if (slow_ == nullptr && exponent_ >= -9 && exponent_ <= 9) {
    Int128 nanos = value_;
    for (int i = -9; i < exponent_; ++i) {
      nanos *= 10;
    }
    return {nanos, format_};
  }
  return {SaturateNanos(ToDecimal()), format_};
}

std::string ExactQuantity::ToString() const {
  const Decimal decimal = ToDecimal();
  const std::string text = decimal.UnscaledText();
  const std::int64_t length = static_cast<std::int64_t>(text.size()) - decimal.scale();
  constexpr std::int64_t kLong = 19;  // of 64 bits
  if (format_ == Format::kBinarySi && length > kLong) {
    if (auto binary = BinaryText(text, decimal.scale())) {
      return *std::move(binary);
    }
  }
  if (length <= 28) {
    return ToQuantity().ToString();
  }
  // Beyond 128 bits.
  std::string digits = text;
  std::int64_t exponent = -decimal.scale();
  while (digits.size() > 1 && digits.back() == '0') {
    digits.pop_back();
    ++exponent;
  }
  const std::int64_t top = format_ == Format::kDecimalExponent ? exponent : std::int64_t{18};
  while (exponent % 3 != 0 || (exponent > top && digits.size() < 10'000)) {
    digits += '0';
    --exponent;
  }
  if (exponent == 0) {
    return digits;
  }
  if (format_ == Format::kDecimalExponent || exponent > 18 || exponent < -9) {
    return digits + "e" + std::to_string(exponent);
  }
  constexpr std::string_view kSuffix = "num kMGTPE";
  return digits + kSuffix[static_cast<std::size_t>(exponent / 3 + 3)];
}

int ExactQuantity::Compare(const ExactQuantity& a, const ExactQuantity& b) {
  if (a.fast() && b.fast() && a.exponent_ == b.exponent_) {
    return a.value_ < b.value_ ? -1 : a.value_ > b.value_ ? 1 : 0;
  }
  return Decimal::Compare(a.ToDecimal(), b.ToDecimal());
}

ExactQuantity ExactQuantity::Add(const ExactQuantity& a, const ExactQuantity& b) {
  ExactQuantity out = a;
  out.keeps_text_ = false;
  if (a.Sign() == 0) {
    out.format_ = b.format_;
  }
  if (a.fast() && b.fast() && AddFast(out.value_, out.exponent_, b.value_, b.exponent_)) {
    return out;
  }
  out.slow_ = std::make_shared<const Decimal>(Decimal::Add(a.ToDecimal(), b.ToDecimal()));
  out.value_ = 0;
  out.exponent_ = 0;
  return out;
}

ExactQuantity ExactQuantity::Subtract(const ExactQuantity& a, const ExactQuantity& b) {
  ExactQuantity out = a;
  out.keeps_text_ = false;
  if (a.Sign() == 0) {
    out.format_ = b.format_;
  }
  // Upstream negates the int64 with wrap-around, so the lowest value stays negative.
  const auto negated = static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(b.value_));
  if (a.fast() && b.fast() && AddFast(out.value_, out.exponent_, negated, b.exponent_)) {
    return out;
  }
  out.slow_ = std::make_shared<const Decimal>(Decimal::Subtract(a.ToDecimal(), b.ToDecimal()));
  out.value_ = 0;
  out.exponent_ = 0;
  return out;
}

}  // namespace allot::quantity
