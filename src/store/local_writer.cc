// The writer thread of the local store: commit, publish, tell, compact.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include <unistd.h>

#include "base/clock.h"
#include "store/local_impl.h"

namespace allot::store {
namespace {

constexpr auto kTick =
    std::chrono::seconds(1);  // between looks at the retention while rows are dead
constexpr int kFatalExit = 70;

}  // namespace

LocalStore::Metrics::Metrics(telemetry::Registry& r)
    : registry(r),
      revision(r.GetGauge("allot_store_revision", "Last durable revision.")),
      writes(r.GetCounter("allot_store_writes_total", "Durable writes.")),
      failed(r.GetCounter("allot_store_failed_writes_total",
                          "Writes that were sequenced and could not be made durable.")),
      batch_rows(r.GetHistogram("allot_store_batch_rows",
                                "Writes made durable with one sync.",
                                telemetry::ExponentialBounds(1, 2, 11))),
      commit_seconds(r.GetHistogram("allot_store_commit_seconds",
                                    "Time of one log commit, sync included.",
                                    telemetry::ExponentialBounds(50e-6, 2, 16))),
      dead_rows(r.GetGauge("allot_store_dead_rows", "Superseded rows the log still holds.")),
      bytes(r.GetGauge("allot_store_bytes", "Size of the main file.")),
      free_bytes(r.GetGauge("allot_store_free_bytes", "Unused part of the main file.")),
      wal_bytes(r.GetGauge("allot_store_wal_bytes", "Write-ahead log in use.")),
      out_of_space(r.GetGauge("allot_store_out_of_space", "1 while writes are refused.")),
      compacted_rows(r.GetCounter("allot_store_compacted_rows_total", "Dead rows deleted.")) {}

void LocalStore::Run() {
  std::optional<telemetry::ThreadCpuScope> cpu;
  if (metrics_ != nullptr) {
    cpu.emplace(metrics_->registry, "writer");
  }
  bool more = true;
  while (Wait(more)) {
    if (!taken_.empty()) {
      CommitTaken();
    }
    TryAgain();
    bool idle = false;
    {
      const std::lock_guard lock(head_mutex_);
      idle = queue_.empty();
    }
    more = Housekeep(idle);
  }
}

// Takes what is queued; without work, waits for it. `more`: there is housekeeping left, do not
// wait. False when the store stops and nothing is queued.
bool LocalStore::Wait(bool more) {
  std::unique_lock lock(head_mutex_);
  if (queue_.empty() && !stop_ && !more && compact_wanted_ <= compacted_.load()) {
    writer_waits_ = true;
    const auto woken = [this] {
      return !writer_waits_;
    };
    if (state_ == State::kNoSpace) {
      writer_wake_.wait_for(lock, options_.probe_interval, woken);
    } else if (dead_.size() > 0) {
      writer_wake_.wait_for(lock, kTick, woken);
    } else {
      writer_wake_.wait(lock, woken);
    }
    writer_waits_ = false;
  }
  taken_.swap(queue_);
  return !taken_.empty() || !stop_;
}

void LocalStore::CommitTaken() {
  while (committed_ < taken_.size()) {
    const std::size_t end = TakeBatch();
    const std::span<Pending> batch = std::span(taken_).subspan(committed_, end - committed_);
    const base::MonoTime start = options_.clock->Monotonic();
    if (const auto done = log_->Append(rows_); !done) {
      Fail(done.error());
      return;
    }
    const auto took = options_.clock->Monotonic() - start;
    batches_.fetch_add(1, std::memory_order_relaxed);
    writes_.fetch_add(batch.size(), std::memory_order_relaxed);
    if (metrics_ != nullptr) {
      metrics_->commit_seconds.Observe(base::Seconds(took));
      metrics_->batch_rows.Observe(static_cast<double>(batch.size()));
      metrics_->writes.Add(batch.size());
    }
    Publish(batch);
    committed_ = end;
    if (committed_ < taken_.size()) {
      Housekeep(/*idle=*/false);
    }
  }
  taken_.clear();
  committed_ = 0;
}

// Makes rows_ of the next taken writes that fit into one commit; returns their end.
std::size_t LocalStore::TakeBatch() {
  const std::size_t begin = committed_;
  const std::size_t limit = std::min<std::size_t>(taken_.size(), begin + options_.batch_rows);
  std::uint64_t bytes = 0;
  std::size_t key_bytes = 0;
  std::size_t end = begin;
  while (end < limit && (end == begin || bytes < options_.batch_bytes)) {
    const Entry& entry = *taken_[end].entry;
    bytes += entry.memory();
    key_bytes += Find(entry.resource())->prefix.size() + entry.key().size();
    ++end;
  }
  rows_.clear();
  row_keys_.clear();
  row_keys_.reserve(key_bytes);  // the rows point into it
  for (std::size_t i = begin; i < end; ++i) {
    const Entry& entry = *taken_[i].entry;
    const std::size_t at = row_keys_.size();
    row_keys_ += Find(entry.resource())->prefix;
    row_keys_ += entry.key();
    LogRow& row = rows_.emplace_back();
    row.revision = entry.revision();
    row.created = entry.created();
    row.key = std::string_view(row_keys_).substr(at);
    if (!entry.deleted()) {
      row.value = entry.value().bytes();
    }
  }
  return end;
}

void LocalStore::Publish(std::span<Pending> batch) {
  const Revision last = batch.back().entry->revision();
  PublishViews(batch);
  if (metrics_ != nullptr) {
    metrics_->revision.Set(static_cast<double>(last));
  }
  ForgetRemoved(batch);
  touched_ids_.clear();
  for (const Resource* const resource : touched_) {
    touched_ids_.push_back(resource->id);
  }
  wakes_.fetch_add(subscribers_->Wake(last, touched_ids_), std::memory_order_relaxed);
  Deliver(batch, nullptr);
}

// Makes the batch visible: trees and windows of all resources and the durable revision at once.
void LocalStore::PublishViews(std::span<Pending> batch) {
  touched_.clear();
  for (const Pending& write : batch) {
    const Entry& entry = *write.entry;
    Resource* const resource = Find(entry.resource());
    if (!resource->editor) {
      resource->editor.emplace(*nodes_, resource->root);
      touched_.push_back(resource);
    }
    if (write.previous) {
      dead_.Add(entry.revision(), write.previous->revision(), write.previous->memory());
    }
    if (entry.deleted()) {
      resource->editor->Erase(entry.key());
      // After the row it deleted: a crash between two chunks must not bring that one back to life.
      dead_.Add(entry.revision(), entry.revision(), entry.key().size());
    } else {
      resource->editor->Put(entry);
    }
  }
  for (Resource* const resource : touched_) {
    resource->next_root = resource->editor->Finish();
    resource->editor.reset();
  }
  {
    const std::lock_guard lock(view_mutex_);
    for (Pending& write : batch) {
      Find(write.entry->resource())->window.Append({write.entry, std::move(write.previous)});
    }
    for (Resource* const resource : touched_) {
      std::swap(resource->root, resource->next_root);
      resource->window.Trim(options_.window_bytes, compacted_.load(), evicted_);
    }
    durable_.store(batch.back().entry->revision(), std::memory_order_release);
  }
  for (Resource* const resource : touched_) {
    resource->next_root = nullptr;
    resource->window.Age(options_.window_attachments, aged_);
  }
  ReleaseEvicted();
}

// Drops what left the windows, outside the lock.
void LocalStore::ReleaseEvicted() {
  for (const Event& event : evicted_) {
    EntryMaker::CloseWindow(*event.entry);
  }
  for (const auto& entry : aged_) {
    EntryMaker::CloseWindow(*entry);
  }
  evicted_.clear();
  aged_.clear();
}

// The head index keeps deleted keys only until the deletion is durable.
void LocalStore::ForgetRemoved(std::span<const Pending> batch) {
  {
    const std::lock_guard lock(head_mutex_);
    for (const Pending& write : batch) {
      const Entry& entry = *write.entry;
      queue_bytes_ -= entry.memory();
      const Key key{entry.resource(), entry.key()};
      if (entry.deleted() && head_.Find(key, EntryMaker::HashOf(entry)) == &entry) {
        removed_.push_back(head_.Erase(key, EntryMaker::HashOf(entry)));
      }
    }
  }
  removed_.clear();
}

// Tells the sinks, each in one call.
void LocalStore::Deliver(std::span<Pending> batch, const base::Status* error) {
  std::size_t used = 0;
  for (Pending& write : batch) {
    if (write.sink == nullptr) {
      continue;
    }
    std::size_t at = 0;
    while (at < used && outcomes_[at].first != write.sink) {
      ++at;
    }
    if (at == used) {
      if (used == outcomes_.size()) {
        outcomes_.emplace_back();
      }
      outcomes_[used++].first = write.sink;
    }
    outcomes_[at].second.push_back({write.token, std::move(write.entry), error});
  }
  for (std::size_t at = 0; at < used; ++at) {
    outcomes_[at].first->OnCommitted(outcomes_[at].second);
    outcomes_[at].second.clear();
  }
}

// Fails the taken writes that are not committed and everything sequenced after them: they were
// checked against a head that will not come true. Their revisions are never used again.
void LocalStore::Fail(const LogFailure& failure) {
  const bool fatal = failure.kind == LogFailure::Kind::kUnknown;
  const State state = fatal ? State::kFailed : State::kNoSpace;
  {
    const std::lock_guard lock(head_mutex_);
    state_ = stop_ && !fatal ? State::kStopped : state;
  }
  if (fatal) {
    GoFatal(failure);
  } else {
    options_.logger.Error("no space for the log: writes are refused until there is some",
                          {{"err", failure.message}});
  }
  {
    const std::lock_guard lock(head_mutex_);
    std::ranges::move(queue_, std::back_inserter(taken_));
    queue_.clear();
    for (std::size_t i = committed_; i < taken_.size(); ++i) {
      const Entry& entry = *taken_[i].entry;
      queue_bytes_ -= entry.memory();
      const Snapshot durable(Find(entry.resource())->root, 0);
      const Entry* const before = durable.Find(entry.key());
      removed_.push_back(before != nullptr ? head_.Put(base::Ref<const Entry>::Share(before))
                                           : head_.Erase({entry.resource(), entry.key()},
                                                         EntryMaker::HashOf(entry)));
    }
  }
  removed_.clear();
  const std::span<Pending> failed = std::span(taken_).subspan(committed_);
  failed_.fetch_add(failed.size(), std::memory_order_relaxed);
  if (metrics_ != nullptr) {
    metrics_->failed.Add(failed.size());
    metrics_->out_of_space.Set(fatal ? 0 : 1);
  }
  const base::Status error = StateStatus(state);
  Deliver(failed, &error);
  taken_.clear();
  committed_ = 0;
}

// The log may or may not hold what it was asked to write; only reading it again can tell.
void LocalStore::GoFatal(const LogFailure& failure) {
  options_.logger.Error("the log failed and its state is unknown: ending, a restart will tell",
                        {{"err", failure.message}});
  options_.logger.Flush();
  if (!options_.on_fatal) {
    ::_exit(kFatalExit);
  }
  options_.on_fatal(base::Status(base::Reason::kInternalError, failure.message));
}

// Out of space: looks whether there is some again.
void LocalStore::TryAgain() {
  {
    const std::lock_guard lock(head_mutex_);
    if (state_ != State::kNoSpace) {
      return;
    }
  }
  if (const auto done = log_->Probe(); !done) {
    if (done.error().kind == LogFailure::Kind::kUnknown) {
      Fail(done.error());
    }
    return;
  }
  {
    const std::lock_guard lock(head_mutex_);
    state_ = stop_ ? State::kStopped : State::kRunning;
  }
  options_.logger.Info("the log has space again: writes go on");
  if (metrics_ != nullptr) {
    metrics_->out_of_space.Set(0);
  }
}

// Compaction and upkeep of the log between two batches. Returns true when more is left to do at
// once.
bool LocalStore::Housekeep(bool idle) {
  const base::MonoTime now = options_.clock->Monotonic();
  dead_.Note(durable(), now);
  Revision wanted = dead_.Due(now, options_.retention, options_.dead_bytes);
  {
    const std::lock_guard lock(head_mutex_);
    if (state_ == State::kFailed) {
      compact_wanted_ = 0;
      return false;
    }
    wanted = std::max(wanted, compact_wanted_);
  }
  if (wanted > compacted_.load()) {
    ApplyCompaction(wanted);
  }
  bool more = CompactChunk(idle);
  const auto maintained = log_->Maintain(idle);
  if (maintained) {
    more = more || *maintained;
    warned_ = false;
  } else if (maintained.error().kind == LogFailure::Kind::kUnknown) {
    Fail(maintained.error());
  } else if (!std::exchange(warned_, true)) {
    options_.logger.Warning("upkeep of the log has to wait", {{"err", maintained.error().message}});
  }
  dead_count_.store(dead_.size(), std::memory_order_relaxed);
  dead_bytes_.store(dead_.bytes(), std::memory_order_relaxed);
  ReportSize(now);
  return more && idle;
}

void LocalStore::ApplyCompaction(Revision revision) {
  dead_.Compact(revision);
  std::vector<Kept> dropped;
  {
    const std::lock_guard lock(view_mutex_);
    compacted_.store(revision);
    for (std::size_t i = 0; i < resource_count_.load(std::memory_order_acquire); ++i) {
      resources_[i]
          .load(std::memory_order_acquire)
          ->window.Trim(options_.window_bytes, revision, evicted_);
    }
    const auto old = std::ranges::partition(
        kept_, [revision](const Kept& kept) { return kept.snapshot.revision() >= revision; });
    dropped.assign(std::make_move_iterator(old.begin()), std::make_move_iterator(old.end()));
    kept_.erase(old.begin(), old.end());
  }
  ReleaseEvicted();
}

// Deletes some dead rows when it is their turn: at once while idle; under load at most three for
// every two rows written, which keeps up with any mix of writes. Returns true when more can go.
bool LocalStore::CompactChunk(bool idle) {
  compact_allowance_ += rows_.size() * 3 / 2 + 1;
  rows_.clear();
  const std::size_t limit = options_.compact_chunk;
  if (dead_.ready() == 0 || (!idle && (dead_.ready() < limit || compact_allowance_ < limit))) {
    return dead_.ready() > 0;
  }
  compact_allowance_ = 0;
  dead_.Oldest(limit, chunk_);
  if (const auto done = log_->Compact(compacted_.load(), chunk_); !done) {
    if (done.error().kind == LogFailure::Kind::kUnknown) {
      Fail(done.error());
    }
    return false;
  }
  dead_.Drop(chunk_.size());
  if (metrics_ != nullptr) {
    metrics_->compacted_rows.Add(chunk_.size());
  }
  return dead_.ready() > 0;
}

void LocalStore::ReportSize(base::MonoTime now) {
  if (metrics_ == nullptr || now - size_reported_ < kTick) {
    return;
  }
  size_reported_ = now;
  const LogSize size = log_->size();
  metrics_->bytes.Set(static_cast<double>(size.bytes));
  metrics_->free_bytes.Set(static_cast<double>(size.free_bytes));
  metrics_->wal_bytes.Set(static_cast<double>(size.wal_bytes));
  metrics_->dead_rows.Set(static_cast<double>(dead_.size()));
}

}  // namespace allot::store
