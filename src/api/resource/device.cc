#include "api/resource/device.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "api/core/rules.h"
#include "api/names.h"
#include "api/resource/request_policy.h"
#include "api/strategy_of.h"
#include "schema/codec.h"

namespace allot::api::resource {

using quantity::Quantity;
using schema::List;
using schema::Map;
using schema::Str;

namespace {

constexpr std::size_t kMaxEntries = 32;
constexpr std::size_t kMaxValues = 48;
constexpr std::size_t kMaxTaints = 16;
constexpr std::size_t kMaxConsumptions = 2;
constexpr std::size_t kMaxCounters = 32;
constexpr std::size_t kMaxCompatibilityGroups = 2;
constexpr std::size_t kMaxKeyShown = kMaxDomain + 1 + kMaxIdentifier;

/// A long key with its middle left out, for paths.
std::string Shortened(Str key, std::size_t max) {
  if (key.size() <= max) {
    return std::string(key);
  }
  const std::size_t remaining = max - 3;
  return fmt::format(
      "{}...{}", key.substr(0, (remaining + 1) / 2), key.substr(key.size() - (remaining / 2)));
}

std::size_t ValueCount(const DeviceAttribute& attribute) {
  const std::size_t values = attribute.bools.size() + attribute.ints.size() +
                             attribute.strings.size() + attribute.versions.size();
  return values == 0 ? 1 : values;
}

void ValidateText(Str text, const Path& path, FieldErrors& errors) {
  if (text.size() > kMaxAttributeText) {
    errors.TooLong(path, kMaxAttributeText);
  }
}

void ValidateVersion(Str text, const Path& path, FieldErrors& errors) {
  if (!IsSemver(text)) {
    errors.Invalid(path, text, "must be a string compatible with semver.org spec 2.0.0");
  }
  ValidateText(text, path, errors);
}

template <typename T>
void ValidateNotEmpty(const List<T>& list, const Path& path, FieldErrors& errors) {
  if (list.items != nullptr && list.empty()) {
    errors.Invalid(path, BadValue::Raw("[]"), "must not be empty if specified");
  }
}

void ValidateAttribute(const DeviceAttribute& attribute, const Path& path, Report& report) {
  if (attribute.string != nullptr) {
    ValidateText(*attribute.string, path.Child("string"), report.hand);
  }
  if (attribute.version != nullptr) {
    ValidateVersion(*attribute.version, path.Child("version"), report.hand);
  }
  ValidateNotEmpty(attribute.bools, path.Child("bools"), report.hand);
  ValidateNotEmpty(attribute.ints, path.Child("ints"), report.hand);
  ValidateNotEmpty(attribute.strings, path.Child("strings"), report.hand);
  for (std::size_t i = 0; i < attribute.strings.size(); ++i) {
    ValidateText(attribute.strings[i], path.Item("strings", i), report.hand);
  }
  ValidateNotEmpty(attribute.versions, path.Child("versions"), report.hand);
  for (std::size_t i = 0; i < attribute.versions.size(); ++i) {
    ValidateVersion(attribute.versions[i], path.Item("versions", i), report.hand);
  }
  constexpr std::string_view kMembers =
      "`int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`";
  std::vector<std::string_view> set;
  const auto add = [&](bool is_set, std::string_view name) {
    if (is_set) {
      set.push_back(name);
    }
  };
  add(attribute.int_ != nullptr, "int");
  add(attribute.bool_ != nullptr, "bool");
  add(attribute.string != nullptr, "string");
  add(attribute.version != nullptr, "version");
  add(!attribute.ints.empty(), "ints");
  add(!attribute.bools.empty(), "bools");
  add(!attribute.strings.empty(), "strings");
  add(!attribute.versions.empty(), "versions");
  if (set.empty()) {
    report.declared.Invalid(path, "", fmt::format("must specify one of: {}", kMembers));
  } else if (set.size() > 1) {
    report.declared.Invalid(path,
                            fmt::format("{{{}}}", fmt::join(set, ", ")),
                            fmt::format("must specify exactly one of: {}", kMembers));
  }
}

void ValidateAttributes(const Device& device, const Path& path, Report& report) {
  for (const auto& [name, attribute] : device.attributes) {
    ValidateQualifiedName(name, path, report.hand);
    const std::string shown = Shortened(name, kMaxKeyShown);
    ValidateAttribute(attribute, path.Key(shown), report);
  }
}

void ValidateCapacities(const StrategyContext& context,
                        const Device& device,
                        const Path& path,
                        Report& report) {
  const bool shareable =
      device.allow_multiple_allocations != nullptr && *device.allow_multiple_allocations;
  for (const auto& [name, capacity] : device.capacity) {
    ValidateQualifiedName(name, path, report.hand);
    if (capacity.request_policy == nullptr) {
      continue;
    }
    const std::string shown = Shortened(name, kMaxKeyShown);
    const Path at = path.Key(shown);
    if (shareable) {
      ValidateRequestPolicy(context.gates,
                            capacity.value,
                            *capacity.request_policy,
                            at.Child("requestPolicy"),
                            report.hand);
    } else {
      report.hand.Forbidden(at.Child("requestPolicy"), "allowMultipleAllocations must be true");
    }
  }
}

void ValidateConsumption(const DeviceCounterConsumption& consumption,
                         const Path& path,
                         Report& report) {
  const Path set = path.Child("counterSet");
  if (consumption.counter_set.empty()) {
    report.declared.Required(set);
  } else {
    report.declared.InvalidAll(set,
                               consumption.counter_set,
                               DnsLabelProblems(consumption.counter_set, LengthUnit::kBytes));
  }
  ValidateCounters(consumption.counters, path.Child("counters"), report);
  const Path groups = path.Child("compatibilityGroups");
  if (TooMany(consumption.compatibility_groups.size(),
              kMaxCompatibilityGroups,
              groups,
              report.declared)) {
    return;
  }
  std::set<Str> seen;
  for (std::size_t i = 0; i < consumption.compatibility_groups.size(); ++i) {
    const Str group = consumption.compatibility_groups[i];
    if (!seen.insert(group).second) {
      report.declared.Duplicate(groups.Index(i), group);
    }
    report.declared.InvalidAll(groups.Index(i), group, DnsLabelProblems(group, LengthUnit::kBytes));
  }
}

void ValidateConsumptions(const Device& device, const Path& path, Report& report) {
  if (TooMany(device.consumes_counters.size(), kMaxConsumptions, path, report.declared)) {
    return;
  }
  std::set<Str> sets;
  for (std::size_t i = 0; i < device.consumes_counters.size(); ++i) {
    const DeviceCounterConsumption& consumption = device.consumes_counters[i];
    if (!sets.insert(consumption.counter_set).second) {
      report.declared.Duplicate(path.Index(i),
                                BadValue::Json(Desc<DeviceCounterConsumption>(), &consumption));
    }
    ValidateConsumption(consumption, path.Index(i), report);
  }
}

void ValidateNodeChoice(const Device& device,
                        bool per_device_nodes,
                        const Path& path,
                        FieldErrors& errors) {
  if (!per_device_nodes) {
    if (device.node_name != nullptr || device.node_selector != nullptr ||
        device.all_nodes != nullptr) {
      errors.Invalid(path,
                     BadValue::Null(),
                     "`nodeName`, `nodeSelector` and `allNodes` can only be set if "
                     "`perDeviceNodeSelection` is "
                     "set to true in the ResourceSlice spec");
    }
    return;
  }
  std::vector<std::string_view> set;
  if (device.node_name != nullptr) {
    if (device.node_name->empty()) {
      errors.Invalid(path.Child("nodeName"), "", "must not be empty");
    } else {
      set.emplace_back("`nodeName`");
      ValidateNodeName(*device.node_name, path.Child("nodeName"), errors);
    }
  }
  if (device.node_selector != nullptr) {
    set.emplace_back("`nodeSelector`");
    core::ValidateNodeSelector(*device.node_selector, path.Child("nodeSelector"), errors);
  }
  if (device.all_nodes != nullptr) {
    if (*device.all_nodes) {
      set.emplace_back("`allNodes`");
    } else {
      errors.Invalid(path.Child("allNodes"), false, "must be either unset or set to true");
    }
  }
  constexpr std::string_view kOne =
      "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when "
      "`perDeviceNodeSelection` is "
      "set to true in the ResourceSlice spec";
  if (set.empty()) {
    errors.Required(path, kOne);
  } else if (set.size() > 1) {
    errors.Invalid(path, fmt::format("{{{}}}", fmt::join(set, ", ")), kOne);
  }
}

void ValidateMapping(const NodeAllocatableMapping& mapping,
                     const Device& device,
                     const Path& path,
                     Report& report) {
  const Path key = path.Child("capacityKey");
  const Path multiplier = path.Child("capacityMultiplier");
  if (mapping.capacity_key != nullptr) {
    if (mapping.capacity_key->empty()) {
      report.hand.Invalid(key, "", "capacityKey must not be an empty string");
    } else if (device.capacity.Find(*mapping.capacity_key) == nullptr) {
      report.hand.NotFound(key, *mapping.capacity_key);
    }
    if (mapping.capacity_multiplier == nullptr) {
      report.hand.Required(multiplier, "capacityMultiplier is required when capacityKey is set");
    } else if (mapping.capacity_multiplier->nanos <= 0) {
      report.hand.Invalid(multiplier, mapping.capacity_multiplier->ToString(), "must be positive");
    }
  }
  if (mapping.device_multiplier != nullptr && mapping.device_multiplier->nanos <= 0) {
    report.hand.Invalid(
        path.Child("deviceMultiplier"), mapping.device_multiplier->ToString(), "must be positive");
  }
  if (mapping.capacity_multiplier != nullptr && mapping.capacity_key == nullptr) {
    report.hand.Required(key, "capacityKey is required when capacityMultiplier is set");
  }
  const bool has_key = mapping.capacity_key != nullptr;
  const bool has_device = mapping.device_multiplier != nullptr;
  if (!has_key && !has_device) {
    report.declared.Invalid(path, "", "must specify one of: `capacityKey`, `deviceMultiplier`");
  } else if (has_key && has_device) {
    report.declared.Invalid(path,
                            "{capacityKey, deviceMultiplier}",
                            "must specify exactly one of: `capacityKey`, `deviceMultiplier`");
  }
}

void ValidateOverhead(const NodeAllocatableOverhead& overhead,
                      const Path& path,
                      FieldErrors& errors) {
  if (overhead.per_pod == nullptr && overhead.per_container == nullptr) {
    errors.Invalid(path, "", "at least one of perPod or perContainer must be set");
  }
  const auto check = [&](const Quantity* amount, std::string_view name) {
    if (amount != nullptr && amount->nanos < 0) {
      errors.Invalid(path.Child(name), amount->ToString(), "must be non-negative");
    }
  };
  check(overhead.per_pod, "perPod");
  check(overhead.per_container, "perContainer");
}

void ValidateNodeAllocatable(const Device& device, const Path& path, Report& report) {
  for (const auto& [name, resource] : device.node_allocatable_resources) {
    const Path at = path.Key(name);
    if (!core::IsNodeAllocatableResource(name)) {
      report.hand.Invalid(at, name, "must be a node allocatable resource name");
    }
    if (resource.mapping == nullptr && resource.overhead == nullptr) {
      report.hand.Required(at, "at least one of mapping or overhead must be set");
    }
    if (resource.mapping != nullptr) {
      ValidateMapping(*resource.mapping, device, at.Child("mapping"), report);
    }
    if (resource.overhead != nullptr) {
      ValidateOverhead(*resource.overhead, at.Child("overhead"), report.hand);
    }
  }
}

/// Compares two maps of structs by meaning.
bool SameCapacity(const Map<DeviceCapacity>& a, const Map<DeviceCapacity>& b) {
  return a.size() == b.size() && std::ranges::equal(a, b, [](const auto& x, const auto& y) {
           return x.key == y.key && Same(x.value, y.value);
         });
}

}  // namespace

void ValidateNodeName(Str name, const Path& path, FieldErrors& errors) {
  errors.InvalidAll(path, name, DnsSubdomainProblems(name));
}

void ValidateCounters(const Map<Counter>& counters, const Path& path, Report& report) {
  if (counters.empty()) {
    report.declared.Required(path);
    return;
  }
  if (TooMany(counters.size(), kMaxCounters, path, report.hand)) {
    return;
  }
  for (const auto& [name, counter] : counters) {
    report.declared.InvalidAll(path, name, DnsLabelProblems(name, LengthUnit::kBytes));
  }
}

void ValidateDevice(const StrategyContext& context,
                    const Device& device,
                    const Device* old,
                    bool per_device_nodes,
                    const Path& path,
                    Report& report) {
  ValidateDnsLabel(device.name, path.Child("name"), report.hand);
  const std::size_t entries = device.attributes.size() + device.capacity.size();
  if (entries > kMaxEntries) {
    report.hand.Invalid(
        path,
        static_cast<std::int64_t>(entries),
        fmt::format("the total number of attributes and capacities must not exceed {}",
                    kMaxEntries));
  }
  std::size_t values = 0;
  for (const auto& [name, attribute] : device.attributes) {
    values += ValueCount(attribute);
  }
  if (values > kMaxValues) {
    report.hand.Invalid(
        path,
        static_cast<std::int64_t>(values),
        fmt::format("the total number of attribute values must not exceed {}", kMaxValues));
  }
  ValidateAttributes(device, path.Child("attributes"), report);
  if (old == nullptr || !SameCapacity(old->capacity, device.capacity)) {
    ValidateCapacities(context, device, path.Child("capacity"), report);
  }
  const Path taints = path.Child("taints");
  if ((old == nullptr || !SameList(old->taints, device.taints)) &&
      !TooMany(device.taints.size(), kMaxTaints, taints, report.hand)) {
    for (std::size_t i = 0; i < device.taints.size(); ++i) {
      ValidateTaint(device.taints[i], nullptr, taints.Index(i), report);
    }
  }
  ValidateConsumptions(device, path.Child("consumesCounters"), report);
  ValidateNodeChoice(device, per_device_nodes, path, report.hand);
  ValidateBindingConditions(
      device.binding_conditions, device.binding_failure_conditions, path, report);
  ValidateNodeAllocatable(device, path.Child("nodeAllocatableResources"), report);
}

}  // namespace allot::api::resource
