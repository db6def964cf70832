#include "placement/cluster_view.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "inventory/copy.h"

namespace allot::placement {
namespace {

// Changes remembered for readers that come back; a reader further behind looks at everything.
constexpr std::size_t kMaxChanges = std::size_t{1} << 17U;

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

bool IsFinished(const api::core::Pod& pod) {
  return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
}

schema::List<api::core::Taint> CopyTaints(const schema::List<api::core::Taint>& from,
                                          base::Arena& arena) {
  auto* const items = arena.NewArray<api::core::Taint>(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    items[i].key = arena.Copy(from[i].key);
    items[i].value = arena.Copy(from[i].value);
    items[i].effect = arena.Copy(from[i].effect);
  }
  return {items, from.count};
}

bool HasSoftTaint(const NodeInfo& node) {
  return std::any_of(node.taints.begin(), node.taints.end(), [](const api::core::Taint& taint) {
    return taint.effect == "PreferNoSchedule";
  });
}

// The mean of the shares in use, in thousandths. A node that offers nothing is full.
std::int64_t LoadOf(const NodeInfo& node) {
  const auto share = [](Amount used, Amount total) -> std::int64_t {
    if (total <= 0) {
      return 1000;
    }
    constexpr double kMost = 1e12;  // loads beyond are alike
    return static_cast<std::int64_t>(
        std::min(1000.0 * static_cast<double>(used) / static_cast<double>(total), kMost));
  };
  return (share(node.nonzero.milli_cpu, node.allocatable.milli_cpu) +
          share(node.nonzero.memory, node.allocatable.memory)) /
         2;
}

}  // namespace

std::vector<std::string> HostPortsOf(const api::core::Pod& pod) {
  std::vector<std::string> ports;
  for (const auto* const list : {&pod.spec.containers, &pod.spec.init_containers}) {
    for (const api::core::Container& container : *list) {
      if (list == &pod.spec.init_containers &&
          (container.restart_policy == nullptr || *container.restart_policy != "Always")) {
        continue;
      }
      for (const api::core::ContainerPort& port : container.ports) {
        if (port.host_port > 0) {
          ports.push_back(fmt::format("{}/{}/{}",
                                      port.protocol.empty() ? schema::Str("TCP") : port.protocol,
                                      port.host_ip.empty() ? schema::Str("0.0.0.0") : port.host_ip,
                                      port.host_port));
        }
      }
    }
  }
  return ports;
}

struct ClusterView::Impl {
  explicit Impl(inventory::Features features) : inventory(features) {}

  inventory::Inventory inventory;
  inventory::AllocatedState allocated;
  std::map<std::string, std::unique_ptr<NodeInfo>, std::less<>> nodes;  // in name order
  std::unordered_map<std::string_view, NodeInfo*> by_name;              // the same, found fast
  // Pods whose node is not known (yet) are kept here under the node's name.
  std::map<std::string, std::vector<PodOnNode>, std::less<>> homeless;
  // Where a pod is, by uid: on a node, or waiting for the one of that name.
  struct Home {
    NodeInfo* node = nullptr;
    std::string name;
  };
  std::unordered_map<std::string, Home, TextHash, std::equal_to<>> homes;
  mutable std::vector<NodeInfo*> sorted;
  mutable bool sorted_stale = false;
  std::vector<NodeInfo*> by_index;
  LoadIndex load;
  std::uint64_t version = 0;
  std::uint64_t nodes_epoch = 1;
  std::size_t soft_tainted = 0;
  std::map<std::int32_t, std::size_t> priorities;  // of pods on nodes: how many have each
  base::ChangeLog<std::uint32_t> changes{kMaxChanges};

  void Changed(NodeInfo& node) {
    node.version = ++version;
    load.Set(node.index, LoadOf(node));
    changes.Add(node.index);
  }

  void Count(NodeInfo& node, PodOnNode pod) {
    ++priorities[pod.priority];
    node.requested.Add(pod.requests);
    node.nonzero.Add(pod.nonzero);
    node.pods.push_back(std::move(pod));
    Changed(node);
  }

  void ForgetPriority(std::int32_t priority) {
    const auto found = priorities.find(priority);
    if (--found->second == 0) {
      priorities.erase(found);
    }
  }

  void Forget(std::string_view uid) {
    const auto found = homes.find(uid);
    if (found == homes.end()) {
      return;
    }
    const auto is_it = [&](const PodOnNode& pod) {
      return pod.uid == uid;
    };
    if (NodeInfo* const node = found->second.node) {
      const auto pod = std::find_if(node->pods.begin(), node->pods.end(), is_it);
      ForgetPriority(pod->priority);
      node->requested.Subtract(pod->requests);
      node->nonzero.Subtract(pod->nonzero);
      node->pods.erase(pod);
      Changed(*node);
    } else {
      const auto waiting = homeless.find(found->second.name);
      std::erase_if(waiting->second, is_it);
      if (waiting->second.empty()) {
        homeless.erase(waiting);
      }
    }
    homes.erase(found);
  }

  // Pods that came before their node.
  void TakeIn(NodeInfo& node) {
    const auto waiting = homeless.find(node.name);
    if (waiting == homeless.end()) {
      return;
    }
    for (PodOnNode& pod : waiting->second) {
      homes.find(pod.uid)->second = {&node, {}};
      Count(node, std::move(pod));
    }
    homeless.erase(waiting);
  }

  // Pods whose node goes; it may come back.
  void TurnOut(NodeInfo& node) {
    for (const PodOnNode& pod : node.pods) {
      ForgetPriority(pod.priority);
      homes.find(pod.uid)->second = {nullptr, node.name};
    }
    if (!node.pods.empty()) {
      homeless[node.name] = std::move(node.pods);
    }
  }
};

ClusterView::ClusterView(inventory::Features features) : impl_(std::make_unique<Impl>(features)) {}
ClusterView::~ClusterView() = default;

void ClusterView::UpsertNode(const api::core::Node& from) {
  auto [at, added] = impl_->nodes.try_emplace(std::string(from.metadata.name));
  if (added) {
    at->second = std::make_unique<NodeInfo>();
    NodeInfo& node = *at->second;
    node.name = at->first;
    node.index = Value(impl_->inventory.KnowNode(node.name));
    if (node.index >= impl_->by_index.size()) {
      impl_->by_index.resize(node.index + 1);
    }
    impl_->by_index[node.index] = &node;
    impl_->by_name.emplace(node.name, &node);
    impl_->sorted_stale = true;
    ++impl_->nodes_epoch;
  }
  NodeInfo& node = *at->second;
  auto arena = std::make_shared<base::Arena>();
  inventory::NodeRef ref = inventory::MakeNodeRef(from);
  ref.name = node.name;
  ref.index = inventory::NodeIndex{node.index};
  const bool same_labels = !added && std::equal(ref.labels.begin(),
                                                ref.labels.end(),
                                                node.ref.labels.begin(),
                                                node.ref.labels.end(),
                                                [](const auto& a, const auto& b) {
                                                  return a.key == b.key && a.value == b.value;
                                                });
  ref.labels = inventory::CopyLabels(from.metadata.labels, *arena);
  impl_->soft_tainted -= HasSoftTaint(node) ? 1 : 0;
  node.taints = CopyTaints(from.spec.taints, *arena);
  impl_->soft_tainted += HasSoftTaint(node) ? 1 : 0;
  node.unschedulable = from.spec.unschedulable;
  // An agent that reports no allocatable offers its capacity.
  const auto& offered =
      from.status.allocatable.empty() ? from.status.capacity : from.status.allocatable;
  node.allocatable = ResourcesOf(offered);
  const quantity::Quantity* const pods = offered.Find("pods");
  node.allowed_pods = pods != nullptr ? pods->Value() : 0;
  node.ref = ref;
  node.arena = std::move(arena);
  if (!same_labels) {
    impl_->inventory.NodeChanged(node.name);
  }
  impl_->TakeIn(node);
  impl_->Changed(node);
}

void ClusterView::DeleteNode(std::string_view name) {
  const auto found = impl_->nodes.find(name);
  if (found == impl_->nodes.end()) {
    return;
  }
  NodeInfo& node = *found->second;
  impl_->Changed(node);
  impl_->load.Remove(node.index);
  impl_->by_index[node.index] = nullptr;
  impl_->by_name.erase(node.name);
  impl_->TurnOut(node);
  impl_->inventory.NodeGone(name);
  impl_->soft_tainted -= HasSoftTaint(node) ? 1 : 0;
  impl_->nodes.erase(found);
  impl_->sorted_stale = true;
  ++impl_->nodes_epoch;
}

void ClusterView::UpsertPod(const api::core::Pod& pod, std::string_view node_name) {
  impl_->Forget(pod.metadata.uid);
  const std::string_view target = node_name.empty() ? pod.spec.node_name : node_name;
  if (target.empty() || IsFinished(pod)) {
    return;
  }
  PodOnNode counted;
  counted.ns = pod.metadata.namespace_;
  counted.name = pod.metadata.name;
  counted.uid = pod.metadata.uid;
  counted.priority = pod.spec.priority != nullptr ? *pod.spec.priority : 0;
  const bool takes = impl_->inventory.features().node_allocatable_resources;
  const ClaimStatuses claims =
      takes ? pod.status.node_allocatable_resource_claim_statuses : ClaimStatuses{};
  counted.requests = RequestsOf(pod, claims);
  counted.nonzero = NonZeroRequestsOf(pod, claims);
  counted.host_ports = HostPortsOf(pod);
  counted.terminating = pod.metadata.deletion_timestamp != nullptr;
  if (NodeInfo* const node = FindNode(target)) {
    impl_->homes[counted.uid] = {node, {}};
    impl_->Count(*node, std::move(counted));
  } else {
    impl_->homes[counted.uid] = {nullptr, std::string(target)};
    impl_->homeless[std::string(target)].push_back(std::move(counted));
  }
}

void ClusterView::DeletePod(std::string_view uid) {
  impl_->Forget(uid);
}

inventory::Inventory& ClusterView::inventory() {
  return impl_->inventory;
}
const inventory::Inventory& ClusterView::inventory() const {
  return impl_->inventory;
}
inventory::AllocatedState& ClusterView::allocated() {
  return impl_->allocated;
}
const inventory::AllocatedState& ClusterView::allocated() const {
  return impl_->allocated;
}

const std::vector<NodeInfo*>& ClusterView::nodes() const {
  if (impl_->sorted_stale) {
    impl_->sorted.clear();
    for (const auto& [name, node] : impl_->nodes) {
      node->rank = static_cast<std::uint32_t>(impl_->sorted.size());
      impl_->sorted.push_back(node.get());
    }
    impl_->sorted_stale = false;
  }
  return impl_->sorted;
}

const NodeInfo& ClusterView::NodeAt(std::uint32_t index) const {
  return *impl_->by_index[index];
}

const LoadIndex& ClusterView::by_load() const {
  return impl_->load;
}

NodeInfo* ClusterView::FindNode(std::string_view name) const {
  const auto found = impl_->by_name.find(name);
  return found != impl_->by_name.end() ? found->second : nullptr;
}

std::uint64_t ClusterView::nodes_epoch() const {
  return impl_->nodes_epoch;
}

std::int32_t ClusterView::lowest_priority() const {
  return impl_->priorities.empty() ? std::numeric_limits<std::int32_t>::max()
                                   : impl_->priorities.begin()->first;
}

bool ClusterView::any_soft_taint() const {
  return impl_->soft_tainted != 0;
}

const base::ChangeLog<std::uint32_t>& ClusterView::changes() const {
  return impl_->changes;
}

}  // namespace allot::placement
