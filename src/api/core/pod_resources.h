// What a pod asks for as a whole: requests and limits over its containers, and its QoS class.
// Thread safety: stateless.
#pragma once

#include <functional>
#include <map>
#include <string_view>

#include "api/core/v1.gen.h"
#include "quantity/quantity.h"

namespace allot::api::core {

using ResourceTotals = std::map<std::string_view, quantity::Quantity>;

/// Requests of a pod's containers: the sum of those that run together, or the largest need on the
/// way there (init containers), whichever is more. Pod-level resources and overhead are not in it.
[[nodiscard]] ResourceTotals AggregateContainerRequests(const PodSpec& spec);
/// The same for limits.
[[nodiscard]] ResourceTotals AggregateContainerLimits(const PodSpec& spec);
/// Whether an init container stays running beside the others.
[[nodiscard]] bool IsRestartable(const Container& init_container);

/// "Guaranteed", "Burstable" or "BestEffort". Lifetime: static.
[[nodiscard]] schema::Str QosClass(const PodSpec& spec);

}  // namespace allot::api::core
