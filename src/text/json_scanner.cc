#include "text/json_scanner.h"

#include <cstring>
#include <vector>

namespace allot::text {
namespace {

unsigned char Byte(char c) {
  return static_cast<unsigned char>(c);
}

/// Unit: 0 to 15; -1 when it is no hexadecimal digit.
int HexDigit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  if (c >= 'A' && c <= 'F') {
    return c - 'A' + 10;
  }
  return -1;
}

/// The code unit of the four digits at `at`; -1 when there are none.
int HexUnit(const char* at, const char* end) {
  if (end - at < 4) {
    return -1;
  }
  int unit = 0;
  for (int i = 0; i < 4; ++i) {
    const int digit = HexDigit(at[i]);
    if (digit < 0) {
      return -1;
    }
    unit = unit * 16 + digit;
  }
  return unit;
}

char* PutCodePoint(std::uint32_t code, char* out) {
  const auto put = [&out](std::uint32_t byte) {
    *out++ = static_cast<char>(byte);
  };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
  return out;
}

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

const char* SkipDigits(const char* at, const char* end) {
  while (at != end && IsDigit(*at)) {
    ++at;
  }
  return at;
}

const char* SkipLiteral(const char* at, const char* end, std::string_view word) {
  if (static_cast<std::size_t>(end - at) < word.size() ||
      std::memcmp(at, word.data(), word.size()) != 0) {
    return nullptr;
  }
  return at + word.size();
}

const char* SkipScalar(const char* at, const char* end) {
  switch (*at) {
    case '"': {
      RawString string;
      return ScanString(at, end, string);
    }
    case 't': return SkipLiteral(at, end, "true");
    case 'f': return SkipLiteral(at, end, "false");
    case 'n': return SkipLiteral(at, end, "null");
    default: {
      bool is_integer = false;
      return ScanNumber(at, end, is_integer);
    }
  }
}

/// After an opening brace or a comma of an object: key and colon.
const char* SkipKey(const char* at, const char* end) {
  at = SkipBlanks(at, end);
  if (at == end || *at != '"') {
    return nullptr;
  }
  RawString key;
  at = ScanString(at, end, key);
  if (at == nullptr) {
    return nullptr;
  }
  at = SkipBlanks(at, end);
  return at != end && *at == ':' ? at + 1 : nullptr;
}

}  // namespace

std::size_t Utf8Length(std::string_view text) {
  if (text.empty()) {
    return 0;
  }
  const unsigned char lead = Byte(text[0]);
  if (lead < 0x80) {
    return 1;
  }
  const auto tail = [&text](std::size_t i, unsigned char low = 0x80, unsigned char high = 0xBF) {
    return i < text.size() && Byte(text[i]) >= low && Byte(text[i]) <= high;
  };
  if (lead >= 0xC2 && lead <= 0xDF) {
    return tail(1) ? 2 : 0;
  }
  if (lead >= 0xE0 && lead <= 0xEF) {
    // No overlong forms, no surrogates.
    const bool second = lead == 0xE0 ? tail(1, 0xA0) : lead == 0xED ? tail(1, 0x80, 0x9F) : tail(1);
    return second && tail(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const bool second = lead == 0xF0 ? tail(1, 0x90) : lead == 0xF4 ? tail(1, 0x80, 0x8F) : tail(1);
    return second && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

bool IsValidUtf8(std::string_view text) {
  while (!text.empty()) {
    if (text.size() >= 8) {
      std::uint64_t block = 0;
      std::memcpy(&block, text.data(), 8);
      if ((block & 0x8080808080808080U) == 0) {
        text.remove_prefix(8);
        continue;
      }
    }
    const std::size_t length = Utf8Length(text);
    if (length == 0) {
      return false;
    }
    text.remove_prefix(length);
  }
  return true;
}

const char* ScanStringSlow(const char* from, const char* at, const char* end, RawString& out) {
  bool plain = true;
  while (at != end) {
    const unsigned char c = Byte(*at);
    if (c == '"') {
      out = {{from, static_cast<std::size_t>(at - from)}, plain};
      return at + 1;
    }
    if (c < ' ') {
      return nullptr;
    }
    if (c == '\\') {
      plain = false;
      if (++at == end) {
        return nullptr;
      }
      if (*at == 'u') {
        if (HexUnit(at + 1, end) < 0) {
          return nullptr;
        }
        at += 5;
        continue;
      }
      if (std::strchr("\"\\/bfnrt", *at) == nullptr || *at == '\0') {
        return nullptr;
      }
      ++at;
      continue;
    }
    if (c < 0x80) {
      ++at;
      continue;
    }
    const std::size_t length = Utf8Length({at, static_cast<std::size_t>(end - at)});
    plain = plain && length != 0;
    at += length != 0 ? length : 1;
  }
  return nullptr;
}

std::size_t Unescape(std::string_view raw, char* out) {
  char* const start = out;
  const char* at = raw.data();
  const char* const end = at + raw.size();
  while (at != end) {
    if (*at == '\\') {
      ++at;
      const char kind = *at++;
      switch (kind) {
        case 'b': *out++ = '\b'; break;
        case 'f': *out++ = '\f'; break;
        case 'n': *out++ = '\n'; break;
        case 'r': *out++ = '\r'; break;
        case 't': *out++ = '\t'; break;
        case 'u': {
          auto code = static_cast<std::uint32_t>(HexUnit(at, end));
          at += 4;
          if (code >= 0xD800 && code < 0xE000) {
            const int low =
                end - at >= 6 && at[0] == '\\' && at[1] == 'u' ? HexUnit(at + 2, end) : -1;
            if (code < 0xDC00 && low >= 0xDC00 && low < 0xE000) {
              code = 0x10000 + ((code - 0xD800) << 10) + (static_cast<std::uint32_t>(low) - 0xDC00);
              at += 6;
            } else {
              code = 0xFFFD;
            }
          }
          out = PutCodePoint(code, out);
          break;
        }
        default: *out++ = kind; break;
      }
      continue;
    }
    const std::size_t length = Utf8Length({at, static_cast<std::size_t>(end - at)});
    if (length == 0) {
      out = PutCodePoint(0xFFFD, out);
      ++at;
      continue;
    }
    std::memcpy(out, at, length);
    out += length;
    at += length;
  }
  return static_cast<std::size_t>(out - start);
}

const char* ScanNumber(const char* at, const char* end, bool& is_integer) {
  is_integer = true;
  if (at != end && *at == '-') {
    ++at;
  }
  if (at == end || !IsDigit(*at)) {
    return nullptr;
  }
  at = *at == '0' ? at + 1 : SkipDigits(at, end);
  if (at != end && *at == '.') {
    is_integer = false;
    const char* const digits = ++at;
    at = SkipDigits(at, end);
    if (at == digits) {
      return nullptr;
    }
  }
  if (at != end && (*at == 'e' || *at == 'E')) {
    is_integer = false;
    ++at;
    if (at != end && (*at == '+' || *at == '-')) {
      ++at;
    }
    const char* const digits = at;
    at = SkipDigits(at, end);
    if (at == digits) {
      return nullptr;
    }
  }
  return at;
}

const char* SkipValue(const char* at, const char* end, int max_depth) {
  std::vector<bool> in_object;  // the open containers, outermost first
  while (true) {
    at = SkipBlanks(at, end);
    if (at == end) {
      return nullptr;
    }
    if (*at == '{' || *at == '[') {
      const bool object = *at == '{';
      if (static_cast<int>(in_object.size()) >= max_depth) {
        return nullptr;
      }
      at = SkipBlanks(at + 1, end);
      if (at == end) {
        return nullptr;
      }
      if (*at != (object ? '}' : ']')) {
        in_object.push_back(object);
        if (object) {
          at = SkipKey(at, end);
          if (at == nullptr) {
            return nullptr;
          }
        }
        continue;
      }
      ++at;
    } else {
      at = SkipScalar(at, end);
      if (at == nullptr) {
        return nullptr;
      }
    }
    // A value ended: close what ends here, or go on after a comma.
    while (true) {
      if (in_object.empty()) {
        return at;
      }
      at = SkipBlanks(at, end);
      if (at == end) {
        return nullptr;
      }
      const bool object = in_object.back();
      if (*at == ',') {
        ++at;
        if (object) {
          at = SkipKey(at, end);
          if (at == nullptr) {
            return nullptr;
          }
        }
        break;
      }
      if (*at != (object ? '}' : ']')) {
        return nullptr;
      }
      ++at;
      in_object.pop_back();
    }
  }
}

}  // namespace allot::text
