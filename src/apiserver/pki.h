// Pki: the certificates and keys of one server, made at the first start and kept in its data
// directory.
// Thread safety: immutable after Load.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "net/certificates.h"

namespace allot::apiserver {

class Pki {
 public:
  /// Reads what is there, makes what is missing; an empty directory means nothing is kept. The
  /// server's certificate is made anew when it lacks one of `names` or is about to expire.
  /// Errors: files that cannot be read or written, or do not belong together.
  [[nodiscard]] static base::Result<Pki> Load(const std::string& directory,
                                              const std::vector<std::string>& names,
                                              base::WallTime now);

  [[nodiscard]] const net::KeyPair& ca() const { return ca_; }
  [[nodiscard]] const net::KeyPair& server() const { return server_; }
  /// A member of system:masters.
  [[nodiscard]] const net::KeyPair& admin() const { return admin_; }
  /// A bearer token of the same identity.
  [[nodiscard]] const std::string& admin_token() const { return admin_token_; }
  /// Signs the tokens of service accounts.
  [[nodiscard]] const net::SigningKey& token_key() const { return token_key_; }

 private:
  net::KeyPair ca_;
  net::KeyPair server_;
  net::KeyPair admin_;
  std::string admin_token_;
  net::SigningKey token_key_;
};

inline constexpr std::string_view kAdminUser = "allot-admin";

}  // namespace allot::apiserver
