// Scores: how much a feasible node suits a pod. Thread safety: pure functions. Internal to the
// module.
#pragma once

#include <cstdint>
#include <vector>

#include "placement/filters.h"

namespace allot::placement {

/// The parts of a node's score before they are scaled over all feasible nodes.
struct RawScore {
  std::int64_t resources = 0;    ///< least allocated + balanced, 0 to 200
  std::int64_t intolerable = 0;  ///< PreferNoSchedule taints that are not tolerated
  std::int64_t affinity = 0;     ///< weights of preferred terms that match
  std::int64_t devices = 0;      ///< 8 - index of the chosen subrequest, summed
};

[[nodiscard]] RawScore ScoreNode(const PodFacts& pod, const NodeInfo& node);

/// Upstream's sum of weighted, normalised scores. `max` holds the largest raw parts over all nodes.
[[nodiscard]] std::int64_t Combine(const RawScore& raw, const RawScore& max);

/// Prefers nodes whose devices are mostly held, then those that upstream likes least: gaps stay
/// whole.
[[nodiscard]] std::int64_t PackingScore(std::int64_t compatible,
                                        std::int64_t held,
                                        std::int64_t devices);

}  // namespace allot::placement
