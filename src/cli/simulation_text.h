// What `allot simulate` prints: one table, or everything as YAML or JSON. Both say the same.
// Thread safety: pure functions.
#pragma once

#include <string>

#include "analysis/simulate.h"
#include "base/status.h"

namespace allot::cli {

/// A row a pod, then the refusals, then a line that sums up.
[[nodiscard]] std::string SimulationTable(const analysis::Simulation& simulation);
/// `kind: Simulation` with the allocations and statuses as the API has them.
[[nodiscard]] base::Result<std::string> SimulationTree(const analysis::Simulation& simulation,
                                                       bool json);

}  // namespace allot::cli
