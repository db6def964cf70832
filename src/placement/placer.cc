#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "allocator/prepared.h"
#include "placement/extended.h"
#include "placement/filters.h"
#include "placement/message.h"
#include "placement/placement.h"
#include "placement/score.h"
#include "placement/shape_cache.h"

namespace allot::placement {
namespace {

namespace res = api::resource;
using allocator::Allocator;
using allocator::Cause;
using allocator::CauseKind;
using allocator::NodeDiagnosis;
using allocator::Outcome;
using allocator::PreparedPtr;
using allocator::Verdict;
using api::core::Pod;

constexpr std::string_view kCannotAllocate = "cannot allocate all claims";
constexpr std::string_view kNotHelpful = "Preemption is not helpful for scheduling";
constexpr std::string_view kNoVictims = "No preemption victims found for incoming pod";
// Clusters of up to this many nodes are looked at whole, as upstream does.
constexpr std::size_t kNodesAllTried = 100;
// Nodes whose devices are looked at one by one for an explanation.
constexpr std::size_t kMaxExplained = 256;

std::string Display(const res::ResourceClaim& claim) {
  return claim.metadata.namespace_.empty()
             ? std::string(claim.metadata.name)
             : fmt::format("{}/{}", claim.metadata.namespace_, claim.metadata.name);
}

bool NeedsNodeOperationsFeature(const res::AllocationResult& allocation) {
  return std::any_of(allocation.devices.results.begin(),
                     allocation.devices.results.end(),
                     [](const auto& result) { return !result.skip_node_operations.empty(); });
}

}  // namespace

struct Placer::Impl {
  explicit Impl(ClusterView& view_in)
      : view(view_in),
        inventory(view_in.inventory()),
        allocator(view_in.inventory()),
        cache(view_in) {}

  // What one attempt works on.
  struct Attempt {
    PodFacts facts;
    std::span<const ClaimInput> claims;
    const PlaceOptions* options = nullptr;
    std::vector<const res::ResourceClaim*> to_allocate;
    std::shared_ptr<base::Arena> arena = std::make_shared<base::Arena>();
    // By the set of resources that devices serve on a node.
    struct Variant {
      ExtendedClaim extended;
      PreparedPtr prepared;
      bool uses_devices = false;
    };
    std::map<std::vector<std::string>, Variant> variants;
    std::vector<std::size_t> unavailable;
    bool any_unavailable_test = false;
  };

  // The answer of one node.
  struct NodeResult {
    NodeStatus status;
    std::string fatal;
    RawScore score;
  };

  ClusterView& view;
  inventory::Inventory& inventory;
  Allocator allocator;
  Outcome outcome;
  ShapeCache cache;

  Attempt Begin(const Pod& pod, std::span<const ClaimInput> claims, const PlaceOptions& options) {
    Attempt attempt;
    attempt.facts = FactsOf(pod);
    attempt.claims = claims;
    attempt.options = &options;
    for (const ClaimInput& input : claims) {
      if (input.allocation == nullptr) {
        attempt.to_allocate.push_back(input.claim);
      }
    }
    return attempt;
  }

  const Attempt::Variant& VariantFor(Attempt& attempt, const NodeInfo& node) {
    std::vector<std::string> served =
        ResourcesServedByDevices(attempt.facts.requests, node, inventory);
    const auto found = attempt.variants.find(served);
    if (found != attempt.variants.end()) {
      return found->second;
    }
    Attempt::Variant variant;
    std::vector<const res::ResourceClaim*> claims = attempt.to_allocate;
    if (!served.empty()) {
      variant.extended = MakeExtendedClaim(*attempt.facts.pod, served, inventory, *attempt.arena);
      if (variant.extended.claim != nullptr) {
        claims.push_back(variant.extended.claim);
      }
    }
    variant.uses_devices = !claims.empty();
    if (variant.uses_devices) {
      variant.prepared = allocator.Prepare(claims);
    }
    return attempt.variants.emplace(std::move(served), std::move(variant)).first->second;
  }

  // What upstream checks before it looks at nodes. Empty: nothing is wrong.
  std::string PreFilter(const Attempt& attempt,
                        const NamedNodes& named,
                        std::string& error,
                        Cause& cause) {
    if (named.conflict) {
      cause = {CauseKind::kNodeAffinity, "node affinity", 0, "its terms exclude each other", ""};
      return "pod affinity terms conflict";
    }
    for (const ClaimInput& input : attempt.claims) {
      if (input.allocation != nullptr) {
        continue;
      }
      if (input.in_flight) {
        cause = {CauseKind::kClaimPending, "claim " + Display(*input.claim), 1, "", ""};
        return fmt::format("resource claim {} is in the process of being allocated",
                           Display(*input.claim));
      }
      for (const auto& request : input.claim->spec.devices.requests) {
        const auto check = [&](schema::Str name, schema::Str device_class) -> std::string {
          if (device_class.empty()) {
            error = fmt::format(
                "running PreFilter plugin \"DynamicResources\": request {}: "
                "unsupported request type",
                name);
            return error;
          }
          if (inventory.FindClass(device_class) != nullptr) {
            return {};
          }
          cause = {CauseKind::kClassMissing,
                   fmt::format("class {}", device_class),
                   1,
                   fmt::format("claim {}, request {} asks for it", Display(*input.claim), name),
                   "create the DeviceClass, or correct deviceClassName"};
          return fmt::format("request {}: device class {} does not exist", name, device_class);
        };
        std::string text;
        if (request.exactly != nullptr) {
          text = check(request.name, request.exactly->device_class_name);
        } else if (!request.first_available.empty()) {
          for (const auto& sub : request.first_available) {
            text = check(fmt::format("{}/{}", request.name, sub.name), sub.device_class_name);
            if (!text.empty()) {
              break;
            }
          }
        } else {
          text = fmt::format("resource claim {}, request {}: unknown request type",
                             Display(*input.claim),
                             request.name);
        }
        if (!text.empty()) {
          return text;
        }
      }
    }
    return {};
  }

  // Allocated claims first, then devices for the others; as upstream's DynamicResources filter.
  void FilterDevices(Attempt& attempt, const NodeInfo& node, NodeResult& result) {
    std::vector<std::size_t> unavailable;
    for (std::size_t i = 0; i < attempt.claims.size(); ++i) {
      const ClaimInput& input = attempt.claims[i];
      if (input.allocation == nullptr) {
        continue;
      }
      const auto* const selector = input.allocation->node_selector;
      bool usable = !input.conditions_failed && (!NeedsNodeOperationsFeature(*input.allocation) ||
                                                 node.ref.optional_node_operations);
      if (selector != nullptr && usable) {
        auto match = inventory::MatchNodeSelector(*selector, node.ref);
        usable = match && *match;
      }
      if (!usable) {
        unavailable.push_back(i);
      }
    }
    const Attempt::Variant& variant = VariantFor(attempt, node);
    if (variant.uses_devices) {
      allocator.AllocateInto(
          variant.prepared, node.ref, inventory.ViewFor(node.ref), view.allocated(), outcome);
      switch (outcome.verdict) {
        case Verdict::kAllocated: break;
        case Verdict::kFatal:
          result.fatal =
              fmt::format("running \"DynamicResources\" filter plugin: {}", outcome.error);
          return;
        case Verdict::kNodeError:
          result.status = {{outcome.error}, CauseKind::kPoolInvalid, false};
          return;
        case Verdict::kInfeasible:
        case Verdict::kBudgetExhausted:
          result.status = {{std::string(kCannotAllocate)}, CauseKind::kCombination, false};
          return;
      }
      result.score.devices = DeviceScore(*variant.prepared);
    }
    if (!unavailable.empty()) {
      for (const std::size_t i : unavailable) {
        if (std::find(attempt.unavailable.begin(), attempt.unavailable.end(), i) ==
            attempt.unavailable.end()) {
          attempt.unavailable.push_back(i);
        }
      }
      result.status = {{"resourceclaim not available on the node"}, CauseKind::kClaimPinned, false};
    }
  }

  [[nodiscard]] std::int64_t DeviceScore(const allocator::Prepared& prepared) const {
    std::int64_t score = 0;
    for (const auto& claim : prepared.claims) {
      for (const auto& choices : claim.requests) {
        if (choices.prioritized) {
          score += 8 - outcome.chosen[choices.first];
        }
      }
    }
    return score;
  }

  NodeResult Evaluate(Attempt& attempt, const NodeInfo& node) {
    NodeResult result;
    result.status = RunFilters(attempt.facts, node, inventory);
    if (result.status.ok()) {
      FilterDevices(attempt, node, result);
    }
    return result;
  }

  [[nodiscard]] static bool IsWanted(const NodeInfo& node, const PlaceOptions& options) {
    return options.only_node.empty() || options.only_node == node.name;
  }

  // `searched`: `outcome` is the node's already.
  void Deliver(Attempt& attempt,
               const NodeInfo& node,
               const allocator::ShareIds& share_ids,
               Decision& decision,
               bool searched) {
    decision.placed = Placed::kPlaced;
    decision.node = node.name;
    const Attempt::Variant& variant = VariantFor(attempt, node);
    if (variant.uses_devices) {
      if (!searched) {
        allocator.AllocateInto(
            variant.prepared, node.ref, inventory.ViewFor(node.ref), view.allocated(), outcome);
      }
      decision.results = allocator::BuildResults(
          outcome, node.ref, inventory.features(), share_ids, *attempt.arena);
    }
    decision.extended_claim = variant.extended.claim;
    decision.extended_mappings = variant.extended.mappings;
  }

  [[nodiscard]] std::int64_t ScoreOf(const Attempt& attempt,
                                     const NodeInfo& node,
                                     const RawScore& max,
                                     const std::optional<RawScore>& raw) {
    const RawScore score = raw ? *raw : ScoreNode(attempt.facts, node);
    if (attempt.options->profile == Profile::kCompatible) {
      return Combine(score, max);
    }
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
    return PackingScore(Combine(score, max), held, total);
  }

  // The best node by the answers kept for pods of this shape; looks only at nodes that have
  // changed.
  void PlaceCached(Attempt& attempt, const allocator::ShareIds& share_ids, Decision& decision) {
    const auto& nodes = view.nodes();
    ShapeKey key = ShapeOf(attempt.facts, attempt.claims);
    key.b += static_cast<std::uint64_t>(attempt.options->profile);
    ShapeCache::Shape& shape = cache.Find(key);
    // Upstream looks at every node of a small cluster, so an error on any of them ends the attempt.
    const bool eager = nodes.size() <= kNodesAllTried;
    for (const std::uint32_t rank : shape.pending) {
      if (!shape.answers[rank].pending) {
        continue;  // listed twice
      }
      const NodeInfo& node = *nodes[rank];
      ++decision.nodes_visited;
      NodeResult result;
      result.status = RunFilters(attempt.facts, node, inventory);
      if (eager && result.status.ok()) {
        FilterDevices(attempt, node, result);
        if (!result.fatal.empty()) {
          decision.placed = Placed::kError;
          decision.error = std::move(result.fatal);
          ShapeCache::MakeAllUnknown(shape);
          return;
        }
      }
      if (result.status.ok()) {
        cache.Push(
            shape, rank, ScoreOf(attempt, node, RawScore{}, {}), ShapeCache::State::kTryable);
      } else {
        cache.Reject(shape, rank, result.status);
      }
    }
    shape.pending.clear();
    while (!shape.heap.empty()) {
      const ShapeCache::HeapItem top = shape.heap.front();
      if (shape.answers[top.rank].stamp == top.stamp) {
        const NodeInfo& node = *nodes[top.rank];
        NodeResult result;
        FilterDevices(attempt, node, result);
        if (!result.fatal.empty()) {
          decision.placed = Placed::kError;
          decision.error = std::move(result.fatal);
          return;
        }
        if (result.status.ok()) {
          shape.answers[top.rank].state = ShapeCache::State::kFeasible;
          decision.score = top.score;
          Deliver(attempt, node, share_ids, decision, /*searched=*/true);
          return;
        }
        cache.Reject(shape, top.rank, result.status);
      }
      std::pop_heap(shape.heap.begin(), shape.heap.end());
      shape.heap.pop_back();
    }
    ReasonCounts reasons;
    bool any_resolvable = false;
    for (const ShapeCache::Reason& reason : shape.reasons) {
      for (const std::string& text : reason.status.reasons) {
        if (reason.count != 0) {
          reasons[text] += reason.count;
        }
      }
      any_resolvable |= reason.count != 0 && reason.status.resolvable;
    }
    std::vector<const NodeInfo*> resolvable;
    for (std::uint32_t rank = 0; any_resolvable && rank < nodes.size(); ++rank) {
      if (shape.reasons[shape.answers[rank].reason].status.resolvable) {
        resolvable.push_back(nodes[rank]);
      }
    }
    Reject(attempt, reasons, resolvable, decision);
  }

  void Reject(Attempt& attempt,
              const ReasonCounts& reasons,
              const std::vector<const NodeInfo*>& resolvable,
              Decision& decision) {
    decision.unavailable_claims = attempt.unavailable;
    decision.filter_text = FilterText(view.nodes().size(), reasons);
    Preempt(attempt, resolvable, decision);
    Finish(decision);
  }

  // The pods of lower priority on `node` whose removal lets the pod in; as few as possible.
  std::vector<std::string> VictimsOn(Attempt& attempt,
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
      why = {{std::string(kNoVictims)}, CauseKind::kNodeResources, false};
      return {};
    }
    const auto fits = [&]() {
      std::vector<std::string> ports;
      for (const PodOnNode* const pod : kept) {
        ports.insert(ports.end(), pod->host_ports.begin(), pod->host_ports.end());
      }
      NodeResult result;
      result.status = RunFilters(attempt.facts, node, requested, kept.size(), ports, inventory);
      if (result.status.ok()) {
        FilterDevices(attempt, node, result);
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
    std::vector<std::string> out;
    for (const PodOnNode* const victim : victims) {
      requested.Add(victim->requests);
      kept.push_back(victim);
      if (!fits().ok()) {
        requested.Subtract(victim->requests);
        kept.pop_back();
        highest = out.empty() ? victim->priority : std::max(highest, victim->priority);
        out.push_back(victim->uid);
      }
    }
    return out;
  }

  // DefaultPreemption's part of the message, and victims when there are any.
  void Preempt(Attempt& attempt,
               const std::vector<const NodeInfo*>& resolvable,
               Decision& decision) {
    const Pod& pod = *attempt.facts.pod;
    if (pod.spec.preemption_policy != nullptr && *pod.spec.preemption_policy == "Never") {
      decision.preemption_text = "preemption: not eligible due to preemptionPolicy=Never.";
      return;
    }
    ReasonCounts reasons;
    std::int32_t best_highest = 0;
    for (const NodeInfo* const node : resolvable) {
      NodeStatus why;
      std::int32_t highest = 0;
      std::vector<std::string> victims = VictimsOn(attempt, *node, why, highest);
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
    const std::size_t nodes = view.nodes().size();
    if (nodes > resolvable.size()) {
      reasons[std::string(kNotHelpful)] += nodes - resolvable.size();
    }
    decision.preemption_text = PreemptionText(nodes, reasons);
  }

  void Finish(Decision& decision) {
    decision.diagnosis.message = decision.filter_text;
    if (!decision.preemption_text.empty()) {
      decision.diagnosis.message += " " + decision.preemption_text;
    }
  }
};

Placer::Placer(ClusterView& view) : impl_(std::make_unique<Impl>(view)) {}
Placer::~Placer() = default;

Decision Placer::Place(const Pod& pod,
                       std::span<const ClaimInput> claims,
                       const allocator::ShareIds& share_ids,
                       const PlaceOptions& options) {
  Decision decision;
  Impl::Attempt attempt = impl_->Begin(pod, claims, options);
  decision.arena = attempt.arena;
  const auto& nodes = impl_->view.nodes();
  if (nodes.empty()) {
    decision.filter_text = "no nodes available to schedule pods";
    decision.diagnosis.causes.push_back({CauseKind::kNoNodes, "cluster", 0, "", "add nodes"});
    impl_->Finish(decision);
    return decision;
  }
  const NamedNodes named = NodesNamedBy(pod);
  Cause cause;
  const std::string pre_filter = impl_->PreFilter(attempt, named, decision.error, cause);
  if (!decision.error.empty()) {
    decision.placed = Placed::kError;
    return decision;
  }
  if (!pre_filter.empty()) {
    decision.filter_text = PreFilterText(nodes.size(), pre_filter);
    decision.diagnosis.causes.push_back(std::move(cause));
    impl_->Preempt(attempt, {}, decision);
    impl_->Finish(decision);
    return decision;
  }
  if (named.all && options.only_node.empty() && !impl_->view.any_soft_taint() &&
      ScoresStandAlone(attempt.facts, claims)) {
    impl_->PlaceCached(attempt, share_ids, decision);
    return decision;
  }
  ReasonCounts reasons;
  std::vector<const NodeInfo*> resolvable;
  std::vector<std::pair<const NodeInfo*, RawScore>> feasible;
  RawScore max;
  for (const NodeInfo* const node : nodes) {
    if (!Impl::IsWanted(*node, options)) {
      continue;
    }
    if (!named.all &&
        std::find(named.names.begin(), named.names.end(), node->name) == named.names.end()) {
      ++reasons["node(s) didn't satisfy plugin(s) [NodeAffinity]"];
      continue;
    }
    ++decision.nodes_visited;
    Impl::NodeResult result = impl_->Evaluate(attempt, *node);
    if (!result.fatal.empty()) {
      decision.placed = Placed::kError;
      decision.error = std::move(result.fatal);
      return decision;
    }
    if (!result.status.ok()) {
      for (std::string& reason : result.status.reasons) {
        ++reasons[std::move(reason)];
      }
      if (result.status.resolvable) {
        resolvable.push_back(node);
      }
      continue;
    }
    RawScore score = ScoreNode(attempt.facts, *node);
    score.devices = result.score.devices;
    max.intolerable = std::max(max.intolerable, score.intolerable);
    max.affinity = std::max(max.affinity, score.affinity);
    max.devices = std::max(max.devices, score.devices);
    feasible.emplace_back(node, score);
  }
  if (feasible.empty()) {
    impl_->Reject(attempt, reasons, resolvable, decision);
    return decision;
  }
  const NodeInfo* best = nullptr;
  for (const auto& [node, score] : feasible) {
    const std::int64_t total = impl_->ScoreOf(attempt, *node, max, score);
    if (best == nullptr || total > decision.score) {
      best = node;
      decision.score = total;
    }
  }
  impl_->Deliver(attempt, *best, share_ids, decision, /*searched=*/false);
  return decision;
}

allocator::Diagnosis Placer::Explain(const Pod& pod,
                                     std::span<const ClaimInput> claims,
                                     const PlaceOptions& options) {
  Decision decision = Place(pod, claims, [](std::size_t) { return std::string(); }, options);
  allocator::Diagnosis diagnosis = std::move(decision.diagnosis);
  if (decision.placed == Placed::kPlaced || !diagnosis.causes.empty()) {
    return diagnosis;
  }
  if (decision.placed == Placed::kError) {
    diagnosis.message = decision.error;
  }
  Impl::Attempt attempt = impl_->Begin(pod, claims, options);
  const NamedNodes named = NodesNamedBy(pod);
  std::size_t explained = 0;
  for (const NodeInfo* const node : impl_->view.nodes()) {
    if (!Impl::IsWanted(*node, options)) {
      continue;
    }
    NodeDiagnosis one;
    one.example_node = node->name;
    NodeStatus status = RunFilters(attempt.facts, *node, impl_->inventory);
    if (!named.all &&
        std::find(named.names.begin(), named.names.end(), node->name) == named.names.end()) {
      status = {
          {"node(s) didn't satisfy plugin(s) [NodeAffinity]"}, CauseKind::kNodeAffinity, false};
    }
    const Impl::Attempt::Variant& variant = impl_->VariantFor(attempt, *node);
    if (!status.ok()) {
      one.reasons = status.reasons;
      for (const std::string& reason : status.reasons) {
        one.causes.push_back({status.kind, "node", 1, reason, ""});
      }
      if (variant.uses_devices && explained < kMaxExplained) {
        // A node that is out for another reason may be the one with the devices: say so.
        ++explained;
        inventory::AllocatedState& state = impl_->view.allocated();
        if (impl_->allocator.Allocate(variant.prepared, node->ref, state).verdict ==
            Verdict::kAllocated) {
          one.causes.front().hint = "the node has the devices; only this keeps the pod away";
        }
      }
    } else if (variant.uses_devices && explained < kMaxExplained) {
      ++explained;
      one = impl_->allocator.Diagnose(variant.prepared, node->ref, impl_->view.allocated());
    }
    if (one.reasons.empty()) {
      Impl::NodeResult result = impl_->Evaluate(attempt, *node);
      one.reasons = result.status.reasons;
      if (!result.status.ok()) {
        one.causes.push_back({result.status.kind,
                              "claims of the pod",
                              1,
                              result.status.reasons.front(),
                              result.status.kind == CauseKind::kClaimPinned
                                  ? "the claim's devices are elsewhere; free that node or the claim"
                                  : ""});
      }
    }
    const auto alike = std::find_if(
        diagnosis.groups.begin(), diagnosis.groups.end(), [&](const NodeDiagnosis& group) {
          return group.reasons == one.reasons && group.causes.size() == one.causes.size() &&
                 std::equal(group.causes.begin(),
                            group.causes.end(),
                            one.causes.begin(),
                            [](const Cause& a, const Cause& b) {
                              return a.kind == b.kind && a.count == b.count && a.hint == b.hint;
                            });
        });
    if (alike != diagnosis.groups.end()) {
      ++alike->nodes;
    } else {
      diagnosis.groups.push_back(std::move(one));
    }
  }
  for (const NodeDiagnosis& group : diagnosis.groups) {
    for (const Cause& cause : group.causes) {
      if (std::find(diagnosis.causes.begin(), diagnosis.causes.end(), cause) ==
          diagnosis.causes.end()) {
        diagnosis.causes.push_back(cause);
      }
    }
  }
  std::sort(diagnosis.causes.begin(), diagnosis.causes.end(), [](const Cause& a, const Cause& b) {
    return std::pair(a.kind, std::string_view(a.subject)) <
           std::pair(b.kind, std::string_view(b.subject));
  });
  return diagnosis;
}

}  // namespace allot::placement
