#include "api/core/pod_warnings.h"

#include <array>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "api/core/v1.gen.h"
#include "api/names.h"
#include "api/validate.h"

namespace allot::api::core {
namespace {

using schema::Str;
using Texts = std::vector<std::string>;

constexpr std::string_view kNullSelector = "a null labelSelector results in matching no pod";
constexpr std::string_view kSeccomp =
    "non-functional in v1.27+; use the \"seccompProfile\" field instead";

using Note = std::pair<std::string_view, std::string_view>;

constexpr std::array<Note, 8> kOldNodeLabels = {{
    {"beta.kubernetes.io/arch", "deprecated since v1.14; use \"kubernetes.io/arch\" instead"},
    {"beta.kubernetes.io/os", "deprecated since v1.14; use \"kubernetes.io/os\" instead"},
    {"failure-domain.beta.kubernetes.io/region",
     "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead"},
    {"failure-domain.beta.kubernetes.io/zone",
     "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead"},
    {"beta.kubernetes.io/instance-type",
     "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead"},
    {"app.kubernetes.io/created-by", "deprecated since v1.9"},
    {"scheduler.alpha.kubernetes.io/preferAvoidPods",
     "deprecated since v1.22; use Taints and Tolerations instead"},
    {"node-role.kubernetes.io/master", "use \"node-role.kubernetes.io/control-plane\" instead"},
}};

constexpr std::array<Note, 3> kOldAnnotations = {{
    {"scheduler.alpha.kubernetes.io/critical-pod",
     "non-functional in v1.16+; use the \"priorityClassName\" field instead"},
    {"security.alpha.kubernetes.io/sysctls",
     "non-functional in v1.11+; use the \"sysctls\" field instead"},
    {"security.alpha.kubernetes.io/unsafe-sysctls",
     "non-functional in v1.11+; use the \"sysctls\" field instead"},
}};

std::string_view OldNodeLabel(std::string_view key) {
  for (const auto& [label, text] : kOldNodeLabels) {
    if (label == key) {
      return text;
    }
  }
  return {};
}

void Warn(Texts& out, const Path& path, std::string_view text) {
  out.push_back(fmt::format("{}: {}", path.ToString(), text));
}

void WarnOfTerm(const NodeSelectorTerm& term, bool check_values, const Path& path, Texts& out) {
  const Path list = path.Child("matchExpressions");
  for (std::size_t i = 0; i < term.match_expressions.size(); ++i) {
    const NodeSelectorRequirement& expression = term.match_expressions[i];
    const Path at = list.Index(i);
    if (const std::string_view text = OldNodeLabel(expression.key); !text.empty()) {
      Warn(out, at.Child("key"), fmt::format("{} is {}", expression.key, text));
    }
    for (std::size_t j = 0; check_values && j < expression.values.size(); ++j) {
      const Path values = at.Child("values");
      for (const std::string& problem : LabelValueProblems(expression.values[j])) {
        Warn(out, values.Index(j), fmt::format("{} is invalid, {}", expression.values[j], problem));
      }
    }
  }
}

void WarnOfPlacement(const PodSpec& spec, const Path& path, Texts& out) {
  const Path selector = path.Child("nodeSelector");
  for (const auto& [key, value] : spec.node_selector) {
    if (const std::string_view text = OldNodeLabel(key); !text.empty()) {
      Warn(out, selector.Key(key), text);
    }
  }
  const Path affinity = path.Child("affinity");
  const Path node = affinity.Child("nodeAffinity");
  if (spec.affinity != nullptr && spec.affinity->node_affinity != nullptr) {
    const NodeAffinity& wanted = *spec.affinity->node_affinity;
    if (const auto* const required = wanted.required_during_scheduling_ignored_during_execution) {
      const Path at = node.Child("requiredDuringSchedulingIgnoredDuringExecution");
      const Path terms = at.Child("nodeSelectorTerms");
      for (std::size_t i = 0; i < required->node_selector_terms.size(); ++i) {
        WarnOfTerm(required->node_selector_terms[i], /*check_values=*/false, terms.Index(i), out);
      }
    }
    const auto& preferred = wanted.preferred_during_scheduling_ignored_during_execution;
    const Path at = node.Child("preferredDuringSchedulingIgnoredDuringExecution");
    for (std::size_t i = 0; i < preferred.size(); ++i) {
      const Path item = at.Index(i);
      WarnOfTerm(preferred[i].preference, /*check_values=*/true, item.Child("preference"), out);
    }
  }
  const Path spread = path.Child("topologySpreadConstraints");
  for (std::size_t i = 0; i < spec.topology_spread_constraints.size(); ++i) {
    const TopologySpreadConstraint& constraint = spec.topology_spread_constraints[i];
    const Path at = spread.Index(i);
    if (const std::string_view text = OldNodeLabel(constraint.topology_key); !text.empty()) {
      Warn(out, at.Child("topologyKey"), fmt::format("{} is {}", constraint.topology_key, text));
    }
    if (constraint.label_selector == nullptr) {
      Warn(out, at.Child("labelSelector"), kNullSelector);
    }
  }
}

void WarnOfAnnotations(const Pod& pod, Texts& out) {
  const Path metadata("metadata");
  const Path annotations = metadata.Child("annotations");
  for (const auto& [key, text] : kOldAnnotations) {
    if (pod.metadata.annotations.Find(key) != nullptr) {
      Warn(out, annotations.Key(key), text);
    }
  }
}

void WarnOfVolumes(const PodSpec& spec, const Path& path, Texts& out) {
  const Path volumes = path.Child("volumes");
  for (std::size_t i = 0; i < spec.volumes.size(); ++i) {
    const VolumeSource& source = spec.volumes[i].volume_source;
    const Path at = volumes.Index(i);
    const auto warn = [&](const void* used, std::string_view name, std::string_view text) {
      if (used != nullptr) {
        Warn(out, at.Child(name), text);
      }
    };
    warn(source.photon_persistent_disk,
         "photonPersistentDisk",
         "deprecated in v1.11, non-functional in v1.16+");
    warn(source.git_repo, "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+");
    warn(source.scale_io, "scaleIO", "deprecated in v1.16, non-functional in v1.22+");
    warn(source.flocker, "flocker", "deprecated in v1.22, non-functional in v1.25+");
    warn(source.storageos, "storageOS", "deprecated in v1.22, non-functional in v1.25+");
    warn(source.quobyte, "quobyte", "deprecated in v1.22, non-functional in v1.25+");
    warn(source.glusterfs, "glusterfs", "deprecated in v1.25, non-functional in v1.26+");
    warn(source.cephfs, "cephfs", "deprecated in v1.28, non-functional in v1.31+");
    warn(source.rbd, "rbd", "deprecated in v1.28, non-functional in v1.31+");
  }
}

void WarnOfRepeats(const PodSpec& spec, const Path& path, Texts& out) {
  std::map<Str, bool> ips;
  const Path aliases = path.Child("hostAliases");
  for (std::size_t i = 0; i < spec.host_aliases.size(); ++i) {
    const Str ip = spec.host_aliases[i].ip;
    if (!ips.emplace(ip, true).second) {
      const Path at = aliases.Index(i);
      Warn(out, at.Child("ip"), fmt::format("duplicate ip {}", Quote(ip)));
    }
  }
  std::map<Str, bool> names;
  const Path secrets = path.Child("imagePullSecrets");
  for (std::size_t i = 0; i < spec.image_pull_secrets.size(); ++i) {
    const Str name = spec.image_pull_secrets[i].name;
    if (!names.emplace(name, true).second) {
      const Path at = secrets.Index(i);
      Warn(out, at.Child("name"), fmt::format("duplicate name {}", Quote(name)));
    }
  }
  for (std::size_t i = 0; i < spec.image_pull_secrets.size(); ++i) {
    if (spec.image_pull_secrets[i].name.empty()) {
      const Path at = secrets.Index(i);
      Warn(out, at.Child("name"), "invalid empty name \"\"");
    }
  }
}

void WarnOfFraction(const schema::Map<quantity::Quantity>& amounts,
                    std::string_view name,
                    const Path& path,
                    Texts& out) {
  const quantity::Quantity* const amount = amounts.Find(name);
  if (amount != nullptr && amount->MilliValue() % 1000 != 0) {
    Warn(out,
         path.Key(name),
         fmt::format("fractional byte value {} is invalid, must be an integer",
                     Quote(amount->ToString())));
  }
}

/// A variable set twice, where the second does not build on the first.
void WarnOfEnvironment(const schema::List<EnvVar>& variables, const Path& path, Texts& out) {
  std::map<Str, bool> seen;
  const Path list = path.Child("env");
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const EnvVar& variable = variables[i];
    if (seen.emplace(variable.name, true).second) {
      continue;
    }
    const std::string reference = fmt::format("$({})", variable.name);
    if (variable.value_from != nullptr || variable.value == reference ||
        variable.value.find(reference) == Str::npos) {
      Warn(out,
           list.Index(i),
           fmt::format("hides previous definition of {}, which may be dropped when using apply",
                       Quote(variable.name)));
    }
  }
}

/// The containers of a pod as the rules below need them; both kinds have the same fields.
struct ContainerView {
  std::string path;
  Str name;
  const SecurityContext* security = nullptr;
  const ResourceRequirements* resources = nullptr;
  const schema::List<EnvVar>* environment = nullptr;
  const schema::List<ContainerPort>* ports = nullptr;
};

template <typename C>
void AddContainers(const schema::List<C>& containers,
                   std::string_view field,
                   std::vector<ContainerView>& out) {
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const C& container = containers[i];
    out.push_back({fmt::format("spec.{}[{}]", field, i),
                   container.name,
                   container.security_context,
                   &container.resources,
                   &container.env,
                   &container.ports});
  }
}

void WarnOfContainers(const Pod& pod, const std::vector<ContainerView>& containers, Texts& out) {
  const Path metadata("metadata");
  const Path annotations = metadata.Child("annotations");
  for (const ContainerView& container : containers) {
    const Path at(container.path);
    const std::string key =
        fmt::format("container.seccomp.security.alpha.kubernetes.io/{}", container.name);
    const bool has_profile =
        container.security != nullptr && container.security->seccomp_profile != nullptr;
    if (!has_profile && pod.metadata.annotations.Find(key) != nullptr) {
      Warn(out, annotations.Key(key), kSeccomp);
    }
    const Path resources = at.Child("resources");
    for (const std::string_view name : {"memory", "ephemeral-storage"}) {
      WarnOfFraction(container.resources->limits, name, resources.Child("limits"), out);
      WarnOfFraction(container.resources->requests, name, resources.Child("requests"), out);
    }
    WarnOfEnvironment(*container.environment, at, out);
  }
}

std::string PortConflict(const ContainerPort& a, const ContainerPort& b) {
  if (a.host_ip == b.host_ip && a.host_port == b.host_port) {
    return "duplicate";
  }
  if (a.host_port == 0 || b.host_port == 0) {
    return "overlapping";
  }
  const bool one_open = a.host_ip.empty() != b.host_ip.empty();
  return a.host_port == b.host_port && one_open ? "dangerously ambiguous" : "";
}

void WarnOfPorts(const std::vector<ContainerView>& containers, Texts& out) {
  struct Known {
    std::string path;
    const ContainerPort* port;
  };
  std::map<std::string, std::vector<Known>> ports;
  for (const ContainerView& container : containers) {
    for (std::size_t i = 0; i < container.ports->size(); ++i) {
      const ContainerPort& port = (*container.ports)[i];
      const std::string path = fmt::format("{}.ports[{}]", container.path, i);
      if (!port.host_ip.empty() && port.host_port == 0) {
        out.push_back(fmt::format(
            "{}: hostIP set without hostPort: {{Name:{} HostPort:0 ContainerPort:{} Protocol:{} "
            "HostIP:{}}}",
            path,
            port.name,
            port.container_port,
            port.protocol,
            port.host_ip));
      }
      std::vector<Known>& same = ports[fmt::format("{}/{}", port.container_port, port.protocol)];
      for (const Known& other : same) {
        if (const std::string how = PortConflict(port, *other.port); !how.empty()) {
          out.push_back(fmt::format("{}: {} port definition with {}", path, how, other.path));
        }
      }
      same.push_back({path, &port});
    }
  }
  std::map<Str, std::string> names;
  for (const ContainerView& container : containers) {
    for (std::size_t i = 0; i < container.ports->size(); ++i) {
      const Str name = (*container.ports)[i].name;
      const std::string path = fmt::format("{}.ports[{}]", container.path, i);
      if (const auto [known, fresh] = names.emplace(name, path); !name.empty() && !fresh) {
        out.push_back(
            fmt::format("{}: duplicate port name {} with {}, services and probes that "
                        "select ports by name will use {}",
                        path,
                        Quote(name),
                        known->second,
                        known->second));
      }
    }
  }
}

template <typename Affinity>
void WarnOfPodAffinity(const Affinity* affinity, const Path& path, Texts& out) {
  if (affinity == nullptr) {
    return;
  }
  const auto& required = affinity->required_during_scheduling_ignored_during_execution;
  const Path hard = path.Child("requiredDuringSchedulingIgnoredDuringExecution");
  for (std::size_t i = 0; i < required.size(); ++i) {
    if (required[i].label_selector == nullptr) {
      const Path at = hard.Index(i);
      Warn(out, at.Child("labelSelector"), kNullSelector);
    }
  }
  const auto& preferred = affinity->preferred_during_scheduling_ignored_during_execution;
  const Path soft = path.Child("preferredDuringSchedulingIgnoredDuringExecution");
  for (std::size_t i = 0; i < preferred.size(); ++i) {
    if (preferred[i].pod_affinity_term.label_selector == nullptr) {
      const Path at = soft.Index(i);
      const Path term = at.Child("podAffinityTerm");
      Warn(out, term.Child("labelSelector"), kNullSelector);
    }
  }
}

}  // namespace

void WarnOfPod(const Pod& pod, Texts& out) {
  const PodSpec& spec = pod.spec;
  const Path path("spec");
  WarnOfPlacement(spec, path, out);
  WarnOfAnnotations(pod, out);
  WarnOfVolumes(spec, path, out);
  WarnOfRepeats(spec, path, out);
  const Path overhead = path.Child("overhead");
  WarnOfFraction(spec.overhead, "memory", overhead, out);
  WarnOfFraction(spec.overhead, "ephemeral-storage", overhead, out);
  constexpr std::string_view kPodSeccomp = "seccomp.security.alpha.kubernetes.io/pod";
  if ((spec.security_context == nullptr || spec.security_context->seccomp_profile == nullptr) &&
      pod.metadata.annotations.Find(kPodSeccomp) != nullptr) {
    const Path metadata("metadata");
    const Path annotations = metadata.Child("annotations");
    Warn(out, annotations.Key(kPodSeccomp), kSeccomp);
  }
  std::vector<ContainerView> containers;
  AddContainers(spec.init_containers, "initContainers", containers);
  AddContainers(spec.containers, "containers", containers);
  WarnOfContainers(pod, containers, out);
  WarnOfPorts(containers, out);
  if (spec.termination_grace_period_seconds != nullptr &&
      *spec.termination_grace_period_seconds < 0) {
    Warn(out,
         path.Child("terminationGracePeriodSeconds"),
         "must be >= 0; negative values are invalid and will be treated as 1");
  }
  if (spec.affinity != nullptr) {
    const Path affinity = path.Child("affinity");
    WarnOfPodAffinity(spec.affinity->pod_affinity, affinity.Child("podAffinity"), out);
    WarnOfPodAffinity(spec.affinity->pod_anti_affinity, affinity.Child("podAntiAffinity"), out);
  }
}

}  // namespace allot::api::core
