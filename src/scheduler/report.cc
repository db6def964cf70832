// How a pod is told that it cannot run yet: the PodScheduled condition and the FailedScheduling
// event.
#include <string>

#include "client/pod_conditions.h"
#include "quantity/time.h"
#include "scheduler/scheduler.h"

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
  api::core::PodCondition condition;
  condition.type = "PodScheduled";
  condition.status = "False";
  condition.reason = reason;
  condition.message = message;
  client::WriteOptions write;
  write.ack = client::Ack::kSequenced;
  const auto written = client::SetPodCondition(
      client_, pod, condition, quantity::ToTime(loop_.clock().Now()), write);
  if (!written && written.error().reason() != base::Reason::kNotFound) {
    log_.Warning("could not write the PodScheduled condition",
                 {{"pod", std::string(pod.metadata.name)}, telemetry::Field(written.error())});
  }
}

}  // namespace allot::scheduler
