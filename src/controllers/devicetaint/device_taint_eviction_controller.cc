#include "controllers/devicetaint/device_taint_eviction_controller.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/core/v1.gen.h"
#include "api/object_key.h"
#include "api/pod_claims.h"
#include "api/resource/v1.gen.h"
#include "client/pod_conditions.h"
#include "quantity/time.h"

namespace allot::controllers {
namespace {

using api::ClaimRef;
using api::ClaimRefState;
using api::core::Pod;
using api::resource::AllocationResult;
using api::resource::DeviceTaintRule;
using api::resource::ResourceClaim;
using api::resource::ResourceSlice;

template <typename T>
const T& As(const client::Item& item) {
  return *static_cast<const T*>(item.view.get());
}

std::string PoolKey(std::string_view driver, std::string_view pool) {
  return fmt::format("{}/{}", driver, pool);
}

}  // namespace

DeviceTaintEvictionController::DeviceTaintEvictionController(Context& context, bool with_rules)
    : context_(context),
      slices_(context.For<ResourceSlice>()),
      rules_(context.For<DeviceTaintRule>()),
      claims_(context.For<ResourceClaim>()),
      pods_(context.For<Pod>()),
      claims_by_pool_(
          claims_.AddIndex("pool",
                           [](const client::Item& item, std::vector<std::string>& keys) {
                             const auto& claim = As<ResourceClaim>(item);
                             if (claim.status.allocation == nullptr) {
                               return;
                             }
                             for (const auto& result : claim.status.allocation->devices.results) {
                               keys.push_back(PoolKey(result.driver, result.pool));
                             }
                           })),
      pods_by_claim_(AddPodsByClaim(pods_)),
      pod_queue_(context.loop,
                 "device-taint-eviction-controller",
                 [this](const std::string& key) { return SyncPod(key); }),
      rule_queue_(context.loop,
                  "device-taint-rule-status",
                  [this](const std::string& name) { return SyncRule(name); }),
      recorder_(
          context.client,
          context.loop,
          {.api = client::EventApi::kCoreV1, .component = "device-taint-eviction-controller"}),
      deletions_(context.metrics.GetCounter("device_taint_eviction_controller_pod_deletions_total",
                                            "Pods deleted because of a device taint.")),
      delays_(context.metrics.GetHistogram(
          "device_taint_eviction_controller_pod_deletion_duration_seconds",
          "Time from when a pod had to go until it was deleted.",
          {0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240})) {
  using Changes = std::span<const client::Change>;
  slices_.OnChanges([this](Changes changes) { OnSlices(changes); });
  if (with_rules) {
    rules_.OnChanges([this](Changes changes) { OnRules(changes); });
  }
  claims_.OnChanges([this](Changes changes) { OnClaims(changes); });
  pods_.OnChanges([this](Changes changes) { OnPods(changes); });
  Watch(context_, pod_queue_);
  Watch(context_, rule_queue_);
}

void DeviceTaintEvictionController::OnSlices(std::span<const client::Change> changes) {
  for (const client::Change& change : changes) {
    const auto& slice = As<ResourceSlice>(change.item);
    if (change.type == client::EventType::kDeleted) {
      index_.DeleteSlice(slice);
    } else {
      index_.UpsertSlice(slice);
    }
    for (const client::Item& claim :
         claims_.ByIndex(claims_by_pool_, PoolKey(slice.spec.driver, slice.spec.pool.name))) {
      EnqueueUsers(claim.object);
    }
  }
}

void DeviceTaintEvictionController::OnRules(std::span<const client::Change> changes) {
  for (const client::Change& change : changes) {
    const auto& rule = As<DeviceTaintRule>(change.item);
    const std::string name(rule.metadata.name);
    if (change.type == client::EventType::kDeleted) {
      index_.DeleteRule(name);
      evicted_by_.erase(std::string(rule.metadata.uid));
      reported_.erase(name);
    } else {
      index_.UpsertRule(rule);
      rule_queue_.Add(name);
    }
  }
  // A rule may concern devices of any pool; rules are few and change rarely.
  claims_.ForEach([this](const client::ObjectRef& claim) { EnqueueUsers(claim); });
}

void DeviceTaintEvictionController::OnClaims(std::span<const client::Change> changes) {
  for (const client::Change& change : changes) {
    const auto& claim = As<ResourceClaim>(change.item);
    if (claim.status.allocation == nullptr && change.type == client::EventType::kAdded) {
      continue;
    }
    if (claim.status.allocation == nullptr && scheduled_.empty()) {
      continue;
    }
    EnqueueUsers(change.item.object);
  }
}

void DeviceTaintEvictionController::OnPods(std::span<const client::Change> changes) {
  for (const client::Change& change : changes) {
    const Pod& pod = As<Pod>(change.item);
    const std::string key = api::KeyOf(pod.metadata.namespace_, pod.metadata.name);
    if (change.type == client::EventType::kDeleted) {
      if (scheduled_.erase(key) != 0) {
        EnqueueRules();
      }
      continue;
    }
    const bool uses =
        !pod.spec.resource_claims.empty() || pod.status.extended_resource_claim_status != nullptr;
    if (uses && !pod.spec.node_name.empty()) {
      pod_queue_.Add(key);
    }
  }
}

void DeviceTaintEvictionController::EnqueueUsers(const client::ObjectRef& claim) {
  for (const client::Item& pod :
       pods_.ByIndex(pods_by_claim_, api::KeyOf(claim->namespace_(), claim->name()))) {
    pod_queue_.Add(api::KeyOf(pod.object->namespace_(), pod.object->name()));
  }
}

void DeviceTaintEvictionController::EnqueueRules() {
  rules_.ForEach([this](const client::ObjectRef& rule) { rule_queue_.Add(rule->name()); });
}

void DeviceTaintEvictionController::EachAllocationOf(
    const Pod& pod, const std::function<void(const AllocationResult&)>& each) const {
  const auto look = [&](std::string_view name) {
    const client::Item item = claims_.FindItem(pod.metadata.namespace_, name);
    if (!item.object) {
      return;
    }
    const auto claim = client::ViewOf<ResourceClaim>(item);
    if (claim && (*claim)->status.allocation != nullptr &&
        api::IsReservedFor(**claim, pod.metadata.uid)) {
      each(*(*claim)->status.allocation);
    }
  };
  for (const auto& entry : pod.spec.resource_claims) {
    const ClaimRef ref = api::ResolveClaim(pod, entry);
    if (ref.state == ClaimRefState::kNamed) {
      look(ref.name);
    }
  }
  if (const auto* const extended = pod.status.extended_resource_claim_status) {
    look(extended->resource_claim_name);
  }
}

std::optional<std::int64_t> DeviceTaintEvictionController::EvictionTimeOf(const Pod& pod) const {
  std::optional<std::int64_t> time;
  EachAllocationOf(pod, [&](const AllocationResult& allocation) {
    if (const auto due = index_.EvictionTime(allocation)) {
      time = time ? std::min(*time, *due) : *due;
    }
  });
  return time;
}

bool DeviceTaintEvictionController::IsEvictedBy(const TaintIndex::Rule& rule,
                                                const Pod& pod) const {
  bool evicted = false;
  EachAllocationOf(pod, [&](const AllocationResult& allocation) {
    evicted = evicted || index_.EvictionTime(allocation, rule).has_value();
  });
  return evicted;
}

base::Result<void> DeviceTaintEvictionController::SyncPod(const std::string& key) {
  const auto [ns, name] = api::SplitKey(key);
  const client::Item item = pods_.FindItem(ns, name);
  const client::ObjectRef& object = item.object;
  if (!object) {
    scheduled_.erase(key);
    return {};
  }
  ALLOT_ASSIGN_OR_RETURN(const auto pod, client::ViewOf<Pod>(item));
  std::optional<std::int64_t> due;
  if (!pod->spec.node_name.empty() && pod->metadata.deletion_timestamp == nullptr &&
      !api::IsPodFinished(*pod)) {
    due = EvictionTimeOf(*pod);
  }
  const auto known = scheduled_.find(key);
  if (!due) {
    if (known != scheduled_.end()) {
      scheduled_.erase(known);
      if (pod->metadata.deletion_timestamp == nullptr) {
        Tell(object, "Cancelling deletion");
      }
      EnqueueRules();
    }
    return {};
  }
  if (known == scheduled_.end()) {
    EnqueueRules();
  }
  scheduled_[key] = *due;
  const quantity::Time now = quantity::ToTime(context_.loop.clock().Now());
  if (*due > now.seconds) {
    pod_queue_.AddAfter(
        key, std::chrono::seconds(*due - now.seconds) - std::chrono::nanoseconds(now.nanos));
    return {};
  }
  return Evict(key, object, *due);
}

void DeviceTaintEvictionController::Tell(const client::ObjectRef& pod, std::string_view what) {
  recorder_.Record({.api_version = "v1",
                    .kind = "Pod",
                    .ns = std::string(pod->namespace_()),
                    .name = std::string(pod->name()),
                    .uid = std::string(pod->uid()),
                    .revision = pod->revision()},
                   client::EventSeverity::kNormal,
                   "DeviceTaintManagerEviction",
                   "",
                   what);
}

base::Result<void> DeviceTaintEvictionController::Evict(const std::string& key,
                                                        const client::ObjectRef& object,
                                                        std::int64_t due) {
  const auto live = client::Get<Pod>(context_.client, object->namespace_(), object->name());
  if (!live) {
    return live.error().reason() == base::Reason::kNotFound ? base::Result<void>()
                                                            : base::Error(live.error());
  }
  if ((*live)->metadata.uid != object->uid() || (*live)->metadata.deletion_timestamp != nullptr) {
    scheduled_.erase(key);
    return {};
  }
  Tell(object, "Marking for deletion");
  const quantity::Time now = quantity::ToTime(context_.loop.clock().Now());
  api::core::PodCondition condition;
  condition.type = "DisruptionTarget";
  condition.status = "True";
  condition.reason = "DeletionByDeviceTaintManager";
  condition.message = "Device Taint manager: deleting due to NoExecute taint";
  ALLOT_RETURN_IF_ERROR(
      client::SetPodCondition(context_.client, **live, condition, now, context_.Chained()));
  client::WriteOptions write = context_.Chained([this, key] { pod_queue_.Add(key); });
  write.preconditions.uid = object->uid();
  const auto deleted =
      client::Delete<Pod>(context_.client, object->namespace_(), object->name(), write);
  if (!deleted && deleted.error().reason() != base::Reason::kNotFound) {
    return base::Error(deleted.error());
  }
  deletions_.Add();
  delays_.Observe(static_cast<double>(now.seconds - due));
  // Every rule that wanted the pod to go counts it.
  rules_.ForEach([this, &live](const client::ObjectRef& rule) {
    const TaintIndex::Rule* const known = index_.FindRule(rule->name());
    if (known != nullptr && known->effect == "NoExecute" && IsEvictedBy(*known, **live)) {
      ++evicted_by_[std::string(rule->uid())];
    }
  });
  scheduled_.erase(key);
  EnqueueRules();
  return {};
}

}  // namespace allot::controllers
