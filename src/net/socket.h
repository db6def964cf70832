// Sockets as descriptors: addresses, listening, connecting. For net/*.cc only.
// Thread safety: free functions without state; Fd is a value of one owner.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>

#include "base/status.h"

namespace allot::net {

/// Owns a descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() { Reset(); }

  [[nodiscard]] int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void Reset();

 private:
  int fd_ = -1;
};

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

/// Parses a numeric address ("::1", "[::1]", "10.0.0.1"). Errors: kBadRequest.
[[nodiscard]] base::Result<SocketAddress> ParseAddress(std::string_view host, std::uint16_t port);
/// Looks a host name up; blocks on DNS unless it is numeric. Errors: kServiceUnavailable.
[[nodiscard]] base::Result<std::vector<SocketAddress>> ResolveHost(const std::string& host,
                                                                   std::uint16_t port);
/// "127.0.0.1:80", "[::1]:80".
[[nodiscard]] std::string AddressText(const SocketAddress& address);
[[nodiscard]] std::uint16_t AddressPort(const SocketAddress& address);
[[nodiscard]] SocketAddress LocalAddress(int fd);

/// A listening, non-blocking socket; accepted ones inherit no-delay and keep-alive.
[[nodiscard]] base::Result<Fd> ListenTcp(const SocketAddress& address);
/// A non-blocking socket on its way to the address. Errors: kServiceUnavailable.
[[nodiscard]] base::Result<Fd> ConnectTcp(const SocketAddress& address);
/// The outcome of a connect once the socket is writable: 0 or an errno.
[[nodiscard]] int ConnectError(int fd);
/// "connection refused" for ECONNREFUSED.
[[nodiscard]] std::string ErrnoText(int error);

}  // namespace allot::net
