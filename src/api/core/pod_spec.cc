// The spec of pods as a whole.
#include <algorithm>
#include <array>
#include <set>
#include <string>

#include <fmt/format.h>

#include "api/addresses.h"
#include "api/core/rules.h"
#include "api/go_value.h"
#include "api/names.h"
#include "api/object_meta.h"

namespace allot::api::core {

using schema::List;
using schema::Str;

namespace {

constexpr std::string_view kMirrorPod = "kubernetes.io/config.mirror";
constexpr std::int64_t kMaxInt32 = 2147483647;

template <std::size_t N>
void ValidateChoice(Str value,
                    const std::array<std::string_view, N>& values,
                    const Path& path,
                    FieldErrors& errors) {
  if (value.empty()) {
    errors.Required(path);
  } else if (std::ranges::find(values, value) == values.end()) {
    errors.NotSupported(path, value, values);
  }
}

void ValidateResourceClaims(const PodRules& rules,
                            const List<PodResourceClaim>& claims,
                            const Path& path,
                            FieldErrors& errors) {
  const bool mirror =
      rules.metadata != nullptr && rules.metadata->annotations.Find(kMirrorPod) != nullptr;
  std::set<Str> names;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const PodResourceClaim& claim = claims[i];
    const Path at = path.Index(i);
    if (mirror) {
      errors.Forbidden(Path(""), "static pods do not support resource claims");
      continue;
    }
    if (claim.name.empty()) {
      errors.Required(at.Child("name"));
    } else if (!names.insert(claim.name).second) {
      errors.Duplicate(at.Child("name"), claim.name);
    } else {
      errors.InvalidAll(at.Child("name"), claim.name, DnsLabelProblems(claim.name));
    }
    if (claim.resource_claim_name != nullptr && claim.resource_claim_template_name != nullptr) {
      errors.Invalid(
          at,
          GoValue(Desc<PodResourceClaim>(), &claim),
          "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified");
    }
    if (claim.resource_claim_name == nullptr && claim.resource_claim_template_name == nullptr) {
      errors.Invalid(at,
                     GoValue(Desc<PodResourceClaim>(), &claim),
                     "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`");
    }
    if (claim.resource_claim_name != nullptr) {
      errors.InvalidAll(at.Child("resourceClaimName"),
                        *claim.resource_claim_name,
                        DnsSubdomainProblems(*claim.resource_claim_name));
    }
    if (claim.resource_claim_template_name != nullptr) {
      errors.InvalidAll(at.Child("resourceClaimTemplateName"),
                        *claim.resource_claim_template_name,
                        DnsSubdomainProblems(*claim.resource_claim_template_name));
    }
  }
}

void ValidateHostNetworkPorts(const PodSpec& spec, const Path& path, FieldErrors& errors) {
  if (!spec.host_network) {
    return;
  }
  for (std::size_t i = 0; i < spec.containers.size(); ++i) {
    const Path container = path.Item("containers", i);
    for (std::size_t j = 0; j < spec.containers[i].ports.size(); ++j) {
      const ContainerPort& port = spec.containers[i].ports[j];
      if (port.host_port != port.container_port) {
        const Path at = container.Item("ports", j);
        errors.Invalid(at.Child("hostPort"),
                       port.host_port,
                       "must match `containerPort` when `hostNetwork` is true");
      }
    }
  }
}

void ValidateIp(Str ip, const Path& path, FieldErrors& errors) {
  if (!CanonicalIp(ip)) {
    errors.Invalid(path, ip, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
  }
}

void ValidateDns(const PodSpec& spec, const Path& path, FieldErrors& errors) {
  constexpr std::size_t kMaxServers = 3;
  constexpr std::size_t kMaxSearches = 32;
  constexpr std::size_t kMaxSearchText = 2048;
  const PodDNSConfig* const config = spec.dns_config;
  if (spec.dns_policy == "None" && config == nullptr) {
    errors.Required(path, "must provide `dnsConfig` when `dnsPolicy` is None");
    return;
  }
  const Path servers = path.Child("nameservers");
  if (spec.dns_policy == "None" && config->nameservers.empty()) {
    errors.Required(servers, "must provide at least one DNS nameserver when `dnsPolicy` is None");
    return;
  }
  if (config == nullptr) {
    return;
  }
  if (config->nameservers.size() > kMaxServers) {
    errors.Invalid(servers, GoTexts(config->nameservers), "must not have more than 3 nameservers");
  }
  for (std::size_t i = 0; i < config->nameservers.size(); ++i) {
    ValidateIp(config->nameservers[i], servers.Index(i), errors);
  }
  const Path searches = path.Child("searches");
  if (config->searches.size() > kMaxSearches) {
    errors.Invalid(searches, GoTexts(config->searches), "must not have more than 32 search paths");
  }
  std::size_t total = config->searches.empty() ? 0 : config->searches.size() - 1;
  for (const Str search : config->searches) {
    total += search.size();
  }
  if (total > kMaxSearchText) {
    errors.Invalid(searches,
                   GoTexts(config->searches),
                   "must not have more than 2048 characters (including spaces) in the search list");
  }
  for (std::size_t i = 0; i < config->searches.size(); ++i) {
    if (config->searches[i] == ".") {
      continue;
    }
    const Str search = config->searches[i];
    const Str name = search.substr(0, search.ends_with('.') ? search.size() - 1 : Str::npos);
    errors.InvalidAll(searches.Index(i), name, DnsSubdomainWithUnderscoreProblems(name));
  }
  for (std::size_t i = 0; i < config->options.size(); ++i) {
    if (config->options[i].name.empty()) {
      errors.Required(path.Item("options", i), "must not be empty");
    }
  }
}

void ValidateGates(const PodSpec& spec, const Path& path, FieldErrors& errors) {
  for (std::size_t i = 0; i < spec.readiness_gates.size(); ++i) {
    const Path at = path.Item("readinessGates", i);
    errors.InvalidAll(at.Child("conditionType"),
                      spec.readiness_gates[i].condition_type,
                      QualifiedNameProblems(spec.readiness_gates[i].condition_type));
  }
  std::set<Str> seen;
  for (std::size_t i = 0; i < spec.scheduling_gates.size(); ++i) {
    const Str name = spec.scheduling_gates[i].name;
    const Path at = path.Item("schedulingGates", i);
    errors.InvalidAll(at, name, QualifiedNameProblems(name));
    if (!seen.insert(name).second) {
      errors.Duplicate(at, name);
    }
  }
}

void ValidateHostUsers(const PodSpec& spec, const Path& path, FieldErrors& errors) {
  if (spec.host_users == nullptr || *spec.host_users) {
    return;
  }
  constexpr std::string_view kDetail = "when `hostUsers` is false";
  if (spec.host_network) {
    errors.Forbidden(path.Child("hostNetwork"), kDetail);
  }
  if (spec.host_pid) {
    errors.Forbidden(path.Child("HostPID"), kDetail);
  }
  if (spec.host_ipc) {
    errors.Forbidden(path.Child("HostIPC"), kDetail);
  }
}

void ValidateHostnameOverride(const PodSpec& spec, const Path& path, FieldErrors& errors) {
  if (spec.hostname_override == nullptr) {
    return;
  }
  constexpr std::size_t kMax = 64;
  const Path at = path.Child("hostnameOverride");
  if (spec.set_hostname_as_fqdn != nullptr && *spec.set_hostname_as_fqdn) {
    errors.Forbidden(at, "may not be specified when setHostnameAsFQDN is true");
  }
  if (spec.host_network) {
    errors.Forbidden(at, "may not be specified when hostNetwork is true");
  }
  if (spec.hostname_override->size() > kMax) {
    errors.TooLong(at, kMax);
  }
  errors.InvalidAll(at, *spec.hostname_override, DnsSubdomainProblems(*spec.hostname_override));
}

/// Names of other things the spec refers to.
void ValidateReferences(const PodSpec& spec, const Path& path, FieldErrors& errors) {
  const auto subdomain = [&](Str name, std::string_view field) {
    if (!name.empty()) {
      errors.InvalidAll(path.Child(field), name, DnsSubdomainProblems(name));
    }
  };
  const auto label = [&](Str name, std::string_view field) {
    if (!name.empty()) {
      errors.InvalidAll(path.Child(field), name, DnsLabelProblems(name));
    }
  };
  subdomain(spec.service_account_name, "serviceAccountName");
  subdomain(spec.node_name, "nodeName");
  if (spec.active_deadline_seconds != nullptr) {
    for (const std::string& problem : RangeProblems(*spec.active_deadline_seconds, 1, kMaxInt32)) {
      errors.Invalid(path.Child("activeDeadlineSeconds"), *spec.active_deadline_seconds, problem);
    }
  }
  label(spec.hostname, "hostname");
  label(spec.subdomain, "subdomain");
  ValidateTolerations(spec.tolerations, path.Child("tolerations"), errors);
  for (std::size_t i = 0; i < spec.host_aliases.size(); ++i) {
    const Path at = path.Item("hostAliases", i);
    ValidateIp(spec.host_aliases[i].ip, at.Child("ip"), errors);
    for (std::size_t j = 0; j < spec.host_aliases[i].hostnames.size(); ++j) {
      const Str name = spec.host_aliases[i].hostnames[j];
      errors.InvalidAll(at.Item("hostnames", j), name, DnsSubdomainProblems(name));
    }
  }
  subdomain(spec.priority_class_name, "priorityClassName");
  if (spec.runtime_class_name != nullptr) {
    errors.InvalidAll(path.Child("runtimeClassName"),
                      *spec.runtime_class_name,
                      DnsSubdomainProblems(*spec.runtime_class_name));
  }
}

void ValidateSchedulingGroup(const PodSchedulingGroup& group,
                             const Path& path,
                             FieldErrors& errors) {
  const Path name = path.Child("podGroupName");
  if (group.pod_group_name == nullptr) {
    errors.Invalid(name, BadValue::Null(), "must specify one of: `podGroupName`");
  } else {
    errors.InvalidAll(name, *group.pod_group_name, DnsSubdomainProblems(*group.pod_group_name));
  }
}

void ValidateOs(const PodSpec& spec, const Path& path, FieldErrors& errors) {
  constexpr std::array<std::string_view, 2> kSystems = {"linux", "windows"};
  if (spec.os == nullptr) {
    return;
  }
  const Path os = path.Child("os");
  if (spec.os->name.empty()) {
    errors.Required(os.Child("name"));
  } else {
    ValidateChoice(spec.os->name, kSystems, os, errors);
  }
  if (spec.os->name == "linux" && spec.security_context != nullptr &&
      spec.security_context->windows_options != nullptr) {
    const Path security = path.Child("securityContext");
    errors.Forbidden(security.Child("windowsOptions"),
                     "windows options cannot be set for a linux pod");
  }
}

}  // namespace

void ValidatePodSpec(const PodRules& rules,
                     const PodSpec& spec,
                     const Path& path,
                     FieldErrors& errors) {
  constexpr std::array<std::string_view, 3> kRestartPolicies = {"Always", "OnFailure", "Never"};
  constexpr std::array<std::string_view, 4> kDnsPolicies = {
      "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"};
  constexpr std::array<std::string_view, 2> kPreemption = {"PreemptLowerPriority", "Never"};
  if (spec.termination_grace_period_seconds == nullptr) {
    errors.Required(path.Child("terminationGracePeriodSeconds"));
  }
  const MountableVolumes volumes = ValidateVolumes(rules, spec, path.Child("volumes"), errors);
  ValidateResourceClaims(rules, spec.resource_claims, path.Child("resourceClaims"), errors);
  ValidateContainers(rules, spec, volumes, path, errors);
  if (rules.gates.Enabled(Gate::kPodLevelResources)) {
    ValidatePodResources(spec, path.Child("resources"), errors);
  }
  ValidateHostNetworkPorts(spec, path, errors);
  ValidateChoice(spec.restart_policy, kRestartPolicies, path.Child("restartPolicy"), errors);
  ValidateChoice(spec.dns_policy, kDnsPolicies, path.Child("dnsPolicy"), errors);
  ValidateLabels(spec.node_selector, path.Child("nodeSelector"), errors);
  if (spec.security_context != nullptr) {
    ValidatePodSecurityContext(*spec.security_context, spec, path.Child("securityContext"), errors);
  }
  ValidateHostProcess(spec, path, errors);
  if (spec.share_process_namespace != nullptr && *spec.share_process_namespace && spec.host_pid) {
    errors.Invalid(path.Child("shareProcessNamespace"),
                   true,
                   "ShareProcessNamespace and HostPID cannot both be enabled");
  }
  if (spec.affinity != nullptr) {
    ValidateAffinity(*spec.affinity, path.Child("affinity"), errors);
  }
  ValidateDns(spec, path.Child("dnsConfig"), errors);
  ValidateGates(spec, path, errors);
  ValidateSpreadConstraints(
      spec.topology_spread_constraints, path.Child("topologySpreadConstraints"), errors);
  ValidateHostUsers(spec, path, errors);
  ValidateHostnameOverride(spec, path, errors);
  ValidateReferences(spec, path, errors);
  if (spec.preemption_policy != nullptr) {
    ValidateChoice(*spec.preemption_policy, kPreemption, path.Child("preemptionPolicy"), errors);
  }
  const Path overhead = path.Child("overhead");
  ValidateContainerResources({.limits = spec.overhead}, spec, overhead, errors);
  ValidateOs(spec, path, errors);
  if (spec.scheduling_group != nullptr) {
    const Path group = path.Child("schedulingGroup");
    ValidateSchedulingGroup(*spec.scheduling_group, group, errors);
    if (!spec.eviction_responders.empty()) {
      errors.Forbidden(group, "may not be set when evictionResponders is set");
    }
  }
}

}  // namespace allot::api::core
