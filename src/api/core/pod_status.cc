// What pods' status writes and the resize and ephemeralcontainers subresources may do.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "api/addresses.h"
#include "api/core/internal_form.h"
#include "api/core/pod_resources.h"
#include "api/core/rules.h"
#include "api/core/strategies.h"
#include "api/go_value.h"
#include "api/names.h"
#include "api/strategy_of.h"

namespace allot::api::core {

using quantity::Quantity;
using schema::List;
using schema::Map;
using schema::Str;

namespace {

constexpr std::string_view kMirrorPod = "kubernetes.io/config.mirror";

void ValidatePodConditions(const List<PodCondition>& conditions,
                           const Path& path,
                           FieldErrors& errors) {
  constexpr std::array<std::string_view, 3> kSystem = {"PodScheduled", "Ready", "Initialized"};
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    const Path at = path.Index(i);
    if (conditions[i].observed_generation < 0) {
      errors.Invalid(at.Child("observedGeneration"),
                     conditions[i].observed_generation,
                     "must be a non-negative integer");
    }
    if (std::ranges::find(kSystem, conditions[i].type) == kSystem.end()) {
      errors.InvalidAll(
          at.Child("Type"), conditions[i].type, QualifiedNameProblems(conditions[i].type));
    }
  }
}

/// Whether the restart policy of the pod or container lets a container that ended start again.
bool MayRestart(const PodSpec& spec,
                const List<Container>& containers,
                const ContainerStatus& old) {
  const std::int32_t code = old.state.terminated->exit_code;
  const auto* const container = std::ranges::find(containers, old.name, &Container::name);
  Str policy = spec.restart_policy;
  if (container != containers.end()) {
    for (const ContainerRestartRule& rule : container->restart_policy_rules) {
      if (rule.exit_codes != nullptr) {
        const auto& codes = rule.exit_codes->values;
        const bool listed = std::ranges::find(codes, code) != codes.end();
        if (listed == (rule.exit_codes->operator_ == "In")) {
          return true;
        }
      }
    }
    policy = container->restart_policy != nullptr ? *container->restart_policy : policy;
  }
  return policy == "Always" || (policy == "OnFailure" && code != 0);
}

void ValidateTransitions(const List<ContainerStatus>& next,
                         const List<ContainerStatus>& old,
                         const PodSpec& spec,
                         const List<Container>* containers,
                         const Path& path,
                         FieldErrors& errors) {
  for (std::size_t i = 0; i < old.size(); ++i) {
    if (old[i].state.terminated == nullptr) {
      continue;
    }
    const auto* const now = std::ranges::find(next, old[i].name, &ContainerStatus::name);
    if (now == next.end() || now->state.terminated != nullptr) {
      continue;
    }
    if (containers == nullptr || !MayRestart(spec, *containers, old[i])) {
      const Path at = path.Index(i);
      errors.Forbidden(at.Child("state"), "may not be transitioned to non-terminated state");
    }
  }
}

void ValidateClaimStatuses(const Pod& pod, const Path& path, FieldErrors& errors) {
  std::set<Str> names;
  for (std::size_t i = 0; i < pod.status.resource_claim_statuses.size(); ++i) {
    const PodResourceClaimStatus& status = pod.status.resource_claim_statuses[i];
    const Path at = path.Index(i);
    const auto& claims = pod.spec.resource_claims;
    if (std::ranges::find(claims, status.name, &PodResourceClaim::name) == claims.end()) {
      errors.Invalid(at.Child("name"),
                     status.name,
                     "must match the name of an entry in `spec.resourceClaims`");
    }
    if (!names.insert(status.name).second) {
      errors.Duplicate(at.Child("name"), status.name);
    }
    if (status.resource_claim_name != nullptr) {
      errors.InvalidAll(at.Child("resourceClaimName"),
                        *status.resource_claim_name,
                        DnsSubdomainProblems(*status.resource_claim_name));
    }
  }
}

const Container* FindContainer(const PodSpec& spec, Str name) {
  for (const auto* containers : {&spec.containers, &spec.init_containers}) {
    const auto* const at = std::ranges::find(*containers, name, &Container::name);
    if (at != containers->end()) {
      return at;
    }
  }
  return nullptr;
}

void ValidateExtendedClaim(const Pod& pod, const Path& path, FieldErrors& errors) {
  const PodExtendedResourceClaimStatus* const status = pod.status.extended_resource_claim_status;
  if (status == nullptr) {
    return;
  }
  const Path mappings = path.Child("requestMappings");
  if (status->request_mappings.empty()) {
    errors.Required(mappings, "at least one request mapping is required");
  }
  std::set<std::tuple<Str, Str, Str>> seen;
  for (std::size_t i = 0; i < status->request_mappings.size(); ++i) {
    const ContainerExtendedResourceRequest& mapping = status->request_mappings[i];
    const Path at = mappings.Index(i);
    const Container* const container = FindContainer(pod.spec, mapping.container_name);
    if (container == nullptr) {
      errors.Invalid(
          at.Child("containerName"),
          mapping.container_name,
          "must match the name of an entry in spec.initContainers.name or spec.containers.name");
    } else if (container->resources.requests.Find(mapping.resource_name) == nullptr) {
      errors.Invalid(at.Child("resourceName"),
                     mapping.resource_name,
                     "must match the extended resource name of an entry in "
                     "spec.initContainers.resources.requests "
                     "or spec.containers.resources.requests");
    }
    errors.InvalidAll(
        path.Child("requestName"), mapping.request_name, DnsLabelProblems(mapping.request_name));
    if (!seen.emplace(mapping.container_name, mapping.resource_name, mapping.request_name).second) {
      errors.Duplicate(at.Child("containerName"), mapping.container_name);
      errors.Duplicate(at.Child("resourceName"), mapping.resource_name);
      errors.Duplicate(at.Child("requestName"), mapping.request_name);
    }
  }
  if (status->resource_claim_name.empty()) {
    errors.Required(path.Child("resourceClaimName"));
  } else {
    errors.InvalidAll(path.Child("resourceClaimName"),
                      status->resource_claim_name,
                      DnsSubdomainProblems(status->resource_claim_name));
  }
}

void ValidateAmount(const Quantity* amount, const Path& path, FieldErrors& errors) {
  if (amount != nullptr && amount->nanos < 0) {
    errors.Invalid(path, amount->ToString(), "must be non-negative");
  }
}

bool NamesClaim(const Pod& pod, Str claim) {
  const auto names = [claim](const auto& entry) {
    return entry.resource_claim_name != nullptr && *entry.resource_claim_name == claim;
  };
  // The claim that serves the pod's extended resources has no entry in the spec.
  const auto* const extended = pod.status.extended_resource_claim_status;
  return std::ranges::any_of(pod.spec.resource_claims, names) ||
         std::ranges::any_of(pod.status.resource_claim_statuses, names) ||
         (extended != nullptr && extended->resource_claim_name == claim);
}

void ValidateNodeAllocatable(const Pod& pod, const Path& path, FieldErrors& errors) {
  constexpr std::string_view kNotANodeResource = "must be a node allocatable resource name";
  for (std::size_t i = 0; i < pod.status.node_allocatable_resource_claim_statuses.size(); ++i) {
    const auto& status = pod.status.node_allocatable_resource_claim_statuses[i];
    const Path at = path.Index(i);
    if (status.resource_claim_name.empty()) {
      errors.Required(at.Child("resourceClaimName"));
      continue;
    }
    if (!NamesClaim(pod, status.resource_claim_name)) {
      errors.Invalid(at.Child("resourceClaimName"),
                     status.resource_claim_name,
                     "no mapping found in pod reference");
    }
    for (std::size_t j = 0; j < status.mapping.size(); ++j) {
      const Path item = at.Item("mapping", j);
      if (!IsNodeAllocatableResource(status.mapping[j].name)) {
        errors.Invalid(item.Child("name"), status.mapping[j].name, kNotANodeResource);
      }
      ValidateAmount(status.mapping[j].quantity, item.Child("quantity"), errors);
    }
    for (std::size_t j = 0; j < status.overhead.size(); ++j) {
      const NodeAllocatableOverheadResources& overhead = status.overhead[j];
      const Path item = at.Item("overhead", j);
      if (!IsNodeAllocatableResource(overhead.name)) {
        errors.Invalid(item.Child("name"), overhead.name, kNotANodeResource);
      }
      if (overhead.per_pod == nullptr && overhead.per_container == nullptr) {
        errors.Invalid(item, "", "at least one of perPod or perContainer must be set");
      }
      ValidateAmount(overhead.per_pod, item.Child("perPod"), errors);
      ValidateAmount(overhead.per_container, item.Child("perContainer"), errors);
    }
  }
}

template <typename T, typename Key>
void ReportDuplicates(const List<T>& items, Key key, const Path& path, FieldErrors& errors) {
  std::set<Str> seen;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!seen.insert(items[i].*key).second) {
      errors.Duplicate(path.Index(i), BadValue::Json(Desc<T>(), &items[i]));
    }
  }
}

/// The declarative rules of the same list.
void ValidateNodeAllocatableDeclared(const Pod& pod, const Path& path, FieldErrors& errors) {
  const auto& statuses = pod.status.node_allocatable_resource_claim_statuses;
  ReportDuplicates(
      statuses, &NodeAllocatableResourceClaimStatus::resource_claim_name, path, errors);
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    const auto& status = statuses[i];
    const Path at = path.Index(i);
    std::set<Str> containers;
    for (std::size_t j = 0; j < status.containers.size(); ++j) {
      if (!containers.insert(status.containers[j]).second) {
        errors.Duplicate(at.Item("containers", j), status.containers[j]);
      }
    }
    ReportDuplicates(
        status.mapping, &NodeAllocatableMappedResources::name, at.Child("mapping"), errors);
    for (std::size_t j = 0; j < status.mapping.size(); ++j) {
      const Path item = at.Item("mapping", j);
      if (status.mapping[j].name.empty()) {
        errors.Required(item.Child("name"));
      }
      if (status.mapping[j].quantity == nullptr) {
        errors.Required(item.Child("quantity"));
      }
    }
    ReportDuplicates(
        status.overhead, &NodeAllocatableOverheadResources::name, at.Child("overhead"), errors);
    for (std::size_t j = 0; j < status.overhead.size(); ++j) {
      const Path item = at.Item("overhead", j);
      if (status.overhead[j].name.empty()) {
        errors.Required(item.Child("name"));
      }
    }
  }
}

/// The ids a runtime reports for the processes of containers.
void ValidateUsers(const List<ContainerStatus>& statuses, const Path& path, FieldErrors& errors) {
  constexpr std::int64_t kMaxUid = 4294967295;
  constexpr std::int64_t kMaxGid = 2147483647;
  const auto check = [&](std::int64_t id, std::int64_t most, const Path& at) {
    errors.InvalidAll(at, id, RangeProblems(id, 0, most));
  };
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    const ContainerUser* const user = statuses[i].user;
    if (user == nullptr || user->linux == nullptr) {
      continue;
    }
    const Path status = path.Index(i);
    const Path at_user = status.Child("user");
    const Path at = at_user.Child("linux");
    check(user->linux->uid, kMaxUid, at.Child("uid"));
    check(user->linux->gid, kMaxGid, at.Child("gid"));
    for (std::size_t j = 0; j < user->linux->supplemental_groups.size(); ++j) {
      check(user->linux->supplemental_groups[j], kMaxGid, at.Item("supplementalGroups", j));
    }
  }
}

/// The addresses of podIPs or hostIPs: good ones, at most one a family.
template <typename Ip>
void ValidateIps(const List<Ip>& ips, const List<Ip>& old, const Path& path, FieldErrors& errors) {
  std::size_t v6 = 0;
  for (std::size_t i = 0; i < ips.size(); ++i) {
    v6 += ips[i].ip.find(':') != Str::npos ? 1 : 0;
    const bool known = std::ranges::find(old, ips[i].ip, &Ip::ip) != old.end();
    if (!known && !CanonicalIp(ips[i].ip)) {
      errors.Invalid(path.Index(i),
                     ips[i].ip,
                     "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
    }
  }
  if (ips.size() > 1 && (ips.size() > 2 || v6 != 1)) {
    errors.Invalid(path,
                   GoValues(Desc<Ip>(), ips.items, ips.size()),
                   "may specify no more than one IP for each IP family");
  }
}

void ValidateAddresses(const PodStatus& next,
                       const PodStatus& old,
                       const Path& path,
                       FieldErrors& errors) {
  const Path pod_ips = path.Child("podIPs");
  ValidateIps(next.pod_ips, old.pod_ips, pod_ips, errors);
  if (next.pod_ip.empty() != next.pod_ips.empty()) {
    errors.Invalid(pod_ips,
                   GoValues(Desc<PodIP>(), next.pod_ips.items, next.pod_ips.size()),
                   "podIP and podIPs must either both be set or both be unset");
  } else if (!next.pod_ips.empty() && next.pod_ips[0].ip != next.pod_ip) {
    const Path first = pod_ips.Index(0);
    errors.Invalid(first.Child("ip"), next.pod_ips[0].ip, "must be equal to `podIP`");
  }
  if (next.host_ips.empty()) {
    return;
  }
  const Path host_ips = path.Child("hostIPs");
  if (next.host_ips[0].ip != next.host_ip) {
    const Path first = host_ips.Index(0);
    errors.Invalid(first.Child("ip"), next.host_ips[0].ip, "must be equal to `hostIP`");
  }
  ValidateIps(next.host_ips, old.host_ips, host_ips, errors);
}

/// `claim:NAME/REQUEST` of an extended resource that devices serve.
bool IsExtendedClaimName(const Pod& pod, const Container& container, Str name) {
  const PodExtendedResourceClaimStatus* const status = pod.status.extended_resource_claim_status;
  if (status == nullptr) {
    return false;
  }
  return std::ranges::any_of(
      status->request_mappings, [&](const ContainerExtendedResourceRequest& mapping) {
        const Quantity* const amount = container.resources.requests.Find(mapping.resource_name);
        return mapping.container_name == container.name && amount != nullptr && !amount->IsZero() &&
               name ==
                   fmt::format("claim:{}/{}", status->resource_claim_name, mapping.request_name);
      });
}

void ValidateHealth(const ResourceStatus& resource, const Path& path, FieldErrors& errors) {
  constexpr std::array<std::string_view, 3> kHealth = {"Healthy", "Unhealthy", "Unknown"};
  constexpr std::size_t kMaxMessage = 1024;
  std::set<Str> ids;
  for (std::size_t i = 0; i < resource.resources.size(); ++i) {
    const ResourceHealth& health = resource.resources[i];
    const Path at = path.Item("resources", i);
    if (std::ranges::find(kHealth, health.health) == kHealth.end()) {
      errors.NotSupported(at.Child("health"), health.health, kHealth);
    }
    if (health.message != nullptr && health.message->empty()) {
      errors.Required(at.Child("message"), "must be non-empty if specified");
    } else if (health.message != nullptr && health.message->size() > kMaxMessage) {
      errors.TooLong(at.Child("message"), kMaxMessage);
    }
    if (!ids.insert(health.resource_id).second) {
      errors.Duplicate(at.Child("resourceID"), health.resource_id);
    }
  }
}

void ValidateAllocatedResources(const Pod& pod,
                                const List<ContainerStatus>& statuses,
                                const List<Container>& containers,
                                const Path& path,
                                FieldErrors& errors) {
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    const auto* const container = std::ranges::find(containers, statuses[i].name, &Container::name);
    const Path status = path.Index(i);
    for (std::size_t j = 0; j < statuses[i].allocated_resources_status.size(); ++j) {
      const ResourceStatus& resource = statuses[i].allocated_resources_status[j];
      const Path at = status.Item("allocatedResourcesStatus", j);
      if (container != containers.end() && resource.name.starts_with("claim:")) {
        const bool found =
            std::ranges::any_of(container->resources.claims, [&](const ResourceClaim& claim) {
              return resource.name == (claim.request.empty()
                                           ? fmt::format("claim:{}", claim.name)
                                           : fmt::format("claim:{}/{}", claim.name, claim.request));
            });
        if (!found && !IsExtendedClaimName(pod, *container, resource.name)) {
          errors.Invalid(at.Child("name"),
                         resource.name,
                         "must match one of the container's resource claims as "
                         "'claim:<claimName>/<requestName>' "
                         "when container.resources.claims[*].request is set or 'claim:<claimName>' "
                         "when it is empty");
        }
      } else if (container != containers.end() &&
                 container->resources.requests.Find(resource.name) == nullptr) {
        errors.Invalid(
            at.Child("name"), resource.name, "must match one of the container's resource requests");
      }
      ValidateHealth(resource, at, errors);
    }
  }
}

void ValidateNominatedNode(const StrategyContext& context,
                           const Pod& next,
                           const Pod& old,
                           const Path& path,
                           FieldErrors& errors) {
  const Str name = next.status.nominated_node_name;
  if (name.empty() || name == old.status.nominated_node_name) {
    return;
  }
  const Path at = path.Child("nominatedNodeName");
  errors.InvalidAll(at, name, DnsSubdomainProblems(name));
  if (context.gates.Enabled("ClearingNominatedNodeNameAfterBinding") &&
      !old.spec.node_name.empty()) {
    errors.Forbidden(at, "may not be set on pods that are already bound to a node");
  }
}

bool RemovesAmounts(const Map<Quantity>& next, const Map<Quantity>& old) {
  return std::ranges::any_of(old,
                             [&](const auto& entry) { return next.Find(entry.key) == nullptr; });
}

/// The container with cpu and memory as they were.
Container WithoutResize(Container container, const Container& old, schema::Editor editor) {
  const auto restore = [&](Map<Quantity>& amounts, const Map<Quantity>& before) {
    for (const std::string_view name : {"cpu", "memory"}) {
      if (const Quantity* const amount = before.Find(name); amount != nullptr) {
        editor.Put(amounts, name, *amount);
      } else if (amounts.Find(name) != nullptr) {
        editor.Erase(amounts, name);
      }
    }
  };
  restore(container.resources.limits, old.resources.limits);
  restore(container.resources.requests, old.resources.requests);
  return container;
}

void ValidateResizedContainers(const List<Container>& next,
                               const List<Container>& old,
                               std::string_view field,
                               const Path& path,
                               FieldErrors& errors) {
  base::Arena arena;
  for (std::size_t i = 0; i < old.size(); ++i) {
    const Path container = path.Item(field, i);
    const Path resources = container.Child("resources");
    if (RemovesAmounts(next[i].resources.requests, old[i].resources.requests)) {
      errors.Forbidden(resources.Child("requests"), "resource requests cannot be removed");
    }
    if (RemovesAmounts(next[i].resources.limits, old[i].resources.limits)) {
      errors.Forbidden(resources.Child("limits"), "resource limits cannot be removed");
    }
    if (!Same(WithoutResize(next[i], old[i], schema::Editor(arena)), old[i])) {
      errors.Forbidden(path, "only cpu and memory resources are mutable");
    }
  }
}

}  // namespace

void ValidatePodStatusUpdate(const StrategyContext& context,
                             const Pod& next,
                             const Pod& old,
                             Report& report) {
  FieldErrors& errors = report.hand;
  ValidateObjectMetaUpdate(next.metadata, old.metadata, Path("metadata"), errors);
  const Path status("status");
  ValidatePodConditions(next.status.conditions, status.Child("conditions"), errors);
  ValidateNominatedNode(context, next, old, status, errors);
  if (next.status.observed_generation < 0) {
    errors.Invalid(status.Child("observedGeneration"),
                   next.status.observed_generation,
                   "must be a non-negative integer");
  }
  if (next.status.qos_class != old.status.qos_class) {
    errors.Invalid(status.Child("qosClass"), next.status.qos_class, "field is immutable");
  }
  ValidateTransitions(next.status.container_statuses,
                      old.status.container_statuses,
                      old.spec,
                      &old.spec.containers,
                      status.Child("containerStatuses"),
                      errors);
  ValidateTransitions(next.status.init_container_statuses,
                      old.status.init_container_statuses,
                      old.spec,
                      &old.spec.init_containers,
                      status.Child("initContainerStatuses"),
                      errors);
  ValidateTransitions(next.status.ephemeral_container_statuses,
                      old.status.ephemeral_container_statuses,
                      old.spec,
                      nullptr,
                      status.Child("ephemeralContainerStatuses"),
                      errors);
  ValidateUsers(next.status.container_statuses, status.Child("containerStatuses"), errors);
  ValidateUsers(next.status.init_container_statuses, status.Child("initContainerStatuses"), errors);
  ValidateUsers(
      next.status.ephemeral_container_statuses, status.Child("ephemeralContainerStatuses"), errors);
  ValidateClaimStatuses(next, status.Child("resourceClaimStatuses"), errors);
  ValidateExtendedClaim(next, status.Child("extendedResourceClaimStatus"), errors);
  const Path node_allocatable = status.Child("nodeAllocatableResourceClaimStatuses");
  ValidateNodeAllocatable(next, node_allocatable, errors);
  ValidateNodeAllocatableDeclared(next, node_allocatable, report.declared);
  ValidateAddresses(next.status, old.status, status, errors);
  ValidateAllocatedResources(next,
                             next.status.container_statuses,
                             next.spec.containers,
                             status.Child("containerStatuses"),
                             errors);
  ValidateAllocatedResources(next,
                             next.status.init_container_statuses,
                             next.spec.init_containers,
                             status.Child("initContainerStatuses"),
                             errors);
  const Path ephemeral = status.Child("ephemeralContainerStatuses");
  for (std::size_t i = 0; i < next.status.ephemeral_container_statuses.size(); ++i) {
    if (!next.status.ephemeral_container_statuses[i].allocated_resources_status.empty()) {
      const Path at = ephemeral.Index(i);
      errors.Forbidden(at.Child("allocatedResourcesStatus"),
                       "must not be specified in container status");
    }
  }
}

void ValidatePodResize(const StrategyContext& context,
                       const Pod& next,
                       const Pod& old,
                       Report& report) {
  FieldErrors& errors = report.hand;
  if (old.metadata.annotations.Find(kMirrorPod) != nullptr) {
    errors.Forbidden(Path(""), "static pods cannot be resized");
    return;
  }
  if (old.spec.os != nullptr && old.spec.os->name == "windows") {
    errors.Forbidden(Path(""), "windows pods cannot be resized");
    return;
  }
  ValidateObjectMetaUpdate(next.metadata, old.metadata, Path("metadata"), errors);
  ValidatePod(context, next, errors);
  const Path spec("spec");
  if (QosClass(next.spec) != old.status.qos_class) {
    errors.Invalid(
        spec, next.status.qos_class, "Pod QOS Class may not change as a result of resizing");
  }
  if (next.spec.containers.size() != old.spec.containers.size() ||
      next.spec.init_containers.size() != old.spec.init_containers.size()) {
    errors.Forbidden(spec, "containers may not be added or removed on resize");
    return;
  }
  ValidateResizedContainers(
      next.spec.init_containers, old.spec.init_containers, "initContainers", spec, errors);
  ValidateResizedContainers(next.spec.containers, old.spec.containers, "containers", spec, errors);
}

void ValidateEphemeralContainersUpdate(const StrategyContext& context,
                                       const Pod& next,
                                       const Pod& old,
                                       Report& report) {
  FieldErrors& errors = report.hand;
  if (old.metadata.annotations.Find(kMirrorPod) != nullptr) {
    errors.Forbidden(Path(""), "static pods do not support ephemeral containers");
    return;
  }
  ValidateObjectMetaUpdate(next.metadata, old.metadata, Path("metadata"), errors);
  ValidatePod(context, next, errors);
  const Path spec("spec");
  const Path path = spec.Child("ephemeralContainers");
  for (const EphemeralContainer& container : old.spec.ephemeral_containers) {
    const Str name = container.ephemeral_container_common.name;
    const auto same_name = [name](const EphemeralContainer& other) {
      return other.ephemeral_container_common.name == name;
    };
    const auto* const now = std::ranges::find_if(next.spec.ephemeral_containers, same_name);
    if (now == next.spec.ephemeral_containers.end()) {
      errors.Forbidden(
          path, fmt::format("existing ephemeral containers {} may not be removed\n", Quote(name)));
    } else if (!Same(*now, container)) {
      errors.Forbidden(path,
                       fmt::format("existing ephemeral containers {} may not be changed\n{}",
                                   Quote(name),
                                   InternalDiff(Desc<EphemeralContainer>(), &container, now)));
    }
  }
}

}  // namespace allot::api::core
