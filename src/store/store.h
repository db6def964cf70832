// Store: a sequence of revisions, the durable state it leads to, and the events in between.
//
// Two views. Durable: what the log has synced; snapshots, events and progress show only this. Head:
// durable plus the few writes that are sequenced but not yet synced; only for the read-modify-write
// of a write request (ReadHead, then Commit with the revision read as precondition).
// A write is checked and gets its revision in the sequencer (any thread, one short lock); the
// writer thread puts everything that waits into one commit of the log, publishes it (tree, ring),
// wakes the subscribers once, and then tells the commit sinks. Thread safety: any thread, except
// where a callback says otherwise.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ref.h"
#include "base/status.h"
#include "store/entry.h"
#include "store/snapshot.h"
#include "store/value.h"

namespace allot::store {

/// Preconditions of Op::expected other than an exact revision.
inline constexpr Revision kAny = -1;
inline constexpr Revision kAbsent = 0;

/// When a blocking commit returns.
enum class Ack : std::uint8_t {
  kSequenced,  ///< the revision is assigned; only allowed when another write through the store
               ///< follows
  kDurable,    ///< synced and visible to all readers
};

/// One write.
struct Op {
  Key key;
  /// The new state. For a deletion: the last state to show in the event; empty takes the stored
  /// one.
  Value value{};
  /// Comes back as attachment Entry::kTyped of the event, so that nobody decodes what the writer
  /// had.
  std::shared_ptr<const void> typed{};
  /// The revision the key must have at head; kAbsent: it must not exist; kAny: no condition.
  Revision expected = kAny;
  bool remove = false;
};

/// What became of one sequenced write.
struct CommitOutcome {
  std::uint64_t token = 0;
  base::Ref<const Entry> entry;
  /// Null: durable and visible. Otherwise nothing was written. Lifetime: the call.
  const base::Status* error = nullptr;
};

/// Takes the outcomes of commits, in order of revision, all of one batch in one call.
/// Thread safety: called on the writer thread; must not block and must not commit and wait.
class CommitSink {
 public:
  virtual ~CommitSink() = default;
  virtual void OnCommitted(std::span<const CommitOutcome> outcomes) = 0;
};

/// What a subscriber is told, once per published batch.
struct Published {
  Revision durable = 0;
  /// The resources of the subscription that changed, each once. Lifetime: the call.
  std::span<const ResourceId> resources;
};

/// Keeps a subscription alive; once destroyed, the wake function runs no more.
class Subscription {
 public:
  virtual ~Subscription() = default;
};

/// A picture of the store for metrics, tests and reports.
struct StoreStats {
  Revision head = 0;
  Revision durable = 0;
  Revision compacted = 0;
  std::uint64_t keys = 0;
  std::uint64_t queued = 0;     ///< sequenced, not yet taken by the writer
  std::uint64_t dead_rows = 0;  ///< superseded rows the log still holds
  std::uint64_t dead_bytes = 0;
  std::uint64_t writes = 0;   ///< durable writes since the start
  std::uint64_t batches = 0;  ///< log commits of writes since the start: one sync each
  std::uint64_t failed = 0;   ///< writes that were sequenced and then failed
  std::uint64_t wakes = 0;    ///< subscriber calls
  bool out_of_space = false;
};

class Store {
 public:
  virtual ~Store() = default;

  /// The id of the resource whose keys are logged under `/registry/<path>/`, for example "pods" or
  /// "example.com/widgets"; the same path gives the same id. Rows of the path found in the log come
  /// to life with the first call. Errors: BadRequest for a path that lies inside another
  /// resource's.
  virtual base::Result<ResourceId> AddResource(std::string_view path) = 0;

  /// Checks the precondition at head, assigns the next revision and queues the write; returns its
  /// entry, not yet visible to readers. `sink` (may be null) hears the outcome with `token`.
  /// Errors: AlreadyExists (kAbsent, key exists), NotFound (removal or exact revision of a missing
  /// key), Conflict (other revision), InternalError (no space, stopped); then nothing was queued
  /// and the sink hears nothing. Lifetime: the sink outlives its outcomes.
  virtual base::Result<base::Ref<const Entry>> Commit(Op op,
                                                      CommitSink* sink,
                                                      std::uint64_t token) = 0;

  /// The newest entry of the key, durable or not; null when it does not exist at head.
  [[nodiscard]] virtual base::Ref<const Entry> ReadHead(const Key& key) const = 0;

  /// The durable state now. Cost: O(1).
  [[nodiscard]] virtual Snapshot TakeSnapshot(ResourceId resource) const = 0;
  /// The durable state at exactly `revision`, from the kept snapshots or by walking the event
  /// window back. Errors: Expired when it is older than both reach; Timeout when it is not durable
  /// yet.
  virtual base::Result<Snapshot> SnapshotAt(ResourceId resource, Revision revision) = 0;
  /// Keeps a snapshot for later SnapshotAt calls (continue tokens) until compaction passes it or
  /// newer ones push it out.
  virtual void KeepSnapshot(ResourceId resource, const Snapshot& snapshot) = 0;

  /// Appends to `out` the durable events of the resource after `after`, in order, at most `limit`.
  /// Returns the revision up to which the answer is complete: the next `after`, and the progress
  /// for a bookmark. Errors: Expired when events after `after` have left the window.
  virtual base::Result<Revision> EventsSince(ResourceId resource,
                                             Revision after,
                                             std::vector<Event>& out,
                                             std::size_t limit) const = 0;
  /// The last revision that readers can see. Monotonic.
  [[nodiscard]] virtual Revision durable() const = 0;

  /// Calls `wake` on the writer thread once per published batch that changed one of `resources`
  /// (empty: any). `wake` should post to a mailbox; it must not block or touch subscriptions.
  [[nodiscard]] virtual std::unique_ptr<Subscription> Subscribe(
      std::vector<ResourceId> resources, std::function<void(const Published&)> wake) = 0;

  /// Gives up history up to `revision` (at most the durable one): older snapshots and events
  /// expire, dead rows are deleted in the background. Happens by itself after the retention.
  virtual void Compact(Revision revision) = 0;
  [[nodiscard]] virtual StoreStats stats() const = 0;

  /// Commits what is queued, refuses further writes, ends the writer thread. Reads go on.
  virtual void Stop() = 0;

  /// As Commit, but waits as `ack` says. REQUIRES: not on the writer thread.
  base::Result<base::Ref<const Entry>> CommitAndWait(Op op, Ack ack = Ack::kDurable);
};

}  // namespace allot::store
