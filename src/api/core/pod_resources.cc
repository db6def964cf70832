#include "api/core/pod_resources.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>

#include <fmt/format.h>

#include "api/core/rules.h"
#include "api/names.h"
#include "quantity/saturating.h"

namespace allot::api::core {

using quantity::Quantity;
using schema::Map;
using schema::Str;

namespace {

void Add(ResourceTotals& to, const Map<Quantity>& amounts) {
  for (const auto& [name, amount] : amounts) {
    const auto [at, added] = to.try_emplace(name, amount);
    if (!added) {
      quantity::AddTo(at->second, amount);
    }
  }
}

void Add(ResourceTotals& to, const ResourceTotals& amounts) {
  for (const auto& [name, amount] : amounts) {
    const auto [at, added] = to.try_emplace(name, amount);
    if (!added) {
      quantity::AddTo(at->second, amount);
    }
  }
}

void Max(ResourceTotals& to, const ResourceTotals& amounts) {
  for (const auto& [name, amount] : amounts) {
    const auto [at, added] = to.try_emplace(name, amount);
    if (!added && at->second < amount) {
      at->second = amount;
    }
  }
}

ResourceTotals Aggregate(const PodSpec& spec, Map<Quantity> ResourceRequirements::* amounts) {
  ResourceTotals running;
  for (const Container& container : spec.containers) {
    Add(running, container.resources.*amounts);
  }
  ResourceTotals restartable;
  ResourceTotals starting;
  for (const Container& container : spec.init_containers) {
    ResourceTotals now;
    if (IsRestartable(container)) {
      Add(running, container.resources.*amounts);
      Add(restartable, container.resources.*amounts);
      now = restartable;
    } else {
      Add(now, container.resources.*amounts);
      Add(now, restartable);
    }
    Max(starting, now);
  }
  Max(running, starting);
  return running;
}

enum class Qos : std::uint8_t { kUnknown, kBestEffort, kBurstable, kGuaranteed };

Qos QosOf(const ResourceRequirements& resources) {
  if (resources.requests.empty() && resources.limits.empty()) {
    return Qos::kBestEffort;
  }
  Qos qos = Qos::kUnknown;
  for (const std::string_view name : {"cpu", "memory"}) {
    const Quantity request = resources.requests.Get(name);
    const Quantity limit = resources.limits.Get(name);
    const Qos one = request != limit   ? Qos::kBurstable
                    : request.IsZero() ? Qos::kBestEffort
                                       : Qos::kGuaranteed;
    if (one == Qos::kBurstable || (qos != Qos::kUnknown && qos != one)) {
      return Qos::kBurstable;
    }
    qos = one;
  }
  return qos;
}

Qos QosOfContainers(const PodSpec& spec) {
  Qos qos = Qos::kUnknown;
  for (const auto& containers : {spec.init_containers, spec.containers}) {
    for (const Container& container : containers) {
      const Qos one = QosOf(container.resources);
      if (one == Qos::kBurstable || (qos != Qos::kUnknown && qos != one)) {
        return Qos::kBurstable;
      }
      qos = one;
    }
  }
  return qos;
}

bool IsPodLevelResource(Str name) {
  return name == "cpu" || name == "memory" || IsHugePages(name);
}

bool HasPodLevelResources(const PodSpec& spec) {
  const auto any = [](const Map<Quantity>& amounts) {
    return std::ranges::any_of(amounts,
                               [](const auto& entry) { return IsPodLevelResource(entry.key); });
  };
  return spec.resources != nullptr &&
         (any(spec.resources->requests) || any(spec.resources->limits));
}

/// Puts max(request, aggregate of limits) as limit where every container has one.
void DefaultLimits(const PodSpec& spec, ResourceRequirements& pod, schema::Editor editor) {
  const ResourceTotals limits = AggregateContainerLimits(spec);
  for (const auto& [name, request] : pod.requests) {
    if (!IsPodLevelResource(name) || pod.limits.Find(name) != nullptr) {
      continue;
    }
    const auto has_limit = [wanted = name](const Container& container) {
      return container.resources.limits.Find(wanted) != nullptr;
    };
    if (!std::ranges::all_of(spec.containers, has_limit) ||
        !std::ranges::all_of(spec.init_containers, has_limit)) {
      continue;
    }
    const auto limit = limits.find(name);
    if (limit != limits.end()) {
      editor.Put(pod.limits, name, std::max(limit->second, request));
    }
  }
}

}  // namespace

bool IsRestartable(const Container& init_container) {
  return init_container.restart_policy != nullptr && *init_container.restart_policy == "Always";
}

ResourceTotals AggregateContainerRequests(const PodSpec& spec) {
  return Aggregate(spec, &ResourceRequirements::requests);
}

ResourceTotals AggregateContainerLimits(const PodSpec& spec) {
  return Aggregate(spec, &ResourceRequirements::limits);
}

Str QosClass(const PodSpec& spec) {
  switch (HasPodLevelResources(spec) ? QosOf(*spec.resources) : QosOfContainers(spec)) {
    case Qos::kGuaranteed: return "Guaranteed";
    case Qos::kBurstable: return "Burstable";
    case Qos::kUnknown:
    case Qos::kBestEffort: break;
  }
  return "BestEffort";
}

void DefaultPodLevelResources(PodSpec& spec, schema::Editor editor) {
  if (spec.resources == nullptr ||
      (spec.resources->requests.empty() && spec.resources->limits.empty())) {
    return;
  }
  ResourceRequirements& pod = editor.Mutable(spec.resources);
  for (const auto& [name, amount] : AggregateContainerLimits(spec)) {
    if (IsHugePages(name) && pod.requests.Find(name) == nullptr &&
        pod.limits.Find(name) == nullptr) {
      editor.Put(pod.limits, name, amount);
    }
  }
  for (const auto& [name, amount] : AggregateContainerRequests(spec)) {
    const bool overcommittable = name == "cpu" || name == "memory";
    if (overcommittable && pod.requests.Find(name) == nullptr) {
      editor.Put(pod.requests, name, amount);
    }
  }
  for (const auto& [name, amount] : pod.limits) {
    if (IsPodLevelResource(name) && pod.requests.Find(name) == nullptr) {
      editor.Put(pod.requests, name, amount);
    }
  }
  DefaultLimits(spec, pod, editor);
}

// --- names and amounts ---

bool IsHugePages(Str name) {
  return name.starts_with("hugepages-");
}

bool IsNodeAllocatableResource(Str name) {
  return name == "cpu" || name == "memory" || IsHugePages(name);
}

bool IsNativeResource(Str name) {
  return name.find('/') == Str::npos || name.find("kubernetes.io/") != Str::npos;
}

bool IsExtendedResource(Str name) {
  return !IsNativeResource(name) && !name.starts_with("requests.") &&
         QualifiedNameProblems(fmt::format("requests.{}", name)).empty();
}

void ValidateResourceQuantity(Str name,
                              const Quantity& amount,
                              const Path& path,
                              FieldErrors& errors) {
  constexpr std::array<std::string_view, 9> kCounts = {"pods",
                                                       "resourcequotas",
                                                       "services",
                                                       "replicationcontrollers",
                                                       "secrets",
                                                       "configmaps",
                                                       "persistentvolumeclaims",
                                                       "services.nodeports",
                                                       "services.loadbalancers"};
  if (amount.nanos < 0) {
    errors.Invalid(path, amount.ToString(), "must be greater than or equal to 0");
  }
  const bool whole = std::ranges::find(kCounts, name) != kCounts.end() || IsExtendedResource(name);
  if (whole && amount.MilliValue() % 1000 != 0) {
    errors.Invalid(path, amount.ToString(), "must be an integer");
  }
}

namespace {

constexpr std::array<std::string_view, 3> kContainerResources = {
    "cpu", "ephemeral-storage", "memory"};
constexpr std::array<std::string_view, 20> kStandardResources = {"cpu",
                                                                 "memory",
                                                                 "ephemeral-storage",
                                                                 "requests.cpu",
                                                                 "requests.memory",
                                                                 "requests.ephemeral-storage",
                                                                 "limits.cpu",
                                                                 "limits.memory",
                                                                 "limits.ephemeral-storage",
                                                                 "pods",
                                                                 "resourcequotas",
                                                                 "services",
                                                                 "replicationcontrollers",
                                                                 "secrets",
                                                                 "configmaps",
                                                                 "persistentvolumeclaims",
                                                                 "storage",
                                                                 "requests.storage",
                                                                 "services.nodeports",
                                                                 "services.loadbalancers"};

bool ValidateResourceName(Str name, const Path& path, FieldErrors& errors) {
  const Problems problems = QualifiedNameProblems(name);
  errors.InvalidAll(path, name, problems);
  if (!problems.empty()) {
    return false;
  }
  const bool standard = std::ranges::find(kStandardResources, name) != kStandardResources.end();
  if (name.find('/') == Str::npos && !standard && !IsHugePages(name)) {
    errors.Invalid(path, name, "must be a standard resource type or fully qualified");
    return false;
  }
  return true;
}

void ValidateContainerResourceName(Str name, const Path& path, FieldErrors& errors) {
  ValidateResourceName(name, path, errors);
  if (name.find('/') == Str::npos) {
    if (std::ranges::find(kContainerResources, name) == kContainerResources.end() &&
        !IsHugePages(name)) {
      errors.Invalid(path, name, "must be a standard resource for containers");
    }
  } else if (!IsNativeResource(name) && !IsExtendedResource(name)) {
    errors.Invalid(path, name, "doesn't follow extended resource name standard");
  }
}

void ValidatePodResourceName(Str name, const Path& path, FieldErrors& errors) {
  constexpr std::array<std::string_view, 3> kSupported = {"cpu", "hugepages-", "memory"};
  if (ValidateResourceName(name, path, errors) && !IsPodLevelResource(name)) {
    errors.NotSupported(path, name, kSupported);
  }
}

void ValidateHugePages(Str name, const Quantity& amount, const Path& path, FieldErrors& errors) {
  const auto page = quantity::ParseQuantity(name.substr(std::string_view("hugepages-").size()));
  if (!page || page->nanos <= 0 || amount.nanos % page->nanos != 0) {
    errors.Invalid(
        path,
        amount.ToString(),
        fmt::format("{} is not positive integer multiple of {}", amount.ToString(), name));
  }
}

using NameCheck = void (*)(Str, const Path&, FieldErrors&);

void ValidateAmounts(const ResourceRequirements& resources,
                     NameCheck check_name,
                     const Path& path,
                     FieldErrors& errors) {
  const Path limits = path.Child("limits");
  const Path requests = path.Child("requests");
  bool huge = false;
  bool compute = false;
  const auto check = [&](Str name, const Quantity& amount, const Path& at) {
    check_name(name, at, errors);
    ValidateResourceQuantity(name, amount, at, errors);
    compute |= name == "cpu" || name == "memory";
  };
  for (const auto& [name, amount] : resources.limits) {
    const Path at = limits.Key(name);
    check(name, amount, at);
    if (IsHugePages(name)) {
      huge = true;
      ValidateHugePages(name, amount, at, errors);
    }
  }
  for (const auto& [name, amount] : resources.requests) {
    const Path at = requests.Key(name);
    check(name, amount, at);
    const bool overcommittable = IsNativeResource(name) && !IsHugePages(name);
    if (const Quantity* const limit = resources.limits.Find(name); limit != nullptr) {
      if (amount != *limit && !overcommittable) {
        errors.Invalid(requests,
                       amount.ToString(),
                       fmt::format("must be equal to {} limit of {}", name, limit->ToString()));
      } else if (amount > *limit) {
        errors.Invalid(
            requests,
            amount.ToString(),
            fmt::format("must be less than or equal to {} limit of {}", name, limit->ToString()));
      }
    } else if (!overcommittable) {
      errors.Required(limits, "Limit must be set for non overcommitable resources");
    }
    if (IsHugePages(name)) {
      huge = true;
      ValidateHugePages(name, amount, at, errors);
    }
  }
  if (huge && !compute) {
    errors.Forbidden(path, "HugePages require cpu or memory");
  }
}

/// What containers say of the claims of their pod.
void ValidateClaimReferences(const schema::List<ResourceClaim>& claims,
                             const PodSpec& spec,
                             const Path& path,
                             FieldErrors& errors) {
  std::set<Str> pod_claims;
  for (const PodResourceClaim& claim : spec.resource_claims) {
    if (!claim.name.empty()) {
      pod_claims.insert(claim.name);
    }
  }
  std::set<std::string, std::less<>> seen;  // "claim" or "claim/request"
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const ResourceClaim& claim = claims[i];
    const Path at = path.Index(i);
    if (claim.name.empty()) {
      errors.Required(at);
      continue;
    }
    if (seen.contains(claim.name)) {
      errors.Duplicate(at, claim.name);
    } else {
      std::string key(claim.name);
      if (!claim.request.empty()) {
        errors.InvalidAll(at.Child("request"), claim.request, DnsLabelProblems(claim.request));
        key += fmt::format("/{}", claim.request);
      }
      const std::string prefix = fmt::format("{}/", claim.name);
      const bool overlaps =
          claim.request.empty() && std::ranges::any_of(seen, [&](const std::string& other) {
            return other.starts_with(prefix);
          });
      if (overlaps || seen.contains(key)) {
        errors.Duplicate(at, overlaps ? std::string(claim.name) : key);
      }
      seen.insert(std::move(key));
    }
    if (!pod_claims.contains(claim.name)) {
      errors.NotFound(at,
                      claim.name,
                      pod_claims.empty()
                          ? "must be one of the names in pod.spec.resourceClaims which is empty"
                          : fmt::format("must be one of the names in pod.spec.resourceClaims: {}",
                                        fmt::join(pod_claims, ", ")));
    }
  }
}

/// Pod-level amounts must hold what the containers ask for.
void ValidateConsistency(const PodSpec& spec, const Path& path, FieldErrors& errors) {
  const ResourceRequirements& pod = *spec.resources;
  for (const auto& [name, amount] : AggregateContainerRequests(spec)) {
    const Quantity* const request = pod.requests.Find(name);
    if (request != nullptr && amount > *request) {
      errors.Invalid(
          path.Item("requests", name),
          request->ToString(),
          fmt::format("must be greater than or equal to aggregate container requests of {}",
                      amount.ToString()));
    }
  }
  for (const auto& [name, amount] : AggregateContainerLimits(spec)) {
    const Quantity* const limit = pod.limits.Find(name);
    if (IsHugePages(name) && limit != nullptr && amount > *limit) {
      errors.Invalid(
          path.Item("limits", name),
          limit->ToString(),
          fmt::format("must be greater than or equal to aggregate container limits of {}",
                      amount.ToString()));
    }
  }
  for (std::size_t i = 0; i < spec.containers.size(); ++i) {
    const Path container = path.Item("containers", i);
    for (const auto& [name, amount] : spec.containers[i].resources.limits) {
      const Quantity* const limit = pod.limits.Find(name);
      if (limit != nullptr && amount > *limit) {
        const Path at = container.Key(name);
        errors.Invalid(
            at.Child("limits"),
            amount.ToString(),
            fmt::format("must be less than or equal to pod limits of {}", limit->ToString()));
      }
    }
  }
}

}  // namespace

void ValidateContainerResources(const ResourceRequirements& resources,
                                const PodSpec& spec,
                                const Path& path,
                                FieldErrors& errors) {
  ValidateAmounts(resources, &ValidateContainerResourceName, path, errors);
  ValidateClaimReferences(resources.claims, spec, path.Child("claims"), errors);
}

void ValidatePodResources(const PodSpec& spec, const Path& path, FieldErrors& errors) {
  if (spec.resources == nullptr) {
    return;
  }
  if (spec.os != nullptr && spec.os->name == "windows") {
    errors.Forbidden(path, "may not be set for a windows pod");
    return;
  }
  const Path claims = path.Child("claims");
  if (spec.resources->claims.items != nullptr) {
    errors.Forbidden(claims, "claims may not be set for Resources at pod-level");
  }
  ValidateAmounts(*spec.resources, &ValidatePodResourceName, path, errors);
  ValidateClaimReferences(spec.resources->claims, spec, claims, errors);
  ValidateConsistency(spec, path, errors);
}

}  // namespace allot::api::core
