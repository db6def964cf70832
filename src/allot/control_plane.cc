#include "allot/control_plane.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "client/kubeconfig.h"

namespace allot {
namespace {

/// A data directory that lost one of its two halves starts all the same; whoever reads the log
/// should know what that means.
void WarnOfLosses(const std::string& data_dir, const telemetry::Logger& log) {
  const auto size_of = [&data_dir](std::string_view name) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(data_dir + std::string(name), error);
    return error ? std::nullopt : std::optional(size);
  };
  const std::optional<std::uintmax_t> store = size_of("/allot.db");
  const bool has_ca = size_of("/pki/ca.key") && size_of("/pki/ca.crt");
  if (store && !has_ca) {
    log.Warning(
        "the certificate authority is missing beside the store: a new one is made, and "
        "kubeconfigs written before are refused",
        {{"folder", data_dir + "/pki"}});
  }
  if (has_ca && store == 0 && size_of("/allot.db-wal").value_or(0) == 0) {
    log.Warning(
        "the store is an empty file beside certificates of an earlier start: everything in "
        "it is lost",
        {{"file", data_dir + "/allot.db"}});
  }
}

}  // namespace

base::Result<std::unique_ptr<ControlPlane>> ControlPlane::Start(ControlPlaneOptions options) {
  std::unique_ptr<ControlPlane> plane(new ControlPlane());
  const telemetry::Logger log = options.server.logger;
  const base::Clock& clock = *options.server.clock;
  if (!options.server.data_dir.empty()) {
    WarnOfLosses(options.server.data_dir, log);
  }
  options.server.metrics = &plane->metrics_;
  telemetry::RegisterProcessMetrics(plane->metrics_, clock);
  ALLOT_ASSIGN_OR_RETURN(plane->server_, apiserver::Server::Start(std::move(options.server)));
  if (!options.kubeconfig.empty()) {
    ALLOT_RETURN_IF_ERROR(
        client::WriteFileAtomically(options.kubeconfig, plane->server_->AdminKubeconfig()));
  }
  client::Backend& backend = plane->server_->backend();
  plane->controllers_client_ = std::make_unique<client::LocalClient>(
      backend, client::Identity{"system:kube-controller-manager", {"system:authenticated"}});
  plane->controllers_ = std::make_unique<ControllersThread>(
      *plane->controllers_client_,
      plane->metrics_,
      log,
      clock,
      controllers::Options{
          .controllers = options.controllers,
          .root_ca = plane->server_->ca_pem(),
          .device_taints = plane->server_->gates().Enabled(api::Gate::kDRADeviceTaints),
          .device_taint_rules = plane->server_->gates().Enabled(api::Gate::kDRADeviceTaintRules)});
  ALLOT_RETURN_IF_ERROR(plane->controllers_->Start());
  plane->scheduler_client_ = std::make_unique<client::LocalClient>(
      backend, client::Identity{"system:kube-scheduler", {"system:authenticated"}});
  plane->scheduler_ = std::make_unique<SchedulerThread>(*plane->scheduler_client_,
                                                        plane->metrics_,
                                                        log,
                                                        clock,
                                                        plane->random_,
                                                        plane->server_->gates(),
                                                        "default-scheduler");
  plane->scheduler_->Start();
  if (options.fleet) {
    plane->fleet_ =
        std::make_unique<SimFleet>(backend, *std::move(options.fleet), plane->metrics_, log, clock);
    ALLOT_RETURN_IF_ERROR(plane->fleet_->Start());
  }
  return plane;
}

void ControlPlane::Stop() {
  if (fleet_ != nullptr) {
    fleet_->Stop();
  }
  if (scheduler_ != nullptr) {
    scheduler_->Stop();
  }
  if (controllers_ != nullptr) {
    controllers_->Stop();
  }
  if (server_ != nullptr) {
    server_->Stop();
  }
}

base::Result<telemetry::Logger> MakeLogger(std::string_view level, std::string_view format) {
  telemetry::LogOptions options;
  constexpr std::string_view kLevels[] = {"debug", "info", "warning", "error"};
  const auto* const found = std::find(std::begin(kLevels), std::end(kLevels), level);
  if (found == std::end(kLevels)) {
    return base::Error(base::Reason::kBadRequest,
                       "--log-level: found \"" + std::string(level) +
                           "\", expected debug, info, warning or error");
  }
  options.level = static_cast<telemetry::Level>(found - std::begin(kLevels));
  if (format != "text" && format != "json") {
    return base::Error(
        base::Reason::kBadRequest,
        "--log-format: found \"" + std::string(format) + "\", expected text or json");
  }
  options.format = format == "json" ? telemetry::LogFormat::kJson : telemetry::LogFormat::kText;
  return telemetry::Logger::Make(options);
}

}  // namespace allot
