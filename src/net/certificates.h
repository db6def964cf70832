// Certificates: making a CA, server and client certificates (ECDSA P-256), reading and checking
// them.
//
// Everything is PEM text; keys are PKCS #8. Whoever calls writes the files.
// Thread safety: free functions without state.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/status.h"

namespace allot::net {

struct KeyPair {
  std::string certificate_pem;
  std::string key_pem;
};

inline constexpr std::chrono::hours kCertificateLifetime{24 * 365 * 10};

/// Makes a self-signed CA. It is valid from one hour before `now` (clocks differ).
[[nodiscard]] base::Result<KeyPair> CreateCa(std::string_view common_name,
                                             base::WallTime now,
                                             std::chrono::seconds lifetime = kCertificateLifetime);

/// Makes a server certificate. Each of `names` becomes an IP or a DNS SAN, whichever it is.
/// Errors: kBadRequest when `ca` is no CA with its key.
[[nodiscard]] base::Result<KeyPair> CreateServerCertificate(
    const KeyPair& ca,
    const std::vector<std::string>& names,
    base::WallTime now,
    std::chrono::seconds lifetime = kCertificateLifetime);

/// The names an API server answers to: localhost, loopback, this machine's name, kubernetes...svc,
/// and `listen_address` unless it is a wildcard.
[[nodiscard]] std::vector<std::string> ApiServerNames(std::string_view listen_address);

/// Makes a client certificate: CN = user, O = groups.
[[nodiscard]] base::Result<KeyPair> CreateClientCertificate(
    const KeyPair& ca,
    std::string_view common_name,
    const std::vector<std::string>& organizations,
    base::WallTime now,
    std::chrono::seconds lifetime = kCertificateLifetime);

/// What a certificate says.
struct CertificateInfo {
  std::string common_name;
  std::vector<std::string> organizations;
  std::vector<std::string> names;  // DNS and IP SANs as text
  base::WallTime not_before;
  base::WallTime not_after;
  bool is_ca = false;
  std::string issuer;              // common name
  std::string sha256_fingerprint;  // "ab:cd:..."
};
/// Reads the first certificate of a PEM text.
[[nodiscard]] base::Result<CertificateInfo> ReadCertificate(std::string_view pem);

/// Checks that certificate and key belong together and, with `ca_pem` not empty, that the chain
/// leads there and is valid at `now`. Errors: kBadRequest with the cause in words.
[[nodiscard]] base::Result<void> CheckKeyPair(const KeyPair& pair,
                                              std::string_view ca_pem,
                                              base::WallTime now);

/// An ECDSA P-256 key pair for service account tokens: private (PKCS #8) and public key, both PEM.
struct SigningKey {
  std::string private_pem;
  std::string public_pem;
};
[[nodiscard]] base::Result<SigningKey> CreateSigningKey();
/// Signs `data` with ECDSA P-256 and SHA-256. Shape: 64 bytes, r then s (the ES256 form of JWT).
[[nodiscard]] base::Result<std::string> SignEs256(std::string_view private_pem,
                                                  std::string_view data);
[[nodiscard]] bool VerifyEs256(std::string_view public_pem,
                               std::string_view data,
                               std::string_view signature);
/// SHA-256 as 32 raw bytes; used for digests and for comparing tokens in constant time.
[[nodiscard]] std::string Sha256(std::string_view data);
/// SHA-512 as 64 raw bytes; entity tags of discovery and OpenAPI documents.
[[nodiscard]] std::string Sha512(std::string_view data);

}  // namespace allot::net
