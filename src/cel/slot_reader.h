// Reads what slots want straight from a device, without binding it. Thread safety: one thread.
#pragma once

#include <span>

#include "cel/context.h"
#include "cel/device.h"
#include "cel/slots.h"

namespace allot::cel {

/// Fills `out` with the values of the slots. False: the device cannot be bound and every expression
/// on it fails. REQUIRES: out.size() == slots.size().
[[nodiscard]] bool ReadSlots(Context& context,
                             const DeviceView& device,
                             std::span<const SlotKey> slots,
                             std::span<Value> out);

/// Whether a device can be bound as far as this attribute goes.
[[nodiscard]] bool IsBindable(const AttributeValue& attribute);

}  // namespace allot::cel
