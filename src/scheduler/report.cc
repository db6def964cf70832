// How a pod is told that it cannot run yet: the PodScheduled condition and the FailedScheduling
// event.
#include <string>

#include <fmt/format.h>

#include "scheduler/scheduler.h"
#include "text/json.h"

namespace allot::scheduler {

void Scheduler::Report(const QueuedPod& queued,
                       const Pod& pod,
                       std::string_view reason,
                       std::string_view message) {
  recorder_.Record(Subject(queued, pod),
                   client::EventSeverity::kWarning,
                   "FailedScheduling",
                   "Scheduling",
                   message);
  constexpr std::string_view kType = "PodScheduled";
  quantity::Time since = client::ToTime(loop_.clock().Now());
  for (const api::core::PodCondition& condition : pod.status.conditions) {
    if (condition.type != kType) {
      continue;
    }
    if (condition.status == "False") {
      if (condition.reason == reason && condition.message == message) {
        return;
      }
      since = condition.last_transition_time;
    }
  }
  std::string patch = fmt::format(
      R"({{"metadata":{{"uid":"{}"}},"status":{{"conditions":[{{"type":"{}","status":"False","reason":"{}","message":)",
      queued.uid,
      kType,
      reason);
  text::AppendJsonString(message, patch);
  fmt::format_to(std::back_inserter(patch),
                 R"(,"lastTransitionTime":"{}","observedGeneration":{}}}]}}}})",
                 quantity::FormatTime(since),
                 pod.metadata.generation);
  client::WriteOptions write;
  write.ack = client::Ack::kSequenced;
  const auto patched = client::Patch<Pod>(client_,
                                          pod.metadata.namespace_,
                                          pod.metadata.name,
                                          client::PatchType::kStrategicMerge,
                                          patch,
                                          "status",
                                          write);
  if (!patched && patched.error().reason() != base::Reason::kNotFound) {
    log_.Warning("could not write the PodScheduled condition",
                 {{"pod", std::string(pod.metadata.name)}, telemetry::Field(patched.error())});
  }
}

}  // namespace allot::scheduler
