// IP addresses and prefixes as texts: are they good, and is the text the canonical one?
// Thread safety: stateless.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace allot::api {

/// The canonical text of an IPv4 or IPv6 address; leading zeros in IPv4 numbers are accepted, as
/// the API has always done. Nothing when it is no address.
[[nodiscard]] std::optional<std::string> CanonicalIp(std::string_view text);
/// The canonical text of `address/bits`, host bits kept. Nothing when it is none.
[[nodiscard]] std::optional<std::string> CanonicalInterfaceAddress(std::string_view text);

}  // namespace allot::api
