// Capacity: what a request consumes of a device's capacities, and whether it is left.
// Thread safety: pure functions. See: KEP-5075.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "allocator/allocator.h"
#include "api/resource/v1.gen.h"
#include "base/status.h"
#include "inventory/allocated_state.h"
#include "inventory/device.h"

namespace allot::allocator {

/// What `requests` (null: nothing) makes of every capacity of the device, in the order of its map.
/// Errors: kInvalid, fatal for the pod, with upstream's text from `capacity "NAME": ` on.
[[nodiscard]] base::Result<void> ConsumptionOf(const schema::Map<quantity::Quantity>* requests,
                                               const inventory::Device& device,
                                               bool fractional_range,
                                               std::vector<CapacityAmount>& out);

/// True when the request names a capacity the device does not have.
[[nodiscard]] bool AsksForUnknownCapacity(const schema::Map<quantity::Quantity>* requests,
                                          const inventory::Device& device);

/// True when `amount` breaks the capacity's request policy.
[[nodiscard]] bool ViolatesPolicy(const quantity::Quantity& amount,
                                  const api::resource::CapacityRequestPolicy* policy,
                                  bool fractional_range);

}  // namespace allot::allocator
