#include "controllers/resourceclaim/resource_claim_controller.h"

#include <utility>

#include <fmt/format.h>

#include "api/core/v1.gen.h"
#include "api/object_key.h"
#include "api/pod_claims.h"
#include "api/resource/v1.gen.h"
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
      pods_by_template_(
          pods_.AddIndex("template",
                         [](const client::Item& item, std::vector<std::string>& keys) {
                           const Pod& pod = As<Pod>(item);
                           for (const PodResourceClaim& entry : pod.spec.resource_claims) {
                             if (entry.resource_claim_template_name != nullptr) {
                               keys.push_back(api::KeyOf(pod.metadata.namespace_,
                                                         *entry.resource_claim_template_name));
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
      made_.erase(api::KeyOf(pod.metadata.uid, entry.name));
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
          made_.erase(api::KeyOf(owner->uid, *entry));
        }
      }
    }
    for (const client::Item& item :
         pods_.ByIndex(pods_by_claim_, api::KeyOf(ns, claim.metadata.name))) {
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
    const std::string key =
        api::KeyOf(change.item.object->namespace_(), change.item.object->name());
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
    const auto [ns, name] = api::SplitKey(text.substr(kPodPrefix.size()));
    return SyncPod(ns, name);
  }
  const auto [ns, name] = api::SplitKey(text.substr(kClaimPrefix.size()));
  return SyncClaim(ns, name);
}

}  // namespace allot::controllers
