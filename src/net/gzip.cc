#include "net/gzip.h"

#include <algorithm>
#include <limits>

#include <zlib.h>

namespace allot::net {

namespace {

constexpr int kGzipWindow = 15 + 16;  // zlib's way to say: gzip framing
constexpr std::size_t kMaxChunk = std::numeric_limits<uInt>::max() / 2;

Bytef* Mutable(const char* data) {
  // zlib never writes to next_in; its interface lacks the const.
  return reinterpret_cast<Bytef*>(const_cast<char*>(data));  // NOLINT
}

}  // namespace

std::string GzipLevel1(std::string_view bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, 1, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    return {};
  }
  std::string out;
  out.resize(std::max<std::size_t>(bytes.size() / 4, 1024));
  std::size_t written = 0;
  int result = Z_OK;
  while (result != Z_STREAM_END) {
    const std::size_t take = std::min(bytes.size(), kMaxChunk);
    if (written == out.size()) {
      out.resize(out.size() * 2);
    }
    stream.next_in = Mutable(bytes.data());
    stream.avail_in = static_cast<uInt>(take);
    const std::size_t room = std::min(out.size() - written, kMaxChunk);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + written);
    stream.avail_out = static_cast<uInt>(room);
    result = deflate(&stream, take == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    written += room - stream.avail_out;
    bytes.remove_prefix(take - stream.avail_in);
  }
  deflateEnd(&stream);
  out.resize(written);
  return out;
}

base::Result<std::string> Gunzip(std::string_view bytes, std::size_t limit) {
  z_stream stream{};
  if (inflateInit2(&stream, kGzipWindow) != Z_OK) {
    return base::Error(base::Reason::kInternalError, "gzip: no memory");
  }
  std::string out;
  std::size_t written = 0;
  int result = Z_OK;
  while (result != Z_STREAM_END) {
    if (written == out.size()) {
      if (written >= limit) {
        inflateEnd(&stream);
        return base::Error(base::Reason::kBadRequest, "gzip: the content is too large");
      }
      out.resize(std::min(std::max<std::size_t>(out.size() * 2, 64 * 1024), limit));
    }
    const std::size_t take = std::min(bytes.size(), kMaxChunk);
    const std::size_t room = std::min(out.size() - written, kMaxChunk);
    stream.next_in = Mutable(bytes.data());
    stream.avail_in = static_cast<uInt>(take);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + written);
    stream.avail_out = static_cast<uInt>(room);
    result = inflate(&stream, Z_NO_FLUSH);
    written += room - stream.avail_out;
    bytes.remove_prefix(take - stream.avail_in);
    const bool stuck = result == Z_BUF_ERROR && stream.avail_out != 0;
    if (stuck || (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)) {
      inflateEnd(&stream);
      return base::Error(base::Reason::kBadRequest, "gzip: the content is broken");
    }
  }
  inflateEnd(&stream);
  out.resize(written);
  return out;
}

}  // namespace allot::net
