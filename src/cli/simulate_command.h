// simulate: schedules the pending pods of files of cluster objects, without a cluster.
//
//   allot simulate -f DIR|FILE|- [-o table|yaml|json] [--feature-gates ...] [--profile
//   compat|packing]
//                  [--per-node NODE]
//   allot simulate --cases < problems.jsonl > answers.jsonl
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "cli/io.h"

namespace allot::cli {

/// Exit code of simulate when some pod found no place.
inline constexpr int kNotPlaced = 3;

int RunSimulate(Arguments arguments, const Io& io);

/// Says on the error output what a simulation is busy with when it takes long. Lifetime: `io`.
[[nodiscard]] std::function<void(std::string_view pod, std::uint64_t cost)> ProgressTo(
    const Io& io);

}  // namespace allot::cli
