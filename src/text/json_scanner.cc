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

/// The open containers of a value, outermost first: one bit each, true for objects. The first 64
/// need no memory.
class Nesting {
 public:
  [[nodiscard]] int depth() const { return depth_; }
  [[nodiscard]] bool in_object() const { return (bits_ & 1) != 0; }
  void Push(bool object) {
    if (depth_ != 0 && depth_ % 64 == 0) {
      outer_.push_back(bits_);
    }
    bits_ = bits_ << 1 | (object ? 1U : 0U);
    ++depth_;
  }
  void Pop() {
    bits_ >>= 1;
    --depth_;
    if (depth_ != 0 && depth_ % 64 == 0) {
      bits_ = outer_.back();
      outer_.pop_back();
    }
  }

 private:
  std::uint64_t bits_ = 0;
  int depth_ = 0;
  std::vector<std::uint64_t> outer_;
};

/// Walks over one value without recursion.
class Skipper {
 public:
  Skipper(const char* at, const char* end, int max_depth)
      : at_(at), end_(end), max_depth_(max_depth) {}

  [[nodiscard]] bool blanks() const { return blanks_; }

  const char* Run() {
    at_ = SkipBlanks(at_, end_);
    while (true) {
      if (!Open()) {
        return nullptr;
      }
      if (opened_) {
        continue;
      }
      // A value ended: close what ends here, or go on after a comma.
      while (true) {
        if (nesting_.depth() == 0) {
          return at_;
        }
        if (!Blanks()) {
          return nullptr;
        }
        const bool object = nesting_.in_object();
        if (*at_ == ',') {
          ++at_;
          if (object ? !Key() : !Blanks()) {
            return nullptr;
          }
          break;
        }
        if (*at_ != (object ? '}' : ']')) {
          return nullptr;
        }
        ++at_;
        nesting_.Pop();
      }
    }
  }

 private:
  /// Skips blanks; false at the end of the text.
  bool Blanks() {
    if (at_ != end_ && static_cast<unsigned char>(*at_) <= ' ') {
      const char* const next = SkipBlanks(at_, end_);
      blanks_ = blanks_ || next != at_;
      at_ = next;
    }
    return at_ != end_;
  }

  /// Opens a container that is not empty, or skips any other value.
  bool Open() {
    opened_ = false;
    if (at_ == end_) {
      return false;
    }
    if (*at_ != '{' && *at_ != '[') {
      at_ = SkipScalar(at_, end_);
      return at_ != nullptr;
    }
    const bool object = *at_ == '{';
    if (nesting_.depth() >= max_depth_) {
      return false;
    }
    ++at_;
    if (!Blanks()) {
      return false;
    }
    if (*at_ == (object ? '}' : ']')) {
      ++at_;
      return true;
    }
    nesting_.Push(object);
    opened_ = true;
    return !object || Key();
  }

  /// After an opening brace or a comma of an object: key and colon, up to the value.
  bool Key() {
    if (!Blanks() || *at_ != '"') {
      return false;
    }
    RawString key;
    at_ = ScanString(at_, end_, key);
    if (at_ == nullptr || !Blanks() || *at_ != ':') {
      return false;
    }
    ++at_;
    return Blanks();
  }

  const char* at_;
  const char* end_;
  int max_depth_;
  bool opened_ = false;
  bool blanks_ = false;
  Nesting nesting_;
};

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

const char* SkipValue(const char* at, const char* end, int max_depth, bool* blanks) {
  Skipper skipper(at, end, max_depth);
  const char* const next = skipper.Run();
  if (blanks != nullptr) {
    *blanks = skipper.blanks();
  }
  return next;
}

}  // namespace allot::text
