// The choice among nodes that something names: the user, a daemon set, or an allocated claim.
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "placement/placer_impl.h"

namespace allot::placement {
namespace {

constexpr std::string_view kLeftOut = "node(s) didn't satisfy plugin(s) [NodeAffinity]";

// The node names a selector leaves; nullopt when it may match others.
std::optional<std::vector<std::string_view>> NamesIn(const api::core::NodeSelector& selector) {
  std::vector<std::string_view> names;
  for (const auto& term : selector.node_selector_terms) {
    const auto field =
        std::find_if(term.match_fields.begin(), term.match_fields.end(), [](const auto& one) {
          return one.key == "metadata.name" && one.operator_ == "In";
        });
    if (field == term.match_fields.end()) {
      return std::nullopt;
    }
    names.insert(names.end(), field->values.begin(), field->values.end());
  }
  return names;
}

}  // namespace

std::vector<const NodeInfo*> Placer::Impl::Named(const std::vector<std::string_view>& names) const {
  std::vector<const NodeInfo*> nodes;
  for (const std::string_view name : names) {
    const NodeInfo* const node = view.FindNode(name);
    if (node != nullptr && std::find(nodes.begin(), nodes.end(), node) == nodes.end()) {
      nodes.push_back(node);
    }
  }
  std::sort(
      nodes.begin(), nodes.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  return nodes;
}

bool Placer::Impl::PinnedNodes(const Attempt& attempt, std::vector<const NodeInfo*>& nodes) const {
  for (const ClaimInput& input : attempt.claims) {
    if (input.allocation == nullptr || input.allocation->node_selector == nullptr) {
      continue;
    }
    if (const auto names = NamesIn(*input.allocation->node_selector)) {
      nodes = Named(*names);
      return true;
    }
  }
  return false;
}

std::int64_t Placer::Impl::PackedScore(const NodeInfo& node, std::int64_t compatible) const {
  std::int64_t total = 0;
  std::int64_t held = 0;
  for (const auto& pool : inventory.ViewFor(node.ref)->pools) {
    for (const auto& slice : pool->slices) {
      if (!slice->local) {
        continue;
      }
      for (const inventory::Device& device : slice->devices) {
        ++total;
        held += view.allocated().IsHeld(device.id) ? 1 : 0;
      }
    }
  }
  return PackingScore(compatible, held, total);
}

// Once the steps of the attempt are used up, nodes not known to refuse have no devices to give: for
// now where answers can be kept, and else for good.
void Placer::Impl::EvaluateNamed(Attempt& attempt,
                                 const NodeInfo& node,
                                 NamedAnswers& answers,
                                 NodeResult& result) {
  result.status = RunFilters(attempt.facts, node, inventory);
  if (!result.status.ok()) {
    return;
  }
  const std::size_t refused = answers.known != nullptr ? answers.known->refused[node.rank] : 0;
  if (refused != 0) {
    result.status = answers.known->reasons[refused - 1];
    return;
  }
  if (answers.looked && allocator.OutOfSteps()) {
    answers.left = true;
    result.status = CannotAllocate();
    return;
  }
  answers.looked = true;
  FilterDevices(attempt, node, node.requested, result);
  if (answers.kept && result.fatal.empty() && !result.status.ok()) {
    answers.refused.emplace_back(node.rank, result.status);
  }
}

bool Placer::Impl::PlaceAmong(Attempt& attempt,
                              const std::vector<const NodeInfo*>& candidates,
                              std::size_t skipped,
                              bool others_are_out,
                              const allocator::ShareIds& share_ids,
                              Decision& decision) {
  ReasonCounts reasons;
  Resolvable resolvable;
  std::set<std::size_t> unavailable;
  std::vector<std::pair<const NodeInfo*, RawScore>> feasible;
  RawScore max;
  NamedAnswers answers;
  answers.kept = candidates.size() > 1 && ClaimsStandAlone(attempt);
  answers.known = answers.kept ? cache.KnownDevices(attempt.claims_key) : nullptr;
  for (const NodeInfo* const node : candidates) {
    ++decision.nodes_visited;
    NodeResult result;
    EvaluateNamed(attempt, *node, answers, result);
    if (!result.fatal.empty()) {
      End(std::move(result), decision);
      return true;
    }
    if (!result.status.ok()) {
      for (const std::string& reason : result.status.reasons) {
        ++reasons[reason];
      }
      unavailable.insert(result.status.unavailable.begin(), result.status.unavailable.end());
      if (result.status.resolvable) {
        ++resolvable.count;
        resolvable.nodes.push_back(node);
      }
      continue;
    }
    RawScore score = ScoreNode(attempt.facts, *node);
    score.devices = result.devices;
    max.intolerable = std::max(max.intolerable, score.intolerable);
    max.affinity = std::max(max.affinity, score.affinity);
    max.devices = std::max(max.devices, score.devices);
    feasible.emplace_back(node, score);
  }
  if (feasible.empty()) {
    if (!others_are_out) {
      return false;
    }
    if (answers.left && answers.kept) {
      ShapeCache::DeviceAnswers& known = cache.FindDevices(attempt.claims_key);
      for (auto& [rank, status] : answers.refused) {
        cache.Refuse(known, rank, std::move(status));
      }
      NodeResult result;
      EndOutOfSteps(result);
      End(std::move(result), decision);
      return true;
    }
    if (skipped != 0) {
      reasons[std::string(kLeftOut)] = skipped;
    }
    attempt.unavailable.assign(unavailable.begin(), unavailable.end());
    Reject(attempt, reasons, resolvable, decision);
    return true;
  }
  const NodeInfo* best = nullptr;
  for (const auto& [node, score] : feasible) {
    const std::int64_t compatible = Combine(score, max);
    const std::int64_t total =
        attempt.options->profile == Profile::kPacking ? PackedScore(*node, compatible) : compatible;
    if (best == nullptr || total > decision.score) {
      best = node;
      decision.score = total;
    }
  }
  NodeResult result;
  FilterDevices(attempt, *best, best->requested, result);
  if (!result.fatal.empty()) {
    End(std::move(result), decision);
    return true;
  }
  Deliver(attempt, *best, result, share_ids, decision);
  return true;
}

}  // namespace allot::placement
