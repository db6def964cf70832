// TlsContext: certificates and TLS parameters, shared by all connections of a server or client.
// Thread safety: immutable after creation.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"

namespace allot::net {

struct TlsServerConfig {
  std::string certificate_pem;  // chain, leaf first
  std::string key_pem;
  /// CAs whose client certificates count as verified; "" = never verified. A certificate is always
  /// asked for and never demanded, as upstream.
  std::string client_ca_pem;
  std::vector<std::string> alpn = {"h2", "http/1.1"};
};

struct TlsClientConfig {
  std::string ca_pem;           // "" = the system's CAs
  std::string certificate_pem;  // client certificate; "" = none
  std::string key_pem;
  std::string server_name;  // "" = the host of the URL
  bool insecure_skip_verify = false;
  std::vector<std::string> alpn = {"h2", "http/1.1"};
};

class TlsContext {
 public:
  /// TLS 1.2 and above. Errors: kBadRequest naming the part (certificate, key, CA) that is wrong.
  [[nodiscard]] static base::Result<std::shared_ptr<const TlsContext>> Server(
      const TlsServerConfig& config);
  [[nodiscard]] static base::Result<std::shared_ptr<const TlsContext>> Client(
      const TlsClientConfig& config);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

 private:
  friend class Stream;
  struct Impl;
  explicit TlsContext(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace allot::net
