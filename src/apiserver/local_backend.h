// LocalBackend: the registry and the store's events for clients in the same process.
//
// Writes enter the registry as the typed values they are; watchers are fed on the store's writer
// thread with batches that all watchers of one selection share. Thread safety: any thread.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/authn.h"
#include "apiserver/fields.h"
#include "apiserver/registry.h"
#include "client/backend.h"
#include "store/store.h"

namespace allot::apiserver {

class LocalBackend final : public client::Backend {
 public:
  LocalBackend(Registry& registry, const Authorizer& authorizer);
  LocalBackend(const LocalBackend&) = delete;
  LocalBackend& operator=(const LocalBackend&) = delete;
  ~LocalBackend() override;

  base::Result<client::Item> Do(const client::Identity& identity,
                                const client::Request& request) override;
  base::Result<client::ListAnswer> List(const client::Identity& identity,
                                        const client::Resource& resource,
                                        std::string_view ns,
                                        const client::ListOptions& options) override;
  base::Result<std::unique_ptr<client::WatchHandle>> Watch(const client::Identity& identity,
                                                           const client::Resource& resource,
                                                           std::string_view ns,
                                                           const client::WatchOptions& options,
                                                           client::WatchSink& sink) override;

  /// Ends all watches with kServiceUnavailable.
  void Stop();

 private:
  struct Watcher;
  class Handle;
  class Waiter;

  base::Result<const Resource*> Find(const client::Resource& resource) const;
  base::Result<void> Check(const User& user,
                           const client::Resource& resource,
                           std::string_view verb,
                           std::string_view ns,
                           std::string_view name,
                           std::string_view subresource) const;
  base::Result<Written> Write(const User& user,
                              const client::Request& request,
                              const Resource& resource,
                              store::CommitSink* sink,
                              std::uint64_t token);
  base::Result<client::Item> WriteAndWait(const User& user,
                                          const client::Request& request,
                                          const Resource& resource);
  base::Result<client::Item> DeleteMany(const User& user,
                                        const client::Request& request,
                                        const Resource& resource);
  void Feed(const store::Published& published);

  Registry& registry_;
  const Authorizer& authorizer_;
  /// Shared with the handles of watches, which may outlive the backend.
  struct Shared;
  std::shared_ptr<Shared> shared_;
  std::unique_ptr<store::Subscription> subscription_;
};

}  // namespace allot::apiserver
