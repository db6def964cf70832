#include "controllers/tainteviction/taint_eviction_controller.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/core/v1.gen.h"
#include "api/object_key.h"
#include "api/pod_claims.h"
#include "api/tolerations.h"
#include "client/pod_conditions.h"
#include "client/typed.h"
#include "quantity/time.h"

namespace allot::controllers {
namespace {

using api::core::Node;
using api::core::Pod;
using api::core::Taint;
using api::core::Toleration;

constexpr std::string_view kNoExecute = "NoExecute";

/// How long the pod may stay: nothing = for ever. Unit: seconds, 0 = not at all.
std::optional<std::int64_t> MayStay(const Pod& pod, const Node& node) {
  std::optional<std::int64_t> least;
  for (const Taint& taint : node.spec.taints) {
    if (taint.effect != kNoExecute) {
      continue;
    }
    bool tolerated = false;
    for (const Toleration& toleration : pod.spec.tolerations) {
      if (!api::Tolerates(toleration, taint)) {
        continue;
      }
      tolerated = true;
      if (toleration.toleration_seconds != nullptr) {
        const std::int64_t seconds = std::max<std::int64_t>(*toleration.toleration_seconds, 0);
        least = std::min(least.value_or(std::numeric_limits<std::int64_t>::max()), seconds);
      }
      break;  // the first match decides
    }
    if (!tolerated) {
      return 0;
    }
  }
  return least;
}

}  // namespace

TaintEvictionController::TaintEvictionController(Context& context)
    : context_(context),
      nodes_(context.For<Node>()),
      pods_(context.For<Pod>()),
      pods_by_node_(pods_.AddIndex("node",
                                   [](const client::Item& item, std::vector<std::string>& keys) {
                                     const auto& pod = *static_cast<const Pod*>(item.view.get());
                                     if (!pod.spec.node_name.empty()) {
                                       keys.emplace_back(pod.spec.node_name);
                                     }
                                   })),
      queue_(
          context.loop, "noexec_taint_pod", [this](const std::string& key) { return Sync(key); }),
      recorder_(context.client,
                context.loop,
                {.api = client::EventApi::kCoreV1, .component = "taint-eviction-controller"}) {
  nodes_.OnChanges([this](std::span<const client::Change> changes) { OnNodes(changes); });
  pods_.OnChanges([this](std::span<const client::Change> changes) { OnPods(changes); });
  Watch(context_, queue_);
}

void TaintEvictionController::OnNodes(std::span<const client::Change> changes) {
  const auto tainted = [](const Node& node) {
    return std::ranges::any_of(node.spec.taints,
                               [](const Taint& taint) { return taint.effect == kNoExecute; });
  };
  for (const client::Change& change : changes) {
    const auto& node = *static_cast<const Node*>(change.item.view.get());
    const std::string name(node.metadata.name);
    bool look = false;
    if (change.type != client::EventType::kDeleted && tainted(node)) {
      tainted_.insert(name);
      look = true;
    } else {
      look = tainted_.erase(name) != 0;
    }
    if (!look) {
      continue;
    }
    for (const client::Item& pod : pods_.ByIndex(pods_by_node_, node.metadata.name)) {
      queue_.Add(api::KeyOf(pod.object->namespace_(), pod.object->name()));
    }
  }
}

void TaintEvictionController::OnPods(std::span<const client::Change> changes) {
  for (const client::Change& change : changes) {
    const std::string key =
        api::KeyOf(change.item.object->namespace_(), change.item.object->name());
    const auto& pod = *static_cast<const Pod*>(change.item.view.get());
    if (change.type == client::EventType::kDeleted) {
      since_.erase(key);
    } else if (!tainted_.empty() && tainted_.contains(std::string(pod.spec.node_name)) &&
               !since_.contains(key)) {
      queue_.Add(key);
    }
  }
}

base::Result<void> TaintEvictionController::Sync(const std::string& key) {
  const auto [ns, name] = api::SplitKey(key);
  const client::ObjectRef object = pods_.Find(ns, name);
  if (!object) {
    since_.erase(key);
    return {};
  }
  ALLOT_ASSIGN_OR_RETURN(const auto pod, client::ViewOf<Pod>({object, nullptr}));
  const client::ObjectRef node_object = nodes_.Find("", pod->spec.node_name);
  if (!node_object || pod->metadata.deletion_timestamp != nullptr || api::IsPodFinished(*pod)) {
    since_.erase(key);
    return {};
  }
  ALLOT_ASSIGN_OR_RETURN(const auto node, client::ViewOf<Node>({node_object, nullptr}));
  const std::optional<std::int64_t> stay = MayStay(*pod, *node);
  if (!stay) {
    Cancel(key, object);
    return {};
  }
  const base::MonoTime now = context_.loop.Now();
  const auto [since, is_new] = since_.try_emplace(key, now);
  const base::MonoTime due =
      since->second + std::chrono::seconds(std::min<std::int64_t>(*stay, 1'000'000'000));
  if (*stay > 0 && now < due) {
    queue_.AddAfter(key, due - now);
    return {};
  }
  return Evict(key, object, *pod);  // should it fail, the pod's time stays over
}

void TaintEvictionController::Cancel(const std::string& key, const client::ObjectRef& object) {
  if (since_.erase(key) != 0) {
    Tell(object, "Cancelling deletion of Pod");
  }
}

void TaintEvictionController::Tell(const client::ObjectRef& object, std::string_view what) {
  recorder_.Record({.api_version = "v1",
                    .kind = "Pod",
                    .ns = std::string(object->namespace_()),
                    .name = std::string(object->name()),
                    .uid = {},
                    .revision = 0},
                   client::EventSeverity::kNormal,
                   "TaintManagerEviction",
                   "",
                   fmt::format("{} {}/{}", what, object->namespace_(), object->name()));
}

base::Result<void> TaintEvictionController::Evict(const std::string& key,
                                                  const client::ObjectRef& object,
                                                  const Pod& pod) {
  Tell(object, "Marking for deletion Pod");
  api::core::PodCondition condition;
  condition.type = "DisruptionTarget";
  condition.status = "True";
  condition.reason = "DeletionByTaintManager";
  condition.message = "Taint manager: deleting due to NoExecute taint";
  ALLOT_RETURN_IF_ERROR(client::SetPodCondition(context_.client,
                                                pod,
                                                condition,
                                                quantity::ToTime(context_.loop.clock().Now()),
                                                context_.Chained()));
  client::WriteOptions write = context_.Chained([this, key] { queue_.Add(key); });
  write.preconditions.uid = pod.metadata.uid;
  const auto deleted =
      client::Delete<Pod>(context_.client, object->namespace_(), object->name(), write);
  if (!deleted && deleted.error().reason() != base::Reason::kNotFound) {
    return base::Error(deleted.error());
  }
  return {};
}

}  // namespace allot::controllers
