// Why a pod fits nowhere: the causes and funnels of every kind of node.
#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

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

bool Has(const NodeDiagnosis& node, CauseKind kind) {
  return std::any_of(node.causes.begin(), node.causes.end(), [kind](const Cause& cause) {
    return cause.kind == kind;
  });
}

// Whether two nodes have one answer. Examples name devices and so differ from node to node; so does
// the reason of a failed expression, which quotes one.
bool Alike(const NodeDiagnosis& a, const NodeDiagnosis& b) {
  const auto same = [](const Cause& x, const Cause& y) {
    return x.kind == y.kind && x.subject == y.subject && x.count == y.count && x.hint == y.hint;
  };
  return (a.reasons == b.reasons || Has(a, CauseKind::kSelectorError)) &&
         std::equal(a.causes.begin(), a.causes.end(), b.causes.begin(), b.causes.end(), same);
}

// A mistake in the request says more than what follows from it.
int Rank(CauseKind kind) {
  return kind == CauseKind::kWrongSection || kind == CauseKind::kAttributeMissing ? 0 : 1;
}

// The causes of all groups, those that say the same once (with the largest count), most telling
// first: mistakes, then in the order of the funnel.
std::vector<Cause> Summary(const std::vector<NodeDiagnosis>& groups) {
  std::vector<Cause> causes;
  for (const NodeDiagnosis& group : groups) {
    for (const Cause& cause : group.causes) {
      const auto known = std::find_if(causes.begin(), causes.end(), [&](const Cause& other) {
        return other.kind == cause.kind && other.subject == cause.subject &&
               other.hint == cause.hint;
      });
      if (known == causes.end()) {
        causes.push_back(cause);
      } else if (known->count < cause.count) {
        *known = cause;
      }
    }
  }
  std::stable_sort(causes.begin(), causes.end(), [](const Cause& a, const Cause& b) {
    return std::tuple(Rank(a.kind), a.kind, std::string_view(a.subject)) <
           std::tuple(Rank(b.kind), b.kind, std::string_view(b.subject));
  });
  return causes;
}

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
  if (decision.placed == Placed::kError || decision.placed == Placed::kUnfinished) {
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
        diagnosis.groups.begin(), diagnosis.groups.end(), [&one](const NodeDiagnosis& group) {
          return Alike(group, one);
        });
    if (alike != diagnosis.groups.end()) {
      ++alike->nodes;
    } else {
      diagnosis.groups.push_back(std::move(one));
    }
  }
  diagnosis.causes = Summary(diagnosis.groups);
  return diagnosis;
}

}  // namespace allot::placement
