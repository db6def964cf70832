// Backend: what the API server offers to clients in its own process; LocalClient puts an identity
// on it.
//
// The apiserver module implements Backend on its registry and watch cache: a body enters as the
// typed value it is (no bytes, no copy), passes the same authorization, admission, validation and
// quota as a request, and answers and events carry typed views shared by all readers. Thread
// safety: any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "client/client.h"

namespace allot::client {

/// Who acts through a local client.
struct Identity {
  std::string user;  ///< "system:kube-scheduler", ...
  std::vector<std::string> groups;
};

class Backend {
 public:
  virtual ~Backend() = default;

  /// As Client::Do. A kSequenced write returns once the sequencer accepted it; its answer's object
  /// has the assigned revision but is not visible to readers yet.
  virtual base::Result<Item> Do(const Identity& identity, const Request& request) = 0;

  /// As Client::List, from the durable view.
  virtual base::Result<ListAnswer> List(const Identity& identity,
                                        const Resource& resource,
                                        std::string_view ns,
                                        const ListOptions& options) = 0;

  /// As Client::Watch. Batches are made once per published batch of the store and shared between
  /// all watchers with equal resource, namespace and selector. Errors: kExpired when `after` is too
  /// old.
  virtual base::Result<std::unique_ptr<WatchHandle>> Watch(const Identity& identity,
                                                           const Resource& resource,
                                                           std::string_view ns,
                                                           const WatchOptions& options,
                                                           WatchSink& sink) = 0;
};

/// A client that calls a Backend in the same process as one identity.
class LocalClient final : public Client {
 public:
  /// REQUIRES: backend outlives the client.
  LocalClient(Backend& backend, Identity identity)
      : backend_(backend), identity_(std::move(identity)) {}

  base::Result<Item> Do(const Request& request) override { return backend_.Do(identity_, request); }
  base::Result<ListAnswer> List(const Resource& resource,
                                std::string_view ns,
                                const ListOptions& options) override {
    return backend_.List(identity_, resource, ns, options);
  }
  base::Result<std::unique_ptr<WatchHandle>> Watch(const Resource& resource,
                                                   std::string_view ns,
                                                   const WatchOptions& options,
                                                   WatchSink& sink) override {
    return backend_.Watch(identity_, resource, ns, options, sink);
  }
  [[nodiscard]] bool is_local() const override { return true; }

 private:
  Backend& backend_;
  Identity identity_;
};

}  // namespace allot::client
