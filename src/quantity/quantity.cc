#include "quantity/quantity.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "quantity/exact.h"

namespace allot::quantity {
namespace {

constexpr Int128 kNano = 1'000'000'000;

std::int64_t RoundAway(Int128 nanos, Int128 unit) {
  Int128 value = nanos / unit;
  if (nanos % unit != 0) {
    value += nanos < 0 ? -1 : 1;
  }
  return static_cast<std::int64_t>(
      std::clamp(value,
                 static_cast<Int128>(std::numeric_limits<std::int64_t>::min()),
                 static_cast<Int128>(std::numeric_limits<std::int64_t>::max())));
}

std::string Digits(std::uint64_t value) {
  return std::to_string(value);
}

std::string Digits(unsigned __int128 value) {
  std::string out;
  do {
    out.push_back(static_cast<char>('0' + static_cast<int>(value % 10)));
    value /= 10;
  } while (value != 0);
  std::ranges::reverse(out);
  return out;
}

/// Takes trailing thousands into the exponent and writes digits and suffix.
template <typename Amount>
std::string Print(bool negative, Amount amount, int exponent, Format format) {
  // The largest suffix is E; upstream would leave it out beyond (a printer bug), we keep the value
  // readable.
  const int top = format == Format::kDecimalExponent ? 27 : 18;
  while (exponent < top && amount % 1000 == 0) {
    amount /= 1000;
    exponent += 3;
  }
  std::string out = negative ? "-" : "";
  out += Digits(amount);
  if (exponent == 0) {
    return out;
  }
  if (format == Format::kDecimalExponent) {
    return out + "e" + std::to_string(exponent);
  }
  constexpr std::string_view kSuffix = "num kMGTPE";
  return out + kSuffix[static_cast<std::size_t>(exponent / 3 + 3)];
}

/// Nanos of one unit with this suffix; 0 when the suffix is none of the plain ones.
Int128 PlainUnit(std::string_view suffix, Format& format) {
  format = Format::kDecimalSi;
  if (suffix.empty()) {
    return kNano;
  }
  constexpr std::string_view kUp = "kMGTPE";
  if (suffix.size() == 2 && suffix[1] == 'i') {
    constexpr std::string_view kBinary = "KMGTPE";
    const std::size_t step = kBinary.find(suffix[0]);
    format = Format::kBinarySi;
    return step == std::string_view::npos ? 0 : kNano << (10 * (step + 1));
  }
  if (suffix.size() != 1) {
    return 0;
  }
  if (suffix[0] == 'm') {
    return 1'000'000;
  }
  const std::size_t step = kUp.find(suffix[0]);
  if (step == std::string_view::npos) {
    return 0;
  }
  Int128 unit = kNano;
  for (std::size_t i = 0; i <= step; ++i) {
    unit *= 1000;
  }
  return unit;
}

/// Digits with a plain suffix, as nearly all quantities are written; false for everything else.
bool ParsePlain(std::string_view text, Quantity& out) {
  const bool negative = text.starts_with('-');
  text.remove_prefix(negative ? 1 : 0);
  constexpr std::size_t kMostDigits = 18;
  std::size_t digits = 0;
  std::int64_t value = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
    if (digits == kMostDigits) {
      return false;
    }
    value = value * 10 + (text[digits++] - '0');
  }
  const Int128 unit = PlainUnit(text.substr(digits), out.format);
  constexpr Int128 kMost = static_cast<Int128>(std::numeric_limits<std::int64_t>::max()) * kNano;
  if (digits == 0 || unit == 0 || value > kMost / unit) {
    return false;
  }
  out.nanos = negative ? -value * unit : value * unit;
  return true;
}

}  // namespace

std::int64_t Quantity::Value() const {
  return RoundAway(nanos, kNano);
}

std::int64_t Quantity::MilliValue() const {
  return RoundAway(nanos, 1'000'000);
}

std::string Quantity::ToString() const {
  if (nanos == 0) {
    return "0";
  }
  const bool negative = nanos < 0;
  const auto amount =
      negative ? -static_cast<unsigned __int128>(nanos) : static_cast<unsigned __int128>(nanos);
  const auto nano = static_cast<std::uint64_t>(kNano);
  constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();
  // Arithmetic in 64 bits where it is enough: 128-bit divisions cost ten times as much.
  const unsigned __int128 units =
      amount <= kLargest ? static_cast<std::uint64_t>(amount) / nano : amount / nano;
  if (units * nano != amount || units > kLargest) {
    return amount <= kLargest ? Print(negative, static_cast<std::uint64_t>(amount), -9, format)
                              : Print(negative, amount, -9, format);
  }
  auto whole = static_cast<std::uint64_t>(units);
  if (format != Format::kBinarySi || whole < 1024) {
    return Print(negative, whole, 0, format);
  }
  constexpr std::string_view kSuffix[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  std::size_t step = 0;
  for (; step < 6 && whole % 1024 == 0; ++step) {
    whole /= 1024;
  }
  return (negative ? "-" : "") + std::to_string(whole) + std::string(kSuffix[step]);
}

base::Result<Quantity> ParseQuantity(std::string_view text) {
  if (Quantity plain; ParsePlain(text, plain)) {
    return plain;
  }
  ALLOT_ASSIGN_OR_RETURN(const ExactQuantity exact, ExactQuantity::Parse(text));
  return exact.ToQuantity();
}

}  // namespace allot::quantity
