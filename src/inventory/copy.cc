#include "inventory/copy.h"

namespace allot::inventory {
namespace {

namespace res = api::resource;
using api::core::NodeSelector;
using api::core::NodeSelectorRequirement;
using api::core::NodeSelectorTerm;
using base::Arena;
using quantity::Quantity;
using schema::List;
using schema::Map;
using schema::MapEntry;
using schema::Str;

template <typename T, typename Copy>
List<T> CopyList(const List<T>& from, Arena& arena, Copy copy) {
  List<T> to;
  if (from.items == nullptr) {
    return to;
  }
  // Present but empty stays so: `bindingConditions: []` counts as set.
  T* const items = arena.NewArray<T>(from.empty() ? 1 : from.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    items[i] = copy(from[i]);
  }
  to.items = items;
  to.count = from.count;
  return to;
}

template <typename V, typename Copy>
Map<V> CopyMap(const Map<V>& from, Arena& arena, Copy copy) {
  Map<V> to;
  static_cast<List<MapEntry<V>>&>(to) =
      CopyList<MapEntry<V>>(from, arena, [&](const MapEntry<V>& entry) {
        return MapEntry<V>{arena.Copy(entry.key), copy(entry.value)};
      });
  return to;
}

template <typename T>
const T* CopyScalar(const T* from, Arena& arena) {
  return from != nullptr ? arena.New<T>(*from) : nullptr;
}

const Str* CopyText(const Str* from, Arena& arena) {
  return from != nullptr ? arena.New<Str>(arena.Copy(*from)) : nullptr;
}

template <typename T, typename Copy>
const T* CopyPointee(const T* from, Arena& arena, Copy copy) {
  return from != nullptr ? arena.New<T>(copy(*from)) : nullptr;
}

template <typename T>
List<T> CopyScalars(const List<T>& from, Arena& arena) {
  return CopyList<T>(from, arena, [](const T& value) { return value; });
}

List<NodeSelectorRequirement> CopyRequirements(const List<NodeSelectorRequirement>& from,
                                               Arena& arena) {
  return CopyList<NodeSelectorRequirement>(from, arena, [&](const NodeSelectorRequirement& r) {
    return NodeSelectorRequirement{
        arena.Copy(r.key), arena.Copy(r.operator_), CopyTexts(r.values, arena)};
  });
}

res::CapacityRequestPolicy CopyPolicy(const res::CapacityRequestPolicy& from, Arena& arena) {
  res::CapacityRequestPolicy to;
  to.default_ = CopyScalar(from.default_, arena);
  to.valid_values = CopyScalars(from.valid_values, arena);
  to.valid_range =
      CopyPointee(from.valid_range, arena, [&](const res::CapacityRequestPolicyRange& range) {
        return res::CapacityRequestPolicyRange{CopyScalar(range.min, arena),
                                               CopyScalar(range.max, arena),
                                               CopyScalar(range.step, arena)};
      });
  return to;
}

res::DeviceAttribute CopyAttribute(const res::DeviceAttribute& from, Arena& arena) {
  res::DeviceAttribute to;
  to.int_ = CopyScalar(from.int_, arena);
  to.bool_ = CopyScalar(from.bool_, arena);
  to.string = CopyText(from.string, arena);
  to.version = CopyText(from.version, arena);
  to.ints = CopyScalars(from.ints, arena);
  to.bools = CopyScalars(from.bools, arena);
  to.strings = CopyTexts(from.strings, arena);
  to.versions = CopyTexts(from.versions, arena);
  return to;
}

Map<res::Counter> CopyCounters(const Map<res::Counter>& from, Arena& arena) {
  return CopyMap<res::Counter>(from, arena, [](const res::Counter& counter) { return counter; });
}

res::NodeAllocatableResource CopyNodeAllocatable(const res::NodeAllocatableResource& from,
                                                 Arena& arena) {
  res::NodeAllocatableResource to;
  to.mapping = CopyPointee(from.mapping, arena, [&](const res::NodeAllocatableMapping& mapping) {
    return res::NodeAllocatableMapping{CopyText(mapping.capacity_key, arena),
                                       CopyScalar(mapping.capacity_multiplier, arena),
                                       CopyScalar(mapping.device_multiplier, arena)};
  });
  to.overhead =
      CopyPointee(from.overhead, arena, [&](const res::NodeAllocatableOverhead& overhead) {
        return res::NodeAllocatableOverhead{CopyScalar(overhead.per_pod, arena),
                                            CopyScalar(overhead.per_container, arena)};
      });
  return to;
}

res::Device CopyDevice(const res::Device& from, Arena& arena) {
  res::Device to;
  to.name = arena.Copy(from.name);
  to.attributes = CopyMap<res::DeviceAttribute>(
      from.attributes, arena, [&](const auto& value) { return CopyAttribute(value, arena); });
  to.capacity = CopyMap<res::DeviceCapacity>(from.capacity, arena, [&](const auto& capacity) {
    return res::DeviceCapacity{capacity.value,
                               CopyPointee(capacity.request_policy, arena, [&](const auto& policy) {
                                 return CopyPolicy(policy, arena);
                               })};
  });
  to.consumes_counters = CopyList<res::DeviceCounterConsumption>(
      from.consumes_counters, arena, [&](const res::DeviceCounterConsumption& use) {
        return res::DeviceCounterConsumption{arena.Copy(use.counter_set),
                                             CopyCounters(use.counters, arena),
                                             CopyTexts(use.compatibility_groups, arena)};
      });
  to.node_name = CopyText(from.node_name, arena);
  to.node_selector = CopyPointee(from.node_selector, arena, [&](const NodeSelector& selector) {
    return CopyNodeSelector(selector, arena);
  });
  to.all_nodes = CopyScalar(from.all_nodes, arena);
  to.taints = CopyList<res::DeviceTaint>(
      from.taints, arena, [&](const auto& taint) { return CopyTaint(taint, arena); });
  to.binds_to_node = CopyScalar(from.binds_to_node, arena);
  to.binding_conditions = CopyTexts(from.binding_conditions, arena);
  to.binding_failure_conditions = CopyTexts(from.binding_failure_conditions, arena);
  to.allow_multiple_allocations = CopyScalar(from.allow_multiple_allocations, arena);
  to.node_allocatable_resources = CopyMap<res::NodeAllocatableResource>(
      from.node_allocatable_resources, arena, [&](const auto& resource) {
        return CopyNodeAllocatable(resource, arena);
      });
  return to;
}

}  // namespace

List<Str> CopyTexts(const List<Str>& from, Arena& arena) {
  return CopyList<Str>(from, arena, [&](Str text) { return arena.Copy(text); });
}

Map<Str> CopyLabels(const Map<Str>& from, Arena& arena) {
  return CopyMap<Str>(from, arena, [&](Str text) { return arena.Copy(text); });
}

NodeSelector CopyNodeSelector(const NodeSelector& from, Arena& arena) {
  NodeSelector to;
  to.node_selector_terms = CopyList<NodeSelectorTerm>(
      from.node_selector_terms, arena, [&](const NodeSelectorTerm& term) {
        return NodeSelectorTerm{CopyRequirements(term.match_expressions, arena),
                                CopyRequirements(term.match_fields, arena)};
      });
  return to;
}

res::DeviceTaint CopyTaint(const res::DeviceTaint& from, Arena& arena) {
  return {arena.Copy(from.key),
          arena.Copy(from.value),
          arena.Copy(from.effect),
          CopyScalar(from.time_added, arena)};
}

res::ResourceSliceSpec CopySliceSpec(const res::ResourceSliceSpec& from, Arena& arena) {
  res::ResourceSliceSpec to;
  to.driver = arena.Copy(from.driver);
  to.pool = from.pool;
  to.pool.name = arena.Copy(from.pool.name);
  to.node_name = CopyText(from.node_name, arena);
  to.node_selector = CopyPointee(from.node_selector, arena, [&](const NodeSelector& selector) {
    return CopyNodeSelector(selector, arena);
  });
  to.all_nodes = CopyScalar(from.all_nodes, arena);
  to.devices = CopyList<res::Device>(
      from.devices, arena, [&](const auto& device) { return CopyDevice(device, arena); });
  to.per_device_node_selection = CopyScalar(from.per_device_node_selection, arena);
  to.shared_counters =
      CopyList<res::CounterSet>(from.shared_counters, arena, [&](const res::CounterSet& set) {
        return res::CounterSet{arena.Copy(set.name), CopyCounters(set.counters, arena)};
      });
  to.partition_type_attribute = CopyText(from.partition_type_attribute, arena);
  to.skip_node_operations = CopyTexts(from.skip_node_operations, arena);
  return to;
}

res::DeviceClassSpec CopyClassSpec(const res::DeviceClassSpec& from, Arena& arena) {
  res::DeviceClassSpec to;
  to.selectors = CopyList<res::DeviceSelector>(
      from.selectors, arena, [&](const res::DeviceSelector& selector) {
        return res::DeviceSelector{
            CopyPointee(selector.cel, arena, [&](const res::CELDeviceSelector& cel) {
              return res::CELDeviceSelector{arena.Copy(cel.expression)};
            })};
      });
  to.config = CopyList<res::DeviceClassConfiguration>(
      from.config, arena, [&](const res::DeviceClassConfiguration& config) {
        res::DeviceClassConfiguration copy;
        copy.device_configuration.opaque =
            CopyPointee(config.device_configuration.opaque,
                        arena,
                        [&](const res::OpaqueDeviceConfiguration& opaque) {
                          return res::OpaqueDeviceConfiguration{
                              arena.Copy(opaque.driver), {arena.Copy(opaque.parameters.text)}};
                        });
        return copy;
      });
  to.extended_resource_name = CopyText(from.extended_resource_name, arena);
  return to;
}

}  // namespace allot::inventory
