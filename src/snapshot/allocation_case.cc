#include "snapshot/allocation_case.h"

#include <array>

#include <fmt/format.h>

#include "api/desc.h"
#include "schema/codec.h"
#include "snapshot/raw_json.h"
#include "text/json.h"
#include "text/value.h"

namespace allot::snapshot {
namespace {

using inventory::Features;
using inventory::Variant;
using text::Value;

struct Switch {
  std::string_view name;
  bool Features::* member;
};

constexpr std::array<Switch, 11> kSwitches = {{
    {"AdminAccess", &Features::admin_access},
    {"PrioritizedList", &Features::prioritized_list},
    {"PartitionableDevices", &Features::partitionable_devices},
    {"DeviceTaints", &Features::device_taints},
    {"DeviceBindingAndStatus", &Features::device_binding_and_status},
    {"ConsumableCapacity", &Features::consumable_capacity},
    {"FractionalCapacityRange", &Features::fractional_capacity_range},
    {"ListTypeAttributes", &Features::list_type_attributes},
    {"OptionalNodeOperations", &Features::optional_node_operations},
    {"DerivedAttributes", &Features::derived_attributes},
    {"CompatibilityGroups", &Features::compatibility_groups},
}};

constexpr std::array<std::string_view, 3> kVariants = {"stable", "incubating", "experimental"};

std::unexpected<base::Status> Bad(std::string text) {
  return base::Error(base::Reason::kBadRequest, std::move(text));
}

base::Result<void> ReadFeatures(const Value& from, Features& to) {
  if (const Value* const base = from.Find("base")) {
    const std::string_view name = base->AsString();
    if (name == "none" || name == "all") {
      for (const Switch& entry : kSwitches) {
        to.*entry.member = name == "all";
      }
    } else if (name != "default") {
      return Bad(fmt::format("features.base \"{}\" is not one of default, none, all", name));
    }
  }
  for (const text::Member& member : from.members()) {
    if (member.key == "base") {
      continue;
    }
    bool known = false;
    for (const Switch& entry : kSwitches) {
      if (entry.name == member.key) {
        to.*entry.member = member.value.AsBool();
        known = true;
      }
    }
    if (!known) {
      return Bad(fmt::format("unknown feature \"{}\"", member.key));
    }
    if (!member.value.is_bool()) {
      return Bad(fmt::format("feature \"{}\" is neither true nor false", member.key));
    }
  }
  return {};
}

void ReadVariant(std::string_view name, AllocationCase& out) {
  for (std::size_t i = 0; i < kVariants.size(); ++i) {
    if (kVariants[i] != name) {
      continue;
    }
    if (static_cast<Variant>(i) < out.features.variant()) {
      out.unsupported = fmt::format("the {} rules do not know all enabled features", name);
    }
    out.features.least_variant = static_cast<Variant>(i);
    return;
  }
  if (!name.empty()) {
    out.unsupported = fmt::format("unknown implementation \"{}\"", name);
  }
}

template <typename T>
base::Result<const T*> Decode(std::string_view from, base::Arena& arena) {
  T* const object = arena.New<T>();
  const std::string_view json = arena.Copy(from);
  ALLOT_RETURN_IF_ERROR(schema::DecodeJson(api::Desc<T>(), json, arena, object));
  return object;
}

template <typename T>
base::Result<void> DecodeAll(std::string_view list,
                             base::Arena& arena,
                             std::vector<const T*>& out) {
  for (const std::string_view item : RawItems(list)) {
    ALLOT_ASSIGN_OR_RETURN(const T* object, Decode<T>(item, arena));
    out.push_back(object);
  }
  return {};
}

base::Result<void> ReadAllocated(const Value& from, std::vector<AllocatedDevice>& out) {
  for (const std::string_view list : {"devices", "shared", "consumedCapacity"}) {
    const Value* const items = from.Find(list);
    if (items == nullptr) {
      continue;
    }
    for (const Value& item : items->items()) {
      AllocatedDevice device;
      device.driver = item.StringAt({"driver"});
      device.pool = item.StringAt({"pool"});
      device.device = item.StringAt({"device"});
      device.shared = list != "devices";
      if (const Value* const capacity = item.Find("capacity")) {
        for (const text::Member& member : capacity->members()) {
          const std::string amount = member.value.is_string() ? std::string(member.value.AsString())
                                                              : text::ToJson(member.value);
          ALLOT_ASSIGN_OR_RETURN(const quantity::Quantity value, quantity::ParseQuantity(amount));
          device.consumed.push_back({member.key, value});
        }
      }
      out.push_back(std::move(device));
    }
  }
  return {};
}

void Append(std::string& out, std::string_view key, std::string_view text) {
  out += fmt::format(",\"{}\":", key);
  text::AppendJsonString(text, out);
}

}  // namespace

base::Result<AllocationCase> ParseAllocationCase(std::string_view line) {
  ALLOT_ASSIGN_OR_RETURN(const Value root, text::ParseJson(line));
  AllocationCase out;
  out.arena = std::make_unique<base::Arena>(line.size() * 2 + 1024);
  out.id = root.StringAt({"id"});
  if (const Value* const features = root.Find("features")) {
    ALLOT_RETURN_IF_ERROR(ReadFeatures(*features, out.features));
  }
  ReadVariant(root.StringAt({"implementation"}), out);
  const Value* const node = root.Find("node");
  if (node == nullptr || !node->is_object()) {
    return Bad("node is missing");
  }
  ALLOT_ASSIGN_OR_RETURN(out.node, Decode<api::core::Node>(RawMember(line, "node"), *out.arena));
  ALLOT_RETURN_IF_ERROR(DecodeAll(RawMember(line, "classes"), *out.arena, out.classes));
  ALLOT_RETURN_IF_ERROR(DecodeAll(RawMember(line, "slices"), *out.arena, out.slices));
  ALLOT_RETURN_IF_ERROR(DecodeAll(RawMember(line, "claims"), *out.arena, out.claims));
  if (const Value* const allocated = root.Find("allocated")) {
    ALLOT_RETURN_IF_ERROR(ReadAllocated(*allocated, out.allocated));
  }
  return out;
}

std::string FormatAllocationAnswer(const AllocationAnswer& answer) {
  std::string out = "{\"id\":";
  text::AppendJsonString(answer.id, out);
  Append(out, "outcome", answer.outcome);
  out += ",\"results\":";
  if (answer.outcome != "allocated") {
    out += "null";
  } else {
    out += "[";
    for (std::size_t i = 0; i < answer.results.size(); ++i) {
      out += i == 0 ? "" : ",";
      schema::EncodeJson(api::Desc<api::resource::AllocationResult>(), &answer.results[i], out);
    }
    out += "]";
  }
  if (!answer.error.empty()) {
    Append(out, "error", answer.error);
  }
  if (!answer.implementation.empty()) {
    Append(out, "implementation", answer.implementation);
  }
  return out + fmt::format(",\"steps\":{}}}", answer.steps);
}

}  // namespace allot::snapshot
