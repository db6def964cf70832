// Copies of texts of which most are short: without a call for up to 32 bytes. Internal to schema.
// Thread safety: stateless.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace allot::schema {

namespace internal {

/// Two copies of T-sized pieces, which may overlap, for texts between one and two of them.
template <typename T>
inline void CopyEnds(char* to, const char* from, std::size_t size) {
  T first;
  T last;
  std::memcpy(&first, from, sizeof(T));
  std::memcpy(&last, from + size - sizeof(T), sizeof(T));
  std::memcpy(to, &first, sizeof(T));
  std::memcpy(to + size - sizeof(T), &last, sizeof(T));
}

struct Sixteen {
  std::uint64_t words[2];
};

}  // namespace internal

/// Copies `text` to `to`. REQUIRES: they do not overlap.
inline void CopyText(char* to, std::string_view text) {
  const std::size_t size = text.size();
  if (size > 32) {
    std::memcpy(to, text.data(), size);
  } else if (size >= 16) {
    internal::CopyEnds<internal::Sixteen>(to, text.data(), size);
  } else if (size >= 8) {
    internal::CopyEnds<std::uint64_t>(to, text.data(), size);
  } else if (size >= 4) {
    internal::CopyEnds<std::uint32_t>(to, text.data(), size);
  } else if (size != 0) {
    to[0] = text[0];
    to[size / 2] = text[size / 2];
    to[size - 1] = text[size - 1];
  }
}

}  // namespace allot::schema
