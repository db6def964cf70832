// SchedulerThread and ControllersThread: the two components that also run alone, beside any
// Kubernetes API server. Thread safety: made, started and stopped by one thread.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "allot/component_thread.h"
#include "api/gates.h"
#include "base/random.h"
#include "base/status.h"
#include "client/client.h"
#include "controllers/manager.h"
#include "scheduler/scheduler.h"
#include "telemetry/log.h"
#include "telemetry/metrics.h"

namespace allot {

class SchedulerThread {
 public:
  /// REQUIRES: all references outlive the thread.
  SchedulerThread(client::Client& client,
                  telemetry::Registry& metrics,
                  const telemetry::Logger& log,
                  const base::Clock& clock,
                  base::Random& random,
                  const api::GateSet& gates,
                  std::string scheduler_name);
  void Start();
  /// Returns soon, also in the midst of a search.
  void Stop();

 private:
  client::Client& client_;
  telemetry::Registry& metrics_;
  telemetry::Logger log_;
  base::Random& random_;
  std::atomic<bool> stop_ = false;
  scheduler::Options options_;
  ComponentThread thread_;
  std::unique_ptr<scheduler::Scheduler> scheduler_;
};

class ControllersThread {
 public:
  /// REQUIRES: all references outlive the thread.
  ControllersThread(client::Client& client,
                    telemetry::Registry& metrics,
                    const telemetry::Logger& log,
                    const base::Clock& clock,
                    controllers::Options options);
  /// Errors: kBadRequest for an unknown controller name.
  [[nodiscard]] base::Result<void> Start();
  void Stop() { thread_.Stop(); }

 private:
  client::Client& client_;
  telemetry::Registry& metrics_;
  telemetry::Logger log_;
  controllers::Options options_;
  ComponentThread thread_;
  std::unique_ptr<controllers::Manager> manager_;
};

}  // namespace allot
