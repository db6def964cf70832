// ControlPlane: API server, scheduler, controllers and simulated fleet of one process.
// Thread safety: started and stopped by one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "allot/components.h"
#include "allot/sim_fleet.h"
#include "apiserver/server.h"
#include "base/random.h"
#include "base/status.h"
#include "drivers/sim/fleet.h"
#include "telemetry/log.h"
#include "telemetry/metrics.h"

namespace allot {

struct ControlPlaneOptions {
  apiserver::ServerOptions server;
  std::string controllers = "*";
  std::string kubeconfig;  // where to write the admin's; "" = nowhere
  std::optional<drivers::sim::Fleet> fleet;
};

class ControlPlane {
 public:
  /// Starts everything and writes the kubeconfig. When it returns, requests are answered and the
  /// fleet is published. Errors: those of the parts; nothing keeps running then.
  [[nodiscard]] static base::Result<std::unique_ptr<ControlPlane>> Start(
      ControlPlaneOptions options);
  ~ControlPlane() { Stop(); }
  ControlPlane(const ControlPlane&) = delete;
  ControlPlane& operator=(const ControlPlane&) = delete;

  /// Ends everything in order: fleet, scheduler, controllers, API server. Idempotent.
  void Stop();

  [[nodiscard]] std::string url() const { return server_->url(); }
  [[nodiscard]] std::size_t nodes() const { return fleet_ ? fleet_->nodes() : 0; }

 private:
  ControlPlane() = default;

  telemetry::Registry metrics_;
  base::Random random_{base::Random::OsSeed()};
  std::unique_ptr<apiserver::Server> server_;
  std::unique_ptr<client::LocalClient> scheduler_client_;
  std::unique_ptr<client::LocalClient> controllers_client_;
  std::unique_ptr<SchedulerThread> scheduler_;
  std::unique_ptr<ControllersThread> controllers_;
  std::unique_ptr<SimFleet> fleet_;
};

/// A logger for --log-level and --log-format. Errors: kBadRequest naming the flag.
[[nodiscard]] base::Result<telemetry::Logger> MakeLogger(std::string_view level,
                                                         std::string_view format);

}  // namespace allot
