// WatchHub: the watches of HTTP clients, fed from the store's event windows.
//
// Watchers with equal resource, namespace, selectors and form make a group: events are filtered and
// framed once a group, and all its up-to-date watchers send the same bytes. A watcher that starts,
// or that has fallen behind because its peer reads slowly, catches up alone from its own cursor and
// joins the group again; one that falls off the event window gets a 410. Thread safety: loop thread
// only, except Wake.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "apiserver/fields.h"
#include "apiserver/negotiate.h"
#include "apiserver/resources.h"
#include "apiserver/wire.h"
#include "base/clock.h"
#include "net/http.h"
#include "net/loop.h"
#include "store/store.h"
#include "telemetry/metrics.h"

namespace allot::apiserver {

struct WatchRequest {
  const Resource* resource = nullptr;
  Filter filter;
  /// What makes two filters equal: namespace, label text, field text.
  std::string filter_key;
  MediaChoice choice;
  IncludeObject include = IncludeObject::kMetadata;
  /// Events after this revision; absent: the current state as ADDED events first.
  std::optional<store::Revision> after;
  bool bookmarks = false;
  /// Send the bookmark that ends the initial events.
  bool initial_bookmark = false;
  /// The first bookmark, whenever it comes, carries the mark that ends the initial events.
  bool mark_first_bookmark = false;
  std::chrono::seconds timeout{0};
};

class WatchHub {
 public:
  /// Events up to `oldest` cannot be watched from (what happened before the server was ready).
  WatchHub(store::Store& store,
           net::Loop& loop,
           const base::Clock& clock,
           telemetry::Registry& metrics);
  WatchHub(const WatchHub&) = delete;
  WatchHub& operator=(const WatchHub&) = delete;
  ~WatchHub();

  /// Watches from before this revision are answered with 410.
  void SetOldest(store::Revision oldest) { oldest_ = oldest; }
  /// Begins to answer `writer` with events. Headers are sent at once.
  void Add(WatchRequest request,
           std::shared_ptr<net::ResponseWriter> writer,
           const net::HeaderList& headers);
  /// Ends all watches.
  void CloseAll();

  /// Calls `task` (on the loop) once `revision` is durable, or with false after `timeout`.
  void WhenDurable(store::Revision revision,
                   std::chrono::milliseconds timeout,
                   std::function<void(bool reached)> task);

  /// Tells the hub that the store has published. Thread safety: any thread.
  void Wake();

 private:
  struct Group;
  struct Watcher;
  struct Channel;
  struct Waiter;
  using WatcherRef = std::shared_ptr<Watcher>;

  Group& GroupOf(const WatchRequest& request);
  void Pump();
  void PumpChannel(Channel& channel);
  void SendToGroup(Group& group,
                   const std::vector<store::Event>& events,
                   store::Revision from,
                   store::Revision complete);
  void SendAlone(Watcher& watcher,
                 const std::vector<store::Event>& events,
                 store::Revision complete);
  /// Sends what a watcher has not seen yet; joins it to the live ones when nothing is left.
  void CatchUp(const WatcherRef& watcher);
  bool SendInitial(Watcher& watcher);
  void ContinueLater(const WatcherRef& watcher);
  void SendBookmark(Watcher& watcher, store::Revision revision, bool initial_end);
  void SendError(Watcher& watcher, const base::Status& status);
  void Close(const WatcherRef& watcher);
  void Remove(Watcher& watcher);
  void OnDeadline(const WatcherRef& watcher);
  void BookmarkRound();
  [[nodiscard]] std::int64_t NowUnix() const;

  store::Store& store_;
  net::Loop& loop_;
  const base::Clock& clock_;
  store::Revision oldest_ = 0;
  std::atomic<bool> wake_posted_ = false;
  std::map<store::ResourceId, std::unique_ptr<Channel>> channels_;
  std::vector<std::unique_ptr<Waiter>> waiters_;
  net::Loop::TimerId bookmark_timer_ = 0;
  std::unique_ptr<store::Subscription> subscription_;
  /// Dropped first on destruction, so that tasks of the loop find nothing.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  telemetry::Gauge& watchers_gauge_;
  telemetry::Counter& events_counter_;
};

}  // namespace allot::apiserver
