// Node-allocatable resources: what the devices of a pod's claims take of a node's own cpu, memory
// and so on, and whether the node still has it (KEP-5517; gate DRANodeAllocatableResources).
//
// A device either stands for such resources (mapping) or costs some of them (overhead). The amounts
// are found after the devices are, recorded in the pod's status and counted like container requests
// from then on. Thread safety: pure functions. Internal to the module.
#pragma once

#include <string>
#include <vector>

#include "api/core/v1.gen.h"
#include "api/resource/v1.gen.h"
#include "placement/filters.h"
#include "placement/placement.h"

namespace allot::placement {

/// A claim of the pod with the devices it has, or would get on the node.
struct ClaimDevices {
  const api::resource::ResourceClaim* claim = nullptr;
  const api::resource::AllocationResult* allocation = nullptr;
  /// Containers refer to it through the pod's entries; not so the claim for extended resources.
  bool named_by_pod = true;
};

struct DeviceDemand {
  /// Not empty: the attempt ends for all nodes.
  std::string error;
  /// Why the node is out.
  NodeStatus status;
  /// For pod.status.nodeAllocatableResourceClaimStatuses; empty: the devices take nothing.
  ClaimStatuses statuses;
};

/// True when some device of the allocation stands for node resources: its claim serves one pod
/// only.
[[nodiscard]] bool HasMappedDevice(const api::resource::AllocationResult& allocation,
                                   const inventory::Inventory& inventory);

/// True when the claim is reserved for the pod, or for its group.
[[nodiscard]] bool IsReservedForPod(const api::core::Pod& pod,
                                    const api::resource::ResourceClaim& claim);

/// The rejection of a mapped claim that others use; ok otherwise.
[[nodiscard]] NodeStatus CheckMappedSharing(const api::core::Pod& pod,
                                            const api::resource::ResourceClaim& claim,
                                            const api::resource::AllocationResult& allocation,
                                            const inventory::Inventory& inventory);

/// Adds up what the claims' devices take of `node`, and checks that it fits beside `requested`.
/// Lifetime: `arena`.
[[nodiscard]] DeviceDemand CheckDeviceDemand(const PodFacts& pod,
                                             const std::vector<ClaimDevices>& claims,
                                             std::span<const ClaimInput> inputs,
                                             const NodeInfo& node,
                                             const Resources& requested,
                                             const inventory::Inventory& inventory,
                                             base::Arena& arena);

}  // namespace allot::placement
