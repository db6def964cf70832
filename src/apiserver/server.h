// Server: the API server of one process: store, certificates, HTTPS port, registry, watches, and
// the backend for clients in the same process. Thread safety: Start and Stop from one thread;
// everything else from any thread between them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/gates.h"
#include "api/version.h"
#include "base/clock.h"
#include "base/status.h"
#include "client/backend.h"
#include "telemetry/log.h"
#include "telemetry/metrics.h"

namespace allot::store {
class Store;
}  // namespace allot::store

namespace allot::apiserver {

struct ServerOptions {
  /// Holds the store and the certificates; empty: nothing is kept (tests, throw-away servers).
  std::string data_dir;
  std::string listen_address = "127.0.0.1";
  std::uint16_t port = 6443;             ///< 0: any free one
  std::vector<std::string> extra_names;  ///< further names and addresses in the certificate
  std::string feature_gates;             ///< as --feature-gates
  std::string runtime_config;            ///< as --runtime-config
  /// Who may do anything besides members of system:masters.
  std::vector<std::string> component_users = {"system:kube-scheduler",
                                              "system:kube-controller-manager",
                                              "system:node-agent",
                                              "system:device-driver"};
  std::string version =
      std::string(api::kKubernetesVersion) + "+allot";  ///< gitVersion of /version
  telemetry::Logger logger{};
  telemetry::Registry* metrics = nullptr;  ///< null: the server makes its own
  const base::Clock* clock = &base::SystemClock();
};

class Server {
 public:
  /// Opens the store, makes certificates at the first start, creates what every cluster has
  /// (namespaces), listens. When it returns, requests are answered.
  /// Errors: kBadRequest for bad options (gates, runtime config, address), others as the parts say.
  [[nodiscard]] static base::Result<std::unique_ptr<Server>> Start(ServerOptions options);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  /// Stops when Stop was not called.
  virtual ~Server() = default;

  /// Ends watches and idle connections, lets open requests finish for a moment, commits what is
  /// queued. Backend users must be gone before. Unit: at most about two seconds.
  virtual void Stop() = 0;

  /// "https://127.0.0.1:6443".
  [[nodiscard]] virtual std::string url() const = 0;
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  /// The CA that signed the server's certificate, as PEM.
  [[nodiscard]] virtual const std::string& ca_pem() const = 0;
  /// A kubeconfig with a client certificate of a member of system:masters.
  [[nodiscard]] virtual std::string AdminKubeconfig() const = 0;
  /// For client::LocalClient. Lifetime: until Stop.
  [[nodiscard]] virtual client::Backend& backend() = 0;
  [[nodiscard]] virtual const api::GateSet& gates() const = 0;
  [[nodiscard]] virtual telemetry::Registry& metrics() = 0;
  [[nodiscard]] virtual store::Store& store() = 0;

 protected:
  Server() = default;
};

}  // namespace allot::apiserver
