// Server: HTTPS (or plain HTTP) on one port, HTTP/2 and HTTP/1.1 by ALPN.
//
// A handler is called on the loop thread with a complete request and answers whenever it likes (see
// ResponseWriter). What a turn produced is written once at its end, one TLS write a connection.
// Thread safety: create, use and destroy on the loop thread (or while the loop does not run),
// except counters().
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/status.h"
#include "net/http.h"
#include "net/loop.h"
#include "net/tls.h"

namespace allot::net {

using Handler =
    std::function<void(std::unique_ptr<Request> request, std::shared_ptr<ResponseWriter> writer)>;

struct ServerLimits {
  std::size_t body_bytes = 3U << 20U;          // more: 413
  std::size_t header_bytes = 1U << 20U;        // more: 431
  std::uint32_t streams_per_connection = 100;  // HTTP/2
  std::size_t connections = 16'384;            // more: closed at accept
  std::chrono::milliseconds handshake_timeout{10'000};
  std::chrono::milliseconds header_timeout{
      32'000};  // from the first byte (or the handshake) to the request's end
  std::chrono::milliseconds body_timeout{60'000};    // without progress inside a body
  std::chrono::milliseconds idle_timeout{90'000};    // no request open
  std::chrono::milliseconds stall_timeout{300'000};  // the peer takes nothing of a waiting answer
};

struct ServerOptions {
  std::string address = "127.0.0.1";      // IPv4 or IPv6; "0.0.0.0" and "::" = every interface
  std::uint16_t port = 0;                 // 0 = any free one
  std::shared_ptr<const TlsContext> tls;  // null = plain HTTP
  ServerLimits limits;
  /// Body (text/plain unless it begins with '{': application/json) for what net itself refuses
  /// (400, 413, 431, 503); null = the status text.
  std::function<std::string(int status, std::string_view message)> error_body;
};

/// Work counters; relaxed atomics, readable from any thread.
struct ServerCounters {
  std::atomic<std::uint64_t> accepted{0};
  std::atomic<std::uint64_t> refused{0};  // descriptor or connection limit
  std::atomic<std::uint64_t> open_connections{0};
  std::atomic<std::uint64_t> handshake_errors{0};
  std::atomic<std::uint64_t> protocol_errors{0};
  std::atomic<std::uint64_t> timeouts{0};
  std::atomic<std::uint64_t> requests{0};
  std::atomic<std::uint64_t> flushes{0};  // writes to sockets
  std::atomic<std::uint64_t> bytes_in{0};
  std::atomic<std::uint64_t> bytes_out{0};
};

class Server {
 public:
  /// Listens and begins to accept. Errors: kServiceUnavailable when the address is taken or not
  /// ours, kBadRequest when it is no address.
  [[nodiscard]] static base::Result<std::unique_ptr<Server>> Create(Loop& loop,
                                                                    ServerOptions options,
                                                                    Handler handler);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  /// Closes everything at once.
  virtual ~Server() = default;

  /// The port in use (the chosen one when 0 was asked for).
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  /// "127.0.0.1:6443".
  [[nodiscard]] virtual std::string address() const = 0;
  /// Stops accepting, tells clients to go (GOAWAY, connection: close), lets open requests finish
  /// for `grace`, then closes. `done` is called on the loop thread. A watch is ended by its
  /// writer's owner or at the end of the grace.
  virtual void Shutdown(std::chrono::milliseconds grace, Task done) = 0;
  [[nodiscard]] virtual const ServerCounters& counters() const = 0;

 protected:
  Server() = default;
};

}  // namespace allot::net
