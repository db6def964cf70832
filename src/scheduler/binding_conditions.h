// Binding conditions: whether the devices of a claim are ready for the pod to be bound (KEP-5007).
// Thread safety: pure functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "api/resource/v1.gen.h"
#include "quantity/time.h"

namespace allot::scheduler {

enum class BindingState : std::uint8_t {
  kReady,  ///< all conditions are true, or there are none
  kWaiting,
  kFailed,  ///< a driver says it will not work
  kTimedOut,
};

struct BindingCheck {
  BindingState state = BindingState::kReady;
  std::string error;  ///< upstream's text for kFailed and kTimedOut
};

/// Whether any device of the claim has binding conditions.
[[nodiscard]] bool HasBindingConditions(const api::resource::AllocationResult& allocation);

/// Looks at the devices in the order of the allocation; the first one that is not ready decides.
[[nodiscard]] BindingCheck CheckBinding(const api::resource::ResourceClaim& claim,
                                        quantity::Time now,
                                        std::chrono::seconds timeout);

}  // namespace allot::scheduler
