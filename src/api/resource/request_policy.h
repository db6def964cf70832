// Validation of how a shareable device's capacity may be consumed. Module-private.
#pragma once

#include "api/resource/rules.h"
#include "quantity/quantity.h"

namespace allot::api::resource {

void ValidateRequestPolicy(const GateSet& gates,
                           const quantity::Quantity& capacity,
                           const CapacityRequestPolicy& policy,
                           const Path& path,
                           FieldErrors& errors);

}  // namespace allot::api::resource
