// A pod that fits nowhere: its message, and which pods of lower priority could make room.
#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "placement/placer_impl.h"

namespace allot::placement {
namespace {

using allocator::CauseKind;

constexpr std::string_view kNotHelpful = "Preemption is not helpful for scheduling";
constexpr std::string_view kNoVictims = "No preemption victims found for incoming pod";

}  // namespace

void Placer::Impl::Reject(Attempt& attempt,
                          const ReasonCounts& reasons,
                          const Resolvable& resolvable,
                          Decision& decision) {
  decision.unavailable_claims = attempt.unavailable;
  decision.filter_text = FilterText(Considered(attempt), reasons);
  Preempt(attempt, resolvable, decision);
  if (!attempt.unfinished.empty()) {
    decision.placed = Placed::kUnfinished;
    decision.error = attempt.unfinished;
  }
  Finish(decision);
}

std::vector<Victim> Placer::Impl::VictimsOn(Attempt& attempt,
                                            const NodeInfo& node,
                                            NodeStatus& why,
                                            std::int32_t& highest) {
  std::vector<const PodOnNode*> victims;
  Resources requested = node.requested;
  std::vector<const PodOnNode*> kept;
  for (const PodOnNode& pod : node.pods) {
    if (pod.priority < attempt.facts.priority) {
      victims.push_back(&pod);
      requested.Subtract(pod.requests);
    } else {
      kept.push_back(&pod);
    }
  }
  if (victims.empty()) {
    why = Rejection(CauseKind::kNodeResources, std::string(kNoVictims));
    return {};
  }
  // What devices the node has for us depends on no other pod, but for what they take of its rest.
  std::optional<NodeResult> devices;
  const auto fits = [&]() {
    std::vector<std::string> ports;
    for (const PodOnNode* const pod : kept) {
      ports.insert(ports.end(), pod->host_ports.begin(), pod->host_ports.end());
    }
    NodeResult result;
    result.status = RunFilters(attempt.facts, node, requested, kept.size(), ports, inventory);
    if (result.status.ok() && devices.has_value()) {
      result = *devices;
    } else if (result.status.ok()) {
      FilterDevices(attempt, node, requested, result);
      if (!inventory.features().node_allocatable_resources) {
        devices = result;
      }
    }
    if (!result.fatal.empty()) {
      if (result.unfinished) {
        attempt.unfinished = result.fatal;
      }
      result.status = Rejection(CauseKind::kSelectorError, std::move(result.fatal));
    }
    return result.status;
  };
  why = fits();
  if (!why.ok()) {
    return {};
  }
  // Spare as many as possible, the most important first.
  std::sort(victims.begin(), victims.end(), [](const auto* a, const auto* b) {
    return std::pair(-std::int64_t{a->priority}, std::string_view(a->uid)) <
           std::pair(-std::int64_t{b->priority}, std::string_view(b->uid));
  });
  std::vector<Victim> out;
  for (const PodOnNode* const victim : victims) {
    if (!devices.has_value() && allocator.OutOfSteps()) {
      // Whom to spare is not known: nobody is to go for that.
      why = Rejection(CauseKind::kNodeResources, std::string(kNoVictims));
      return {};
    }
    requested.Add(victim->requests);
    kept.push_back(victim);
    if (!fits().ok()) {
      requested.Subtract(victim->requests);
      kept.pop_back();
      highest = out.empty() ? victim->priority : std::max(highest, victim->priority);
      out.push_back({.ns = victim->ns, .name = victim->name, .uid = victim->uid});
    }
  }
  return out;
}

void Placer::Impl::Preempt(Attempt& attempt, const Resolvable& resolvable, Decision& decision) {
  const api::core::Pod& pod = *attempt.facts.pod;
  if (pod.spec.preemption_policy != nullptr && *pod.spec.preemption_policy == "Never") {
    decision.preemption_text = "preemption: not eligible due to preemptionPolicy=Never.";
    return;
  }
  ReasonCounts reasons;
  std::int32_t best_highest = 0;
  if (resolvable.count != 0 && resolvable.nodes.empty()) {
    reasons[std::string(kNoVictims)] = resolvable.count;
  }
  // Its own steps: most often those of the attempt are used up where it fits nowhere. Nodes left
  // when these are used up as well count as nodes without victims.
  allocator.RenewSteps();
  for (std::size_t i = 0; i < resolvable.nodes.size(); ++i) {
    if (i != 0 && allocator.OutOfSteps()) {
      reasons[std::string(kNoVictims)] += resolvable.nodes.size() - i;
      break;
    }
    const NodeInfo* const node = resolvable.nodes[i];
    NodeStatus why;
    std::int32_t highest = 0;
    std::vector<Victim> victims = VictimsOn(attempt, *node, why, highest);
    if (!attempt.unfinished.empty()) {
      decision.victims.clear();
      return;
    }
    if (victims.empty()) {
      for (std::string& reason : why.reasons) {
        ++reasons[std::move(reason)];
      }
      continue;
    }
    if (decision.victims.empty() ||
        std::pair(highest, victims.size()) < std::pair(best_highest, decision.victims.size())) {
      decision.victims = std::move(victims);
      decision.nominated_node = node->name;
      best_highest = highest;
    }
  }
  if (!decision.victims.empty()) {
    decision.preemption_text = fmt::format(
        "preemption: found a potential placement for pod on node {}, preempting {} "
        "victims",
        decision.nominated_node,
        decision.victims.size());
    return;
  }
  const std::size_t nodes = Considered(attempt);
  if (nodes > resolvable.count) {
    reasons[std::string(kNotHelpful)] += nodes - resolvable.count;
  }
  decision.preemption_text = PreemptionText(nodes, reasons);
}

void Placer::Impl::Finish(Decision& decision) {
  decision.diagnosis.message = decision.filter_text;
  if (!decision.preemption_text.empty()) {
    decision.diagnosis.message += " " + decision.preemption_text;
  }
}

}  // namespace allot::placement
