#include "controllers/nodelifecycle/node_lifecycle_controller.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/coordination/v1.gen.h"
#include "api/core/v1.gen.h"
#include "client/event_recorder.h"
#include "quantity/time.h"

namespace allot::controllers {
namespace {

using api::core::Node;
using api::core::NodeCondition;
using api::core::Taint;

constexpr std::string_view kLeases = "kube-node-lease";
constexpr std::string_view kNotReady = "node.kubernetes.io/not-ready";
constexpr std::string_view kUnreachable = "node.kubernetes.io/unreachable";
constexpr std::string_view kNoSchedule = "NoSchedule";
constexpr std::string_view kNoExecute = "NoExecute";

struct Rule {
  std::string_view condition;
  std::string_view status;
  std::string_view taint;
};
constexpr std::array kRules = {
    Rule{"Ready", "False", kNotReady},
    Rule{"Ready", "Unknown", kUnreachable},
    Rule{"MemoryPressure", "True", "node.kubernetes.io/memory-pressure"},
    Rule{"DiskPressure", "True", "node.kubernetes.io/disk-pressure"},
    Rule{"NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable"},
    Rule{"PIDPressure", "True", "node.kubernetes.io/pid-pressure"},
};
constexpr std::string_view kUnschedulable = "node.kubernetes.io/unschedulable";

const NodeCondition* FindCondition(const Node& node, std::string_view type) {
  for (const NodeCondition& condition : node.status.conditions) {
    if (condition.type == type) {
      return &condition;
    }
  }
  return nullptr;
}

struct Wanted {
  std::string_view key;
  std::string_view effect;
  friend bool operator==(const Wanted&, const Wanted&) = default;
};

/// Taints this controller answers for. The not-ready taint of a node that has said nothing yet
/// stays as admission left it.
bool IsOurs(const Taint& taint, bool has_ready) {
  if (taint.effect == kNoExecute) {
    return has_ready && (taint.key == kNotReady || taint.key == kUnreachable);
  }
  if (taint.effect != kNoSchedule) {
    return false;
  }
  if (taint.key == kUnschedulable) {
    return true;
  }
  for (const Rule& rule : kRules) {
    if (taint.key == rule.taint) {
      return has_ready || rule.condition != "Ready";
    }
  }
  return false;
}

std::vector<Wanted> TaintsOf(const Node& node, bool no_execute) {
  std::vector<Wanted> wanted;
  for (const Rule& rule : kRules) {
    const NodeCondition* const condition = FindCondition(node, rule.condition);
    if (condition == nullptr || condition->status != rule.status) {
      continue;
    }
    wanted.push_back({rule.taint, kNoSchedule});
    if (rule.condition == "Ready" && no_execute) {
      wanted.push_back({rule.taint, kNoExecute});
    }
  }
  if (node.spec.unschedulable) {
    wanted.push_back({kUnschedulable, kNoSchedule});
  }
  return wanted;
}

}  // namespace

NodeLifecycleController::NodeLifecycleController(Context& context, Options options)
    : context_(context),
      options_(options),
      nodes_(context.For<Node>()),
      leases_(context.For<api::coordination::Lease>()),
      queue_(context.loop, "node_lifecycle_controller", [this](const std::string& name) {
        return Sync(name);
      }) {
  nodes_.OnChanges([this](std::span<const client::Change> changes) { OnNodes(changes); });
  leases_.OnChanges([this](std::span<const client::Change> changes) { OnLeases(changes); });
  Watch(context_, queue_);
  Arm();
}

void NodeLifecycleController::OnNodes(std::span<const client::Change> changes) {
  const std::size_t ready_before = ready_nodes_;
  for (const client::Change& change : changes) {
    const std::string name(change.item.object->name());
    const auto known = health_.find(name);
    if (known != health_.end() && known->second.ready) {
      --ready_nodes_;
    }
    if (change.type == client::EventType::kDeleted) {
      health_.erase(name);
      continue;
    }
    const auto& node = *static_cast<const Node*>(change.item.view.get());
    Health& health = health_[name];
    const NodeCondition* const ready = FindCondition(node, "Ready");
    std::string heartbeat;
    if (ready != nullptr) {
      heartbeat = fmt::format("{} {} {}",
                              ready->status,
                              ready->last_heartbeat_time.seconds,
                              ready->last_transition_time.seconds);
    }
    health.posted = ready != nullptr && ready->reason != "NodeStatusNeverUpdated";
    health.ready = ready != nullptr && ready->status == "True";
    health.unknown = ready != nullptr && ready->status == "Unknown";
    if (change.type == client::EventType::kAdded ||
        (health.heartbeat != heartbeat && !health.unknown)) {
      health.heard = context_.loop.Now();
    }
    health.heartbeat = std::move(heartbeat);
    if (health.ready) {
      ++ready_nodes_;
    }
    queue_.Add(name);
  }
  if ((ready_before == 0) != (ready_nodes_ == 0)) {
    for (const auto& [name, health] : health_) {
      queue_.Add(name);  // whether NoExecute taints are due has changed for all
    }
  }
}

void NodeLifecycleController::OnLeases(std::span<const client::Change> changes) {
  for (const client::Change& change : changes) {
    if (change.type == client::EventType::kDeleted || change.item.object->namespace_() != kLeases) {
      continue;
    }
    if (const auto found = health_.find(std::string(change.item.object->name()));
        found != health_.end()) {
      found->second.heard = context_.loop.Now();
    }
  }
}

void NodeLifecycleController::Arm() {
  context_.loop.After(options_.monitor_period, [this] {
    Tick();
    Arm();
  });
}

void NodeLifecycleController::Tick() {
  if (!context_.Synced()) {
    return;
  }
  const base::MonoTime now = context_.loop.Now();
  std::vector<std::string> silent;
  for (const auto& [name, health] : health_) {
    const auto grace = health.posted ? options_.grace : options_.startup_grace;
    if (!health.unknown && now - health.heard > grace) {
      silent.push_back(name);
    }
  }
  for (const std::string& name : silent) {
    const base::Result<void> marked = MarkUnknown(name);
    if (!marked) {
      context_.log.Warning("could not mark a silent node",
                           {{"node", name}, telemetry::Field(marked.error())});
    }
  }
}

base::Result<void> NodeLifecycleController::MarkUnknown(const std::string& name) {
  const client::ObjectRef object = nodes_.Find("", name);
  if (!object) {
    return {};
  }
  ALLOT_ASSIGN_OR_RETURN(const auto node, client::ViewOf<Node>({object, nullptr}));
  schema::Draft<Node> draft(node.view);
  const quantity::Time now = quantity::ToTime(context_.loop.clock().Now());
  for (const std::string_view type : {"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"}) {
    NodeCondition* const conditions = draft.MutableList(draft->status.conditions);
    NodeCondition* found = nullptr;
    for (std::size_t i = 0; i < draft->status.conditions.size(); ++i) {
      if (conditions[i].type == type) {
        found = &conditions[i];
      }
    }
    if (found == nullptr) {
      NodeCondition condition;
      condition.type = type;
      condition.status = "Unknown";
      condition.reason = "NodeStatusNeverUpdated";
      condition.message = "Kubelet never posted node status.";
      condition.last_heartbeat_time = node->metadata.creation_timestamp;
      condition.last_transition_time = now;
      draft.Append(draft->status.conditions, condition);
    } else if (found->status != "Unknown") {
      found->status = "Unknown";
      found->reason = "NodeStatusUnknown";
      found->message = "Kubelet stopped posting node status.";
      found->last_transition_time = now;
    }
  }
  client::WriteOptions write = context_.Chained();
  write.preconditions.revision = node.revision();
  ALLOT_RETURN_IF_ERROR(client::UpdateStatus(context_.client, draft, write));
  return {};
}

base::Result<void> NodeLifecycleController::Sync(const std::string& name) {
  const client::ObjectRef object = nodes_.Find("", name);
  if (!object) {
    return {};
  }
  ALLOT_ASSIGN_OR_RETURN(const auto node, client::ViewOf<Node>({object, nullptr}));
  const bool has_ready = FindCondition(*node, "Ready") != nullptr;
  std::vector<Wanted> missing = TaintsOf(*node, !AllUnwell());
  bool change = false;
  schema::Draft<Node> draft(node.view);
  draft.Filter(draft->spec.taints, [&](const Taint& taint) {
    const auto at = std::find(missing.begin(), missing.end(), Wanted{taint.key, taint.effect});
    if (at != missing.end()) {
      missing.erase(at);
      return true;
    }
    // While all are unwell NoExecute taints are neither set nor taken.
    if (!IsOurs(taint, has_ready) || (taint.effect == kNoExecute && AllUnwell())) {
      return true;
    }
    change = true;
    return false;
  });
  if (missing.empty() && !change) {
    return {};
  }
  const quantity::Time now = quantity::ToTime(context_.loop.clock().Now());
  for (const Wanted& wanted : missing) {
    Taint taint;
    taint.key = wanted.key;
    taint.effect = wanted.effect;
    draft.Set(taint.time_added, now);
    draft.Append(draft->spec.taints, taint);
  }
  client::WriteOptions write = context_.Chained([this, name] { queue_.Add(name); });
  write.preconditions.revision = node.revision();
  ALLOT_RETURN_IF_ERROR(client::Update(context_.client, draft, write));
  return {};
}

}  // namespace allot::controllers
