#include "cel/lexer.h"

#include <algorithm>

namespace allot::cel {
namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
bool IsHex(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Reads the source with a terminating NUL past its end, which no token contains.
class Scanner {
 public:
  explicit Scanner(std::string_view source) : source_(source) {}

  [[nodiscard]] char At(std::size_t i) const { return i < source_.size() ? source_[i] : '\0'; }
  [[nodiscard]] bool End(std::size_t i) const { return i >= source_.size(); }

  [[nodiscard]] std::size_t Digits(std::size_t i) const {
    while (IsDigit(At(i))) {
      ++i;
    }
    return i;
  }

  // The end of an escape sequence whose backslash is at i; `reached` becomes where it failed, else
  // 0 is not returned.
  [[nodiscard]] std::size_t Escape(std::size_t i, std::size_t& reached) const {
    const char c = At(i + 1);
    reached = i + 1;
    if (std::string_view("abfnrtv\"'\\?`").contains(c) && c != '\0') {
      return i + 2;
    }
    std::size_t hex = 0;
    switch (c) {
      case 'x':
      case 'X': hex = 2; break;
      case 'u': hex = 4; break;
      case 'U': hex = 8; break;
      default:
        if (c < '0' || c > '3') {
          return 0;
        }
        for (std::size_t k = i + 2; k < i + 4; ++k) {
          reached = k;
          if (At(k) < '0' || At(k) > '7') {
            return 0;
          }
        }
        return i + 4;
    }
    for (std::size_t k = i + 2; k < i + 2 + hex; ++k) {
      reached = k;
      if (!IsHex(At(k))) {
        return 0;
      }
    }
    return i + 2 + hex;
  }

  // The end of the string whose (first) quote is at i, 0 when it does not end; `reached` is the
  // failing place.
  [[nodiscard]] std::size_t Quoted(std::size_t i, bool raw, std::size_t& reached) const {
    const char quote = At(i);
    const bool triple = At(i + 1) == quote && At(i + 2) == quote && !End(i + 2);
    if (triple) {
      if (const std::size_t end = Body(i + 3, quote, raw, /*triple=*/true, reached); end != 0) {
        return end;
      }
      return i + 2;
    }
    return Body(i + 1, quote, raw, /*triple=*/false, reached);
  }

 private:
  [[nodiscard]] std::size_t Body(
      std::size_t i, char quote, bool raw, bool triple, std::size_t& reached) const {
    for (;;) {
      reached = i;
      if (End(i)) {
        return 0;
      }
      const char c = At(i);
      if (c == quote && !triple) {
        return i + 1;
      }
      if (c == quote && At(i + 1) == quote && At(i + 2) == quote) {
        return i + 3;
      }
      if (!triple && (c == '\n' || c == '\r')) {
        return 0;
      }
      if (c == '\\' && !raw) {
        i = Escape(i, reached);
        if (i == 0) {
          return 0;
        }
        continue;
      }
      ++i;
    }
  }

  std::string_view source_;
};

Lexeme Make(Token token, std::size_t start, std::size_t end) {
  return {token, static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(end - start)};
}

Lexeme Number(const Scanner& scan, std::size_t start) {
  std::size_t end = scan.Digits(start);
  const bool dot_first = end == start;
  if (!dot_first && end == start + 1 && scan.At(start) == '0' && scan.At(end) == 'x' &&
      IsHex(scan.At(end + 1))) {
    end += 2;
    while (IsHex(scan.At(end))) {
      ++end;
    }
    const bool is_uint = scan.At(end) == 'u' || scan.At(end) == 'U';
    return Make(is_uint ? Token::kNumUint : Token::kNumInt, start, end + (is_uint ? 1 : 0));
  }
  bool is_float = dot_first;
  if (scan.At(end) == '.' && IsDigit(scan.At(end + 1))) {
    is_float = true;
    end = scan.Digits(end + 1);
  }
  if (scan.At(end) == 'e' || scan.At(end) == 'E') {
    std::size_t exponent = end + 1;
    if (scan.At(exponent) == '+' || scan.At(exponent) == '-') {
      ++exponent;
    }
    if (IsDigit(scan.At(exponent))) {
      return Make(Token::kNumFloat, start, scan.Digits(exponent));
    }
  }
  if (is_float) {
    return Make(Token::kNumFloat, start, end);
  }
  const bool is_uint = scan.At(end) == 'u' || scan.At(end) == 'U';
  return Make(is_uint ? Token::kNumUint : Token::kNumInt, start, end + (is_uint ? 1 : 0));
}

Token Keyword(std::string_view text) {
  if (text == "in") {
    return Token::kIn;
  }
  if (text == "true") {
    return Token::kTrue;
  }
  if (text == "false") {
    return Token::kFalse;
  }
  return text == "null" ? Token::kNull : Token::kIdentifier;
}

// A string or bytes literal with its prefixes, or an identifier.
Lexeme Word(const Scanner& scan, std::string_view source, std::size_t start) {
  std::size_t quote = start;
  bool bytes = false;
  bool raw = false;
  if (scan.At(quote) == 'b' || scan.At(quote) == 'B') {
    bytes = true;
    ++quote;
  }
  if (scan.At(quote) == 'r' || scan.At(quote) == 'R') {
    raw = true;
    ++quote;
  }
  std::size_t reached = 0;
  if (scan.At(quote) == '"' || scan.At(quote) == '\'') {
    const std::size_t end = scan.Quoted(quote, raw, reached);
    if (end != 0) {
      return Make(bytes ? Token::kBytes : Token::kString, start, end);
    }
    if (quote == start) {
      return Make(Token::kInvalid, start, reached);
    }
  }
  std::size_t end = start;
  while (IsLetter(scan.At(end)) || IsDigit(scan.At(end))) {
    ++end;
  }
  return Make(Keyword(source.substr(start, end - start)), start, end);
}

Lexeme Backtick(const Scanner& scan, std::size_t start) {
  std::size_t end = start + 1;
  while (IsLetter(scan.At(end)) || IsDigit(scan.At(end)) ||
         (std::string_view(".-/ ").contains(scan.At(end)) && !scan.End(end))) {
    ++end;
  }
  if (end > start + 1 && scan.At(end) == '`') {
    return Make(Token::kEscIdentifier, start, end + 1);
  }
  return Make(Token::kInvalid, start, end);
}

Token Single(char c) {
  switch (c) {
    case '[': return Token::kLeftBracket;
    case ']': return Token::kRightBracket;
    case '{': return Token::kLeftBrace;
    case '}': return Token::kRightBrace;
    case '(': return Token::kLeftParen;
    case ')': return Token::kRightParen;
    case '.': return Token::kDot;
    case ',': return Token::kComma;
    case '-': return Token::kMinus;
    case '!': return Token::kExclam;
    case '?': return Token::kQuestion;
    case ':': return Token::kColon;
    case '+': return Token::kPlus;
    case '*': return Token::kStar;
    case '/': return Token::kSlash;
    case '%': return Token::kPercent;
    case '<': return Token::kLess;
    case '>': return Token::kGreater;
    default: return Token::kInvalid;
  }
}

Token Double(char first, char second) {
  if (second == '=') {
    switch (first) {
      case '=': return Token::kEqualsEquals;
      case '!': return Token::kNotEquals;
      case '<': return Token::kLessEquals;
      case '>': return Token::kGreaterEquals;
      default: return Token::kInvalid;
    }
  }
  if (first == '&' && second == '&') {
    return Token::kAnd;
  }
  return first == '|' && second == '|' ? Token::kOr : Token::kInvalid;
}

bool IsSpace(char c) {
  return c == '\t' || c == ' ' || c == '\r' || c == '\n' || c == '\f';
}

}  // namespace

Lexeme LexOne(std::string_view source, std::size_t offset) {
  const Scanner scan(source);
  if (scan.End(offset)) {
    return Make(Token::kEnd, offset, offset);
  }
  const char c = scan.At(offset);
  if (IsSpace(c)) {
    std::size_t end = offset;
    while (!scan.End(end) && IsSpace(scan.At(end))) {
      ++end;
    }
    return Make(Token::kWhitespace, offset, end);
  }
  if (IsLetter(c) || c == '"' || c == '\'') {
    return Word(scan, source, offset);
  }
  if (IsDigit(c) || (c == '.' && IsDigit(scan.At(offset + 1)))) {
    return Number(scan, offset);
  }
  if (c == '/' && scan.At(offset + 1) == '/') {
    const std::size_t end = std::min(source.find('\n', offset), source.size());
    return Make(Token::kComment, offset, end);
  }
  if (c == '`') {
    return Backtick(scan, offset);
  }
  if (const Token token = Double(c, scan.At(offset + 1)); token != Token::kInvalid) {
    return Make(token, offset, offset + 2);
  }
  if (const Token token = Single(c); token != Token::kInvalid) {
    return Make(token, offset, offset + 1);
  }
  const bool half = c == '=' || c == '&' || c == '|';
  return Make(Token::kInvalid, offset, offset + (half ? 1 : 0));
}

bool Lex(std::string_view source, std::vector<Lexeme>& out) {
  for (std::size_t at = 0;;) {
    const Lexeme lexeme = LexOne(source, at);
    if (lexeme.token == Token::kInvalid) {
      return false;
    }
    if (lexeme.token != Token::kWhitespace && lexeme.token != Token::kComment) {
      out.push_back(lexeme);
    }
    if (lexeme.token == Token::kEnd) {
      return true;
    }
    at += lexeme.size;
  }
}

}  // namespace allot::cel
