// allot scheduler, allot controllers: the components alone, through any Kubernetes API server,
// elected by Lease.
#include <array>
#include <atomic>
#include <memory>
#include <string>

#include <unistd.h>

#include "allot/component_thread.h"
#include "allot/components.h"
#include "allot/control_plane.h"
#include "allot/signals.h"
#include "allot/verbs.h"
#include "base/random.h"
#include "cli/flags.h"
#include "client/http_client.h"
#include "client/kubeconfig.h"
#include "client/leader_elector.h"

namespace allot {
namespace {

struct ComponentFlags {
  cli::ConnectionFlags connection;
  std::string scheduler_name = "default-scheduler";
  std::string controllers = "*";
  std::string feature_gates;
  std::string lease_namespace = "kube-system";
  std::string lease_name;
  std::string log_level = "info";
  std::string log_format = "text";
  bool leader_elect = true;
};

void Declare(cli::Flags& parser, ComponentFlags& flags) {
  parser.Text("--feature-gates",
              flags.feature_gates,
              "as of Kubernetes; set them as the API server has them");
  parser.Bool(
      "--leader-elect", flags.leader_elect, "act only while holding the Lease (default true)");
  parser.Text("--leader-elect-resource-name", flags.lease_name, "name of the Lease");
  parser.Text("--leader-elect-resource-namespace",
              flags.lease_namespace,
              "namespace of the Lease (default kube-system)");
  parser.Text("--log-level", flags.log_level, "debug, info, warning or error (default info)");
  parser.Text("--log-format", flags.log_format, "text or json (default text)");
  parser.Connection(flags.connection);
}

/// What both components need of the process.
struct Process {
  telemetry::Registry metrics;
  telemetry::Logger log;
  base::Random random{base::Random::OsSeed()};
  api::GateSet gates;
  client::ClientConfig config;
  std::unique_ptr<client::Client> client;
  std::unique_ptr<client::Client> lease_client;  // a busy component must not delay renewals
};

base::Result<std::unique_ptr<Process>> Prepare(const ComponentFlags& flags,
                                               const cli::Io& io,
                                               std::string_view agent) {
  auto process = std::make_unique<Process>();
  ALLOT_RETURN_IF_ERROR(process->gates.Parse(flags.feature_gates));
  ALLOT_ASSIGN_OR_RETURN(process->log, MakeLogger(flags.log_level, flags.log_format));
  std::string path = flags.connection.kubeconfig;
  if (path.empty()) {
    path = io.environment("KUBECONFIG");
  }
  if (path.empty()) {
    return base::Error(base::Reason::kBadRequest,
                       "--kubeconfig is needed: which API server to work through");
  }
  ALLOT_ASSIGN_OR_RETURN(process->config,
                         client::LoadKubeconfig(path, {.context = flags.connection.context}));
  if (!flags.connection.server.empty()) {
    process->config.server = flags.connection.server;
  }
  ALLOT_ASSIGN_OR_RETURN(process->client, client::HttpClient::Create(process->config, agent));
  // A try asks twice and must be over when the lease is: else two lead while a server hangs.
  const client::LeaderElector::Options election;
  const auto longest = std::chrono::duration_cast<std::chrono::milliseconds>(
      (election.lease_duration - election.renew_deadline) / 2);
  ALLOT_ASSIGN_OR_RETURN(process->lease_client,
                         client::HttpClient::Create(
                             process->config,
                             agent,
                             {.timeout = longest, .longest_wait = std::chrono::milliseconds(100)}));
  telemetry::RegisterProcessMetrics(process->metrics, base::SystemClock());
  return process;
}

std::string Identity(base::Random& random) {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return std::string(name.data()) + "_" + random.Uuid();
}

/// Runs `start` once this process may act, until a signal or the loss of the Lease. Returns the
/// exit code.
int RunElected(const ComponentFlags& flags,
               Process& process,
               const std::string& lease,
               const cli::Io& io,
               const std::function<base::Result<void>()>& start) {
  std::atomic<bool> elected{!flags.leader_elect};
  std::atomic<bool> lost{false};
  ComponentThread thread("election", base::SystemClock());
  std::unique_ptr<client::LeaderElector> elector;
  if (flags.leader_elect) {
    client::LeaderElector::Options options;
    options.ns = flags.lease_namespace;
    options.name = lease;
    options.identity = Identity(process.random);
    options.log = process.log.Named("election");
    elector = std::make_unique<client::LeaderElector>(
        *process.lease_client,
        thread.loop(),
        options,
        [&] { elected = true; },
        [&] { lost = true; });
    thread.Start(process.metrics, [&] { elector->Start(); }, [&] { elector->Release(); });
  }
  int code = cli::kOk;
  if (!WaitForEnd([&] { return elected.load() || lost.load(); }) && !lost.load()) {
    if (const auto started = start(); !started) {
      io.err("error: " + started.error().message() + "\n");
      code = cli::kUsage;
    } else {
      WaitForEnd([&] { return lost.load(); });
    }
  }
  if (lost.load()) {
    io.err("error: the lease " + flags.lease_namespace + "/" + lease +
           " was lost; another replica may act now\n");
    code = cli::kFailed;
  }
  thread.Stop();
  return code;
}

/// Parses and prepares; a null process means: end with `code`.
std::unique_ptr<Process> Begin(cli::Flags& parser,
                               const ComponentFlags& flags,
                               cli::Arguments arguments,
                               const cli::Io& io,
                               std::string_view agent,
                               int& code) {
  if (const auto end = parser.Begin(arguments, io)) {
    code = *end;
    return nullptr;
  }
  code = cli::kUsage;
  BlockEndSignals();
  auto process = Prepare(flags, io, agent);
  if (!process) {
    io.err("error: " + process.error().message() + "\n");
    return nullptr;
  }
  return *std::move(process);
}

}  // namespace

int RunScheduler(cli::Arguments arguments, const cli::Io& io) {
  ComponentFlags flags;
  cli::Flags parser("scheduler --kubeconfig FILE",
                    "Runs the scheduler in this process through the API server of a kubeconfig, in "
                    "the place of kube-scheduler.");
  parser.Text("--scheduler-name",
              flags.scheduler_name,
              "pods with this spec.schedulerName (default default-scheduler)");
  Declare(parser, flags);
  int code = cli::kOk;
  const std::unique_ptr<Process> process =
      Begin(parser, flags, arguments, io, "allot-scheduler", code);
  if (process == nullptr) {
    return code;
  }
  SchedulerThread scheduler(*process->client,
                            process->metrics,
                            process->log,
                            base::SystemClock(),
                            process->random,
                            process->gates,
                            flags.scheduler_name);
  const std::string lease = flags.lease_name.empty() ? "kube-scheduler" : flags.lease_name;
  code = RunElected(flags, *process, lease, io, [&]() -> base::Result<void> {
    scheduler.Start();
    io.out("allot scheduler is running: " + process->config.server + "\n");
    return {};
  });
  scheduler.Stop();
  return code;
}

int RunControllers(cli::Arguments arguments, const cli::Io& io) {
  ComponentFlags flags;
  cli::Flags parser("controllers --kubeconfig FILE",
                    "Runs the controllers in this process through the API server of a kubeconfig, "
                    "in the place of those of\n"
                    "kube-controller-manager with the same names.");
  parser.Text("--controllers",
              flags.controllers,
              "as of kube-controller-manager: '*,-node-lifecycle-controller'");
  Declare(parser, flags);
  int code = cli::kOk;
  const std::unique_ptr<Process> process =
      Begin(parser, flags, arguments, io, "allot-controllers", code);
  if (process == nullptr) {
    return code;
  }
  ControllersThread controllers(
      *process->client,
      process->metrics,
      process->log,
      base::SystemClock(),
      {.controllers = flags.controllers,
       .root_ca = process->config.ca_pem,
       .device_taints = process->gates.Enabled(api::Gate::kDRADeviceTaints),
       .device_taint_rules = process->gates.Enabled(api::Gate::kDRADeviceTaintRules)});
  const std::string lease = flags.lease_name.empty() ? "kube-controller-manager" : flags.lease_name;
  code = RunElected(flags, *process, lease, io, [&]() -> base::Result<void> {
    ALLOT_RETURN_IF_ERROR(controllers.Start());
    io.out("allot controllers are running: " + process->config.server + "\n");
    return {};
  });
  controllers.Stop();
  return code;
}

}  // namespace allot
