// Finds and words the first syntax error of a JSON text as Go's scanner does. Runs only when the
// fast parsers have already refused the text.
#include <string>
#include <vector>

#include "text/json.h"

namespace allot::text {
namespace {

std::string Quoted(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (c == '\'') {
    return "'\\''";
  }
  if (c == '"') {
    return "'\"'";
  }
  switch (c) {
    case '\\': return "'\\\\'";
    case '\a': return "'\\a'";
    case '\b': return "'\\b'";
    case '\f': return "'\\f'";
    case '\n': return "'\\n'";
    case '\r': return "'\\r'";
    case '\t': return "'\\t'";
    case '\v': return "'\\v'";
    default: break;
  }
  constexpr char kHex[] = "0123456789abcdef";
  const std::string digits = {kHex[byte >> 4], kHex[byte & 15]};
  if (byte < 0x20 || byte == 0x7F) {
    return "'\\x" + digits + "'";
  }
  if (byte < 0x80) {
    return std::string("'") + c + "'";
  }
  // Go takes the byte as a code point of Latin-1; those below 0xA1 and the soft hyphen do not
  // print.
  if (byte <= 0xA0 || byte == 0xAD) {
    return "'\\u00" + digits + "'";
  }
  return {'\'', static_cast<char>(0xC0 | byte >> 6), static_cast<char>(0x80 | (byte & 0x3F)), '\''};
}

class Checker {
 public:
  Checker(std::string_view text, int max_depth) : text_(text), max_depth_(max_depth) {}

  std::optional<JsonError> Run() {
    bool done = false;
    while (!done) {
      if (!Value(done)) {
        return error_;
      }
    }
    Blanks();
    if (at_ != text_.size()) {
      Fail("after top-level value");
    }
    return error_;
  }

 private:
  bool Fail(const std::string& context) {
    // Go reads one blank after the end: inside a word, a number or an escape that is the wrong
    // character.
    const bool inside = context.starts_with("in literal") || context.starts_with("in numeric") ||
                        context.starts_with("after decimal") ||
                        context.starts_with("in exponent") ||
                        context.starts_with("in string escape") || context.starts_with("in \\u");
    if (at_ >= text_.size() && inside) {
      error_ = JsonError{"invalid character ' ' " + context, text_.size()};
    } else if (at_ >= text_.size()) {
      error_ = JsonError{"unexpected end of JSON input", text_.size()};
    } else {
      error_ = JsonError{"invalid character " + Quoted(text_[at_]) + " " + context, at_ + 1};
    }
    return false;
  }

  void Blanks() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) {
      ++at_;
    }
  }

  bool Is(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool IsDigit() const { return at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; }

  /// One value; then closes what ends with it. `done` is set when the outermost value ended.
  bool Value(bool& done) {
    Blanks();
    if (Is('{') || Is('[')) {
      const bool object = Is('{');
      ++at_;
      if (static_cast<int>(in_object_.size()) >= max_depth_) {
        error_ = JsonError{object ? "invalid character '{' exceeded max depth"
                                  : "invalid character '[' exceeded max depth",
                           at_};
        return false;
      }
      Blanks();
      if (!Is(object ? '}' : ']')) {
        in_object_.push_back(object);
        return !object || Key();
      }
      ++at_;
    } else if (!Scalar()) {
      return false;
    }
    return Close(done);
  }

  bool Close(bool& done) {
    while (!in_object_.empty()) {
      Blanks();
      const bool object = in_object_.back();
      if (Is(',')) {
        ++at_;
        return !object || Key();
      }
      if (!Is(object ? '}' : ']')) {
        return Fail(object ? "after object key:value pair" : "after array element");
      }
      ++at_;
      in_object_.pop_back();
    }
    done = true;
    return true;
  }

  bool Key() {
    Blanks();
    if (!Is('"')) {
      return Fail("looking for beginning of object key string");
    }
    if (!String()) {
      return false;
    }
    Blanks();
    if (!Is(':')) {
      return Fail("after object key");
    }
    ++at_;
    return true;
  }

  bool Scalar() {
    if (Is('"')) {
      return String();
    }
    if (Is('-') || IsDigit()) {
      return Number();
    }
    for (const std::string_view word : {"true", "false", "null"}) {
      if (Is(word[0])) {
        return Word(word);
      }
    }
    return Fail("looking for beginning of value");
  }

  bool Word(std::string_view word) {
    for (const char c : word) {
      if (!Is(c)) {
        return Fail("in literal " + std::string(word) + " (expecting '" + c + "')");
      }
      ++at_;
    }
    return true;
  }

  bool Digits(const char* context) {
    if (!IsDigit()) {
      return Fail(context);
    }
    while (IsDigit()) {
      ++at_;
    }
    return true;
  }

  bool Number() {
    if (Is('-')) {
      ++at_;
    }
    if (Is('0')) {
      ++at_;
    } else if (!Digits("in numeric literal")) {
      return false;
    }
    if (Is('.')) {
      ++at_;
      if (!Digits("after decimal point in numeric literal")) {
        return false;
      }
    }
    if (Is('e') || Is('E')) {
      ++at_;
      if (Is('+') || Is('-')) {
        ++at_;
      }
      return Digits("in exponent of numeric literal");
    }
    return true;
  }

  bool String() {
    ++at_;
    while (true) {
      if (at_ >= text_.size() || static_cast<unsigned char>(text_[at_]) < 0x20) {
        return Fail("in string literal");
      }
      const char c = text_[at_++];
      if (c == '"') {
        return true;
      }
      if (c != '\\') {
        continue;
      }
      if (at_ >= text_.size() ||
          std::string_view("\"\\/bfnrtu").find(text_[at_]) == std::string_view::npos) {
        return Fail("in string escape code");
      }
      if (text_[at_++] == 'u') {
        for (int i = 0; i < 4; ++i, ++at_) {
          if (at_ >= text_.size() || std::string_view("0123456789abcdefABCDEF").find(text_[at_]) ==
                                         std::string_view::npos) {
            return Fail("in \\u hexadecimal character escape");
          }
        }
      }
    }
  }

  std::string_view text_;
  int max_depth_;
  std::size_t at_ = 0;
  std::vector<bool> in_object_;
  std::optional<JsonError> error_;
};

}  // namespace

std::optional<JsonError> FindJsonError(std::string_view text, int max_depth) {
  return Checker(text, max_depth).Run();
}

}  // namespace allot::text
