#include "apiserver/local_backend.h"

#include <algorithm>
#include <condition_variable>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "api/core/v1.gen.h"
#include "apiserver/continue_token.h"
#include "apiserver/errors.h"
#include "apiserver/list_stream.h"
#include "apiserver/patch.h"

namespace allot::apiserver {
namespace {

using base::Reason;
using base::Result;
using base::Status;

constexpr std::size_t kEventsPerBatch = 4096;

User UserOf(const client::Identity& identity) {
  User user{identity.user, "", identity.groups, {}};
  user.groups.emplace_back(kAuthenticatedGroup);
  return user;
}

std::string_view VerbOf(client::Verb verb) {
  switch (verb) {
    case client::Verb::kGet: return "get";
    case client::Verb::kCreate: return "create";
    case client::Verb::kUpdate: return "update";
    case client::Verb::kPatch: return "patch";
    case client::Verb::kDelete: return "delete";
    case client::Verb::kDeleteCollection: return "deletecollection";
  }
  return "get";
}

/// An object in the kind the client asked for.
client::Item ItemOf(const Resource& resource,
                    const base::Ref<const schema::Object>& object,
                    AnyView view,
                    store::Revision revision) {
  if (resource.conversion == nullptr || view == nullptr) {
    return {object, std::move(view)};
  }
  AnyDraft served(*resource.info->type, nullptr, view);
  resource.conversion->from_stored(view.get(), served);
  served.SetTypeMeta(resource.info->kind, resource.info->api_version);
  MetadataOf(served.type(), served.root()).resource_version = {};
  const base::Ref<const schema::Object> record = EncodeRecord(served.type(), served.root());
  record->StampRevision(revision);
  return {record, served.Freeze()};
}

Result<client::Item> ItemOfEntry(const Resource& resource, const store::Entry& entry) {
  AnyView view = entry.Attached(store::Entry::kTyped);
  if (view == nullptr && resource.conversion != nullptr) {
    ALLOT_ASSIGN_OR_RETURN(view, ViewOf(entry));
  }
  return ItemOf(resource, ObjectOf(entry), std::move(view), entry.revision());
}

AnyDraft DraftOf(const Resource& resource, const AnyView& body) {
  AnyDraft draft(*resource.info->type, body);
  if (resource.conversion == nullptr) {
    return draft;
  }
  AnyDraft stored(*resource.conversion->stored, nullptr, draft.Freeze());
  resource.conversion->to_stored(draft.root(), stored);
  return stored;
}

std::string_view PropagationText(client::Propagation propagation) {
  switch (propagation) {
    case client::Propagation::kDefault: return "";
    case client::Propagation::kBackground: return "Background";
    case client::Propagation::kForeground: return "Foreground";
    case client::Propagation::kOrphan: return "Orphan";
  }
  return "";
}

Deletion DeletionOf(const client::WriteOptions& options) {
  Deletion out;
  out.grace_seconds = options.grace_period_seconds;
  if (!options.preconditions.uid.empty()) {
    out.uid = std::string(options.preconditions.uid);
  }
  if (options.preconditions.revision != 0) {
    out.resource_version = fmt::format("{}", options.preconditions.revision);
  }
  out.propagation = PropagationText(options.propagation);
  return out;
}

Result<PatchKind> PatchKindOf(client::PatchType type) {
  switch (type) {
    case client::PatchType::kJson: return PatchKind::kJson;
    case client::PatchType::kMerge: return PatchKind::kMerge;
    case client::PatchType::kStrategicMerge: return PatchKind::kStrategic;
    case client::PatchType::kApply: break;
  }
  return base::Error(Reason::kUnsupportedMediaType,
                     "server-side apply is not available on this server");
}

}  // namespace

/// Waits for the outcome of one commit, or passes it on and deletes itself.
class LocalBackend::Waiter final : public store::CommitSink {
 public:
  void OnCommitted(std::span<const store::CommitOutcome> outcomes) override {
    const Status* const error = outcomes.back().error;
    if (callback_) {
      callback_(error == nullptr ? Result<void>() : Result<void>(base::Error(*error)));
      delete this;
      return;
    }
    const std::lock_guard lock(mutex_);
    if (error != nullptr) {
      error_ = *error;
    }
    done_ = true;
    condition_.notify_one();
  }
  Result<void> Wait() {
    std::unique_lock lock(mutex_);
    condition_.wait(lock, [this] { return done_; });
    return error_ ? Result<void>(base::Error(*error_)) : Result<void>();
  }
  void PassOn(std::function<void(const Result<void>&)> callback) {
    callback_ = std::move(callback);
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool done_ = false;
  std::optional<Status> error_;
  std::function<void(const Result<void>&)> callback_;
};

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

Result<const Resource*> LocalBackend::Find(const client::Resource& resource) const {
  const Resource* const found =
      registry_.resources().Find(resource.group, resource.version, resource.plural);
  if (found == nullptr) {
    return base::Error(NoSuchResourceError());
  }
  return found;
}

Result<void> LocalBackend::Check(const User& user,
                                 const client::Resource& resource,
                                 std::string_view verb,
                                 std::string_view ns,
                                 std::string_view name,
                                 std::string_view subresource) const {
  return authorizer_.Check(user,
                           {.verb = verb,
                            .path = {},
                            .group = resource.group,
                            .resource = resource.plural,
                            .subresource = subresource,
                            .name_space = ns,
                            .name = name,
                            .resource_request = true});
}

Result<client::Item> LocalBackend::Do(const client::Identity& identity,
                                      const client::Request& request) {
  ALLOT_ASSIGN_OR_RETURN(const Resource* const resource, Find(*request.resource));
  const User user = UserOf(identity);
  ALLOT_RETURN_IF_ERROR(Check(user,
                              *request.resource,
                              VerbOf(request.verb),
                              request.ns,
                              request.name,
                              request.subresource));
  if (request.verb == client::Verb::kGet) {
    const auto entry = registry_.Get(*resource, request.ns, request.name);
    if (!entry) {
      return base::Error(NotFoundError(*resource->info, request.name));
    }
    return ItemOfEntry(*resource, *entry);
  }
  if (request.verb == client::Verb::kDeleteCollection) {
    return DeleteMany(user, request, *resource);
  }
  return WriteAndWait(user, request, *resource);
}

Result<client::Item> LocalBackend::WriteAndWait(const User& user,
                                                const client::Request& request,
                                                const Resource& resource) {
  const bool sequenced = request.options.ack == client::Ack::kSequenced;
  auto waiter = std::make_unique<Waiter>();
  store::CommitSink* sink = waiter.get();
  if (sequenced && !request.options.on_durable) {
    sink = nullptr;
  } else if (sequenced) {
    waiter->PassOn(request.options.on_durable);
  }
  ALLOT_ASSIGN_OR_RETURN(const Written written, Write(user, request, resource, sink, 0));
  if (sequenced) {
    if (written.pending && sink != nullptr) {
      (void)waiter.release();  // deletes itself after passing on the outcome
    } else if (sink != nullptr) {
      request.options.on_durable(Result<void>());
    }
  } else if (written.pending) {
    ALLOT_RETURN_IF_ERROR(waiter->Wait());
  }
  const bool status_only = (written.removed && !resource.strategy->answers_deleted_object) ||
                           request.subresource == "binding";
  if (status_only || !written.entry) {
    return client::Item{nullptr, status_only ? nullptr : written.view};
  }
  return ItemOf(resource, ObjectOf(*written.entry), written.view, written.revision);
}

Result<Written> LocalBackend::Write(const User& user,
                                    const client::Request& request,
                                    const Resource& resource,
                                    store::CommitSink* sink,
                                    std::uint64_t token) {
  const client::WriteOptions& options = request.options;
  const WriteContext context{.user = user,
                             .warnings = nullptr,
                             .dry_run = options.dry_run,
                             .manager = options.field_manager.empty() ? std::string_view(user.name)
                                                                      : options.field_manager,
                             .sink = sink,
                             .token = token,
                             .borrowed = true};
  switch (request.verb) {
    case client::Verb::kCreate:
      if (request.subresource == "binding") {
        return registry_.Bind(context,
                              request.ns,
                              request.name,
                              *static_cast<const api::core::Binding*>(request.body.get()));
      }
      if (resource.strategy == nullptr || !request.subresource.empty()) {
        return base::Error(NoSuchResourceError());
      }
      return registry_.Create(context, resource, request.ns, DraftOf(resource, request.body));
    case client::Verb::kUpdate:
      return registry_.Update(
          context,
          resource,
          request.ns,
          request.name,
          request.subresource,
          /*unconditional=*/options.preconditions.revision == 0,
          [&](const AnyView&, store::Revision) -> Result<AnyDraft> {
            AnyDraft draft = DraftOf(resource, request.body);
            api::meta::ObjectMeta& metadata = MetadataOf(draft.type(), draft.root());
            metadata.resource_version =
                options.preconditions.revision == 0
                    ? schema::Str()
                    : draft.Copy(fmt::format_int(options.preconditions.revision).str());
            return draft;
          });
    case client::Verb::kPatch: {
      ALLOT_ASSIGN_OR_RETURN(const PatchKind kind, PatchKindOf(request.patch_type));
      return registry_.Update(
          context,
          resource,
          request.ns,
          request.name,
          request.subresource,
          /*unconditional=*/true,
          [&](const AnyView& old, store::Revision revision) -> Result<AnyDraft> {
            if (old == nullptr) {
              return base::Error(NotFoundError(*resource.info, request.name));
            }
            std::vector<std::string> ignored;
            return ApplyPatch(
                kind, request.patch, resource, old, revision, FieldValidation::kIgnore, ignored);
          });
    }
    case client::Verb::kDelete:
      return registry_.Delete(context, resource, request.ns, request.name, DeletionOf(options));
    case client::Verb::kGet:
    case client::Verb::kDeleteCollection: break;
  }
  return base::Error(MethodNotAllowedError());
}

Result<client::Item> LocalBackend::DeleteMany(const User& user,
                                              const client::Request& request,
                                              const Resource& resource) {
  ALLOT_ASSIGN_OR_RETURN(LabelSelector labels,
                         LabelSelector::Parse(request.selector.label_selector));
  ALLOT_ASSIGN_OR_RETURN(FieldSelector fields,
                         FieldSelector::Parse(request.selector.field_selector));
  ListPlan plan;
  ALLOT_ASSIGN_OR_RETURN(plan.filter,
                         Filter::Make(resource, request.ns, std::move(labels), std::move(fields)));
  plan.snapshot = registry_.store().TakeSnapshot(resource.store_id);
  std::string next;
  for (const auto& entry : SelectEntries(plan, next)) {
    const auto* const object = entry->value().As<schema::Object>();
    client::Request one = request;
    one.verb = client::Verb::kDelete;
    one.ns = object->namespace_();
    one.name = object->name();
    Result<client::Item> deleted = WriteAndWait(user, one, resource);
    if (!deleted && deleted.error().reason() != Reason::kNotFound) {
      return deleted;
    }
  }
  return client::Item{};
}

Result<client::ListAnswer> LocalBackend::List(const client::Identity& identity,
                                              const client::Resource& resource,
                                              std::string_view ns,
                                              const client::ListOptions& options) {
  ALLOT_ASSIGN_OR_RETURN(const Resource* const found, Find(resource));
  ALLOT_RETURN_IF_ERROR(Check(UserOf(identity), resource, "list", ns, {}, {}));
  ALLOT_ASSIGN_OR_RETURN(LabelSelector labels, LabelSelector::Parse(options.label_selector));
  ALLOT_ASSIGN_OR_RETURN(FieldSelector fields, FieldSelector::Parse(options.field_selector));
  ListPlan plan;
  ALLOT_ASSIGN_OR_RETURN(plan.filter,
                         Filter::Make(*found, ns, std::move(labels), std::move(fields)));
  plan.limit = options.limit;
  store::Store& store = registry_.store();
  if (options.continue_token.empty()) {
    plan.snapshot = store.TakeSnapshot(found->store_id);
  } else {
    ALLOT_ASSIGN_OR_RETURN(const ContinueToken token,
                           ContinueToken::Decode(options.continue_token));
    plan.start = token.start;
    ALLOT_ASSIGN_OR_RETURN(plan.snapshot, store.SnapshotAt(found->store_id, token.revision));
  }
  client::ListAnswer answer;
  answer.revision = static_cast<client::Revision>(plan.snapshot.revision());
  std::string next;
  const auto entries = SelectEntries(plan, next);
  answer.items.reserve(entries.size());
  for (const auto& entry : entries) {
    ALLOT_ASSIGN_OR_RETURN(client::Item item, ItemOfEntry(*found, *entry));
    answer.items.push_back(std::move(item));
  }
  if (!next.empty()) {
    store.KeepSnapshot(found->store_id, plan.snapshot);
    answer.continue_token = ContinueToken{plan.snapshot.revision(), next}.Encode();
  }
  return answer;
}

namespace {

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
    client::WatchEvent bookmark;
    bookmark.type = client::EventType::kBookmark;
    bookmark.revision = static_cast<client::Revision>(watcher->cursor);
    batch->push_back(std::move(bookmark));
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
