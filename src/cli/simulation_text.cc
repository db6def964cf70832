#include "cli/simulation_text.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/desc.h"
#include "cli/diagnosis_text.h"
#include "cli/diagnosis_value.h"
#include "schema/codec.h"
#include "text/json.h"
#include "text/table.h"
#include "text/value.h"
#include "text/yaml.h"

namespace allot::cli {
namespace {

using analysis::SimulatedPod;
using text::Value;

constexpr std::string_view kNone = "<none>";

// DRIVER/POOL/DEVICE, and in brackets what is more to say: [share-1,memory=10Gi], [admin].
std::string DeviceText(const api::resource::DeviceRequestAllocationResult& result) {
  std::vector<std::string> more;
  if (result.share_id != nullptr) {
    more.emplace_back(*result.share_id);
  }
  for (const auto& amount : result.consumed_capacity) {
    more.push_back(fmt::format("{}={}", amount.key, amount.value.ToString()));
  }
  if (result.admin_access != nullptr && *result.admin_access) {
    more.emplace_back("admin");
  }
  std::string out = fmt::format("{}/{}/{}", result.driver, result.pool, result.device);
  return more.empty() ? out : fmt::format("{}[{}]", out, fmt::join(more, ","));
}

std::string DevicesOf(const SimulatedPod& pod) {
  std::vector<std::string> all;
  for (const analysis::SimulatedClaim& claim : pod.claims) {
    if (claim.allocation == nullptr) {
      continue;
    }
    for (const auto& result : claim.allocation->devices.results) {
      all.push_back(DeviceText(result));
    }
  }
  return all.empty() ? std::string(kNone) : fmt::format("{}", fmt::join(all, ","));
}

// What the pod's devices take of the node, added up: a claim's overhead counts once for the pod and
// once for each of its containers.
std::string NodeAmountsOf(const SimulatedPod& pod) {
  if (!pod.placed) {
    return std::string(kNone);
  }
  std::map<std::string_view, quantity::Quantity> sums;
  const auto add = [&](std::string_view name, const quantity::Quantity* amount, std::size_t times) {
    if (amount != nullptr && times != 0) {
      quantity::Quantity& sum =
          sums.try_emplace(name, quantity::Quantity{0, amount->format}).first->second;
      sum.nanos += amount->nanos * static_cast<std::int64_t>(times);
    }
  };
  for (const auto& claim : pod.status->node_allocatable_resource_claim_statuses) {
    for (const auto& mapped : claim.mapping) {
      add(mapped.name, mapped.quantity, 1);
    }
    for (const auto& overhead : claim.overhead) {
      add(overhead.name, overhead.per_pod, 1);
      add(overhead.name, overhead.per_container, claim.containers.size());
    }
  }
  std::vector<std::string> all;
  for (const auto& [name, sum] : sums) {
    all.push_back(fmt::format("{}={}", name, sum.ToString()));
  }
  return all.empty() ? std::string(kNone) : fmt::format("{}", fmt::join(all, ","));
}

base::Result<Value> ToValue(const schema::TypeDesc& desc, const void* message) {
  std::string json;
  schema::EncodeJson(desc, message, json);
  return text::ParseJson(json);
}

base::Result<Value> PlacedValue(const SimulatedPod& pod, Value out) {
  out.Set("node", Value(pod.node));
  Value claims = Value::Array();
  for (const analysis::SimulatedClaim& claim : pod.claims) {
    Value one = Value::Object();
    one.Set("name", Value(claim.name));
    if (claim.allocation != nullptr) {
      ALLOT_ASSIGN_OR_RETURN(
          Value allocation,
          ToValue(api::Desc<api::resource::AllocationResult>(), claim.allocation));
      one.Set("allocation", std::move(allocation));
    }
    claims.Append(std::move(one));
  }
  out.Set("claims", std::move(claims));
  ALLOT_ASSIGN_OR_RETURN(Value status, ToValue(api::Desc<api::core::PodStatus>(), pod.status));
  if (!status.members().empty()) {
    out.Set("status", std::move(status));
  }
  return out;
}

base::Result<Value> PodValue(const SimulatedPod& pod) {
  Value out = Value::Object();
  out.Set("namespace", Value(pod.namespace_));
  out.Set("name", Value(pod.name));
  out.Set("placed", Value(pod.placed));
  if (pod.placed) {
    return PlacedValue(pod, std::move(out));
  }
  SetDiagnosis(pod.diagnosis, out);
  return out;
}

}  // namespace

std::string SimulationTable(const analysis::Simulation& simulation) {
  const auto& pods = simulation.pods;
  // Most clusters have no devices that count as cpu or memory.
  const bool amounts = std::any_of(pods.begin(), pods.end(), [](const SimulatedPod& pod) {
    return NodeAmountsOf(pod) != kNone;
  });
  std::vector<std::string> head{"NAMESPACE", "POD", "NODE", "DEVICES"};
  if (amounts) {
    head.emplace_back("NODE RESOURCES OF DEVICES");
  }
  text::TextTable table(std::move(head));
  std::size_t placed = 0;
  for (const SimulatedPod& pod : pods) {
    placed += pod.placed ? 1 : 0;
    std::vector<std::string> row{
        pod.namespace_, pod.name, pod.placed ? pod.node : std::string(kNone), DevicesOf(pod)};
    if (amounts) {
      row.push_back(NodeAmountsOf(pod));
    }
    table.AddRow(std::move(row));
  }
  std::string out = pods.empty() ? std::string() : table.ToString();
  for (const SimulatedPod& pod : pods) {
    if (!pod.placed) {
      out += fmt::format("\n{}/{}: {}", pod.namespace_, pod.name, DiagnosisText(pod.diagnosis));
    }
  }
  return out + fmt::format("{}{} of {} pending pods placed; {} nodes; {} of {} devices in use\n",
                           pods.empty() ? "" : "\n",
                           placed,
                           pods.size(),
                           simulation.nodes,
                           simulation.devices_in_use,
                           simulation.devices);
}

base::Result<std::string> SimulationTree(const analysis::Simulation& simulation, bool json) {
  Value root = Value::Object();
  root.Set("apiVersion", Value("allot.dev/v1"));
  root.Set("kind", Value("Simulation"));
  Value pods = Value::Array();
  for (const SimulatedPod& pod : simulation.pods) {
    ALLOT_ASSIGN_OR_RETURN(Value value, PodValue(pod));
    pods.Append(std::move(value));
  }
  root.Set("pods", std::move(pods));
  root.Set("nodes", Value(static_cast<std::int64_t>(simulation.nodes)));
  root.Set("devices", Value(static_cast<std::int64_t>(simulation.devices)));
  root.Set("devicesInUse", Value(static_cast<std::int64_t>(simulation.devices_in_use)));
  return json ? text::ToJson(root, text::JsonStyle::kIndented) + "\n" : text::ToYaml(root);
}

}  // namespace allot::cli
