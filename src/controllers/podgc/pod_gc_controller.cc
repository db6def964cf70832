#include "controllers/podgc/pod_gc_controller.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/core/v1.gen.h"
#include "api/pod_claims.h"
#include "client/event_recorder.h"
#include "client/pod_conditions.h"
#include "client/typed.h"
#include "quantity/time.h"

namespace allot::controllers {

using api::core::Node;
using api::core::Pod;

PodGcController::PodGcController(Context& context, Options options)
    : context_(context),
      options_(options),
      pods_(context.For<Pod>()),
      nodes_(context.For<Node>()),
      pods_by_node_(
          pods_.AddIndex("podgc", [](const client::Item& item, std::vector<std::string>& keys) {
            // Pods without a node stand under "", so that a round need not look at running pods.
            const auto& pod = *static_cast<const Pod*>(item.view.get());
            keys.emplace_back(pod.spec.node_name);
            if (api::IsPodFinished(pod)) {
              keys.emplace_back("/finished");
            }
          })) {
  pods_.OnChanges([this](std::span<const client::Change> changes) {
    for (const client::Change& change : changes) {
      const auto& pod = *static_cast<const Pod*>(change.item.view.get());
      if (change.type != client::EventType::kDeleted && !pod.spec.node_name.empty() &&
          !nodes_.Find("", pod.spec.node_name)) {
        missing_nodes_.try_emplace(std::string(pod.spec.node_name), context_.loop.Now());
      }
    }
  });
  nodes_.OnChanges([this](std::span<const client::Change> changes) {
    for (const client::Change& change : changes) {
      if (change.type == client::EventType::kDeleted) {
        missing_nodes_.try_emplace(std::string(change.item.object->name()), context_.loop.Now());
      } else {
        missing_nodes_.erase(std::string(change.item.object->name()));
      }
    }
  });
  Arm();
}

void PodGcController::Arm() {
  context_.loop.After(options_.period, [this] {
    Tick();
    Arm();
  });
}

void PodGcController::Tick() {
  if (!context_.Synced()) {
    return;
  }
  const base::MonoTime now = context_.loop.Now();
  for (auto it = missing_nodes_.begin(); it != missing_nodes_.end();) {
    const std::vector<client::Item> pods = pods_.ByIndex(pods_by_node_, it->first);
    if (pods.empty() || nodes_.Find("", it->first)) {
      it = missing_nodes_.erase(it);
      continue;
    }
    if (now - it->second >= options_.quarantine) {
      // The informer may have missed the node; deleting running pods by mistake would be worse than
      // a look.
      const auto live = client::Get<Node>(context_.client, "", it->first);
      if (!live && live.error().reason() == base::Reason::kNotFound) {
        for (const client::Item& pod : pods) {
          DeletePod(pod.object, "PodGC: node no longer exists");
        }
      }
    }
    ++it;
  }
  for (const client::Item& item : pods_.ByIndex(pods_by_node_, "")) {
    const auto pod = client::ViewOf<Pod>(item);
    if (pod && (*pod)->metadata.deletion_timestamp != nullptr) {
      DeletePod(item.object, "");
    }
  }
  std::vector<client::Item> finished = pods_.ByIndex(pods_by_node_, "/finished");
  if (options_.terminated_threshold == 0 || finished.size() <= options_.terminated_threshold) {
    return;
  }
  const std::size_t excess = finished.size() - options_.terminated_threshold;
  std::ranges::sort(finished, {}, [](const client::Item& pod) { return pod.object->revision(); });
  for (std::size_t i = 0; i < excess; ++i) {
    DeletePod(finished[i].object, "");
  }
}

void PodGcController::DeletePod(const client::ObjectRef& object, std::string_view why) {
  if (!why.empty()) {
    if (const auto pod = client::ViewOf<Pod>({object, nullptr})) {
      api::core::PodCondition condition;
      condition.type = "DisruptionTarget";
      condition.status = "True";
      condition.reason = "DeletionByPodGC";
      condition.message = why;
      static_cast<void>(client::SetPodCondition(context_.client,
                                                **pod,
                                                condition,
                                                quantity::ToTime(context_.loop.clock().Now()),
                                                context_.Chained()));
    }
  }
  client::WriteOptions write = context_.Chained();
  write.grace_period_seconds = 0;
  write.preconditions.uid = object->uid();
  const auto deleted =
      client::Delete<Pod>(context_.client, object->namespace_(), object->name(), write);
  if (!deleted && deleted.error().reason() != base::Reason::kNotFound) {
    context_.log.Warning("could not remove a pod",
                         {{"pod", object->name()}, telemetry::Field(deleted.error())});
  }
}

}  // namespace allot::controllers
