// Why a pod fits nowhere: the causes and funnels of every kind of node.
#include <algorithm>
#include <utility>

#include "placement/placer_impl.h"

namespace allot::placement {
namespace {

using allocator::Cause;
using allocator::CauseKind;
using allocator::NodeDiagnosis;
using allocator::Verdict;
using api::core::Pod;

// Nodes whose devices are looked at one by one for an explanation.
constexpr std::size_t kMaxExplained = 256;

}  // namespace

NodeDiagnosis Placer::Impl::ExplainNode(Attempt& attempt,
                                        const NamedNodes& named,
                                        const NodeInfo& node,
                                        std::size_t& explained) {
  NodeDiagnosis one;
  one.example_node = node.name;
  NodeStatus status = RunFilters(attempt.facts, node, inventory);
  if (!named.all &&
      std::find(named.names.begin(), named.names.end(), node.name) == named.names.end()) {
    status = Rejection(CauseKind::kNodeAffinity, "node(s) didn't satisfy plugin(s) [NodeAffinity]");
  }
  const ClaimVariant& variant = VariantFor(attempt, node);
  if (!status.ok()) {
    one.reasons = status.reasons;
    for (const std::string& reason : status.reasons) {
      one.causes.push_back({status.kind, "node", 1, reason, ""});
    }
    if (variant.uses_devices && explained < kMaxExplained) {
      // A node that is out for another reason may be the one with the devices: say so.
      ++explained;
      if (allocator.Allocate(variant.prepared, node.ref, view.allocated()).verdict ==
          Verdict::kAllocated) {
        one.causes.front().hint = "the node has the devices; only this keeps the pod away";
      }
    }
  } else if (variant.uses_devices && explained < kMaxExplained) {
    ++explained;
    one = allocator.Diagnose(variant.prepared, node.ref, view.allocated());
  }
  if (one.reasons.empty()) {
    const NodeResult result = Evaluate(attempt, node);
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
  return one;
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
  Attempt attempt = impl_->Begin(pod, claims, options);
  const NamedNodes named = NodesNamedBy(pod);
  std::size_t explained = 0;
  for (const NodeInfo* const node : impl_->view.nodes()) {
    if (!options.only_node.empty() && options.only_node != node->name) {
      continue;
    }
    NodeDiagnosis one = impl_->ExplainNode(attempt, named, *node, explained);
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
