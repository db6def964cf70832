// Causes that only a whole cluster shows: claims, templates, classes, and nodes that are out
// although they have the devices. (src/allocator/diagnosis_test.cc has those of a single node.)
#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "allocator/diagnosis.h"
#include "analysis/simulate.h"
#include "snapshot/cluster.h"

namespace allot::testing {
namespace {

using allocator::CauseKind;

struct Case {
  const char* name;
  std::string yaml;
  CauseKind kind;
  const char* text;  // somewhere in example or hint
};

class ClusterCauseTest : public ::testing::TestWithParam<Case> {};

TEST_P(ClusterCauseTest, IsNamed) {
  snapshot::Cluster cluster;
  const auto added = cluster.Add(GetParam().yaml, "test");
  ASSERT_TRUE(added) << added.error().message();
  const auto simulation = analysis::Simulate(cluster, {});
  ASSERT_FALSE(simulation.pods.empty());
  const auto& pod = simulation.pods.back();
  ASSERT_FALSE(pod.placed);
  std::string all;
  bool found = false;
  for (const allocator::Cause& cause : pod.diagnosis.causes) {
    const std::string text = cause.subject + " | " + cause.example + " | " + cause.hint;
    all += fmt::format("{}: {}\n", CauseName(cause.kind), text);
    found =
        found || (cause.kind == GetParam().kind && text.find(GetParam().text) != std::string::npos);
  }
  EXPECT_TRUE(found) << pod.diagnosis.message << "\n" << all;
}

std::string Node(const std::string& name, const std::string& more = "") {
  return fmt::format(
      "---\napiVersion: v1\nkind: Node\nmetadata: {{name: {0}, labels: {{host: {0}}}}}\n{1}status: "
      "{{allocatable: {{cpu: '4', memory: 8Gi, pods: '110'}}}}\n",
      name,
      more);
}

std::string Slice(const std::string& node) {
  return fmt::format(
      "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {{name: s-{0}}}\nspec: "
      "{{driver: x.example.com, nodeName: {0}, pool: {{name: {0}, generation: 1, "
      "resourceSliceCount: 1}}, devices: [{{name: d0}}]}}\n",
      node);
}

const std::string kClass =
    "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\nspec: "
    "{selectors: [{cel: {expression: 'device.driver == \"x.example.com\"'}}]}\n";

const std::string kTemplate =
    "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: t}\nspec: "
    "{spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, count: 1}}]}}}\n";

std::string Pod(const std::string& from, const std::string& more = "", int cpu = 1) {
  return fmt::format(
      "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec:\n  containers: [{{name: c, "
      "image: i, resources: {{requests: {{cpu: '{}'}}}}}}]\n  resourceClaims: [{{name: x, "
      "{}}}]\n{}",
      cpu,
      from,
      more);
}

const std::string kFromTemplate = "resourceClaimTemplateName: t";
const std::string kFromClaim = "resourceClaimName: c";

// Allocated on n2.
const std::string kClaimOnN2 =
    "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c, uid: c}\nspec: "
    "{devices: {requests: [{name: r, exactly: {deviceClassName: gpu, count: 1}}]}}\nstatus: "
    "{allocation: {devices: {results: [{request: r, driver: x.example.com, pool: n2, device: "
    "d0}]}, "
    "nodeSelector: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: "
    "[n2]}]}]}}, reservedFor: [{resource: pods, name: other, uid: other}]}\n";

// Would fit, were it not on its way out.
const std::string kClaimGoes =
    "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c, uid: c, "
    "deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [example.com/f]}\nspec: "
    "{devices: {requests: [{name: r, exactly: {deviceClassName: gpu, count: 1}}]}}\n";

// Has the name that p's status tells, and another owner.
const std::string kClaimOfAnother =
    "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c, namespace: "
    "default, uid: c, ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: earlier, "
    "controller: true}]}\nspec: "
    "{devices: {requests: [{name: r, exactly: {deviceClassName: gpu, count: 1}}]}}\n";
const std::string kGeneratedPod =
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: default, uid: p}\nspec:\n  "
    "containers: [{name: c, image: i}]\n  resourceClaims: [{name: x, resourceClaimTemplateName: "
    "t}]\nstatus: {resourceClaimStatuses: [{name: x, resourceClaimName: c}]}\n";

INSTANTIATE_TEST_SUITE_P(
    Causes,
    ClusterCauseTest,
    ::testing::Values(
        Case{"NoNodes", kClass + kTemplate + Pod(kFromTemplate), CauseKind::kNoNodes, "add nodes"},
        Case{"ClaimMissing",
             Node("n1") + kClass + Slice("n1") + Pod(kFromClaim),
             CauseKind::kClaimMissing,
             "c"},
        Case{"ClaimBeingDeleted",
             Node("n1") + kClass + Slice("n1") + kClaimGoes + Pod(kFromClaim),
             CauseKind::kClaimMissing,
             "resourceclaim \"c\" is being deleted"},
        Case{"ClaimOfAnotherPod",
             Node("n1") + kClass + Slice("n1") + kTemplate + kClaimOfAnother + kGeneratedPod,
             CauseKind::kClaimMissing,
             "was not created for Pod default/p"},
        Case{"TemplateMissing",
             Node("n1") + kClass + Slice("n1") + Pod(kFromTemplate),
             CauseKind::kTemplateMissing,
             "t"},
        Case{"ClassMissing",
             Node("n1") + Slice("n1") + kTemplate + Pod(kFromTemplate),
             CauseKind::kClassMissing,
             "gpu"},
        Case{"ClaimPinned",
             Node("n1") + Node("n2", "spec: {unschedulable: true}\n") + kClass + Slice("n2") +
                 kClaimOnN2 + Pod(kFromClaim),
             CauseKind::kClaimPinned,
             "elsewhere"},
        Case{"NodeUnschedulable",
             Node("n1", "spec: {unschedulable: true}\n") + kClass + Slice("n1") + kTemplate +
                 Pod(kFromTemplate),
             CauseKind::kNodeUnschedulable,
             "the node has the devices"},
        Case{"NodeTaint",
             Node("n1", "spec: {taints: [{key: k, effect: NoSchedule}]}\n") + kClass + Slice("n1") +
                 kTemplate + Pod(kFromTemplate),
             CauseKind::kNodeTaint,
             "the node has the devices"},
        Case{"NodeAffinity",
             Node("n1") + Node("n2") + kClass + Slice("n1") + kTemplate +
                 Pod(kFromTemplate, "  nodeSelector: {host: n2}\n"),
             CauseKind::kNodeAffinity,
             "the node has the devices"},
        Case{"NodeResources",
             Node("n1") + kClass + Slice("n1") + kTemplate + Pod(kFromTemplate, "", 5),
             CauseKind::kNodeResources,
             "the node has the devices"},
        Case{"DevicesElsewhere",
             Node("n1") + Node("n2", "spec: {unschedulable: true}\n") + kClass + Slice("n2") +
                 kTemplate + Pod(kFromTemplate),
             CauseKind::kDriverAbsent,
             "node n1"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace allot::testing
