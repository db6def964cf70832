// The sequencer and the readers of the local store.
#include "store/local_store.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "store/local_impl.h"

namespace allot::store {
namespace {

constexpr std::size_t kEventsALock = 512;  // events copied under one hold of the lock

std::unexpected<base::Status> UnknownResource() {
  return base::Error(base::Reason::kBadRequest, "unknown resource id: AddResource comes first");
}

std::unexpected<base::Status> TooOld(Revision asked, Revision floor) {
  return base::Error(base::Reason::kExpired,
                     fmt::format("too old resource version: {} ({})", asked, floor));
}

}  // namespace

base::Result<std::unique_ptr<Store>> OpenLocal(std::unique_ptr<Log> log, LocalOptions options) {
  auto store = std::make_unique<LocalStore>(std::move(log), std::move(options));
  ALLOT_RETURN_IF_ERROR(store->Load());
  store->Start();
  return store;
}

LocalStore::LocalStore(std::unique_ptr<Log> log, LocalOptions options)
    : options_(std::move(options)),
      log_(std::move(log)),
      subscribers_(std::make_shared<Subscribers>()) {
  if (options_.metrics != nullptr) {
    metrics_ = std::make_unique<Metrics>(*options_.metrics);
  }
}

LocalStore::~LocalStore() {
  Stop();
}

void LocalStore::Start() {
  writer_ = std::thread([this] { Run(); });
}

LocalStore::Resource* LocalStore::Find(ResourceId id) const {
  const auto index = static_cast<std::size_t>(id);
  return index < kMaxResources ? resources_[index].load(std::memory_order_acquire) : nullptr;
}

// What the precondition says about the entry at head (null: the key does not exist).
LocalStore::Refusal LocalStore::Check(const Op& op, const Entry* head) {
  if (head == nullptr) {
    return op.expected > 0 || op.remove ? Refusal::kMissing : Refusal::kNone;
  }
  if (op.expected == kAbsent) {
    return Refusal::kExists;
  }
  return op.expected > 0 && op.expected != head->revision() ? Refusal::kConflict : Refusal::kNone;
}

base::Status LocalStore::StateStatus(State state) {
  switch (state) {
    case State::kNoSpace:
      // The words of upstream's store: tools and alerts look for them.
      return {base::Reason::kInternalError, "etcdserver: mvcc: database space exceeded"};
    case State::kFailed:
      return {base::Reason::kInternalError,
              "the store failed to sync; whether recent writes survived shows after a restart"};
    case State::kStopped:
    case State::kRunning: break;
  }
  return {base::Reason::kServiceUnavailable, "the store is stopped"};
}

base::Status LocalStore::RefusalStatus(Refusal refusal, const Op& op, State state) const {
  const Resource* const resource = Find(op.key.resource);
  const std::string_view path = resource != nullptr ? std::string_view(resource->path) : "";
  switch (refusal) {
    case Refusal::kExists:
      return {base::Reason::kAlreadyExists, fmt::format("{}/{} already exists", path, op.key.name)};
    case Refusal::kMissing:
      return {base::Reason::kNotFound, fmt::format("{}/{} not found", path, op.key.name)};
    case Refusal::kConflict:
      return {base::Reason::kConflict,
              fmt::format("{}/{} is not at revision {} any more", path, op.key.name, op.expected)};
    case Refusal::kBusy:
      return {base::Reason::kTooManyRequests, "too many writes wait for the disk"};
    case Refusal::kState:
    case Refusal::kNone: break;
  }
  return StateStatus(state);
}

base::Result<base::Ref<const Entry>> LocalStore::Commit(Op op,
                                                        CommitSink* sink,
                                                        std::uint64_t token) {
  if (Find(op.key.resource) == nullptr) {
    return UnknownResource();
  }
  Entry* const entry = EntryMaker::Make(
      *entries_,
      op.key,
      {.value = std::move(op.value), .typed = std::move(op.typed), .deleted = op.remove});
  const auto made = base::Ref<const Entry>::Adopt(entry);
  base::Ref<const Entry> previous;
  Refusal refusal = Refusal::kNone;
  State state = State::kRunning;
  bool wake = false;
  {
    const std::lock_guard lock(head_mutex_);
    const Entry* head = head_.Find(op.key, EntryMaker::HashOf(*entry));
    if (head != nullptr && head->deleted()) {
      head = nullptr;
    }
    state = state_;
    refusal = state_ != State::kRunning             ? Refusal::kState
              : queue_bytes_ > options_.queue_bytes ? Refusal::kBusy
                                                    : Check(op, head);
    if (refusal == Refusal::kNone) {
      if (op.remove && !entry->value()) {
        EntryMaker::SetValue(*entry, head->value());
      }
      const Revision revision = ++next_;
      EntryMaker::Sequence(*entry, revision, head != nullptr ? head->created() : revision);
      previous = base::Ref<const Entry>::Share(head);
      head_.Put(made);
      queue_bytes_ += entry->memory();
      queue_.push_back({made, std::move(previous), sink, token});
      wake = std::exchange(writer_waits_, false);
    }
  }
  if (refusal != Refusal::kNone) {
    return base::Error(RefusalStatus(refusal, op, state));
  }
  if (wake) {
    writer_wake_.notify_one();
  }
  return made;
}

base::Ref<const Entry> LocalStore::ReadHead(const Key& key) const {
  const std::uint32_t hash = HashKey(key.resource, key.name);
  const std::lock_guard lock(head_mutex_);
  const Entry* const entry = head_.Find(key, hash);
  return base::Ref<const Entry>::Share(entry != nullptr && !entry->deleted() ? entry : nullptr);
}

Snapshot LocalStore::TakeSnapshot(ResourceId id) const {
  const Resource* const resource = Find(id);
  if (resource == nullptr) {
    return {};
  }
  const std::lock_guard lock(view_mutex_);
  return {resource->root, durable_.load(std::memory_order_relaxed)};
}

base::Result<Snapshot> LocalStore::SnapshotAt(ResourceId id, Revision revision) {
  const Resource* const resource = Find(id);
  if (resource == nullptr) {
    return UnknownResource();
  }
  {
    const std::lock_guard lock(view_mutex_);
    const Revision durable = durable_.load(std::memory_order_relaxed);
    if (revision > durable) {
      return base::Error(
          base::Reason::kTimeout,
          fmt::format("Too large resource version: {}, current: {}", revision, durable));
    }
    if (resource->window.floor() <= revision &&
        resource->window.After(revision) == resource->window.size()) {
      return Snapshot(resource->root, revision);  // nothing of the resource has changed since
    }
    for (const Kept& kept : kept_) {
      if (kept.resource == id && kept.snapshot.revision() == revision) {
        return kept.snapshot;
      }
    }
  }
  auto made = RollBack(*resource, revision);
  if (made) {
    KeepSnapshot(id, *made);
  }
  return made;
}

// The state at `revision`: the present one with each key that changed since put back to what its
// first change after `revision` replaced.
base::Result<Snapshot> LocalStore::RollBack(const Resource& resource, Revision revision) {
  base::Ref<const TreeNode> root;
  Revision newest = 0;
  {
    const std::lock_guard lock(view_mutex_);
    root = resource.root;
    newest = durable_.load(std::memory_order_relaxed);
  }
  std::vector<Event> events;
  for (Revision after = revision; after < newest;) {
    ALLOT_ASSIGN_OR_RETURN(after, EventsSince(resource.id, after, events, kEventsALock));
  }
  while (!events.empty() && events.back().entry->revision() > newest) {
    events.pop_back();  // published after `root` was taken
  }
  TreeEditor editor(*nodes_, std::move(root));
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    if (event->previous) {
      editor.Put(*event->previous);
    } else {
      editor.Erase(event->entry->key());
    }
  }
  return Snapshot(editor.Finish(), revision);
}

void LocalStore::KeepSnapshot(ResourceId id, const Snapshot& snapshot) {
  Kept dropped;
  const std::lock_guard lock(view_mutex_);
  for (const Kept& kept : kept_) {
    if (kept.resource == id && kept.snapshot.revision() == snapshot.revision()) {
      return;
    }
  }
  if (kept_.size() >= options_.kept_snapshots && !kept_.empty()) {
    dropped = std::move(kept_.front());
    kept_.erase(kept_.begin());
  }
  kept_.push_back({id, snapshot});
}

base::Result<Revision> LocalStore::EventsSince(ResourceId id,
                                               Revision after,
                                               std::vector<Event>& out,
                                               std::size_t limit) const {
  const Resource* const resource = Find(id);
  if (resource == nullptr) {
    return UnknownResource();
  }
  const std::lock_guard lock(view_mutex_);
  const EventWindow& window = resource->window;
  if (after < window.floor()) {
    return TooOld(after, window.floor());
  }
  const std::size_t begin = window.After(after);
  const std::size_t end = begin + std::min(limit, window.size() - begin);
  for (std::size_t i = begin; i < end; ++i) {
    out.push_back(window.at(i));
  }
  return end == window.size() ? std::max(after, durable_.load(std::memory_order_relaxed))
                              : window.at(end - 1).entry->revision();
}

LocalStore::Subscriber::Subscriber(std::shared_ptr<Subscribers> l,
                                   std::vector<ResourceId> r,
                                   std::function<void(const Published&)> w)
    : list(std::move(l)), resources(std::move(r)), wake(std::move(w)) {
  std::ranges::sort(resources);
  const std::lock_guard lock(list->mutex);
  list->all.push_back(this);
}

LocalStore::Subscriber::~Subscriber() {
  const std::lock_guard lock(list->mutex);
  std::erase(list->all, this);
}

std::uint64_t LocalStore::Subscribers::Wake(Revision durable,
                                            const std::vector<ResourceId>& touched) {
  std::uint64_t woken = 0;
  const std::lock_guard lock(mutex);
  for (const Subscriber* const subscriber : all) {
    if (subscriber->resources.empty()) {
      subscriber->wake({durable, touched});
      ++woken;
      continue;
    }
    hits.clear();
    std::ranges::copy_if(touched, std::back_inserter(hits), [subscriber](ResourceId id) {
      return std::ranges::binary_search(subscriber->resources, id);
    });
    if (!hits.empty()) {
      subscriber->wake({durable, hits});
      ++woken;
    }
  }
  return woken;
}

std::unique_ptr<Subscription> LocalStore::Subscribe(std::vector<ResourceId> resources,
                                                    std::function<void(const Published&)> wake) {
  return std::make_unique<Subscriber>(subscribers_, std::move(resources), std::move(wake));
}

void LocalStore::Compact(Revision revision) {
  {
    const std::lock_guard lock(head_mutex_);
    compact_wanted_ = std::max(compact_wanted_, std::min(revision, durable()));
    writer_waits_ = false;
  }
  writer_wake_.notify_one();
}

StoreStats LocalStore::stats() const {
  StoreStats stats;
  {
    const std::lock_guard lock(head_mutex_);
    stats.head = next_;
    stats.queued = queue_.size();
    stats.out_of_space = state_ == State::kNoSpace;
  }
  {
    const std::lock_guard lock(view_mutex_);
    stats.durable = durable_.load(std::memory_order_relaxed);
    stats.compacted = compacted_.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < resource_count_.load(std::memory_order_acquire); ++i) {
      const Resource* const resource = resources_[i].load(std::memory_order_acquire);
      stats.keys += resource->root ? resource->root->count() : 0;
    }
  }
  stats.dead_rows = dead_count_.load(std::memory_order_relaxed);
  stats.dead_bytes = dead_bytes_.load(std::memory_order_relaxed);
  stats.writes = writes_.load(std::memory_order_relaxed);
  stats.batches = batches_.load(std::memory_order_relaxed);
  stats.failed = failed_.load(std::memory_order_relaxed);
  stats.wakes = wakes_.load(std::memory_order_relaxed);
  return stats;
}

void LocalStore::Stop() {
  {
    const std::lock_guard lock(head_mutex_);
    stop_ = true;
    if (state_ == State::kRunning) {
      state_ = State::kStopped;
    }
    writer_waits_ = false;
  }
  writer_wake_.notify_one();
  if (writer_.joinable()) {
    writer_.join();
  }
}

}  // namespace allot::store
