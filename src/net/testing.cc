#include "net/testing.h"

#include <future>
#include <utility>

#include "base/check.h"

namespace allot::net {

TestServer::TestServer(bool tls, Handler handler, const ServerLimits& limits)
    : tls_(tls), limits_(limits), server_thread_("server"), client_thread_("client") {
  const auto now = base::SystemClock().Now();
  ca_ = *CreateCa("test-ca", now);
  if (tls) {
    const auto pair = CreateServerCertificate(ca_, ApiServerNames("127.0.0.1"), now);
    context_ = *TlsContext::Server({.certificate_pem = pair->certificate_pem,
                                    .key_pem = pair->key_pem,
                                    .client_ca_pem = ca_.certificate_pem});
  }
  Listen(0, std::move(handler));
}

TestServer::~TestServer() {
  Run([this] { server_.reset(); });
}

void TestServer::Listen(std::uint16_t port, Handler handler) {
  Run([&] {
    ServerOptions options;
    options.port = port;
    options.tls = context_;
    options.limits = limits_;
    auto server = Server::Create(server_thread_.loop(), std::move(options), std::move(handler));
    ALLOT_CHECK(server.has_value());
    server_ = std::move(*server);
  });
}

void TestServer::Run(const std::function<void()>& task) {
  std::promise<void> done;
  ALLOT_CHECK(server_thread_.loop().Post([&] {
    task();
    done.set_value();
  }));
  done.get_future().wait();
}

void TestServer::Restart(Handler handler) {
  const std::uint16_t port = server_->port();
  Run([this] { server_.reset(); });
  Listen(port, std::move(handler));
}

std::unique_ptr<HttpClient> TestServer::NewClient(
    bool http2, const KeyPair& certificate, const std::function<void(HttpClientOptions&)>& change) {
  HttpClientOptions options;
  options.server = (tls_ ? "https://" : "http://") + server_->address();
  options.tls.ca_pem = ca_.certificate_pem;
  options.tls.certificate_pem = certificate.certificate_pem;
  options.tls.key_pem = certificate.key_pem;
  options.http2 = http2;
  options.http2_prior_knowledge = http2 && !tls_;
  if (change) {
    change(options);
  }
  auto client = HttpClient::Create(client_thread_.loop(), std::move(options));
  ALLOT_CHECK(client.has_value());
  return std::move(*client);
}

ClientCallbacks Collector::Callbacks() {
  ClientCallbacks callbacks;
  callbacks.on_headers = [state = state_](int status, const HeaderList&) {
    const std::lock_guard lock(state->mutex);
    state->status = status;
    state->changed.notify_all();
  };
  callbacks.on_data = [state = state_](std::string_view data) {
    const std::lock_guard lock(state->mutex);
    state->body.append(data);
    state->changed.notify_all();
  };
  callbacks.on_end = [state = state_](base::Result<void> outcome) {
    const std::lock_guard lock(state->mutex);
    state->outcome = std::move(outcome);
    state->changed.notify_all();
  };
  return callbacks;
}

int Collector::WaitForStatus() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [this] { return state_->status != 0 || state_->outcome.has_value(); });
  return state_->status;
}

std::string Collector::WaitForBody(std::size_t size) {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock,
                       [&] { return state_->body.size() >= size || state_->outcome.has_value(); });
  return state_->body;
}

base::Result<void> Collector::WaitForEnd() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [this] { return state_->outcome.has_value(); });
  return *state_->outcome;
}

}  // namespace allot::net
