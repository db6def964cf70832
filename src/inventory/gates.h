// FeaturesOf: the allocation features of a set of gates. Thread safety: pure function.
#pragma once

#include "api/gates.h"
#include "inventory/features.h"

namespace allot::inventory {

[[nodiscard]] Features FeaturesOf(const api::GateSet& gates);

}  // namespace allot::inventory
