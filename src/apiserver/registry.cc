// Registry: creating and updating. Deleting is in registry_delete.cc, admission in admission.cc.
#include "apiserver/registry.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "api/core/v1.gen.h"
#include "apiserver/edit.h"
#include "apiserver/errors.h"
#include "schema/codec.h"

namespace allot::apiserver {
namespace {

using base::Reason;
using base::Result;
using base::Status;

/// How often a write that nobody conditioned is tried against concurrent ones.
constexpr int kMaxAttempts = 64;
constexpr int kNameAttempts = 8;
constexpr std::size_t kMaxGeneratedBase = 58;

/// etcd's limit of a request, which users of the API know as the limit of an object.
Result<void> CheckSize(const schema::Object& record) {
  constexpr std::size_t kMaxRecord = 3 * 512 * 1024;
  if (record.body().size() > kMaxRecord) {
    return base::Error(Reason::kUnknown, "etcdserver: request is too large");
  }
  return {};
}

std::unexpected<Status> Failure(Status status) {
  return base::Error(std::move(status));
}

/// Whether a commit failed because another write came first.
bool IsRace(const Status& status) {
  return status.reason() == Reason::kConflict || status.reason() == Reason::kNotFound ||
         status.reason() == Reason::kAlreadyExists;
}

/// Fills what an update may leave out and takes back what it may never say.
void CarryMetadata(api::meta::ObjectMeta& next, const api::meta::ObjectMeta& old) {
  next.generation = old.generation;
  next.self_link = {};
  next.managed_fields = {};
  if (next.uid.empty()) {
    next.uid = old.uid;
  }
  if (next.namespace_.empty()) {
    next.namespace_ = old.namespace_;
  }
  next.creation_timestamp = old.creation_timestamp;
  if (old.deletion_timestamp != nullptr) {
    next.deletion_timestamp = old.deletion_timestamp;
  }
  if (next.deletion_grace_period_seconds == nullptr) {
    next.deletion_grace_period_seconds = old.deletion_grace_period_seconds;
  }
}

/// Whether the draft still has the stored labels and the like, as drafts made of the old object do.
bool SharesMetadata(const api::meta::ObjectMeta& next, const api::meta::ObjectMeta& old) {
  return next.labels.items == old.labels.items && next.annotations.items == old.annotations.items &&
         next.owner_references.items == old.owner_references.items &&
         next.finalizers.items == old.finalizers.items;
}

bool SameOwner(const api::meta::OwnerReference& a, const api::meta::OwnerReference& b) {
  return schema::SemanticEqual(api::Desc<api::meta::OwnerReference>(), &a, &b);
}

/// Owners named twice are kept once; who wrote them is told. `after_patch` chooses upstream's text.
void DropRepeatedOwners(AnyDraft& draft,
                        api::meta::ObjectMeta& metadata,
                        bool after_patch,
                        std::vector<std::string>* warnings) {
  const auto& owners = metadata.owner_references;
  if (owners.size() < 2) {
    return;
  }
  std::string repeated;
  std::vector<api::meta::OwnerReference> kept;
  for (const api::meta::OwnerReference& owner : owners) {
    const bool known = std::ranges::any_of(
        kept, [&](const api::meta::OwnerReference& one) { return SameOwner(one, owner); });
    if (known) {
      repeated += fmt::format("{}{}", repeated.empty() ? "" : ", ", owner.uid);
    } else {
      kept.push_back(owner);
    }
  }
  if (repeated.empty()) {
    return;
  }
  if (warnings != nullptr) {
    warnings->push_back(fmt::format(
        ".metadata.ownerReferences contains duplicate entries{}; API server dedups owner "
        "references "
        "in 1.20+, and may reject such requests as early as 1.24; please fix your requests; "
        "duplicate UID(s) observed: {}",
        after_patch ? " after mutating admission happens" : "",
        repeated));
  }
  auto* const items = draft.arena().NewArray<api::meta::OwnerReference>(kept.size());
  std::ranges::copy(kept, items);
  metadata.owner_references.items = items;
  metadata.owner_references.count = static_cast<std::uint32_t>(kept.size());
}

Result<void> CheckVersion(const Resource& resource,
                          const api::meta::ObjectMeta& next,
                          const api::meta::ObjectMeta& old,
                          store::Revision revision,
                          bool may_be_absent) {
  const std::string_view text = next.resource_version;
  if (!text.empty() && text != "0") {
    std::uint64_t value = 0;
    const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || at != text.data() + text.size()) {
      return base::Error(Reason::kUnknown,
                         fmt::format("strconv.ParseUint: parsing \"{}\": invalid syntax", text));
    }
    if (value != static_cast<std::uint64_t>(revision)) {
      return base::Error(StaleError(*resource.info, old.name));
    }
    return {};
  }
  if (may_be_absent) {
    return {};
  }
  return base::Error(InvalidError(resource.info->resource,
                                  resource.info->group,
                                  old.name,
                                  {{"FieldValueInvalid",
                                    "Invalid value: 0: must be specified for an update",
                                    "metadata.resourceVersion"}}));
}

/// The kind that error texts name: the stored one.
const api::KindInfo& StoredInfo(const Resource& resource) {
  const api::KindInfo* const stored = api::FindType(resource.stored_type());
  return stored != nullptr ? *stored : *resource.info;
}

/// A namespace goes when its content (spec.finalizers) and its own finalizers are gone.
bool NamespaceIsFinal(const Resource& resource, const void* root) {
  if (resource.info->type != &api::Desc<api::core::Namespace>()) {
    return true;
  }
  return static_cast<const api::core::Namespace*>(root)->spec.finalizers.empty();
}

/// Whether an update took away the last reason to keep a deleting object.
bool RemovesObject(const Resource& resource,
                   const AnyDraft& next,
                   const api::meta::ObjectMeta& old) {
  const api::meta::ObjectMeta& metadata = MetadataOf(next.type(), next.root());
  return old.deletion_timestamp != nullptr && metadata.finalizers.empty() &&
         (old.deletion_grace_period_seconds == nullptr ||
          *old.deletion_grace_period_seconds == 0) &&
         NamespaceIsFinal(resource, next.root());
}

void SetTypeMeta(const Resource& resource, AnyDraft& draft) {
  const api::KindInfo& info = StoredInfo(resource);
  draft.SetTypeMeta(info.kind, info.api_version);
}

}  // namespace

Status PreconditionError(const Resource& resource,
                         std::string_view ns,
                         std::string_view name,
                         std::string_view what,
                         std::string_view wanted,
                         std::string_view found) {
  return ConflictError(
      *resource.info,
      name,
      fmt::format("StorageError: invalid object, Code: 4, Key: {}, ResourceVersion: 0, "
                  "AdditionalErrorMsg: Precondition failed: {} in precondition: {}, {} in object "
                  "meta: {}",
                  resource.RegistryKey(ns, name),
                  what,
                  wanted,
                  what,
                  found));
}

quantity::Time NowSeconds(const base::Clock& clock) {
  const auto now = std::chrono::floor<std::chrono::seconds>(clock.Now().time_since_epoch());
  return {now.count(), 0, true};
}

api::StrategyContext Registry::StrategyContextNow() const {
  return {.gates = gates_, .now = NowSeconds(clock_), .disabled = &disabled_, .lookup = this};
}

base::Ref<const store::Entry> Registry::Get(const Resource& resource,
                                            std::string_view ns,
                                            std::string_view name) const {
  const store::Snapshot snapshot = store_.TakeSnapshot(resource.store_id);
  const std::string key = resource.KeyOf(ns, name);
  return base::Ref<const store::Entry>::Share(snapshot.Find(key));
}

Result<bool> Registry::AdminAccessAllowed(std::string_view ns) const {
  const Resource* const namespaces = resources_.Find("", "v1", "namespaces");
  const auto entry = namespaces == nullptr ? nullptr : store_.ReadHead({namespaces->store_id, ns});
  if (!entry) {
    return base::Error(Reason::kNotFound, fmt::format("namespaces \"{}\" not found", ns));
  }
  ALLOT_ASSIGN_OR_RETURN(const AnyView view, ViewOf(*entry));
  const auto& object = *static_cast<const api::core::Namespace*>(view.get());
  return object.metadata.labels.Get("resource.kubernetes.io/admin-access") == "true";
}

Result<void> Registry::FillNewMetadata(const Resource& resource,
                                       std::string_view ns,
                                       AnyDraft& draft,
                                       bool& generated) {
  api::meta::ObjectMeta& metadata = MetadataOf(draft.type(), draft.root());
  if (!metadata.resource_version.empty()) {
    return base::Error(Reason::kUnknown,
                       "resourceVersion should not be set on objects to be created");
  }
  if (resource.info->namespaced) {
    if (metadata.namespace_.empty()) {
      metadata.namespace_ = draft.Copy(ns);
    } else if (metadata.namespace_ != ns) {
      return Failure(BadRequestError(
          "the namespace of the provided object does not match the namespace sent on the request"));
    }
  } else {
    metadata.namespace_ = {};
  }
  metadata.uid = draft.Copy(random_.Uuid());
  metadata.creation_timestamp = NowSeconds(clock_);
  metadata.deletion_timestamp = nullptr;
  metadata.deletion_grace_period_seconds = nullptr;
  metadata.self_link = {};
  metadata.managed_fields = {};
  generated = metadata.name.empty() && !metadata.generate_name.empty();
  if (generated) {
    metadata.name = draft.Copy(fmt::format(
        "{}{}", metadata.generate_name.substr(0, kMaxGeneratedBase), random_.NameSuffix()));
  }
  return {};
}

Result<Written> Registry::Create(const WriteContext& context,
                                 const Resource& resource,
                                 std::string_view ns,
                                 AnyDraft draft) {
  const api::Strategy& strategy = *resource.strategy;
  const api::KindInfo& info = *resource.info;
  bool generated = false;
  ALLOT_RETURN_IF_ERROR(FillNewMetadata(resource, ns, draft, generated));
  api::meta::ObjectMeta& metadata = MetadataOf(draft.type(), draft.root());
  SetTypeMeta(resource, draft);
  DropRepeatedOwners(draft, metadata, /*after_patch=*/false, context.warnings);
  api::StrategyContext strategy_context = StrategyContextNow();
  strategy_context.request_group = resource.info->group;
  if (strategy.apply_defaults != nullptr) {
    strategy.apply_defaults(strategy_context, draft.root(), draft.arena());
  }
  ALLOT_RETURN_IF_ERROR(AdmitNamespace(resource, ns, metadata.name));
  ALLOT_RETURN_IF_ERROR(AdmitCreate(resource, ns, draft));
  if (strategy.prepare_for_create != nullptr) {
    strategy.prepare_for_create(strategy_context, draft.root(), draft.arena());
  }
  api::FieldErrors errors;
  if (strategy.validate_create != nullptr) {
    strategy.validate_create(strategy_context, draft.root(), errors);
  }
  if (!errors.empty()) {
    const api::KindInfo& stored = StoredInfo(resource);
    return Failure(api::ToStatus(stored.group, stored.kind, metadata.name, errors));
  }
  if (strategy.warnings != nullptr && context.warnings != nullptr) {
    strategy.warnings(draft.root(), nullptr, *context.warnings);
  }
  ALLOT_RETURN_IF_ERROR(AdmitValid(resource, draft));
  for (int attempt = 1;; ++attempt) {
    Result<Written> written = CommitNew(context, resource, draft);
    if (written || written.error().reason() != Reason::kAlreadyExists) {
      return written;
    }
    if (!generated) {
      return Failure(AlreadyExistsError(info, metadata.name));
    }
    if (attempt == kNameAttempts) {
      Status status = AlreadyExistsError(info, metadata.name);
      Status told(
          Reason::kAlreadyExists,
          status.message() + ", the server was not able to generate a unique name for the object",
          *status.details());
      told.mutable_details().retry_after_seconds = 1;
      return Failure(std::move(told));
    }
    metadata.name = draft.Copy(fmt::format(
        "{}{}", metadata.generate_name.substr(0, kMaxGeneratedBase), random_.NameSuffix()));
  }
}

Result<Written> Registry::CommitNew(const WriteContext& context,
                                    const Resource& resource,
                                    AnyDraft& draft) {
  const api::meta::ObjectMeta& metadata = MetadataOf(draft.type(), draft.root());
  const std::string key = resource.KeyOf(metadata.namespace_, metadata.name);
  const base::Ref<const schema::Object> record = EncodeRecord(draft.type(), draft.root());
  Written out;
  out.view = context.borrowed ? draft.FreezeCopy(record->body().size()) : draft.Freeze();
  out.created = true;
  if (context.dry_run) {
    if (store_.ReadHead({resource.store_id, key})) {
      return Failure(AlreadyExistsError(*resource.info, metadata.name));
    }
    return out;
  }
  ALLOT_RETURN_IF_ERROR(CheckSize(*record));
  store::Op op;
  op.key = {resource.store_id, key};
  op.value = store::Value::Of(record);
  op.typed = out.view;
  op.expected = store::kAbsent;
  ALLOT_ASSIGN_OR_RETURN(out.entry, store_.Commit(std::move(op), context.sink, context.token));
  out.revision = out.entry->revision();
  out.pending = true;
  return out;
}

Result<Written> Registry::Update(const WriteContext& context,
                                 const Resource& resource,
                                 std::string_view ns,
                                 std::string_view name,
                                 std::string_view subresource,
                                 bool unconditional,
                                 const UpdateSource& source) {
  const std::string key = resource.KeyOf(ns, name);
  for (int attempt = 1;; ++attempt) {
    const base::Ref<const store::Entry> entry = store_.ReadHead({resource.store_id, key});
    if (!entry) {
      if (!resource.strategy->allow_create_on_update || !subresource.empty()) {
        return Failure(NotFoundError(*resource.info, name));
      }
      ALLOT_ASSIGN_OR_RETURN(AnyDraft draft, source(nullptr, 0));
      api::meta::ObjectMeta& metadata = MetadataOf(draft.type(), draft.root());
      if (!metadata.uid.empty()) {
        return Failure(PreconditionError(resource, ns, name, "UID", metadata.uid, ""));
      }
      metadata.resource_version = {};
      return Create(context, resource, ns, std::move(draft));
    }
    Result<Written> written =
        UpdateOnce(context, resource, *entry, subresource, unconditional, source);
    if (written || !IsRace(written.error()) || written.error().details() != nullptr) {
      return written;
    }
    // The store's own refusal, without details: another write came between reading and committing.
    if (attempt == kMaxAttempts) {
      return Failure(StaleError(*resource.info, name));
    }
  }
}

Result<Written> Registry::UpdateOnce(const WriteContext& context,
                                     const Resource& resource,
                                     const store::Entry& entry,
                                     std::string_view subresource,
                                     bool unconditional,
                                     const UpdateSource& source) {
  const api::Strategy& strategy = *resource.strategy;
  const api::UpdateRules* const rules = strategy.Update(subresource);
  if (rules == nullptr) {
    return Failure(NoSuchResourceError());
  }
  ALLOT_ASSIGN_OR_RETURN(const AnyView old_view, ViewOf(entry));
  const api::meta::ObjectMeta& old = MetadataOf(resource.stored_type(), old_view.get());
  ALLOT_ASSIGN_OR_RETURN(AnyDraft draft, source(old_view, entry.revision()));
  api::meta::ObjectMeta& metadata = MetadataOf(draft.type(), draft.root());
  if (!unconditional && !metadata.uid.empty() && metadata.uid != old.uid) {
    return Failure(
        PreconditionError(resource, old.namespace_, old.name, "UID", metadata.uid, old.uid));
  }
  ALLOT_RETURN_IF_ERROR(CheckVersion(resource,
                                     metadata,
                                     old,
                                     entry.revision(),
                                     unconditional || strategy.allow_unconditional_update));
  metadata.resource_version = {};
  CarryMetadata(metadata, old);
  DropRepeatedOwners(draft, metadata, /*after_patch=*/unconditional, context.warnings);
  SetTypeMeta(resource, draft);
  api::StrategyContext strategy_context = StrategyContextNow();
  strategy_context.request_group = resource.info->group;
  if (strategy.apply_defaults != nullptr) {
    strategy.apply_defaults(strategy_context, draft.root(), draft.arena());
  }
  if (rules->prepare != nullptr) {
    rules->prepare(strategy_context, draft.root(), old_view.get(), draft.arena());
  }
  ALLOT_RETURN_IF_ERROR(AdmitUpdate(resource, subresource, draft, old_view));
  api::FieldErrors errors;
  if (!SharesMetadata(metadata, old)) {
    api::ValidateCommonMeta(metadata, strategy.scope, errors);
  }
  if (rules->validate != nullptr) {
    rules->validate(strategy_context, draft.root(), old_view.get(), errors);
  }
  if (!errors.empty()) {
    const api::KindInfo& stored = StoredInfo(resource);
    return Failure(api::ToStatus(stored.group, stored.kind, old.name, errors));
  }
  if (strategy.warnings != nullptr && context.warnings != nullptr && subresource.empty()) {
    strategy.warnings(draft.root(), old_view.get(), *context.warnings);
  }
  if (subresource.empty()) {
    ALLOT_RETURN_IF_ERROR(AdmitValid(resource, draft));
  }
  return CommitUpdate(context, resource, entry, draft, RemovesObject(resource, draft, old));
}

Result<Written> Registry::CommitUpdate(const WriteContext& context,
                                       const Resource& resource,
                                       const store::Entry& old,
                                       AnyDraft& draft,
                                       bool remove) {
  const base::Ref<const schema::Object> record = EncodeRecord(draft.type(), draft.root());
  Written out;
  out.view = draft.FreezeCopy(record->body().size());  // the draft shares parts of the old object
  out.removed = remove;
  if (!remove && record->body() == old.value().bytes()) {
    out.entry = base::Ref<const store::Entry>::Share(&old);
    out.revision = old.revision();
    return out;
  }
  if (context.dry_run) {
    out.revision = old.revision();
    return out;
  }
  if (!remove) {
    ALLOT_RETURN_IF_ERROR(CheckSize(*record));
  }
  store::Op op;
  op.key = {resource.store_id, old.key()};
  op.value = store::Value::Of(record);
  op.typed = out.view;
  op.expected = old.revision();
  op.remove = remove;
  ALLOT_ASSIGN_OR_RETURN(out.entry, store_.Commit(std::move(op), context.sink, context.token));
  out.revision = out.entry->revision();
  out.pending = true;
  return out;
}

}  // namespace allot::apiserver
