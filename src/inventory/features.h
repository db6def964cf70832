// Features: the feature gates that change what devices may be used and how they are chosen.
//
// One struct of switches for the whole pure wing, made from the gates once at start. Defaults are
// those of a stock Kubernetes 1.37.2. Thread safety: a value.
#pragma once

#include <cstdint>

namespace allot::inventory {

/// Which of upstream's three sets of rules is followed. They differ only where a gate is on that an
/// earlier one does not know; see variant().
enum class Variant : std::uint8_t { kStable, kIncubating, kExperimental };

struct Features {
  bool admin_access = true;
  bool prioritized_list = true;
  bool partitionable_devices = true;
  bool device_taints = true;
  bool device_taint_rules = true;
  bool device_binding_and_status = true;  ///< both gates of binding conditions together
  bool consumable_capacity = true;
  bool fractional_capacity_range = false;
  bool list_type_attributes = false;
  bool optional_node_operations = false;
  bool derived_attributes = false;
  bool compatibility_groups = false;
  bool node_allocatable_resources = false;
  /// Never fall back to rules older than these (tools only).
  Variant least_variant = Variant::kStable;
  /// True: quirks of 1.37.2 that cost a user devices are kept (see docs/differences.md).
  bool compatible = true;

  /// The first of upstream's allocators that knows every gate that is on.
  [[nodiscard]] Variant variant() const {
    Variant needed = Variant::kStable;
    if (list_type_attributes || optional_node_operations || derived_attributes ||
        compatibility_groups) {
      needed = Variant::kExperimental;
    } else if (device_binding_and_status || consumable_capacity || fractional_capacity_range) {
      needed = Variant::kIncubating;
    }
    return needed < least_variant ? least_variant : needed;
  }

  friend bool operator==(const Features&, const Features&) = default;
};

}  // namespace allot::inventory
