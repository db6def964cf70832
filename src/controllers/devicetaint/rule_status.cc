// What a DeviceTaintRule says of itself: the condition EvictionInProgress.
#include <chrono>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "api/core/v1.gen.h"
#include "api/meta/v1.gen.h"
#include "api/object_key.h"
#include "api/pod_claims.h"
#include "api/resource/v1.gen.h"
#include "controllers/devicetaint/device_taint_eviction_controller.h"
#include "quantity/time.h"

namespace allot::controllers {
namespace {

using api::core::Pod;
using api::meta::Condition;
using api::resource::DeviceTaintRule;
using api::resource::ResourceClaim;

constexpr std::string_view kType = "EvictionInProgress";
/// A rule over many devices must not be rewritten with every pod that goes.
constexpr std::chrono::seconds kBetweenWrites{10};

std::string Count(std::size_t count, std::string_view one, std::string_view many) {
  return count == 1 ? fmt::format("1 {}", one) : fmt::format("{} {}", count, many);
}

}  // namespace

DeviceTaintEvictionController::Affected DeviceTaintEvictionController::FindAffected(
    const TaintIndex::Rule& rule) const {
  Affected affected;
  claims_.ForEach([&](const client::ObjectRef& object) {
    const auto claim = client::ViewOf<ResourceClaim>({object, nullptr});
    if (!claim || (*claim)->status.allocation == nullptr) {
      return;
    }
    const api::resource::AllocationResult& allocation = *(*claim)->status.allocation;
    bool any = false;
    for (const auto& result : allocation.devices.results) {
      if (rule.Matches({result.driver, result.pool, result.device})) {
        ++affected.allocated_devices;
        any = true;
      }
    }
    if (!any || !index_.EvictionTime(allocation, rule)) {
      return;
    }
    for (const auto& user : (*claim)->status.reserved_for) {
      const client::ObjectRef pod = pods_.Find(object->namespace_(), user.name);
      if (!pod || pod->uid() != user.uid) {
        continue;
      }
      const auto view = client::ViewOf<Pod>({pod, nullptr});
      if (view && !(*view)->spec.node_name.empty() && !api::IsPodFinished(**view) &&
          (*view)->metadata.deletion_timestamp == nullptr) {
        affected.pods.insert(api::KeyOf(object->namespace_(), user.name));
        affected.namespaces.emplace(object->namespace_());
      }
    }
  });
  return affected;
}

std::string DeviceTaintEvictionController::Describe(const std::string& uid,
                                                    const TaintIndex::Rule& rule,
                                                    std::string& reason,
                                                    bool& in_progress) const {
  in_progress = false;
  std::string text;
  const auto evicted = evicted_by_.find(uid);
  const std::int64_t gone = evicted != evicted_by_.end() ? evicted->second : 0;
  if (rule.effect == "NoExecute") {
    const Affected affected = FindAffected(rule);
    if (!affected.pods.empty()) {
      in_progress = true;
      reason = "PodsPendingEviction";
      text = fmt::format(
          "{} in {}.",
          Count(affected.pods.size(), "pod needs to be evicted", "pods need to be evicted"),
          affected.namespaces.size() == 1
              ? "1 namespace"
              : fmt::format("{} different namespaces", affected.namespaces.size()));
    } else {
      reason = gone > 0 ? "Completed" : "NotStarted";
    }
  } else if (rule.effect == "None") {
    const Affected affected = FindAffected(rule);
    reason = "NoEffect";
    text = fmt::format(
        "{} selected. {} selected. {} would be evicted in {} if the effect was NoExecute. This "
        "information will not be updated again. Recreate the DeviceTaintRule to trigger an update.",
        Count(static_cast<std::size_t>(index_.PublishedDevices(rule)),
              "published device",
              "published devices"),
        Count(static_cast<std::size_t>(affected.allocated_devices),
              "allocated device",
              "allocated devices"),
        Count(affected.pods.size(), "pod", "pods"),
        affected.namespaces.size() == 1
            ? "1 namespace"
            : fmt::format("{} different namespaces", affected.namespaces.size()));
  } else {
    reason = "OtherEffect";
    text = "Eviction only happens for the NoExecute effect.";
  }
  if (gone > 0) {
    text += fmt::format("{}{} evicted since starting the controller.",
                        text.empty() ? "" : " ",
                        Count(static_cast<std::size_t>(gone), "pod", "pods"));
  }
  return text;
}

base::Result<void> DeviceTaintEvictionController::SyncRule(const std::string& name) {
  const client::ObjectRef object = rules_.Find("", name);
  const TaintIndex::Rule* const rule = index_.FindRule(name);
  if (!object || rule == nullptr) {
    return {};
  }
  ALLOT_ASSIGN_OR_RETURN(const auto view, client::ViewOf<DeviceTaintRule>({object, nullptr}));
  const Condition* present = nullptr;
  for (const Condition& condition : view->status.conditions) {
    if (condition.type == kType) {
      present = &condition;
    }
  }
  const bool this_generation =
      present != nullptr && present->observed_generation == view->metadata.generation;
  if (this_generation && rule->effect == "None" && present->reason == "NoEffect") {
    return {};  // a dry run is made once
  }
  // Before the count, which looks at all claims: a burst of evictions costs one of them.
  const base::MonoTime now = context_.loop.Now();
  const auto last = reported_.find(name);
  if (this_generation && last != reported_.end() && now - last->second < kBetweenWrites) {
    rule_queue_.AddAfter(name, last->second + kBetweenWrites - now);
    return {};
  }
  std::string reason;
  bool in_progress = false;
  const std::string message = Describe(std::string(view->metadata.uid), *rule, reason, in_progress);
  const std::string_view status = in_progress ? "True" : "False";
  if (this_generation && present->status == status && present->reason == reason &&
      present->message == message) {
    return {};
  }
  schema::Draft<DeviceTaintRule> draft(view.view);
  Condition condition;
  condition.type = kType;
  condition.status = status;
  condition.observed_generation = view->metadata.generation;
  condition.last_transition_time = present != nullptr && present->status == status
                                       ? present->last_transition_time
                                       : quantity::ToTime(context_.loop.clock().Now());
  condition.reason = draft.Copy(reason);
  condition.message = draft.Copy(message);
  draft.Filter(draft->status.conditions,
               [](const Condition& other) { return other.type != kType; });
  draft.Append(draft->status.conditions, condition);
  client::WriteOptions write = context_.Chained([this, name] { rule_queue_.Add(name); });
  write.preconditions.revision = view.revision();
  ALLOT_RETURN_IF_ERROR(client::UpdateStatus(context_.client, draft, write));
  reported_[name] = now;
  return {};
}

}  // namespace allot::controllers
