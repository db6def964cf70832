// The JSON forms of kinds that read their own text: quantities, times, int-or-string, bytes, raw.
#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include "quantity/go_text.h"
#include "quantity/quantity.h"
#include "quantity/time.h"
#include "schema/base64.h"
#include "schema/json_reader.h"
#include "schema/layout.h"

namespace allot::schema {
namespace {

using base::Reason;
using base::Result;

bool DecodeQuantity(JsonReader& in, char* to, int depth) {
  Str token;
  if (!in.Token(depth, token)) {
    return false;
  }
  if (token == "null") {
    Store(to, quantity::Quantity());
    return true;
  }
  if (token.size() >= 2 && token.front() == '"') {
    token = token.substr(1, token.size() - 2);
  }
  while (!token.empty() && static_cast<unsigned char>(token.front()) <= ' ') {
    token.remove_prefix(1);
  }
  while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ') {
    token.remove_suffix(1);
  }
  const auto value = quantity::ParseQuantity(token);
  if (!value) {
    return in.Abort(value.error().message());
  }
  Store(to, *value);
  return true;
}

/// Reads a string for a kind that Go reads with its own method.
bool OwnString(JsonReader& in, Str& out, const Frame& frame) {
  return in.Peek() == '"' ? in.String(out) : in.AbortMismatch(frame, "string");
}

/// The form that encoders of the API write: 2006-01-02T15:04:05Z, for metav1.Time. False for all
/// else.
bool UtcSeconds(Str token, char* to) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00Z";
  if (token.size() != kForm.size()) {
    return false;
  }
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const bool digit = token[i] >= '0' && token[i] <= '9';
    if (kForm[i] == '0' ? !digit : token[i] != kForm[i]) {
      return false;
    }
  }
  const auto two = [token](std::size_t at) {
    return (token[at] - '0') * 10 + (token[at + 1] - '0');
  };
  const int year = two(0) * 100 + two(2);
  const int month = two(5);
  const int day = two(8);
  // Days that not every month has are left to the full parser, and so is Go's unset time.
  if (year < 2 || month < 1 || month > 12 || day < 1 || day > 28 || two(11) > 23 || two(14) > 59 ||
      two(17) > 59) {
    return false;
  }
  const std::int64_t days = quantity::DaysFromCivil(year, month, day);
  Store(to, quantity::Time{days * 86400 + two(11) * 3600 + two(14) * 60 + two(17), 0, true});
  return true;
}

/// RFC 3339 with exactly six digits after the point.
Result<quantity::Time> ParseMicroTime(Str token) {
  auto value = quantity::ParseTime(token);
  constexpr std::size_t kPoint = 19;  // 2006-01-02T15:04:05
  constexpr std::string_view kLayout = "2006-01-02T15:04:05.000000Z07:00";
  std::size_t digits = 0;
  while (kPoint + 1 + digits < token.size() && token[kPoint + 1 + digits] >= '0' &&
         token[kPoint + 1 + digits] <= '9') {
    ++digits;
  }
  if (value && (token.size() <= kPoint || token[kPoint] != '.' || digits != 6)) {
    return base::Error(Reason::kBadRequest,
                       "parsing time " + quantity::GoQuote(token) + " as \"" +
                           std::string(kLayout) + "\": cannot parse " +
                           quantity::GoQuote(token.substr(std::min(kPoint, token.size()))) +
                           " as \".000000\"");
  }
  if (!value) {
    std::string message = value.error().message();
    const std::size_t at = message.find("2006-01-02T15:04:05Z07:00");
    if (at != std::string::npos) {
      message.replace(at, 25, kLayout);
    }
    return base::Error(Reason::kBadRequest, std::move(message));
  }
  return value;
}

bool DecodeTime(JsonReader& in, ValueKind kind, char* to, const Frame& frame) {
  if (in.AtNull()) {
    Store(to, quantity::Time());
    return in.Null();
  }
  Str token;
  if (!OwnString(in, token, frame)) {
    return false;
  }
  if (kind == ValueKind::kTime && UtcSeconds(token, to)) {
    return true;
  }
  auto value = kind == ValueKind::kTime ? quantity::ParseTime(token) : ParseMicroTime(token);
  if (!value) {
    return in.Abort(value.error().message());
  }
  if (kind == ValueKind::kTime) {
    value->nanos = 0;  // such times are written in whole seconds
  }
  // The first second of year 1 is Go's unset time.
  constexpr std::int64_t kYearOne = -62135596800;
  if (value->seconds == kYearOne && value->nanos == 0) {
    value->set = false;
    value->seconds = 0;
  }
  Store(to, *value);
  return true;
}

bool DecodeDuration(JsonReader& in, char* to, const Frame& frame) {
  Str token;
  if (in.AtNull() ? !in.Null() : !OwnString(in, token, frame)) {
    return false;
  }
  const auto value = quantity::ParseDuration(token);
  if (!value) {
    return in.Abort(value.error().message());
  }
  Store(to, Duration{*value});
  return true;
}

bool DecodeIntOrString(JsonReader& in, char* to, const Frame& frame) {
  IntOrString value;
  if (in.Peek() == '"') {
    value.is_string = true;
    if (!in.String(value.text)) {
      return false;
    }
  } else if (in.AtNull()) {
    if (!in.Null()) {
      return false;
    }
  } else if (in.AtNumber()) {
    Str token;
    bool is_integer = false;
    if (!in.Number(token, is_integer)) {
      return false;
    }
    if (!is_integer ||
        std::from_chars(token.data(), token.data() + token.size(), value.number).ec !=
            std::errc()) {
      return in.AbortNumber(token, frame, "int32");
    }
  } else {
    return in.AbortMismatch(frame, "int32");
  }
  Store(to, value);
  return true;
}

/// One element of a list of bytes; false when it is malformed.
bool DecodeByte(JsonReader& in, std::uint8_t& byte, const Frame& frame) {
  if (in.AtNull()) {
    return in.Null();
  }
  if (!in.AtNumber()) {
    return in.Mismatch(&frame, "uint8");
  }
  Str token;
  bool is_integer = false;
  if (!in.Number(token, is_integer)) {
    return false;
  }
  if (!is_integer ||
      std::from_chars(token.data(), token.data() + token.size(), byte).ec != std::errc()) {
    in.Cannot("number " + std::string(token), &frame, "uint8");
  }
  return true;
}

/// Bytes as a list of numbers, which Go takes too.
bool DecodeByteList(JsonReader& in, char* to, const Frame& frame) {
  if (in.OpenEmpty(']')) {
    Store(to, Str("", 0));
    return true;
  }
  std::string bytes;
  bool bad = false;
  do {
    in.Blanks();
    std::uint8_t byte = 0;
    if (in.AtEnd() || !DecodeByte(in, byte, frame)) {
      return false;
    }
    bytes += static_cast<char>(byte);
  } while (in.More(']', bad));
  Store(to, in.arena().Copy(bytes));
  return !bad;
}

bool DecodeBytes(JsonReader& in, const FieldDesc& field, char* to, const Frame& frame) {
  if (in.AtNull()) {
    Store(to, Str());
    return in.Null();
  }
  if (in.Peek() == '[') {
    return DecodeByteList(in, to, frame);
  }
  if (in.Peek() != '"') {
    return in.Mismatch(&frame, GoType(field, /*element=*/true, frame.type));
  }
  Str token;
  if (!in.String(token)) {
    return false;
  }
  char* const out = static_cast<char*>(in.arena().Allocate(DecodedBound(token), 1));
  std::size_t size = 0;
  const std::size_t bad = DecodeBase64(token, out, size);
  if (bad != Str::npos) {
    in.Save("illegal base64 data at input byte " + std::to_string(bad));
    return true;
  }
  Store(to, Str(out, size));
  return true;
}

bool DecodeRaw(JsonReader& in, char* to, int depth) {
  Str token;
  bool blanks = false;
  if (!in.Token(depth, token, &blanks)) {
    return false;
  }
  if (token == "null") {
    Store(to, RawJson());
    return true;
  }
  if (!blanks) {
    Store(to, RawJson{token});
    return true;
  }
  std::string compact;
  text::AppendCompactJson(token, compact);
  Store(to, RawJson{in.arena().Copy(compact)});
  return true;
}

}  // namespace

bool DecodeSpecialJson(
    JsonReader& in, const FieldDesc& field, char* to, const Frame& frame, int depth) {
  switch (field.kind) {
    case ValueKind::kQuantity: return DecodeQuantity(in, to, depth);
    case ValueKind::kTime:
    case ValueKind::kMicroTime: return DecodeTime(in, field.kind, to, frame);
    case ValueKind::kDuration: return DecodeDuration(in, to, frame);
    case ValueKind::kIntOrString: return DecodeIntOrString(in, to, frame);
    case ValueKind::kBytes: return DecodeBytes(in, field, to, frame);
    case ValueKind::kRaw:
    case ValueKind::kFieldsV1: return DecodeRaw(in, to, depth);
    default: return in.Mismatch(&frame, GoType(field, /*element=*/false, frame.type));
  }
}

}  // namespace allot::schema
