#include "controllers/resourceclaim/resource_claim_controller.h"

#include <utility>

#include <fmt/format.h>

#include "api/core/v1.gen.h"
#include "api/pod_claims.h"
#include "api/resource/v1.gen.h"

namespace allot::controllers {
namespace {

using api::ClaimRef;
using api::ClaimRefState;
using api::core::Pod;
using api::core::PodResourceClaim;
using api::resource::ResourceClaim;
using api::resource::ResourceClaimConsumerReference;
using api::resource::ResourceClaimTemplate;
using client::Typed;

constexpr std::string_view kPodPrefix = "pod:";
constexpr std::string_view kClaimPrefix = "claim:";

std::string PrefixedKey(std::string_view prefix, std::string_view ns, std::string_view name) {
  return fmt::format("{}{}/{}", prefix, ns, name);
}

template <typename T>
const T& As(const client::Item& item) {
  return *static_cast<const T*>(item.view.get());
}

bool AsksAdminAccess(const ResourceClaim& claim) {
  for (const api::resource::DeviceRequest& request : claim.spec.devices.requests) {
    if (request.exactly != nullptr && request.exactly->admin_access != nullptr &&
        *request.exactly->admin_access) {
      return true;
    }
  }
  return false;
}

client::WorkQueue::Options QueueOptions() {
  return {};
}

}  // namespace

std::string GenerateClaimName(std::string_view pod, std::string_view entry) {
  constexpr std::size_t kMaxBase = 57;  // five random characters and a dash make 63
  const std::size_t total = pod.size() + entry.size() + 2;
  if (total <= kMaxBase) {
    return fmt::format("{}-{}-", pod, entry);
  }
  return fmt::format("{}-{}",
                     pod.substr(0, pod.size() * kMaxBase / total),
                     entry.substr(0, entry.size() * kMaxBase / total));
}

void ResourceClaimController::DeletedUids::Add(std::string_view uid) {
  if (set_.emplace(uid).second) {
    order_.emplace_back(uid);
    if (order_.size() > kLimit) {
      set_.erase(order_.front());
      order_.pop_front();
    }
  }
}

ResourceClaimController::ResourceClaimController(Context& context)
    : context_(context),
      pods_(context.For<Pod>()),
      claims_(context.For<ResourceClaim>()),
      templates_(context.For<ResourceClaimTemplate>()),
      pods_by_claim_(AddPodsByClaim(pods_)),
      pods_by_template_(pods_.AddIndex(
          "template",
          [](const client::Item& item, std::vector<std::string>& keys) {
            const Pod& pod = As<Pod>(item);
            for (const PodResourceClaim& entry : pod.spec.resource_claims) {
              if (entry.resource_claim_template_name != nullptr) {
                keys.push_back(KeyOf(pod.metadata.namespace_, *entry.resource_claim_template_name));
              }
            }
          })),
      claims_by_owner_(claims_.AddIndex(
          "owner",
          [](const client::Item& item, std::vector<std::string>& keys) {
            const auto* const owner = api::ControllerOf(As<ResourceClaim>(item).metadata);
            if (owner != nullptr && owner->kind == "Pod" && owner->api_version == "v1") {
              keys.emplace_back(owner->uid);
            }
          })),
      queue_(
          context.loop,
          "resource_claim",
          [this](const std::string& key) { return Sync(key); },
          QueueOptions()),
      recorder_(context.client,
                context.loop,
                {.api = client::EventApi::kCoreV1, .component = "resource_claim"}) {
  pods_.OnChanges([this](std::span<const client::Change> changes) { OnPods(changes); });
  claims_.OnChanges([this](std::span<const client::Change> changes) { OnClaims(changes); });
  templates_.OnChanges([this](std::span<const client::Change> changes) { OnTemplates(changes); });
  Watch(context_, queue_);
}

Typed<ResourceClaim> ResourceClaimController::FindClaim(std::string_view ns,
                                                        std::string_view name) const {
  const client::Item item = claims_.FindItem(ns, name);
  if (!item.object) {
    return {};
  }
  auto claim = client::ViewOf<ResourceClaim>(item);
  return claim ? *std::move(claim) : Typed<ResourceClaim>{};
}

Typed<Pod> ResourceClaimController::FindPod(std::string_view ns, std::string_view name) const {
  const client::Item item = pods_.FindItem(ns, name);
  if (!item.object) {
    return {};
  }
  auto pod = client::ViewOf<Pod>(item);
  return pod ? *std::move(pod) : Typed<Pod>{};
}

// ---- events
// -----------------------------------------------------------------------------------------

void ResourceClaimController::OnPods(std::span<const client::Change> changes) {
  for (const client::Change& change : changes) {
    EnqueuePod(As<Pod>(change.item), change.type == client::EventType::kDeleted);
  }
}

void ResourceClaimController::EnqueuePod(const Pod& pod, bool deleted) {
  const auto* const extended = pod.status.extended_resource_claim_status;
  if (pod.spec.resource_claims.empty() && extended == nullptr) {
    return;
  }
  const std::string_view ns = pod.metadata.namespace_;
  if (deleted) {
    done_.erase(std::string(pod.metadata.uid));
    deleted_.Add(pod.metadata.uid);
    for (const PodResourceClaim& entry : pod.spec.resource_claims) {
      made_.erase(KeyOf(pod.metadata.uid, entry.name));
    }
  }
  if (!deleted && api::IsPodDone(pod)) {
    done_.emplace(pod.metadata.uid);
  }
  if (deleted || api::IsPodDone(pod)) {
    for (const PodResourceClaim& entry : pod.spec.resource_claims) {
      const ClaimRef ref = api::ResolveClaim(pod, entry);
      if (ref.state == ClaimRefState::kNamed) {
        queue_.Add(PrefixedKey(kClaimPrefix, ns, ref.name));
      }
    }
    if (extended != nullptr) {
      queue_.Add(PrefixedKey(kClaimPrefix, ns, extended->resource_claim_name));
    }
  }
  if (!deleted && NeedsWork(pod)) {
    queue_.Add(PrefixedKey(kPodPrefix, ns, pod.metadata.name));
  }
}

bool ResourceClaimController::NeedsWork(const Pod& pod) const {
  if (pod.metadata.deletion_timestamp != nullptr || api::IsPodFinished(pod)) {
    return false;  // a claim made for it now would be deleted again at once
  }
  for (const PodResourceClaim& entry : pod.spec.resource_claims) {
    const ClaimRef ref = api::ResolveClaim(pod, entry);
    switch (ref.state) {
      case ClaimRefState::kNotNeeded: continue;
      case ClaimRefState::kNotCreated:
      case ClaimRefState::kUnset: return true;
      case ClaimRefState::kNamed: break;
    }
    if (!claims_.Find(pod.metadata.namespace_, ref.name)) {
      if (ref.generated) {
        return true;  // it was deleted, or the informer is behind: the sync looks closer
      }
      continue;
    }
    if (pod.spec.node_name.empty()) {
      continue;  // the scheduler reserves
    }
    const Typed<ResourceClaim> claim = FindClaim(pod.metadata.namespace_, ref.name);
    if (claim.view && (!ref.generated || api::IsClaimForPod(pod, *claim)) &&
        claim->status.allocation != nullptr && !api::IsReservedFor(*claim, pod.metadata.uid)) {
      return true;
    }
  }
  return false;
}

void ResourceClaimController::OnClaims(std::span<const client::Change> changes) {
  for (const client::Change& change : changes) {
    const auto& claim = As<ResourceClaim>(change.item);
    const std::string_view ns = claim.metadata.namespace_;
    const bool deleted = change.type == client::EventType::kDeleted;
    CountClaim(claim, deleted ? -1 : 1);
    if (!deleted) {
      if (MayNeedSync(claim)) {
        queue_.Add(PrefixedKey(kClaimPrefix, ns, claim.metadata.name));
      }
      if (const auto* const owner = api::ControllerOf(claim.metadata); owner != nullptr) {
        if (const schema::Str* entry = claim.metadata.annotations.Find(api::kPodClaimAnnotation)) {
          made_.erase(KeyOf(owner->uid, *entry));
        }
      }
    }
    for (const client::Item& item : pods_.ByIndex(pods_by_claim_, KeyOf(ns, claim.metadata.name))) {
      if (const auto pod = client::ViewOf<Pod>(item)) {
        EnqueuePod(**pod, /*deleted=*/false);
      }
    }
  }
}

bool ResourceClaimController::MayNeedSync(const ResourceClaim& claim) const {
  // A claim whose users and owner are all known and alive needs nothing: the end of a pod queues
  // its claims by itself. Most claim events are of this kind, so the look is by headers alone.
  if (claim.metadata.deletion_timestamp != nullptr) {
    return true;
  }
  const auto alive = [&](std::string_view name, std::string_view uid) {
    const client::ObjectRef pod = pods_.Find(claim.metadata.namespace_, name);
    return pod && pod->uid() == uid && !done_.contains(std::string(uid));
  };
  for (const ResourceClaimConsumerReference& user : claim.status.reserved_for) {
    if (user.api_group.empty() && user.resource == "pods" && !alive(user.name, user.uid)) {
      return true;
    }
  }
  const auto* const owner = api::ControllerOf(claim.metadata);
  return owner != nullptr && owner->kind == "Pod" && claim.status.reserved_for.empty() &&
         !alive(owner->name, owner->uid);
}

void ResourceClaimController::OnTemplates(std::span<const client::Change> changes) {
  for (const client::Change& change : changes) {
    if (change.type == client::EventType::kDeleted) {
      continue;
    }
    const std::string key = KeyOf(change.item.object->namespace_(), change.item.object->name());
    for (const client::Item& item : pods_.ByIndex(pods_by_template_, key)) {
      if (const auto pod = client::ViewOf<Pod>(item)) {
        EnqueuePod(**pod, /*deleted=*/false);
      }
    }
  }
}

void ResourceClaimController::CountClaim(const ResourceClaim& claim, int by) {
  telemetry::Gauge*& known = counted_[std::string(claim.metadata.uid)];
  if (known != nullptr) {
    known->Add(-1);
  }
  if (by < 0) {
    counted_.erase(std::string(claim.metadata.uid));
    return;
  }
  constexpr std::string_view kSources[] = {"", "extended_resource", "resource_claim_template"};
  const std::size_t source = claim.metadata.annotations.Get(api::kExtendedClaimAnnotation) == "true"
                                 ? 1
                             : claim.metadata.annotations.Get(api::kPodClaimAnnotation).empty() ? 0
                                                                                                : 2;
  const bool allocated = claim.status.allocation != nullptr;
  const bool admin = AsksAdminAccess(claim);
  telemetry::Gauge*& gauge = gauges_[source * 4 + (allocated ? 2 : 0) + (admin ? 1 : 0)];
  if (gauge == nullptr) {
    gauge = &context_.metrics.GetGauge("dynamic_resource_allocation_resource_claims",
                                       "ResourceClaims in the cluster.",
                                       {{"allocated", allocated ? "true" : "false"},
                                        {"admin_access", admin ? "true" : "false"},
                                        {"source", std::string(kSources[source])}});
  }
  known = gauge;
  known->Add(1);
}

void ResourceClaimController::CountCreate(const ResourceClaim& claim, std::string_view status) {
  context_.metrics
      .GetCounter("dynamic_resource_allocation_resourceclaim_creates_total",
                  "ResourceClaims made for others, by outcome.",
                  {{"status", std::string(status)},
                   {"admin_access", AsksAdminAccess(claim) ? "true" : "false"},
                   {"owner_api_group", ""},
                   {"owner_api_kind", "Pod"}})
      .Add();
}

// ---- pods
// -------------------------------------------------------------------------------------------

base::Result<void> ResourceClaimController::Sync(const std::string& key) {
  const std::string_view text = key;
  if (text.starts_with(kPodPrefix)) {
    const auto [ns, name] = SplitKey(text.substr(kPodPrefix.size()));
    return SyncPod(ns, name);
  }
  const auto [ns, name] = SplitKey(text.substr(kClaimPrefix.size()));
  return SyncClaim(ns, name);
}

base::Result<void> ResourceClaimController::SyncPod(std::string_view ns, std::string_view name) {
  const Typed<Pod> pod = FindPod(ns, name);
  if (!pod.view || pod->metadata.deletion_timestamp != nullptr || api::IsPodFinished(*pod)) {
    return {};
  }
  NewClaims made;
  for (const PodResourceClaim& entry : pod->spec.resource_claims) {
    base::Result<void> handled = HandleEntry(pod, entry, made);
    if (!handled) {
      recorder_.Record(
          {.api_version = "v1",
           .kind = "Pod",
           .ns = std::string(ns),
           .name = std::string(name),
           .uid = std::string(pod->metadata.uid),
           .revision = pod.revision()},
          client::EventSeverity::kWarning,
          "FailedResourceClaimCreation",
          "",
          fmt::format("PodResourceClaim {}: {}", entry.name, handled.error().message()));
      return handled;
    }
  }
  if (!made.empty()) {
    ALLOT_RETURN_IF_ERROR(RecordClaims(pod, made));
  }
  if (pod->spec.node_name.empty()) {
    return {};
  }
  return ReserveBound(*pod);
}

base::Result<void> ResourceClaimController::HandleEntry(const Typed<Pod>& pod,
                                                        const PodResourceClaim& entry,
                                                        NewClaims& made) {
  const ClaimRef ref = api::ResolveClaim(*pod, entry);
  if (ref.state == ClaimRefState::kUnset) {
    return base::Error(
        base::Reason::kInvalid,
        fmt::format("checking for claim before creating it: pod \"{}/{}\", spec.resourceClaim "
                    "\"{}\": none of the supported fields are set",
                    pod->metadata.namespace_,
                    pod->metadata.name,
                    entry.name));
  }
  if (ref.state == ClaimRefState::kNotNeeded || !ref.generated) {
    return {};
  }
  if (ref.state == ClaimRefState::kNamed) {
    ALLOT_ASSIGN_OR_RETURN(const bool exists, ClaimExists(*pod, ref.name, ref.generated));
    if (exists) {
      return {};
    }
  }
  std::string claim = FindOrphan(*pod, entry.name);
  if (claim.empty()) {
    ALLOT_ASSIGN_OR_RETURN(claim, CreateClaim(pod, entry));
  }
  made.insert_or_assign(std::string(entry.name), std::move(claim));
  return {};
}

base::Result<bool> ResourceClaimController::ClaimExists(const Pod& pod,
                                                        std::string_view name,
                                                        bool generated) const {
  Typed<ResourceClaim> claim = FindClaim(pod.metadata.namespace_, name);
  if (!claim.view) {
    // The informer may be behind what we wrote ourselves.
    auto live = client::Get<ResourceClaim>(context_.client, pod.metadata.namespace_, name);
    if (!live) {
      if (live.error().reason() == base::Reason::kNotFound) {
        return false;
      }
      return base::Error(std::move(live).error().Prepend("checking claim existence: "));
    }
    claim = *std::move(live);
  }
  return !generated || api::IsClaimForPod(pod, *claim);
}

std::string ResourceClaimController::FindOrphan(const Pod& pod, std::string_view entry) const {
  if (const auto found = made_.find(KeyOf(pod.metadata.uid, entry)); found != made_.end()) {
    return found->second;
  }
  for (const client::Item& item : claims_.ByIndex(claims_by_owner_, pod.metadata.uid)) {
    const auto claim = client::ViewOf<ResourceClaim>(item);
    if (claim && (*claim)->metadata.annotations.Get(api::kPodClaimAnnotation) == entry) {
      return std::string((*claim)->metadata.name);
    }
  }
  return {};
}

base::Result<std::string> ResourceClaimController::CreateClaim(const Typed<Pod>& pod,
                                                               const PodResourceClaim& entry) {
  const std::string_view ns = pod->metadata.namespace_;
  const std::string_view template_name = *entry.resource_claim_template_name;
  const client::ObjectRef object = templates_.Find(ns, template_name);
  if (!object) {
    return base::Error(base::Reason::kNotFound,
                       fmt::format("resource claim template \"{}\": "
                                   "resourceclaimtemplate.resource.k8s.io \"{}\" not found",
                                   template_name,
                                   template_name));
  }
  // Pods come in numbers from one template.
  if (last_template_.object.get() != object.get()) {
    ALLOT_ASSIGN_OR_RETURN(last_template_,
                           client::ViewOf<ResourceClaimTemplate>({object, nullptr}));
  }
  const Typed<ResourceClaimTemplate> source = last_template_;
  schema::Draft<ResourceClaim> draft;
  draft->metadata.generate_name = draft.Copy(GenerateClaimName(pod->metadata.name, entry.name));
  draft->metadata.namespace_ = ns;
  draft->metadata.labels = source->spec.metadata.labels;
  draft->metadata.annotations = source->spec.metadata.annotations;
  draft.Put(draft->metadata.annotations, api::kPodClaimAnnotation, entry.name);
  api::meta::OwnerReference owner;
  owner.api_version = "v1";
  owner.kind = "Pod";
  owner.name = pod->metadata.name;
  owner.uid = pod->metadata.uid;
  draft.Set(owner.controller, true);
  draft.Append(draft->metadata.owner_references, owner);
  draft->spec = source->spec.spec;
  // The draft refers to texts of the template and the pod; it must own what it is published with.
  draft.KeepAlive(source.view);
  draft.KeepAlive(pod.view);

  const std::string key = KeyOf(pod->metadata.uid, entry.name);
  const std::string work = PrefixedKey(kPodPrefix, ns, pod->metadata.name);
  const auto created = client::Create(context_.client, draft, context_.Chained([this, key, work] {
    made_.erase(key);
    queue_.Add(work);
  }));
  CountCreate(*draft, created ? "success" : "failure");
  if (!created) {
    return base::Error(base::Status(created.error()).Prepend("create ResourceClaim : "));
  }
  std::string name(created->object->name());
  made_[key] = name;
  return name;
}

base::Result<void> ResourceClaimController::RecordClaims(const Typed<Pod>& typed,
                                                         const NewClaims& made) {
  const Pod& pod = *typed;
  if (context_.client.is_local()) {
    const base::Result<bool> recorded = RecordInPlace(typed, made);
    if (!recorded || *recorded) {
      return recorded ? base::Result<void>() : base::Error(recorded.error());
    }
  }
  // Names of entries and claims need no escaping in JSON: the API admits DNS names alone.
  std::string entries;
  for (const auto& [entry, claim] : made) {
    fmt::format_to(std::back_inserter(entries),
                   R"({}{{"name":"{}","resourceClaimName":"{}"}})",
                   entries.empty() ? "" : ",",
                   entry,
                   claim);
  }
  const std::string patch =
      fmt::format(R"({{"metadata":{{"uid":"{}"}},"status":{{"resourceClaimStatuses":[{}]}}}})",
                  pod.metadata.uid,
                  entries);
  const std::string work = PrefixedKey(kPodPrefix, pod.metadata.namespace_, pod.metadata.name);
  const auto patched = client::Patch<Pod>(context_.client,
                                          pod.metadata.namespace_,
                                          pod.metadata.name,
                                          client::PatchType::kStrategicMerge,
                                          patch,
                                          "status",
                                          context_.Chained([this, work] { queue_.Add(work); }));
  if (!patched && patched.error().reason() != base::Reason::kNotFound) {
    return base::Error(base::Status(patched.error())
                           .Prepend(fmt::format("update pod {}/{} ResourceClaimStatuses: ",
                                                pod.metadata.namespace_,
                                                pod.metadata.name)));
  }
  return {};
}

base::Result<bool> ResourceClaimController::RecordInPlace(const Typed<Pod>& pod,
                                                          const NewClaims& made) {
  schema::Draft<Pod> draft(pod.view);
  auto& statuses = draft->status.resource_claim_statuses;
  for (const auto& [entry, claim] : made) {
    auto* const items = draft.MutableList(statuses);
    std::size_t at = 0;  // an entry keeps its place
    while (at < statuses.size() && items[at].name != entry) {
      ++at;
    }
    if (at < statuses.size()) {
      draft.Set(items[at].resource_claim_name, draft.Copy(claim));
      continue;
    }
    api::core::PodResourceClaimStatus status;
    status.name = draft.Copy(entry);
    draft.Set(status.resource_claim_name, draft.Copy(claim));
    draft.Append(statuses, status);
  }
  const std::string work = PrefixedKey(kPodPrefix, pod->metadata.namespace_, pod->metadata.name);
  client::WriteOptions write = context_.Chained([this, work] { queue_.Add(work); });
  write.preconditions.revision = pod.revision();
  const auto updated = client::UpdateStatus(context_.client, draft, write);
  if (updated || updated.error().reason() == base::Reason::kNotFound) {
    return true;
  }
  if (updated.error().reason() == base::Reason::kConflict) {
    return false;  // the status changed meanwhile: a patch merges
  }
  return base::Error(updated.error());
}

base::Result<void> ResourceClaimController::ReserveBound(const Pod& pod) {
  for (const PodResourceClaim& entry : pod.spec.resource_claims) {
    const ClaimRef ref = api::ResolveClaim(pod, entry);
    if (ref.state != ClaimRefState::kNamed) {
      continue;  // just recorded: its event brings the pod here again
    }
    const Typed<ResourceClaim> claim = FindClaim(pod.metadata.namespace_, ref.name);
    if (!claim.view) {
      return {};
    }
    if ((ref.generated && !api::IsClaimForPod(pod, *claim)) ||
        claim->status.allocation == nullptr || api::IsReservedFor(*claim, pod.metadata.uid)) {
      continue;
    }
    schema::Draft<ResourceClaim> draft(claim.view);
    ResourceClaimConsumerReference user;
    user.resource = "pods";
    user.name = draft.Copy(pod.metadata.name);
    user.uid = draft.Copy(pod.metadata.uid);
    draft.Append(draft->status.reserved_for, user);
    client::WriteOptions write = context_.Chained();
    write.preconditions.revision = claim.revision();
    ALLOT_RETURN_IF_ERROR(client::UpdateStatus(context_.client, draft, write));
  }
  return {};
}

// ---- claims
// -----------------------------------------------------------------------------------------

base::Result<bool> ResourceClaimController::StillUses(
    std::string_view ns, const ResourceClaimConsumerReference& user) const {
  if (!user.api_group.empty() || user.resource != "pods") {
    return true;  // a kind of user we do not know is never removed
  }
  if (deleted_.Has(user.uid)) {
    return false;
  }
  if (const Typed<Pod> pod = FindPod(ns, user.name); pod.view) {
    return pod->metadata.uid == user.uid && !api::IsPodDone(*pod);
  }
  // The informer may not have it yet; only the server knows for certain.
  const auto live = client::Get<Pod>(context_.client, ns, user.name);
  if (!live) {
    if (live.error().reason() == base::Reason::kNotFound) {
      return false;
    }
    return base::Error(live.error());
  }
  return (*live)->metadata.uid == user.uid;
}

base::Result<void> ResourceClaimController::SyncClaim(std::string_view ns, std::string_view name) {
  Typed<ResourceClaim> claim = FindClaim(ns, name);
  if (!claim.view) {
    return {};
  }
  std::vector<ResourceClaimConsumerReference> left;
  for (const ResourceClaimConsumerReference& user : claim->status.reserved_for) {
    ALLOT_ASSIGN_OR_RETURN(const bool uses, StillUses(ns, user));
    if (uses) {
      left.push_back(user);
    }
  }
  const bool finalizer = api::HasFinalizer(claim->metadata, api::kClaimFinalizer);
  const bool deleting = claim->metadata.deletion_timestamp != nullptr;
  if (left.size() < claim->status.reserved_for.size()) {
    ALLOT_ASSIGN_OR_RETURN(claim, DropUsers(std::move(claim), left));
  } else if (finalizer && deleting && left.empty()) {
    if (claim->status.allocation != nullptr) {
      ALLOT_ASSIGN_OR_RETURN(claim, DropUsers(std::move(claim), left));
    } else {
      ALLOT_ASSIGN_OR_RETURN(claim, RemoveFinalizer(claim));
    }
  }
  if (!left.empty() || !claim.view) {
    return {};
  }
  return DeleteUnused(claim);
}

base::Result<Typed<ResourceClaim>> ResourceClaimController::DropUsers(
    Typed<ResourceClaim> claim, const std::vector<ResourceClaimConsumerReference>& left) {
  schema::Draft<ResourceClaim> draft(claim.view);
  draft.Filter(draft->status.reserved_for, [&left](const ResourceClaimConsumerReference& user) {
    for (const ResourceClaimConsumerReference& kept : left) {
      if (kept.uid == user.uid) {
        return true;
      }
    }
    return false;
  });
  if (left.empty() && api::HasFinalizer(claim->metadata, api::kClaimFinalizer)) {
    draft->status.allocation = nullptr;
  }
  const std::string work =
      PrefixedKey(kClaimPrefix, claim->metadata.namespace_, claim->metadata.name);
  // No merge: anything that changed meanwhile must be looked at again.
  client::WriteOptions write = context_.Chained([this, work] { queue_.Add(work); });
  write.preconditions.revision = claim.revision();
  ALLOT_ASSIGN_OR_RETURN(claim, client::UpdateStatus(context_.client, draft, write));
  if (claim->status.allocation == nullptr &&
      api::HasFinalizer(claim->metadata, api::kClaimFinalizer)) {
    return RemoveFinalizer(claim);
  }
  return claim;
}

base::Result<Typed<ResourceClaim>> ResourceClaimController::RemoveFinalizer(
    const Typed<ResourceClaim>& claim) {
  schema::Draft<ResourceClaim> draft(claim.view);
  draft.Filter(draft->metadata.finalizers,
               [](schema::Str finalizer) { return finalizer != api::kClaimFinalizer; });
  const std::string work =
      PrefixedKey(kClaimPrefix, claim->metadata.namespace_, claim->metadata.name);
  client::WriteOptions write = context_.Chained([this, work] { queue_.Add(work); });
  write.preconditions.revision = claim.revision();
  auto updated = client::Update(context_.client, draft, write);
  // The last finalizer of a deleted claim takes the claim with it.
  if (!updated && updated.error().reason() == base::Reason::kNotFound) {
    return Typed<ResourceClaim>{};
  }
  return updated;
}

base::Result<void> ResourceClaimController::DeleteUnused(const Typed<ResourceClaim>& claim) {
  const auto* const owner = api::ControllerOf(claim->metadata);
  if (owner == nullptr || owner->api_version != "v1" || owner->kind != "Pod" ||
      claim->metadata.deletion_timestamp != nullptr) {
    return {};
  }
  const Typed<Pod> pod = FindPod(claim->metadata.namespace_, owner->name);
  // A pod we do not see may only be new; the garbage collector knows what became of it.
  if (!pod.view || (pod->metadata.uid == owner->uid && !api::IsPodDone(*pod))) {
    return {};
  }
  client::WriteOptions write = context_.Chained();
  write.preconditions.uid = claim->metadata.uid;
  auto deleted = client::Delete<ResourceClaim>(
      context_.client, claim->metadata.namespace_, claim->metadata.name, write);
  if (!deleted && deleted.error().reason() != base::Reason::kNotFound) {
    return base::Error(
        std::move(deleted).error().Prepend(fmt::format("delete unused generated claim {}/{}: ",
                                                       claim->metadata.namespace_,
                                                       claim->metadata.name)));
  }
  return {};
}

}  // namespace allot::controllers
