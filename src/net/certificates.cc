#include "net/certificates.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <ctime>
#include <utility>

#include <arpa/inet.h>
#include <unistd.h>

#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/rand.h>

#include "net/openssl.h"

namespace allot::net {

namespace openssl {

std::vector<Cert> ReadCertificates(std::string_view pem) {
  std::vector<Cert> out;
  const Bio bio = MemoryBio(pem);
  while (bio != nullptr) {
    Cert cert(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
    if (cert == nullptr) {
      break;
    }
    out.push_back(std::move(cert));
  }
  ERR_clear_error();
  return out;
}

Key ReadKey(std::string_view pem) {
  const Bio bio = MemoryBio(pem);
  // The callback refuses: an encrypted key must not ask on the terminal.
  const auto no_password = [](char*, int, int, void*) {
    return 0;
  };
  Key key(bio == nullptr ? nullptr
                         : PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr));
  ERR_clear_error();
  return key;
}

std::vector<std::string> NameEntries(const X509_NAME* name, int nid) {
  std::vector<std::string> out;
  for (int i = X509_NAME_get_index_by_NID(name, nid, -1); i >= 0;
       i = X509_NAME_get_index_by_NID(name, nid, i)) {
    unsigned char* text = nullptr;
    const int size =
        ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, i)));
    if (size >= 0) {
      out.emplace_back(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
      OPENSSL_free(text);
    }
  }
  return out;
}

}  // namespace openssl

namespace {

using base::Error;
using base::Reason;
using base::Result;
using openssl::Cert;
using openssl::Key;

constexpr long kX509Version3 = 2;

std::time_t ToUnix(base::WallTime time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

Result<std::string> BioText(const openssl::Bio& bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  if (size <= 0) {
    return Error(Reason::kInternalError, "certificate: cannot write PEM");
  }
  return std::string(data, static_cast<std::size_t>(size));
}

Result<std::string> KeyPem(EVP_PKEY* key) {
  const openssl::Bio bio(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_PKCS8PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return Error(Reason::kInternalError, "key: " + openssl::TakeError());
  }
  return BioText(bio);
}

Result<std::string> CertPem(X509* cert) {
  const openssl::Bio bio(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_X509(bio.get(), cert) != 1) {
    return Error(Reason::kInternalError, "certificate: " + openssl::TakeError());
  }
  return BioText(bio);
}

bool AddName(X509_NAME* name, const char* field, std::string_view value) {
  return X509_NAME_add_entry_by_txt(name,
                                    field,
                                    MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(value.data()),
                                    static_cast<int>(value.size()),
                                    -1,
                                    0) == 1;
}

bool AddExtension(X509* cert, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, cert, nullptr, nullptr, 0);
  const openssl::Extension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  return extension != nullptr && X509_add_ext(cert, extension.get(), -1) == 1;
}

bool IsIp(const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> buffer{};
  return ::inet_pton(AF_INET, text.c_str(), buffer.data()) == 1 ||
         ::inet_pton(AF_INET6, text.c_str(), buffer.data()) == 1;
}

/// What is to be put into a new certificate.
struct Template {
  std::string_view common_name;
  std::vector<std::string> organizations;
  std::vector<std::pair<int, std::string>> extensions;  // NID, OpenSSL's text form
  base::WallTime now;
  std::chrono::seconds lifetime;
};

/// The CA's parsed halves; both null when the new certificate signs itself.
struct Issuer {
  Cert cert;
  Key key;
};

Result<KeyPair> Make(const Template& form, const Issuer& issuer) {
  const Key key(EVP_EC_gen("P-256"));
  const Cert cert(X509_new());
  if (key == nullptr || cert == nullptr) {
    return Error(Reason::kInternalError, "certificate: " + openssl::TakeError());
  }
  X509* const x509 = cert.get();
  std::array<unsigned char, 16> serial{};
  if (RAND_bytes(serial.data(), static_cast<int>(serial.size())) != 1) {
    return Error(Reason::kInternalError, "certificate: no randomness");
  }
  serial[0] = static_cast<unsigned char>((serial[0] & 0x7FU) | 0x40U);  // positive, full length
  const std::unique_ptr<BIGNUM, openssl::Deleter<BN_free>> number(
      BN_bin2bn(serial.data(), static_cast<int>(serial.size()), nullptr));
  BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(x509));

  bool fine = X509_set_version(x509, kX509Version3) == 1;
  const std::time_t now = ToUnix(form.now);
  ASN1_TIME_set(X509_getm_notBefore(x509), now - 3600);
  ASN1_TIME_set(X509_getm_notAfter(x509), now + form.lifetime.count());
  X509_NAME* const subject = X509_get_subject_name(x509);
  for (const std::string& organization : form.organizations) {
    fine = fine && AddName(subject, "O", organization);
  }
  fine = fine && AddName(subject, "CN", form.common_name);
  if (!fine) {
    return Error(Reason::kBadRequest,
                 "certificate: the name is empty, too long or not UTF-8: " + openssl::TakeError());
  }
  X509* const issuer_cert = issuer.cert != nullptr ? issuer.cert.get() : x509;
  fine = X509_set_issuer_name(x509, X509_get_subject_name(issuer_cert)) == 1 &&
         X509_set_pubkey(x509, key.get()) == 1;
  for (const auto& [nid, value] : form.extensions) {
    fine = fine && AddExtension(x509, issuer_cert, nid, value);
  }
  fine = fine &&
         X509_sign(x509, issuer.key != nullptr ? issuer.key.get() : key.get(), EVP_sha256()) != 0;
  if (!fine) {
    return Error(Reason::kInternalError, "certificate: " + openssl::TakeError());
  }
  KeyPair out;
  ALLOT_ASSIGN_OR_RETURN(out.certificate_pem, CertPem(x509));
  ALLOT_ASSIGN_OR_RETURN(out.key_pem, KeyPem(key.get()));
  return out;
}

Result<Issuer> ReadIssuer(const KeyPair& ca) {
  auto certs = openssl::ReadCertificates(ca.certificate_pem);
  Issuer issuer;
  issuer.key = openssl::ReadKey(ca.key_pem);
  if (certs.empty()) {
    return Error(Reason::kBadRequest, "CA: no certificate in PEM form");
  }
  issuer.cert = std::move(certs.front());
  if (issuer.key == nullptr) {
    return Error(Reason::kBadRequest, "CA: no unencrypted private key in PEM form");
  }
  if (X509_check_ca(issuer.cert.get()) == 0) {
    return Error(Reason::kBadRequest, "CA: the certificate is not one of a CA");
  }
  if (X509_check_private_key(issuer.cert.get(), issuer.key.get()) != 1) {
    ERR_clear_error();
    return Error(Reason::kBadRequest, "CA: certificate and key do not belong together");
  }
  return issuer;
}

base::WallTime FromAsn1(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) {
    return {};
  }
  return base::WallTime(std::chrono::seconds(::timegm(&parts)));
}

std::vector<std::string> SubjectNames(const X509* cert) {
  std::vector<std::string> out;
  const std::unique_ptr<GENERAL_NAMES, openssl::Deleter<GENERAL_NAMES_free>> names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(cert, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_DNS) {
      out.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
                       static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName)));
    } else if (name->type == GEN_IPADD) {
      std::array<char, INET6_ADDRSTRLEN> text{};
      const int family = ASN1_STRING_length(name->d.iPAddress) == 4 ? AF_INET : AF_INET6;
      if (family == AF_INET || ASN1_STRING_length(name->d.iPAddress) == 16) {
        ::inet_ntop(family, ASN1_STRING_get0_data(name->d.iPAddress), text.data(), text.size());
        out.emplace_back(text.data());
      }
    }
  }
  return out;
}

std::string Fingerprint(const X509* cert) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (X509_digest(cert, EVP_sha256(), digest.data(), &size) != 1) {
    return {};
  }
  std::string out;
  for (unsigned int i = 0; i < size; ++i) {
    if (i != 0) {
      out.push_back(':');
    }
    out.push_back(kHex[digest[i] >> 4U]);
    out.push_back(kHex[digest[i] & 15U]);
  }
  return out;
}

}  // namespace

Result<KeyPair> CreateCa(std::string_view common_name,
                         base::WallTime now,
                         std::chrono::seconds lifetime) {
  return Make({.common_name = common_name,
               .organizations = {},
               .extensions = {{NID_basic_constraints, "critical,CA:TRUE"},
                              {NID_key_usage, "critical,digitalSignature,keyCertSign,cRLSign"},
                              {NID_subject_key_identifier, "hash"}},
               .now = now,
               .lifetime = lifetime},
              {});
}

Result<KeyPair> CreateServerCertificate(const KeyPair& ca,
                                        const std::vector<std::string>& names,
                                        base::WallTime now,
                                        std::chrono::seconds lifetime) {
  if (names.empty()) {
    return Error(Reason::kBadRequest, "server certificate: no names");
  }
  ALLOT_ASSIGN_OR_RETURN(const Issuer issuer, ReadIssuer(ca));
  std::string sans;
  for (const std::string& name : names) {
    if (name.empty() || name.find_first_of(",\n;") != std::string::npos) {
      return Error(Reason::kBadRequest, "server certificate: \"" + name + "\" is no name");
    }
    sans += sans.empty() ? "" : ",";
    sans += (IsIp(name) ? "IP:" : "DNS:") + name;
  }
  return Make({.common_name = std::string_view(names.front()).substr(0, 64),
               .organizations = {},
               .extensions = {{NID_basic_constraints, "critical,CA:FALSE"},
                              {NID_key_usage, "critical,digitalSignature"},
                              {NID_ext_key_usage, "serverAuth"},
                              {NID_authority_key_identifier, "keyid"},
                              {NID_subject_alt_name, sans}},
               .now = now,
               .lifetime = lifetime},
              issuer);
}

std::vector<std::string> ApiServerNames(std::string_view listen_address) {
  std::vector<std::string> names = {"localhost",
                                    "127.0.0.1",
                                    "::1",
                                    "kubernetes",
                                    "kubernetes.default",
                                    "kubernetes.default.svc",
                                    "kubernetes.default.svc.cluster.local",
                                    "10.96.0.1"};
  const auto add = [&names](std::string name) {
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(std::move(name));
    }
  };
  std::array<char, HOST_NAME_MAX + 1> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0) {
    add(host.data());
  }
  if (listen_address != "0.0.0.0" && listen_address != "::") {
    add(std::string(listen_address));
  }
  return names;
}

Result<KeyPair> CreateClientCertificate(const KeyPair& ca,
                                        std::string_view common_name,
                                        const std::vector<std::string>& organizations,
                                        base::WallTime now,
                                        std::chrono::seconds lifetime) {
  ALLOT_ASSIGN_OR_RETURN(const Issuer issuer, ReadIssuer(ca));
  return Make({.common_name = common_name,
               .organizations = organizations,
               .extensions = {{NID_basic_constraints, "critical,CA:FALSE"},
                              {NID_key_usage, "critical,digitalSignature"},
                              {NID_ext_key_usage, "clientAuth"},
                              {NID_authority_key_identifier, "keyid"}},
               .now = now,
               .lifetime = lifetime},
              issuer);
}

Result<CertificateInfo> ReadCertificate(std::string_view pem) {
  const auto certs = openssl::ReadCertificates(pem);
  if (certs.empty()) {
    return Error(Reason::kBadRequest, "no certificate in PEM form");
  }
  X509* const cert = certs.front().get();
  CertificateInfo info;
  const X509_NAME* const subject = X509_get_subject_name(cert);
  auto common_names = openssl::NameEntries(subject, NID_commonName);
  if (!common_names.empty()) {
    info.common_name = std::move(common_names.front());
  }
  info.organizations = openssl::NameEntries(subject, NID_organizationName);
  auto issuers = openssl::NameEntries(X509_get_issuer_name(cert), NID_commonName);
  if (!issuers.empty()) {
    info.issuer = std::move(issuers.front());
  }
  info.names = SubjectNames(cert);
  info.not_before = FromAsn1(X509_get0_notBefore(cert));
  info.not_after = FromAsn1(X509_get0_notAfter(cert));
  info.is_ca = X509_check_ca(cert) != 0;
  info.sha256_fingerprint = Fingerprint(cert);
  return info;
}

Result<void> CheckKeyPair(const KeyPair& pair, std::string_view ca_pem, base::WallTime now) {
  const auto certs = openssl::ReadCertificates(pair.certificate_pem);
  if (certs.empty()) {
    return Error(Reason::kBadRequest, "no certificate in PEM form");
  }
  const Key key = openssl::ReadKey(pair.key_pem);
  if (key == nullptr) {
    return Error(Reason::kBadRequest, "no unencrypted private key in PEM form");
  }
  if (X509_check_private_key(certs.front().get(), key.get()) != 1) {
    ERR_clear_error();
    return Error(Reason::kBadRequest, "certificate and key do not belong together");
  }
  if (ca_pem.empty()) {
    return {};
  }
  const auto cas = openssl::ReadCertificates(ca_pem);
  if (cas.empty()) {
    return Error(Reason::kBadRequest, "no CA certificate in PEM form");
  }
  const openssl::Store store(X509_STORE_new());
  for (const Cert& ca : cas) {
    X509_STORE_add_cert(store.get(), ca.get());
  }
  const openssl::StoreCtx context(X509_STORE_CTX_new());
  const std::unique_ptr<STACK_OF(X509), void (*)(STACK_OF(X509)*)> chain(
      sk_X509_new_null(), [](STACK_OF(X509) * stack) { sk_X509_free(stack); });
  for (std::size_t i = 1; i < certs.size(); ++i) {
    sk_X509_push(chain.get(), certs[i].get());
  }
  X509_STORE_CTX_init(context.get(), store.get(), certs.front().get(), chain.get());
  X509_VERIFY_PARAM_set_time(X509_STORE_CTX_get0_param(context.get()), ToUnix(now));
  if (X509_verify_cert(context.get()) != 1) {
    const int error = X509_STORE_CTX_get_error(context.get());
    ERR_clear_error();
    return Error(Reason::kBadRequest, X509_verify_cert_error_string(error));
  }
  return {};
}

Result<SigningKey> CreateSigningKey() {
  const Key key(EVP_EC_gen("P-256"));
  const openssl::Bio bio(BIO_new(BIO_s_mem()));
  if (key == nullptr || bio == nullptr || PEM_write_bio_PUBKEY(bio.get(), key.get()) != 1) {
    return Error(Reason::kInternalError, "key: " + openssl::TakeError());
  }
  SigningKey out;
  ALLOT_ASSIGN_OR_RETURN(out.public_pem, BioText(bio));
  ALLOT_ASSIGN_OR_RETURN(out.private_pem, KeyPem(key.get()));
  return out;
}

Result<std::string> SignEs256(std::string_view private_pem, std::string_view data) {
  const Key key = openssl::ReadKey(private_pem);
  if (key == nullptr || EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_EC) {
    return Error(Reason::kBadRequest, "signing key: no unencrypted EC key in PEM form");
  }
  const openssl::MdCtx context(EVP_MD_CTX_new());
  std::array<unsigned char, 160> der{};
  std::size_t size = der.size();
  if (EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get()) != 1 ||
      EVP_DigestSign(context.get(),
                     der.data(),
                     &size,
                     reinterpret_cast<const unsigned char*>(data.data()),
                     data.size()) != 1) {
    return Error(Reason::kInternalError, "signature: " + openssl::TakeError());
  }
  const unsigned char* cursor = der.data();
  const std::unique_ptr<ECDSA_SIG, openssl::Deleter<ECDSA_SIG_free>> parts(
      d2i_ECDSA_SIG(nullptr, &cursor, static_cast<long>(size)));
  std::array<unsigned char, 64> raw{};
  if (parts == nullptr || BN_bn2binpad(ECDSA_SIG_get0_r(parts.get()), raw.data(), 32) != 32 ||
      BN_bn2binpad(ECDSA_SIG_get0_s(parts.get()), raw.data() + 32, 32) != 32) {
    return Error(Reason::kBadRequest, "signing key: the key is not of the curve P-256");
  }
  return std::string(reinterpret_cast<const char*>(raw.data()), raw.size());
}

bool VerifyEs256(std::string_view public_pem, std::string_view data, std::string_view signature) {
  if (signature.size() != 64) {
    return false;
  }
  const openssl::Bio bio = openssl::MemoryBio(public_pem);
  const Key key(bio == nullptr ? nullptr
                               : PEM_read_bio_PUBKEY(bio.get(), nullptr, nullptr, nullptr));
  const std::unique_ptr<ECDSA_SIG, openssl::Deleter<ECDSA_SIG_free>> parts(ECDSA_SIG_new());
  const auto* const raw = reinterpret_cast<const unsigned char*>(signature.data());
  BIGNUM* const r = BN_bin2bn(raw, 32, nullptr);
  BIGNUM* const s = BN_bin2bn(raw + 32, 32, nullptr);
  if (parts == nullptr || ECDSA_SIG_set0(parts.get(), r, s) != 1) {
    BN_free(r);
    BN_free(s);
    return false;
  }
  std::array<unsigned char, 160> der{};
  unsigned char* cursor = der.data();
  const int size = i2d_ECDSA_SIG(parts.get(), &cursor);
  const openssl::MdCtx context(EVP_MD_CTX_new());
  const bool good =
      key != nullptr && size > 0 &&
      EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get()) == 1 &&
      EVP_DigestVerify(context.get(),
                       der.data(),
                       static_cast<std::size_t>(size),
                       reinterpret_cast<const unsigned char*>(data.data()),
                       data.size()) == 1;
  ERR_clear_error();
  return good;
}

std::string Sha256(std::string_view data) {
  std::array<unsigned char, 32> digest{};
  EVP_Digest(data.data(), data.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::string Sha512(std::string_view data) {
  std::array<unsigned char, 64> digest{};
  EVP_Digest(data.data(), data.size(), digest.data(), nullptr, EVP_sha512(), nullptr);
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace allot::net
