// For tests of net: a server on a free port with its own CA and loop thread, and collectors of
// answers.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "net/certificates.h"
#include "net/http_client.h"
#include "net/http_server.h"

namespace allot::net {

class TestServer {
 public:
  TestServer(bool tls, Handler handler, const ServerLimits& limits = {});
  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  /// Runs `task` on the server's loop thread and waits for it.
  void Run(const std::function<void()>& task);
  /// A new server on the same port.
  void Restart(Handler handler);
  std::unique_ptr<HttpClient> NewClient(
      bool http2,
      const KeyPair& certificate = {},
      const std::function<void(HttpClientOptions&)>& change = nullptr);

  [[nodiscard]] Server& server() { return *server_; }
  [[nodiscard]] const KeyPair& ca() const { return ca_; }

 private:
  void Listen(std::uint16_t port, Handler handler);

  bool tls_;
  ServerLimits limits_;
  KeyPair ca_;
  std::shared_ptr<const TlsContext> context_;
  LoopThread server_thread_;
  LoopThread client_thread_;
  std::unique_ptr<Server> server_;
};

/// Gathers one streamed answer. Thread safety: callbacks on the loop thread, the rest on the
/// test's.
class Collector {
 public:
  [[nodiscard]] ClientCallbacks Callbacks();
  [[nodiscard]] int WaitForStatus();
  [[nodiscard]] std::string WaitForBody(std::size_t size);
  [[nodiscard]] base::Result<void> WaitForEnd();

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    int status = 0;
    std::string body;
    std::optional<base::Result<void>> outcome;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace allot::net
