#include "cli/diagnosis_text.h"

#include <string_view>

namespace allot::cli {
namespace {

using allocator::Cause;
using allocator::CauseName;

void AddCause(const Cause& cause, std::string_view indent, std::string& out) {
  out += std::string(indent) + std::string(CauseName(cause.kind));
  if (!cause.subject.empty()) {
    out += ": " + cause.subject;
  }
  const bool of_node = cause.subject.starts_with("node") || cause.subject.contains(" nodes, ");
  if (cause.count > 0 && !of_node) {
    out += " (" + std::to_string(cause.count) + ")";
  }
  out += "\n";
  if (cause.nodes > 1 && !of_node) {
    out += std::string(indent) + "  on:          " + std::to_string(cause.nodes) +
           " nodes, such as " + cause.example_node + "\n";
  }
  if (!cause.example.empty()) {
    out += std::string(indent) + "  for example: " + cause.example + "\n";
  }
  if (!cause.hint.empty()) {
    out += std::string(indent) + "  what helps:  " + cause.hint + "\n";
  }
}

void AddFunnel(const allocator::RequestFunnel& funnel, std::string& out) {
  out += "  request " + funnel.request + " of claim " + funnel.claim + " wants " +
         std::to_string(funnel.wanted) + ":\n";
  out += "    " + std::to_string(funnel.published) + " devices published for the node\n";
  for (const allocator::FunnelStage& stage : funnel.stages) {
    out += "    " + std::to_string(stage.left) + " left after " +
           std::string(CauseName(stage.lost_to));
    if (!stage.example.empty()) {
      out += " (" + stage.example + ")";
    }
    out += "\n";
  }
}

}  // namespace

std::string DiagnosisText(const allocator::Diagnosis& diagnosis) {
  std::string out = diagnosis.message + "\n";
  if (!diagnosis.causes.empty()) {
    out += "\nWhy, the most telling first:\n";
    for (const Cause& cause : diagnosis.causes) {
      AddCause(cause, "  ", out);
    }
  }
  for (const allocator::NodeDiagnosis& group : diagnosis.groups) {
    out += "\n" +
           (group.nodes == 1 ? "Node " + group.example_node
                             : std::to_string(group.nodes) + " nodes like " + group.example_node) +
           ":\n";
    for (const std::string& reason : group.reasons) {
      out += "  " + reason + "\n";
    }
    for (const Cause& cause : group.causes) {
      AddCause(cause, "  ", out);
    }
    if (group.reasons.empty() && group.causes.empty()) {
      out += "  nothing is in the pod's way here\n";
    }
    for (const allocator::RequestFunnel& funnel : group.funnels) {
      AddFunnel(funnel, out);
    }
  }
  if (diagnosis.nodes_left_out > 0) {
    out += "\n" + std::to_string(diagnosis.nodes_left_out) +
           " more nodes, of other kinds, are out for causes that tell less.\n";
  }
  if (diagnosis.nodes_not_looked_at > 0) {
    out += "\n" + std::to_string(diagnosis.nodes_not_looked_at) +
           " more nodes, of other kinds, were not looked at one by one.\n";
  }
  return out;
}

}  // namespace allot::cli
