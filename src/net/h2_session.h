// H2Session: what both sides of HTTP/2 share on nghttp2: its callbacks as members of a class, the
// output with its budget, bodies sent from the streams' queues without a copy in between. For
// net/*.cc only. Thread safety: loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <nghttp2/nghttp2.h>

namespace allot::net {

/// A header field as nghttp2 takes it; nghttp2 copies both texts.
[[nodiscard]] nghttp2_nv H2Field(std::string_view name, std::string_view value);

class H2Session {
 public:
  H2Session(const H2Session&) = delete;
  H2Session& operator=(const H2Session&) = delete;

  [[nodiscard]] nghttp2_session* session() const { return session_; }

 protected:
  enum class Side : std::uint8_t { kClient, kServer };

  /// `window` is the connection's flow-control window for what the peer sends.
  H2Session(Side side, std::span<const nghttp2_settings_entry> settings, std::int32_t window);
  ~H2Session();

  /// Feeds received bytes; returns nghttp2's error, or 0.
  [[nodiscard]] int Receive(std::string_view data);
  /// Appends what is to be sent to `out`, stopping soon after `budget` bytes; false when the
  /// session is broken.
  [[nodiscard]] bool SendInto(std::string& out, std::size_t budget);

  // Called by nghttp2 inside Receive and SendInto; 0 = go on.
  virtual int OnBeginHeaders(const nghttp2_frame& frame);
  virtual int OnHeader(const nghttp2_frame& frame,
                       std::string_view name,
                       std::string_view value) = 0;
  virtual int OnFrame(const nghttp2_frame& frame) = 0;
  virtual int OnBody(std::int32_t id, std::string_view piece) = 0;
  virtual int OnStreamClose(std::int32_t id, std::uint32_t error) = 0;
  /// Moves `size` bytes of the body of a data provider's `source` to `out`; false when they are
  /// gone.
  virtual bool TakeBody(void* source, std::size_t size, std::string& out) = 0;

 private:
  static void SetCallbacks(nghttp2_session_callbacks* callbacks);
  ssize_t Append(std::string_view bytes);
  int AppendBody(void* source, const std::uint8_t* header, std::size_t size);

  nghttp2_session* session_ = nullptr;
  std::string* out_ = nullptr;  // only inside SendInto
  std::size_t budget_ = 0;
};

}  // namespace allot::net
