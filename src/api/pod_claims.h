// How a pod refers to its claims: names, owners, reservations. Shared by all components that follow
// them. Thread safety: pure functions of frozen objects.
#pragma once

#include <cstdint>

#include "api/core/v1.gen.h"
#include "api/meta/v1.gen.h"
#include "api/resource/v1.gen.h"

namespace allot::api {

/// On claims that hold an allocation, so that they outlive their users.
inline constexpr schema::Str kClaimFinalizer = "resource.kubernetes.io/delete-protection";
/// On claims made from a template: the entry of spec.resourceClaims.
inline constexpr schema::Str kPodClaimAnnotation = "resource.kubernetes.io/pod-claim-name";
/// On claims that the scheduler made for extended resources: "true".
inline constexpr schema::Str kExtendedClaimAnnotation =
    "resource.kubernetes.io/extended-resource-claim";

enum class ClaimRefState : std::uint8_t {
  kNamed,       ///< `name` says which claim
  kNotNeeded,   ///< recorded as not needed: skip the entry
  kNotCreated,  ///< the claim has not been made from its template yet
  kUnset,       ///< neither field is set (a newer API than ours)
};

struct ClaimRef {
  ClaimRefState state = ClaimRefState::kUnset;
  schema::Str name;
  bool generated = false;  ///< must be controlled by the pod
};

/// Which claim one entry of spec.resourceClaims means.
[[nodiscard]] inline ClaimRef ResolveClaim(const core::Pod& pod,
                                           const core::PodResourceClaim& entry) {
  if (entry.resource_claim_name != nullptr) {
    return {ClaimRefState::kNamed, *entry.resource_claim_name, false};
  }
  if (entry.resource_claim_template_name == nullptr) {
    return {};
  }
  for (const core::PodResourceClaimStatus& status : pod.status.resource_claim_statuses) {
    if (status.name == entry.name) {
      if (status.resource_claim_name == nullptr) {
        return {ClaimRefState::kNotNeeded, {}, true};
      }
      return {ClaimRefState::kNamed, *status.resource_claim_name, true};
    }
  }
  return {ClaimRefState::kNotCreated, {}, true};
}

/// The owner that controls the object; null when none does.
[[nodiscard]] inline const meta::OwnerReference* ControllerOf(const meta::ObjectMeta& metadata) {
  for (const meta::OwnerReference& owner : metadata.owner_references) {
    if (owner.controller != nullptr && *owner.controller) {
      return &owner;
    }
  }
  return nullptr;
}

/// Whether the claim was made for this pod.
[[nodiscard]] inline bool IsClaimForPod(const core::Pod& pod,
                                        const resource::ResourceClaim& claim) {
  const meta::OwnerReference* const owner = ControllerOf(claim.metadata);
  return claim.metadata.namespace_ == pod.metadata.namespace_ && owner != nullptr &&
         owner->uid == pod.metadata.uid;
}

[[nodiscard]] inline bool IsReservedFor(const resource::ResourceClaim& claim, schema::Str uid) {
  for (const resource::ResourceClaimConsumerReference& user : claim.status.reserved_for) {
    if (user.uid == uid) {
      return true;
    }
  }
  return false;
}

[[nodiscard]] inline bool IsPodFinished(const core::Pod& pod) {
  return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
}

/// Certain that none of the pod's containers runs or ever will.
[[nodiscard]] inline bool IsPodDone(const core::Pod& pod) {
  return IsPodFinished(pod) ||
         (pod.metadata.deletion_timestamp != nullptr && pod.spec.node_name.empty());
}

[[nodiscard]] inline bool HasFinalizer(const meta::ObjectMeta& metadata, schema::Str finalizer) {
  for (const schema::Str held : metadata.finalizers) {
    if (held == finalizer) {
      return true;
    }
  }
  return false;
}

}  // namespace allot::api
