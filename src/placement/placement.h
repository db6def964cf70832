// Placement: the node and the devices for one pod, or why there are none.
//
// Place is a pure function of the pod, its claims and the ClusterView: filters in upstream's order
// and with upstream's words, then score, then the devices. The live scheduler, explain and
// simulate all call it. Thread safety: one thread a Placer; the view must not be written meanwhile.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "allocator/allocator.h"
#include "allocator/diagnosis.h"
#include "api/core/v1.gen.h"
#include "placement/cluster_view.h"

namespace allot::placement {

/// One claim of the pod, in the order of spec.resourceClaims.
struct ClaimInput {
  const api::resource::ResourceClaim* claim = nullptr;
  /// Set when the claim is allocated (status.allocation).
  const api::resource::AllocationResult* allocation = nullptr;
  /// The allocation cannot be used any more (binding conditions failed or timed out).
  bool conditions_failed = false;
  /// The pod's name for it (spec.resourceClaims[].name); may be left out for named claims.
  schema::Str entry;
};

enum class Profile : std::uint8_t {
  kCompatible,  ///< upstream's scores
  kPacking,     ///< prefers nodes that lose the least
};

struct PlaceOptions {
  Profile profile = Profile::kCompatible;
  /// Consider this node only (empty: all).
  std::string only_node;
};

enum class Placed : std::uint8_t {
  kPlaced,
  kUnschedulable,  ///< diagnosis.message is the event's text
  kError,          ///< `error` ends the attempt (reason SchedulerError), upstream's text
  kUnfinished,     ///< the attempt's limits are used up (`error`): the next one goes on from here
};

/// A pod that preemption would delete.
struct Victim {
  std::string ns;
  std::string name;
  std::string uid;
};

struct Decision {
  Placed placed = Placed::kUnschedulable;
  std::string node;
  std::string error;
  /// kUnschedulable: the parts of diagnosis.message, before and after what other post-filters say.
  std::string filter_text;      ///< "0/3 nodes are available: 3 Insufficient cpu."
  std::string preemption_text;  ///< "preemption: 0/3 nodes are available: ..."
  /// Not empty: deleting these pods on `nominated_node` would make room.
  std::vector<Victim> victims;
  std::string nominated_node;
  /// One result for each claim without allocation, in claim order; the extended-resource claim
  /// last.
  std::vector<api::resource::AllocationResult> results;
  /// Claims made by the placer for extended resources (KEP-5004), in memory only: null
  /// or one.
  const api::resource::ResourceClaim* extended_claim = nullptr;
  /// Which container and resource each request of extended_claim serves.
  schema::List<api::core::ContainerExtendedResourceRequest> extended_mappings;
  /// What the devices take of the node's own resources, for the pod's status.
  ClaimStatuses node_allocatable;
  /// Owns what the lists and `extended_claim` point to.
  std::shared_ptr<base::Arena> arena;
  /// Positions in the input of claims that are allocated but not usable on any node (for
  /// deallocation).
  std::vector<std::size_t> unavailable_claims;
  allocator::Diagnosis diagnosis;
  std::int64_t score = 0;
  std::uint64_t nodes_visited = 0;
};

class Placer {
 public:
  explicit Placer(ClusterView& view, allocator::AttemptLimits limits = {});
  ~Placer();
  Placer(const Placer&) = delete;
  Placer& operator=(const Placer&) = delete;

  /// Cost: see docs/performance.md; pods of equal shape share work.
  [[nodiscard]] Decision Place(const api::core::Pod& pod,
                               std::span<const ClaimInput> claims,
                               const allocator::ShareIds& share_ids,
                               const PlaceOptions& options = {});

  /// As Place when the answer is no, with the funnels and causes of every node group filled in.
  /// Cost: O(nodes + devices), plus a diagnosis for each kind of node, of a limited number.
  [[nodiscard]] allocator::Diagnosis Explain(const api::core::Pod& pod,
                                             std::span<const ClaimInput> claims,
                                             const PlaceOptions& options = {});

  /// Pod shapes for which all nodes were looked at.
  [[nodiscard]] std::uint64_t shapes_built() const;
  /// What the searches for devices have done so far.
  [[nodiscard]] allocator::Allocator::Work work() const;
  /// Nodes whose devices were looked at for explanations.
  [[nodiscard]] std::uint64_t explained() const;
  /// Answers about devices that one node took over from another with the same pools.
  [[nodiscard]] std::uint64_t answers_shared() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace allot::placement
