// Metrics of the scheduler, with the names upstream's dashboards use.
// Thread safety: any thread once made.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "scheduler/queue.h"
#include "telemetry/metrics.h"

namespace allot::scheduler {

enum class AttemptResult : std::uint8_t { kScheduled, kUnschedulable, kError };

class Metrics {
 public:
  Metrics(telemetry::Registry& registry, std::string profile);

  /// One try ended. Unit: seconds.
  void Attempt(AttemptResult result, double seconds);
  void Algorithm(double seconds) { algorithm_.Observe(seconds); }
  /// A pod was bound after `attempts` tries, `seconds` after it was first ready to be tried.
  void Bound(int attempts, double seconds);
  /// Devices of one driver became ready, failed or took too long.
  void BindingConditions(std::string_view driver, std::string_view status, double seconds);
  void Preemption(std::size_t victims);
  void PodAdded(bool gated) { (gated ? added_gated_ : added_active_).Add(); }
  void PodUpdated() { updated_.Add(); }
  void Pending(const SchedulingQueue& queue);
  void CacheSize(std::size_t nodes, std::size_t pods, std::size_t claims);

 private:
  struct ByResult {
    telemetry::Counter& attempts;
    telemetry::Histogram& seconds;
  };
  ByResult MakeByResult(std::string_view result);
  telemetry::Counter& MakeIncoming(std::string_view queue, std::string_view event);

  telemetry::Registry& registry_;
  std::string profile_;
  ByResult scheduled_;
  ByResult unschedulable_;
  ByResult error_;
  telemetry::Histogram& algorithm_;
  telemetry::Histogram& attempts_per_pod_;
  /// By attempts up to 14; the last is for more. Made at first need.
  std::array<telemetry::Histogram*, 15> sli_{};
  telemetry::Counter& added_active_;
  telemetry::Counter& added_gated_;
  telemetry::Counter& updated_;
  telemetry::Gauge& active_;
  telemetry::Gauge& backoff_;
  telemetry::Gauge& waiting_;
  telemetry::Gauge& gated_;
  telemetry::Gauge& nodes_;
  telemetry::Gauge& pods_;
  telemetry::Gauge& claims_;
  telemetry::Counter& flushed_;
  std::uint64_t flushed_seen_ = 0;
};

}  // namespace allot::scheduler
