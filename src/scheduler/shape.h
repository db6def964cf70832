// Shape of a pod: all that decides where it fits, as bytes. Pods of equal shape get equal answers.
// Thread safety: pure functions.
#pragma once

#include <span>
#include <string>

#include "api/core/v1.gen.h"
#include "placement/placement.h"

namespace allot::scheduler {

/// Bytes equal for pods that the same nodes and devices fit: resources, ports, selectors, affinity,
/// tolerations, and the specs of generated claims. Empty when the pod is one of a kind (it names
/// claims that exist apart from it). Cost: about one encoding of the pod.
[[nodiscard]] std::string ShapeOf(const api::core::Pod& pod,
                                  std::span<const placement::ClaimInput> claims);

}  // namespace allot::scheduler
