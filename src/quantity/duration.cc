#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "quantity/go_text.h"
#include "quantity/time.h"

namespace allot::quantity {
namespace {

constexpr std::uint64_t kLimit = std::uint64_t{1} << 63;

std::unexpected<base::Status> Invalid(std::string_view what, std::string_view text) {
  return base::Error(base::Reason::kInvalid, fmt::format("time: {} {}", what, GoTimeQuote(text)));
}

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

std::uint64_t UnitNanos(std::string_view unit) {
  if (unit == "ns") {
    return 1;
  }
  if (unit == "us" || unit == "\xC2\xB5s" || unit == "\xCE\xBCs") {
    return 1'000;
  }
  if (unit == "ms") {
    return 1'000'000;
  }
  if (unit == "s") {
    return 1'000'000'000;
  }
  if (unit == "m") {
    return 60'000'000'000;
  }
  return unit == "h" ? 3'600'000'000'000 : 0;
}

bool WholePart(std::string_view& rest, std::uint64_t& value) {
  std::size_t i = 0;
  for (; i < rest.size() && IsDigit(rest[i]); ++i) {
    if (value > kLimit / 10) {
      return false;
    }
    value = value * 10 + static_cast<std::uint64_t>(rest[i] - '0');
    if (value > kLimit) {
      return false;
    }
  }
  rest.remove_prefix(i);
  return true;
}

// Digits after the point as value / scale; those beyond 63 bits are dropped.
void Fraction(std::string_view& rest, std::uint64_t& value, double& scale) {
  std::size_t i = 0;
  bool full = false;
  for (; i < rest.size() && IsDigit(rest[i]); ++i) {
    full = full || value > (kLimit - 1) / 10;
    if (full) {
      continue;
    }
    const std::uint64_t next = value * 10 + static_cast<std::uint64_t>(rest[i] - '0');
    if (next > kLimit) {
      full = true;
      continue;
    }
    value = next;
    scale *= 10;
  }
  rest.remove_prefix(i);
}

// Takes one number with its unit ("1.5h") off `rest`. Unit: nanoseconds, at most kLimit.
base::Result<std::uint64_t> ParsePart(std::string_view& rest, std::string_view text) {
  std::uint64_t whole = 0;
  std::size_t before = rest.size();
  if (!WholePart(rest, whole)) {
    return Invalid("invalid duration", text);
  }
  bool digits = rest.size() != before;
  std::uint64_t fraction = 0;
  double scale = 1;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    before = rest.size();
    Fraction(rest, fraction, scale);
    digits = digits || rest.size() != before;
  }
  if (!digits) {
    return Invalid("invalid duration", text);
  }
  std::size_t width = 0;
  while (width < rest.size() && rest[width] != '.' && !IsDigit(rest[width])) {
    ++width;
  }
  if (width == 0) {
    return Invalid("missing unit in duration", text);
  }
  const std::uint64_t unit = UnitNanos(rest.substr(0, width));
  if (unit == 0) {
    return base::Error(base::Reason::kInvalid,
                       fmt::format("time: unknown unit {} in duration {}",
                                   GoTimeQuote(rest.substr(0, width)),
                                   GoTimeQuote(text)));
  }
  rest.remove_prefix(width);
  if (whole > kLimit / unit) {
    return Invalid("invalid duration", text);
  }
  whole *= unit;
  if (fraction > 0) {
    whole += static_cast<std::uint64_t>(static_cast<double>(fraction) *
                                        (static_cast<double>(unit) / scale));
    if (whole > kLimit) {
      return Invalid("invalid duration", text);
    }
  }
  return whole;
}

std::string FractionText(std::uint64_t value, int digits) {
  if (value == 0) {
    return "";
  }
  std::string out = fmt::format(".{:0{}}", value, digits);
  out.erase(out.find_last_not_of('0') + 1);
  return out;
}

}  // namespace

base::Result<std::int64_t> ParseDuration(std::string_view text) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) {
    rest.remove_prefix(1);
  }
  if (rest == "0") {
    return 0;
  }
  if (rest.empty()) {
    return Invalid("invalid duration", text);
  }
  std::uint64_t total = 0;
  while (!rest.empty()) {
    ALLOT_ASSIGN_OR_RETURN(const std::uint64_t part, ParsePart(rest, text));
    total += part;
    if (total > kLimit) {
      return Invalid("invalid duration", text);
    }
  }
  if (!negative && total == kLimit) {
    return Invalid("invalid duration", text);
  }
  return static_cast<std::int64_t>(negative ? 0 - total : total);
}

std::string FormatDuration(std::int64_t nanos) {
  std::uint64_t rest =
      nanos < 0 ? 0 - static_cast<std::uint64_t>(nanos) : static_cast<std::uint64_t>(nanos);
  const std::string sign = nanos < 0 ? "-" : "";
  if (rest == 0) {
    return "0s";
  }
  if (rest < 1'000) {
    return fmt::format("{}{}ns", sign, rest);
  }
  if (rest < 1'000'000) {
    return fmt::format("{}{}{}\xC2\xB5s", sign, rest / 1'000, FractionText(rest % 1'000, 3));
  }
  if (rest < 1'000'000'000) {
    return fmt::format("{}{}{}ms", sign, rest / 1'000'000, FractionText(rest % 1'000'000, 6));
  }
  const std::string fraction = FractionText(rest % 1'000'000'000, 9);
  rest /= 1'000'000'000;
  std::string out = sign;
  if (rest >= 3600) {
    out += fmt::format("{}h", rest / 3600);
  }
  if (rest >= 60) {
    out += fmt::format("{}m", rest / 60 % 60);
  }
  return out + fmt::format("{}{}s", rest % 60, fraction);
}

}  // namespace allot::quantity
