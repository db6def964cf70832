// Pods: defaults, preparation, create and update of the object itself.
#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include <fmt/format.h>

#include "api/core/internal_form.h"
#include "api/core/pod_resources.h"
#include "api/core/pod_warnings.h"
#include "api/core/rules.h"
#include "api/core/strategies.h"
#include "api/go_value.h"
#include "api/layout.h"
#include "api/names.h"
#include "api/strategy_of.h"

namespace allot::api::core {

using quantity::Quantity;
using schema::Editor;
using schema::List;
using schema::Map;
using schema::Str;

namespace {

constexpr std::string_view kMirrorPod = "kubernetes.io/config.mirror";
constexpr std::string_view kAppArmorPrefix = "container.apparmor.security.beta.kubernetes.io/";
constexpr std::string_view kDeletionCost = "controller.kubernetes.io/pod-deletion-cost";

// --- defaults ---

/// A container that has a limit and no request for a resource requests its limit.
void RequestsFromLimits(List<Container>& containers, Editor editor) {
  const auto missing = [](const Container& container) {
    return std::ranges::any_of(container.resources.limits, [&](const auto& entry) {
      return container.resources.requests.Find(entry.key) == nullptr;
    });
  };
  if (std::ranges::none_of(containers, missing)) {
    return;
  }
  Container* const items = editor.MutableList(containers);
  for (std::size_t i = 0; i < containers.size(); ++i) {
    for (const auto& [name, amount] : items[i].resources.limits) {
      if (items[i].resources.requests.Find(name) == nullptr) {
        editor.Put(items[i].resources.requests, name, amount);
      }
    }
  }
}

void HostPortsFromContainerPorts(List<Container>& containers, Editor editor) {
  if (containers.empty()) {
    return;
  }
  Container* const items = editor.MutableList(containers);
  for (std::size_t i = 0; i < containers.size(); ++i) {
    if (items[i].ports.empty()) {
      continue;  // stays absent
    }
    ContainerPort* const ports = editor.MutableList(items[i].ports);
    for (std::size_t j = 0; j < items[i].ports.size(); ++j) {
      ports[j].host_port = ports[j].host_port == 0 ? ports[j].container_port : ports[j].host_port;
    }
  }
}

void DefaultPodIps(PodStatus& status, Editor editor) {
  if (status.pod_ip.empty() && !status.pod_ips.empty()) {
    status.pod_ip = status.pod_ips[0].ip;
  } else if (!status.pod_ip.empty() &&
             (status.pod_ips.empty() || status.pod_ips[0].ip != status.pod_ip)) {
    status.pod_ips = {};
    editor.Append(status.pod_ips, PodIP{.ip = status.pod_ip});
  }
}

void Default(const StrategyContext& context, Pod& pod, Editor editor) {
  DefaultPodSpec(pod.spec, editor);
  if (*pod.spec.termination_grace_period_seconds < 0) {
    editor.Set(pod.spec.termination_grace_period_seconds, 1);
  }
  RequestsFromLimits(pod.spec.containers, editor);
  RequestsFromLimits(pod.spec.init_containers, editor);
  if (!context.gates.Enabled(Gate::kPodLevelResourcesFixDefaulting)) {
    DefaultPodLevelResources(pod.spec, editor);
  }
  if (pod.spec.enable_service_links == nullptr) {
    editor.Set(pod.spec.enable_service_links, true);
  }
  if (pod.spec.host_network) {
    HostPortsFromContainerPorts(pod.spec.containers, editor);
    HostPortsFromContainerPorts(pod.spec.init_containers, editor);
  }
  DefaultPodIps(pod.status, editor);
}

// --- preparation ---

/// Turns the label keys of a term into requirements with the pod's own values.
void ApplyLabelKeys(const meta::LabelSelector*& selector,
                    const List<Str>& keys,
                    Str op,
                    const Map<Str>& labels,
                    Editor editor) {
  if (selector == nullptr || keys.empty()) {
    return;
  }
  meta::LabelSelector& mutable_selector = editor.Mutable(selector);
  for (const Str key : keys) {
    if (const Str* const value = labels.Find(key); value != nullptr) {
      meta::LabelSelectorRequirement requirement = {.key = key, .operator_ = op};
      editor.Append(requirement.values, *value);
      editor.Append(mutable_selector.match_expressions, requirement);
    }
  }
}

void ApplyLabelKeys(PodAffinityTerm& term, const Map<Str>& labels, Editor editor) {
  ApplyLabelKeys(term.label_selector, term.match_label_keys, "In", labels, editor);
  ApplyLabelKeys(term.label_selector, term.mismatch_label_keys, "NotIn", labels, editor);
}

template <typename PodAffinityKind>
void ApplyLabelKeys(const PodAffinityKind*& pointer, const Map<Str>& labels, Editor editor) {
  if (pointer == nullptr) {
    return;
  }
  PodAffinityKind& affinity = editor.Mutable(pointer);
  auto* const required =
      editor.MutableList(affinity.required_during_scheduling_ignored_during_execution);
  for (std::size_t i = 0; i < affinity.required_during_scheduling_ignored_during_execution.size();
       ++i) {
    ApplyLabelKeys(required[i], labels, editor);
  }
  auto* const preferred =
      editor.MutableList(affinity.preferred_during_scheduling_ignored_during_execution);
  for (std::size_t i = 0; i < affinity.preferred_during_scheduling_ignored_during_execution.size();
       ++i) {
    ApplyLabelKeys(preferred[i].pod_affinity_term, labels, editor);
  }
}

void ApplyMatchLabelKeys(Pod& pod, Editor editor) {
  const Map<Str>& labels = pod.metadata.labels;
  if (pod.spec.affinity != nullptr) {
    Affinity& affinity = editor.Mutable(pod.spec.affinity);
    ApplyLabelKeys(affinity.pod_affinity, labels, editor);
    ApplyLabelKeys(affinity.pod_anti_affinity, labels, editor);
  }
  if (!pod.spec.topology_spread_constraints.empty()) {
    auto* const constraints = editor.MutableList(pod.spec.topology_spread_constraints);
    for (std::size_t i = 0; i < pod.spec.topology_spread_constraints.size(); ++i) {
      ApplyLabelKeys(
          constraints[i].label_selector, constraints[i].match_label_keys, "In", labels, editor);
    }
  }
}

template <typename Containers>
bool IsJustStopSignal(const Containers& containers) {
  return std::ranges::any_of(containers, [](const auto& container) {
    return container.lifecycle != nullptr && container.lifecycle->stop_signal != nullptr &&
           container.lifecycle->post_start == nullptr && container.lifecycle->pre_stop == nullptr;
  });
}

/// A lifecycle goes with its last member.
template <typename Containers>
void DropJustStopSignals(Containers& containers, Editor editor) {
  if (!IsJustStopSignal(containers)) {
    return;
  }
  auto* const items = editor.MutableList(containers);
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const Lifecycle* const lifecycle = items[i].lifecycle;
    if (lifecycle != nullptr && lifecycle->stop_signal != nullptr &&
        lifecycle->post_start == nullptr && lifecycle->pre_stop == nullptr) {
      items[i].lifecycle = nullptr;
    }
  }
}

void PrepareForCreate(const StrategyContext& context, Pod& pod, Editor editor) {
  if (!context.gates.Enabled(Gate::kContainerStopSignals)) {
    DropJustStopSignals(pod.spec.containers, editor);
    DropJustStopSignals(pod.spec.init_containers, editor);
  }
  pod.metadata.generation = 1;
  pod.status = {};
  pod.status.phase = "Pending";
  DropDisabled<Pod>(context, pod, nullptr, editor);
  if (!pod.spec.scheduling_gates.empty()) {
    quantity::Time seconds = context.now;
    seconds.nanos = 0;
    editor.Append(
        pod.status.conditions,
        PodCondition{.type = "PodScheduled",
                     .status = "False",
                     .last_transition_time = seconds,
                     .reason = "SchedulingGated",
                     .message = "Scheduling is blocked due to non-empty scheduling gates"});
  }
  ApplyMatchLabelKeys(pod, editor);
  if (context.gates.Enabled(Gate::kPodLevelResourcesFixDefaulting)) {
    DefaultPodLevelResources(pod.spec, editor);
  }
  pod.status.qos_class = QosClass(pod.spec);
}

void BumpGeneration(Pod& next, const Pod& old) {
  next.metadata.generation =
      Same(next.spec, old.spec) ? old.metadata.generation : old.metadata.generation + 1;
}

void PrepareForUpdate(const StrategyContext& context, Pod& next, const Pod& old, Editor editor) {
  next.status = old.status;
  if (next.spec.resources == nullptr) {
    next.spec.resources = old.spec.resources;  // left out by clients that do not know it
  }
  DropDisabled(context, next, &old, editor);
  BumpGeneration(next, old);
}

/// The condition's observedGeneration is kept where the writer left it out.
void KeepObservedGenerations(PodStatus& next, const PodStatus& old, Editor editor) {
  if (next.observed_generation == 0) {
    next.observed_generation = old.observed_generation;
  }
  const auto kept = [&](const PodCondition& condition) {
    const auto* const at = std::ranges::find(old.conditions, condition.type, &PodCondition::type);
    return at != old.conditions.end() ? at->observed_generation : 0;
  };
  const auto lost = [&](const PodCondition& condition) {
    return condition.observed_generation == 0 && kept(condition) != 0;
  };
  if (std::ranges::none_of(next.conditions, lost)) {
    return;
  }
  PodCondition* const conditions = editor.MutableList(next.conditions);
  for (std::size_t i = 0; i < next.conditions.size(); ++i) {
    if (lost(conditions[i])) {
      conditions[i].observed_generation = kept(conditions[i]);
    }
  }
}

void PrepareForStatusUpdate(const StrategyContext& context,
                            Pod& next,
                            const Pod& old,
                            Editor editor) {
  next.spec = old.spec;
  next.metadata.deletion_timestamp = old.metadata.deletion_timestamp;
  next.metadata.owner_references = old.metadata.owner_references;
  next.metadata.generation = old.metadata.generation;
  if (next.status.qos_class.empty()) {
    next.status.qos_class = old.status.qos_class;
  }
  // Left out by writers that do not know them; an empty list does clear them.
  if (next.status.resource_claim_statuses.items == nullptr) {
    next.status.resource_claim_statuses = old.status.resource_claim_statuses;
  }
  if (next.status.extended_resource_claim_status == nullptr) {
    next.status.extended_resource_claim_status = old.status.extended_resource_claim_status;
  }
  if (next.status.node_allocatable_resource_claim_statuses.items == nullptr) {
    next.status.node_allocatable_resource_claim_statuses =
        old.status.node_allocatable_resource_claim_statuses;
  }
  KeepObservedGenerations(next.status, old.status, editor);
  DropDisabled(context, next, &old, editor);
}

void PrepareForEphemeralUpdate(const StrategyContext& context,
                               Pod& next,
                               const Pod& old,
                               Editor editor) {
  const auto ephemeral = next.spec.ephemeral_containers;
  next.spec = old.spec;
  next.status = old.status;
  next.spec.ephemeral_containers = ephemeral;
  KeepObjectMeta(next.metadata, old.metadata);
  DropDisabled(context, next, &old, editor);
  BumpGeneration(next, old);
}

/// Keeps of the new containers what a resize may change.
void KeepResizable(List<Container>& next, const List<Container>& old, Editor editor) {
  const List<Container> wanted = next;
  next = old;
  Container* const items = editor.MutableList(next);
  for (std::size_t i = 0; i < next.size(); ++i) {
    const auto* const at = std::ranges::find(wanted, items[i].name, &Container::name);
    if (at != wanted.end()) {
      items[i].resources = at->resources;
      items[i].resize_policy = at->resize_policy;
    }
  }
}

void PrepareForResize(const StrategyContext& context, Pod& next, const Pod& old, Editor editor) {
  PodSpec spec = old.spec;
  spec.containers = next.spec.containers;
  spec.init_containers = next.spec.init_containers;
  KeepResizable(spec.containers, old.spec.containers, editor);
  KeepResizable(spec.init_containers, old.spec.init_containers, editor);
  spec.resources = next.spec.resources != nullptr ? next.spec.resources : old.spec.resources;
  next.spec = spec;
  next.status = old.status;
  KeepObjectMeta(next.metadata, old.metadata);
  DefaultPodLevelResources(next.spec, editor);
  DropDisabled(context, next, &old, editor);
  BumpGeneration(next, old);
}

// --- validation ---

void ValidateAnnotationsOfPod(const Pod& pod, const Path& path, FieldErrors& errors) {
  const Map<Str>& annotations = pod.metadata.annotations;
  if (const Str* const mirror = annotations.Find(kMirrorPod);
      mirror != nullptr && pod.spec.node_name.empty()) {
    errors.Invalid(
        path.Key(kMirrorPod), *mirror, "must set spec.nodeName if mirror pod annotation is set");
  }
  if (const Str* const cost = annotations.Find(kDeletionCost); cost != nullptr) {
    std::int32_t value = 0;
    const auto [end, error] = std::from_chars(cost->data(), cost->data() + cost->size(), value);
    const bool zero_padded =
        cost->size() > 1 && (cost->starts_with('0') || cost->starts_with("-0"));
    if (error != std::errc() || end != cost->data() + cost->size() || zero_padded) {
      errors.Invalid(path.Key(kDeletionCost), *cost, "must be a 32bit integer");
    }
  }
}

void ValidateAnnotationUpdate(const Pod& next,
                              const Pod& old,
                              const Path& path,
                              FieldErrors& errors) {
  for (const auto& [key, value] : old.metadata.annotations) {
    const Str* const now = next.metadata.annotations.Find(key);
    if (now != nullptr && *now == value) {
      continue;
    }
    if (key.starts_with(kAppArmorPrefix)) {
      errors.Forbidden(path.Key(key), "may not remove or update AppArmor annotations");
    } else if (key == kMirrorPod) {
      errors.Forbidden(path.Key(key), "may not remove or update mirror pod annotation");
    }
  }
  for (const auto& [key, value] : next.metadata.annotations) {
    if (old.metadata.annotations.Find(key) != nullptr) {
      continue;
    }
    if (key.starts_with(kAppArmorPrefix)) {
      errors.Forbidden(path.Key(key), "may not add AppArmor annotations");
    } else if (key == kMirrorPod) {
      errors.Forbidden(path.Key(key), "may not add mirror pod annotation");
    }
  }
}

void ValidateCreate(const StrategyContext& context, const Pod& pod, Report& report) {
  ValidatePod(context, pod, report.hand);
  const Path spec("spec");
  if (!pod.spec.ephemeral_containers.empty()) {
    report.hand.Forbidden(spec.Child("ephemeralContainers"), "cannot be set on create");
  }
  if (!pod.spec.node_name.empty() && !pod.spec.scheduling_gates.empty()) {
    report.hand.Forbidden(spec.Child("nodeName"),
                          "cannot be set until all schedulingGates have been cleared");
  }
}

/// Answers false when nothing more is worth saying.
bool ValidateContainerUpdate(const List<Container>& next,
                             const List<Container>& old,
                             const Path& path,
                             FieldErrors& errors) {
  if (next.size() != old.size()) {
    errors.Forbidden(path, "pod updates may not add or remove containers");
    return false;
  }
  return true;
}

bool ValidateDeadlineUpdate(const PodSpec& next,
                            const PodSpec& old,
                            const Path& path,
                            FieldErrors& errors) {
  const std::int64_t* const now = next.active_deadline_seconds;
  const std::int64_t* const before = old.active_deadline_seconds;
  if (now == nullptr) {
    if (before != nullptr) {
      errors.Invalid(
          path, BadValue::Null(), "must not update from a positive integer to nil value");
    }
    return true;
  }
  if (*now < 0) {
    errors.InvalidAll(path, *now, RangeProblems(*now, 0, INT32_MAX));
    return false;
  }
  if (before != nullptr && *before < *now) {
    errors.Invalid(path, *now, "must be less than or equal to previous value");
    return false;
  }
  return true;
}

void ValidateTolerationUpdate(const List<Toleration>& next,
                              const List<Toleration>& old,
                              const Path& path,
                              FieldErrors& errors) {
  const auto same = [](const Toleration& a, const Toleration& b) {
    return a.key == b.key && a.operator_ == b.operator_ && a.value == b.value &&
           a.effect == b.effect;
  };
  for (const Toleration& toleration : old) {
    if (std::ranges::none_of(next,
                             [&](const Toleration& other) { return same(other, toleration); })) {
      errors.Forbidden(path,
                       "existing toleration can not be modified except its tolerationSeconds");
      return;
    }
  }
}

void ValidateGateUpdate(const List<PodSchedulingGate>& next,
                        const List<PodSchedulingGate>& old,
                        const Path& path,
                        FieldErrors& errors) {
  for (std::size_t i = 0; i < next.size(); ++i) {
    if (std::ranges::find(old, next[i].name, &PodSchedulingGate::name) == old.end()) {
      const Path at = path.Index(i);
      errors.Forbidden(at.Child("name"),
                       fmt::format("only deletion is allowed, but found new scheduling gate '{}'",
                                   next[i].name));
    }
  }
}

template <typename T>
bool StartsWith(const List<T>& next, const List<T>& old) {
  return next.size() >= old.size() &&
         SameList(List<T>{.items = next.items, .count = old.count}, old);
}

bool OnlyAdds(const NodeSelectorTerm& next, const NodeSelectorTerm& old) {
  if (old.match_expressions.empty() && old.match_fields.empty()) {
    return next.match_expressions.empty() && next.match_fields.empty();
  }
  return StartsWith(next.match_expressions, old.match_expressions) &&
         StartsWith(next.match_fields, old.match_fields);
}

void ValidateNodeAffinityUpdate(const NodeAffinity* next,
                                const NodeAffinity* old,
                                const Path& path,
                                FieldErrors& errors) {
  if (old == nullptr || old->required_during_scheduling_ignored_during_execution == nullptr) {
    return;
  }
  const auto& before =
      old->required_during_scheduling_ignored_during_execution->node_selector_terms;
  List<NodeSelectorTerm> now;
  if (next != nullptr && next->required_during_scheduling_ignored_during_execution != nullptr) {
    now = next->required_during_scheduling_ignored_during_execution->node_selector_terms;
  }
  const Path required = path.Child("requiredDuringSchedulingIgnoredDuringExecution");
  const Path terms = required.Child("nodeSelectorTerms");
  if (!before.empty() && before.size() != now.size()) {
    errors.Invalid(terms,
                   GoValues(Desc<NodeSelectorTerm>(), now.items, now.size()),
                   "no additions/deletions to non-empty NodeSelectorTerms list are allowed");
    return;
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!OnlyAdds(now[i], before[i])) {
      errors.Invalid(terms.Index(i),
                     GoValue(Desc<NodeSelectorTerm>(), &now[i]),
                     "only additions are allowed (no mutations or deletions)");
    }
  }
}

/// A pod behind scheduling gates may still narrow where it runs. Takes what it may change out of
/// `spec`.
void ValidateGatedUpdate(
    PodSpec& spec, const PodSpec& old, Editor editor, const Path& path, FieldErrors& errors) {
  const bool kept = std::ranges::all_of(old.node_selector, [&](const auto& entry) {
    const Str* const now = spec.node_selector.Find(entry.key);
    return now != nullptr && *now == entry.value;
  });
  if (!kept) {
    PodSpec shown;
    shown.node_selector = spec.node_selector;
    std::string json = "{";
    for (const auto& [key, value] : spec.node_selector) {
      json += fmt::format("{}{}:{}", json.size() > 1 ? "," : "", Quote(key), Quote(value));
    }
    errors.Invalid(path.Child("nodeSelector"),
                   BadValue::Raw(json + "}"),
                   "only additions to spec.nodeSelector are allowed (no mutations or deletions)");
  }
  spec.node_selector = old.node_selector;
  const NodeAffinity* const next_affinity =
      spec.affinity != nullptr ? spec.affinity->node_affinity : nullptr;
  const NodeAffinity* const old_affinity =
      old.affinity != nullptr ? old.affinity->node_affinity : nullptr;
  const Path affinity = path.Child("affinity");
  ValidateNodeAffinityUpdate(next_affinity, old_affinity, affinity.Child("nodeAffinity"), errors);
  if (next_affinity == nullptr && old_affinity == nullptr) {
    return;
  }
  Affinity& munged = editor.Mutable(spec.affinity);
  munged.node_affinity = old_affinity;
  if (old.affinity == nullptr && munged.pod_affinity == nullptr &&
      munged.pod_anti_affinity == nullptr) {
    spec.affinity = nullptr;
  }
}

/// Everything but images, deadline, tolerations and gates must stay.
void ValidateImmutableSpec(const Pod& next, const Pod& old, const Path& path, FieldErrors& errors) {
  if (Same(next.spec, old.spec)) {
    return;
  }
  base::Arena arena;
  const Editor editor(arena);
  PodSpec spec = next.spec;
  const auto keep_images = [&](List<Container>& containers, const List<Container>& stored) {
    if (containers.empty()) {
      containers = {};
      return;
    }
    Container* const items = Editor(editor).MutableList(containers);
    for (std::size_t i = 0; i < containers.size(); ++i) {
      items[i].image = stored[i].image;
    }
  };
  keep_images(spec.containers, old.spec.containers);
  keep_images(spec.init_containers, old.spec.init_containers);
  spec.active_deadline_seconds = old.spec.active_deadline_seconds;
  spec.scheduling_gates = old.spec.scheduling_gates;
  spec.tolerations = old.spec.tolerations;
  const std::int64_t* const grace = old.spec.termination_grace_period_seconds;
  if (grace != nullptr && *grace < 0 && spec.termination_grace_period_seconds != nullptr &&
      *spec.termination_grace_period_seconds == 1) {
    spec.termination_grace_period_seconds = grace;
  }
  if (!old.spec.scheduling_gates.empty()) {
    ValidateGatedUpdate(spec, old.spec, editor, path, errors);
  }
  if (Same(spec, old.spec)) {
    return;
  }
  errors.Forbidden(
      path,
      fmt::format(
          "pod updates may not change fields other than `spec.containers[*].image`,"
          "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
          "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be "
          "set to 1 if it was previously negative)\n{}",
          InternalDiff(Desc<PodSpec>(), &old.spec, &spec)));
}

void ValidateUpdate(const StrategyContext& context,
                    const Pod& next,
                    const Pod& old,
                    Report& report) {
  FieldErrors& errors = report.hand;
  const Path metadata("metadata");
  ValidateObjectMetaUpdate(next.metadata, old.metadata, metadata, errors);
  ValidatePod(context, next, errors);
  ValidateAnnotationUpdate(next, old, metadata.Child("annotations"), errors);
  const Path spec("spec");
  if (!ValidateContainerUpdate(
          next.spec.containers, old.spec.containers, spec.Child("containers"), errors) ||
      !ValidateContainerUpdate(next.spec.init_containers,
                               old.spec.init_containers,
                               spec.Child("initContainers"),
                               errors) ||
      !ValidateDeadlineUpdate(next.spec, old.spec, spec.Child("activeDeadlineSeconds"), errors)) {
    return;
  }
  ValidateTolerationUpdate(
      next.spec.tolerations, old.spec.tolerations, spec.Child("tolerations"), errors);
  ValidateGateUpdate(
      next.spec.scheduling_gates, old.spec.scheduling_gates, spec.Child("schedulingGates"), errors);
  ValidateImmutableSpec(next, old, spec, errors);
}

void Warnings(const void* root, const void* old, std::vector<std::string>& out) {
  const auto& pod = *static_cast<const Pod*>(root);
  if (old == nullptr) {
    if (const Problems problems = DnsLabelProblems(pod.metadata.name); !problems.empty()) {
      out.push_back(fmt::format(
          "metadata.name: this is used in the Pod's hostname, which can result in surprising "
          "behavior; a DNS label is recommended: [{}]",
          fmt::join(problems, " ")));
    }
    WarnOfPod(pod, out);
  }
}

constexpr std::array<UpdateRules, 4> kUpdates = {{
    {"", &Erased<Pod, PrepareForUpdate>, &Erased<Pod, ValidateUpdate>},
    {"status", &Erased<Pod, PrepareForStatusUpdate>, &Erased<Pod, ValidatePodStatusUpdate>},
    {"resize", &Erased<Pod, PrepareForResize>, &Erased<Pod, ValidatePodResize>},
    {"ephemeralcontainers",
     &Erased<Pod, PrepareForEphemeralUpdate>,
     &Erased<Pod, ValidateEphemeralContainersUpdate>},
}};

}  // namespace

void ValidatePod(const StrategyContext& context, const Pod& pod, FieldErrors& errors) {
  const Path metadata("metadata");
  const Path spec("spec");
  ValidateObjectMeta(pod.metadata, Scope::kNamespaced, NameRule::kDnsSubdomain, metadata, errors);
  ValidateAnnotationsOfPod(pod, metadata.Child("annotations"), errors);
  ValidatePodSpec({.gates = context.gates, .metadata = &pod.metadata}, pod.spec, spec, errors);
  for (std::size_t i = 0; pod.spec.service_account_name.empty() && i < pod.spec.volumes.size();
       ++i) {
    const ProjectedVolumeSource* const projected = pod.spec.volumes[i].volume_source.projected;
    if (projected == nullptr) {
      continue;
    }
    const Path volume = spec.Item("volumes", i);
    const Path at = volume.Child("projected");
    for (std::size_t j = 0; j < projected->sources.size(); ++j) {
      if (projected->sources[j].service_account_token != nullptr) {
        const Path source = at.Item("sources", j);
        errors.Forbidden(source.Child("serviceAccountToken"),
                         "must not be specified when serviceAccountName is not set");
      }
    }
  }
  if (pod.spec.termination_grace_period_seconds != nullptr &&
      *pod.spec.termination_grace_period_seconds < 0) {
    errors.Invalid(spec.Child("terminationGracePeriodSeconds"),
                   *pod.spec.termination_grace_period_seconds,
                   "must be greater than or equal to 0");
  }
  ValidateImages(pod.spec, spec, errors);
}

const Strategy kPodStrategy = {
    .type = &kPodDesc,
    .answers_deleted_object = true,
    .has_generation = true,
    .metadata_offset = offsetof(Pod, metadata),
    .apply_defaults = &Erased<Pod, Default>,
    .prepare_for_create = &Erased<Pod, PrepareForCreate>,
    .validate_create = &Erased<Pod, ValidateCreate>,
    .updates = kUpdates,
    .warnings = &Warnings,
};

}  // namespace allot::api::core
