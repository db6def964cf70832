#include "text/json.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "text/json_scanner.h"

namespace allot::text {
namespace {

/// One open array or object while parsing.
struct Frame {
  Value value;
  std::string key;                                    // of the member that is being read
  std::unordered_map<std::string, std::size_t> seen;  // filled when the object grows large
};

constexpr std::size_t kLinearMembers = 16;

/// The place of the member with this key in the frame's object; npos when it is new.
std::size_t FindMember(Frame& frame, std::string_view key) {
  const auto& members = frame.value.members();
  if (members.size() < kLinearMembers) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (members[i].key == key) {
        return i;
      }
    }
    return std::string::npos;
  }
  for (std::size_t i = frame.seen.size(); i < members.size(); ++i) {
    frame.seen.emplace(members[i].key, i);
  }
  const auto found = frame.seen.find(std::string(key));
  return found != frame.seen.end() ? found->second : std::string::npos;
}

class Parser {
 public:
  Parser(std::string_view text, const JsonOptions& options)
      : at_(text.data()), end_(text.data() + text.size()), options_(options) {}

  /// False when the text is malformed.
  bool Parse(Value& out) {
    while (true) {
      Value value;
      bool opened = false;
      if (!ReadValue(value, opened)) {
        return false;
      }
      if (opened) {
        continue;
      }
      bool done = false;
      if (!Place(std::move(value), out, done)) {
        return false;
      }
      if (done) {
        return SkipBlanks(at_, end_) == end_;
      }
    }
  }

  /// The number that no double can hold; empty when none was met.
  const std::string& too_large() const { return too_large_; }

 private:
  /// Reads a scalar or an empty container into `out`, or opens a frame.
  bool ReadValue(Value& out, bool& opened) {
    at_ = SkipBlanks(at_, end_);
    if (at_ == end_) {
      return false;
    }
    if (*at_ == '{' || *at_ == '[') {
      const bool object = *at_ == '{';
      if (static_cast<int>(frames_.size()) >= options_.max_depth) {
        return false;
      }
      at_ = SkipBlanks(at_ + 1, end_);
      if (at_ == end_) {
        return false;
      }
      out = object ? Value::Object() : Value::Array();
      if (*at_ == (object ? '}' : ']')) {
        ++at_;
        return true;
      }
      frames_.push_back({std::move(out), {}, {}});
      opened = true;
      return !object || ReadKey();
    }
    return ReadScalar(out);
  }

  bool ReadScalar(Value& out) {
    switch (*at_) {
      case '"': {
        std::string string;
        if (!ReadString(string)) {
          return false;
        }
        out = Value(std::move(string));
        return true;
      }
      case 't': return ReadWord("true", Value(true), out);
      case 'f': return ReadWord("false", Value(false), out);
      case 'n': return ReadWord("null", Value(), out);
      default: return ReadNumber(out);
    }
  }

  bool ReadWord(std::string_view word, Value value, Value& out) {
    if (!std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with(word)) {
      return false;
    }
    at_ += word.size();
    out = std::move(value);
    return true;
  }

  bool ReadString(std::string& out) {
    RawString raw;
    at_ = ScanString(at_, end_, raw);
    if (at_ == nullptr) {
      return false;
    }
    if (raw.plain) {
      out.assign(raw.text);
    } else {
      out.resize(UnescapedBound(raw.text));
      out.resize(Unescape(raw.text, out.data()));
    }
    return true;
  }

  bool ReadNumber(Value& out) {
    bool is_integer = false;
    const char* const from = at_;
    const char* const to = ScanNumber(at_, end_, is_integer);
    if (to == nullptr) {
      return false;
    }
    at_ = to;
    if (is_integer) {
      std::int64_t integer = 0;
      if (std::from_chars(from, to, integer).ec == std::errc()) {
        out = Value(integer);
        return true;
      }
    }
    double real = 0;
    // Out of range: beyond the largest double is an error in Go, below the smallest is zero.
    if (std::from_chars(from, to, real).ec == std::errc::result_out_of_range) {
      const std::string text(from, to);
      real = std::strtod(text.c_str(), nullptr);
      if (std::isinf(real)) {
        too_large_ = text;
        return false;
      }
    }
    out = Value(real);
    return true;
  }

  /// The key of the next member and its colon.
  bool ReadKey() {
    at_ = SkipBlanks(at_, end_);
    Frame& frame = frames_.back();
    if (at_ == end_ || *at_ != '"' || !ReadString(frame.key)) {
      return false;
    }
    if (options_.duplicates != nullptr && FindMember(frame, frame.key) != std::string::npos) {
      options_.duplicates->push_back(Path());
    }
    at_ = SkipBlanks(at_, end_);
    if (at_ == end_ || *at_ != ':') {
      return false;
    }
    ++at_;
    return true;
  }

  /// Puts a finished value into the innermost frame and closes the frames that end with it.
  bool Place(Value value, Value& out, bool& done) {
    while (true) {
      if (frames_.empty()) {
        out = std::move(value);
        done = true;
        return true;
      }
      Frame& frame = frames_.back();
      const bool object = frame.value.is_object();
      if (object) {
        const std::size_t at = FindMember(frame, frame.key);
        if (at == std::string::npos) {
          frame.value.MutableMembers().push_back({frame.key, std::move(value)});
        } else {
          frame.value.MutableMembers()[at].value = std::move(value);
        }
      } else {
        frame.value.MutableItems().push_back(std::move(value));
      }
      at_ = SkipBlanks(at_, end_);
      if (at_ == end_) {
        return false;
      }
      if (*at_ == ',') {
        ++at_;
        return !object || ReadKey();
      }
      if (*at_ != (object ? '}' : ']')) {
        return false;
      }
      ++at_;
      value = std::move(frame.value);
      frames_.pop_back();
    }
  }

  std::string Path() const {
    std::string path;
    for (const Frame& frame : frames_) {
      if (frame.value.is_array()) {
        path += "[" + std::to_string(frame.value.items().size()) + "]";
      } else {
        path += (path.empty() ? "" : ".") + frame.key;
      }
    }
    return path;
  }

  const char* at_;
  const char* end_;
  const JsonOptions& options_;
  std::vector<Frame> frames_;
  std::string too_large_;
};

void Indent(std::size_t level, std::string& out) {
  out += '\n';
  out.append(4 * level, ' ');
}

void Write(const Value& value, JsonStyle style, std::size_t level, std::string& out) {
  const bool indented = style == JsonStyle::kIndented;
  const auto list = [&](const auto& elements, char open, char close, const auto& write) {
    out += open;
    bool first = true;
    for (const auto& element : elements) {
      if (!first) {
        out += ',';
      }
      first = false;
      if (indented) {
        Indent(level + 1, out);
      }
      write(element);
    }
    if (indented && !first) {
      Indent(level, out);
    }
    out += close;
  };
  switch (value.kind()) {
    case Value::Kind::kNull: out += "null"; break;
    case Value::Kind::kBool: out += value.AsBool() ? "true" : "false"; break;
    case Value::Kind::kInt: out += std::to_string(value.AsInt()); break;
    case Value::Kind::kDouble: AppendJsonDouble(value.AsDouble(), out); break;
    case Value::Kind::kString: AppendJsonString(value.AsString(), out); break;
    case Value::Kind::kArray:
      list(value.items(), '[', ']', [&](const Value& item) { Write(item, style, level + 1, out); });
      break;
    case Value::Kind::kObject:
      list(value.members(), '{', '}', [&](const Member& member) {
        AppendJsonString(member.key, out);
        out += indented ? ": " : ":";
        Write(member.value, style, level + 1, out);
      });
      break;
  }
}

/// Which bytes Go's encoder does not write as they are.
constexpr bool NeedsCare(unsigned char c) {
  return c < 0x20 || c >= 0x80 || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&';
}

void AppendEscape(unsigned char c, std::string& out) {
  constexpr char kHex[] = "0123456789abcdef";
  switch (c) {
    case '"': out += "\\\""; break;
    case '\\': out += "\\\\"; break;
    case '\b': out += "\\b"; break;
    case '\f': out += "\\f"; break;
    case '\n': out += "\\n"; break;
    case '\r': out += "\\r"; break;
    case '\t': out += "\\t"; break;
    default:
      out += "\\u00";
      out += kHex[c >> 4];
      out += kHex[c & 15];
      break;
  }
}

}  // namespace

base::Result<Value> ParseJson(std::string_view text, const JsonOptions& options) {
  Value value;
  Parser parser(text, options);
  if (parser.Parse(value)) {
    return value;
  }
  if (auto error = FindJsonError(text, options.max_depth)) {
    return base::Error(base::Reason::kBadRequest, std::move(error->message));
  }
  return base::Error(
      base::Reason::kBadRequest,
      "json: cannot unmarshal number " + parser.too_large() + " into Go value of type float64");
}

void WriteJson(const Value& value, std::string& out, JsonStyle style) {
  Write(value, style, 0, out);
}

std::string ToJson(const Value& value, JsonStyle style) {
  std::string out;
  WriteJson(value, out, style);
  return out;
}

void AppendJsonString(std::string_view text, std::string& out) {
  out += '"';
  std::size_t clean = 0;  // start of what was not copied yet
  std::size_t at = 0;
  while (at < text.size()) {
    const auto c = static_cast<unsigned char>(text[at]);
    if (!NeedsCare(c)) {
      ++at;
      continue;
    }
    if (c >= 0x80) {
      const std::size_t length = Utf8Length(text.substr(at));
      // Line and paragraph separators break JavaScript strings, so Go escapes them.
      const bool separator = length == 3 && c == 0xE2 && text[at + 1] == '\x80' &&
                             (text[at + 2] == '\xA8' || text[at + 2] == '\xA9');
      if (length != 0 && !separator) {
        at += length;
        continue;
      }
      out.append(text, clean, at - clean);
      out += length == 0 ? "\\ufffd" : text[at + 2] == '\xA8' ? "\\u2028" : "\\u2029";
      at += length == 0 ? 1 : length;
    } else {
      out.append(text, clean, at - clean);
      AppendEscape(c, out);
      ++at;
    }
    clean = at;
  }
  out.append(text, clean, text.size() - clean);
  out += '"';
}

void AppendJsonDouble(double value, std::string& out) {
  // The shortest digits that read back as the same double, as "d.ddde+xx".
  char text[64];
  char* const end =
      std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
  *end = '\0';
  std::string_view mantissa(text, static_cast<std::size_t>(end - text));
  const std::size_t mark = mantissa.find('e');
  const int exponent = std::atoi(text + mark + 1);
  mantissa = mantissa.substr(0, mark);
  if (mantissa.starts_with('-')) {
    out += '-';
    mantissa.remove_prefix(1);
  }
  if (value != 0 && (exponent < -6 || exponent >= 21)) {
    out += mantissa;
    out += exponent < 0 ? "e-" : "e+";
    out += std::to_string(std::abs(exponent));
    return;
  }
  std::string digits(mantissa.substr(0, 1));
  if (mantissa.size() > 2) {
    digits += mantissa.substr(2);
  }
  if (exponent < 0) {
    out += "0.";
    out.append(static_cast<std::size_t>(-exponent - 1), '0');
    out += digits;
    return;
  }
  const std::size_t whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole) {
    out += digits;
    out.append(whole - digits.size(), '0');
  } else {
    out.append(digits, 0, whole);
    out += '.';
    out.append(digits, whole);
  }
}

void AppendCompactJson(std::string_view text, std::string& out) {
  const char* at = text.data();
  const char* const end = at + text.size();
  while ((at = SkipBlanks(at, end)) != end) {
    if (*at == '"') {
      RawString string;
      const char* const next = ScanString(at, end, string);
      if (next == nullptr) {
        out.append(at, end);
        return;
      }
      out.append(at, next);
      at = next;
    } else {
      out += *at++;
    }
  }
}

}  // namespace allot::text
