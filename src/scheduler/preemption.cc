// Preemption: pods of lower priority make room for one that fits nowhere else.
#include <fmt/format.h>

#include "api/object_key.h"
#include "client/pod_conditions.h"
#include "quantity/time.h"
#include "scheduler/scheduler.h"

namespace allot::scheduler {

void Scheduler::Preempt(const QueuedPod& queued,
                        const Pod& pod,
                        const placement::Decision& decision) {
  client::WriteOptions write;
  write.ack = client::Ack::kSequenced;
  const quantity::Time now = quantity::ToTime(loop_.clock().Now());
  const std::string message =
      fmt::format("{}: preempting to accommodate a higher priority pod", options_.scheduler_name);
  std::size_t found = 0;
  for (const placement::Victim& chosen : decision.victims) {
    const client::ObjectRef object = pods_.Find(chosen.ns, chosen.name);
    if (!object || object->uid() != chosen.uid) {
      continue;  // gone already
    }
    ++found;
    const auto victim = client::ViewOf<Pod>({object, nullptr});
    if (!victim || (*victim)->metadata.deletion_timestamp != nullptr) {
      continue;
    }
    api::core::PodCondition condition;
    condition.type = "DisruptionTarget";
    condition.status = "True";
    condition.reason = "PreemptionByScheduler";
    condition.message = message;
    client::WriteOptions deletion = write;
    deletion.preconditions.uid = object->uid();
    if (!client::SetPodCondition(client_, **victim, condition, now, write) ||
        !client::Delete<Pod>(client_, object->namespace_(), object->name(), deletion)) {
      continue;  // gone already, or tried again with the next attempt of the pod
    }
    recorder_.Record(
        {.api_version = "v1",
         .kind = "Pod",
         .ns = std::string(object->namespace_()),
         .name = std::string(object->name()),
         .uid = std::string(object->uid()),
         .revision = object->revision()},
        client::EventSeverity::kNormal,
        "Preempted",
        "Preempting",
        fmt::format("Preempted by pod {} on node {}", queued.uid, decision.nominated_node));
  }
  metrics_.Preemption(found);
  Nominate(pod.metadata.namespace_, pod.metadata.name, queued.uid, decision.nominated_node);
}

void Scheduler::Nominate(std::string_view ns,
                         std::string_view name,
                         std::string_view uid,
                         std::string_view node) {
  const std::string value = node.empty() ? "null" : fmt::format("\"{}\"", node);
  const std::string patch = fmt::format(
      R"({{"metadata":{{"uid":"{}"}},"status":{{"nominatedNodeName":{}}}}})", uid, value);
  client::WriteOptions write;
  write.ack = client::Ack::kSequenced;
  const auto nominated = client::Patch<Pod>(
      client_, ns, name, client::PatchType::kStrategicMerge, patch, "status", write);
  if (!nominated && nominated.error().reason() != base::Reason::kNotFound) {
    log_.Warning("could not nominate a node",
                 {{"pod", api::KeyOf(ns, name)}, telemetry::Field(nominated.error())});
  }
}

}  // namespace allot::scheduler
