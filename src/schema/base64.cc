#include "schema/base64.h"

#include <cstdint>

namespace allot::schema {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::size_t DecodeBase64(std::string_view from, char* out, std::size_t& size) {
  const auto skip_breaks = [from](std::size_t at) {
    while (at < from.size() && (from[at] == '\n' || from[at] == '\r')) {
      ++at;
    }
    return at;
  };
  std::size_t at = 0;
  while (true) {
    std::uint32_t bits = 0;
    int digits = 0;
    for (; digits < 4; ++digits) {
      at = skip_breaks(at);
      if (at == from.size()) {
        return digits == 0 ? std::string_view::npos : at - static_cast<std::size_t>(digits);
      }
      const std::size_t digit = kAlphabet.find(from[at]);
      if (digit == std::string_view::npos) {
        break;
      }
      ++at;
      bits = bits << 6 | static_cast<std::uint32_t>(digit);
    }
    if (digits == 4) {
      out[size++] = static_cast<char>(bits >> 16);
      out[size++] = static_cast<char>(bits >> 8);
      out[size++] = static_cast<char>(bits);
      continue;
    }
    if (from[at] != '=' || digits < 2) {
      return at;
    }
    ++at;
    if (digits == 2) {
      at = skip_breaks(at);
      if (at == from.size()) {
        return at;
      }
      if (from[at] != '=') {
        return at - 1;
      }
      ++at;
    }
    at = skip_breaks(at);
    if (at != from.size()) {
      return at;
    }
    bits <<= 6 * (4 - digits);
    out[size++] = static_cast<char>(bits >> 16);
    if (digits == 3) {
      out[size++] = static_cast<char>(bits >> 8);
    }
    return std::string_view::npos;
  }
}

char* EncodeBase64(std::string_view bytes, char* to) {
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = bytes.size() - i;
    const auto byte = [&bytes, i, left](std::size_t k) {
      return k < left ? static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i + k])) : 0U;
    };
    const std::uint32_t group = byte(0) << 16 | byte(1) << 8 | byte(2);
    *to++ = kAlphabet[group >> 18];
    *to++ = kAlphabet[group >> 12 & 63];
    *to++ = left > 1 ? kAlphabet[group >> 6 & 63] : '=';
    *to++ = left > 2 ? kAlphabet[group & 63] : '=';
  }
  return to;
}

}  // namespace allot::schema
