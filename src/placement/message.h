// Messages: the texts of a failed attempt, put together as upstream does.
// Thread safety: pure functions. Internal to the module. See: reference messages, section 1.
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace allot::placement {

/// How many nodes gave each reason.
using ReasonCounts = std::map<std::string, std::size_t>;

/// "0/N nodes are available: 1 Insufficient cpu, 2 cannot allocate all claims."
[[nodiscard]] std::string FilterText(std::size_t nodes, const ReasonCounts& reasons);
/// "0/N nodes are available: REASON."
[[nodiscard]] std::string PreFilterText(std::size_t nodes, const std::string& reason);
/// "preemption: 0/N nodes are available: ..."
[[nodiscard]] std::string PreemptionText(std::size_t nodes, const ReasonCounts& reasons);

}  // namespace allot::placement
