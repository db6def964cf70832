// SchedulingQueue: which pod is tried next, and which event brings a waiting pod back.
//
// Pods are active (by priority, then age), in back-off, unschedulable, gated, or in flight. An
// unschedulable pod remembers what could help it, and sits in a group with all pods of equal shape:
// an event tries the first of each group alone; the next follows when that one was placed. So an
// event costs O(groups), not O(pods), and a device that becomes free wakes one pod of a thousand
// equal ones. Thread safety: one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.h"
#include "client/client.h"

namespace allot::scheduler {

/// What may make an unschedulable pod fit. A set of bits.
using Waits = std::uint32_t;
inline constexpr Waits kWaitsNode = 1;       ///< nodes added or changed
inline constexpr Waits kWaitsResources = 2;  ///< pods that leave nodes
inline constexpr Waits kWaitsDevices = 4;    ///< slices, classes, claims given back
inline constexpr Waits kWaitsAll = 7;

enum class PodState : std::uint8_t { kActive, kBackoff, kUnschedulable, kGated, kInFlight };

struct QueuedPod {
  std::string uid;
  client::ObjectRef object;
  std::int32_t priority = 0;
  PodState state = PodState::kActive;
  int attempts = 0;          ///< tries so far
  base::MonoTime entered{};  ///< first seen ready to be tried: the SLI clock
  base::MonoTime queued{};   ///< last put into the active queue: the order of equals
  base::MonoTime failed{};   ///< end of the last failed try
  base::MonoTime ready{};    ///< end of the back-off
  bool by_error = false;     ///< the last try ended with an error, not with "does not fit"
  Waits waits = 0;
  std::string group;  ///< equal for pods of equal shape; set when unschedulable
};

class SchedulingQueue {
 public:
  struct Options {
    std::chrono::nanoseconds initial_backoff = std::chrono::seconds(1);
    std::chrono::nanoseconds max_backoff = std::chrono::seconds(10);
    std::chrono::nanoseconds flush_after = std::chrono::minutes(5);
  };
  /// What the metrics scheduler_pending_pods and others show.
  struct Stats {
    std::uint64_t wakes = 0;        ///< events handed to Wake
    std::uint64_t groups_seen = 0;  ///< groups looked at for them
    std::uint64_t moved = 0;        ///< pods they brought back
    std::uint64_t flushed = 0;      ///< pods brought back by age alone: a lost wake-up when not 0
  };

  explicit SchedulingQueue(Options options) : options_(options) {}
  SchedulingQueue() : SchedulingQueue(Options()) {}

  /// A pod without node was seen, or changed. `gated`: it must not be tried now.
  /// Returns the record. Lifetime: until Remove.
  QueuedPod& Upsert(const client::ObjectRef& object,
                    std::int32_t priority,
                    bool gated,
                    base::MonoTime now);
  /// Null when it is not here.
  [[nodiscard]] QueuedPod* Find(std::string_view uid);
  void Remove(std::string_view uid, base::MonoTime now);

  /// The next pod to try, now in flight; null when there is none. When nothing is active, a pod
  /// that only waits out its back-off after "does not fit" is tried early, as upstream does.
  QueuedPod* Pop(base::MonoTime now);

  /// The pod was placed (it stays in flight until bound or failed): the next of its group may try.
  void Placed(QueuedPod& pod, base::MonoTime now);
  /// The pod does not fit. `group` names pods of equal shape ("" = alone of its kind).
  void Unschedulable(QueuedPod& pod, Waits waits, std::string group, base::MonoTime now);
  /// The try ended with an error: again after the back-off.
  void Failed(QueuedPod& pod, base::MonoTime now);
  /// The try took too long and is to be continued: after the first back-off, however often, but
  /// such pods take turns, one in each such time, so that they cannot hold up the others.
  void Unfinished(QueuedPod& pod, base::MonoTime now);

  /// Something happened that may help pods waiting for any of `what`. Cost: O(groups).
  void Wake(Waits what, base::MonoTime now);
  /// Something happened that concerns this pod alone.
  void WakePod(QueuedPod& pod, base::MonoTime now);
  void SetGated(QueuedPod& pod, bool gated, base::MonoTime now);

  /// Moves pods whose back-off or patience is over.
  void Tick(base::MonoTime now);
  /// When Tick has work next; max when never.
  [[nodiscard]] base::MonoTime NextDue() const;

  [[nodiscard]] bool HasActive() const { return !active_.empty(); }
  /// Whether Pop would give a pod.
  [[nodiscard]] bool HasWork() const { return !active_.empty() || !backoff_.empty(); }
  [[nodiscard]] std::size_t Count(PodState state) const;
  [[nodiscard]] std::size_t size() const { return pods_.size(); }
  [[nodiscard]] std::size_t groups() const { return groups_.size(); }
  [[nodiscard]] const Stats& stats() const { return stats_; }
  [[nodiscard]] const Options& options() const { return options_; }

 private:
  struct ActiveOrder {
    bool operator()(const QueuedPod* a, const QueuedPod* b) const;
  };
  struct ReadyOrder {
    bool operator()(const QueuedPod* a, const QueuedPod* b) const;
  };
  using Ordered = std::set<QueuedPod*, ActiveOrder>;
  struct Group {
    Waits waits = 0;
    Ordered waiting;
    /// A member that was woken for all and has not been decided yet; empty: none.
    std::string trying;
  };

  void Enter(QueuedPod& pod, PodState state, base::MonoTime now);
  void Leave(QueuedPod& pod);
  void Activate(QueuedPod& pod, base::MonoTime now);
  [[nodiscard]] std::set<QueuedPod*, ReadyOrder>& BackoffOf(const QueuedPod& pod) {
    return pod.by_error ? errors_ : backoff_;
  }
  [[nodiscard]] base::MonoTime ReadyAfter(const QueuedPod& pod, base::MonoTime now) const;
  void Pass(const std::string& group, std::string_view uid, base::MonoTime now);
  void WakeFirst(Group& group, base::MonoTime now);

  Options options_;
  std::unordered_map<std::string, std::unique_ptr<QueuedPod>> pods_;
  Ordered active_;
  std::set<QueuedPod*, ReadyOrder> backoff_;  // after "does not fit"
  std::set<QueuedPod*, ReadyOrder> errors_;   // after an error: never tried early
  base::MonoTime next_long_{};                // when the next long try may go on
  std::map<std::string, Group> groups_;
  std::set<std::pair<base::MonoTime, std::string>> unschedulable_;  // by time of failure
  std::size_t counts_[5] = {};
  Stats stats_;
};

}  // namespace allot::scheduler
