// Workload: what the containers of a simulated pod do: run for how long, and exit with which code.
//
// Told by annotations (sim.allot.dev/run-seconds, sim.allot.dev/exit-code) or read off the command:
// `sleep N`, `true`, `false`, and shell lines made of those, `exit N` and commands that end at
// once. Everything else runs until it is deleted, as a server would.  Thread safety: pure
// functions.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/v1.gen.h"
#include "base/status.h"
#include "schema/object.h"

namespace allot::node {

inline constexpr std::string_view kRunSecondsAnnotation = "sim.allot.dev/run-seconds";
inline constexpr std::string_view kExitCodeAnnotation = "sim.allot.dev/exit-code";

/// How one container behaves after it was started.
struct ContainerRun {
  /// Unset: until it is stopped.
  std::optional<std::chrono::milliseconds> duration;
  int exit_code = 0;

  friend bool operator==(const ContainerRun&, const ContainerRun&) = default;
};

/// What the command line of a container does.
[[nodiscard]] ContainerRun RunOfCommand(const std::vector<std::string_view>& words);
/// What a `sh -c` line does.
[[nodiscard]] ContainerRun RunOfScript(std::string_view script);
/// What a container of the pod does; annotations of the pod go before the command.
[[nodiscard]] ContainerRun RunOfContainer(const api::core::Pod& pod,
                                          const api::core::Container& container);

}  // namespace allot::node
