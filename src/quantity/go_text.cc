#include "quantity/go_text.h"

#include <limits>

#include <fmt/format.h>

#include "quantity/printable.h"

namespace allot::quantity {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";

void AppendEscaped(std::string& out, char32_t rune) {
  if (rune < 0x20 || rune == 0x7F) {
    out += fmt::format("\\x{:02x}", static_cast<unsigned>(rune));
  } else if (rune < 0x10000) {
    out += fmt::format("\\u{:04x}", static_cast<unsigned>(rune));
  } else {
    out += fmt::format("\\U{:08x}", static_cast<unsigned>(rune));
  }
}

std::unexpected<base::Status> NumberError(std::string_view function,
                                          std::string_view text,
                                          std::string_view why) {
  return base::Error(base::Reason::kInvalid,
                     fmt::format("strconv.{}: parsing {}: {}", function, GoQuote(text), why));
}

}  // namespace

Rune DecodeRune(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return static_cast<unsigned char>(text[i]);
  };
  const auto continuation = [&](std::size_t i) {
    return i < text.size() && (byte(i) & 0xC0) == 0x80;
  };
  const unsigned char first = byte(0);
  if (first < 0x80) {
    return {first, 1};
  }
  if (first >= 0xC2 && first <= 0xDF && continuation(1)) {
    return {static_cast<char32_t>((first & 0x1F) << 6 | (byte(1) & 0x3F)), 2};
  }
  if (first >= 0xE0 && first <= 0xEF && continuation(1) && continuation(2)) {
    const auto rune =
        static_cast<char32_t>((first & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F));
    if (rune >= 0x800 && (rune < 0xD800 || rune > 0xDFFF)) {
      return {rune, 3};
    }
  }
  if (first >= 0xF0 && first <= 0xF4 && continuation(1) && continuation(2) && continuation(3)) {
    const auto rune = static_cast<char32_t>((first & 0x07) << 18 | (byte(1) & 0x3F) << 12 |
                                            (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F));
    if (rune >= 0x10000 && rune <= 0x10FFFF) {
      return {rune, 4};
    }
  }
  return {0xFFFD, 1};
}

void AppendRune(std::string& to, char32_t rune) {
  if (rune > 0x10FFFF || (rune >= 0xD800 && rune <= 0xDFFF)) {
    rune = 0xFFFD;
  }
  const auto put = [&to](char32_t byte) {
    to.push_back(static_cast<char>(byte));
  };
  if (rune < 0x80) {
    put(rune);
  } else if (rune < 0x800) {
    put(0xC0 | rune >> 6);
    put(0x80 | (rune & 0x3F));
  } else if (rune < 0x10000) {
    put(0xE0 | rune >> 12);
    put(0x80 | (rune >> 6 & 0x3F));
    put(0x80 | (rune & 0x3F));
  } else {
    put(0xF0 | rune >> 18);
    put(0x80 | (rune >> 12 & 0x3F));
    put(0x80 | (rune >> 6 & 0x3F));
    put(0x80 | (rune & 0x3F));
  }
}

bool IsValidUtf8(std::string_view text) {
  while (!text.empty()) {
    const Rune rune = DecodeRune(text);
    if (rune.value == 0xFFFD && rune.width == 1) {
      return false;
    }
    text.remove_prefix(rune.width);
  }
  return true;
}

std::string GoQuote(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const Rune rune = DecodeRune(text);
    const std::string_view bytes = text.substr(0, rune.width);
    text.remove_prefix(rune.width);
    if (rune.value == 0xFFFD && rune.width == 1) {
      const auto byte = static_cast<unsigned char>(bytes[0]);
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 0xF];
      continue;
    }
    switch (rune.value) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\a': out += "\\a"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\v': out += "\\v"; break;
      default:
        if (IsPrintable(rune.value)) {
          out += bytes;
        } else {
          AppendEscaped(out, rune.value);
        }
    }
  }
  out += '"';
  return out;
}

std::string GoTimeQuote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || byte < ' ') {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 0xF];
    } else {
      if (c == '"' || c == '\\') {
        out += '\\';
      }
      out += c;
    }
  }
  out += '"';
  return out;
}

base::Result<std::uint64_t> GoParseUint(std::string_view text) {
  if (text.empty()) {
    return NumberError("ParseUint", text, "invalid syntax");
  }
  std::uint64_t value = 0;
  bool overflow = false;
  for (const char c : text) {
    if (c < '0' || c > '9') {
      return NumberError("ParseUint", text, "invalid syntax");
    }
    overflow = overflow || __builtin_mul_overflow(value, 10U, &value) ||
               __builtin_add_overflow(value, static_cast<unsigned>(c - '0'), &value);
  }
  if (overflow) {
    return NumberError("ParseUint", text, "value out of range");
  }
  return value;
}

base::Result<std::int64_t> GoParseInt(std::string_view text, std::string_view function) {
  std::string_view digits = text;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) {
    digits.remove_prefix(1);
  }
  if (digits.empty()) {
    return NumberError(function, text, "invalid syntax");
  }
  std::uint64_t value = 0;
  bool overflow = false;
  for (const char c : digits) {
    if (c < '0' || c > '9') {
      return NumberError(function, text, "invalid syntax");
    }
    overflow = overflow || __builtin_mul_overflow(value, 10U, &value) ||
               __builtin_add_overflow(value, static_cast<unsigned>(c - '0'), &value);
  }
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (overflow || value > kMax + (negative ? 1U : 0U)) {
    return NumberError(function, text, "value out of range");
  }
  return static_cast<std::int64_t>(negative ? 0 - value : value);
}

}  // namespace allot::quantity
