// ResourceSlice.
#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "api/core/rules.h"
#include "api/go_value.h"
#include "api/resource/device.h"
#include "api/resource/rules.h"
#include "api/resource/strategies.h"
#include "api/strategy_of.h"

namespace allot::api::resource {
namespace {

using schema::Editor;
using schema::List;
using schema::Str;

constexpr std::size_t kMaxDevices = 128;
constexpr std::size_t kMaxRichDevices = 64;
constexpr std::size_t kMaxCounterSets = 8;

void Default(const StrategyContext& context, ResourceSlice& slice, Editor editor) {
  const auto incomplete = [](const Device& device) {
    return std::ranges::any_of(
        device.taints, [](const DeviceTaint& taint) { return taint.time_added == nullptr; });
  };
  if (std::ranges::none_of(slice.spec.devices, incomplete)) {
    return;
  }
  Device* const devices = editor.MutableList(slice.spec.devices);
  for (std::size_t i = 0; i < slice.spec.devices.size(); ++i) {
    DefaultTaints(context.now, devices[i].taints, editor);
  }
}

void PrepareForCreate(const StrategyContext& context, ResourceSlice& slice, Editor editor) {
  slice.metadata.generation = 1;
  DropDisabled<ResourceSlice>(context, slice, nullptr, editor);
}

void PrepareForUpdate(const StrategyContext& context,
                      ResourceSlice& next,
                      const ResourceSlice& old,
                      Editor editor) {
  // After dropping, so that a write which only adds disabled fields stays a no-op.
  DropDisabled(context, next, &old, editor);
  next.metadata.generation =
      Same(next.spec, old.spec) ? old.metadata.generation : old.metadata.generation + 1;
}

void ValidateImmutable(Str next, Str old, const Path& path, FieldErrors& errors) {
  if (next != old) {
    errors.Invalid(path, next, "field is immutable");
  }
}

void ValidatePool(const ResourcePool& pool, const Path& path, FieldErrors& errors) {
  ValidatePoolName(pool.name, path.Child("name"), errors);
  if (pool.resource_slice_count <= 0) {
    errors.Invalid(
        path.Child("resourceSliceCount"), pool.resource_slice_count, "must be greater than zero");
  }
  if (pool.generation < 0) {
    errors.Invalid(
        path.Child("generation"), pool.generation, "must be greater than or equal to zero");
  }
}

/// Exactly one of the four ways to say which nodes reach the devices.
void ValidateNodeChoice(const ResourceSliceSpec& spec, const Path& path, FieldErrors& errors) {
  std::vector<std::string_view> set;
  if (spec.node_name != nullptr) {
    if (spec.node_name->empty()) {
      errors.Invalid(
          path.Child("nodeName"), "", "must be either unset or set to a non-empty string");
    } else {
      set.emplace_back("`nodeName`");
      ValidateNodeName(*spec.node_name, path.Child("nodeName"), errors);
    }
  }
  if (spec.node_selector != nullptr) {
    set.emplace_back("`nodeSelector`");
    const Path selector = path.Child("nodeSelector");
    core::ValidateNodeSelector(*spec.node_selector, selector, errors);
    const auto& terms = spec.node_selector->node_selector_terms;
    if (terms.size() != 1) {
      errors.Invalid(selector.Child("nodeSelectorTerms"),
                     GoValues(Desc<core::NodeSelectorTerm>(), terms.items, terms.size()),
                     "must have exactly one node selector term");
    }
  }
  const auto flag = [&](const bool* value, std::string_view name, std::string_view shown) {
    if (value == nullptr) {
      return;
    }
    if (*value) {
      set.push_back(shown);
    } else {
      errors.Invalid(path.Child(name), false, "must be either unset or set to true");
    }
  };
  flag(spec.all_nodes, "allNodes", "`allNodes`");
  flag(spec.per_device_node_selection, "perDeviceNodeSelection", "`perDeviceNodeSelection`");
  constexpr std::string_view kOne =
      "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
  if (set.empty()) {
    errors.Required(path, kOne);
  } else if (set.size() > 1) {
    errors.Invalid(path,
                   fmt::format("{{{}}}", fmt::join(set, ", ")),
                   fmt::format("{}, but multiple fields are set", kOne));
  }
}

bool ConsumesCounters(const ResourceSliceSpec& spec) {
  return std::ranges::any_of(spec.devices,
                             [](const Device& d) { return !d.consumes_counters.empty(); });
}

bool IsRich(const Device& device) {
  return !device.taints.empty() || !device.consumes_counters.empty() ||
         std::ranges::any_of(device.attributes, [](const auto& entry) {
           const DeviceAttribute& a = entry.value;
           return a.bools.items != nullptr || a.ints.items != nullptr ||
                  a.strings.items != nullptr || a.versions.items != nullptr;
         });
}

void ValidatePartitionType(const ResourceSliceSpec& spec, const Path& path, Report& report) {
  const Str name = *spec.partition_type_attribute;
  const Path at = path.Child("partitionTypeAttribute");
  FieldErrors format;
  ValidateFullyQualifiedName(name, at, format);
  const bool good_name = format.empty();
  report.declared.Append(std::move(format));
  if (!ConsumesCounters(spec)) {
    report.hand.Invalid(
        at, name, "may only be set on a slice which declares devices that consume counters");
    return;
  }
  if (!good_name) {
    return;
  }
  const std::string prefix = fmt::format("{}/", spec.driver);
  const Str bare = name.starts_with(prefix) ? name.substr(prefix.size()) : name;
  for (std::size_t i = 0; i < spec.devices.size(); ++i) {
    const Device& device = spec.devices[i];
    if (device.consumes_counters.empty()) {
      continue;
    }
    const Path device_path = path.Item("devices", i);
    const Path attribute_path = device_path.Item("attributes", name);
    const DeviceAttribute* attribute = device.attributes.Find(name);
    if (attribute == nullptr) {
      attribute = device.attributes.Find(bare);
    }
    if (attribute == nullptr) {
      report.hand.Required(attribute_path,
                           "device consumes counters and `partitionTypeAttribute` names this "
                           "attribute, so it must be set");
    } else if (attribute->string == nullptr) {
      report.hand.Invalid(
          attribute_path,
          BadValue::Json(Desc<DeviceAttribute>(), attribute),
          "must be a string value because `partitionTypeAttribute` names this attribute");
    }
  }
}

void ValidateDevices(const StrategyContext& context,
                     const ResourceSliceSpec& spec,
                     const ResourceSliceSpec* old,
                     const Path& path,
                     Report& report) {
  const std::size_t max = std::ranges::any_of(spec.devices, IsRich) ? kMaxRichDevices : kMaxDevices;
  if (TooMany(spec.devices.size(), max, path, report.hand)) {
    return;
  }
  const bool per_device =
      spec.per_device_node_selection != nullptr && *spec.per_device_node_selection;
  for (std::size_t i = 0; i < spec.devices.size(); ++i) {
    const Device* stored = nullptr;
    if (old != nullptr) {
      const auto* const at = std::ranges::find(old->devices, spec.devices[i].name, &Device::name);
      stored = at != old->devices.end() ? at : nullptr;
    }
    ValidateDevice(context, spec.devices[i], stored, per_device, path.Index(i), report);
  }
  std::set<Str> names;
  for (std::size_t i = 0; i < spec.devices.size(); ++i) {
    if (!names.insert(spec.devices[i].name).second) {
      report.hand.Duplicate(path.Index(i), spec.devices[i].name);
    }
  }
}

void ValidateSharedCounters(const List<CounterSet>& sets, const Path& path, Report& report) {
  if (TooMany(sets.size(), kMaxCounterSets, path, report.declared)) {
    return;
  }
  std::set<Str> names;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (!names.insert(sets[i].name).second) {
      report.declared.Duplicate(path.Index(i), BadValue::Json(Desc<CounterSet>(), &sets[i]));
    }
  }
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const Path at = path.Index(i);
    if (sets[i].name.empty()) {
      report.declared.Required(at.Child("name"));
    } else {
      report.declared.InvalidAll(
          at.Child("name"), sets[i].name, DnsLabelProblems(sets[i].name, LengthUnit::kBytes));
    }
    ValidateCounters(sets[i].counters, at.Child("counters"), report);
  }
}

void ValidateSpec(const StrategyContext& context,
                  const ResourceSliceSpec& spec,
                  const ResourceSliceSpec* old,
                  Report& report) {
  const Path path("spec");
  const Path pool = path.Child("pool");
  ValidateDriverName(spec.driver, path.Child("driver"), report.hand);
  ValidatePool(spec.pool, pool, report.hand);
  if (old != nullptr) {
    ValidateImmutable(spec.pool.name, old->pool.name, pool.Child("name"), report.hand);
    ValidateImmutable(spec.driver, old->driver, path.Child("driver"), report.hand);
    const bool same_node = spec.node_name == nullptr || old->node_name == nullptr
                               ? spec.node_name == old->node_name
                               : *spec.node_name == *old->node_name;
    if (!same_node) {
      report.hand.Invalid(path.Child("nodeName"),
                          spec.node_name != nullptr ? BadValue(*spec.node_name) : BadValue::Null(),
                          "field is immutable");
    }
  }
  ValidateNodeChoice(spec, path, report.hand);
  if (spec.shared_counters.items != nullptr && spec.devices.items != nullptr) {
    report.hand.Invalid(path, "", "only one of `sharedCounters` or `devices` is allowed");
  }
  ValidateDevices(context, spec, old, path.Child("devices"), report);
  ValidateSharedCounters(spec.shared_counters, path.Child("sharedCounters"), report);
  if (spec.partition_type_attribute != nullptr) {
    ValidatePartitionType(spec, path, report);
  }
  ValidateSkipNodeOperations(spec.skip_node_operations, path.Child("skipNodeOperations"), report);
}

void ValidateCreate(const StrategyContext& context, const ResourceSlice& slice, Report& report) {
  ValidateObjectMeta(
      slice.metadata, Scope::kCluster, NameRule::kDnsSubdomain, Path("metadata"), report.hand);
  ValidateSpec(context, slice.spec, nullptr, report);
}

void ValidateUpdate(const StrategyContext& context,
                    const ResourceSlice& next,
                    const ResourceSlice& old,
                    Report& report) {
  ValidateObjectMetaUpdate(next.metadata, old.metadata, Path("metadata"), report.hand);
  ValidateSpec(context, next.spec, &old.spec, report);
}

void Warnings(const void* root, const void* /*old*/, std::vector<std::string>& out) {
  const Str driver = static_cast<const ResourceSlice*>(root)->spec.driver;
  if (std::ranges::any_of(driver, [](char c) { return c >= 'A' && c <= 'Z'; })) {
    out.push_back(fmt::format(
        "spec.driver: driver names should be lowercase; {} contains uppercase characters",
        Quote(driver)));
  }
}

constexpr std::array<UpdateRules, 1> kUpdates = {{
    {"", &Erased<ResourceSlice, PrepareForUpdate>, &Erased<ResourceSlice, ValidateUpdate>},
}};

}  // namespace

const Strategy kResourceSliceStrategy = {
    .type = &kResourceSliceDesc,
    .scope = Scope::kCluster,
    .answers_deleted_object = true,
    .has_generation = true,
    .metadata_offset = offsetof(ResourceSlice, metadata),
    .apply_defaults = &Erased<ResourceSlice, Default>,
    .prepare_for_create = &Erased<ResourceSlice, PrepareForCreate>,
    .validate_create = &Erased<ResourceSlice, ValidateCreate>,
    .updates = kUpdates,
    .warnings = &Warnings,
};

}  // namespace allot::api::resource
