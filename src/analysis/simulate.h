// Simulate: schedules the pending pods of a cluster snapshot, one after the other.
//
// The live scheduler's own decisions on a frozen cluster: claims are made from templates, devices
// taken, node resources used up, in queue order (priority, then age). Thread safety: pure function.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/gates.h"
#include "placement/placement.h"
#include "snapshot/cluster.h"

namespace allot::analysis {

struct SimulateOptions {
  api::GateSet gates;
  placement::Profile profile = placement::Profile::kCompatible;
  std::string only_node;
  /// Told now and then what costs long, with its CEL cost so far; it goes on to the end. May be
  /// null.
  std::function<void(std::string_view pod, std::uint64_t cost)> progress{};
};

struct SimulatedClaim {
  std::string name;
  /// What the claim got. Null: nothing.
  const api::resource::AllocationResult* allocation = nullptr;
};

struct SimulatedPod {
  std::string namespace_;
  std::string name;
  bool placed = false;
  std::string node;
  /// The claims of the pod's entries in their order, then the one for extended resources.
  std::vector<SimulatedClaim> claims;
  /// Placed: what the pod's status tells of its claims: those made from templates, the one for
  /// extended resources, and what devices take of the node's resources. Other members are not set.
  const api::core::PodStatus* status = nullptr;
  /// Not placed: the text of condition and event, the causes and funnels.
  allocator::Diagnosis diagnosis;
};

struct Simulation {
  std::vector<SimulatedPod> pods;
  std::size_t nodes = 0;
  std::size_t devices = 0;
  std::size_t devices_in_use = 0;  ///< after the simulation
  /// Own what the pods point to.
  std::vector<std::shared_ptr<base::Arena>> arenas;
};

/// Lifetime: the result points into `cluster`.
[[nodiscard]] Simulation Simulate(const snapshot::Cluster& cluster, const SimulateOptions& options);

}  // namespace allot::analysis
