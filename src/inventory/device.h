// Slices and devices as the allocator sees them: copies of what was published, with dense indices.
//
// A Slice owns all texts of its devices in one arena and never changes once published, except that
// the inventory sets the taints which rules add. Thread safety: read from any thread, written by
// the inventory.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "api/resource/v1.gen.h"
#include "base/arena.h"
#include "inventory/node_selector.h"

namespace allot::inventory {

/// Place of a published device in the columns. A slice's devices have consecutive indices. Reused
/// after a slice goes away; see Inventory::recycled.
enum class DeviceIndex : std::uint32_t {};
/// Identity of driver/pool/device, published or not. Never reused.
enum class DeviceId : std::uint32_t {};

constexpr std::uint32_t Value(DeviceIndex index) {
  return static_cast<std::uint32_t>(index);
}
constexpr std::uint32_t Value(DeviceId id) {
  return static_cast<std::uint32_t>(id);
}

/// The texts of a device identity. Lifetime: the inventory.
struct DeviceName {
  std::string_view driver;
  std::string_view pool;
  std::string_view device;
};

/// Device indices [first, first + count).
struct IndexRange {
  std::uint32_t first;
  std::uint32_t count;
};

struct Slice;
struct Pool;

struct alignas(64) Device {
  const api::resource::Device* spec = nullptr;  ///< Lifetime: the slice.
  const Slice* slice = nullptr;
  DeviceIndex index{};
  DeviceId id{};
  std::uint32_t position = 0;  ///< in spec.devices of the slice
  bool shareable = false;      ///< allowMultipleAllocations
  bool has_binding_conditions = false;
  bool has_counters = false;
  bool has_groups = false;
  bool plain_capacity = false;  ///< no request policies, no negative values
  /// Taints of the slice, then those of matching rules.
  std::vector<const api::resource::DeviceTaint*> taints;
};

struct alignas(64) Slice : std::enable_shared_from_this<Slice> {
  // What a search reads comes first.
  DeviceIndex first{};
  NodeIndex node = kNoNode;     ///< of spec.nodeName when `local`
  bool per_device = false;      ///< perDeviceNodeSelection is true
  bool per_device_set = false;  ///< perDeviceNodeSelection is set, to whatever value
  bool uses_groups = false;     ///< some device declares compatibility groups
  bool has_counters = false;    ///< some device has
  bool has_binding_conditions = false;
  bool local = false;  ///< nodeName is set, and decides
  /// The stable rules take counter sets for every node, whatever the slice says.
  bool everywhere = false;
  std::vector<Device> devices;
  const api::resource::ResourceSliceSpec* spec = nullptr;  ///< Lifetime: this.
  std::string_view name;
  Pool* pool = nullptr;  ///< Lifetime: the inventory.
  base::Arena arena;
};

using SlicePtr = std::shared_ptr<const Slice>;

}  // namespace allot::inventory
