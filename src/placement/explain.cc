// Why a pod fits nowhere: the causes and funnels of every kind of node.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/desc.h"
#include "placement/hasher.h"
#include "placement/node_kinds.h"
#include "placement/placer_impl.h"
#include "schema/codec.h"

namespace allot::placement {
namespace {

using allocator::Cause;
using allocator::CauseKind;
using allocator::NodeDiagnosis;
using allocator::Verdict;
using api::core::Pod;

// Kinds of nodes whose devices are looked at for an explanation.
constexpr std::size_t kMaxExplained = 64;
// What is told, whatever the size of the cluster.
constexpr std::size_t kMaxGroups = 10;
constexpr std::size_t kMaxCauses = 12;
constexpr std::size_t kMaxCausesAlike = 2;

bool Has(const NodeDiagnosis& node, CauseKind kind) {
  return std::any_of(node.causes.begin(), node.causes.end(), [kind](const Cause& cause) {
    return cause.kind == kind;
  });
}

bool IsOfPool(const Cause& cause) {
  return cause.kind == CauseKind::kPoolIncomplete || cause.kind == CauseKind::kPoolInvalid;
}

// The subject without what only this node has: most nodes have pools of their own.
std::string_view Common(const Cause& cause) {
  const std::string_view subject = cause.subject;
  return IsOfPool(cause) ? subject.substr(0, subject.rfind('/')) : subject;
}

// Whether two nodes have one answer. Examples name devices and so differ from node to node; so does
// the reason of a failed expression, which quotes one.
bool Alike(const NodeDiagnosis& a, const NodeDiagnosis& b) {
  const auto same = [](const Cause& x, const Cause& y) {
    return x.kind == y.kind && Common(x) == Common(y) && x.count == y.count && x.hint == y.hint;
  };
  return (a.reasons == b.reasons || Has(a, CauseKind::kSelectorError)) &&
         std::equal(a.causes.begin(), a.causes.end(), b.causes.begin(), b.causes.end(), same);
}

// A mistake in the request says more than what follows from it, a node that has the devices more
// than one that has none.
int Rank(const Cause& cause) {
  switch (cause.kind) {
    case CauseKind::kWrongSection:
    case CauseKind::kAttributeMissing:
    case CauseKind::kRequestInvalid:
    case CauseKind::kClassMissing: return 0;
    case CauseKind::kSelectorError: return 1;
    case CauseKind::kDriverAbsent: return 4;
    default: break;
  }
  if (cause.kind < CauseKind::kNodeUnschedulable) {
    return 2;
  }
  return cause.hint.empty() ? 5 : 3;
}

// A cause on the nodes that have it.
struct Found {
  Cause cause;
  std::size_t place = 0;  // the best in a node's own list
};

void Collect(const NodeDiagnosis& group, std::vector<Found>& found) {
  for (std::size_t i = 0; i < group.causes.size(); ++i) {
    const Cause& cause = group.causes[i];
    const auto known = std::find_if(found.begin(), found.end(), [&](const Found& other) {
      return other.cause.kind == cause.kind && Common(other.cause) == Common(cause) &&
             other.cause.hint == cause.hint;
    });
    if (known == found.end()) {
      found.push_back({cause, i});
      found.back().cause.nodes = group.nodes;
      found.back().cause.example_node = group.example_node;
      continue;
    }
    known->place = std::min(known->place, i);
    known->cause.nodes += group.nodes;
    if (known->cause.count < cause.count) {
      known->cause.count = cause.count;
      known->cause.example = cause.example;
      known->cause.example_node = group.example_node;
    }
  }
}

// Subjects that stand for one node each.
void NameSubject(Found& one) {
  Cause& cause = one.cause;
  if (cause.subject == "node") {
    cause.count = cause.nodes;
    cause.subject = cause.nodes == 1
                        ? fmt::format("node {}", cause.example_node)
                        : fmt::format("{} nodes, such as {}", cause.nodes, cause.example_node);
  }
}

// The causes of all groups, those that say the same once (with the largest count), most telling
// first: mistakes, then as the nodes' own lists have them and by the number of nodes.
std::vector<Cause> Summary(const std::vector<NodeDiagnosis>& groups) {
  std::vector<Found> found;
  for (const NodeDiagnosis& group : groups) {
    Collect(group, found);
  }
  const auto key = [](const Found& one) {
    return std::tuple(Rank(one.cause),
                      one.place,
                      -one.cause.nodes,
                      one.cause.kind,
                      std::string_view(one.cause.subject));
  };
  std::stable_sort(
      found.begin(), found.end(), [&](const Found& a, const Found& b) { return key(a) < key(b); });
  std::vector<Cause> causes;
  for (Found& one : found) {
    NameSubject(one);
    const auto alike = std::count_if(causes.begin(), causes.end(), [&](const Cause& other) {
      return other.kind == one.cause.kind && other.subject == one.cause.subject;
    });
    if (causes.size() < kMaxCauses && static_cast<std::size_t>(alike) < kMaxCausesAlike) {
      causes.push_back(std::move(one.cause));
    }
  }
  return causes;
}

// Groups with the most telling cause first, the larger ones before the smaller.
void OrderGroups(std::vector<NodeDiagnosis>& groups) {
  const auto key = [](const NodeDiagnosis& group) {
    int rank = 9;
    for (const Cause& cause : group.causes) {
      rank = std::min(rank, Rank(cause));
    }
    return std::tuple(rank, -group.nodes);
  };
  std::stable_sort(
      groups.begin(), groups.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
}

// All that the claims and their classes say, and what their expressions read: these may spell a
// name in many ways. False: they may read attributes that are not named.
bool AskedBy(const ClaimVariant& variant, std::string& text) {
  if (variant.prepared == nullptr) {
    return true;
  }
  for (const auto& claim : variant.prepared->claims) {
    schema::EncodeJson(api::Desc<api::resource::ResourceClaimSpec>(), &claim.claim->spec, text);
  }
  bool named = true;
  for (const auto& request : variant.prepared->requests) {
    if (request.device_class != nullptr) {
      schema::EncodeJson(
          api::Desc<api::resource::DeviceClassSpec>(), request.device_class->spec, text);
    }
    named = named && (request.selectors == nullptr || request.selectors->AddNamesRead(text));
    for (const auto& derived : request.derived) {
      named = named && (derived.expression == nullptr || derived.expression->AddNamesRead(text));
    }
  }
  return named;
}

// Where the devices of an allocated claim are.
std::string WhereText(const api::resource::AllocationResult& allocation) {
  std::string text = allocation.devices.results.empty() ? "" : ": its devices, such as ";
  if (!allocation.devices.results.empty()) {
    const auto& first = *allocation.devices.results.begin();
    text += fmt::format("{}/{}/{}, are", first.driver, first.pool, first.device);
  } else {
    text = ": it is";
  }
  if (allocation.node_selector != nullptr) {
    for (const auto& term : allocation.node_selector->node_selector_terms) {
      for (const auto& field : term.match_fields) {
        if (field.key == "metadata.name" && !field.values.empty()) {
          return fmt::format("{} on node {}", text, *field.values.begin());
        }
      }
    }
  }
  return text + " on nodes that the allocation's nodeSelector names";
}

}  // namespace

// Nodes that get one look.
struct Placer::Impl::Kind {
  const NodeInfo* first = nullptr;
  std::int64_t nodes = 0;
  NodeStatus status;
  std::vector<std::size_t> unavailable;
  const ClaimVariant* variant = nullptr;
  bool offers = false;
};

std::vector<Placer::Impl::Kind> Placer::Impl::KindsOf(Attempt& attempt, const NamedNodes& named) {
  std::vector<Kind> all;
  std::unordered_map<ShapeKey, std::size_t, ShapeKeyHash> known;
  const ClaimVariant* asking = nullptr;
  for (const NodeInfo* const node : view.nodes()) {
    if (!attempt.options->only_node.empty() && attempt.options->only_node != node->name) {
      continue;
    }
    Kind kind;
    kind.first = node;
    kind.status = RunFilters(attempt.facts, *node, inventory);
    if (!named.all &&
        std::find(named.names.begin(), named.names.end(), node->name) == named.names.end()) {
      kind.status =
          Rejection(CauseKind::kNodeAffinity, "node(s) didn't satisfy plugin(s) [NodeAffinity]");
    }
    if (kind.status.ok()) {
      kind.status = FilterAllocated(attempt, *node, kind.unavailable);
    }
    kind.variant = &VariantFor(attempt, *node);
    Hasher hasher;
    for (const std::string& reason : kind.status.reasons) {
      hasher.Add(std::string_view(reason));
    }
    for (const std::size_t claim : kind.unavailable) {
      hasher.Add(std::uint64_t{claim});
    }
    for (const std::string& served : kind.variant->served) {
      hasher.Add(std::string_view(served));
    }
    if (kind.variant->uses_devices) {
      if (kind.variant != asking) {
        asking = kind.variant;
        std::string asked;
        const bool spelt = AskedBy(*asking, asked);
        kinds.Begin(std::move(asked), !spelt);
      }
      const ShapeKey devices = kinds.KeyOf(*node);
      hasher.Add(devices.a);
      hasher.Add(devices.b);
    }
    if (inventory.features().node_allocatable_resources) {
      hasher.Add(node->allocatable);
      hasher.Add(node->requested);
    }
    const auto [at, is_new] = known.try_emplace(hasher.key(), all.size());
    if (is_new) {
      all.push_back(std::move(kind));
    }
    ++all[at->second].nodes;
  }
  return all;
}

// When not all can be looked at: those with devices of the classes first, then the larger ones.
void Placer::Impl::OrderKinds(std::vector<Kind>& all) {
  if (all.size() <= kMaxExplained) {
    return;
  }
  for (Kind& kind : all) {
    kind.offers =
        kind.variant->uses_devices && allocator.OffersAny(kind.variant->prepared, kind.first->ref);
  }
  const auto key = [](const Kind& kind) {
    return std::tuple(!kind.offers, !kind.status.ok(), -kind.nodes);
  };
  std::stable_sort(
      all.begin(), all.end(), [&](const Kind& a, const Kind& b) { return key(a) < key(b); });
}

void Placer::Impl::AddPinned(const Attempt& attempt, const Kind& kind, NodeDiagnosis& one) const {
  for (const std::size_t i : kind.unavailable) {
    const ClaimInput& input = attempt.claims[i];
    one.causes.push_back(
        {CauseKind::kClaimPinned,
         fmt::format("claim {}", Display(*input.claim)),
         1,
         input.conditions_failed
             ? "resourceclaim not available on the node: its binding conditions "
               "failed"
             : "resourceclaim not available on the node" + WhereText(*input.allocation),
         "the claim's devices are elsewhere; free that node or the claim"});
  }
}

NodeDiagnosis Placer::Impl::ExplainKind(Attempt& attempt, const Kind& kind, bool devices_too) {
  NodeDiagnosis one;
  one.example_node = kind.first->name;
  const bool look = devices_too && kind.variant->uses_devices;
  explained += look ? 1 : 0;
  if (!kind.status.ok()) {
    one.reasons = kind.status.reasons;
    for (const std::string& reason : kind.status.reasons) {
      one.causes.push_back({kind.status.kind, "node", 1, reason, ""});
    }
    // A node that is out for another reason may be the one with the devices: say so.
    if (look &&
        allocator.Allocate(kind.variant->prepared, kind.first->ref, view.allocated()).verdict ==
            Verdict::kAllocated) {
      one.causes.front().hint = "the node has the devices; only this keeps the pod away";
    }
  } else if (look) {
    one = allocator.Diagnose(kind.variant->prepared, kind.first->ref, view.allocated());
  }
  if (one.reasons.empty()) {
    const NodeResult result = Evaluate(attempt, *kind.first);
    one.reasons = result.status.reasons;
    if (!result.status.ok() && kind.unavailable.empty()) {
      one.causes.push_back(
          {result.status.kind, "claims of the pod", 1, result.status.reasons.front(), ""});
    }
  }
  AddPinned(attempt, kind, one);
  one.nodes = kind.nodes;
  return one;
}

allocator::Diagnosis Placer::Explain(const Pod& pod,
                                     std::span<const ClaimInput> claims,
                                     const PlaceOptions& options) {
  Decision decision = Place(pod, claims, [](std::size_t) { return std::string(); }, options);
  allocator::Diagnosis diagnosis = std::move(decision.diagnosis);
  if (decision.placed == Placed::kError || decision.placed == Placed::kUnfinished) {
    diagnosis.message = decision.error;
  }
  if (decision.placed == Placed::kPlaced || !diagnosis.causes.empty()) {
    return diagnosis;
  }
  Attempt attempt = impl_->Begin(pod, claims, options);
  std::vector<Impl::Kind> kinds = impl_->KindsOf(attempt, NodesNamedBy(pod));
  impl_->OrderKinds(kinds);
  std::vector<NodeDiagnosis>& groups = diagnosis.groups;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (i >= kMaxExplained && kinds[i].status.ok() && kinds[i].variant->uses_devices) {
      diagnosis.nodes_not_looked_at += kinds[i].nodes;
      continue;
    }
    NodeDiagnosis one = impl_->ExplainKind(attempt, kinds[i], i < kMaxExplained);
    const auto alike = std::find_if(
        groups.begin(), groups.end(), [&](const auto& group) { return Alike(group, one); });
    if (alike != groups.end()) {
      alike->nodes += one.nodes;
    } else {
      groups.push_back(std::move(one));
    }
  }
  diagnosis.causes = Summary(groups);
  OrderGroups(groups);
  for (; groups.size() > kMaxGroups; groups.pop_back()) {
    diagnosis.nodes_left_out += groups.back().nodes;
  }
  return diagnosis;
}

std::uint64_t Placer::explained() const {
  return impl_->explained;
}

}  // namespace allot::placement
