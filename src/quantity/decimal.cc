#include "quantity/decimal.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

namespace allot::quantity {
namespace {

constexpr std::uint32_t kBase = 1'000'000'000;
constexpr std::int64_t kMaxGap = 10'000;

constexpr std::uint32_t kPow10[] = {
    1, 10, 100, 1'000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000};

}  // namespace

Decimal::Decimal(std::int64_t unscaled, std::int32_t scale)
    : negative_(unscaled < 0), scale_(scale) {
  auto rest =
      negative_ ? 0 - static_cast<std::uint64_t>(unscaled) : static_cast<std::uint64_t>(unscaled);
  for (; rest != 0; rest /= kBase) {
    limbs_.push_back(static_cast<std::uint32_t>(rest % kBase));
  }
}

Decimal Decimal::FromDigits(std::string_view digits, bool negative, std::int64_t scale) {
  Decimal out;
  out.scale_ = scale;
  for (std::size_t end = digits.size(); end > 0;) {
    const std::size_t start = end >= 9 ? end - 9 : 0;
    std::uint32_t limb = 0;
    for (std::size_t i = start; i < end; ++i) {
      limb = limb * 10 + static_cast<std::uint32_t>(digits[i] - '0');
    }
    out.limbs_.push_back(limb);
    end = start;
  }
  out.Trim();
  out.negative_ = negative && !out.limbs_.empty();
  return out;
}

void Decimal::Trim() {
  while (!limbs_.empty() && limbs_.back() == 0) {
    limbs_.pop_back();
  }
}

void Decimal::MultiplySmall(std::uint32_t factor) {
  std::uint64_t carry = 0;
  for (std::uint32_t& limb : limbs_) {
    const std::uint64_t product = static_cast<std::uint64_t>(limb) * factor + carry;
    limb = static_cast<std::uint32_t>(product % kBase);
    carry = product / kBase;
  }
  if (carry != 0) {
    limbs_.push_back(static_cast<std::uint32_t>(carry));
  }
}

void Decimal::ShiftLeft(unsigned exponent) {
  for (; exponent >= 20; exponent -= 20) {
    MultiplySmall(1U << 20);
  }
  MultiplySmall(1U << exponent);
}

void Decimal::ScaleUp(std::int64_t digits) {
  scale_ += digits;
  if (limbs_.empty()) {
    return;
  }
  MultiplySmall(kPow10[digits % 9]);
  limbs_.insert(limbs_.begin(), static_cast<std::size_t>(digits / 9), 0);
}

std::int64_t Decimal::Digits() const {
  if (limbs_.empty()) {
    return 0;
  }
  std::int64_t count = static_cast<std::int64_t>(limbs_.size() - 1) * 9;
  for (std::uint32_t top = limbs_.back(); top != 0; top /= 10) {
    ++count;
  }
  return count;
}

void Decimal::RoundUp(std::int64_t scale) {
  const std::int64_t drop = scale_ - scale;
  if (drop <= 0 || limbs_.empty()) {
    return;
  }
  scale_ = scale;
  if (drop > Digits()) {
    limbs_.assign(1, 1);
    return;
  }
  bool rest = false;
  const auto whole = static_cast<std::size_t>(drop / 9);
  for (std::size_t i = 0; i < whole; ++i) {
    rest = rest || limbs_[i] != 0;
  }
  limbs_.erase(limbs_.begin(), limbs_.begin() + static_cast<std::ptrdiff_t>(whole));
  const std::uint32_t divisor = kPow10[drop % 9];
  std::uint64_t carry = 0;
  for (std::size_t i = limbs_.size(); i-- > 0;) {
    const std::uint64_t value = carry * kBase + limbs_[i];
    limbs_[i] = static_cast<std::uint32_t>(value / divisor);
    carry = value % divisor;
  }
  rest = rest || carry != 0;
  Trim();
  if (rest) {
    std::size_t i = 0;
    while (i < limbs_.size() && limbs_[i] == kBase - 1) {
      limbs_[i++] = 0;
    }
    if (i == limbs_.size()) {
      limbs_.push_back(1);
    } else {
      ++limbs_[i];
    }
  }
}

void Decimal::Rescale(std::int64_t scale) {
  RoundUp(scale);
  if (!limbs_.empty() && scale_ < scale && scale - scale_ <= kMaxGap) {
    ScaleUp(scale - scale_);
  }
}

int Decimal::CompareMagnitude(const Decimal& a, const Decimal& b) {
  if (a.limbs_.size() != b.limbs_.size()) {
    return a.limbs_.size() < b.limbs_.size() ? -1 : 1;
  }
  for (std::size_t i = a.limbs_.size(); i-- > 0;) {
    if (a.limbs_[i] != b.limbs_[i]) {
      return a.limbs_[i] < b.limbs_[i] ? -1 : 1;
    }
  }
  return 0;
}

int Decimal::Compare(const Decimal& a, const Decimal& b) {
  const int sign = a.Sign();
  if (sign != b.Sign()) {
    return sign < b.Sign() ? -1 : 1;
  }
  if (sign == 0) {
    return 0;
  }
  // The place of the leading digit decides before anything is expanded, so hostile exponents cost
  // nothing.
  const std::int64_t lead_a = a.Digits() - a.scale_;
  const std::int64_t lead_b = b.Digits() - b.scale_;
  if (lead_a != lead_b) {
    return (lead_a < lead_b) == (sign > 0) ? -1 : 1;
  }
  if (a.scale_ == b.scale_) {
    return CompareMagnitude(a, b) * sign;
  }
  Decimal x = a;
  Decimal y = b;
  (x.scale_ < y.scale_ ? x : y).ScaleUp(std::abs(x.scale_ - y.scale_));
  return CompareMagnitude(x, y) * sign;
}

Decimal Decimal::Add(const Decimal& a, const Decimal& b) {
  if (a.IsZero() || b.IsZero()) {
    Decimal out = a.IsZero() ? b : a;
    const std::int64_t scale = std::max(a.scale_, b.scale_);
    if (scale - out.scale_ <= kMaxGap) {
      out.ScaleUp(scale - out.scale_);
    }
    return out;
  }
  if (std::abs(a.scale_ - b.scale_) > kMaxGap) {
    return a.Digits() - a.scale_ >= b.Digits() - b.scale_ ? a : b;
  }
  Decimal x = a;
  Decimal y = b;
  (x.scale_ < y.scale_ ? x : y).ScaleUp(std::abs(x.scale_ - y.scale_));
  if (x.negative_ == y.negative_) {
    x.limbs_.resize(std::max(x.limbs_.size(), y.limbs_.size()) + 1);
    std::uint32_t carry = 0;
    for (std::size_t i = 0; i < x.limbs_.size(); ++i) {
      const std::uint32_t sum = x.limbs_[i] + (i < y.limbs_.size() ? y.limbs_[i] : 0) + carry;
      carry = sum >= kBase ? 1 : 0;
      x.limbs_[i] = sum - (carry != 0 ? kBase : 0);
    }
    x.Trim();
    return x;
  }
  if (CompareMagnitude(x, y) < 0) {
    std::swap(x, y);
  }
  std::uint32_t borrow = 0;
  for (std::size_t i = 0; i < x.limbs_.size(); ++i) {
    const std::uint32_t take = (i < y.limbs_.size() ? y.limbs_[i] : 0) + borrow;
    borrow = x.limbs_[i] < take ? 1 : 0;
    x.limbs_[i] = x.limbs_[i] + (borrow != 0 ? kBase : 0) - take;
  }
  x.Trim();
  x.negative_ = x.negative_ && !x.limbs_.empty();
  return x;
}

Decimal Decimal::Subtract(const Decimal& a, const Decimal& b) {
  Decimal negated = b;
  negated.Negate();
  return Add(a, negated);
}

std::string Decimal::UnscaledText() const {
  if (limbs_.empty()) {
    return "0";
  }
  std::string out = negative_ ? "-" : "";
  out += fmt::format("{}", limbs_.back());
  for (std::size_t i = limbs_.size() - 1; i-- > 0;) {
    out += fmt::format("{:09}", limbs_[i]);
  }
  return out;
}

double Decimal::UnscaledDouble() const {
  constexpr std::int64_t kLargestExponent = std::numeric_limits<double>::max_exponent10;
  if (Digits() > kLargestExponent + 1) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return negative_ ? -kInfinity : kInfinity;
  }
  return std::strtod(UnscaledText().c_str(), nullptr);
}

}  // namespace allot::quantity
