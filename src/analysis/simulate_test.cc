// What simulate says of small clusters, a case each: who goes where, with which devices, and what
// the pod's status would tell.
#include "analysis/simulate.h"

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/desc.h"
#include "inventory/gates.h"
#include "schema/codec.h"

namespace allot::analysis {
namespace {

struct Case {
  const char* name;
  std::string yaml;
  const char* gates;
  placement::Profile profile;
  const char* only_node;
  /// POD NODE DEVICE,...[STATUS], one line a pod; a refused one: POD - CAUSE.
  std::string expected;
};

std::string Node(const std::string& name, const std::string& cpu = "4") {
  return fmt::format(
      "---\napiVersion: v1\nkind: Node\nmetadata: {{name: {}}}\nstatus: {{allocatable: {{cpu: "
      "'{}', memory: 8Gi, pods: '10'}}}}\n",
      name,
      cpu);
}

std::string Slice(const std::string& node, const std::string& devices) {
  return fmt::format(
      "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {{name: {0}}}\nspec: "
      "{{driver: x, nodeName: {0}, pool: {{name: {0}, generation: 1, resourceSliceCount: 1}}, "
      "devices: [{1}]}}\n",
      node,
      devices);
}

const std::string kClass =
    "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\nspec: "
    "{extendedResourceName: example.com/gpu, selectors: [{cel: {expression: 'device.driver == "
    "\"x\"'}}]}\n";

std::string Template(const std::string& more = "") {
  return "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: "
         "t}\nspec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu" +
         more + "}}]}}}\n";
}

std::string Claim(const std::string& name, const std::string& status = "") {
  return fmt::format(
      "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {{name: {}}}\nspec: "
      "{{devices: {{requests: [{{name: r, exactly: {{deviceClassName: gpu}}}}]}}}}\n{}",
      name,
      status);
}

std::string Pod(const std::string& name,
                const std::string& claim = "resourceClaimTemplateName: t",
                const std::string& spec = "",
                const std::string& resources = "requests: {cpu: '1'}") {
  return fmt::format(
      "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {}}}\nspec:\n  containers: [{{name: c, "
      "image: i, resources: {{{}{}}}}}]\n{}{}",
      name,
      claim.empty() ? "" : "claims: [{name: x}], ",
      resources,
      claim.empty() ? "" : fmt::format("  resourceClaims: [{{name: x, {}}}]\n", claim),
      spec);
}

std::string Text(const SimulatedPod& pod) {
  if (!pod.placed) {
    return fmt::format("{} - {}\n",
                       pod.name,
                       pod.diagnosis.causes.empty()
                           ? pod.diagnosis.message
                           : std::string(CauseName(pod.diagnosis.causes.front().kind)));
  }
  std::string out = fmt::format("{} {}", pod.name, pod.node);
  for (const SimulatedClaim& claim : pod.claims) {
    for (const auto& result : claim.allocation->devices.results) {
      out += fmt::format(" {}:{}/{}", claim.name, result.pool, result.device);
      if (result.share_id != nullptr) {
        out += fmt::format("({})", *result.share_id);
      }
    }
  }
  std::string status;
  schema::EncodeJson(api::Desc<api::core::PodStatus>(), pod.status, status);
  return out + (status == "{}" ? "" : " " + status) + "\n";
}

const std::string kRule =
    "---\napiVersion: resource.k8s.io/v1\nkind: DeviceTaintRule\nmetadata: {name: r}\nspec: "
    "{deviceSelector: {}, taint: {key: k, effect: NoSchedule}}\n";

class SimulateTest : public ::testing::TestWithParam<Case> {};

TEST_P(SimulateTest, Says) {
  snapshot::Cluster cluster;
  const auto added = cluster.Add(GetParam().yaml, "test");
  ASSERT_TRUE(added) << added.error().message();
  SimulateOptions options;
  ASSERT_TRUE(options.gates.Parse(GetParam().gates));
  options.profile = GetParam().profile;
  options.only_node = GetParam().only_node;
  const Simulation simulation = Simulate(cluster, options);
  std::string text;
  for (const SimulatedPod& pod : simulation.pods) {
    text += Text(pod);
  }
  EXPECT_EQ(text, GetParam().expected);
}

constexpr auto kCompatible = placement::Profile::kCompatible;
constexpr auto kPacking = placement::Profile::kPacking;

const std::string kMapped =
    "{name: d0, nodeAllocatableResources: {cpu: {mapping: {deviceMultiplier: '2'}}, memory: "
    "{overhead: {perPod: 1Gi, perContainer: 512Mi}}}}";
const std::string kShared =
    "{name: d0, allowMultipleAllocations: true, capacity: {memory: {value: 40Gi}}}";

INSTANTIATE_TEST_SUITE_P(
    Clusters,
    SimulateTest,
    ::testing::Values(
        Case{"InOrderOfPriorityAndAge",
             Node("n1") + kClass + Slice("n1", "{name: d0}, {name: d1}") + Template() + Pod("a") +
                 Pod("b") + Pod("c", "resourceClaimTemplateName: t", "  priority: 5\n"),
             "",
             kCompatible,
             "",
             "c n1 c-x:n1/d0 "
             R"({"resourceClaimStatuses":[{"name":"x","resourceClaimName":"c-x"}]})"
             "\na n1 a-x:n1/d1 "
             R"({"resourceClaimStatuses":[{"name":"x","resourceClaimName":"a-x"}]})"
             "\nb - InUse\n"},
        Case{"PodsOfOneClaim",
             Node("n1") + Node("n2") + kClass + Slice("n2", "{name: d0}") + Claim("c") +
                 Pod("a", "resourceClaimName: c") + Pod("b", "resourceClaimName: c"),
             "",
             kCompatible,
             "",
             "a n2 c:n2/d0\nb n2 c:n2/d0\n"},
        Case{"TemplatesAreFoundByNamespace",
             Node("n1") + kClass + Slice("n1", "{name: d0}") +
                 "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: "
                 "{name: t, namespace: other}\nspec: {spec: {devices: {requests: []}}}\n" +
                 Pod("a"),
             "",
             kCompatible,
             "",
             "a - TemplateMissing\n"},
        Case{"ExtendedResources",
             Node("n1") + kClass + Slice("n1", "{name: d0}") +
                 Pod("a", "", "", "requests: {example.com/gpu: 1}, limits: {example.com/gpu: 1}") +
                 Pod("b", "", "", "requests: {example.com/gpu: 1}, limits: {example.com/gpu: 1}"),
             "",
             kCompatible,
             "",
             "a n1 a-extended-resources:n1/d0 "
             R"({"extendedResourceClaimStatus":{"requestMappings":[{"containerName":"c",)"
             R"("resourceName":"example.com/gpu","requestName":"container-0-request-0"}],)"
             R"("resourceClaimName":"a-extended-resources"}})"
             "\nb - InUse\n"},
        Case{"SharesAreNumbered",
             Node("n1") + kClass + Slice("n1", kShared) +
                 Template(", capacity: {requests: {memory: 15Gi}}") + Pod("a") + Pod("b") +
                 Pod("c"),
             "",
             kCompatible,
             "",
             "a n1 a-x:n1/d0(share-1) "
             R"({"resourceClaimStatuses":[{"name":"x","resourceClaimName":"a-x"}]})"
             "\nb n1 b-x:n1/d0(share-2) "
             R"({"resourceClaimStatuses":[{"name":"x","resourceClaimName":"b-x"}]})"
             "\nc - Capacity\n"},
        Case{"DevicesTakeOfTheNode",
             Node("n1") + kClass + Slice("n1", kMapped) + Template() + Pod("a"),
             "DRANodeAllocatableResources=true",
             kCompatible,
             "",
             "a n1 a-x:n1/d0 "
             R"({"resourceClaimStatuses":[{"name":"x","resourceClaimName":"a-x"}],)"
             R"("nodeAllocatableResourceClaimStatuses":[{"resourceClaimName":"a-x",)"
             R"("containers":["c"],"mapping":[{"name":"cpu","quantity":"2"}],"overhead":)"
             R"([{"name":"memory","perPod":"1Gi","perContainer":"512Mi"}]}]})"
             "\n"},
        Case{"NotWithoutTheGate",
             Node("n1") + kClass + Slice("n1", kMapped) + Template() + Pod("a"),
             "",
             kCompatible,
             "",
             "a n1 a-x:n1/d0 "
             R"({"resourceClaimStatuses":[{"name":"x","resourceClaimName":"a-x"}]})"
             "\n"},
        Case{"RulesTaint",
             Node("n1") + kClass + Slice("n1", "{name: d0}") + kRule + Claim("c") +
                 Pod("a", "resourceClaimName: c"),
             "",
             kCompatible,
             "",
             "a - Tainted\n"},
        Case{"RulesDoNothingWithoutTheGate",
             Node("n1") + kClass + Slice("n1", "{name: d0}") + kRule + Claim("c") +
                 Pod("a", "resourceClaimName: c"),
             "DRADeviceTaintRules=false",
             kCompatible,
             "",
             "a n1 c:n1/d0\n"},
        Case{"SpreadByDefault",
             Node("n1") + Node("n2") + kClass + Slice("n1", "{name: d0}, {name: d1}") +
                 Slice("n2", "{name: d0}, {name: d1}") + Claim("c") + Claim("d") +
                 Pod("a", "resourceClaimName: c") + Pod("b", "resourceClaimName: d"),
             "",
             kCompatible,
             "",
             "a n1 c:n1/d0\nb n2 d:n2/d0\n"},
        Case{"Packing",
             Node("n1") + Node("n2") + kClass + Slice("n1", "{name: d0}, {name: d1}") +
                 Slice("n2", "{name: d0}, {name: d1}") + Claim("c") + Claim("d") +
                 Pod("a", "resourceClaimName: c") + Pod("b", "resourceClaimName: d"),
             "",
             kPacking,
             "",
             "a n1 c:n1/d0\nb n1 d:n1/d1\n"},
        Case{"OneNodeOnly",
             Node("n1") + Node("n2") + kClass + Slice("n1", "{name: d0}") +
                 Slice("n2", "{name: d0}") + Claim("c") + Claim("d") +
                 Pod("a", "resourceClaimName: c") + Pod("b", "resourceClaimName: d"),
             "",
             kCompatible,
             "n2",
             "a n2 c:n2/d0\nb - InUse\n"},
        Case{"GatedPodsAreLeftAlone",
             Node("n1") + Pod("a", "", "  schedulingGates: [{name: wait}]\n"),
             "",
             kCompatible,
             "",
             "a - Scheduling is blocked due to non-empty scheduling gates\n"},
        Case{"FinishedAndBoundPodsAreNotPending",
             Node("n1", "2") + Pod("a", "", "  nodeName: n1\n") +
                 Pod("b", "", "  nodeName: n1\nstatus: {phase: Succeeded}\n") +
                 Pod("c", "", "status: {phase: Failed}\n") + Pod("d", "") + Pod("e", ""),
             "",
             kCompatible,
             "",
             "d n1\ne - NodeResources\n"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(SimulateTest, KnowsWhichGatesDoNothing) {
  api::GateSet gates;
  ASSERT_TRUE(
      gates.Parse("DRADeviceTaintRules=false,DRAListTypeAttributes=true,"
                  "SchedulerPreQueueingHints=true,DRASchedulerFilterTimeout=false"));
  EXPECT_EQ(
      inventory::GatesWithoutEffect(gates),
      (std::vector<std::string_view>{"DRASchedulerFilterTimeout", "SchedulerPreQueueingHints"}));
}

TEST(SimulateTest, CountsNodesAndDevices) {
  snapshot::Cluster cluster;
  ASSERT_TRUE(cluster.Add(
      Node("n1") + kClass + Slice("n1", "{name: d0}, {name: d1}") + Template() + Pod("a"), "test"));
  const Simulation simulation = Simulate(cluster, {});
  EXPECT_EQ(simulation.nodes, 1U);
  EXPECT_EQ(simulation.devices, 2U);
  EXPECT_EQ(simulation.devices_in_use, 1U);
}

}  // namespace
}  // namespace allot::analysis
