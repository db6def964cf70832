#include "quantity/quantity.h"

#include <algorithm>
#include <limits>
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

std::string Digits(unsigned __int128 value) {
  std::string out;
  do {
    out.push_back(static_cast<char>('0' + static_cast<int>(value % 10)));
    value /= 10;
  } while (value != 0);
  std::ranges::reverse(out);
  return out;
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
  const std::string sign = nanos < 0 ? "-" : "";
  auto amount =
      nanos < 0 ? -static_cast<unsigned __int128>(nanos) : static_cast<unsigned __int128>(nanos);
  const auto nano = static_cast<unsigned __int128>(kNano);
  if (format == Format::kBinarySi && amount % nano == 0 && amount / nano >= 1024) {
    constexpr std::string_view kSuffix[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    std::size_t step = 0;
    for (amount /= nano; step < 6 && amount % 1024 == 0; ++step) {
      amount /= 1024;
    }
    return sign + Digits(amount) + std::string(kSuffix[step]);
  }
  int exponent = -9;
  // The largest suffix is E; upstream would leave it out beyond (a printer bug), we keep the value
  // readable.
  const int top = format == Format::kDecimalExponent ? 27 : 18;
  while (exponent < top && amount % 1000 == 0) {
    amount /= 1000;
    exponent += 3;
  }
  std::string out = sign + Digits(amount);
  if (exponent == 0) {
    return out;
  }
  if (format == Format::kDecimalExponent) {
    return out + "e" + std::to_string(exponent);
  }
  constexpr std::string_view kSuffix = "num kMGTPE";
  return out + kSuffix[static_cast<std::size_t>(exponent / 3 + 3)];
}

base::Result<Quantity> ParseQuantity(std::string_view text) {
  ALLOT_ASSIGN_OR_RETURN(const ExactQuantity exact, ExactQuantity::Parse(text));
  return exact.ToQuantity();
}

}  // namespace allot::quantity
