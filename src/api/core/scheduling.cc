// Where pods may run: node selectors, affinity, tolerations, spreading.
#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string>

#include <fmt/format.h>

#include "api/core/rules.h"
#include "api/go_value.h"
#include "api/names.h"
#include "api/object_meta.h"

namespace allot::api::core {

using schema::List;
using schema::Str;

namespace {

constexpr std::string_view kNotAnOperator = "not a valid selector operator";

void ValidateRequirement(const NodeSelectorRequirement& requirement,
                         bool check_values,
                         const Path& path,
                         FieldErrors& errors) {
  const Str op = requirement.operator_;
  const Path values = path.Child("values");
  if (op == "In" || op == "NotIn") {
    if (requirement.values.empty()) {
      errors.Required(values, "must be specified when `operator` is 'In' or 'NotIn'");
    }
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (!requirement.values.empty()) {
      errors.Forbidden(values,
                       "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    }
  } else if (op == "Gt" || op == "Lt") {
    if (requirement.values.size() != 1) {
      errors.Required(values, "must be specified single value when `operator` is 'Lt' or 'Gt'");
    }
  } else {
    errors.Invalid(path.Child("operator"), op, kNotAnOperator);
  }
  errors.InvalidAll(path.Child("key"), requirement.key, QualifiedNameProblems(requirement.key));
  for (std::size_t i = 0; check_values && i < requirement.values.size(); ++i) {
    errors.InvalidAll(
        values.Index(i), requirement.values[i], LabelValueProblems(requirement.values[i]));
  }
}

void ValidateFieldRequirement(const NodeSelectorRequirement& requirement,
                              const Path& path,
                              FieldErrors& errors) {
  const Path values = path.Child("values");
  if (requirement.operator_ == "In" || requirement.operator_ == "NotIn") {
    if (requirement.values.size() != 1) {
      errors.Required(
          values,
          "must be only one value when `operator` is 'In' or 'NotIn' for node field selector");
    }
  } else {
    errors.Invalid(path.Child("operator"), requirement.operator_, kNotAnOperator);
  }
  if (requirement.key != "metadata.name") {
    errors.Invalid(path.Child("key"), requirement.key, "not a valid field selector key");
    return;
  }
  for (std::size_t i = 0; i < requirement.values.size(); ++i) {
    errors.InvalidAll(
        values.Index(i), requirement.values[i], DnsSubdomainProblems(requirement.values[i]));
  }
}

void ValidateTerm(const NodeSelectorTerm& term,
                  bool check_values,
                  const Path& path,
                  FieldErrors& errors) {
  for (std::size_t i = 0; i < term.match_expressions.size(); ++i) {
    ValidateRequirement(
        term.match_expressions[i], check_values, path.Item("matchExpressions", i), errors);
  }
  for (std::size_t i = 0; i < term.match_fields.size(); ++i) {
    ValidateFieldRequirement(term.match_fields[i], path.Item("matchFields", i), errors);
  }
}

void ValidateTolerationValue(const Toleration& toleration, const Path& path, FieldErrors& errors) {
  const Path operator_path = path.Child("operator");
  if (toleration.operator_ == "Equal" || toleration.operator_.empty()) {
    if (const Problems problems = LabelValueProblems(toleration.value); !problems.empty()) {
      errors.Invalid(operator_path, toleration.value, fmt::format("{}", fmt::join(problems, ";")));
    }
  } else if (toleration.operator_ == "Exists") {
    if (!toleration.value.empty()) {
      errors.Invalid(
          operator_path, toleration.value, "value must be empty when `operator` is 'Exists'");
    }
  } else if (toleration.operator_ == "Lt" || toleration.operator_ == "Gt") {
    constexpr std::array<std::string_view, 4> kAll = {"Equal", "Exists", "Lt", "Gt"};
    errors.NotSupported(operator_path, toleration.operator_, kAll);
  } else {
    constexpr std::array<std::string_view, 2> kTwo = {"Equal", "Exists"};
    errors.NotSupported(operator_path, toleration.operator_, kTwo);
  }
}

void ValidateTaintEffect(Str effect, const Path& path, FieldErrors& errors) {
  constexpr std::array<std::string_view, 3> kEffects = {
      "NoSchedule", "PreferNoSchedule", "NoExecute"};
  if (std::ranges::find(kEffects, effect) == kEffects.end()) {
    errors.NotSupported(path, effect, kEffects);
  }
}

void ValidateLabelKeys(const List<Str>& keys,
                       const meta::LabelSelector* selector,
                       const Path& path,
                       FieldErrors& errors) {
  if (!keys.empty() && selector == nullptr) {
    errors.Forbidden(path, "must not be specified when labelSelector is not set");
    return;
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    errors.InvalidAll(path.Index(i), keys[i], QualifiedNameProblems(keys[i]));
  }
}

void ValidateMatchLabelKeys(const List<Str>& keys,
                            const List<Str>& mismatch,
                            const meta::LabelSelector* selector,
                            const Path& path,
                            FieldErrors& errors) {
  ValidateLabelKeys(keys, selector, path.Child("matchLabelKeys"), errors);
  ValidateLabelKeys(mismatch, selector, path.Child("mismatchLabelKeys"), errors);
  // By now the selector has a requirement made of each key; a second one was there before.
  std::set<Str> seen;
  if (selector != nullptr) {
    for (const auto& label : selector->match_labels) {
      seen.insert(label.key);
    }
    for (const meta::LabelSelectorRequirement& requirement : selector->match_expressions) {
      const auto* const key = std::ranges::find(keys, requirement.key);
      if (!seen.insert(requirement.key).second && key != keys.end()) {
        errors.Invalid(path.Index(static_cast<std::size_t>(key - keys.begin())),
                       requirement.key,
                       "exists in both matchLabelKeys and labelSelector");
      }
    }
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (std::ranges::find(mismatch, keys[i]) != mismatch.end()) {
      errors.Invalid(path.Item("matchLabelKeys", i),
                     keys[i],
                     "exists in both matchLabelKeys and mismatchLabelKeys");
    }
  }
}

void ValidatePodTerm(const PodAffinityTerm& term, const Path& path, FieldErrors& errors) {
  if (term.label_selector != nullptr) {
    ValidateLabelSelector(*term.label_selector, path.Child("labelSelector"), errors);
  }
  if (term.namespace_selector != nullptr) {
    ValidateLabelSelector(*term.namespace_selector, path.Child("namespaceSelector"), errors);
  }
  for (const Str name : term.namespaces) {
    errors.InvalidAll(path.Child("namespace"), name, DnsLabelProblems(name));
  }
  ValidateMatchLabelKeys(
      term.match_label_keys, term.mismatch_label_keys, term.label_selector, path, errors);
  const Path key = path.Child("topologyKey");
  if (term.topology_key.empty()) {
    errors.Required(key, "can not be empty");
  }
  errors.InvalidAll(key, term.topology_key, QualifiedNameProblems(term.topology_key));
}

void ValidateWeight(std::int32_t weight, const Path& path, FieldErrors& errors) {
  if (weight <= 0 || weight > 100) {
    errors.Invalid(path.Child("weight"), weight, "must be in the range 1-100");
  }
}

template <typename PodAffinityKind>
void ValidatePodTerms(const PodAffinityKind& affinity, const Path& path, FieldErrors& errors) {
  const auto& required = affinity.required_during_scheduling_ignored_during_execution;
  const auto& preferred = affinity.preferred_during_scheduling_ignored_during_execution;
  for (std::size_t i = 0; i < required.size(); ++i) {
    ValidatePodTerm(
        required[i], path.Item("requiredDuringSchedulingIgnoredDuringExecution", i), errors);
  }
  for (std::size_t i = 0; i < preferred.size(); ++i) {
    const Path at = path.Item("preferredDuringSchedulingIgnoredDuringExecution", i);
    ValidateWeight(preferred[i].weight, at, errors);
    ValidatePodTerm(preferred[i].pod_affinity_term, at.Child("podAffinityTerm"), errors);
  }
}

void ValidateInclusionPolicy(const Str* policy, const Path& path, FieldErrors& errors) {
  constexpr std::array<std::string_view, 2> kPolicies = {"Honor", "Ignore"};
  if (policy != nullptr && std::ranges::find(kPolicies, *policy) == kPolicies.end()) {
    errors.NotSupported(path, *policy, kPolicies);
  }
}

}  // namespace

void ValidateNodeSelectorTerm(const NodeSelectorTerm& term, const Path& path, FieldErrors& errors) {
  ValidateTerm(term, /*check_values=*/true, path, errors);
}

void ValidateNodeSelector(const NodeSelector& selector, const Path& path, FieldErrors& errors) {
  const Path terms = path.Child("nodeSelectorTerms");
  if (selector.node_selector_terms.empty()) {
    errors.Required(terms, "must have at least one node selector term");
    return;
  }
  for (std::size_t i = 0; i < selector.node_selector_terms.size(); ++i) {
    ValidateNodeSelectorTerm(selector.node_selector_terms[i], terms.Index(i), errors);
  }
}

void ValidateTolerations(const List<Toleration>& tolerations,
                         const Path& path,
                         FieldErrors& errors) {
  for (std::size_t i = 0; i < tolerations.size(); ++i) {
    const Toleration& toleration = tolerations[i];
    const Path at = path.Index(i);
    if (!toleration.key.empty()) {
      errors.InvalidAll(at.Child("key"), toleration.key, QualifiedNameProblems(toleration.key));
    } else if (toleration.operator_ != "Exists") {
      errors.Invalid(at.Child("operator"),
                     toleration.operator_,
                     "operator must be Exists when `key` is empty, which means \"match all values "
                     "and all keys\"");
    }
    if (toleration.toleration_seconds != nullptr && toleration.effect != "NoExecute") {
      errors.Invalid(at.Child("effect"),
                     toleration.effect,
                     "effect must be 'NoExecute' when `tolerationSeconds` is set");
    }
    ValidateTolerationValue(toleration, at, errors);
    if (!toleration.effect.empty()) {
      ValidateTaintEffect(toleration.effect, at.Child("effect"), errors);
    }
  }
}

void ValidateTaints(const List<Taint>& taints, const Path& path, FieldErrors& errors) {
  std::set<std::pair<Str, Str>> seen;
  for (std::size_t i = 0; i < taints.size(); ++i) {
    const Taint& taint = taints[i];
    const Path at = path.Index(i);
    errors.InvalidAll(at.Child("key"), taint.key, QualifiedNameProblems(taint.key));
    if (const Problems problems = LabelValueProblems(taint.value); !problems.empty()) {
      errors.Invalid(at.Child("value"), taint.value, fmt::format("{}", fmt::join(problems, ";")));
    }
    if (taint.effect.empty()) {
      errors.Required(at.Child("effect"));
    } else {
      ValidateTaintEffect(taint.effect, at.Child("effect"), errors);
    }
    if (!seen.emplace(taint.effect, taint.key).second) {
      errors.Add({ErrorType::kDuplicate,
                  at.ToString(),
                  GoValue(Desc<Taint>(), &taint).text(),
                  "taints must be unique by key and effect pair"});
    }
  }
}

void ValidateLabelSelector(const meta::LabelSelector& selector,
                           const Path& path,
                           FieldErrors& errors) {
  ValidateLabels(selector.match_labels, path.Child("matchLabels"), errors);
  for (std::size_t i = 0; i < selector.match_expressions.size(); ++i) {
    const meta::LabelSelectorRequirement& requirement = selector.match_expressions[i];
    const Path at = path.Item("matchExpressions", i);
    const Path values = at.Child("values");
    if (requirement.operator_ == "In" || requirement.operator_ == "NotIn") {
      if (requirement.values.empty()) {
        errors.Required(values, "must be specified when `operator` is 'In' or 'NotIn'");
      }
    } else if (requirement.operator_ == "Exists" || requirement.operator_ == "DoesNotExist") {
      if (!requirement.values.empty()) {
        errors.Forbidden(values,
                         "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
      }
    } else {
      errors.Invalid(at.Child("operator"), requirement.operator_, kNotAnOperator);
    }
    errors.InvalidAll(at.Child("key"), requirement.key, QualifiedNameProblems(requirement.key));
    for (std::size_t j = 0; j < requirement.values.size(); ++j) {
      errors.InvalidAll(
          values.Index(j), requirement.values[j], LabelValueProblems(requirement.values[j]));
    }
  }
}

void ValidateAffinity(const Affinity& affinity, const Path& path, FieldErrors& errors) {
  if (const NodeAffinity* const node = affinity.node_affinity; node != nullptr) {
    const Path at = path.Child("nodeAffinity");
    if (node->required_during_scheduling_ignored_during_execution != nullptr) {
      ValidateNodeSelector(*node->required_during_scheduling_ignored_during_execution,
                           at.Child("requiredDuringSchedulingIgnoredDuringExecution"),
                           errors);
    }
    const auto& preferred = node->preferred_during_scheduling_ignored_during_execution;
    for (std::size_t i = 0; i < preferred.size(); ++i) {
      const Path term = at.Item("preferredDuringSchedulingIgnoredDuringExecution", i);
      ValidateWeight(preferred[i].weight, term, errors);
      ValidateTerm(
          preferred[i].preference, /*check_values=*/false, term.Child("preference"), errors);
    }
  }
  if (affinity.pod_affinity != nullptr) {
    ValidatePodTerms(*affinity.pod_affinity, path.Child("podAffinity"), errors);
  }
  if (affinity.pod_anti_affinity != nullptr) {
    ValidatePodTerms(*affinity.pod_anti_affinity, path.Child("podAntiAffinity"), errors);
  }
}

void ValidateSpreadConstraints(const List<TopologySpreadConstraint>& constraints,
                               const Path& path,
                               FieldErrors& errors) {
  constexpr std::array<std::string_view, 2> kActions = {"DoNotSchedule", "ScheduleAnyway"};
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const TopologySpreadConstraint& constraint = constraints[i];
    const Path at = path.Index(i);
    if (constraint.max_skew <= 0) {
      errors.Invalid(at.Child("maxSkew"), constraint.max_skew, "must be greater than zero");
    }
    if (constraint.topology_key.empty()) {
      errors.Required(at.Child("topologyKey"), "can not be empty");
    }
    if (std::ranges::find(kActions, constraint.when_unsatisfiable) == kActions.end()) {
      errors.NotSupported(at.Child("whenUnsatisfiable"), constraint.when_unsatisfiable, kActions);
    }
    for (std::size_t j = i + 1; j < constraints.size(); ++j) {
      if (constraints[j].topology_key == constraint.topology_key &&
          constraints[j].when_unsatisfiable == constraint.when_unsatisfiable) {
        errors.Duplicate(
            at.Child("{topologyKey, whenUnsatisfiable}"),
            fmt::format("{{{}, {}}}", constraint.topology_key, constraint.when_unsatisfiable));
        break;
      }
    }
    if (constraint.min_domains != nullptr) {
      const Path domains = at.Child("minDomains");
      if (*constraint.min_domains <= 0) {
        errors.Invalid(domains, *constraint.min_domains, "must be greater than zero");
      }
      if (constraint.when_unsatisfiable != "DoNotSchedule") {
        errors.Invalid(
            domains,
            *constraint.min_domains,
            fmt::format("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {}",
                        constraint.when_unsatisfiable));
      }
    }
    ValidateInclusionPolicy(
        constraint.node_affinity_policy, at.Child("nodeAffinityPolicy"), errors);
    ValidateInclusionPolicy(constraint.node_taints_policy, at.Child("nodeTaintsPolicy"), errors);
    ValidateMatchLabelKeys(constraint.match_label_keys, {}, constraint.label_selector, at, errors);
    if (constraint.label_selector != nullptr) {
      ValidateLabelSelector(*constraint.label_selector, at.Child("labelSelector"), errors);
    }
  }
}

}  // namespace allot::api::core
