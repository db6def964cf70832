#include "placement/filters.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/tolerations.h"

namespace allot::placement {
namespace {

using allocator::CauseKind;
using api::core::NodeSelector;
using api::core::Pod;
using api::core::Toleration;

bool IsTolerated(const Pod& pod,
                 std::string_view key,
                 std::string_view value,
                 std::string_view effect) {
  return std::any_of(pod.spec.tolerations.begin(),
                     pod.spec.tolerations.end(),
                     [&](const Toleration& t) { return api::Tolerates(t, key, value, effect); });
}

const NodeSelector* RequiredAffinity(const Pod& pod) {
  if (pod.spec.affinity == nullptr || pod.spec.affinity->node_affinity == nullptr) {
    return nullptr;
  }
  return pod.spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution;
}

bool MatchesAffinity(const Pod& pod, const NodeInfo& node) {
  const auto& wanted = pod.spec.node_selector;
  const bool labels = std::all_of(wanted.begin(), wanted.end(), [&](const auto& label) {
    const schema::Str* const value = node.ref.labels.Find(label.key);
    return value != nullptr && *value == label.value;
  });
  if (!labels) {
    return false;
  }
  const NodeSelector* const required = RequiredAffinity(pod);
  if (required == nullptr) {
    return true;
  }
  // A term that cannot be parsed matches nothing; the others still count.
  return std::any_of(required->node_selector_terms.begin(),
                     required->node_selector_terms.end(),
                     [&](const api::core::NodeSelectorTerm& term) {
                       auto match = inventory::MatchNodeSelectorTerm(term, node.ref, "");
                       return match && *match;
                     });
}

struct Port {
  std::string_view protocol;
  std::string_view ip;
  std::string_view number;
};

Port Split(std::string_view text) {
  const std::size_t first = text.find('/');
  const std::size_t last = text.rfind('/');
  return {text.substr(0, first), text.substr(first + 1, last - first - 1), text.substr(last + 1)};
}

bool PortsConflict(const std::string& a, const std::string& b) {
  const Port x = Split(a);
  const Port y = Split(b);
  return x.protocol == y.protocol && x.number == y.number &&
         (x.ip == y.ip || x.ip == "0.0.0.0" || y.ip == "0.0.0.0");
}

class ResourceFit {
 public:
  ResourceFit(const PodFacts& pod,
              const NodeInfo& node,
              const Resources& requested,
              const inventory::Inventory& inventory)
      : pod_(pod), node_(node), requested_(requested), inventory_(inventory) {}

  NodeStatus Run(std::size_t pod_count) {
    status_.kind = CauseKind::kNodeResources;
    status_.resolvable = true;
    if (static_cast<std::int64_t>(pod_count) + 1 > node_.allowed_pods) {
      status_.reasons.emplace_back("Too many pods");
    }
    const Resources& wanted = pod_.requests;
    const Resources& total = node_.allocatable;
    Check("cpu", wanted.milli_cpu, requested_.milli_cpu, total.milli_cpu);
    Check("memory", wanted.memory, requested_.memory, total.memory);
    Check("ephemeral-storage",
          wanted.ephemeral_storage,
          requested_.ephemeral_storage,
          total.ephemeral_storage);
    for (const auto& [name, amount] : wanted.scalars) {
      if (!ServedByDevices(name, node_, inventory_)) {
        Check(name, amount, requested_.Scalar(name), total.Scalar(name));
      }
    }
    return std::move(status_);
  }

 private:
  void Check(std::string_view name, Amount wanted, Amount used, Amount total) {
    if (wanted > 0 && wanted > total - used) {
      status_.reasons.push_back(fmt::format("Insufficient {}", name));
      status_.resolvable = status_.resolvable && wanted <= total;
    }
  }

  const PodFacts& pod_;
  const NodeInfo& node_;
  const Resources& requested_;
  const inventory::Inventory& inventory_;
  NodeStatus status_;
};

}  // namespace

PodFacts FactsOf(const Pod& pod) {
  return {&pod,
          RequestsOf(pod),
          NonZeroRequestsOf(pod),
          HostPortsOf(pod),
          pod.spec.priority != nullptr ? *pod.spec.priority : 0};
}

bool ServedByDevices(std::string_view resource,
                     const NodeInfo& node,
                     const inventory::Inventory& inventory) {
  return resource.find('/') != std::string_view::npos && node.allocatable.Scalar(resource) == 0 &&
         inventory.FindClassOfExtendedResource(resource) != nullptr;
}

NodeStatus RunFilters(const PodFacts& pod,
                      const NodeInfo& node,
                      const Resources& requested,
                      std::size_t pod_count,
                      const std::vector<std::string>& ports_in_use,
                      const inventory::Inventory& inventory) {
  const Pod& spec = *pod.pod;
  if (!spec.spec.node_name.empty() && spec.spec.node_name != node.name) {
    return Rejection(CauseKind::kNodeName, "node(s) didn't match the requested node name");
  }
  if (node.unschedulable &&
      !IsTolerated(spec, "node.kubernetes.io/unschedulable", "", "NoSchedule")) {
    return Rejection(CauseKind::kNodeUnschedulable, "node(s) were unschedulable");
  }
  for (const api::core::Taint& taint : node.taints) {
    if ((taint.effect == "NoSchedule" || taint.effect == "NoExecute") &&
        !IsTolerated(spec, taint.key, taint.value, taint.effect)) {
      return Rejection(CauseKind::kNodeTaint, "node(s) had untolerated taint(s)");
    }
  }
  if (!MatchesAffinity(spec, node)) {
    return Rejection(CauseKind::kNodeAffinity, "node(s) didn't match Pod's node affinity/selector");
  }
  for (const std::string& wanted : pod.host_ports) {
    if (std::any_of(ports_in_use.begin(), ports_in_use.end(), [&](const std::string& used) {
          return PortsConflict(wanted, used);
        })) {
      return Rejection(CauseKind::kNodePorts,
                       "node(s) didn't have free ports for the requested pod ports",
                       /*resolvable=*/true);
    }
  }
  return ResourceFit(pod, node, requested, inventory).Run(pod_count);
}

NodeStatus RunFilters(const PodFacts& pod,
                      const NodeInfo& node,
                      const inventory::Inventory& inventory) {
  std::vector<std::string> ports;
  if (!pod.host_ports.empty()) {
    for (const PodOnNode& other : node.pods) {
      ports.insert(ports.end(), other.host_ports.begin(), other.host_ports.end());
    }
  }
  return RunFilters(pod, node, node.requested, node.pods.size(), ports, inventory);
}

NamedNodes NodesNamedBy(const Pod& pod) {
  NamedNodes named;
  const NodeSelector* const required = RequiredAffinity(pod);
  if (required == nullptr || required->node_selector_terms.empty()) {
    return named;
  }
  for (const api::core::NodeSelectorTerm& term : required->node_selector_terms) {
    bool restricted = false;
    std::vector<std::string_view> names;
    for (const auto& field : term.match_fields) {
      if (field.key != "metadata.name" || field.operator_ != "In") {
        continue;
      }
      if (!restricted) {
        names.assign(field.values.begin(), field.values.end());
      } else {
        std::erase_if(names, [&](std::string_view name) {
          return std::find(field.values.begin(), field.values.end(), name) == field.values.end();
        });
      }
      restricted = true;
    }
    if (!restricted) {
      return NamedNodes{};
    }
    named.names.insert(named.names.end(), names.begin(), names.end());
  }
  named.all = false;
  named.conflict = named.names.empty();
  return named;
}

}  // namespace allot::placement
