// HttpClient: a Client of any Kubernetes API server, over HTTPS.
//
// Sends and asks for protobuf (as Kubernetes' own components do) and understands JSON answers too.
// Owns its event loop and thread; calls block the caller. Requests answered 429 are repeated after
// the time the server asks for. Thread safety: as Client.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string_view>

#include "client/catalog.h"
#include "client/client.h"
#include "client/kubeconfig.h"
#include "client/wire.h"

namespace allot::net {
struct ClientRequest;
struct ClientResponse;
class HttpClient;
class LoopThread;
}  // namespace allot::net

namespace allot::client {

struct HttpClientOptions {
  Format format = Format::kProtobuf;               ///< of bodies, and asked for first
  std::chrono::milliseconds timeout{60'000};       ///< of everything but watches
  std::chrono::milliseconds longest_wait{10'000};  ///< cap on one wait the server asks for (429)
};

class HttpClient final : public Client {
 public:
  /// Checks the configuration; connects at the first call.
  /// Errors: kBadRequest naming the part of the configuration that is wrong.
  [[nodiscard]] static base::Result<std::unique_ptr<HttpClient>> Create(
      const ClientConfig& config,
      std::string_view user_agent,
      const HttpClientOptions& options = {});
  ~HttpClient() override;
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  base::Result<Item> Do(const Request& request) override;
  base::Result<ListAnswer> List(const Resource& resource,
                                std::string_view ns,
                                const ListOptions& options) override;
  /// Waits until the server has accepted the watch. REQUIRES: the client outlives the handle.
  base::Result<std::unique_ptr<WatchHandle>> Watch(const Resource& resource,
                                                   std::string_view ns,
                                                   const WatchOptions& options,
                                                   WatchSink& sink) override;
  base::Result<std::vector<ServedResource>> Served() override;
  [[nodiscard]] bool is_local() const override { return false; }

 private:
  HttpClient(const HttpClientOptions& options,
             std::unique_ptr<net::LoopThread> thread,
             std::unique_ptr<net::HttpClient> http);

  /// Sends, waits, repeats on 429, and turns answers of 400 and above into their Status.
  base::Result<net::ClientResponse> Send(const net::ClientRequest& request);
  /// False when the client is being destroyed.
  bool WaitFor(std::chrono::milliseconds time);

  HttpClientOptions options_;
  std::unique_ptr<net::LoopThread> thread_;
  std::unique_ptr<net::HttpClient> http_;
  std::mutex mutex_;
  std::condition_variable stopped_changed_;
  bool stopped_ = false;
  ResourceCatalog catalog_;
};

}  // namespace allot::client
