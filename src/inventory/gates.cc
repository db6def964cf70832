#include "inventory/gates.h"

namespace allot::inventory {

Features FeaturesOf(const api::GateSet& gates) {
  using api::Gate;
  Features features;
  features.admin_access = gates.Enabled(Gate::kDRAAdminAccess);
  features.prioritized_list = gates.Enabled(Gate::kDRAPrioritizedList);
  features.partitionable_devices = gates.Enabled(Gate::kDRAPartitionableDevices);
  features.device_taints = gates.Enabled(Gate::kDRADeviceTaints);
  features.device_taint_rules = gates.Enabled(Gate::kDRADeviceTaintRules);
  features.device_binding_and_status = gates.Enabled(Gate::kDRADeviceBindingConditions) &&
                                       gates.Enabled(Gate::kDRAResourceClaimDeviceStatus);
  features.consumable_capacity = gates.Enabled(Gate::kDRAConsumableCapacity);
  features.fractional_capacity_range = gates.Enabled(Gate::kDRAFractionalCapacityRange);
  features.list_type_attributes = gates.Enabled(Gate::kDRAListTypeAttributes);
  features.optional_node_operations = gates.Enabled(Gate::kDRAOptionalNodeOperations);
  features.derived_attributes = gates.Enabled(Gate::kDRADerivedAttributes);
  features.compatibility_groups = gates.Enabled(Gate::kDRADeviceCompatibilityGroups);
  features.node_allocatable_resources = gates.Enabled(Gate::kDRANodeAllocatableResources);
  return features;
}

std::vector<std::string_view> GatesWithoutEffect(const api::GateSet& gates) {
  std::vector<std::string_view> names;
  const Features features = FeaturesOf(gates);
  const auto all = api::Gates();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto gate = static_cast<api::Gate>(i);
    if (gates.Enabled(gate) == all[i].on) {
      continue;
    }
    api::GateSet without = gates;
    without.Set(gate, all[i].on);
    if (FeaturesOf(without) == features) {
      names.push_back(all[i].name);
    }
  }
  return names;
}

}  // namespace allot::inventory
