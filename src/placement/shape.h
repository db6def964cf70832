// Shape: what of a pod and its claims decides where it fits; pods of one shape share answers.
// Thread safety: pure functions. Internal to the module.
#pragma once

#include <cstdint>
#include <span>

#include "placement/filters.h"
#include "placement/placement.h"

namespace allot::placement {

/// 128 bits of content: equal for pods that every node answers alike.
struct ShapeKey {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  friend bool operator==(const ShapeKey&, const ShapeKey&) = default;
};

struct ShapeKeyHash {
  std::size_t operator()(const ShapeKey& key) const { return key.a; }
};

/// The key of the claims alone. Cost: O(bytes of their specs).
[[nodiscard]] ShapeKey ClaimsKeyOf(const api::core::Pod& pod,
                                   std::span<const ClaimInput> claims,
                                   const inventory::Features& features);
/// The key of the pod with such claims. Cost: O(bytes of its spec).
[[nodiscard]] ShapeKey ShapeOf(const PodFacts& pod,
                               const ShapeKey& claims,
                               Profile profile,
                               const inventory::Features& features);

/// True when the devices a node would give are part of its score.
[[nodiscard]] bool DevicesScore(std::span<const ClaimInput> claims);

/// True when the score of a node depends on that node alone (as long as no node has a soft taint).
[[nodiscard]] bool ScoresStandAlone(const PodFacts& pod, std::span<const ClaimInput> claims);

}  // namespace allot::placement
