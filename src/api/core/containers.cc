// Containers, init containers and ephemeral containers.
#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "api/core/pod_resources.h"
#include "api/core/rules.h"
#include "api/go_value.h"
#include "api/names.h"

namespace allot::api::core {

using schema::List;
using schema::Str;

namespace {

template <std::size_t N>
bool In(const std::array<std::string_view, N>& values, Str value) {
  return std::ranges::find(values, value) != values.end();
}

/// Required when empty, not supported when not one of `values`.
template <std::size_t N>
void ValidateChoice(Str value,
                    const std::array<std::string_view, N>& values,
                    const Path& path,
                    FieldErrors& errors) {
  if (value.empty()) {
    errors.Required(path);
  } else if (!In(values, value)) {
    errors.NotSupported(path, value, values);
  }
}

struct ContainerContext {
  const PodRules& rules;
  const PodSpec& spec;
  const MountableVolumes& volumes;
  bool host_users = true;
};

void ValidatePorts(const List<ContainerPort>& ports, const Path& path, FieldErrors& errors) {
  constexpr std::array<std::string_view, 3> kProtocols = {"SCTP", "TCP", "UDP"};
  std::set<Str> names;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const ContainerPort& port = ports[i];
    const Path at = path.Index(i);
    if (!port.name.empty()) {
      const Problems problems = PortNameProblems(port.name);
      errors.InvalidAll(at.Child("name"), port.name, problems);
      if (problems.empty() && !names.insert(port.name).second) {
        errors.Duplicate(at.Child("name"), port.name);
      }
    }
    const auto number = [&](std::int32_t value, std::string_view name) {
      for (const std::string& problem : PortNumberProblems(value)) {
        errors.Invalid(at.Child(name), value, problem);
      }
    };
    if (port.container_port == 0) {
      errors.Required(at.Child("containerPort"));
    } else {
      number(port.container_port, "containerPort");
    }
    if (port.host_port != 0) {
      number(port.host_port, "hostPort");
    }
    ValidateChoice(port.protocol, kProtocols, at.Child("protocol"), errors);
  }
}

void ValidatePropagation(const Container& container,
                         const VolumeMount& mount,
                         const Path& path,
                         FieldErrors& errors) {
  constexpr std::array<std::string_view, 3> kModes = {"Bidirectional", "HostToContainer", "None"};
  if (!In(kModes, *mount.mount_propagation)) {
    errors.NotSupported(path, *mount.mount_propagation, kModes);
  }
  const SecurityContext* const security = container.security_context;
  const bool privileged =
      security != nullptr && security->privileged != nullptr && *security->privileged;
  if (*mount.mount_propagation == "Bidirectional" && !privileged) {
    errors.Forbidden(path,
                     "Bidirectional mount propagation is available only to privileged containers");
  }
}

void ValidateRecursiveReadOnly(const VolumeMount& mount, const Path& path, FieldErrors& errors) {
  constexpr std::array<std::string_view, 3> kModes = {"Disabled", "Enabled", "IfPossible"};
  const Str mode = *mount.recursive_read_only;
  if (!In(kModes, mode)) {
    errors.NotSupported(path, mode, kModes);
  } else if (mode != "Disabled") {
    if (!mount.read_only) {
      errors.Forbidden(path, "may only be specified when readOnly is true");
    }
    if (mount.mount_propagation != nullptr && *mount.mount_propagation != "None") {
      errors.Forbidden(path,
                       "may only be specified when mountPropagation is None or not specified");
    }
  }
}

void ValidateBindOptions(const VolumeMount& mount,
                         const MountableVolumes& volumes,
                         const Path& path,
                         FieldErrors& errors) {
  constexpr std::array<std::string_view, 3> kOptions = {"nodev", "noexec", "nosuid"};
  std::set<Str> seen;
  for (std::size_t i = 0; i < mount.bind_mount_options.size(); ++i) {
    const Str option = mount.bind_mount_options[i];
    if (!In(kOptions, option)) {
      errors.NotSupported(path.Index(i), option, kOptions);
    }
    if (!seen.insert(option).second) {
      errors.Duplicate(path.Index(i), option);
    }
  }
  const auto volume = volumes.find(mount.name);
  if (!mount.bind_mount_options.empty() && volume != volumes.end() &&
      volume->second->image != nullptr) {
    errors.Invalid(path,
                   GoTexts(mount.bind_mount_options),
                   "bindMountOptions may not be used with image volumes");
  }
}

void ValidateMounts(const ContainerContext& context,
                    const Container& container,
                    const Path& path,
                    FieldErrors& errors) {
  std::set<Str> mount_points;
  for (std::size_t i = 0; i < container.volume_mounts.size(); ++i) {
    const VolumeMount& mount = container.volume_mounts[i];
    const Path at = path.Index(i);
    const Path name = at.Child("name");
    const Path mount_path = at.Child("mountPath");
    if (mount.name.empty()) {
      errors.Required(name);
    }
    if (!context.volumes.contains(mount.name)) {
      errors.NotFound(name, mount.name);
    }
    if (mount.mount_path.empty()) {
      errors.Required(mount_path);
    }
    if (!mount_points.insert(mount.mount_path).second) {
      errors.Invalid(mount_path, mount.mount_path, "must be unique");
    }
    for (const VolumeDevice& device : container.volume_devices) {
      if (device.name == mount.name) {
        errors.Invalid(name, mount.name, "must not already exist in volumeDevices");
      }
      if (device.device_path == mount.mount_path) {
        errors.Invalid(
            mount_path, mount.mount_path, "must not already exist as a path in volumeDevices");
      }
    }
    if (!mount.sub_path.empty()) {
      ValidateDescendingPath(mount.sub_path, path.Child("subPath"), errors);
    }
    if (!mount.sub_path_expr.empty()) {
      if (!mount.sub_path.empty()) {
        errors.Invalid(at.Child("subPathExpr"),
                       mount.sub_path_expr,
                       "subPathExpr and subPath are mutually exclusive");
      }
      ValidateDescendingPath(mount.sub_path_expr, path.Child("subPathExpr"), errors);
    }
    if (mount.mount_propagation != nullptr) {
      ValidatePropagation(container, mount, path.Child("mountPropagation"), errors);
    }
    if (mount.recursive_read_only != nullptr) {
      ValidateRecursiveReadOnly(mount, path.Child("recursiveReadOnly"), errors);
    }
    ValidateBindOptions(mount, context.volumes, at.Child("bindMountOptions"), errors);
  }
}

void ValidateDevices(const ContainerContext& context,
                     const Container& container,
                     const Path& path,
                     FieldErrors& errors) {
  std::set<Str> names;
  std::set<Str> paths;
  for (std::size_t i = 0; i < container.volume_devices.size(); ++i) {
    const VolumeDevice& device = container.volume_devices[i];
    const Path at = path.Index(i);
    const Path name = at.Child("name");
    const Path device_path = at.Child("devicePath");
    const auto volume = context.volumes.find(device.name);
    if (device.name.empty()) {
      errors.Required(name);
    } else if (!names.insert(device.name).second) {
      errors.Invalid(name, device.name, "must be unique");
    }
    if (volume == context.volumes.end()) {
      errors.NotFound(name, device.name);
    } else if (volume->second->persistent_volume_claim == nullptr &&
               volume->second->ephemeral == nullptr) {
      errors.Invalid(
          name,
          device.name,
          "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode");
    }
    if (device.device_path.empty()) {
      errors.Required(device_path);
    }
    if (paths.contains(device.device_path)) {
      errors.Invalid(device_path, device.device_path, "must be unique");
    }
    FieldErrors backsteps;
    ValidateNoBacksteps(device.device_path, device_path, backsteps);
    if (!backsteps.empty()) {
      errors.Invalid(device_path, device.device_path, "can not contain backsteps ('..')");
    } else {
      paths.insert(device.device_path);
    }
    for (const VolumeMount& mount : container.volume_mounts) {
      if (mount.name == device.name) {
        errors.Invalid(name, device.name, "must not already exist in volumeMounts");
      }
      if (mount.mount_path == device.device_path) {
        errors.Invalid(
            device_path, device.device_path, "must not already exist as a path in volumeMounts");
      }
    }
  }
}

void ValidateResizePolicy(const ContainerContext& context,
                          const Container& container,
                          const Path& path,
                          FieldErrors& errors) {
  constexpr std::array<std::string_view, 2> kResources = {"cpu", "memory"};
  constexpr std::array<std::string_view, 2> kPolicies = {"NotRequired", "RestartContainer"};
  std::set<Str> seen;
  for (std::size_t i = 0; i < container.resize_policy.size(); ++i) {
    const ContainerResizePolicy& policy = container.resize_policy[i];
    if (!seen.insert(policy.resource_name).second) {
      errors.Duplicate(path.Index(i), policy.resource_name);
    }
    ValidateChoice(policy.resource_name, kResources, path, errors);
    ValidateChoice(policy.restart_policy, kPolicies, path, errors);
    if (context.spec.restart_policy == "Never" && policy.restart_policy != "NotRequired") {
      errors.Invalid(
          path, policy.restart_policy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
    }
  }
}

/// What every kind of container must be.
void ValidateCommon(const ContainerContext& context,
                    const Container& container,
                    const Path& path,
                    FieldErrors& errors) {
  constexpr std::array<std::string_view, 2> kMessagePolicies = {"File", "FallbackToLogsOnError"};
  constexpr std::array<std::string_view, 3> kPullPolicies = {"Always", "IfNotPresent", "Never"};
  if (container.name.empty()) {
    errors.Required(path.Child("name"));
  } else {
    errors.InvalidAll(path.Child("name"), container.name, DnsLabelProblems(container.name));
  }
  if (container.image.empty()) {
    errors.Required(path.Child("image"));
  }
  ValidateChoice(container.termination_message_policy,
                 kMessagePolicies,
                 path.Child("terminationMessagePolicy"),
                 errors);
  ValidatePorts(container.ports, path.Child("ports"), errors);
  ValidateEnvironment(container, path, errors);
  ValidateFileVolumes(container, context.volumes, path, errors);
  ValidateMounts(context, container, path.Child("volumeMounts"), errors);
  ValidateDevices(context, container, path.Child("volumeDevices"), errors);
  ValidateChoice(container.image_pull_policy, kPullPolicies, path.Child("imagePullPolicy"), errors);
  ValidateContainerResources(container.resources, context.spec, path.Child("resources"), errors);
  ValidateResizePolicy(context, container, path.Child("resizePolicy"), errors);
  if (container.security_context != nullptr) {
    const Path security = path.Child("securityContext");
    const Str* const mount = container.security_context->proc_mount;
    if (mount != nullptr && *mount == "Unmasked" && context.host_users) {
      errors.Invalid(
          security.Child("procMount"), *mount, "`hostUsers` must be false to use `Unmasked`");
    }
    ValidateSecurityContext(*container.security_context, security, errors);
  }
}

void ValidateImageSpace(const Container& container, const Path& path, FieldErrors& errors) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  if (!container.image.empty() && (kSpace.find(container.image.front()) != Str::npos ||
                                   kSpace.find(container.image.back()) != Str::npos)) {
    errors.Invalid(
        path.Child("image"), container.image, "must not have leading or trailing whitespace");
  }
}

void ValidateRestartRules(const ContainerContext& context,
                          const Container& container,
                          const Path& path,
                          FieldErrors& errors) {
  constexpr std::array<std::string_view, 3> kPolicies = {"Always", "Never", "OnFailure"};
  constexpr std::array<std::string_view, 2> kActions = {"Restart", "RestartAllContainers"};
  constexpr std::array<std::string_view, 2> kOperators = {"In", "NotIn"};
  constexpr std::size_t kMaxRules = 20;
  constexpr std::size_t kMaxCodes = 255;
  const bool all = context.rules.gates.Enabled("RestartAllContainersOnContainerExits");
  const std::span<const std::string_view> actions(kActions.data(), all ? 2 : 1);
  if (container.restart_policy == nullptr) {
    if (!container.restart_policy_rules.empty()) {
      errors.Required(path.Child("restartPolicy"),
                      "must specify restartPolicy when restart rules are used");
    }
  } else if (!In(kPolicies, *container.restart_policy)) {
    errors.NotSupported(path.Child("restartPolicy"), *container.restart_policy, kPolicies);
  }
  const Path rules = path.Child("restartPolicyRules");
  if (container.restart_policy_rules.size() > kMaxRules) {
    errors.TooMany(rules, container.restart_policy_rules.size(), kMaxRules);
  }
  for (std::size_t i = 0; i < container.restart_policy_rules.size(); ++i) {
    const ContainerRestartRule& rule = container.restart_policy_rules[i];
    const Path at = rules.Index(i);
    const Path codes = at.Child("exitCodes");
    if (std::ranges::find(actions, rule.action) == actions.end()) {
      errors.NotSupported(at.Child("action"), rule.action, actions);
    }
    if (rule.exit_codes == nullptr) {
      errors.Required(codes, "must be specified");
      continue;
    }
    if (!In(kOperators, rule.exit_codes->operator_)) {
      errors.NotSupported(codes.Child("operator"), rule.exit_codes->operator_, kOperators);
    }
    if (rule.exit_codes->values.size() > kMaxCodes) {
      errors.TooMany(codes.Child("values"), rule.exit_codes->values.size(), kMaxCodes);
    }
  }
}

/// Reports host ports that two of the containers want.
void ValidateHostPorts(std::span<const Container> containers,
                       const Path& path,
                       FieldErrors& errors) {
  std::set<std::string> taken;
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const Path container = path.Index(i);
    for (std::size_t j = 0; j < containers[i].ports.size(); ++j) {
      const ContainerPort& port = containers[i].ports[j];
      if (port.host_port == 0) {
        continue;
      }
      const std::string key = fmt::format("{}/{}/{}", port.protocol, port.host_ip, port.host_port);
      if (!taken.insert(key).second) {
        const Path at = container.Item("ports", j);
        errors.Duplicate(at.Child("hostPort"), key);
      }
    }
  }
}

void ValidateRegular(const ContainerContext& context, const Path& path, FieldErrors& errors) {
  const List<Container>& containers = context.spec.containers;
  if (containers.empty()) {
    errors.Required(path);
    return;
  }
  std::set<Str> names;
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const Container& container = containers[i];
    const Path at = path.Index(i);
    ValidateCommon(context, container, at, errors);
    if (!names.insert(container.name).second) {
      errors.Duplicate(at.Child("name"), container.name);
    }
    if (container.lifecycle != nullptr) {
      ValidateLifecycle(*container.lifecycle, context.spec, at.Child("lifecycle"), errors);
    }
    ValidateProbes(container, context.spec, at, errors);
    ValidateRestartRules(context, container, at, errors);
  }
  ValidateHostPorts({containers.begin(), containers.end()}, path, errors);
}

void ValidateInitContainer(const ContainerContext& context,
                           const Container& container,
                           const Path& path,
                           FieldErrors& errors) {
  const bool restartable = IsRestartable(container);
  if (restartable && !context.rules.gates.Enabled("RestartAllContainersOnContainerExits")) {
    if (!container.restart_policy_rules.empty()) {
      errors.Forbidden(
          path.Child("restartPolicyRules"),
          "restartPolicyRules are not allowed for init containers with restart policy Always");
    }
  } else if (container.restart_policy != nullptr) {
    ValidateRestartRules(context, container, path, errors);
  } else if (!container.restart_policy_rules.empty()) {
    errors.Required(path.Child("restartPolicy"),
                    "must specify restartPolicy when restart rules are used");
  }
  if (restartable) {
    if (container.lifecycle != nullptr) {
      ValidateLifecycle(*container.lifecycle, context.spec, path.Child("lifecycle"), errors);
    }
    ValidateProbes(container, context.spec, path, errors);
    return;
  }
  const auto forbid = [&](bool set, std::string_view name) {
    if (set) {
      errors.Forbidden(path.Child(name),
                       "may not be set for init containers without restartPolicy=Always");
    }
  };
  forbid(container.lifecycle != nullptr, "lifecycle");
  forbid(container.liveness_probe != nullptr, "livenessProbe");
  forbid(container.readiness_probe != nullptr, "readinessProbe");
  forbid(container.startup_probe != nullptr, "startupProbe");
  for (std::size_t i = 0; i < container.resize_policy.size(); ++i) {
    if (container.resize_policy[i].restart_policy == "RestartContainer") {
      const Path policy = path.Item("resizePolicy", i);
      errors.Invalid(policy.Child("restartPolicy"),
                     "RestartContainer",
                     "must not be set to 'RestartContainer' for non-sidecar initContainers");
    }
  }
}

void ValidateInit(const ContainerContext& context, const Path& path, FieldErrors& errors) {
  std::set<Str> names;
  for (const Container& container : context.spec.containers) {
    names.insert(container.name);
  }
  for (std::size_t i = 0; i < context.spec.init_containers.size(); ++i) {
    const Container& container = context.spec.init_containers[i];
    const Path at = path.Index(i);
    ValidateCommon(context, container, at, errors);
    if (!container.name.empty() && !names.insert(container.name).second) {
      errors.Duplicate(at.Child("name"), container.name);
    }
    ValidateHostPorts({&container, 1}, path, errors);
    ValidateInitContainer(context, container, at, errors);
  }
}

/// Fields an ephemeral container may not have, by name, in order.
void ForbidEphemeralFields(const Container& container, const Path& path, FieldErrors& errors) {
  const auto forbid = [&](bool set, std::string_view name) {
    if (set) {
      errors.Forbidden(path.Child(name), "cannot be set for an Ephemeral Container");
    }
  };
  const ResourceRequirements& resources = container.resources;
  forbid(!container.ports.empty(), "ports");
  forbid(!resources.limits.empty() || !resources.requests.empty() || !resources.claims.empty(),
         "resources");
  forbid(!container.resize_policy.empty(), "resizePolicy");
  forbid(container.restart_policy != nullptr, "restartPolicy");
  forbid(!container.restart_policy_rules.empty(), "restartPolicyRules");
  forbid(container.liveness_probe != nullptr, "livenessProbe");
  forbid(container.readiness_probe != nullptr, "readinessProbe");
  forbid(container.startup_probe != nullptr, "startupProbe");
  forbid(container.lifecycle != nullptr, "lifecycle");
  for (std::size_t i = 0; i < container.volume_mounts.size(); ++i) {
    const Path mount = path.Item("volumeMounts", i);
    const auto forbid_path = [&](bool set, std::string_view name) {
      if (set) {
        errors.Forbidden(mount.Child(name), "cannot be set for an Ephemeral Container");
      }
    };
    forbid_path(!container.volume_mounts[i].sub_path.empty(), "subPath");
    forbid_path(!container.volume_mounts[i].sub_path_expr.empty(), "subPathExpr");
  }
}

void ValidateEphemeral(const ContainerContext& context, const Path& path, FieldErrors& errors) {
  std::set<Str> others;
  for (const auto& containers : {context.spec.containers, context.spec.init_containers}) {
    for (const Container& container : containers) {
      others.insert(container.name);
    }
  }
  std::set<Str> names = others;
  for (std::size_t i = 0; i < context.spec.ephemeral_containers.size(); ++i) {
    const EphemeralContainer& ephemeral = context.spec.ephemeral_containers[i];
    // The two types have the same fields, so that one rule serves both.
    const auto container = std::bit_cast<Container>(ephemeral.ephemeral_container_common);
    const Path at = path.Index(i);
    ValidateCommon(context, container, at, errors);
    ValidateImageSpace(container, at, errors);
    if (!names.insert(container.name).second) {
      errors.Duplicate(at.Child("name"), container.name);
    }
    if (!ephemeral.target_container_name.empty() &&
        !others.contains(ephemeral.target_container_name)) {
      errors.NotFound(at.Child("targetContainerName"), ephemeral.target_container_name);
    }
    ForbidEphemeralFields(container, at, errors);
  }
}

}  // namespace

void ValidateContainers(const PodRules& rules,
                        const PodSpec& spec,
                        const MountableVolumes& volumes,
                        const Path& path,
                        FieldErrors& errors) {
  const ContainerContext context = {.rules = rules,
                                    .spec = spec,
                                    .volumes = volumes,
                                    .host_users = spec.host_users == nullptr || *spec.host_users};
  ValidateRegular(context, path.Child("containers"), errors);
  ValidateInit(context, path.Child("initContainers"), errors);
  ValidateEphemeral(context, path.Child("ephemeralContainers"), errors);
}

void ValidateImages(const PodSpec& spec, const Path& path, FieldErrors& errors) {
  for (std::size_t i = 0; i < spec.containers.size(); ++i) {
    ValidateImageSpace(spec.containers[i], path.Item("containers", i), errors);
  }
  for (std::size_t i = 0; i < spec.init_containers.size(); ++i) {
    ValidateImageSpace(spec.init_containers[i], path.Item("initContainers", i), errors);
  }
}

}  // namespace allot::api::core
