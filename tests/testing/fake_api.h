// FakeApi: a small object store with the API's rules that components depend on, for their tests.
//
// Versions and conflicts, status and main writes apart, generated names, uids, finalizers,
// deletion, bindings, patches (lists of objects merge by uid, name or type), watches. Everything is
// durable at once unless Hold() was called. Every write can be made to fail, or be counted. Thread
// safety: any thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/v1.gen.h"
#include "api/meta/v1.gen.h"
#include "base/clock.h"
#include "base/random.h"
#include "client/backend.h"
#include "client/typed.h"
#include "text/value.h"

namespace allot::testing {

class FakeApi final : public client::Backend {
 public:
  explicit FakeApi(const base::Clock& clock) : clock_(clock) {}

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

  // For the test itself.

  /// Creates an object from JSON, its status included.
  client::ObjectRef Add(const client::Resource& resource, std::string_view json);
  template <typename T>
  client::ObjectRef Add(std::string_view json) {
    return Add(client::ResourceOf<T>(), json);
  }
  /// Merges JSON into the object (any field).
  void Change(const client::Resource& resource,
              std::string_view ns,
              std::string_view name,
              std::string_view json);
  /// Removes it without asking finalizers.
  void Remove(const client::Resource& resource, std::string_view ns, std::string_view name);
  template <typename T>
  schema::View<T> Get(std::string_view ns, std::string_view name) const {
    return client::ToView<T>(FindView(client::ResourceOf<T>(), ns, name));
  }
  template <typename T>
  std::vector<schema::View<T>> All(std::string_view ns = "") const {
    std::vector<schema::View<T>> views;
    for (const client::AnyView& view : AllViews(client::ResourceOf<T>(), ns)) {
      views.push_back(client::ToView<T>(view));
    }
    return views;
  }
  /// Consulted before every Do; an error is its answer.
  void FailWith(std::function<base::Result<void>(const client::Request&)> rule);
  /// From now on watchers hear nothing and nothing is durable until Release (or Lose: all that
  /// was held fails and is undone).
  void Hold();
  void Release();
  void Lose();
  /// Ends all watches of a resource with this reason.
  void CloseWatches(const client::Resource& resource, base::Reason reason);

  /// Work counters.
  [[nodiscard]] std::uint64_t writes() const;
  [[nodiscard]] std::uint64_t reads() const;

 private:
  struct Key {
    std::string plural;
    std::string group;
    std::string ns;
    std::string name;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  class Handle;
  struct Watcher {
    const client::Resource* resource = nullptr;
    std::string ns;
    client::WatchSink* sink = nullptr;
  };
  struct Held {
    const client::Resource* resource = nullptr;
    client::WatchEvent event;
    std::function<void(const base::Result<void>&)> durable;
  };
  using Undo = std::map<Key, client::Item>;

  static Key KeyOf(const client::Resource& resource, std::string_view ns, std::string_view name);
  base::Result<client::Item> Dispatch(const client::Request& request);
  base::Result<client::Item> Create(const client::Request& request);
  base::Result<client::Item> Bind(const client::Request& request);
  base::Result<client::Item> Update(const client::Request& request);
  base::Result<client::Item> Patch(const client::Request& request);
  base::Result<client::Item> Delete(const client::Request& request);
  base::Result<client::Item> DeleteAll(const client::Request& request);
  base::Result<client::Item> Store(const client::Request& request,
                                   const text::Value& value,
                                   bool is_new);
  void Publish(const client::Resource& resource,
               client::EventType type,
               client::Item item,
               client::ObjectRef previous,
               std::function<void(const base::Result<void>&)> durable);
  [[nodiscard]] client::AnyView FindView(const client::Resource& resource,
                                         std::string_view ns,
                                         std::string_view name) const;
  [[nodiscard]] std::vector<client::AnyView> AllViews(const client::Resource& resource,
                                                      std::string_view ns) const;

  const base::Clock& clock_;
  mutable std::recursive_mutex mutex_;
  base::Random random_{7};
  std::map<Key, client::Item> objects_;
  Undo durable_;
  client::Revision revision_ = 1;
  std::vector<Watcher*> watchers_;
  bool holding_ = false;
  std::vector<Held> held_;
  std::vector<Held> log_;  // all durable events, for watches that start in the past
  std::function<base::Result<void>(const client::Request&)> rule_;
  std::uint64_t writes_ = 0;
  std::uint64_t reads_ = 0;
};

/// A client that behaves like one over HTTP: not local, every write durable when it returns.
class RemoteClient final : public client::Client {
 public:
  explicit RemoteClient(client::Backend& backend) : backend_(backend) {}
  base::Result<client::Item> Do(const client::Request& request) override;
  base::Result<client::ListAnswer> List(const client::Resource& resource,
                                        std::string_view ns,
                                        const client::ListOptions& options) override;
  base::Result<std::unique_ptr<client::WatchHandle>> Watch(const client::Resource& resource,
                                                           std::string_view ns,
                                                           const client::WatchOptions& options,
                                                           client::WatchSink& sink) override;
  [[nodiscard]] bool is_local() const override { return false; }

 private:
  client::Backend& backend_;
};

}  // namespace allot::testing
