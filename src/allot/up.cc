// allot up: the whole control plane in one process.
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <sys/stat.h>

#include "allot/control_plane.h"
#include "allot/signals.h"
#include "allot/verbs.h"
#include "cli/flags.h"

namespace allot {
namespace {

struct UpFlags {
  std::string data;
  std::string listen = "127.0.0.1:6443";
  std::string kubeconfig = "./allot.kubeconfig";
  std::string fleet = "none";
  std::string feature_gates;
  std::string runtime_config;
  std::string controllers = "*";
  std::string log_level = "warning";
  std::string log_format = "text";
};

void Declare(cli::Flags& parser, UpFlags& flags) {
  parser.Text(
      "--data", flags.data, "folder of the store and certificates (default ~/.local/state/allot)");
  parser.Text("--listen",
              flags.listen,
              "ADDRESS:PORT to serve on; port 0 takes a free one (default 127.0.0.1:6443)");
  parser.Text("--kubeconfig",
              flags.kubeconfig,
              "where to write the admin's kubeconfig, '' for nowhere (default ./allot.kubeconfig)");
  parser.Text(
      "--fleet", flags.fleet, "YAML file of nodes and devices to simulate, or none (default none)");
  parser.Text("--feature-gates",
              flags.feature_gates,
              "as of Kubernetes: A=true,B=false,AllBeta=true,AllAlpha=true");
  parser.Text("--runtime-config",
              flags.runtime_config,
              "as of kube-apiserver: API versions to serve or not");
  parser.Text("--controllers",
              flags.controllers,
              "as of kube-controller-manager: '*,-node-lifecycle-controller'");
  parser.Text("--log-level", flags.log_level, "debug, info, warning or error (default warning)");
  parser.Text("--log-format", flags.log_format, "text or json (default text)");
}

base::Result<void> SplitAddress(const std::string& listen,
                                std::string& address,
                                std::uint16_t& port) {
  const std::size_t colon = listen.rfind(':');
  const std::string digits = colon == std::string::npos ? "" : listen.substr(colon + 1);
  const bool number = !digits.empty() && digits.size() <= 5 &&
                      digits.find_first_not_of("0123456789") == std::string::npos;
  if (!number || std::stoi(digits) > 65535) {
    return base::Error(
        base::Reason::kBadRequest,
        "--listen: found \"" + listen + "\", expected ADDRESS:PORT such as 127.0.0.1:6443");
  }
  address = listen.substr(0, colon);
  if (address.starts_with('[') && address.ends_with(']')) {
    address = address.substr(1, address.size() - 2);
  }
  port = static_cast<std::uint16_t>(std::stoi(digits));
  return {};
}

std::string DefaultDataDir(const cli::Io& io) {
  const std::string state = io.environment("XDG_STATE_HOME");
  return (state.empty() ? io.environment("HOME") + "/.local/state" : state) + "/allot";
}

base::Result<ControlPlaneOptions> ToOptions(const UpFlags& flags, const cli::Io& io) {
  ControlPlaneOptions options;
  if (flags.data.empty()) {
    return base::Error(base::Reason::kBadRequest, "--data: found \"\", expected a folder");
  }
  options.server.data_dir = flags.data;
  ALLOT_RETURN_IF_ERROR(
      SplitAddress(flags.listen, options.server.listen_address, options.server.port));
  options.server.feature_gates = flags.feature_gates;
  options.server.runtime_config = flags.runtime_config;
  options.controllers = flags.controllers;
  options.kubeconfig = flags.kubeconfig;
  ALLOT_ASSIGN_OR_RETURN(options.server.logger, MakeLogger(flags.log_level, flags.log_format));
  if (flags.fleet != "none") {
    const auto yaml = cli::ReadFile(io, flags.fleet);
    if (!yaml) {
      return base::Error(yaml.error().reason(),
                         "--fleet: " + yaml.error().message() +
                             "; expected a YAML file of nodes and devices, or none");
    }
    ALLOT_ASSIGN_OR_RETURN(options.fleet, drivers::sim::ParseFleet(*yaml, flags.fleet));
  }
  return options;
}

}  // namespace

int RunUp(cli::Arguments arguments, const cli::Io& io) {
  UpFlags flags;
  flags.data = DefaultDataDir(io);
  cli::Flags parser("up",
                    "Starts a control plane in this process: API server with an embedded store, "
                    "scheduler, controllers,\n"
                    "and a simulated fleet when asked for. Prints one line when it is ready; "
                    "Ctrl-C or SIGTERM ends it.");
  Declare(parser, flags);
  if (const auto end = parser.Begin(arguments, io)) {
    return *end;
  }
  ::umask(S_IRWXG | S_IRWXO);  // the store and its log hold Secrets, as readable as the keys beside
  BlockEndSignals();
  auto options = ToOptions(flags, io);
  if (!options) {
    return cli::Fail(io, options.error().message(), cli::kUsage);
  }
  auto plane = ControlPlane::Start(*std::move(options));
  if (!plane) {
    return cli::Fail(io, plane.error().message(), cli::kFailed);
  }
  io.out(
      "allot is ready: " + (*plane)->url() +
      (flags.kubeconfig.empty() ? ", no kubeconfig written" : ", kubeconfig " + flags.kubeconfig) +
      ((*plane)->nodes() == 0 ? ""
                              : ", " + std::to_string((*plane)->nodes()) + " simulated nodes") +
      "\n");
  WaitForEnd();
  (*plane)->Stop();
  return cli::kOk;
}

}  // namespace allot
