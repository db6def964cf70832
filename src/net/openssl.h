// Owners of OpenSSL objects and the text of its errors. For net/*.cc only.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

namespace allot::net::openssl {

template <auto kFree>
struct Deleter {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};

using Bio = std::unique_ptr<BIO, Deleter<BIO_free_all>>;
using Key = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using Cert = std::unique_ptr<X509, Deleter<X509_free>>;
using MdCtx = std::unique_ptr<EVP_MD_CTX, Deleter<EVP_MD_CTX_free>>;
using Store = std::unique_ptr<X509_STORE, Deleter<X509_STORE_free>>;
using StoreCtx = std::unique_ptr<X509_STORE_CTX, Deleter<X509_STORE_CTX_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Deleter<X509_EXTENSION_free>>;
using SslCtx = std::unique_ptr<SSL_CTX, Deleter<SSL_CTX_free>>;
using SslPtr = std::unique_ptr<SSL, Deleter<SSL_free>>;

/// The newest error of this thread in words; clears the queue.
inline std::string TakeError() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  if (code == 0) {
    return "unknown error";
  }
  const char* const reason = ERR_reason_error_string(code);
  return reason != nullptr ? reason : "error " + std::to_string(code);
}

/// A read-only BIO over the text, which must outlive it.
inline Bio MemoryBio(std::string_view text) {
  if (text.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    return nullptr;
  }
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

/// All certificates of a PEM text, in order; other blocks are skipped.
std::vector<Cert> ReadCertificates(std::string_view pem);
/// The private key of a PEM text; null when there is none (or it is encrypted).
Key ReadKey(std::string_view pem);
/// All values of one entry kind (NID_commonName) of a name, as UTF-8.
std::vector<std::string> NameEntries(const X509_NAME* name, int nid);

}  // namespace allot::net::openssl
