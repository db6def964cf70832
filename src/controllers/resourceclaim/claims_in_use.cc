// ResourceClaimController: what becomes of a claim whose users leave.
#include <utility>

#include <fmt/format.h>

#include "api/core/v1.gen.h"
#include "api/pod_claims.h"
#include "api/resource/v1.gen.h"
#include "controllers/resourceclaim/resource_claim_controller.h"
#include "controllers/resourceclaim/work_keys.h"

namespace allot::controllers {
namespace {

using api::core::Pod;
using api::resource::ResourceClaim;
using api::resource::ResourceClaimConsumerReference;
using client::Typed;

}  // namespace

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
