#include "cel/format_string.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "cel/context.h"
#include "cel/operations.h"
#include "quantity/go_text.h"
#include "quantity/time.h"

namespace allot::cel {
namespace {

constexpr int kDefaultPrecision = 6;

bool IsSpecialDouble(const Value& value) {
  const std::string_view text = value.Is(ValueKind::kString) ? value.text() : std::string_view();
  return text == "NaN" || text == "Infinity" || text == "-Infinity";
}

// What Go's printer makes of a verb whose precision it does not read: it gives up when a number is
// above a million and has another digit.
constexpr std::string_view kBadVerb = "%!(NOVERB)";
bool IsUnreadable(int precision) {
  return precision / 10 > 1'000'000;
}

// The decimals of a double in full; no double has more than 1,074 that are not zero.
std::string ExactDecimals(double value, int precision) {
  constexpr int kExact = 1'100;
  char buffer[2048];
  const auto end = std::to_chars(std::begin(buffer),
                                 std::end(buffer),
                                 value,
                                 std::chars_format::fixed,
                                 std::min(precision, kExact));
  return {std::begin(buffer), end.ptr};
}

// The fewest digits that tell a double from all others, without an exponent.
std::string ShortestDecimals(double value) {
  char buffer[64];
  const auto end =
      std::to_chars(std::begin(buffer), std::end(buffer), value, std::chars_format::scientific);
  const std::string_view all(buffer, static_cast<std::size_t>(end.ptr - buffer));
  const std::size_t e = all.find('e');
  std::string digits(all.substr(0, e));
  if (digits.size() > 1) {
    digits.erase(1, 1);
  }
  const std::string_view exponent = all.substr(all[e + 1] == '+' ? e + 2 : e + 1);
  int point = 0;
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), point);
  if (point < 0) {
    return "0." + std::string(static_cast<std::size_t>(-point - 1), '0') + digits;
  }
  const auto before = static_cast<std::size_t>(point) + 1;
  if (digits.size() <= before) {
    return digits + std::string(before - digits.size(), '0');
  }
  return digits.insert(before, ".");
}

// x/text keeps the precision in small integers: the least number of decimals in eight bits, the
// largest in sixteen with a sign, where a negative one stands for as many as the value needs.
std::string FixedDigits(double value, int precision) {
  const auto least = static_cast<std::uint8_t>(precision);
  const auto most = static_cast<std::int16_t>(precision);
  std::string out = most < 0 ? ShortestDecimals(value) : ExactDecimals(value, most);
  if (precision <= 0xFF) {
    return out;
  }
  std::size_t dot = out.find('.');
  if (dot != std::string::npos) {
    out.erase(out.find_last_not_of('0') + 1);
  } else if (least > 0) {
    dot = out.size();
    out += '.';
  } else {
    return out;
  }
  if (out.size() - dot - 1 < least) {
    out.append(least - (out.size() - dot - 1), '0');
  }
  if (out.ends_with('.')) {
    out.pop_back();
  }
  return out;
}

// x/text prints %f in en_US: groups of three, the infinity sign, no sign of a zero.
std::string FormatFixed(double value, int precision) {
  if (IsUnreadable(precision)) {
    return std::string(kBadVerb);
  }
  if (std::isnan(value)) {
    return "NaN";
  }
  if (std::isinf(value)) {
    return value < 0 ? "-\xE2\x88\x9E" : "\xE2\x88\x9E";
  }
  std::string digits = FixedDigits(std::fabs(value), precision);
  if (value < 0) {
    digits.insert(0, "-");
  }
  const std::size_t start = value < 0 ? 1 : 0;
  const std::size_t dot = std::min(digits.find('.'), digits.size());
  for (std::size_t at = dot; at > start + 3; at -= 3) {
    digits.insert(at - 3, ",");
  }
  return digits;
}

// x/text prints %e as 1.234500 x 10 with a superscript exponent of at least two digits.
std::string ScientificText(double value) {
  if (std::isnan(value)) {
    return "NaN";
  }
  if (std::isinf(value)) {
    return value < 0 ? "-\xE2\x88\x9E" : "\xE2\x88\x9E";
  }
  const std::string text = fmt::format("{:.6e}", value == 0 ? 0.0 : value);
  const std::size_t e = text.find('e');
  std::string out = text.substr(0, e);
  out +=
      "\xC3\x97"
      "10";
  constexpr std::string_view kSuperscripts[] = {"\xE2\x81\xB0",
                                                "\xC2\xB9",
                                                "\xC2\xB2",
                                                "\xC2\xB3",
                                                "\xE2\x81\xB4",
                                                "\xE2\x81\xB5",
                                                "\xE2\x81\xB6",
                                                "\xE2\x81\xB7",
                                                "\xE2\x81\xB8",
                                                "\xE2\x81\xB9"};
  for (const char c : std::string_view(text).substr(e + 1)) {
    if (c == '-') {
      out += "\xE2\x81\xBB";
    } else if (c != '+') {
      out += kSuperscripts[c - '0'];
    }
  }
  return out;
}

// Upstream passes the precision of a scientific clause on as its width, of sixteen bits.
std::string FormatScientific(double value, int precision) {
  if (IsUnreadable(precision)) {
    return std::string(kBadVerb);
  }
  std::string text = ScientificText(value);
  const auto width = static_cast<std::uint16_t>(precision);
  const std::int64_t missing = width - CountCodePoints(text);
  if (missing > 0) {
    text.insert(0, static_cast<std::size_t>(missing), ' ');
  }
  return text;
}

class Formatter {
 public:
  explicit Formatter(std::string& error) : error_(error) {}

  bool Format(const Value& value, char verb, std::optional<int> precision, std::string& out) {
    switch (verb) {
      case 's': return String(value, out);
      case 'd': return Decimal(value, out);
      case 'f':
      case 'e': return Floating(value, verb, precision.value_or(kDefaultPrecision), out);
      case 'b': return Binary(value, out);
      case 'o': return Octal(value, out);
      default: return Hex(value, verb, out);
    }
  }

 private:
  bool Fail(char verb, const Value& value) {
    error_ = FormatTypeError(verb, TypeName(value));
    return false;
  }

  bool String(const Value& value, std::string& out) {
    switch (value.kind) {
      case ValueKind::kList: return List(*value.list, out);
      case ValueKind::kMap: return Map(*value.map, out);
      case ValueKind::kNull: out += "null"; return true;
      case ValueKind::kTimestamp: out += quantity::FormatNanoTime(*value.time); return true;
      case ValueKind::kDuration: out += DurationText(value.integer); return true;
      case ValueKind::kBytes:
        if (!quantity::IsValidUtf8(value.text())) {
          error_ =
              "could not convert argument \"invalid UTF-8 in bytes, cannot convert to string\" to "
              "string";
          return false;
        }
        out += value.text();
        return true;
      case ValueKind::kInt:
      case ValueKind::kUint:
      case ValueKind::kDouble:
      case ValueKind::kBool:
      case ValueKind::kString: out += GoText(value); return true;
      case ValueKind::kType: out += value.text(); return true;
      default: return Fail('s', value);
    }
  }

  // The same, until the text is longer than an evaluation may hold: members may share their parts.
  bool Member(const Value& value, std::string& out) {
    const std::size_t before = out.size();
    if (written_ > Context::kMaxMemory) {
      error_ = kFormatTooLong;
      return false;
    }
    const bool fine = MemberText(value, out);
    // Of lists and maps only what they add to their members: brackets, and the work of a map.
    constexpr std::size_t kMapWork = 64;
    written_ += value.Is(ValueKind::kList)  ? 2
                : value.Is(ValueKind::kMap) ? kMapWork
                                            : out.size() - before;
    return fine;
  }

  // The text of a value inside a list or map, a literal of the language where there is one.
  bool MemberText(const Value& value, std::string& out) {
    std::string text;
    switch (value.kind) {
      case ValueKind::kInt:
      case ValueKind::kUint: return Decimal(value, out);
      case ValueKind::kTimestamp:
        out +=
            fmt::format("timestamp({})", quantity::GoQuote(quantity::FormatNanoTime(*value.time)));
        return true;
      case ValueKind::kDuration:
        out += fmt::format("duration({})", quantity::GoQuote(DurationText(value.integer)));
        return true;
      case ValueKind::kList: return List(*value.list, out);
      case ValueKind::kMap: return Map(*value.map, out);
      case ValueKind::kDouble:
        if (std::isnan(value.number)) {
          out += "\"NaN\"";
        } else if (std::isinf(value.number)) {
          out += value.number < 0 ? "\"-Inf\"" : "\"+Inf\"";
        } else {
          out += fmt::format("{:.{}f}", value.number, kDefaultPrecision);
        }
        return true;
      case ValueKind::kString:
      case ValueKind::kBytes:
        if (!String(value, text)) {
          return false;
        }
        out += value.Is(ValueKind::kBytes) ? "b" : "";
        out += quantity::GoQuote(text);
        return true;
      case ValueKind::kBool:
      case ValueKind::kNull:
      case ValueKind::kType: return String(value, out);
      default: error_ = fmt::format("no formatting function for {}", TypeName(value)); return false;
    }
  }

  bool List(const ListRep& list, std::string& out) {
    out += '[';
    for (std::size_t i = 0; i < list.size; ++i) {
      out += i > 0 ? ", " : "";
      if (!Member(list.items[i], out)) {
        return false;
      }
    }
    out += ']';
    return true;
  }

  bool Map(const MapRep& map, std::string& out) {
    struct Pair {
      std::string key;
      std::string value;
      std::size_t index;
    };
    std::vector<Pair> pairs;
    for (const MapEntry& entry : map.values()) {
      const bool printable = entry.key.Is(ValueKind::kString) || entry.key.Is(ValueKind::kBool) ||
                             entry.key.Is(ValueKind::kInt) || entry.key.Is(ValueKind::kUint);
      if (!printable) {
        error_ = fmt::format("no formatting function for map key of type {}", TypeName(entry.key));
        return false;
      }
      Pair pair{"", "", pairs.size()};
      if (!Member(entry.key, pair.key) || !Member(entry.value, pair.value)) {
        return false;
      }
      pairs.push_back(std::move(pair));
    }
    std::ranges::sort(pairs, [](const Pair& a, const Pair& b) {
      return std::tie(a.key, a.index) < std::tie(b.key, b.index);
    });
    out += '{';
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      out += i > 0 ? ", " : "";
      out += pairs[i].key + ":" + pairs[i].value;
    }
    out += '}';
    return true;
  }

  bool Decimal(const Value& value, std::string& out) {
    if (!value.Is(ValueKind::kInt) && !value.Is(ValueKind::kUint)) {
      return Fail('d', value);
    }
    out += GoText(value);
    return true;
  }

  bool Floating(const Value& value, char verb, int precision, std::string& out) {
    double number = value.number;
    if (IsSpecialDouble(value)) {
      number =
          value.text() == "NaN" ? std::nan("") : (value.text()[0] == '-' ? -HUGE_VAL : HUGE_VAL);
    } else if (!value.Is(ValueKind::kDouble)) {
      return Fail(verb, value);
    }
    out += verb == 'f' ? FormatFixed(number, precision) : FormatScientific(number, precision);
    return true;
  }

  bool Binary(const Value& value, std::string& out) {
    switch (value.kind) {
      case ValueKind::kInt: out += fmt::format("{:b}", value.integer); return true;
      case ValueKind::kUint: out += fmt::format("{:b}", value.uinteger); return true;
      case ValueKind::kBool: out += value.boolean ? "1" : "0"; return true;
      default: return Fail('b', value);
    }
  }

  bool Octal(const Value& value, std::string& out) {
    switch (value.kind) {
      case ValueKind::kInt: out += fmt::format("{:o}", value.integer); return true;
      case ValueKind::kUint: out += fmt::format("{:o}", value.uinteger); return true;
      default: return Fail('o', value);
    }
  }

  bool Hex(const Value& value, char verb, std::string& out) {
    std::string text;
    switch (value.kind) {
      case ValueKind::kInt: text = fmt::format("{:x}", value.integer); break;
      case ValueKind::kUint: text = fmt::format("{:x}", value.uinteger); break;
      case ValueKind::kString:
      case ValueKind::kBytes:
        for (const char c : value.text()) {
          constexpr std::string_view kDigits = "0123456789abcdef";
          text += kDigits[static_cast<unsigned char>(c) >> 4];
          text += kDigits[static_cast<unsigned char>(c) & 15];
        }
        break;
      default: return Fail('x', value);
    }
    if (verb == 'X') {
      for (char& c : text) {
        c = c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c;
      }
    }
    out += text;
    return true;
  }

  std::string& error_;
  std::size_t written_ = 0;
};

}  // namespace

std::string FormatTypeError(char verb, std::string_view type) {
  std::string_view what;
  switch (verb) {
    case 's':
      what =
          "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, "
          "types, durations, and timestamps";
      break;
    case 'd': what = "decimal clause can only be used on integers"; break;
    case 'f': what = "fixed-point clause can only be used on doubles"; break;
    case 'e': what = "scientific clause can only be used on doubles"; break;
    case 'b': what = "only integers and bools can be formatted as binary"; break;
    case 'o': what = "octal clause can only be used on integers"; break;
    default: what = "only integers, byte buffers, and strings can be formatted as hex"; break;
  }
  return fmt::format("{}, was given {}", what, type);
}

std::optional<FormatClause> FormatScanner::Next(std::string& literal,
                                                std::optional<int>& precision) {
  precision.reset();
  while (at_ < format_.size()) {
    if (format_[at_] != '%') {
      literal += format_[at_++];
      continue;
    }
    if (at_ + 1 < format_.size() && format_[at_ + 1] == '%') {
      literal += '%';
      at_ += 2;
      continue;
    }
    const bool at_end = at_ + 1 >= format_.size();
    if (arg_ >= arg_count_ && !(checking_ && at_end)) {
      error_ = fmt::format("index {} out of range", arg_);
      return std::nullopt;
    }
    ++at_;
    if (at_end) {
      error_ = "unexpected end of string";
      return std::nullopt;
    }
    return Clause(precision);
  }
  return std::nullopt;
}

std::optional<FormatClause> FormatScanner::Clause(std::optional<int>& precision) {
  constexpr std::string_view kOuter = "could not parse formatting clause: ";
  if (format_[at_] == '.') {
    const std::size_t start = ++at_;
    while (at_ < format_.size() && format_[at_] >= '0' && format_[at_] <= '9') {
      ++at_;
    }
    const std::string_view digits = format_.substr(start, at_ - start);
    if (at_ >= format_.size()) {
      error_ = fmt::format(
          "{}error while parsing precision: could not find end of precision specifier", kOuter);
      return std::nullopt;
    }
    const auto parsed = quantity::GoParseInt(digits, "Atoi");
    if (!parsed) {
      error_ = fmt::format(
          "{}error while parsing precision: error while converting precision to integer: {}",
          kOuter,
          parsed.error().message());
      return std::nullopt;
    }
    precision = static_cast<int>(std::min<std::int64_t>(*parsed, 1'000'000'000));
  }
  const char verb = format_[at_];
  if (!std::string_view("sdfebxXo").contains(verb)) {
    std::string rune;
    quantity::AppendRune(rune, static_cast<unsigned char>(verb));
    error_ = fmt::format("{}unrecognized formatting clause \"{}\"", kOuter, rune);
    return std::nullopt;
  }
  ++at_;
  return FormatClause{verb, arg_++};
}

bool FormatString(std::string_view format,
                  const ListRep& args,
                  std::string& out,
                  std::string& error) {
  FormatScanner scanner(format, args.size, /*checking=*/false);
  Formatter formatter(error);
  std::optional<int> precision;
  while (const auto clause = scanner.Next(out, precision)) {
    if (out.size() > Context::kMaxMemory) {
      error = kFormatTooLong;
      return false;
    }
    if (!formatter.Format(args.items[clause->arg], clause->verb, precision, out)) {
      if (error == kFormatTooLong) {
        return false;
      }
      error = "error during formatting: " + error;
      return false;
    }
  }
  error = scanner.error();
  return error.empty();
}

}  // namespace allot::cel
