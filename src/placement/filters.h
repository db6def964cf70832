// Filters: whether a pod can run on a node, devices aside. Upstream's filters, order and words.
// Thread safety: pure functions. Internal to the module.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "allocator/diagnosis.h"
#include "api/core/v1.gen.h"
#include "placement/cluster_view.h"

namespace allot::placement {

/// What the filters and scores read of a pod, added up once.
struct PodFacts {
  const api::core::Pod* pod = nullptr;
  Resources requests;
  Resources nonzero;
  std::vector<std::string> host_ports;
  std::int32_t priority = 0;
};

[[nodiscard]] PodFacts FactsOf(const api::core::Pod& pod);

/// Why a node is out. Without reasons it is not.
struct NodeStatus {
  std::vector<std::string> reasons;
  allocator::CauseKind kind{};
  /// Removing pods from the node may help.
  bool resolvable = false;
  /// Devices that others hold may be what is missing.
  bool by_devices = false;
  /// Positions of allocated claims of the pod that cannot be used on this node.
  std::vector<std::size_t> unavailable;

  [[nodiscard]] bool ok() const { return reasons.empty(); }
  friend bool operator==(const NodeStatus&, const NodeStatus&) = default;
};

/// A status with one reason.
[[nodiscard]] inline NodeStatus Rejection(allocator::CauseKind kind,
                                          std::string reason,
                                          bool resolvable = false) {
  NodeStatus status;
  status.reasons.push_back(std::move(reason));
  status.kind = kind;
  status.resolvable = resolvable;
  return status;
}

/// Runs the filters in order and stops at the first that rejects. Resources that `delegated` names
/// are served by devices on this node and not counted. `used` stands in for the node's pods.
[[nodiscard]] NodeStatus RunFilters(const PodFacts& pod,
                                    const NodeInfo& node,
                                    const Resources& requested,
                                    std::size_t pod_count,
                                    const std::vector<std::string>& ports_in_use,
                                    const inventory::Inventory& inventory);
/// The same against the node as it is.
[[nodiscard]] NodeStatus RunFilters(const PodFacts& pod,
                                    const NodeInfo& node,
                                    const inventory::Inventory& inventory);

/// The node has none of `resource`, and a class serves it: devices are asked for instead.
[[nodiscard]] bool ServedByDevices(std::string_view resource,
                                   const NodeInfo& node,
                                   const inventory::Inventory& inventory);

/// The nodes that required node affinity names by metadata.name. `conflict`: its terms exclude each
/// other.
struct NamedNodes {
  bool all = true;
  bool conflict = false;
  std::vector<std::string_view> names;
};
[[nodiscard]] NamedNodes NodesNamedBy(const api::core::Pod& pod);

}  // namespace allot::placement
