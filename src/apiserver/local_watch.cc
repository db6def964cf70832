// LocalBackend: watches: from the store's events to the sinks of the same process.
#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "apiserver/list_stream.h"
#include "apiserver/local_backend.h"
#include "apiserver/local_items.h"

namespace allot::apiserver {
namespace {

using base::Reason;
using base::Result;

constexpr std::size_t kEventsPerBatch = 4096;

/// The event as `filter` sees it; false when it does not concern it.
bool Translate(const Resource& resource,
               const Filter& filter,
               const store::Event& event,
               client::WatchEvent& out) {
  const bool now = !event.entry->deleted() && filter.Matches(*event.entry);
  const bool before = event.previous && filter.Matches(*event.previous);
  if (!now && !before) {
    return false;
  }
  out.revision = static_cast<client::Revision>(event.entry->revision());
  out.type = now ? (before ? client::EventType::kModified : client::EventType::kAdded)
                 : client::EventType::kDeleted;
  const bool shows_previous = !now && !event.entry->deleted();
  const store::Entry& shown =
      shows_previous || !event.entry->value() ? *event.previous : *event.entry;
  if (Result<client::Item> item = ItemOfEntry(resource, shown)) {
    out.item = *std::move(item);
  } else {
    return false;
  }
  if (event.previous && resource.conversion == nullptr) {
    out.previous = ObjectOf(*event.previous);
  }
  return true;
}

}  // namespace

/// A watch: what it selects and how far it has been fed.
struct LocalBackend::Watcher {
  const Resource* resource = nullptr;
  Filter filter;
  std::string filter_key;
  client::WatchSink* sink = nullptr;
  store::Revision cursor = 0;
};

struct LocalBackend::Shared {
  std::mutex mutex;  // held while sinks are called, so that a gone handle is a quiet one
  std::vector<std::unique_ptr<Watcher>> watchers;
};

class LocalBackend::Handle final : public client::WatchHandle {
 public:
  Handle(std::shared_ptr<Shared> shared, Watcher* watcher)
      : shared_(std::move(shared)), watcher_(watcher) {}
  ~Handle() override {
    const std::lock_guard lock(shared_->mutex);
    std::erase_if(shared_->watchers,
                  [this](const std::unique_ptr<Watcher>& one) { return one.get() == watcher_; });
  }

 private:
  std::shared_ptr<Shared> shared_;
  Watcher* watcher_;
};

LocalBackend::LocalBackend(Registry& registry, const Authorizer& authorizer)
    : registry_(registry), authorizer_(authorizer), shared_(std::make_shared<Shared>()) {
  subscription_ = registry_.store().Subscribe(
      {}, [this](const store::Published& published) { Feed(published); });
}

LocalBackend::~LocalBackend() {
  subscription_.reset();
}

void LocalBackend::Stop() {
  subscription_.reset();
  const std::lock_guard lock(shared_->mutex);
  for (const std::unique_ptr<Watcher>& watcher : shared_->watchers) {
    if (watcher->sink == nullptr) {
      continue;
    }
    watcher->sink->OnClosed({Reason::kServiceUnavailable, "the server is shutting down"});
  }
  shared_->watchers.clear();
}

Result<std::unique_ptr<client::WatchHandle>> LocalBackend::Watch(
    const client::Identity& identity,
    const client::Resource& resource,
    std::string_view ns,
    const client::WatchOptions& options,
    client::WatchSink& sink) {
  ALLOT_ASSIGN_OR_RETURN(const Resource* const found, Find(resource));
  ALLOT_RETURN_IF_ERROR(Check(UserOf(identity), resource, "watch", ns, {}, {}));
  ALLOT_ASSIGN_OR_RETURN(LabelSelector labels, LabelSelector::Parse(options.label_selector));
  ALLOT_ASSIGN_OR_RETURN(FieldSelector fields, FieldSelector::Parse(options.field_selector));
  auto watcher = std::make_unique<Watcher>();
  watcher->resource = found;
  ALLOT_ASSIGN_OR_RETURN(watcher->filter,
                         Filter::Make(*found, ns, std::move(labels), std::move(fields)));
  watcher->filter_key = fmt::format("{}/{} {}\n{}\n{}",
                                    found->info->group,
                                    found->info->resource,
                                    ns,
                                    options.label_selector,
                                    options.field_selector);
  watcher->sink = &sink;
  const std::lock_guard lock(shared_->mutex);
  store::Store& store = registry_.store();
  auto batch = std::make_shared<std::vector<client::WatchEvent>>();
  if (options.after == 0) {
    ListPlan plan;
    plan.filter = watcher->filter;
    plan.snapshot = store.TakeSnapshot(found->store_id);
    watcher->cursor = plan.snapshot.revision();
    std::string next;
    for (const auto& entry : SelectEntries(plan, next)) {
      client::WatchEvent event;
      event.type = client::EventType::kAdded;
      event.revision = static_cast<client::Revision>(entry->revision());
      ALLOT_ASSIGN_OR_RETURN(event.item, ItemOfEntry(*found, *entry));
      batch->push_back(std::move(event));
    }
    if (options.bookmarks) {
      client::WatchEvent bookmark;
      bookmark.type = client::EventType::kBookmark;
      bookmark.revision = static_cast<client::Revision>(watcher->cursor);
      batch->push_back(std::move(bookmark));
    }
  } else {
    std::vector<store::Event> events;
    watcher->cursor = static_cast<store::Revision>(options.after);
    ALLOT_ASSIGN_OR_RETURN(
        watcher->cursor,
        store.EventsSince(
            found->store_id, watcher->cursor, events, std::numeric_limits<std::size_t>::max()));
    for (const store::Event& event : events) {
      client::WatchEvent one;
      if (Translate(*found, watcher->filter, event, one)) {
        batch->push_back(std::move(one));
      }
    }
  }
  if (!batch->empty()) {
    sink.OnEvents(std::move(batch));
  }
  Watcher* const raw = watcher.get();
  shared_->watchers.push_back(std::move(watcher));
  return std::make_unique<Handle>(shared_, raw);
}

void LocalBackend::Feed(const store::Published& published) {
  const std::lock_guard lock(shared_->mutex);
  struct Made {
    const Watcher* like;
    store::Revision from;
    store::Revision complete;
    client::WatchBatch batch;
  };
  std::vector<Made> made;
  for (std::size_t i = 0; i < shared_->watchers.size(); ++i) {
    Watcher& watcher = *shared_->watchers[i];
    if (watcher.sink == nullptr ||
        std::ranges::find(published.resources, watcher.resource->store_id) ==
            published.resources.end()) {
      continue;
    }
    const auto same = std::ranges::find_if(made, [&](const Made& one) {
      return one.from == watcher.cursor && one.like->filter_key == watcher.filter_key;
    });
    if (same != made.end()) {
      watcher.cursor = same->complete;
      if (same->batch != nullptr) {
        watcher.sink->OnEvents(same->batch);
      }
      continue;
    }
    std::vector<store::Event> events;
    const store::Revision from = watcher.cursor;
    bool more = true;
    auto batch = std::make_shared<std::vector<client::WatchEvent>>();
    while (more) {
      events.clear();
      const Result<store::Revision> complete = registry_.store().EventsSince(
          watcher.resource->store_id, watcher.cursor, events, kEventsPerBatch);
      if (!complete) {
        std::exchange(watcher.sink, nullptr)->OnClosed(complete.error());
        batch = nullptr;
        break;
      }
      watcher.cursor = *complete;
      more = events.size() == kEventsPerBatch;
      for (const store::Event& event : events) {
        client::WatchEvent one;
        if (Translate(*watcher.resource, watcher.filter, event, one)) {
          batch->push_back(std::move(one));
        }
      }
    }
    if (batch == nullptr) {
      continue;
    }
    const client::WatchBatch shared = batch->empty() ? nullptr : client::WatchBatch(batch);
    made.push_back({&watcher, from, watcher.cursor, shared});
    if (shared != nullptr) {
      watcher.sink->OnEvents(shared);
    }
  }
}

}  // namespace allot::apiserver
