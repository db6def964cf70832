// The parts of Placer: one attempt at a time over the nodes, their devices and the kept answers.
//
// placer.cc chooses the way, place_cached.cc, place_grouped.cc and place_among.cc find the node,
// device_filter.cc asks for its devices, preempt.cc and explain.cc work when there is none. Thread
// safety: one thread. Internal to the module.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "allocator/prepared.h"
#include "placement/extended.h"
#include "placement/filters.h"
#include "placement/message.h"
#include "placement/node_groups.h"
#include "placement/node_kinds.h"
#include "placement/placement.h"
#include "placement/score.h"
#include "placement/shape_cache.h"

namespace allot::placement {

/// The pod's claims as one kind of node sees them: with the one for extended resources that devices
/// serve there.
struct ClaimVariant {
  std::vector<std::string> served;  ///< extended resources that devices serve
  ExtendedClaim extended;
  allocator::PreparedPtr prepared;
  bool uses_devices = false;
};

/// Compiled claims of the pods seen lately, by shape of the claims: pods of one kind bring claims
/// of their own that say the same.
class PreparedCache {
 public:
  PreparedCache(inventory::Inventory& inventory, allocator::Allocator& allocator)
      : inventory_(inventory), allocator_(allocator) {}

  /// What `claims` compile to. REQUIRES: claims of one key are equal in all that is compiled.
  /// Lifetime: until the next call.
  [[nodiscard]] allocator::PreparedPtr Get(
      const ShapeKey& key, std::span<const api::resource::ResourceClaim* const> claims);

 private:
  inventory::Inventory& inventory_;
  allocator::Allocator& allocator_;
  std::uint64_t class_version_ = 0;
  std::unordered_map<ShapeKey, std::shared_ptr<allocator::Prepared>, ShapeKeyHash> known_;
};

/// What one attempt works on.
struct Attempt {
  PodFacts facts;
  std::span<const ClaimInput> claims;
  const PlaceOptions* options = nullptr;
  std::vector<const api::resource::ResourceClaim*> to_allocate;
  ShapeKey claims_key;
  std::shared_ptr<base::Arena> arena = std::make_shared<base::Arena>();
  std::vector<std::unique_ptr<ClaimVariant>> variants;
  std::vector<std::size_t> unavailable;
  /// Priority points of claims that are allocated already: the same on all nodes.
  std::int64_t fixed_device_score = 0;
  /// Not empty: preemption could not be thought through within the limits.
  std::string unfinished;
};

/// The answer of one node.
struct NodeResult {
  NodeStatus status;
  std::string fatal;        ///< not empty: the attempt ends
  bool unfinished = false;  ///< `fatal` is that the attempt's limits are used up
  std::int64_t devices = 0;
  ClaimStatuses node_allocatable;
};

/// Nodes that removing pods may help.
struct Resolvable {
  std::size_t count = 0;
  /// Left out when no pod anywhere has a lower priority than ours.
  std::vector<const NodeInfo*> nodes;
};

/// What the devices of the last such node said.
struct SharedAnswer {
  inventory::NodeViewPtr view;
  bool optional_node_operations = false;
  bool looked = false;  // at some node at all
  NodeResult result;
};

/// What named nodes answer within the steps of one attempt.
struct NamedAnswers {
  bool kept = false;                                          // an attempt may go on from them
  const ShapeCache::DeviceAnswers* known = nullptr;           // from those before; null: nothing
  bool looked = false;                                        // at the devices of some node
  bool left = false;                                          // some were not looked at
  std::vector<std::pair<std::uint32_t, NodeStatus>> refused;  // ranks
};

/// Why all nodes are out.
struct Refusal {
  ReasonCounts reasons;
  Resolvable resolvable;
};

struct Placer::Impl {
  Impl(ClusterView& view_in, allocator::AttemptLimits limits);

  [[nodiscard]] Attempt Begin(const api::core::Pod& pod,
                              std::span<const ClaimInput> claims,
                              const PlaceOptions& options) const;
  /// What upstream checks before it looks at nodes. Empty: nothing is wrong.
  [[nodiscard]] std::string PreFilter(const Attempt& attempt,
                                      const NamedNodes& named,
                                      std::string& error,
                                      allocator::Cause& cause) const;

  void Choose(Attempt& attempt,
              const NamedNodes& named,
              const allocator::ShareIds& share_ids,
              Decision& decision);

  // device_filter.cc
  const ClaimVariant& VariantFor(Attempt& attempt, const NodeInfo& node);
  /// Allocated claims first, then devices for the others; as upstream's DynamicResources filter.
  void FilterDevices(Attempt& attempt,
                     const NodeInfo& node,
                     const Resources& requested,
                     NodeResult& result);
  [[nodiscard]] NodeStatus FilterAllocated(const Attempt& attempt,
                                           const NodeInfo& node,
                                           std::vector<std::size_t>& unavailable) const;
  void CheckDemand(Attempt& attempt,
                   const ClaimVariant& variant,
                   const NodeInfo& node,
                   const Resources& requested,
                   NodeResult& result);
  [[nodiscard]] std::int64_t DeviceScore(const Attempt& attempt,
                                         const allocator::Prepared& prepared) const;
  NodeResult Evaluate(Attempt& attempt, const NodeInfo& node);
  /// Ends the attempt with what is fatal in `result`. REQUIRES: result.fatal is not empty.
  static void End(NodeResult&& result, Decision& decision);
  /// Ends it between two nodes: those before have their answers.
  static void EndOutOfSteps(NodeResult& result);
  /// Fills `decision` with what `outcome` and `result` hold for `node`.
  void Deliver(Attempt& attempt,
               const NodeInfo& node,
               const NodeResult& result,
               const allocator::ShareIds& share_ids,
               Decision& decision);

  // place_cached.cc
  /// The best node by the answers kept for pods of this shape; looks only at nodes that changed.
  void PlaceCached(Attempt& attempt,
                   const ShapeKey& key,
                   const allocator::ShareIds& share_ids,
                   Decision& decision);
  bool EvaluatePending(Attempt& attempt, ShapeCache::Shape& shape, Decision& decision);
  /// As FilterDevices. Nodes that see the same pools and nothing of their own have one answer.
  void FilterShared(Attempt& attempt, const NodeInfo& node, SharedAnswer& last, NodeResult& result);
  /// Finds devices on the best node left in the bucket; drops nodes that have none.
  const NodeInfo* BestOf(Attempt& attempt,
                         ShapeCache::Shape& shape,
                         ShapeCache::Bucket& bucket,
                         NodeResult& result);
  void RejectByReasons(Attempt& attempt, const ShapeCache::Shape& shape, Decision& decision);
  /// The best of a few lightly loaded nodes; false when none of them will do.
  bool PlaceByLoad(Attempt& attempt, const allocator::ShareIds& share_ids, Decision& decision);

  // place_grouped.cc
  /// The best node that will do, or the refusal, without a look at every node; false when the pod
  /// or its claims do not allow that.
  bool PlaceByGroups(Attempt& attempt, const allocator::ShareIds& share_ids, Decision& decision);
  [[nodiscard]] bool ClaimsStandAlone(const Attempt& attempt) const;
  /// The scores of groups that pass the filters, and how many nodes are in them.
  std::size_t FilterGroups(Attempt& attempt,
                           const std::vector<NodeGroups::Group>& all,
                           std::vector<std::int64_t>& scores,
                           Refusal& refusal,
                           Decision& decision);
  void CountRefused(const std::vector<NodeGroups::Group>& all,
                    const std::vector<std::int64_t>& scores,
                    std::size_t members,
                    const ShapeCache::DeviceAnswers& known,
                    Refusal& refusal) const;

  // place_among.cc
  /// The best of `candidates`; `skipped` nodes are out by name. When none will do and others are
  /// not out: false, with nothing decided.
  bool PlaceAmong(Attempt& attempt,
                  const std::vector<const NodeInfo*>& candidates,
                  std::size_t skipped,
                  bool others_are_out,
                  const allocator::ShareIds& share_ids,
                  Decision& decision);
  void EvaluateNamed(Attempt& attempt,
                     const NodeInfo& node,
                     NamedAnswers& answers,
                     NodeResult& result);
  /// The only nodes that the pod's allocated claims leave; false when they leave others too.
  [[nodiscard]] bool PinnedNodes(const Attempt& attempt, std::vector<const NodeInfo*>& nodes) const;
  [[nodiscard]] std::vector<const NodeInfo*> Named(
      const std::vector<std::string_view>& names) const;
  [[nodiscard]] std::int64_t PackedScore(const NodeInfo& node, std::int64_t compatible) const;

  // preempt.cc
  void Reject(Attempt& attempt,
              const ReasonCounts& reasons,
              const Resolvable& resolvable,
              Decision& decision);
  /// The pods of lower priority on `node` whose removal lets the pod in; as few as possible.
  std::vector<Victim> VictimsOn(Attempt& attempt,
                                const NodeInfo& node,
                                NodeStatus& why,
                                std::int32_t& highest);
  /// DefaultPreemption's part of the message, and victims when there are any.
  void Preempt(Attempt& attempt, const Resolvable& resolvable, Decision& decision);
  [[nodiscard]] bool AnyVictims(const Attempt& attempt) const {
    return view.lowest_priority() < attempt.facts.priority;
  }
  static void Finish(Decision& decision);

  // explain.cc
  struct Kind;
  std::vector<Kind> KindsOf(Attempt& attempt, const NamedNodes& named);
  void OrderKinds(std::vector<Kind>& all);
  void AddPinned(const Attempt& attempt, const Kind& kind, allocator::NodeDiagnosis& one) const;
  allocator::NodeDiagnosis ExplainKind(Attempt& attempt, const Kind& kind, bool devices_too);
  /// How many nodes the attempt is about.
  [[nodiscard]] std::size_t Considered(const Attempt& attempt) const {
    return attempt.options->only_node.empty() ? view.nodes().size() : 1;
  }

  ClusterView& view;
  inventory::Inventory& inventory;
  allocator::Allocator allocator;
  allocator::Outcome outcome;
  ShapeCache cache;
  NodeGroups groups;
  PreparedCache compiled;
  NodeKinds kinds;
  std::uint64_t explained = 0;
  std::uint64_t shared_answers = 0;  // of a node's devices, taken over from another node
};

// Clusters of up to this many nodes are looked at whole, as upstream does.
inline constexpr std::size_t kNodesAllTried = 100;

/// The devices of a node do not suffice.
[[nodiscard]] NodeStatus CannotAllocate();

/// namespace/name.
[[nodiscard]] std::string Display(const api::resource::ResourceClaim& claim);

}  // namespace allot::placement
