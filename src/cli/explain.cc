// allot explain: why a pod is pending, or what it got; the scheduler's own decision on the cluster
// as it is now.
#include <algorithm>
#include <string>
#include <string_view>

#include "analysis/simulate.h"
#include "api/pod_claims.h"
#include "cli/connection.h"
#include "cli/diagnosis_text.h"
#include "cli/flags.h"
#include "cli/reported.h"
#include "cli/simulate_command.h"
#include "cli/targets.h"
#include "cli/verbs.h"
#include "client/rest.h"
#include "snapshot/cluster.h"

namespace allot::cli {
namespace {

using api::core::Pod;
using api::resource::ResourceClaim;

/// What a decision needs to see of a cluster.
constexpr std::string_view kLists[] = {
    "/api/v1/nodes",
    "/api/v1/pods",
    "/apis/resource.k8s.io/v1/resourceslices",
    "/apis/resource.k8s.io/v1/deviceclasses",
    "/apis/resource.k8s.io/v1/resourceclaims",
    "/apis/resource.k8s.io/v1/resourceclaimtemplates",
    "/apis/resource.k8s.io/v1/devicetaintrules",
};

base::Result<snapshot::Cluster> Fetch(Connection& connection) {
  snapshot::Cluster cluster;
  for (const std::string_view path : kLists) {
    const auto answer = connection.rest().Send({.target = std::string(path)});
    if (!answer) {
      if (answer.error().reason() == base::Reason::kNotFound &&
          path.ends_with("devicetaintrules")) {
        continue;  // not served by every cluster
      }
      return base::Error(answer.error());
    }
    ALLOT_RETURN_IF_ERROR(cluster.Add(answer->body, path));
  }
  return cluster;
}

/// The claim that the pod means; null when there is none (yet).
const ResourceClaim* ClaimOf(const snapshot::Cluster& cluster,
                             const Pod& pod,
                             const api::ClaimRef& ref) {
  const auto found =
      std::find_if(cluster.claims.begin(), cluster.claims.end(), [&](const ResourceClaim* claim) {
        return claim->metadata.namespace_ == pod.metadata.namespace_ &&
               claim->metadata.name == ref.name &&
               (!ref.generated || api::IsClaimForPod(pod, *claim));
      });
  return found == cluster.claims.end() ? nullptr : *found;
}

void AddDevices(const api::resource::AllocationResult& allocation, std::string& out) {
  for (const auto& result : allocation.devices.results) {
    out += "    " + std::string(result.request) + ": " + std::string(result.driver) + "/" +
           std::string(result.pool) + "/" + std::string(result.device) + "\n";
  }
}

std::string DescribePlaced(const snapshot::Cluster& cluster, const Pod& pod) {
  std::string out = "Pod " + std::string(pod.metadata.namespace_) + "/" +
                    std::string(pod.metadata.name) + " is on node " +
                    std::string(pod.spec.node_name) + ", phase " + std::string(pod.status.phase) +
                    ".\n";
  for (const auto& entry : pod.spec.resource_claims) {
    const api::ClaimRef ref = api::ResolveClaim(pod, entry);
    if (ref.state == api::ClaimRefState::kNotNeeded) {
      continue;
    }
    const ResourceClaim* const claim = ClaimOf(cluster, pod, ref);
    if (claim == nullptr) {
      out += "  claim " + std::string(entry.name) + ": does not exist\n";
      continue;
    }
    out += "  claim " + std::string(entry.name) + " (" + std::string(claim->metadata.name) + "): ";
    if (claim->status.allocation == nullptr) {
      out += "not allocated; the pod cannot start before it is\n";
      continue;
    }
    out += api::IsReservedFor(*claim, pod.metadata.uid)
               ? "allocated and reserved\n"
               : "allocated, but not reserved for this pod\n";
    AddDevices(*claim->status.allocation, out);
  }
  return out;
}

/// What events say of a pod that does not run yet. Nothing where events may not be read.
std::string Reported(Connection& connection, const Pod& pod) {
  if (pod.status.phase != "Pending") {
    return {};
  }
  const std::string fields = "involvedObject.name=" + std::string(pod.metadata.name) +
                             ",involvedObject.uid=" + std::string(pod.metadata.uid);
  const auto events = connection.GetJson(
      "/api/v1/namespaces/" + client::EscapeUrl(std::string(pod.metadata.namespace_)) + "/events" +
      Query({{"fieldSelector", fields}, {"limit", "500"}}));
  return events ? ReportedText(*events) : std::string();
}

std::string DescribeGated(const Pod& pod) {
  std::string names;
  for (const auto& gate : pod.spec.scheduling_gates) {
    names += (names.empty() ? "" : ", ") + std::string(gate.name);
  }
  return "The scheduler does not look at it: scheduling gates " + names +
         ".\n  what helps:  whoever set a gate removes it from spec.schedulingGates\n";
}

std::string DescribePending(snapshot::Cluster& cluster,
                            const Pod& pod,
                            const analysis::SimulateOptions& options) {
  std::string out = "Pod " + std::string(pod.metadata.namespace_) + "/" +
                    std::string(pod.metadata.name) + " is pending.\n";
  if (!pod.spec.scheduling_gates.empty()) {
    return out + DescribeGated(pod);
  }
  // Only this pod: what others that wait would take is not in its way yet.
  std::erase_if(cluster.pods, [&pod](const Pod* other) {
    return other != &pod && other->spec.node_name.empty();
  });
  const analysis::Simulation simulation = analysis::Simulate(cluster, options);
  for (const analysis::SimulatedPod& decided : simulation.pods) {
    if (decided.name != pod.metadata.name || decided.namespace_ != pod.metadata.namespace_) {
      continue;
    }
    if (!decided.placed) {
      return out + DiagnosisText(decided.diagnosis);
    }
    out += "It fits now, on node " + decided.node +
           ": the scheduler has not tried it since that became possible, or none runs" +
           " for schedulerName " + std::string(pod.spec.scheduler_name) + ".\n";
    for (const analysis::SimulatedClaim& claim : decided.claims) {
      if (claim.allocation != nullptr) {
        out += "  claim " + claim.name + " would get\n";
        AddDevices(*claim.allocation, out);
      }
    }
    return out;
  }
  return out + "It is not waiting for the scheduler (phase " + std::string(pod.status.phase) +
         ").\n";
}

}  // namespace

int RunExplain(Arguments arguments, const Io& io) {
  ConnectionFlags connection_flags;
  std::string gates;
  Flags parser("explain pod/NAME",
               "Says why a pod is pending (per request and group of nodes, with what would help), "
               "or what it got.");
  parser.Text(
      "--feature-gates", gates, "gates of the scheduler, where they differ from the defaults");
  parser.Namespace(connection_flags);
  parser.Connection(connection_flags);
  const auto usage = [&io](const std::string& text) {
    io.err("error: " + text + "\nSee 'allot explain --help'.\n");
    return kUsage;
  };
  std::vector<std::string> rest;
  if (const auto end = parser.Begin(arguments, io, rest)) {
    return *end;
  }
  std::string name;
  if (rest.size() == 1 &&
      (rest[0].starts_with("pod/") || rest[0].starts_with("pods/") || rest[0].starts_with("po/"))) {
    name = rest[0].substr(rest[0].find('/') + 1);
  } else if (rest.size() == 2 && (rest[0] == "pod" || rest[0] == "pods" || rest[0] == "po")) {
    name = rest[1];
  } else {
    return usage("expected pod/NAME");
  }
  analysis::SimulateOptions options;
  options.progress = ProgressTo(io);
  if (const auto parsed = options.gates.Parse(gates); !parsed) {
    return usage(parsed.error().message());
  }
  auto connection = Connection::Open(io, connection_flags);
  if (!connection) {
    io.err(ErrorText(connection.error()));
    return kFailed;
  }
  auto cluster = Fetch(*connection);
  if (!cluster) {
    io.err(ErrorText(cluster.error()));
    return kFailed;
  }
  const auto pod =
      std::find_if(cluster->pods.begin(), cluster->pods.end(), [&](const Pod* candidate) {
        return candidate->metadata.name == name &&
               candidate->metadata.namespace_ == connection->namespace_();
      });
  if (pod == cluster->pods.end()) {
    io.err("Error from server (NotFound): pods \"" + name + "\" not found in namespace " +
           connection->namespace_() + "\n");
    return kFailed;
  }
  const Pod& found = **pod;
  io.out(found.spec.node_name.empty() ? DescribePending(*cluster, found, options)
                                      : DescribePlaced(*cluster, found));
  io.out(Reported(*connection, found));
  return kOk;
}

}  // namespace allot::cli
