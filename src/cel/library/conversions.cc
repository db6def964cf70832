// Type conversions: int(), uint(), double(), bool(), string(), bytes(), timestamp(), duration(),
// type(), dyn().
#include <cmath>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include "cel/functions.h"
#include "cel/library/libraries.h"
#include "cel/operations.h"
#include "quantity/go_text.h"

namespace allot::cel {
namespace {

constexpr double kTwo63 = 9223372036854775808.0;
constexpr double kTwo64 = 18446744073709551616.0;
constexpr std::int64_t kMinUnix = -62'135'596'800;
constexpr std::int64_t kMaxUnix = 253'402'300'799;

Value Failed(Context& context, std::string_view to) {
  return context.Error(fmt::format("type conversion error from 'string' to '{}'", to));
}

Value Identity(Context& /*context*/, Args args) {
  return args[0];
}

Value ToInt(Context& context, Args args) {
  const Value& a = args[0];
  switch (a.kind) {
    case ValueKind::kUint:
      return a.uinteger > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())
                 ? Value::Error("integer overflow")
                 : Value::Int(static_cast<std::int64_t>(a.uinteger));
    case ValueKind::kDouble:
      return a.number > -kTwo63 && a.number < kTwo63
                 ? Value::Int(static_cast<std::int64_t>(a.number))
                 : Value::Error("integer overflow");
    case ValueKind::kDuration: return Value::Int(a.integer);
    case ValueKind::kTimestamp: return Value::Int(a.time->seconds);
    case ValueKind::kString: {
      const auto parsed = quantity::GoParseInt(a.text());
      return parsed ? Value::Int(*parsed) : Failed(context, "int");
    }
    default: return NoSuchOverload();
  }
}

Value ToUint(Context& context, Args args) {
  const Value& a = args[0];
  switch (a.kind) {
    case ValueKind::kInt:
      return a.integer < 0 ? Value::Error("unsigned integer overflow")
                           : Value::Uint(static_cast<std::uint64_t>(a.integer));
    case ValueKind::kDouble:
      return a.number >= 0 && a.number < kTwo64 ? Value::Uint(static_cast<std::uint64_t>(a.number))
                                                : Value::Error("unsigned integer overflow");
    case ValueKind::kString: {
      const auto parsed = quantity::GoParseUint(a.text());
      return parsed ? Value::Uint(*parsed) : Failed(context, "uint");
    }
    default: return NoSuchOverload();
  }
}

bool IsWord(std::string_view text, std::string_view word) {
  if (text.size() != word.size()) {
    return false;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c =
        text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] - 'A' + 'a') : text[i];
    if (c != word[i]) {
      return false;
    }
  }
  return true;
}

// The form of a Go floating-point literal: decimal, or hexadecimal with a binary exponent.
bool IsFloatText(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) {
    text.remove_prefix(1);
  }
  const bool hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  if (hex) {
    text.remove_prefix(2);
  }
  const auto digit = [hex](char c) {
    return (c >= '0' && c <= '9') || (hex && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')));
  };
  std::size_t digits = 0;
  bool dot = false;
  std::size_t i = 0;
  for (; i < text.size() && (digit(text[i]) || (text[i] == '.' && !dot)); ++i) {
    dot = dot || text[i] == '.';
    digits += text[i] == '.' ? 0 : 1;
  }
  if (digits == 0) {
    return false;
  }
  const bool exponent = i < text.size() &&
                        (hex ? text[i] == 'p' || text[i] == 'P' : text[i] == 'e' || text[i] == 'E');
  if (!exponent) {
    return i == text.size() && !hex;
  }
  ++i;
  if (i < text.size() && (text[i] == '+' || text[i] == '-')) {
    ++i;
  }
  const std::size_t start = i;
  while (i < text.size() && text[i] >= '0' && text[i] <= '9') {
    ++i;
  }
  return i == text.size() && i > start;
}

// Underscores must separate digits, as strconv checks for literals with a base prefix.
bool UnderscoresOk(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) {
    text.remove_prefix(1);
  }
  char last = '^';
  std::size_t i = 0;
  bool hex = false;
  if (text.size() >= 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    i = 2;
    last = '0';
    hex = true;
  }
  for (; i < text.size(); ++i) {
    const char c = text[i];
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if ((c >= '0' && c <= '9') || (hex && lower >= 'a' && lower <= 'f')) {
      last = '0';
    } else if (c == '_') {
      if (last != '0') {
        return false;
      }
      last = '_';
    } else {
      if (last == '_') {
        return false;
      }
      last = '!';
    }
  }
  return last != '_';
}

Value ParseDouble(Context& context, std::string_view text) {
  std::string_view word = text;
  const bool negative = word.starts_with('-');
  if (negative || word.starts_with('+')) {
    word.remove_prefix(1);
  }
  if (IsWord(word, "inf") || IsWord(word, "infinity")) {
    const double infinity = std::numeric_limits<double>::infinity();
    return Value::Double(negative ? -infinity : infinity);
  }
  if (IsWord(text, "nan")) {
    return Value::Double(std::numeric_limits<double>::quiet_NaN());
  }
  std::string plain(text);
  const bool misplaced = text.contains('_') && !UnderscoresOk(text);
  std::erase(plain, '_');
  if (misplaced || !IsFloatText(plain)) {
    return Failed(context, "double");
  }
  const double value = std::strtod(plain.c_str(), nullptr);
  return std::isinf(value) ? Failed(context, "double") : Value::Double(value);
}

Value ToDouble(Context& context, Args args) {
  const Value& a = args[0];
  switch (a.kind) {
    case ValueKind::kInt: return Value::Double(static_cast<double>(a.integer));
    case ValueKind::kUint: return Value::Double(static_cast<double>(a.uinteger));
    case ValueKind::kString: return ParseDouble(context, a.text());
    default: return NoSuchOverload();
  }
}

Value ToBool(Context& context, Args args) {
  const std::string_view text = args[0].text();
  for (const std::string_view yes : {"1", "t", "T", "TRUE", "true", "True"}) {
    if (text == yes) {
      return Value::Bool(true);
    }
  }
  for (const std::string_view no : {"0", "f", "F", "FALSE", "false", "False"}) {
    if (text == no) {
      return Value::Bool(false);
    }
  }
  return Failed(context, "bool");
}

Value ToString(Context& context, Args args) {
  const Value& a = args[0];
  switch (a.kind) {
    case ValueKind::kBytes:
      return quantity::IsValidUtf8(a.text())
                 ? Value::String(a.text())
                 : Value::Error("invalid UTF-8 in bytes, cannot convert to string");
    case ValueKind::kTimestamp: return context.String(quantity::FormatNanoTime(*a.time));
    case ValueKind::kDuration: return context.String(DurationText(a.integer));
    default: return context.String(GoText(a));
  }
}

Value ToBytes(Context& /*context*/, Args args) {
  return Value::Text(ValueKind::kBytes, args[0].text());
}

Value ToTimestamp(Context& context, Args args) {
  const Value& a = args[0];
  quantity::OffsetTime time;
  if (a.Is(ValueKind::kString)) {
    const auto parsed = quantity::ParseOffsetTime(a.text());
    if (!parsed) {
      return Failed(context, "google.protobuf.Timestamp");
    }
    time = *parsed;
  } else {
    time.seconds = a.integer;
  }
  if (time.seconds < kMinUnix || time.seconds > kMaxUnix) {
    return Value::Error("timestamp overflow");
  }
  return context.Timestamp(time);
}

Value ToDuration(Context& context, Args args) {
  const auto parsed = quantity::ParseDuration(args[0].text());
  return parsed ? Value::Duration(*parsed) : Failed(context, "google.protobuf.Duration");
}

Value TypeOf(Context& /*context*/, Args args) {
  return Value::Text(ValueKind::kType, TypeName(args[0]));
}

}  // namespace

void RegisterConversions(Registry& registry) {
  using namespace types;
  Declare declare(registry, kLibStandard);
  const Type* const a = declare.A();
  declare.Global("type", "type", {a}, declare.types().TypeOf(a), nullptr);
  declare.Singleton("type", Arity::kUnary, 0, TypeOf);
  declare.Global("bool", "bool_to_bool", {&kBool}, &kBool, Identity);
  declare.Global("bool", "string_to_bool", {&kString}, &kBool, ToBool);
  const Declare::Options first{.cost = CostRule::kFirstString};
  declare.Global("bytes", "bytes_to_bytes", {&kBytes}, &kBytes, Identity);
  declare.Global("bytes", "string_to_bytes", {&kString}, &kBytes, ToBytes, first);
  declare.Global("double", "double_to_double", {&kDouble}, &kDouble, Identity);
  declare.Global("double", "int64_to_double", {&kInt}, &kDouble, ToDouble);
  declare.Global("double", "string_to_double", {&kString}, &kDouble, ToDouble);
  declare.Global("double", "uint64_to_double", {&kUint}, &kDouble, ToDouble);
  declare.Global("duration", "duration_to_duration", {&kDuration}, &kDuration, Identity);
  declare.Global("duration", "string_to_duration", {&kString}, &kDuration, ToDuration);
  declare.Global("dyn", "to_dyn", {a}, &kDyn, nullptr);
  declare.Singleton("dyn", Arity::kUnary, 0, Identity);
  declare.Global("int", "int64_to_int64", {&kInt}, &kInt, Identity);
  declare.Global("int", "double_to_int64", {&kDouble}, &kInt, ToInt);
  declare.Global("int", "duration_to_int64", {&kDuration}, &kInt, ToInt);
  declare.Global("int", "string_to_int64", {&kString}, &kInt, ToInt);
  declare.Global("int", "timestamp_to_int64", {&kTimestamp}, &kInt, ToInt);
  declare.Global("int", "uint64_to_int64", {&kUint}, &kInt, ToInt);
  declare.Global("string", "string_to_string", {&kString}, &kString, Identity);
  declare.Global("string", "bool_to_string", {&kBool}, &kString, ToString);
  declare.Global("string", "bytes_to_string", {&kBytes}, &kString, ToString, first);
  declare.Global("string", "double_to_string", {&kDouble}, &kString, ToString);
  declare.Global("string", "duration_to_string", {&kDuration}, &kString, ToString);
  declare.Global("string", "int64_to_string", {&kInt}, &kString, ToString);
  declare.Global("string", "timestamp_to_string", {&kTimestamp}, &kString, ToString);
  declare.Global("string", "uint64_to_string", {&kUint}, &kString, ToString);
  declare.Global("timestamp", "timestamp_to_timestamp", {&kTimestamp}, &kTimestamp, Identity);
  declare.Global("timestamp", "int64_to_timestamp", {&kInt}, &kTimestamp, ToTimestamp);
  declare.Global("timestamp", "string_to_timestamp", {&kString}, &kTimestamp, ToTimestamp);
  declare.Global("uint", "uint64_to_uint64", {&kUint}, &kUint, Identity);
  declare.Global("uint", "double_to_uint64", {&kDouble}, &kUint, ToUint);
  declare.Global("uint", "int64_to_uint64", {&kInt}, &kUint, ToUint);
  declare.Global("uint", "string_to_uint64", {&kString}, &kUint, ToUint);
}

}  // namespace allot::cel
