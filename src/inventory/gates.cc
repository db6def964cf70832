#include "inventory/gates.h"

namespace allot::inventory {

Features FeaturesOf(const api::GateSet& gates) {
  using api::Gate;
  Features features;
  features.admin_access = gates.Enabled(Gate::kDRAAdminAccess);
  features.prioritized_list = gates.Enabled(Gate::kDRAPrioritizedList);
  features.partitionable_devices = gates.Enabled(Gate::kDRAPartitionableDevices);
  features.device_taints = gates.Enabled(Gate::kDRADeviceTaints);
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

}  // namespace allot::inventory
