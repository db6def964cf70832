#include "net/socket.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <unistd.h>

namespace allot::net {

namespace {

using base::Error;
using base::Reason;
using base::Result;

constexpr int kKeepAliveSeconds = 180;  // as upstream

void SetInt(int fd, int level, int option, int value) {
  ::setsockopt(fd, level, option, &value, sizeof(value));
}

void SetStreamOptions(int fd) {
  SetInt(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  SetInt(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  SetInt(fd, IPPROTO_TCP, TCP_KEEPIDLE, kKeepAliveSeconds);
  SetInt(fd, IPPROTO_TCP, TCP_KEEPINTVL, kKeepAliveSeconds / 6);
}

const sockaddr* Raw(const SocketAddress& address) {
  return reinterpret_cast<const sockaddr*>(&address.storage);
}

}  // namespace

void Fd::Reset() {
  if (fd_ >= 0) {
    ::close(std::exchange(fd_, -1));
  }
}

Result<SocketAddress> ParseAddress(std::string_view host, std::uint16_t port) {
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  const std::string text(host);
  SocketAddress out;
  auto* const v4 = reinterpret_cast<sockaddr_in*>(&out.storage);
  if (::inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    out.size = sizeof(sockaddr_in);
    return out;
  }
  auto* const v6 = reinterpret_cast<sockaddr_in6*>(&out.storage);
  if (::inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    out.size = sizeof(sockaddr_in6);
    return out;
  }
  return Error(Reason::kBadRequest, "\"" + text + "\" is not an IP address");
}

Result<std::vector<SocketAddress>> ResolveHost(const std::string& host, std::uint16_t port) {
  if (auto numeric = ParseAddress(host, port); numeric) {
    return std::vector<SocketAddress>{*numeric};
  }
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* found = nullptr;
  int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error == EAI_NONAME || error == EAI_ADDRFAMILY) {
    hints.ai_flags = 0;  // "localhost" on a machine whose only interface is the loopback
    error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  }
  if (error != 0) {
    return Error(Reason::kServiceUnavailable,
                 "lookup of " + host + " failed: " + ::gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  std::vector<SocketAddress> out;
  for (const addrinfo* item = found; item != nullptr; item = item->ai_next) {
    SocketAddress address;
    std::memcpy(&address.storage, item->ai_addr, item->ai_addrlen);
    address.size = item->ai_addrlen;
    out.push_back(address);
  }
  return out;
}

std::string AddressText(const SocketAddress& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.storage.ss_family == AF_INET) {
    const auto* const v4 = reinterpret_cast<const sockaddr_in*>(&address.storage);
    ::inet_ntop(AF_INET, &v4->sin_addr, text, sizeof(text));
    return std::string(text) + ":" + std::to_string(ntohs(v4->sin_port));
  }
  if (address.storage.ss_family == AF_INET6) {
    const auto* const v6 = reinterpret_cast<const sockaddr_in6*>(&address.storage);
    if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr)) {
      ::inet_ntop(AF_INET, &v6->sin6_addr.s6_addr[12], text, sizeof(text));
      return std::string(text) + ":" + std::to_string(ntohs(v6->sin6_port));
    }
    ::inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof(text));
    return "[" + std::string(text) + "]:" + std::to_string(ntohs(v6->sin6_port));
  }
  return {};
}

std::uint16_t AddressPort(const SocketAddress& address) {
  if (address.storage.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_port);
  }
  return ntohs(reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_port);
}

SocketAddress LocalAddress(int fd) {
  SocketAddress out;
  out.size = sizeof(out.storage);
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&out.storage), &out.size) != 0) {
    out.size = 0;
  }
  return out;
}

Result<Fd> ListenTcp(const SocketAddress& address) {
  Fd fd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) {
    return Error(Reason::kServiceUnavailable, "socket: " + ErrnoText(errno));
  }
  SetInt(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (address.storage.ss_family == AF_INET6) {
    SetInt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  }
  SetStreamOptions(fd.get());
  if (::bind(fd.get(), Raw(address), address.size) != 0 || ::listen(fd.get(), SOMAXCONN) != 0) {
    return Error(Reason::kServiceUnavailable,
                 "cannot listen on " + AddressText(address) + ": " + ErrnoText(errno));
  }
  return fd;
}

Result<Fd> ConnectTcp(const SocketAddress& address) {
  Fd fd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) {
    return Error(Reason::kServiceUnavailable, "socket: " + ErrnoText(errno));
  }
  SetStreamOptions(fd.get());
  if (::connect(fd.get(), Raw(address), address.size) != 0 && errno != EINPROGRESS) {
    return Error(Reason::kServiceUnavailable,
                 "cannot connect to " + AddressText(address) + ": " + ErrnoText(errno));
  }
  return fd;
}

int ConnectError(int fd) {
  int error = 0;
  socklen_t size = sizeof(error);
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

std::string ErrnoText(int error) {
  return std::generic_category().message(error);
}

}  // namespace allot::net
