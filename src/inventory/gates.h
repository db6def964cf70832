// FeaturesOf: the allocation features of a set of gates. Thread safety: pure function.
#pragma once

#include <string_view>
#include <vector>

#include "api/gates.h"
#include "inventory/features.h"

namespace allot::inventory {

[[nodiscard]] Features FeaturesOf(const api::GateSet& gates);
/// Gates that differ from their default without any effect on where pods go.
[[nodiscard]] std::vector<std::string_view> GatesWithoutEffect(const api::GateSet& gates);

}  // namespace allot::inventory
