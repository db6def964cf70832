#include "cel/net.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "quantity/go_text.h"

namespace allot::cel {
namespace {

using quantity::GoQuote;

struct Failure {
  std::string message;
  std::string_view at;
};
using Parsed = std::expected<IpRep, Failure>;

std::unexpected<Failure> Fail(std::string message, std::string_view at = {}) {
  return std::unexpected(Failure{std::move(message), at});
}

std::optional<Failure> ReadV4(std::string_view s, std::uint8_t* fields) {
  int value = 0;
  int position = 0;
  int digits = 0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s[i] >= '0' && s[i] <= '9') {
      if (digits == 1 && value == 0) {
        return Failure{"IPv4 field has octet with leading zero", {}};
      }
      value = value * 10 + (s[i] - '0');
      ++digits;
      if (value > 255) {
        return Failure{"IPv4 field has value >255", {}};
      }
    } else if (s[i] == '.') {
      if (i == 0 || i == s.size() - 1 || s[i - 1] == '.') {
        return Failure{"IPv4 field must have at least one digit", s.substr(i)};
      }
      if (position == 3) {
        return Failure{"IPv4 address too long", {}};
      }
      fields[position++] = static_cast<std::uint8_t>(value);
      value = 0;
      digits = 0;
    } else {
      return Failure{"unexpected character", s.substr(i)};
    }
  }
  if (position < 3) {
    return Failure{"IPv4 address too short", {}};
  }
  fields[3] = static_cast<std::uint8_t>(value);
  return std::nullopt;
}

int HexDigit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

// Fills the gap an ellipsis left. False: there is nothing to fill, or no ellipsis where one is
// needed.
std::optional<Failure> Expand(IpRep& ip, std::size_t filled, int ellipsis) {
  if (filled == 16) {
    if (ellipsis >= 0) {
      return Failure{"the :: must expand to at least one field of zeros", {}};
    }
    return std::nullopt;
  }
  if (ellipsis < 0) {
    return Failure{"address string too short", {}};
  }
  const auto gap = ip.bytes.begin() + ellipsis;
  std::copy_backward(gap, ip.bytes.begin() + static_cast<std::ptrdiff_t>(filled), ip.bytes.end());
  std::fill_n(gap, 16 - filled, std::uint8_t{0});
  return std::nullopt;
}

Parsed ReadV6(std::string_view in) {
  std::string_view s = in;
  IpRep ip;
  ip.v6 = true;
  if (const std::size_t percent = s.find('%'); percent != std::string_view::npos) {
    if (percent + 1 == s.size()) {
      return Fail("zone must be a non-empty string");
    }
    s = s.substr(0, percent);
  }
  int ellipsis = -1;
  if (s.starts_with("::")) {
    ellipsis = 0;
    s.remove_prefix(2);
    if (s.empty()) {
      return ip;
    }
  }
  std::size_t i = 0;
  while (i < 16) {
    std::size_t off = 0;
    std::uint32_t group = 0;
    for (; off < s.size() && HexDigit(s[off]) >= 0; ++off) {
      group = (group << 4) + static_cast<std::uint32_t>(HexDigit(s[off]));
      if (off > 3) {
        return Fail("each group must have 4 or less digits", s);
      }
      if (group > 0xFFFF) {
        return Fail("IPv6 field has value >=2^16", s);
      }
    }
    if (off == 0) {
      return Fail("each colon-separated field must have at least one digit", s);
    }
    if (off < s.size() && s[off] == '.') {
      if (ellipsis < 0 && i != 12) {
        return Fail("embedded IPv4 address must replace the final 2 fields of the address", s);
      }
      if (i + 4 > 16) {
        return Fail("too many hex fields to fit an embedded IPv4 at the end of the address", s);
      }
      if (auto failure = ReadV4(s, ip.bytes.data() + i)) {
        return std::unexpected(*std::move(failure));
      }
      s = {};
      i += 4;
      break;
    }
    ip.bytes[i++] = static_cast<std::uint8_t>(group >> 8);
    ip.bytes[i++] = static_cast<std::uint8_t>(group);
    s.remove_prefix(off);
    if (s.empty()) {
      break;
    }
    if (s[0] != ':') {
      return Fail("unexpected character, want colon", s);
    }
    if (s.size() == 1) {
      return Fail("colon must be followed by more characters", s);
    }
    s.remove_prefix(1);
    if (s[0] == ':') {
      if (ellipsis >= 0) {
        return Fail("multiple :: in address", s);
      }
      ellipsis = static_cast<int>(i);
      s.remove_prefix(1);
      if (s.empty()) {
        break;
      }
    }
  }
  if (!s.empty()) {
    return Fail("trailing garbage after address", s);
  }
  if (auto failure = Expand(ip, i, ellipsis)) {
    return std::unexpected(*std::move(failure));
  }
  return ip;
}

Parsed ReadAddress(std::string_view text) {
  const std::size_t mark = text.find_first_of(".:%");
  if (mark == std::string_view::npos) {
    return Fail("unable to parse IP");
  }
  if (text[mark] == ':') {
    return ReadV6(text);
  }
  if (text[mark] == '%') {
    return Fail("missing IPv6 address");
  }
  IpRep ip;
  if (auto failure = ReadV4(text, ip.bytes.data())) {
    return std::unexpected(*std::move(failure));
  }
  return ip;
}

std::string ParseAddrError(std::string_view text, const Failure& failure) {
  std::string out = fmt::format("ParseAddr({}): {}", GoQuote(text), failure.message);
  if (!failure.at.empty()) {
    out += fmt::format(" (at {})", GoQuote(failure.at));
  }
  return out;
}

bool IsMapped(const IpRep& ip) {
  return ip.v6 &&
         std::all_of(ip.bytes.begin(), ip.bytes.begin() + 10, [](auto b) { return b == 0; }) &&
         ip.bytes[10] == 0xFF && ip.bytes[11] == 0xFF;
}

std::unexpected<base::Status> Invalid(std::string message) {
  return base::Error(base::Reason::kInvalid, std::move(message));
}

constexpr std::string_view kCidrPrefix =
    "network address parse error during conversion from string: ";

bool SameBits(const IpRep& a, const IpRep& b, int bits) {
  for (int i = 0; i < bits; ++i) {
    const auto byte = static_cast<std::size_t>(i / 8);
    const int mask = 0x80 >> (i % 8);
    if ((a.bytes[byte] & mask) != (b.bytes[byte] & mask)) {
      return false;
    }
  }
  return true;
}

}  // namespace

base::Result<IpRep> ParseIp(std::string_view text) {
  Parsed parsed = ReadAddress(text);
  if (!parsed) {
    return Invalid(fmt::format("IP Address {} parse error during conversion from string: {}",
                               GoQuote(text),
                               ParseAddrError(text, parsed.error())));
  }
  if (text.contains('%')) {
    return Invalid(fmt::format("IP address {} with zone value is not allowed", GoQuote(text)));
  }
  if (IsMapped(*parsed)) {
    return Invalid(fmt::format("IPv4-mapped IPv6 address {} is not allowed", GoQuote(text)));
  }
  return *parsed;
}

base::Result<CidrRep> ParseCidr(std::string_view text) {
  const auto fail = [&](std::string_view why) {
    return Invalid(fmt::format("{}netip.ParsePrefix({}): {}", kCidrPrefix, GoQuote(text), why));
  };
  const std::size_t slash = text.rfind('/');
  if (slash == std::string_view::npos) {
    return fail("no '/'");
  }
  const std::string_view address = text.substr(0, slash);
  const Parsed parsed = ReadAddress(address);
  if (!parsed) {
    return fail(ParseAddrError(address, parsed.error()));
  }
  if (parsed->v6 && address.contains('%')) {
    return fail("IPv6 zones cannot be present in a prefix");
  }
  const std::string_view digits = text.substr(slash + 1);
  const auto bits = quantity::GoParseInt(digits);
  if ((digits.size() > 1 && (digits[0] < '1' || digits[0] > '9')) || !bits) {
    return fail("bad bits after slash: " + GoQuote(digits));
  }
  if (*bits < 0 || *bits > (parsed->v6 ? 128 : 32)) {
    return fail("prefix length out of range");
  }
  if (IsMapped(*parsed)) {
    return Invalid(fmt::format("IPv4-mapped IPv6 address {} is not allowed", GoQuote(text)));
  }
  return CidrRep{*parsed, static_cast<int>(*bits)};
}

std::string IpText(const IpRep& ip) {
  if (!ip.v6) {
    return fmt::format("{}.{}.{}.{}", ip.bytes[0], ip.bytes[1], ip.bytes[2], ip.bytes[3]);
  }
  std::array<unsigned, 8> groups;
  for (std::size_t i = 0; i < 8; ++i) {
    groups[i] = static_cast<unsigned>(ip.bytes[2 * i] << 8 | ip.bytes[2 * i + 1]);
  }
  std::size_t best = 8;
  std::size_t best_length = 1;
  for (std::size_t i = 0; i < 8; ++i) {
    std::size_t end = i;
    while (end < 8 && groups[end] == 0) {
      ++end;
    }
    if (end - i > best_length) {
      best = i;
      best_length = end - i;
    }
  }
  std::string out;
  for (std::size_t i = 0; i < 8; ++i) {
    if (i == best) {
      out += "::";
      i += best_length - 1;
      continue;
    }
    if (!out.empty() && !out.ends_with(':')) {
      out += ':';
    }
    out += fmt::format("{:x}", groups[i]);
  }
  return out;
}

std::string CidrText(const CidrRep& cidr) {
  return fmt::format("{}/{}", IpText(cidr.address), cidr.bits);
}

CidrRep Masked(const CidrRep& cidr) {
  CidrRep out = cidr;
  for (int i = cidr.bits; i < 128; ++i) {
    auto& byte = out.address.bytes[static_cast<std::size_t>(i / 8)];
    byte = static_cast<std::uint8_t>(byte & ~(0x80 >> (i % 8)));
  }
  return out;
}

bool Contains(const CidrRep& cidr, const IpRep& ip) {
  return cidr.address.v6 == ip.v6 && SameBits(cidr.address, ip, cidr.bits);
}

bool ContainsCidr(const CidrRep& outer, const CidrRep& inner) {
  return outer.bits <= inner.bits && Contains(outer, inner.address);
}

bool IsUnspecified(const IpRep& ip) {
  return std::ranges::all_of(ip.bytes, [](auto b) { return b == 0; });
}

bool IsLoopback(const IpRep& ip) {
  if (!ip.v6) {
    return ip.bytes[0] == 127;
  }
  return ip.bytes[15] == 1 &&
         std::all_of(ip.bytes.begin(), ip.bytes.end() - 1, [](auto b) { return b == 0; });
}

bool IsLinkLocalMulticast(const IpRep& ip) {
  return ip.v6 ? ip.bytes[0] == 0xFF && (ip.bytes[1] & 0x0F) == 2
               : ip.bytes[0] == 224 && ip.bytes[1] == 0 && ip.bytes[2] == 0;
}

bool IsLinkLocalUnicast(const IpRep& ip) {
  return ip.v6 ? ip.bytes[0] == 0xFE && (ip.bytes[1] & 0xC0) == 0x80
               : ip.bytes[0] == 169 && ip.bytes[1] == 254;
}

bool IsGlobalUnicast(const IpRep& ip) {
  const bool multicast = ip.v6 ? ip.bytes[0] == 0xFF : (ip.bytes[0] & 0xF0) == 0xE0;
  const bool broadcast = !ip.v6 && std::all_of(ip.bytes.begin(), ip.bytes.begin() + 4, [](auto b) {
    return b == 255;
  });
  return !broadcast && !multicast && !IsUnspecified(ip) && !IsLoopback(ip) &&
         !IsLinkLocalUnicast(ip);
}

}  // namespace allot::cel
