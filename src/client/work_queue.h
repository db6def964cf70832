// WorkQueue: keys to reconcile, each at most once in the queue, with back-off for failures.
//
// As client-go's rate-limited queue: a key added while it waits is merged, a key added while it is
// being reconciled comes again afterwards, a failed key returns after 5 ms * 2^failures (at most
// 1000 s), a succeeded one starts afresh. The queue runs on its Loop, a bounded number of keys a
// turn. Thread safety: the loop's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/status.h"
#include "client/loop.h"

namespace allot::client {

class WorkQueue {
 public:
  /// Brings the object under `key` in order; an error means "again, later".
  using Reconcile = std::function<base::Result<void>(const std::string& key)>;

  struct Options {
    std::chrono::nanoseconds first_delay = std::chrono::milliseconds(5);
    std::chrono::nanoseconds max_delay = std::chrono::seconds(1000);
    /// Keys reconciled in one turn of the loop before events are looked at again.
    int per_turn = 256;
  };

  /// What the metrics workqueue_* show.
  struct Stats {
    std::uint64_t adds = 0;
    std::uint64_t retries = 0;
    std::uint64_t done = 0;
    std::chrono::nanoseconds work{0};
  };

  /// REQUIRES: loop outlives the queue; made before the loop runs.
  WorkQueue(Loop& loop, std::string name, Reconcile reconcile, Options options);
  WorkQueue(Loop& loop, std::string name, Reconcile reconcile)
      : WorkQueue(loop, std::move(name), std::move(reconcile), Options()) {}
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  void Add(std::string_view key);
  void AddAfter(std::string_view key, std::chrono::nanoseconds delay);

  /// Keys wait while `ready` says no (informers not in sync yet).
  void RunWhen(std::function<bool()> ready) { ready_ = std::move(ready); }
  /// Called with every error of Reconcile (logging, metrics).
  void OnError(std::function<void(const std::string& key, const base::Status&)> handler) {
    on_error_ = std::move(handler);
  }

  [[nodiscard]] std::size_t depth() const { return order_.size(); }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const Stats& stats() const { return stats_; }

 private:
  bool ProcessSome();
  void Retry(const std::string& key);

  Loop& loop_;
  std::string name_;
  Reconcile reconcile_;
  Options options_;
  std::deque<std::string> order_;
  std::unordered_set<std::string> waiting_;
  std::unordered_map<std::string, base::MonoTime> delayed_;  ///< earliest pending AddAfter
  std::unordered_map<std::string, int> failures_;
  std::function<void(const std::string&, const base::Status&)> on_error_;
  std::function<bool()> ready_;
  Stats stats_;
};

}  // namespace allot::client
