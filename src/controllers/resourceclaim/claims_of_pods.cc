// ResourceClaimController: what a pod needs: claims from templates, their names in its status,
// reservations.
#include <utility>

#include <fmt/format.h>

#include "api/core/v1.gen.h"
#include "api/object_key.h"
#include "api/pod_claims.h"
#include "api/resource/v1.gen.h"
#include "controllers/resourceclaim/resource_claim_controller.h"
#include "controllers/resourceclaim/work_keys.h"

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

}  // namespace

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
  if (const auto found = made_.find(api::KeyOf(pod.metadata.uid, entry)); found != made_.end()) {
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

  const std::string key = api::KeyOf(pod->metadata.uid, entry.name);
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
  const std::string work = PrefixedKey(kPodPrefix, pod.metadata.namespace_, pod.metadata.name);
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
    client::WriteOptions write = context_.Chained([this, work] { queue_.Add(work); });
    write.preconditions.revision = claim.revision();
    ALLOT_RETURN_IF_ERROR(client::UpdateStatus(context_.client, draft, write));
  }
  return {};
}

// ---- claims
// -----------------------------------------------------------------------------------------

}  // namespace allot::controllers
