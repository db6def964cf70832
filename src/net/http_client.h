// HttpClient: requests to one server over few connections: HTTP/2 with multiplexing, else HTTP/1.1.
//
// Connections are made when needed and made again after they broke; a request that was not yet
// answered is repeated once by itself only when the server cannot have acted on it (connection
// refused before any byte, REFUSED_STREAM, GOAWAY below its stream). Thread safety: Do, Fetch,
// FetchBlocking and Cancel from any thread; callbacks run on the loop thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "net/bytes.h"
#include "net/http.h"
#include "net/loop.h"
#include "net/tls.h"

namespace allot::net {

struct HttpClientOptions {
  std::string server;   // "https://host:port/prefix"; http:// too; the port defaults to 443 or 80
  TlsClientConfig tls;  // ignored for http
  /// Called for each request; what it returns becomes "authorization: Bearer ..."; "" = no header.
  std::function<std::string()> bearer_token;
  HeaderList headers;  // sent with every request (user-agent)
  bool http2 = true;   // offer it; plain http speaks it only with http2_prior_knowledge
  bool http2_prior_knowledge = false;
  std::size_t max_connections = 100;  // HTTP/1.1, and HTTP/2 when its streams run out
  std::size_t idle_connections = 4;   // HTTP/1.1: kept open for reuse
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds ping_after{30'000};  // HTTP/2: no frame for so long with requests open
  std::chrono::milliseconds ping_timeout{15'000};
};

struct ClientRequest {
  std::string method = "GET";
  std::string target = "/";  // path and query, appended to the server's prefix
  HeaderList headers;
  Bytes body;
  std::chrono::milliseconds timeout{0};  // to the end of the answer; 0 = none (watches)
};

struct ClientResponse {
  int status = 0;
  HeaderList headers;
  std::string body;  // already unzipped
};

/// What a streamed answer calls, in this order, on the loop thread. on_end comes exactly once.
struct ClientCallbacks {
  std::function<void(int status, const HeaderList& headers)> on_headers;
  std::function<void(std::string_view data)> on_data;
  /// Errors: kServiceUnavailable (no connection, broken off), kTimeout, kBadRequest (our side),
  /// each with the server's address in the message.
  std::function<void(base::Result<void> outcome)> on_end;
};

class HttpClient {
 public:
  using CallId = std::uint64_t;

  /// Checks the options; connects at the first request. Errors: kBadRequest (URL, certificate).
  [[nodiscard]] static base::Result<std::unique_ptr<HttpClient>> Create(Loop& loop,
                                                                        HttpClientOptions options);
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  /// Fails what is open. Any thread; waits for the loop thread unless called there or the loop is
  /// stopped.
  virtual ~HttpClient() = default;

  /// Sends a request and streams the answer.
  virtual CallId Do(ClientRequest request, ClientCallbacks callbacks) = 0;
  /// Breaks a request off; its on_end is not called any more once Cancel returned on the loop
  /// thread (from other threads: soon after).
  virtual void Cancel(CallId call) = 0;
  /// Sends a request and hands over the whole answer (any status). Errors: as
  /// ClientCallbacks::on_end; kRequestEntityTooLarge for more than `limit` bytes.
  virtual void Fetch(ClientRequest request,
                     std::function<void(base::Result<ClientResponse>)> done,
                     std::size_t limit = kDefaultResponseLimit) = 0;
  /// As Fetch, waiting. REQUIRES: not on the loop thread, loop running.
  [[nodiscard]] virtual base::Result<ClientResponse> FetchBlocking(
      ClientRequest request, std::size_t limit = kDefaultResponseLimit) = 0;

  /// "https://127.0.0.1:6443".
  [[nodiscard]] virtual const std::string& server() const = 0;
  /// Connections made so far; a work counter for tests.
  [[nodiscard]] virtual std::uint64_t connections_made() const = 0;
  [[nodiscard]] virtual Loop& loop() const = 0;

  static constexpr std::size_t kDefaultResponseLimit = 1U << 30U;

 protected:
  HttpClient() = default;
};

}  // namespace allot::net
