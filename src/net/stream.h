// Stream: a non-blocking byte stream over a socket, plain or TLS. For net/*.cc only.
// Thread safety: loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "net/http.h"
#include "net/socket.h"
#include "net/tls.h"

namespace allot::net {

class Stream {
 public:
  enum class State : std::uint8_t { kOk, kWantRead, kWantWrite, kClosed, kError };
  struct Io {
    State state = State::kOk;
    std::size_t bytes = 0;
  };

  /// A plain stream.
  explicit Stream(Fd fd);
  /// The server's or client's end of a TLS stream; `server_name` (client) is checked and sent as
  /// SNI.
  Stream(Fd fd, std::shared_ptr<const TlsContext> tls, const std::string& server_name);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();

  /// Goes on with the handshake; kOk when it is complete (at once for plain streams).
  [[nodiscard]] State Handshake();
  [[nodiscard]] Io Read(char* data, std::size_t size);
  /// Writes as much as the socket takes; kOk with bytes < size only together with kWantWrite next
  /// time.
  [[nodiscard]] Io Write(std::string_view data);
  /// Whether bytes wait inside TLS, which the socket's readiness does not show.
  [[nodiscard]] bool HasBuffered() const;
  /// Says goodbye (close_notify) and half-closes the socket; best effort.
  void ShutdownWrite();
  void Close();

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] bool tls() const;
  /// The protocol chosen by ALPN; "" when none.
  [[nodiscard]] std::string alpn() const;
  [[nodiscard]] std::optional<PeerCertificate> Peer() const;
  /// Why the last call answered kError.
  [[nodiscard]] const std::string& error() const { return error_; }
  /// The peer of a TLS server spoke plain HTTP.
  [[nodiscard]] bool saw_plain_http() const { return saw_plain_http_; }

 private:
  struct Tls;
  State Fail(int result);

  Fd fd_;
  std::unique_ptr<Tls> tls_;
  std::string error_;
  bool saw_plain_http_ = false;
};

}  // namespace allot::net
