#include "client/pod_conditions.h"

#include <iterator>
#include <string>

#include <fmt/format.h>

#include "api/core/v1.gen.h"
#include "text/json.h"

namespace allot::client {

base::Result<void> SetPodCondition(Client& client,
                                   const api::core::Pod& pod,
                                   const api::core::PodCondition& condition,
                                   quantity::Time now,
                                   const WriteOptions& options) {
  for (const api::core::PodCondition& present : pod.status.conditions) {
    if (present.type != condition.type || present.status != condition.status) {
      continue;
    }
    if (present.reason == condition.reason && present.message == condition.message) {
      return {};
    }
    now = present.last_transition_time;
  }
  std::string patch = fmt::format(
      R"({{"metadata":{{"uid":"{}"}},"status":{{"conditions":[{{"type":"{}","status":"{}","reason":"{}","message":)",
      pod.metadata.uid,
      condition.type,
      condition.status,
      condition.reason);
  text::AppendJsonString(condition.message, patch);
  fmt::format_to(std::back_inserter(patch),
                 R"(,"lastTransitionTime":"{}","observedGeneration":{}}}]}}}})",
                 quantity::FormatTime(now),
                 pod.metadata.generation);
  ALLOT_RETURN_IF_ERROR(Patch<api::core::Pod>(client,
                                              pod.metadata.namespace_,
                                              pod.metadata.name,
                                              PatchType::kStrategicMerge,
                                              patch,
                                              "status",
                                              options));
  return {};
}

}  // namespace allot::client
