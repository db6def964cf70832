// SimFleet: wires simulated nodes, their drivers and their pods together on one thread.
// Thread safety: made, started and stopped by one thread.
#pragma once

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "allot/component_thread.h"
#include "base/status.h"
#include "client/backend.h"
#include "drivers/sim/fleet.h"
#include "telemetry/log.h"
#include "telemetry/metrics.h"

namespace allot {

class SimFleet {
 public:
  /// REQUIRES: backend, metrics and clock outlive the fleet.
  SimFleet(client::Backend& backend,
           drivers::sim::Fleet fleet,
           telemetry::Registry& metrics,
           const telemetry::Logger& log,
           const base::Clock& clock);
  ~SimFleet();
  SimFleet(const SimFleet&) = delete;
  SimFleet& operator=(const SimFleet&) = delete;

  /// Registers nodes, publishes classes and slices, and runs pods from then on.
  /// Returns when everything is published. Errors: of the API.
  [[nodiscard]] base::Result<void> Start();
  void Stop();

  [[nodiscard]] std::size_t nodes() const { return node_count_; }

 private:
  struct Parts;

  base::Result<void> StartParts();

  drivers::sim::Fleet fleet_;
  telemetry::Registry& metrics_;
  telemetry::Logger log_;
  std::size_t node_count_ = 0;
  client::LocalClient node_client_;
  client::LocalClient driver_client_;
  ComponentThread thread_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace allot
