#include "text/yaml_resolve.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <system_error>

namespace allot::text::yaml {
namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

template <std::size_t N>
bool OneOf(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

/// The fixed words; nothing when the text is none of them.
std::optional<Scalar> Word(std::string_view text) {
  constexpr std::array<std::string_view, 11> kTrue = {
      "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"};
  constexpr std::array<std::string_view, 11> kFalse = {
      "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"};
  constexpr std::array<std::string_view, 5> kNull = {"", "~", "null", "Null", "NULL"};
  constexpr std::array<std::string_view, 3> kNan = {".nan", ".NaN", ".NAN"};
  constexpr std::array<std::string_view, 3> kInf = {".inf", ".Inf", ".INF"};
  if (OneOf(text, kTrue)) {
    return Scalar{.kind = ScalarKind::kBool, .boolean = true};
  }
  if (OneOf(text, kFalse)) {
    return Scalar{.kind = ScalarKind::kBool};
  }
  if (OneOf(text, kNull)) {
    return Scalar{.kind = ScalarKind::kNull};
  }
  if (OneOf(text, kNan)) {
    return Scalar{.kind = ScalarKind::kFloat, .real = std::numeric_limits<double>::quiet_NaN()};
  }
  const bool sign = !text.empty() && (text[0] == '+' || text[0] == '-');
  if (OneOf(sign ? text.substr(1) : text, kInf)) {
    const double inf = std::numeric_limits<double>::infinity();
    return Scalar{.kind = ScalarKind::kFloat, .real = text[0] == '-' ? -inf : inf};
  }
  return std::nullopt;
}

/// Reads an optional sign and the prefixes 0x, 0o, 0b and 0 as Go's ParseInt with base 0 does.
std::optional<Scalar> Integer(std::string_view text) {
  bool negative = false;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char mark = static_cast<char>(text[1] | 0x20);
    base = mark == 'x' ? 16 : mark == 'b' ? 2 : 8;
    text.remove_prefix(mark == 'x' || mark == 'b' || mark == 'o' ? 2 : 1);
  }
  std::uint64_t magnitude = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), magnitude, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 63;
  if (magnitude < kLimit || (negative && magnitude == kLimit)) {
    return Scalar{.kind = ScalarKind::kInt,
                  .integer = static_cast<std::int64_t>(negative ? ~magnitude + 1 : magnitude)};
  }
  if (negative) {
    return std::nullopt;
  }
  return Scalar{.kind = ScalarKind::kFloat, .real = static_cast<double>(magnitude)};
}

std::size_t SkipDigits(std::string_view text, std::size_t at) {
  while (at < text.size() && IsDigit(text[at])) {
    ++at;
  }
  return at;
}

/// Sign, digits with an optional point, optional exponent.
std::optional<Scalar> Float(std::string_view text) {
  std::size_t at = !text.empty() && (text[0] == '+' || text[0] == '-') ? 1 : 0;
  const std::size_t whole = at;
  at = SkipDigits(text, at);
  bool digits = at != whole;
  if (at < text.size() && text[at] == '.') {
    const std::size_t fraction = at + 1;
    at = SkipDigits(text, fraction);
    digits = digits || at != fraction;
  }
  if (!digits) {
    return std::nullopt;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) {
      ++at;
    }
    const std::size_t exponent = at;
    at = SkipDigits(text, at);
    if (at == exponent) {
      return std::nullopt;
    }
  }
  if (at != text.size()) {
    return std::nullopt;
  }
  const double value = std::strtod(std::string(text).c_str(), nullptr);
  if (std::isinf(value)) {
    return std::nullopt;  // out of range stays text, as in Go
  }
  return Scalar{.kind = ScalarKind::kFloat, .real = value};
}

/// Reads `low` to `high` digits at `at`; -1 when there are fewer.
int Number(std::string_view text, std::size_t& at, std::size_t low, std::size_t high) {
  const std::size_t from = at;
  int value = 0;
  while (at < text.size() && at - from < high && IsDigit(text[at])) {
    value = value * 10 + (text[at++] - '0');
  }
  return at - from < low ? -1 : value;
}

bool Char(std::string_view text, std::size_t& at, std::string_view allowed) {
  if (at < text.size() && allowed.find(text[at]) != std::string_view::npos) {
    ++at;
    return true;
  }
  return false;
}

int DaysIn(int year, int month) {
  constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && leap ? 29 : kDays[static_cast<std::size_t>(month - 1)];
}

/// The forms that readers of YAML 1.1 in Go take for a time.
bool IsTimestamp(std::string_view text) {
  std::size_t at = 0;
  const int year = Number(text, at, 4, 4);
  if (year < 0 || !Char(text, at, "-")) {
    return false;
  }
  const int month = Number(text, at, 1, 2);
  if (month < 1 || month > 12 || !Char(text, at, "-")) {
    return false;
  }
  const int day = Number(text, at, 1, 2);
  if (day < 1 || day > DaysIn(year, month)) {
    return false;
  }
  if (at == text.size()) {
    return true;
  }
  const bool zoned = text[at] != ' ';
  if (!Char(text, at, "Tt ")) {
    return false;
  }
  const int hour = Number(text, at, 1, 2);
  if (hour < 0 || hour > 23 || !Char(text, at, ":")) {
    return false;
  }
  const int minute = Number(text, at, 1, 2);
  if (minute < 0 || minute > 59 || !Char(text, at, ":")) {
    return false;
  }
  const int second = Number(text, at, 1, 2);
  if (second < 0 || second > 59) {
    return false;
  }
  if (at + 1 < text.size() && (text[at] == '.' || text[at] == ',') && IsDigit(text[at + 1])) {
    at = SkipDigits(text, at + 1);
  }
  if (!zoned) {
    return at == text.size();
  }
  if (Char(text, at, "Z")) {
    return at == text.size();
  }
  if (!Char(text, at, "+-")) {
    return false;
  }
  const int zone_hour = Number(text, at, 2, 2);
  if (zone_hour < 0 || zone_hour > 24 || !Char(text, at, ":")) {
    return false;
  }
  const int zone_minute = Number(text, at, 2, 2);
  return zone_minute >= 0 && zone_minute <= 60 && at == text.size();
}

}  // namespace

Scalar Resolve(std::string_view text, bool timestamps) {
  constexpr std::string_view kHints = "yYnNtTfFoO~+-0123456789.";
  if (!text.empty() && kHints.find(text[0]) == std::string_view::npos) {
    return {};
  }
  if (const auto word = Word(text)) {
    return *word;
  }
  if (text[0] == '.') {
    return Float(text).value_or(Scalar());
  }
  if (text[0] != '+' && text[0] != '-' && !IsDigit(text[0])) {
    return {};
  }
  if (timestamps && IsTimestamp(text)) {
    return {.kind = ScalarKind::kTimestamp};
  }
  std::string plain(text);
  std::erase(plain, '_');
  if (const auto integer = Integer(plain)) {
    return *integer;
  }
  return Float(plain).value_or(Scalar());
}

bool IsBase60(std::string_view text) {
  std::size_t at = !text.empty() && (text[0] == '+' || text[0] == '-') ? 1 : 0;
  if (at >= text.size() || !IsDigit(text[at])) {
    return false;
  }
  const auto skip = [&text, &at] {
    while (at < text.size() && (IsDigit(text[at]) || text[at] == '_')) {
      ++at;
    }
  };
  skip();
  bool parts = false;
  while (at < text.size() && text[at] == ':') {
    ++at;
    const std::size_t from = at;
    at = std::min(SkipDigits(text, at), from + 2);
    if (at == from || (at - from == 2 && text[from] > '5')) {
      return false;
    }
    parts = true;
  }
  if (at < text.size() && text[at] == '.') {
    ++at;
    skip();
  }
  return parts && at == text.size();
}

std::string FormatGeneral(double value, int bits) {
  if (std::isnan(value)) {
    return ".nan";
  }
  if (std::isinf(value)) {
    return value < 0 ? "-.inf" : ".inf";
  }
  char text[64];
  const auto print = [&text, value, bits](std::chars_format format) {
    const auto end =
        bits == 32 ? std::to_chars(text, text + sizeof text, static_cast<float>(value), format).ptr
                   : std::to_chars(text, text + sizeof text, value, format).ptr;
    return std::string(text, end);
  };
  std::string scientific = print(std::chars_format::scientific);
  const std::size_t mark = scientific.find('e');
  const int exponent = std::atoi(scientific.c_str() + mark + 1);
  // Go takes the exponent form from 10^6 on when it prints the shortest digits.
  return exponent < -4 || exponent >= 6 ? scientific : print(std::chars_format::fixed);
}

}  // namespace allot::text::yaml
