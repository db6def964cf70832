// Standard base64 with padding, as Go's encoding/json reads and writes bytes.
// Thread safety: stateless.
#pragma once

#include <cstddef>
#include <string_view>

namespace allot::schema {

/// Unit: bytes that DecodeBase64 writes at most.
[[nodiscard]] inline std::size_t DecodedBound(std::string_view text) {
  return text.size() / 4 * 3 + 3;
}
/// Decodes `from` to `out` and sets `size`; line breaks are skipped.
/// Unit: returns the byte where it goes wrong, npos when it does not.
[[nodiscard]] std::size_t DecodeBase64(std::string_view from, char* out, std::size_t& size);

/// Unit: bytes that EncodeBase64 writes.
[[nodiscard]] inline std::size_t EncodedSize(std::string_view bytes) {
  return (bytes.size() + 2) / 3 * 4;
}
/// Writes the text of `bytes`; returns the position after it.
char* EncodeBase64(std::string_view bytes, char* to);

}  // namespace allot::schema
