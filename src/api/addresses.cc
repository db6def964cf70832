#include "api/addresses.h"

#include <array>
#include <charconv>

#include <arpa/inet.h>

#include <fmt/format.h>

namespace allot::api {
namespace {

/// A decimal number of up to `digits` digits; nothing when it is none or above `max`.
std::optional<unsigned> ParseNumber(std::string_view text, std::size_t digits, unsigned max) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || text.size() > digits || error != std::errc() ||
      end != text.data() + text.size() || value > max) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::string> CanonicalIpv4(std::string_view text) {
  std::string out;
  for (int part = 0; part < 4; ++part) {
    const auto dot = text.find('.');
    if ((dot == std::string_view::npos) != (part == 3)) {
      return std::nullopt;
    }
    const auto number = ParseNumber(text.substr(0, dot), /*digits=*/16, /*max=*/255);
    if (!number) {
      return std::nullopt;
    }
    out += fmt::format("{}{}", part == 0 ? "" : ".", *number);
    text.remove_prefix(part == 3 ? text.size() : dot + 1);
  }
  return out;
}

std::optional<std::string> CanonicalIpv6(std::string_view text) {
  std::array<unsigned char, 16> bytes{};
  if (inet_pton(AF_INET6, std::string(text).c_str(), bytes.data()) != 1) {
    return std::nullopt;
  }
  constexpr std::array<unsigned char, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  if (std::equal(kMapped.begin(), kMapped.end(), bytes.begin())) {
    return fmt::format("{}.{}.{}.{}", bytes[12], bytes[13], bytes[14], bytes[15]);
  }
  std::array<char, INET6_ADDRSTRLEN> out{};
  inet_ntop(AF_INET6, bytes.data(), out.data(), static_cast<socklen_t>(out.size()));
  return std::string(out.data());
}

}  // namespace

std::optional<std::string> CanonicalIp(std::string_view text) {
  return text.find(':') != std::string_view::npos ? CanonicalIpv6(text) : CanonicalIpv4(text);
}

std::optional<std::string> CanonicalInterfaceAddress(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view address = text.substr(0, slash);
  const auto ip = CanonicalIp(address);
  const bool v6 = address.find(':') != std::string_view::npos;
  const auto bits = ParseNumber(text.substr(slash + 1), /*digits=*/4, v6 ? 128 : 32);
  if (!ip || !bits) {
    return std::nullopt;
  }
  return fmt::format("{}/{}", *ip, *bits);
}

}  // namespace allot::api
