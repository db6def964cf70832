// ClusterView: nodes, what runs on them, devices and who holds them; kept current by events.
//
// The scheduler feeds it from informers, simulate and explain from a dump. Assumed pods are pods
// like any other: UpsertPod when assumed, again when bound, DeletePod when the assumption is taken
// back. Thread safety: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/v1.gen.h"
#include "base/change_log.h"
#include "inventory/inventory.h"
#include "placement/load_index.h"
#include "placement/resources.h"

namespace allot::placement {

struct PodOnNode {
  std::string ns;
  std::string name;
  std::string uid;
  std::int32_t priority = 0;
  Resources requests;
  Resources nonzero;
  std::vector<std::string> host_ports;  ///< "protocol/ip/port"
  bool terminating = false;
};

/// One node and what is left of it. `index` is the number the inventory gave it: dense, reused
/// after deletion.
struct NodeInfo {
  std::uint32_t index = 0;
  std::string name;
  std::shared_ptr<base::Arena> arena;  ///< owns what `ref` and `taints` point to
  inventory::NodeRef ref;
  bool unschedulable = false;
  schema::List<api::core::Taint> taints;
  Resources allocatable;
  std::int64_t allowed_pods = 0;
  Resources requested;
  Resources nonzero;
  std::vector<PodOnNode> pods;
  std::uint64_t version = 0;  ///< changes with the node and its pods, not with devices
  std::uint32_t rank = 0;     ///< position in ClusterView::nodes(); set when that is asked for
};

/// The host ports the pod takes, as "protocol/ip/port".
[[nodiscard]] std::vector<std::string> HostPortsOf(const api::core::Pod& pod);

class ClusterView {
 public:
  explicit ClusterView(inventory::Features features = {});
  ~ClusterView();
  ClusterView(const ClusterView&) = delete;
  ClusterView& operator=(const ClusterView&) = delete;

  void UpsertNode(const api::core::Node& node);
  void DeleteNode(std::string_view name);
  /// Counts the pod on spec.nodeName (or `node_name` when given: an assumed pod), with what its
  /// status says that devices take of the node. A finished pod, or one without node, counts
  /// nowhere. Idempotent by uid.
  void UpsertPod(const api::core::Pod& pod, std::string_view node_name = {});
  void DeletePod(std::string_view uid);

  [[nodiscard]] inventory::Inventory& inventory();
  [[nodiscard]] const inventory::Inventory& inventory() const;
  [[nodiscard]] inventory::AllocatedState& allocated();
  [[nodiscard]] const inventory::AllocatedState& allocated() const;

  /// Nodes in name order. Lifetime: until the next change of nodes.
  [[nodiscard]] const std::vector<NodeInfo*>& nodes() const;
  /// The node of that NodeInfo::index.
  [[nodiscard]] const NodeInfo& NodeAt(std::uint32_t index) const;
  /// Nodes by load, as indices.
  [[nodiscard]] const LoadIndex& by_load() const;
  /// Null when there is none.
  [[nodiscard]] NodeInfo* FindNode(std::string_view name) const;
  /// Changes when a node is added or deleted.
  [[nodiscard]] std::uint64_t nodes_epoch() const;
  /// The lowest priority of a pod on any node; the largest number when there are none.
  [[nodiscard]] std::int32_t lowest_priority() const;
  /// True when some node has a PreferNoSchedule taint, so that scores depend on each other.
  [[nodiscard]] bool any_soft_taint() const;
  /// Indices of nodes that changed.
  [[nodiscard]] const base::ChangeLog<std::uint32_t>& changes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace allot::placement
