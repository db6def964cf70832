// IP addresses, prefixes and URLs as Go's net/netip and net/url parse and print them.
// Thread safety: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace allot::cel {

/// An address; IPv4 in the first four bytes.
struct IpRep {
  std::array<std::uint8_t, 16> bytes = {};
  bool v6 = false;

  friend bool operator==(const IpRep&, const IpRep&) = default;
};

struct CidrRep {
  IpRep address;
  int bits = 0;

  friend bool operator==(const CidrRep&, const CidrRep&) = default;
};

/// Parses an address as the ip() function does. Errors: kInvalid with its text.
[[nodiscard]] base::Result<IpRep> ParseIp(std::string_view text);
/// Parses a prefix as the cidr() function does, without the outer prefix of its text.
[[nodiscard]] base::Result<CidrRep> ParseCidr(std::string_view text);
[[nodiscard]] std::string IpText(const IpRep& ip);
[[nodiscard]] std::string CidrText(const CidrRep& cidr);
[[nodiscard]] CidrRep Masked(const CidrRep& cidr);
[[nodiscard]] bool Contains(const CidrRep& cidr, const IpRep& ip);
[[nodiscard]] bool ContainsCidr(const CidrRep& outer, const CidrRep& inner);

[[nodiscard]] bool IsUnspecified(const IpRep& ip);
[[nodiscard]] bool IsLoopback(const IpRep& ip);
[[nodiscard]] bool IsLinkLocalMulticast(const IpRep& ip);
[[nodiscard]] bool IsLinkLocalUnicast(const IpRep& ip);
[[nodiscard]] bool IsGlobalUnicast(const IpRep& ip);

/// A parsed URL.
struct Url {
  std::string scheme;
  std::string opaque;
  std::string user;  ///< as in the text, "name:password"
  bool has_user = false;
  std::string host;
  std::string path;      ///< decoded
  std::string raw_path;  ///< the original spelling when it is not the default one
  bool omit_host = false;
  bool force_query = false;
  std::string raw_query;
  std::string fragment;
  std::string raw_fragment;

  [[nodiscard]] std::string Hostname() const;
  [[nodiscard]] std::string Port() const;
  [[nodiscard]] std::string EscapedPath() const;
  [[nodiscard]] std::string ToString() const;
  /// Keys in order of first appearance with all their values.
  [[nodiscard]] std::vector<std::pair<std::string, std::vector<std::string>>> Query() const;
};

/// net/url.ParseRequestURI followed by net/url.Parse, as the url() function does.
/// Errors: kInvalid with Go's text (`parse "x": invalid URI for request`).
[[nodiscard]] base::Result<Url> ParseUrl(std::string_view text);
/// net/url.ParseRequestURI alone.
[[nodiscard]] base::Result<Url> ParseRequestUri(std::string_view text);

struct UrlRep {
  const Url* url = nullptr;
};

}  // namespace allot::cel
