// Devices of one node for the pod's claims.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/object_key.h"
#include "placement/node_allocatable.h"
#include "placement/placer_impl.h"

namespace allot::placement {
namespace {

namespace res = api::resource;
using allocator::CauseKind;
using allocator::Verdict;

constexpr std::string_view kCannotAllocate = "cannot allocate all claims";
// Points of the first choice of a prioritized list; one less for each later one.
constexpr std::int64_t kFirstChoice = 8;
// Compiled claims kept.
constexpr std::size_t kMaxPrepared = 4096;

bool NeedsNodeOperationsFeature(const res::AllocationResult& allocation) {
  return std::any_of(allocation.devices.results.begin(),
                     allocation.devices.results.end(),
                     [](const auto& result) { return !result.skip_node_operations.empty(); });
}

std::string FatalText(std::string_view error) {
  return fmt::format("running \"DynamicResources\" filter plugin: {}", error);
}

}  // namespace

NodeStatus CannotAllocate() {
  NodeStatus status = Rejection(CauseKind::kCombination, std::string(kCannotAllocate));
  status.by_devices = true;
  return status;
}

std::string Display(const res::ResourceClaim& claim) {
  return api::KeyOf(claim.metadata);
}

allocator::PreparedPtr PreparedCache::Get(const ShapeKey& key,
                                          std::span<const res::ResourceClaim* const> claims) {
  if (class_version_ != inventory_.class_version() || known_.size() >= kMaxPrepared) {
    class_version_ = inventory_.class_version();
    known_.clear();
  }
  if (const auto known = known_.find(key); known != known_.end()) {
    allocator::RebindClaims(*known->second, claims);
    return known->second;
  }
  const allocator::PreparedPtr made = allocator_.Prepare(claims);
  if (!allocator::CanBeRebound(*made)) {
    return made;
  }
  return known_[key] = std::make_shared<allocator::Prepared>(*made);
}

const ClaimVariant& Placer::Impl::VariantFor(Attempt& attempt, const NodeInfo& node) {
  std::vector<std::string> served =
      ResourcesServedByDevices(attempt.facts.requests, node, inventory);
  for (const auto& known : attempt.variants) {
    if (known->served == served) {
      return *known;
    }
  }
  auto variant = std::make_unique<ClaimVariant>();
  std::vector<const res::ResourceClaim*> claims = attempt.to_allocate;
  if (!served.empty()) {
    variant->extended = MakeExtendedClaim(*attempt.facts.pod, served, inventory, *attempt.arena);
    if (variant->extended.claim != nullptr) {
      claims.push_back(variant->extended.claim);
    }
  }
  variant->served = std::move(served);
  variant->uses_devices = !claims.empty();
  if (variant->uses_devices) {
    variant->prepared = variant->extended.claim == nullptr
                            ? compiled.Get(attempt.claims_key, claims)
                            : allocator.Prepare(claims);
  }
  return *attempt.variants.emplace_back(std::move(variant));
}

NodeStatus Placer::Impl::FilterAllocated(const Attempt& attempt,
                                         const NodeInfo& node,
                                         std::vector<std::size_t>& unavailable) const {
  for (std::size_t i = 0; i < attempt.claims.size(); ++i) {
    const ClaimInput& input = attempt.claims[i];
    if (input.allocation == nullptr) {
      continue;
    }
    const auto* const selector = input.allocation->node_selector;
    bool reachable =
        !NeedsNodeOperationsFeature(*input.allocation) || node.ref.optional_node_operations;
    if (selector != nullptr && reachable) {
      auto match = inventory::MatchNodeSelector(*selector, node.ref);
      reachable = match && *match;
    }
    if (!reachable || input.conditions_failed) {
      unavailable.push_back(i);
    }
    if (reachable && inventory.features().node_allocatable_resources) {
      NodeStatus status =
          CheckMappedSharing(*attempt.facts.pod, *input.claim, *input.allocation, inventory);
      if (!status.ok()) {
        return status;
      }
    }
  }
  return {};
}

void Placer::Impl::FilterDevices(Attempt& attempt,
                                 const NodeInfo& node,
                                 const Resources& requested,
                                 NodeResult& result) {
  std::vector<std::size_t> unavailable;
  result.status = FilterAllocated(attempt, node, unavailable);
  if (!result.status.ok()) {
    return;
  }
  const ClaimVariant& variant = VariantFor(attempt, node);
  if (variant.uses_devices) {
    allocator.AllocateInto(
        variant.prepared, node.ref, inventory.ViewFor(node.ref), view.allocated(), outcome);
    switch (outcome.verdict) {
      case Verdict::kAllocated: break;
      case Verdict::kFatal:
      case Verdict::kUnfinished:
        result.fatal = FatalText(outcome.error);
        result.unfinished = outcome.verdict == Verdict::kUnfinished;
        return;
      case Verdict::kNodeError:
        result.status = Rejection(CauseKind::kPoolInvalid, outcome.error);
        result.status.by_devices = true;
        return;
      case Verdict::kInfeasible:
      case Verdict::kBudgetExhausted: result.status = CannotAllocate(); return;
    }
    result.devices = DeviceScore(attempt, *variant.prepared);
  }
  if (inventory.features().node_allocatable_resources) {
    CheckDemand(attempt, variant, node, requested, result);
    if (!result.fatal.empty() || !result.status.ok()) {
      return;
    }
  }
  if (!unavailable.empty()) {
    result.status = Rejection(CauseKind::kClaimPinned, "resourceclaim not available on the node");
    result.status.unavailable = std::move(unavailable);
  }
}

void Placer::Impl::CheckDemand(Attempt& attempt,
                               const ClaimVariant& variant,
                               const NodeInfo& node,
                               const Resources& requested,
                               NodeResult& result) {
  std::vector<res::AllocationResult> found;
  if (variant.uses_devices) {
    found = allocator::BuildResults(
        outcome,
        node.ref,
        inventory.features(),
        [](std::size_t) { return std::string(); },
        *attempt.arena);
  }
  std::vector<ClaimDevices> claims;
  std::size_t next = 0;
  for (const ClaimInput& input : attempt.claims) {
    claims.push_back(
        {input.claim, input.allocation != nullptr ? input.allocation : &found[next++], true});
  }
  if (variant.extended.claim != nullptr) {
    claims.push_back({variant.extended.claim, &found[next], false});
  }
  DeviceDemand demand = CheckDeviceDemand(
      attempt.facts, claims, attempt.claims, node, requested, inventory, *attempt.arena);
  if (!demand.error.empty()) {
    result.fatal = FatalText(demand.error);
    return;
  }
  result.status = std::move(demand.status);
  result.node_allocatable = demand.statuses;
}

std::int64_t Placer::Impl::DeviceScore(const Attempt& attempt,
                                       const allocator::Prepared& prepared) const {
  std::int64_t score = attempt.fixed_device_score;
  for (const auto& claim : prepared.claims) {
    for (const auto& choices : claim.requests) {
      if (choices.prioritized) {
        score += kFirstChoice - outcome.chosen[choices.first];
      }
    }
  }
  return score;
}

NodeResult Placer::Impl::Evaluate(Attempt& attempt, const NodeInfo& node) {
  NodeResult result;
  result.status = RunFilters(attempt.facts, node, inventory);
  if (result.status.ok()) {
    FilterDevices(attempt, node, node.requested, result);
  }
  return result;
}

void Placer::Impl::End(NodeResult&& result, Decision& decision) {
  decision.placed = result.unfinished ? Placed::kUnfinished : Placed::kError;
  decision.error = std::move(result.fatal);
}

void Placer::Impl::Deliver(Attempt& attempt,
                           const NodeInfo& node,
                           const NodeResult& result,
                           const allocator::ShareIds& share_ids,
                           Decision& decision) {
  decision.placed = Placed::kPlaced;
  decision.node = node.name;
  decision.node_allocatable = result.node_allocatable;
  const ClaimVariant& variant = VariantFor(attempt, node);
  if (variant.uses_devices) {
    decision.results =
        allocator::BuildResults(outcome, node.ref, inventory.features(), share_ids, *attempt.arena);
  }
  decision.extended_claim = variant.extended.claim;
  decision.extended_mappings = variant.extended.mappings;
}

}  // namespace allot::placement
