// LocalStore: the parts of OpenLocal's store. Inside the store; see local_store.h for what it does.
//
// Locks, in the order they may be taken: adding_ (resources), head_mutex_ (sequencer), view_mutex_
// (durable state). subscribers have their own. No lock is held over the log or a callback, except
// that of the subscribers over their wake functions. Fields without a lock named belong to the
// writer thread once it runs.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "store/dead_rows.h"
#include "store/entry_maker.h"
#include "store/event_window.h"
#include "store/head_index.h"
#include "store/local_store.h"
#include "store/log.h"
#include "store/pool.h"
#include "store/store.h"
#include "store/tree.h"

namespace allot::store {

class LocalStore final : public Store {
 public:
  LocalStore(std::unique_ptr<Log> log, LocalOptions options);
  ~LocalStore() override;

  /// Reads the log; then Start. Both once, by the opener.
  base::Result<void> Load();
  void Start();

  base::Result<ResourceId> AddResource(std::string_view path) override;
  base::Result<base::Ref<const Entry>> Commit(Op op,
                                              CommitSink* sink,
                                              std::uint64_t token) override;
  [[nodiscard]] base::Ref<const Entry> ReadHead(const Key& key) const override;
  [[nodiscard]] Snapshot TakeSnapshot(ResourceId resource) const override;
  base::Result<Snapshot> SnapshotAt(ResourceId resource, Revision revision) override;
  void KeepSnapshot(ResourceId resource, const Snapshot& snapshot) override;
  base::Result<Revision> EventsSince(ResourceId resource,
                                     Revision after,
                                     std::vector<Event>& out,
                                     std::size_t limit) const override;
  [[nodiscard]] Revision durable() const override {
    return durable_.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::unique_ptr<Subscription> Subscribe(
      std::vector<ResourceId> resources, std::function<void(const Published&)> wake) override;
  void Compact(Revision revision) override;
  [[nodiscard]] StoreStats stats() const override;
  void Stop() override;

 private:
  static constexpr std::size_t kMaxResources = 4096;
  static constexpr ResourceId kUnclaimed{0xffff};

  enum class State : std::uint8_t { kRunning, kNoSpace, kFailed, kStopped };
  enum class Refusal : std::uint8_t { kNone, kExists, kMissing, kConflict, kBusy, kState };

  struct Resource {
    Resource(ResourceId i, std::string p, std::string pre, Revision floor)
        : id(i), path(std::move(p)), prefix(std::move(pre)), window(floor) {}

    const ResourceId id;
    const std::string path;
    const std::string prefix;             // of the keys in the log
    base::Ref<const TreeNode> root;       // view_mutex_; changed by the writer only
    EventWindow window;                   // view_mutex_; changed by the writer only
    std::optional<TreeEditor> editor;     // during one publish
    base::Ref<const TreeNode> next_root;  // during one publish
  };

  // A sequenced write on its way to the log.
  struct Pending {
    base::Ref<const Entry> entry;
    base::Ref<const Entry> previous;
    CommitSink* sink = nullptr;
    std::uint64_t token = 0;
  };

  struct Subscriber;
  struct Subscribers;
  struct Kept {
    ResourceId resource{};
    Snapshot snapshot;
  };
  struct Metrics;

  // local_store.cc
  [[nodiscard]] Resource* Find(ResourceId id) const;
  [[nodiscard]] static Refusal Check(const Op& op, const Entry* head);
  [[nodiscard]] base::Status RefusalStatus(Refusal refusal, const Op& op, State state) const;
  [[nodiscard]] static base::Status StateStatus(State state);
  base::Result<Snapshot> RollBack(const Resource& resource, Revision revision);

  // local_load.cc
  base::Result<void> LoadRow(const LogRow& row, HeadIndex& newest);
  base::Result<base::Ref<const Entry>> Claim(const Entry& loaded, Resource& resource);
  base::Result<void> ClaimRows(Resource& resource);
  void ClaimEvents(Resource& resource);
  base::Result<void> CheckPath(std::string_view path) const;

  // local_writer.cc
  void Run();
  bool Wait(bool more);
  void CommitTaken();
  std::size_t TakeBatch();
  void Publish(std::span<Pending> batch);
  void PublishViews(std::span<Pending> batch);
  void ForgetRemoved(std::span<const Pending> batch);
  void Deliver(std::span<Pending> batch, const base::Status* error);
  void Fail(const LogFailure& failure);
  void GoFatal(const LogFailure& failure);
  void TryAgain();
  bool Housekeep(bool idle);
  void ApplyCompaction(Revision revision);
  bool CompactChunk(bool idle);
  void ReleaseEvicted();
  void ReportSize(base::MonoTime now);

  LocalOptions options_;
  std::unique_ptr<Log> log_;
  Pool::Owner entries_ = Pool::Make();
  Pool::Owner nodes_ = Pool::Make();

  std::mutex adding_;
  std::vector<std::unique_ptr<Resource>> owned_;   // adding_
  std::vector<base::Ref<const Entry>> unclaimed_;  // adding_; by key as in the log
  std::vector<Event> unclaimed_events_;            // adding_; by revision
  std::uint64_t unclaimed_event_bytes_ = 0;        // while loading
  Revision loaded_floor_ = 0;                      // events after it were loaded
  std::array<std::atomic<Resource*>, kMaxResources> resources_{};
  std::atomic<std::size_t> resource_count_{0};

  mutable std::mutex head_mutex_;
  std::condition_variable writer_wake_;
  HeadIndex head_;                 // head_mutex_
  Revision next_ = 0;              // head_mutex_: the last revision given out
  std::vector<Pending> queue_;     // head_mutex_
  std::uint64_t queue_bytes_ = 0;  // head_mutex_: sequenced and neither durable nor failed
  State state_ = State::kRunning;  // head_mutex_
  bool stop_ = false;              // head_mutex_
  bool writer_waits_ = false;      // head_mutex_
  Revision compact_wanted_ = 0;    // head_mutex_

  mutable std::mutex view_mutex_;
  std::atomic<Revision> durable_{0};    // changed under view_mutex_
  std::atomic<Revision> compacted_{0};  // changed under view_mutex_
  std::vector<Kept> kept_;              // view_mutex_; oldest first

  std::shared_ptr<Subscribers> subscribers_;

  std::vector<Pending> taken_;
  std::size_t committed_ = 0;  // of taken_
  std::vector<LogRow> rows_;
  std::string row_keys_;
  std::vector<Resource*> touched_;
  std::vector<ResourceId> touched_ids_;
  std::vector<Event> evicted_;
  std::vector<base::Ref<const Entry>> aged_;
  std::vector<base::Ref<const Entry>> removed_;
  std::vector<std::pair<CommitSink*, std::vector<CommitOutcome>>> outcomes_;
  std::vector<Revision> chunk_;
  DeadRows dead_;
  std::uint64_t compact_allowance_ = 0;
  base::MonoTime size_reported_{};
  bool warned_ = false;

  std::atomic<std::uint64_t> writes_{0};
  std::atomic<std::uint64_t> batches_{0};
  std::atomic<std::uint64_t> failed_{0};
  std::atomic<std::uint64_t> wakes_{0};
  std::atomic<std::uint64_t> dead_count_{0};
  std::atomic<std::uint64_t> dead_bytes_{0};
  std::unique_ptr<Metrics> metrics_;
  std::thread writer_;
};

struct LocalStore::Subscriber final : Subscription {
  Subscriber(std::shared_ptr<Subscribers> l,
             std::vector<ResourceId> r,
             std::function<void(const Published&)> w);
  ~Subscriber() override;

  std::shared_ptr<Subscribers> list;
  std::vector<ResourceId> resources;  // sorted; empty: all
  std::function<void(const Published&)> wake;
};

struct LocalStore::Subscribers {
  /// Returns how many were woken.
  std::uint64_t Wake(Revision durable, const std::vector<ResourceId>& touched);

  std::mutex mutex;
  std::vector<Subscriber*> all;
  std::vector<ResourceId> hits;
};

struct LocalStore::Metrics {
  explicit Metrics(telemetry::Registry& r);

  telemetry::Registry& registry;
  telemetry::Gauge& revision;
  telemetry::Counter& writes;
  telemetry::Counter& failed;
  telemetry::Histogram& batch_rows;
  telemetry::Histogram& commit_seconds;
  telemetry::Gauge& dead_rows;
  telemetry::Gauge& bytes;
  telemetry::Gauge& free_bytes;
  telemetry::Gauge& wal_bytes;
  telemetry::Gauge& out_of_space;
  telemetry::Counter& compacted_rows;
};

}  // namespace allot::store
