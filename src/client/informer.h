// Informer: all objects of one resource, kept current by list and watch, with handlers and indexes.
//
// Changes come in batches on the loop of the component; the store already shows the last state of
// the batch when handlers run. The store holds the encoded records that the watch cache holds too;
// typed views come with the changes and are let go some changes later. When the server has
// forgotten the last seen version the informer lists again and hands out the difference. Thread
// safety: the loop's thread; OnEvents and OnClosed from the client's.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "client/client.h"
#include "client/loop.h"

namespace allot::client {

struct Change {
  EventType type = EventType::kAdded;  ///< never kBookmark
  Item item;                           ///< with its view; kDeleted: the last known state
  ObjectRef old;                       ///< what the store held before; null for kAdded
};

class Informer final : private WatchSink {
 public:
  struct Options {
    std::string ns{};
    std::string label_selector{};
    std::string field_selector{};
  };
  using Handler = std::function<void(std::span<const Change>)>;
  /// Appends the index keys of an object.
  using KeysOf = std::function<void(const Item&, std::vector<std::string>&)>;

  /// REQUIRES: client and loop outlive the informer.
  Informer(Client& client, Loop& loop, const Resource& resource, Options options);
  Informer(Client& client, Loop& loop, const Resource& resource)
      : Informer(client, loop, resource, Options()) {}
  ~Informer() override;

  /// REQUIRES: before Start.
  void OnChanges(Handler handler) { handlers_.push_back(std::move(handler)); }
  /// Returns the number to ask ByIndex with; users of one name share one index. REQUIRES: before
  /// Start.
  int AddIndex(std::string_view name, KeysOf keys_of);

  /// Lists, hands everything out as kAdded, and watches. Failures are tried again with back-off.
  void Start();
  void Stop();
  [[nodiscard]] bool synced() const { return synced_; }
  /// Why the last list or watch failed; empty when it did not.
  [[nodiscard]] const std::string& last_error() const { return last_error_; }

  /// Null when there is none.
  [[nodiscard]] ObjectRef Find(std::string_view ns, std::string_view name) const;
  /// The same with its typed view, as long as the change that brought it is one of the newest.
  [[nodiscard]] Item FindItem(std::string_view ns, std::string_view name) const;
  [[nodiscard]] std::size_t size() const { return store_.size(); }
  void ForEach(const std::function<void(const ObjectRef&)>& visit) const;
  [[nodiscard]] std::vector<Item> ByIndex(int index, std::string_view key) const;

  [[nodiscard]] const Resource& resource() const { return resource_; }
  /// Work counters.
  [[nodiscard]] std::uint64_t lists() const { return lists_; }
  [[nodiscard]] std::uint64_t batches() const { return batches_; }
  [[nodiscard]] std::uint64_t decodes() const { return decodes_; }
  /// Records that could not be decoded and were left out.
  [[nodiscard]] std::uint64_t broken() const { return broken_; }

 private:
  struct Key {
    // Both point into the record that the entry holds, and move to the next one with it.
    mutable std::string_view ns;
    mutable std::string_view name;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      const std::hash<std::string_view> hash;
      return hash(key.ns) * 31 + hash(key.name);
    }
  };
  /// How many objects keep their typed view: handlers and reconciling look at what has just
  /// changed.
  static constexpr std::size_t kViews = 256;
  static constexpr std::size_t kNotViewed = kViews;
  /// Entries do not move while they live, so indexes point to them.
  struct Entry {
    Item item;                                   ///< its view is let go after kViews more changes
    std::vector<std::vector<std::string>> keys;  ///< by index
    std::size_t viewed = kNotViewed;             ///< its place in viewed_
  };
  using Store = std::unordered_map<Key, Entry, KeyHash>;
  struct Index {
    std::string name;
    KeysOf keys_of;
    std::unordered_map<std::string, std::unordered_set<const Entry*>> entries;
  };

  void OnEvents(const WatchBatch& batch) override;
  void OnClosed(const base::Status& why) override;
  void Relist();
  void StartWatch();
  void Later(void (Informer::*step)());
  void Apply(const std::vector<WatchEvent>& events);
  void Put(Store::iterator found, const Item& item);
  void Erase(Store::iterator found);
  void Reindex(Entry& entry);
  void Unindex(Index& index, const std::string& key, const Entry* entry);
  void KeepView(Entry& entry);
  void ForgetView(Entry& entry);
  void Commit(std::vector<Change> changes);
  bool Decode(Item& item);

  Client& client_;
  Loop& loop_;
  const Resource& resource_;
  Options options_;
  std::vector<Handler> handlers_;
  std::vector<Index> indexes_;
  Store store_;
  std::array<Entry*, kViews> viewed_{};  ///< a ring; null: free, or its entry changed again
  std::size_t next_viewed_ = 0;
  std::unique_ptr<WatchHandle> watch_;
  /// Tasks posted for an earlier watch, or for a destroyed informer, must do nothing.
  std::shared_ptr<std::uint64_t> epoch_;
  std::uint64_t watch_epoch_ = 0;
  Revision revision_ = 0;
  bool synced_ = false;
  int failures_ = 0;
  std::string last_error_;
  std::uint64_t lists_ = 0;
  std::uint64_t batches_ = 0;
  std::uint64_t decodes_ = 0;
  std::uint64_t broken_ = 0;
};

}  // namespace allot::client
