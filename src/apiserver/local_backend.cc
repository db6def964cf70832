// LocalBackend: requests: reading and writing. Watches are in local_watch.cc.
#include "apiserver/local_backend.h"

#include <condition_variable>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "api/core/v1.gen.h"
#include "apiserver/continue_token.h"
#include "apiserver/errors.h"
#include "apiserver/list_stream.h"
#include "apiserver/local_items.h"
#include "apiserver/patch.h"

namespace allot::apiserver {
namespace {

using base::Reason;
using base::Result;
using base::Status;

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
  if (status_only || (!written.entry && written.view == nullptr)) {
    return client::Item{};
  }
  if (!written.entry) {  // a dry run: what would have been stored
    const schema::TypeDesc& stored =
        resource.conversion != nullptr ? *resource.conversion->stored : *resource.info->type;
    const base::Ref<const schema::Object> record = EncodeRecord(stored, written.view.get());
    if (written.revision != 0) {
      record->StampRevision(written.revision);
    }
    return ItemOf(resource, record, written.view, written.revision);
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

}  // namespace allot::apiserver
