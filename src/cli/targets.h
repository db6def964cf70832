// Targets: the objects a verb works on, from "TYPE NAME...", "TYPE/NAME ...", "TYPE,TYPE", or -f
// files. Thread safety: one thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "cli/discovery.h"

namespace allot::cli {

struct Target {
  const ApiResource* resource = nullptr;
  std::string name;  // "" = all of them
};

/// Errors: kInvalid for mixed or missing arguments and for names across all namespaces, as kubectl
/// words them; those of Discovery::Find.
[[nodiscard]] base::Result<std::vector<Target>> ParseTargets(
    const Discovery& discovery,
    const Connection& connection,
    const std::vector<std::string>& arguments);

/// Names and selectors exclude each other. Errors: kInvalid when both are there.
[[nodiscard]] base::Result<void> CheckSelectors(const std::vector<Target>& targets,
                                                std::string_view selector,
                                                std::string_view field_selector = "");

/// "a=1&b=2" from pairs, empty values left out, with '?' in front; "" when nothing is left.
[[nodiscard]] std::string Query(const std::vector<std::pair<std::string, std::string>>& parameters);

}  // namespace allot::cli
