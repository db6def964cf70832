#include "apiserver/base64_url.h"

#include <cstdint>

namespace allot::apiserver {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

}  // namespace

std::string ToBase64Url(std::string_view bytes) {
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = bits << 8U | static_cast<unsigned char>(c);
    count += 8;
    while (count >= 6) {
      count -= 6;
      out += kAlphabet[bits >> static_cast<unsigned>(count) & 63U];
    }
  }
  if (count > 0) {
    out += kAlphabet[bits << static_cast<unsigned>(6 - count) & 63U];
  }
  return out;
}

std::optional<std::string> FromBase64Url(std::string_view text, std::size_t& bad) {
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t digit = kAlphabet.find(text[i]);
    if (digit == std::string_view::npos) {
      bad = i;
      return std::nullopt;
    }
    bits = bits << 6U | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += static_cast<char>(bits >> static_cast<unsigned>(count) & 255U);
    }
  }
  if (text.size() % 4 == 1) {
    bad = text.size();
    return std::nullopt;
  }
  return out;
}

}  // namespace allot::apiserver
