// Base64 for URLs without padding (RFC 4648, section 5): continue tokens and JSON web tokens.
// Thread safety: stateless.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace allot::apiserver {

[[nodiscard]] std::string ToBase64Url(std::string_view bytes);
/// Unit: the byte of the first bad character goes to `bad`.
[[nodiscard]] std::optional<std::string> FromBase64Url(std::string_view text, std::size_t& bad);

}  // namespace allot::apiserver
