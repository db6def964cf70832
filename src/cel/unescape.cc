#include <algorithm>

#include "cel/builder.h"
#include "quantity/go_text.h"

namespace allot::cel {
namespace {

constexpr std::string_view kBad = "unable to unescape string";
constexpr std::string_view kBadOctal = "unable to unescape octal sequence in string";
constexpr std::string_view kBadRune = "invalid unicode code point";

int HexValue(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

std::string NormalizeNewlines(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r') {
      out += '\n';
      if (i + 1 < text.size() && text[i + 1] == '\n') {
        ++i;
      }
    } else {
      out += text[i];
    }
  }
  return out;
}

bool ValidRune(std::uint32_t rune) {
  return rune <= 0x10FFFF && (rune < 0xD800 || rune > 0xDFFF);
}

char SimpleEscape(char c) {
  switch (c) {
    case 'a': return '\a';
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'v': return '\v';
    case '\\':
    case '\'':
    case '"':
    case '`':
    case '?': return c;
    default: return '\0';
  }
}

// Reads the escape after a backslash at the front of `rest` and appends what it means.
std::string_view ReadEscape(std::string_view& rest, bool bytes, std::string& out) {
  if (rest.empty()) {
    return "unable to unescape string, found '\\' as last character";
  }
  const char c = rest[0];
  rest.remove_prefix(1);
  if (const char simple = SimpleEscape(c); simple != '\0') {
    out += simple;
    return {};
  }
  std::uint32_t rune = 0;
  if (c >= '0' && c <= '3') {
    if (rest.size() < 2) {
      return kBadOctal;
    }
    rune = static_cast<std::uint32_t>(c - '0');
    for (int k = 0; k < 2; ++k) {
      const char digit = rest[static_cast<std::size_t>(k)];
      if (digit < '0' || digit > '7') {
        return kBadOctal;
      }
      rune = rune * 8 + static_cast<std::uint32_t>(digit - '0');
    }
    rest.remove_prefix(2);
  } else {
    std::size_t digits = 0;
    if (c == 'x' || c == 'X') {
      digits = 2;
    } else if (c == 'u' && !bytes) {
      digits = 4;
    } else if (c == 'U' && !bytes) {
      digits = 8;
    }
    if (digits == 0 || rest.size() < digits) {
      return kBad;
    }
    for (std::size_t k = 0; k < digits; ++k) {
      const int value = HexValue(rest[k]);
      if (value < 0) {
        return kBad;
      }
      rune = rune << 4 | static_cast<std::uint32_t>(value);
    }
    rest.remove_prefix(digits);
  }
  if (bytes) {
    out += static_cast<char>(rune);
    return {};
  }
  if (!ValidRune(rune)) {
    return kBadRune;
  }
  quantity::AppendRune(out, rune);
  return {};
}

}  // namespace

bool Unescape(std::string_view text, bool bytes, std::string& out, std::string& error) {
  const std::string normalized = NormalizeNewlines(text);
  std::string_view value = normalized;
  const bool raw = value.starts_with('r') || value.starts_with('R');
  if (raw) {
    value.remove_prefix(1);
  }
  if (value.size() < 2 || value.front() != value.back() ||
      (value.front() != '"' && value.front() != '\'')) {
    error = kBad;
    return false;
  }
  const std::string_view triple = value.front() == '"' ? "\"\"\"" : "'''";
  const std::size_t quotes = value.size() >= 6 && value.starts_with(triple) ? 3 : 1;
  value = value.substr(quotes, value.size() - 2 * quotes);
  if (raw) {
    out = value;
    return true;
  }
  while (!value.empty()) {
    const std::size_t plain = std::min(value.find('\\'), value.size());
    out += value.substr(0, plain);
    value.remove_prefix(plain);
    if (value.empty()) {
      break;
    }
    value.remove_prefix(1);
    if (const std::string_view bad = ReadEscape(value, bytes, out); !bad.empty()) {
      error = bad;
      return false;
    }
  }
  return true;
}

}  // namespace allot::cel
