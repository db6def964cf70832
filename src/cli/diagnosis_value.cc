#include "cli/diagnosis_value.h"

#include <string>
#include <utility>
#include <vector>

namespace allot::cli {
namespace {

using allocator::CauseName;
using text::Value;

Value CauseValue(const allocator::Cause& cause) {
  Value out = Value::Object();
  out.Set("kind", Value(CauseName(cause.kind)));
  out.Set("subject", Value(cause.subject));
  out.Set("count", Value(cause.count));
  if (cause.nodes > 0) {
    out.Set("nodes", Value(cause.nodes));
    out.Set("exampleNode", Value(cause.example_node));
  }
  if (!cause.example.empty()) {
    out.Set("example", Value(cause.example));
  }
  if (!cause.hint.empty()) {
    out.Set("hint", Value(cause.hint));
  }
  return out;
}

Value CausesValue(const std::vector<allocator::Cause>& causes) {
  Value out = Value::Array();
  for (const allocator::Cause& cause : causes) {
    out.Append(CauseValue(cause));
  }
  return out;
}

Value GroupValue(const allocator::NodeDiagnosis& group) {
  Value out = Value::Object();
  out.Set("nodes", Value(group.nodes));
  out.Set("exampleNode", Value(group.example_node));
  Value reasons = Value::Array();
  for (const std::string& reason : group.reasons) {
    reasons.Append(Value(reason));
  }
  out.Set("reasons", std::move(reasons));
  out.Set("causes", CausesValue(group.causes));
  Value funnels = Value::Array();
  for (const allocator::RequestFunnel& funnel : group.funnels) {
    Value one = Value::Object();
    one.Set("claim", Value(funnel.claim));
    one.Set("request", Value(funnel.request));
    one.Set("wanted", Value(funnel.wanted));
    one.Set("published", Value(funnel.published));
    Value stages = Value::Array();
    for (const allocator::FunnelStage& stage : funnel.stages) {
      Value step = Value::Object();
      step.Set("lostTo", Value(CauseName(stage.lost_to)));
      step.Set("left", Value(stage.left));
      if (!stage.example.empty()) {
        step.Set("example", Value(stage.example));
      }
      stages.Append(std::move(step));
    }
    one.Set("stages", std::move(stages));
    funnels.Append(std::move(one));
  }
  out.Set("requests", std::move(funnels));
  return out;
}

}  // namespace

void SetDiagnosis(const allocator::Diagnosis& diagnosis, Value& object) {
  object.Set("message", Value(diagnosis.message));
  object.Set("causes", CausesValue(diagnosis.causes));
  Value groups = Value::Array();
  for (const allocator::NodeDiagnosis& group : diagnosis.groups) {
    groups.Append(GroupValue(group));
  }
  object.Set("nodeGroups", std::move(groups));
  if (diagnosis.nodes_left_out > 0) {
    object.Set("nodesLeftOut", Value(diagnosis.nodes_left_out));
  }
  if (diagnosis.nodes_not_looked_at > 0) {
    object.Set("nodesNotLookedAt", Value(diagnosis.nodes_not_looked_at));
  }
}

}  // namespace allot::cli
