#include "placement/message.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace allot::placement {

std::string FilterText(std::size_t nodes, const ReasonCounts& reasons) {
  std::vector<std::string> parts;
  for (const auto& [reason, count] : reasons) {
    parts.push_back(fmt::format("{} {}", count, reason));
  }
  std::sort(parts.begin(), parts.end());
  std::string text = fmt::format("0/{} nodes are available:", nodes);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    text += (i == 0 ? " " : ", ") + parts[i];
  }
  return parts.empty() ? text : text + ".";
}

std::string PreFilterText(std::size_t nodes, const std::string& reason) {
  return fmt::format("0/{} nodes are available: {}.", nodes, reason);
}

std::string PreemptionText(std::size_t nodes, const ReasonCounts& reasons) {
  return "preemption: " + FilterText(nodes, reasons);
}

}  // namespace allot::placement
