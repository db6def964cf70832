// Typed JSON decoding: one pass over the text, one walk over the tables.
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

#include "base/arena.h"
#include "quantity/go_text.h"
#include "schema/base64.h"
#include "schema/codec.h"
#include "schema/json_frame.h"
#include "schema/layout.h"
#include "text/json.h"
#include "text/json_scanner.h"

namespace allot::schema {
namespace {

using base::Reason;
using base::Result;

constexpr std::size_t kMostFindings = 100;  // upstream stops collecting there

class Decoder {
 public:
  Decoder(std::string_view text, base::Arena& arena, const DecodeOptions& options)
      : at_(text.data()),
        end_(text.data() + text.size()),
        arena_(arena),
        strict_(options.strict),
        max_depth_(options.max_depth) {}

  bool Run(const TypeDesc& type, void* root) {
    at_ = text::SkipBlanks(at_, end_);
    if (at_ == end_) {
      return false;
    }
    if (*at_ == '{') {
      if (!Object(type, static_cast<char*>(root), nullptr, max_depth_)) {
        return false;
      }
    } else if (*at_ != 'n') {
      if (!Mismatch(nullptr, std::string(type.version) + "." + std::string(type.name))) {
        return false;
      }
    } else if (!Literal("null")) {
      return false;
    }
    return error_.empty() && text::SkipBlanks(at_, end_) == end_;
  }

  /// What went wrong beyond syntax; empty when only the syntax is broken.
  std::string& error() { return error_; }

 private:
  void Blanks() {
    if (at_ != end_ && static_cast<unsigned char>(*at_) <= ' ') {
      at_ = text::SkipBlanks(at_, end_);
    }
  }

  bool Literal(std::string_view word) {
    if (static_cast<std::size_t>(end_ - at_) < word.size() ||
        std::memcmp(at_, word.data(), word.size()) != 0) {
      return false;
    }
    at_ += word.size();
    return true;
  }

  bool IsNull() const { return at_ != end_ && *at_ == 'n'; }

  Str Keep(const text::RawString& raw) {
    if (raw.plain) {
      return raw.text;
    }
    const std::size_t bound = text::UnescapedBound(raw.text);
    char* const to = static_cast<char*>(arena_.Allocate(bound, 1));
    return {to, text::Unescape(raw.text, to)};
  }

  /// Reads `"key":`; false when malformed.
  bool Key(Str& key) {
    Blanks();
    if (at_ == end_ || *at_ != '"') {
      return false;
    }
    text::RawString raw;
    at_ = text::ScanString(at_, end_, raw);
    if (at_ == nullptr) {
      return false;
    }
    key = Keep(raw);
    Blanks();
    if (at_ == end_ || *at_ != ':') {
      return false;
    }
    ++at_;
    Blanks();
    return at_ != end_;
  }

  /// After a value: true to go on after a comma, false at `close`. Malformed text sets bad.
  bool More(char close, bool& bad) {
    Blanks();
    if (at_ == end_) {
      bad = true;
      return false;
    }
    const char c = *at_++;
    if (c == ',') {
      return true;
    }
    bad = c != close;
    return false;
  }

  bool Object(const TypeDesc& type, char* to, const Frame* parent, int depth) {
    if (depth <= 0) {
      return false;
    }
    Frame frame{.parent = parent, .type = &type};
    std::uint64_t seen[2] = {0, 0};
    ++at_;
    Blanks();
    if (at_ != end_ && *at_ == '}') {
      ++at_;
      return true;
    }
    bool bad = false;
    do {
      Str key;
      if (!Key(key)) {
        return false;
      }
      const JsonField* const found = type.Find(key);
      if (found == nullptr) {
        Report("unknown", parent, key);
        at_ = text::SkipValue(at_, end_, depth - 1);
        if (at_ == nullptr) {
          return false;
        }
        continue;
      }
      const auto index = static_cast<std::size_t>(found - type.json_fields.data());
      std::uint64_t& word = seen[index / 64 & 1];
      const std::uint64_t bit = std::uint64_t{1} << (index % 64);
      if ((word & bit) != 0) {
        Report("duplicate", parent, key);
      }
      word |= bit;
      frame.field = found;
      if (!Member(*found->field, to + found->offset, frame, depth)) {
        return false;
      }
    } while (More('}', bad));
    return !bad;
  }

  bool Member(const FieldDesc& field, char* to, const Frame& frame, int depth) {
    switch (field.shape) {
      case Shape::kValue: return Value(field, to, frame, depth, /*element=*/false);
      case Shape::kPointer: return Pointer(field, to, frame, depth);
      case Shape::kList: return ListOf(field, to, frame, depth);
      case Shape::kMap: return MapOf(field, to, frame, depth);
    }
    return false;
  }

  bool Pointer(const FieldDesc& field, char* to, const Frame& frame, int depth) {
    if (IsNull()) {
      Store<const void*>(to, nullptr);
      return Literal("null");
    }
    auto* target = static_cast<char*>(const_cast<void*>(Load<const void*>(to)));
    if (target == nullptr) {
      const Layout layout = LayoutOf(field);
      target = NewZeroed(arena_, layout.size, layout.alignment);
      Store<const void*>(to, target);
    }
    return Value(field, target, frame, depth, /*element=*/false);
  }

  bool ListOf(const FieldDesc& field, char* to, const Frame& parent, int depth) {
    if (IsNull()) {
      Store(to, AnyList());
      return Literal("null");
    }
    if (*at_ != '[') {
      return Mismatch(&parent, GoType(field, false, parent.type));
    }
    if (depth <= 0) {
      return false;
    }
    const Layout layout = LayoutOf(field);
    ListBuilder list(arena_, layout.size, layout.alignment);
    ++at_;
    Blanks();
    if (at_ != end_ && *at_ == ']') {
      ++at_;
      Store(to, list.Finish());
      return true;
    }
    Frame frame{.parent = &parent, .is_list = true};
    bool bad = false;
    do {
      Blanks();
      if (at_ == end_ || !Value(field, list.Add(), frame, depth - 1, /*element=*/true)) {
        return false;
      }
      ++frame.index;
    } while (More(']', bad));
    Store(to, list.Finish());
    return !bad;
  }

  bool MapOf(const FieldDesc& field, char* to, const Frame& parent, int depth) {
    if (IsNull()) {
      Store(to, AnyList());
      return Literal("null");
    }
    if (*at_ != '{') {
      return Mismatch(&parent, GoType(field, false, parent.type));
    }
    if (depth <= 0) {
      return false;
    }
    const EntryLayout layout = EntryLayoutOf(field);
    ListBuilder list(arena_, layout.size, layout.alignment);
    list.Start(Load<AnyList>(to));
    const std::uint32_t before = list.count();
    ++at_;
    Blanks();
    if (at_ != end_ && *at_ == '}') {
      ++at_;
      Store(to, list.Finish());
      return true;
    }
    Frame frame{.parent = &parent};
    bool sorted = before == 0;
    bool bad = false;
    do {
      Str key;
      if (!Key(key)) {
        return false;
      }
      sorted = sorted && (list.count() == 0 || Load<Str>(list[list.count() - 1]) < key);
      if (!sorted && strict_ != nullptr && HasKey(list, before, key)) {
        Report("duplicate", &parent, key);
      }
      char* const entry = list.Add();
      Store(entry, key);
      frame.key = key;
      if (field.kind == ValueKind::kStringList) {
        if (!StringList(entry + layout.value, frame)) {
          return false;
        }
      } else if (!Value(field, entry + layout.value, frame, depth - 1, /*element=*/true)) {
        return false;
      }
    } while (More('}', bad));
    if (!sorted) {
      list.SortEntries();
    }
    Store(to, list.Finish());
    return !bad;
  }

  static bool HasKey(const ListBuilder& list, std::uint32_t from, Str key) {
    for (std::uint32_t i = from; i < list.count(); ++i) {
      if (Load<Str>(list[i]) == key) {
        return true;
      }
    }
    return false;
  }

  bool StringList(char* to, const Frame& parent) {
    if (IsNull()) {
      return Literal("null");
    }
    if (*at_ != '[') {
      return Mismatch(&parent, "[]string");
    }
    ListBuilder list(arena_, sizeof(Str), alignof(Str));
    ++at_;
    Blanks();
    if (at_ != end_ && *at_ == ']') {
      ++at_;
      Store(to, list.Finish());
      return true;
    }
    bool bad = false;
    do {
      Blanks();
      if (at_ == end_) {
        return false;
      }
      char* const element = list.Add();
      if (IsNull()) {
        if (!Literal("null")) {
          return false;
        }
      } else if (*at_ != '"') {
        return Mismatch(&parent, "string");
      } else if (!String(element)) {
        return false;
      }
    } while (More(']', bad));
    Store(to, list.Finish());
    return !bad;
  }

  bool String(char* to) {
    text::RawString raw;
    at_ = text::ScanString(at_, end_, raw);
    if (at_ == nullptr) {
      return false;
    }
    Store(to, Keep(raw));
    return true;
  }

  /// Reads one value of the field's kind. `to` is zero, or holds an earlier value that is
  /// overwritten.
  bool Value(const FieldDesc& field, char* to, const Frame& frame, int depth, bool element) {
    const char c = *at_;
    switch (field.kind) {
      case ValueKind::kString:
        if (c == '"') {
          return String(to);
        }
        break;
      case ValueKind::kMessage:
        if (c == '{') {
          return Object(*field.message, to, &frame, depth - 1);
        }
        break;
      case ValueKind::kBool:
        if (c == 't' || c == 'f') {
          Store(to, c == 't');
          return Literal(c == 't' ? "true" : "false");
        }
        break;
      case ValueKind::kInt32:
        if (c == '-' || (c >= '0' && c <= '9')) {
          return Integer<std::int32_t>(field, to, frame, element);
        }
        break;
      case ValueKind::kInt64:
        if (c == '-' || (c >= '0' && c <= '9')) {
          return Integer<std::int64_t>(field, to, frame, element);
        }
        break;
      case ValueKind::kDouble:
        if (c == '-' || (c >= '0' && c <= '9')) {
          return Double(field, to, frame, element);
        }
        break;
      default: return Special(field, to, frame, depth);
    }
    if (c == 'n') {
      return Literal("null");  // leaves the zero value, as Go does
    }
    if (field.kind == ValueKind::kMessage && c == '[' && depth <= 0) {
      return false;
    }
    return Mismatch(&frame, GoType(field, element, frame.type));
  }

  bool Number(Str& token, bool& is_integer) {
    const char* const from = at_;
    const char* const to = text::ScanNumber(at_, end_, is_integer);
    if (to == nullptr) {
      return false;
    }
    token = {from, static_cast<std::size_t>(to - from)};
    at_ = to;
    return true;
  }

  template <typename T>
  bool Integer(const FieldDesc& field, char* to, const Frame& frame, bool element) {
    Str token;
    bool is_integer = false;
    if (!Number(token, is_integer)) {
      return false;
    }
    T value = 0;
    if (!is_integer ||
        std::from_chars(token.data(), token.data() + token.size(), value).ec != std::errc()) {
      Cannot("number " + std::string(token), &frame, GoType(field, element, frame.type));
      return true;
    }
    Store(to, value);
    return true;
  }

  bool Double(const FieldDesc& field, char* to, const Frame& frame, bool element) {
    Str token;
    bool is_integer = false;
    if (!Number(token, is_integer)) {
      return false;
    }
    double value = 0;
    if (std::from_chars(token.data(), token.data() + token.size(), value).ec ==
        std::errc::result_out_of_range) {
      value = std::strtod(std::string(token).c_str(), nullptr);
      if (std::isinf(value)) {
        Cannot("number " + std::string(token), &frame, GoType(field, element, frame.type));
        return true;
      }
    }
    Store(to, value);
    return true;
  }

  /// Kinds that read their own texts.
  bool Special(const FieldDesc& field, char* to, const Frame& frame, int depth) {
    switch (field.kind) {
      case ValueKind::kQuantity: return Quantity(to, depth);
      case ValueKind::kTime:
      case ValueKind::kMicroTime: return Time(field.kind, to, frame);
      case ValueKind::kDuration: return Duration(to, frame);
      case ValueKind::kIntOrString: return IntOrString_(to, frame);
      case ValueKind::kBytes: return Bytes(field, to, frame);
      case ValueKind::kRaw:
      case ValueKind::kFieldsV1: return Raw(to, depth);
      default: return Mismatch(&frame, GoType(field, false, frame.type));
    }
  }

  bool Quantity(char* to, int depth) {
    const char* const from = at_;
    const char* const next = text::SkipValue(at_, end_, depth);
    if (next == nullptr) {
      return false;
    }
    std::string_view token(from, static_cast<std::size_t>(next - from));
    at_ = next;
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
      return Abort(value.error().message());
    }
    Store(to, *value);
    return true;
  }

  /// Reads a string for a kind that Go reads with its own method.
  bool OwnString(Str& out, const Frame& frame) {
    if (*at_ != '"') {
      return AbortMismatch(frame, "string");
    }
    text::RawString raw;
    at_ = text::ScanString(at_, end_, raw);
    if (at_ == nullptr) {
      return false;
    }
    out = Keep(raw);
    return true;
  }

  bool Time(ValueKind kind, char* to, const Frame& frame) {
    if (IsNull()) {
      Store(to, quantity::Time());
      return Literal("null");
    }
    Str token;
    if (!OwnString(token, frame)) {
      return false;
    }
    if (kind == ValueKind::kTime && UtcSeconds(token, to)) {
      return true;
    }
    auto value = kind == ValueKind::kTime ? quantity::ParseTime(token) : MicroTime(token);
    if (!value) {
      return Abort(value.error().message());
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

  /// The form that encoders of the API write: 2006-01-02T15:04:05Z, for metav1.Time. False for all
  /// else.
  static bool UtcSeconds(Str token, char* to) {
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
    if (year < 2 || month < 1 || month > 12 || day < 1 || day > 28 || two(11) > 23 ||
        two(14) > 59 || two(17) > 59) {
      return false;
    }
    const std::int64_t days = quantity::DaysFromCivil(year, month, day);
    Store(to, quantity::Time{days * 86400 + two(11) * 3600 + two(14) * 60 + two(17), 0, true});
    return true;
  }

  /// RFC 3339 with exactly six digits after the point.
  static Result<quantity::Time> MicroTime(Str token) {
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

  bool Duration(char* to, const Frame& frame) {
    Str token;
    if (IsNull()) {
      if (!Literal("null")) {
        return false;
      }
    } else if (!OwnString(token, frame)) {
      return false;
    }
    const auto value = quantity::ParseDuration(token);
    if (!value) {
      return Abort(value.error().message());
    }
    Store(to, schema::Duration{*value});
    return true;
  }

  bool IntOrString_(char* to, const Frame& frame) {
    IntOrString value;
    if (*at_ == '"') {
      value.is_string = true;
      if (!OwnString(value.text, frame)) {
        return false;
      }
    } else if (IsNull()) {
      if (!Literal("null")) {
        return false;
      }
    } else if (*at_ == '-' || (*at_ >= '0' && *at_ <= '9')) {
      Str token;
      bool is_integer = false;
      if (!Number(token, is_integer)) {
        return false;
      }
      if (!is_integer ||
          std::from_chars(token.data(), token.data() + token.size(), value.number).ec !=
              std::errc()) {
        error_.clear();
        Cannot("number " + std::string(token), &frame, "int32");
        return false;
      }
    } else {
      return AbortMismatch(frame, "int32");
    }
    Store(to, value);
    return true;
  }

  bool Bytes(const FieldDesc& field, char* to, const Frame& frame) {
    if (IsNull()) {
      Store(to, Str());
      return Literal("null");
    }
    if (*at_ == '[') {
      return ByteList(to, frame);
    }
    if (*at_ != '"') {
      return Mismatch(&frame, GoType(field, true, frame.type));
    }
    Str token;
    if (!OwnString(token, frame)) {
      return false;
    }
    char* const out = static_cast<char*>(arena_.Allocate(DecodedBound(token), 1));
    std::size_t size = 0;
    const std::size_t bad = DecodeBase64(token, out, size);
    if (bad != Str::npos) {
      Save("illegal base64 data at input byte " + std::to_string(bad));
      return true;
    }
    Store(to, Str(out, size));
    return true;
  }

  /// Bytes as a list of numbers, which Go takes too.
  bool ByteList(char* to, const Frame& frame) {
    std::string bytes;
    ++at_;
    Blanks();
    if (at_ != end_ && *at_ == ']') {
      ++at_;
      Store(to, Str("", 0));
      return true;
    }
    bool bad = false;
    do {
      Blanks();
      if (at_ == end_) {
        return false;
      }
      std::uint8_t byte = 0;
      if (*at_ == '-' || (*at_ >= '0' && *at_ <= '9')) {
        Str token;
        bool is_integer = false;
        if (!Number(token, is_integer)) {
          return false;
        }
        if (!is_integer ||
            std::from_chars(token.data(), token.data() + token.size(), byte).ec != std::errc()) {
          Cannot("number " + std::string(token), &frame, "uint8");
        }
      } else if (IsNull() ? !Literal("null") : !Mismatch(&frame, "uint8")) {
        return false;
      }
      bytes += static_cast<char>(byte);
    } while (More(']', bad));
    Store(to, arena_.Copy(bytes));
    return !bad;
  }

  bool Raw(char* to, int depth) {
    const char* const from = at_;
    bool blanks = false;
    const char* const next = text::SkipValue(at_, end_, depth, &blanks);
    if (next == nullptr) {
      return false;
    }
    const Str token(from, static_cast<std::size_t>(next - from));
    at_ = next;
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
    Store(to, RawJson{arena_.Copy(compact)});
    return true;
  }

  void Report(std::string_view what, const Frame* parent, Str key) {
    if (strict_ == nullptr || strict_->errors.size() >= kMostFindings) {
      return;
    }
    std::string path = StrictPath(parent);
    path += path.empty() ? std::string(key) : "." + std::string(key);
    std::string finding = std::string(what) + " field " + quantity::GoQuote(path);
    for (const std::string& known : strict_->errors) {
      if (known == finding) {
        return;
      }
    }
    strict_->errors.push_back(std::move(finding));
  }

  /// An error of a kind that reads its own text: decoding ends, and nothing noted before counts.
  bool Abort(std::string message) {
    error_ = std::move(message);
    return false;
  }

  bool AbortMismatch(const Frame& frame, const std::string& type) {
    error_.clear();
    static_cast<void>(Mismatch(&frame, type));
    return false;
  }

  /// An error that is told in the end, if it is the first and nothing aborts: decoding goes on.
  void Save(std::string message) {
    if (error_.empty()) {
      error_ = std::move(message);
    }
  }

  /// Notes a value of the wrong type and skips it; false when it is malformed.
  bool Mismatch(const Frame* frame, const std::string& type) {
    switch (*at_) {
      case '{': Cannot("object", frame, type); break;
      case '[': Cannot("array", frame, type); break;
      case '"': Cannot("string", frame, type); break;
      case 't':
      case 'f': Cannot("bool", frame, type); break;
      default: Cannot("number", frame, type); break;
    }
    at_ = text::SkipValue(at_, end_, max_depth_);
    return at_ != nullptr;
  }

  /// Go's text for a value of the wrong type: the struct that holds the field, the path of fields.
  void Cannot(const std::string& value, const Frame* frame, const std::string& type) {
    Save("json: cannot unmarshal " + value + " into Go " + GoPlace(frame) + " of type " + type);
  }

  const char* at_;
  const char* end_;
  base::Arena& arena_;
  StrictFindings* strict_;
  int max_depth_;
  std::string error_;
};

}  // namespace

Result<void> DecodeJson(const TypeDesc& type,
                        std::string_view text,
                        base::Arena& arena,
                        void* root,
                        const DecodeOptions& options) {
  Decoder decoder(text, arena, options);
  if (decoder.Run(type, root)) {
    return {};
  }
  // Go checks the syntax of the whole text first, so a syntax error anywhere comes before others.
  if (auto error = text::FindJsonError(text, options.max_depth)) {
    return base::Error(Reason::kBadRequest, std::move(error->message));
  }
  return base::Error(Reason::kBadRequest,
                     decoder.error().empty() ? "invalid character '{' exceeded max depth"
                                             : std::move(decoder.error()));
}

}  // namespace allot::schema
