#include "net/tls.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <unistd.h>

#include <openssl/sslerr.h>

#include "net/openssl.h"
#include "net/stream.h"

namespace allot::net {

namespace {

using base::Error;
using base::Reason;
using base::Result;

constexpr std::string_view kSessionContext = "allot";
/// The UID attribute of KEP-4827 in a certificate's subject.
constexpr const char* kUidOid = "1.3.6.1.4.1.57683.2";

/// ALPN's wire form: each name after its length.
std::string AlpnWire(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) {
    out.push_back(static_cast<char>(name.size()));
    out += name;
  }
  return out;
}

/// Any certificate passes the handshake; what is wrong with it stays in SSL_get_verify_result.
int AcceptAnyCertificate(int /*ok*/, X509_STORE_CTX* /*context*/) {
  return 1;
}

void SetCommonOptions(SSL_CTX* context) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_mode(context,
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                       SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_options(
      context,
      SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_read_ahead(context, 1);
  // AES-128 first: it is what Go prefers, and the cheapest with AES instructions.
  SSL_CTX_set_ciphersuites(
      context, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256");
}

Result<void> UseKeyPair(SSL_CTX* context,
                        const std::string& certificate_pem,
                        const std::string& key_pem) {
  const auto certs = openssl::ReadCertificates(certificate_pem);
  if (certs.empty()) {
    return Error(Reason::kBadRequest, "tls: certificate: no certificate in PEM form");
  }
  if (SSL_CTX_use_certificate(context, certs.front().get()) != 1) {
    return Error(Reason::kBadRequest, "tls: certificate: " + openssl::TakeError());
  }
  for (std::size_t i = 1; i < certs.size(); ++i) {
    SSL_CTX_add1_chain_cert(context, certs[i].get());
  }
  const openssl::Key key = openssl::ReadKey(key_pem);
  if (key == nullptr) {
    return Error(Reason::kBadRequest, "tls: key: no unencrypted private key in PEM form");
  }
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1 || SSL_CTX_check_private_key(context) != 1) {
    ERR_clear_error();
    return Error(Reason::kBadRequest, "tls: certificate and key do not belong together");
  }
  return {};
}

Result<void> TrustCas(SSL_CTX* context, const std::string& ca_pem, bool announce) {
  const auto cas = openssl::ReadCertificates(ca_pem);
  if (cas.empty()) {
    return Error(Reason::kBadRequest, "tls: CA: no certificate in PEM form");
  }
  X509_STORE* const store = SSL_CTX_get_cert_store(context);
  for (const openssl::Cert& ca : cas) {
    X509_STORE_add_cert(store, ca.get());
    if (announce) {
      SSL_CTX_add_client_CA(context, ca.get());
    }
  }
  return {};
}

}  // namespace

struct TlsContext::Impl {
  openssl::SslCtx context;
  std::string alpn;
  bool is_server = false;
  bool verify = true;
  std::string server_name;

  static int SelectAlpn(SSL* /*ssl*/,
                        const unsigned char** out,
                        unsigned char* out_size,
                        const unsigned char* in,
                        unsigned int in_size,
                        void* self) {
    const std::string& ours = static_cast<const Impl*>(self)->alpn;
    unsigned char* chosen = nullptr;
    if (SSL_select_next_proto(&chosen,
                              out_size,
                              reinterpret_cast<const unsigned char*>(ours.data()),
                              static_cast<unsigned int>(ours.size()),
                              in,
                              in_size) != OPENSSL_NPN_NEGOTIATED) {
      return SSL_TLSEXT_ERR_NOACK;  // HTTP/1.1 will do
    }
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
  }
};

TlsContext::TlsContext(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TlsContext::~TlsContext() = default;

Result<std::shared_ptr<const TlsContext>> TlsContext::Server(const TlsServerConfig& config) {
  auto impl = std::make_unique<Impl>();
  impl->context.reset(SSL_CTX_new(TLS_server_method()));
  SSL_CTX* const context = impl->context.get();
  SetCommonOptions(context);
  impl->is_server = true;
  impl->alpn = AlpnWire(config.alpn);
  ALLOT_RETURN_IF_ERROR(UseKeyPair(context, config.certificate_pem, config.key_pem));
  if (!config.client_ca_pem.empty()) {
    ALLOT_RETURN_IF_ERROR(TrustCas(context, config.client_ca_pem, /*announce=*/true));
  }
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, AcceptAnyCertificate);
  SSL_CTX_set_session_id_context(context,
                                 reinterpret_cast<const unsigned char*>(kSessionContext.data()),
                                 static_cast<unsigned int>(kSessionContext.size()));
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);  // tickets only
  SSL_CTX_set_num_tickets(context, 1);
  SSL_CTX_set_alpn_select_cb(context, Impl::SelectAlpn, impl.get());
  return std::shared_ptr<const TlsContext>(new TlsContext(std::move(impl)));
}

Result<std::shared_ptr<const TlsContext>> TlsContext::Client(const TlsClientConfig& config) {
  auto impl = std::make_unique<Impl>();
  impl->context.reset(SSL_CTX_new(TLS_client_method()));
  SSL_CTX* const context = impl->context.get();
  SetCommonOptions(context);
  impl->verify = !config.insecure_skip_verify;
  impl->server_name = config.server_name;
  if (!config.certificate_pem.empty() || !config.key_pem.empty()) {
    ALLOT_RETURN_IF_ERROR(UseKeyPair(context, config.certificate_pem, config.key_pem));
  }
  if (!config.ca_pem.empty()) {
    ALLOT_RETURN_IF_ERROR(TrustCas(context, config.ca_pem, /*announce=*/false));
  } else {
    SSL_CTX_set_default_verify_paths(context);
  }
  SSL_CTX_set_verify(context, impl->verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  const std::string alpn = AlpnWire(config.alpn);
  SSL_CTX_set_alpn_protos(context,
                          reinterpret_cast<const unsigned char*>(alpn.data()),
                          static_cast<unsigned int>(alpn.size()));
  return std::shared_ptr<const TlsContext>(new TlsContext(std::move(impl)));
}

struct Stream::Tls {
  std::shared_ptr<const TlsContext> context;
  openssl::SslPtr ssl;
  bool broken = false;
};

Stream::Stream(Fd fd) : fd_(std::move(fd)) {}

Stream::Stream(Fd fd, std::shared_ptr<const TlsContext> tls, const std::string& server_name)
    : fd_(std::move(fd)), tls_(std::make_unique<Tls>()) {
  const TlsContext::Impl& impl = *tls->impl_;
  tls_->ssl.reset(SSL_new(impl.context.get()));
  tls_->context = std::move(tls);
  SSL* const ssl = tls_->ssl.get();
  SSL_set_fd(ssl, fd_.get());
  if (impl.is_server) {
    SSL_set_accept_state(ssl);
    return;
  }
  SSL_set_connect_state(ssl);
  const std::string& name = impl.server_name.empty() ? server_name : impl.server_name;
  std::array<unsigned char, sizeof(in6_addr)> ip{};
  const bool numeric = ::inet_pton(AF_INET, name.c_str(), ip.data()) == 1 ||
                       ::inet_pton(AF_INET6, name.c_str(), ip.data()) == 1;
  if (numeric) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name.c_str());
  } else if (!name.empty()) {
    SSL_set1_host(ssl, name.c_str());
    SSL_set_tlsext_host_name(ssl, name.c_str());
  }
}

Stream::~Stream() = default;

bool Stream::tls() const {
  return tls_ != nullptr;
}

Stream::State Stream::Fail(int result) {
  const int saved_errno = errno;
  SSL* const ssl = tls_->ssl.get();
  switch (SSL_get_error(ssl, result)) {
    case SSL_ERROR_WANT_READ: return State::kWantRead;
    case SSL_ERROR_WANT_WRITE: return State::kWantWrite;
    case SSL_ERROR_ZERO_RETURN: return State::kClosed;
    case SSL_ERROR_SYSCALL:
      tls_->broken = true;
      error_ = saved_errno == 0 ? "connection closed by the peer" : ErrnoText(saved_errno);
      ERR_clear_error();
      return saved_errno == 0 ? State::kClosed : State::kError;
    default: break;
  }
  tls_->broken = true;
  const unsigned long code = ERR_peek_error();
  saw_plain_http_ = ERR_GET_LIB(code) == ERR_LIB_SSL && ERR_GET_REASON(code) == SSL_R_HTTP_REQUEST;
  const long verify = SSL_get_verify_result(ssl);
  if (!tls_->context->impl_->is_server && verify != X509_V_OK) {
    error_ =
        std::string("tls: certificate of the server: ") + X509_verify_cert_error_string(verify);
    ERR_clear_error();
  } else {
    error_ = "tls: " + openssl::TakeError();
  }
  return State::kError;
}

Stream::State Stream::Handshake() {
  if (tls_ == nullptr) {
    return State::kOk;
  }
  ERR_clear_error();
  errno = 0;
  const int result = SSL_do_handshake(tls_->ssl.get());
  return result == 1 ? State::kOk : Fail(result);
}

Stream::Io Stream::Read(char* data, std::size_t size) {
  if (tls_ != nullptr) {
    ERR_clear_error();
    errno = 0;
    std::size_t got = 0;
    const int result = SSL_read_ex(tls_->ssl.get(), data, size, &got);
    return result == 1 ? Io{State::kOk, got} : Io{Fail(result), 0};
  }
  const ssize_t got = ::recv(fd_.get(), data, size, 0);
  if (got > 0) {
    return {State::kOk, static_cast<std::size_t>(got)};
  }
  if (got == 0) {
    return {State::kClosed, 0};
  }
  if (errno == EAGAIN || errno == EINTR) {
    return {State::kWantRead, 0};
  }
  error_ = ErrnoText(errno);
  return {State::kError, 0};
}

Stream::Io Stream::Write(std::string_view data) {
  std::size_t total = 0;
  while (total < data.size()) {
    if (tls_ != nullptr) {
      ERR_clear_error();
      errno = 0;
      std::size_t put = 0;
      const int result =
          SSL_write_ex(tls_->ssl.get(), data.data() + total, data.size() - total, &put);
      if (result != 1) {
        return {Fail(result), total};
      }
      total += put;
      continue;
    }
    const ssize_t put = ::send(fd_.get(), data.data() + total, data.size() - total, MSG_NOSIGNAL);
    if (put < 0) {
      if (errno == EAGAIN || errno == EINTR) {
        return {State::kWantWrite, total};
      }
      error_ = ErrnoText(errno);
      return {State::kError, total};
    }
    total += static_cast<std::size_t>(put);
  }
  return {State::kOk, total};
}

bool Stream::HasBuffered() const {
  return tls_ != nullptr && SSL_has_pending(tls_->ssl.get()) == 1;
}

void Stream::ShutdownWrite() {
  if (tls_ != nullptr && !tls_->broken && SSL_is_init_finished(tls_->ssl.get()) == 1) {
    ERR_clear_error();
    SSL_shutdown(tls_->ssl.get());
    ERR_clear_error();
  }
  ::shutdown(fd_.get(), SHUT_WR);
}

void Stream::Close() {
  fd_.Reset();
}

std::string Stream::alpn() const {
  if (tls_ == nullptr) {
    return {};
  }
  const unsigned char* name = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(tls_->ssl.get(), &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

std::optional<PeerCertificate> Stream::Peer() const {
  if (tls_ == nullptr) {
    return std::nullopt;
  }
  X509* const cert = SSL_get0_peer_certificate(tls_->ssl.get());
  if (cert == nullptr) {
    return std::nullopt;
  }
  PeerCertificate peer;
  const X509_NAME* const subject = X509_get_subject_name(cert);
  if (auto names = openssl::NameEntries(subject, NID_commonName); !names.empty()) {
    peer.common_name = std::move(names.front());
  }
  peer.organizations = openssl::NameEntries(subject, NID_organizationName);
  const std::unique_ptr<ASN1_OBJECT, openssl::Deleter<ASN1_OBJECT_free>> uid(
      OBJ_txt2obj(kUidOid, 1));
  if (const int index = X509_NAME_get_index_by_OBJ(subject, uid.get(), -1); index >= 0) {
    const ASN1_STRING* const text = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, index));
    peer.uid.assign(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                    static_cast<std::size_t>(ASN1_STRING_length(text)));
  }
  const long verify = SSL_get_verify_result(tls_->ssl.get());
  peer.verified = verify == X509_V_OK;
  if (!peer.verified) {
    peer.error = X509_verify_cert_error_string(verify);
  }
  return peer;
}

}  // namespace allot::net
