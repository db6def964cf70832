// The static cost of a checked expression: the worst case API validation compares with the limit.
// Thread safety: pure function.
#pragma once

#include <cstdint>

#include "cel/ast.h"
#include "cel/checker.h"
#include "cel/environment.h"

namespace allot::cel {

/// The maximum cel-go's estimator and that of Kubernetes give; 2^64-1 where there is no bound.
[[nodiscard]] std::uint64_t EstimateMaxCost(const Env& env,
                                            const CheckedTree& tree,
                                            std::uint32_t id_count,
                                            base::Arena& arena);

}  // namespace allot::cel
