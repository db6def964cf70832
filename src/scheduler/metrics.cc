#include "scheduler/metrics.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace allot::scheduler {
namespace {

constexpr const char* kPendingHelp = "Pods that wait to be placed, by queue.";
constexpr const char* kCacheHelp = "Objects the scheduler keeps, by type.";

}  // namespace

Metrics::ByResult Metrics::MakeByResult(std::string_view result) {
  const telemetry::Labels labels{{"profile", profile_}, {"result", std::string(result)}};
  return {registry_.GetCounter(
              "scheduler_schedule_attempts_total", "Attempts to place pods, by result.", labels),
          registry_.GetHistogram("scheduler_scheduling_attempt_duration_seconds",
                                 "Time of one attempt: decision and the writes that follow.",
                                 telemetry::ExponentialBounds(0.001, 2, 15),
                                 labels)};
}

telemetry::Counter& Metrics::MakeIncoming(std::string_view queue, std::string_view event) {
  return registry_.GetCounter("scheduler_queue_incoming_pods_total",
                              "Pods put into a queue, by event.",
                              {{"event", std::string(event)}, {"queue", std::string(queue)}});
}

Metrics::Metrics(telemetry::Registry& registry, std::string profile)
    : registry_(registry),
      profile_(std::move(profile)),
      scheduled_(MakeByResult("scheduled")),
      unschedulable_(MakeByResult("unschedulable")),
      error_(MakeByResult("error")),
      algorithm_(registry.GetHistogram("scheduler_scheduling_algorithm_duration_seconds",
                                       "Time to decide.",
                                       telemetry::ExponentialBounds(0.001, 2, 15))),
      attempts_per_pod_(registry.GetHistogram("scheduler_pod_scheduling_attempts",
                                              "Attempts until a pod was placed.",
                                              {1, 2, 4, 8, 16})),
      added_active_(MakeIncoming("active", "PodAdd")),
      added_gated_(MakeIncoming("gated", "PodAdd")),
      updated_(MakeIncoming("active", "PodUpdate")),
      active_(registry.GetGauge("scheduler_pending_pods", kPendingHelp, {{"queue", "active"}})),
      backoff_(registry.GetGauge("scheduler_pending_pods", kPendingHelp, {{"queue", "backoff"}})),
      waiting_(
          registry.GetGauge("scheduler_pending_pods", kPendingHelp, {{"queue", "unschedulable"}})),
      gated_(registry.GetGauge("scheduler_pending_pods", kPendingHelp, {{"queue", "gated"}})),
      nodes_(registry.GetGauge("scheduler_cache_size", kCacheHelp, {{"type", "nodes"}})),
      pods_(registry.GetGauge("scheduler_cache_size", kCacheHelp, {{"type", "pods"}})),
      claims_(registry.GetGauge("scheduler_cache_size", kCacheHelp, {{"type", "claims"}})),
      flushed_(
          registry.GetCounter("scheduler_pod_scheduled_after_flush_total",
                              "Pods brought back by age alone; a rise means a lost wake-up.")) {}

void Metrics::Attempt(AttemptResult result, double seconds) {
  const ByResult& by = result == AttemptResult::kScheduled       ? scheduled_
                       : result == AttemptResult::kUnschedulable ? unschedulable_
                                                                 : error_;
  by.attempts.Add();
  by.seconds.Observe(seconds);
}

void Metrics::Bound(int attempts, double seconds) {
  attempts_per_pod_.Observe(attempts);
  const std::size_t slot = static_cast<std::size_t>(std::clamp(attempts, 1, 15)) - 1;
  telemetry::Histogram*& histogram = sli_[slot];
  if (histogram == nullptr) {
    histogram =
        &registry_.GetHistogram("scheduler_pod_scheduling_sli_duration_seconds",
                                "Time from first ready to be tried until placed.",
                                telemetry::ExponentialBounds(0.01, 2, 20),
                                {{"attempts", slot == 14 ? "15+" : std::to_string(slot + 1)}});
  }
  histogram->Observe(seconds);
}

void Metrics::BindingConditions(std::string_view driver, std::string_view status, double seconds) {
  const telemetry::Labels labels{
      {"profile", profile_}, {"driver", std::string(driver)}, {"status", std::string(status)}};
  registry_
      .GetCounter("scheduler_dra_bindingconditions_allocations_total",
                  "Device allocations that had to wait for binding conditions.",
                  labels)
      .Add();
  registry_
      .GetHistogram("scheduler_dra_bindingconditions_wait_duration_seconds",
                    "Time until binding conditions were decided.",
                    telemetry::ExponentialBounds(0.1, 2, 15),
                    labels)
      .Observe(seconds);
}

void Metrics::Preemption(std::size_t victims) {
  registry_
      .GetCounter("scheduler_preemption_attempts_total", "Attempts to make room by preemption.")
      .Add();
  registry_
      .GetHistogram("scheduler_preemption_victims",
                    "Pods chosen for one preemption.",
                    {1, 2, 4, 8, 16, 32, 64})
      .Observe(static_cast<double>(victims));
}

void Metrics::Pending(const SchedulingQueue& queue) {
  active_.Set(static_cast<double>(queue.Count(PodState::kActive)));
  backoff_.Set(static_cast<double>(queue.Count(PodState::kBackoff)));
  waiting_.Set(static_cast<double>(queue.Count(PodState::kUnschedulable)));
  gated_.Set(static_cast<double>(queue.Count(PodState::kGated)));
  flushed_.Add(queue.stats().flushed - flushed_seen_);
  flushed_seen_ = queue.stats().flushed;
}

void Metrics::CacheSize(std::size_t nodes, std::size_t pods, std::size_t claims) {
  nodes_.Set(static_cast<double>(nodes));
  pods_.Set(static_cast<double>(pods));
  claims_.Set(static_cast<double>(claims));
}

}  // namespace allot::scheduler
