// What keeps a pod waiting in a whole cluster, a case each: the cause comes first, names the
// culprit, and says the smallest change that would help. (src/allocator/diagnosis_test.cc has all
// that can be wrong on a single node.)
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
  const char* text;  // somewhere in subject or example
  const char* hint;
  bool later = false;  // other nodes have causes that come before it
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
  ASSERT_FALSE(pod.diagnosis.causes.empty()) << pod.diagnosis.message;
  std::string all;
  for (const allocator::Cause& cause : pod.diagnosis.causes) {
    all += fmt::format(
        "{}: {} | {} | {}\n", CauseName(cause.kind), cause.subject, cause.example, cause.hint);
  }
  // Among equals the node with the devices may come second.
  const auto first = std::find_if(
      pod.diagnosis.causes.begin(), pod.diagnosis.causes.end(), [](const allocator::Cause& cause) {
        return cause.kind == GetParam().kind;
      });
  ASSERT_NE(first, pod.diagnosis.causes.end()) << all;
  if (!GetParam().later) {
    EXPECT_EQ(first, pod.diagnosis.causes.begin()) << all;
  }
  const std::string said = first->subject + " | " + first->example;
  EXPECT_NE(said.find(GetParam().text), std::string::npos) << all;
  EXPECT_NE(first->hint.find(GetParam().hint), std::string::npos) << all;
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

// A slice of n1 in the pool of that name.
std::string Devices(const std::string& devices, const char* name = "s", int slices = 1) {
  return fmt::format(
      "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {{name: {}}}\nspec: "
      "{{driver: x.example.com, nodeName: n1, pool: {{name: n1, generation: 1, "
      "resourceSliceCount: {}}}, {}}}\n",
      name,
      slices,
      devices);
}

const std::string kTwo =
    "devices: [{name: d0, attributes: {model: {string: a100}, numa: {int: 0}}, capacity: {memory: "
    "{value: 40Gi}}}, {name: d1, attributes: {model: {string: a100}, numa: {int: 1}}, capacity: "
    "{memory: {value: 40Gi}}}]";

// A claim of another pod with that device.
std::string Held(const std::string& device, const std::string& by) {
  return fmt::format(
      "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {{name: {0}, namespace: "
      "default, uid: {0}}}\nspec: {{devices: {{requests: [{{name: r, exactly: {{deviceClassName: "
      "gpu, count: 1}}}}]}}}}\nstatus: {{allocation: {{devices: {{results: [{{request: r, driver: "
      "x.example.com, pool: n1, device: {1}}}]}}}}, reservedFor: [{{resource: pods, name: {0}, "
      "uid: {0}}}]}}\n",
      by,
      device);
}

// n1, the class, `objects`, and a pod whose request is `exactly` with further members of the claim.
std::string Asked(const std::string& objects,
                  const std::string& exactly,
                  const std::string& claim = "") {
  return Node("n1") + kClass + objects +
         "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: "
         "t}\nspec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu" +
         exactly + "}}]" + claim + "}}}\n" + Pod(kFromTemplate);
}

std::string Selecting(const std::string& expression) {
  return ", count: 1, selectors: [{cel: {expression: '" + expression + "'}}]";
}

std::string Counted(const std::string& device) {
  return "{name: " + device +
         ", consumesCounters: [{counterSet: card, counters: {memory: {value: 20Gi}}}]}";
}

const std::string kPortTaken =
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: default}\nspec: {nodeName: "
    "n1, containers: [{name: c, image: i, ports: [{containerPort: 80, hostPort: 80}]}]}\n";
const std::string kPortWanted =
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers: [{name: c, image: "
    "i, ports: [{containerPort: 80, hostPort: 80}]}]\n  resourceClaims: [{name: x, "
    "resourceClaimTemplateName: t}]\n";

// The driver y.example.com on n1.
std::string OtherDriver(const std::string& devices, int slices = 1) {
  return fmt::format(
      "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {{name: other}}\nspec: "
      "{{driver: y.example.com, nodeName: n1, pool: {{name: other, generation: 1, "
      "resourceSliceCount: {}}}, devices: [{}]}}\n",
      slices,
      devices);
}

// Any driver's.
const std::string kAnyClass =
    "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\nspec: {}\n";

const std::string kCard = "sharedCounters: [{name: card, counters: {memory: {value: 30Gi}}}]";

std::string Shared(const std::string& policy) {
  return "devices: [{name: d0, allowMultipleAllocations: true, capacity: {memory: {value: '10', "
         "requestPolicy: " +
         policy + "}}}]";
}

constexpr const char* kOnlyThis = "the node has the devices; only this keeps the pod away";

INSTANTIATE_TEST_SUITE_P(
    Devices,
    ClusterCauseTest,
    ::testing::Values(
        Case{"DriverAbsent",
             Asked("", ", count: 1"),
             CauseKind::kDriverAbsent,
             "driver x.example.com, which publishes nothing in this cluster",
             "install the driver"},
        Case{"PoolIncomplete",
             Asked(Devices(kTwo, "s", 2), ", count: 1"),
             CauseKind::kPoolIncomplete,
             "pool x.example.com/n1 | 1 of 2 slices of generation 1 are published",
             "wait for the driver to publish all slices"},
        Case{"PoolInvalid",
             Asked(Devices("devices: [{name: d0}, {name: d0}]"), ", count: 1"),
             CauseKind::kPoolInvalid,
             "pool x.example.com/n1 | duplicate device name d0",
             "the driver must publish a pool"},
        Case{"ClassSelectsNothing",
             Node("n1") +
                 "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: "
                 "gpu}\nspec: {selectors: [{cel: {expression: "
                 "'device.attributes[\"x.example.com\"].model == \"h100\"'}}]}\n" +
                 Devices(kTwo) + kTemplate + Pod(kFromTemplate),
             CauseKind::kClassSelectsNothing,
             "d0 does not pass the selectors of class gpu",
             "check the selectors of class gpu"},
        Case{"SelectorTypo",
             Asked(Devices(kTwo),
                   Selecting("device.attributes[\"x.example.com\"].modell == \"a100\"")),
             CauseKind::kAttributeMissing,
             "none of 2 devices publishes it",
             "did you mean x.example.com/model?"},
        Case{"SelectorPassesNone",
             Asked(Devices(kTwo),
                   Selecting("device.attributes[\"x.example.com\"].model == \"h100\"")),
             CauseKind::kSelector,
             "selector #0 passes 0 of 2 devices of the class",
             "would fit without its selectors"},
        Case{"CapacityAskedAsAttribute",
             Asked(Devices(kTwo), Selecting("device.attributes[\"x.example.com\"].memory > 1")),
             CauseKind::kWrongSection,
             "\"memory\" is published under capacity, not under attributes",
             "use device.capacity[\"x.example.com\"].memory, a quantity"},
        Case{"AttributeAskedAsCapacity",
             Asked(Devices(kTwo),
                   Selecting("device.capacity[\"x.example.com\"].model == quantity(\"1\")")),
             CauseKind::kWrongSection,
             "\"model\" is published under attributes, not under capacity",
             "use device.attributes[\"x.example.com\"].model"},
        Case{"Tainted",
             Asked(Devices("devices: [{name: d0, taints: [{key: broken, effect: NoSchedule}]}]"),
                   ", count: 1"),
             CauseKind::kTainted,
             "d0 has taint broken:NoSchedule",
             "would fit with a toleration of the taints"},
        Case{"AllInUse",
             Asked(Devices(kTwo) + Held("d0", "serve") + Held("d1", "train"), ", count: 1"),
             CauseKind::kInUse,
             "holders: default/serve, default/train",
             "would fit once other claims have given their devices back"},
        Case{"SomeInUse",
             Asked(Devices(kTwo) + Held("d0", "serve"), ", count: 2"),
             CauseKind::kInUse,
             "d0 is held by claim default/serve",
             "would fit with count 1 instead of 2"},
        Case{"TooFew",
             Asked(Devices(kTwo), ", count: 3"),
             CauseKind::kTooFew,
             "3 devices are wanted, 2 published",
             "would fit with count 2 instead of 3"},
        Case{"CountersShort",
             Asked(Devices("sharedCounters: [{name: card, counters: {memory: {value: 30Gi}}}]",
                           "counters",
                           2) +
                       Devices("devices: [" + Counted("p0") + ", " + Counted("p1") + "]", "s", 2) +
                       Held("p0", "serve"),
                   ", count: 1"),
             CauseKind::kCounters,
             "p1 needs 20Gi of counter card/memory, 10Gi is left",
             "would fit once other claims have given their devices back"},
        Case{
            "CountersOfOneRequest",
            Asked(Devices(kCard, "counters", 2) +
                      Devices("devices: [" + Counted("p0") + ", " + Counted("p1") + "]", "s", 2),
                  ", count: 2"),
            CauseKind::kCounters,
            "request r | 2 devices need 40Gi of counter card/memory of pool x.example.com/n1, 30Gi "
            "is left",
            "would fit with count 1 instead of 2"},
        Case{"ListsCannotBeCompared",
             Asked(Devices("devices: [{name: d0, attributes: {numa: {ints: [0]}}}, {name: d1, "
                           "attributes: {numa: {ints: [0]}}}]"),
                   ", count: 2",
                   ", constraints: [{requests: [r], matchAttribute: x.example.com/numa}]"),
             CauseKind::kConstraint,
             "the devices have lists under that name",
             ""},
        Case{"NamesOfTwoDrivers",
             Node("n1") + kAnyClass + Devices(kTwo) +
                 OtherDriver("{name: e0, attributes: {numa: {int: 0}}}") +
                 "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: "
                 "{name: t}\nspec: {spec: {devices: {requests: [{name: a, exactly: "
                 "{deviceClassName: gpu, selectors: [{cel: {expression: 'device.driver == "
                 "\"x.example.com\"'}}]}}, {name: b, exactly: {deviceClassName: gpu, selectors: "
                 "[{cel: {expression: 'device.driver == \"y.example.com\"'}}]}}], constraints: "
                 "[{matchAttribute: x.example.com/numa}]}}}\n" +
                 Pod(kFromTemplate),
             CauseKind::kAttributeMissing,
             "driver x.example.com publishes it, driver y.example.com of this request does not",
             "constrain requests of one driver only"},
        Case{"SeveralTaints",
             Asked(Devices("devices: [{name: d0, taints: [{key: k, value: v, effect: NoSchedule}, "
                           "{key: l, effect: NoExecute}]}, {name: d1, taints: [{key: m, effect: "
                           "NoSchedule}]}]"),
                   ", count: 2"),
             CauseKind::kTainted,
             "d0 has taint k=v:NoSchedule, l:NoExecute; taints: k=v:NoSchedule, l:NoExecute, "
             "m:NoSchedule",
             "would fit with a toleration of the taints"},
        Case{"SelectorOfAnotherType",
             Asked(Devices(kTwo), Selecting("device.attributes[\"x.example.com\"].model > 1")),
             CauseKind::kSelectorError,
             "no such overload",
             "compare values of one type"},
        Case{"SelectorDoesNotCompile",
             Asked(Devices(kTwo), Selecting("device.attributes[")),
             CauseKind::kSelectorError,
             "Syntax error",
             "correct the expression"},
        Case{"UnrelatedPoolIncomplete",
             Node("n1") + kAnyClass + Devices(kTwo) + OtherDriver("{name: e0}", 2) +
                 "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: "
                 "{name: t}\nspec: {spec: {devices: {requests: [{name: r, exactly: "
                 "{deviceClassName: gpu, count: 3}}]}}}\n" +
                 Pod(kFromTemplate),
             CauseKind::kTooFew,
             "3 devices are wanted, 2 published",
             "would fit with count 2 instead of 3"},
        Case{"GateHidesASlice",
             Asked(Devices(kCard, "counters", 2) +
                       Devices("devices: [{name: p0, consumesCounters: [{counterSet: card, "
                               "compatibilityGroups: [a], counters: {memory: {value: 20Gi}}}]}]",
                               "s",
                               2),
                   ", count: 1"),
             CauseKind::kPoolIncomplete,
             "1 of 2 slices of generation 1 are used: the others need a gate that is off",
             "turn on gate DRADeviceCompatibilityGroups"},
        Case{"OutsideOfThePolicysRange",
             Asked(Devices(Shared("{default: '1', validRange: {min: '1', max: '4'}}")),
                   ", count: 1, capacity: {requests: {memory: '5'}}"),
             CauseKind::kCapacity,
             "d0 does not give 5 memory: the policy has min 1, max 4",
             "would fit without its capacity request"},
        Case{"NoneOfThePolicysValues",
             Asked(Devices(Shared("{default: '1', validValues: ['1', '2', '4']}")),
                   ", count: 1, capacity: {requests: {memory: '5'}}"),
             CauseKind::kCapacity,
             "d0 does not give 5 memory: the policy has 1, 2, 4",
             "would fit without its capacity request"},
        Case{"ShapeOfV1beta1",
             Node("n1") + kClass + Devices(kTwo) +
                 "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: "
                 "{name: t}\nspec: {spec: {devices: {requests: [{name: r, deviceClassName: "
                 "gpu}]}}}\n" +
                 Pod(kFromTemplate),
             CauseKind::kRequestInvalid,
             "request r | the request has neither exactly nor firstAvailable",
             "only v1beta1 has them in the request itself"},
        Case{"CapacityShort",
             Asked(Devices("devices: [{name: d0, allowMultipleAllocations: true, capacity: "
                           "{memory: {value: 40Gi}}}]"),
                   ", count: 1, capacity: {requests: {memory: 50Gi}}"),
             CauseKind::kCapacity,
             "d0 has 40Gi memory of which 0 is in use, 50Gi is asked for",
             "would fit without its capacity request"},
        Case{"Constraint",
             Asked(Devices(kTwo),
                   ", count: 2",
                   ", constraints: [{requests: [r], matchAttribute: x.example.com/numa}]"),
             CauseKind::kConstraint,
             "2 devices with one value are wanted, the best value has 1: d0",
             "would fit without the constraint matchAttribute x.example.com/numa"}),
    [](const auto& info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Cluster,
    ClusterCauseTest,
    ::testing::Values(
        Case{"NoNodes",
             kClass + kTemplate + Pod(kFromTemplate),
             CauseKind::kNoNodes,
             "cluster",
             "add nodes"},
        Case{"ClaimMissing",
             Node("n1") + kClass + Slice("n1") + Pod(kFromClaim),
             CauseKind::kClaimMissing,
             "could not find ResourceClaim \"default/c\"",
             "create the claim"},
        Case{"ClaimBeingDeleted",
             Node("n1") + kClass + Slice("n1") + kClaimGoes + Pod(kFromClaim),
             CauseKind::kClaimMissing,
             "resourceclaim \"c\" is being deleted",
             "create the claim again"},
        Case{"ClaimOfAnotherPod",
             Node("n1") + kClass + Slice("n1") + kTemplate + kClaimOfAnother + kGeneratedPod,
             CauseKind::kClaimMissing,
             "was not created for Pod default/p",
             "delete the claim"},
        Case{"TemplateMissing",
             Node("n1") + kClass + Slice("n1") + Pod(kFromTemplate),
             CauseKind::kTemplateMissing,
             "template default/t",
             "create the ResourceClaimTemplate"},
        Case{"ClassMissing",
             Node("n1") + Slice("n1") + kTemplate + Pod(kFromTemplate),
             CauseKind::kClassMissing,
             "class gpu",
             "create the DeviceClass"},
        Case{"ClaimHeldElsewhere",
             Node("n1") + Node("n2", "spec: {unschedulable: true}\n") + kClass + Slice("n2") +
                 kClaimOnN2 + Pod(kFromClaim),
             CauseKind::kClaimPinned,
             "claim c | resourceclaim not available on the node: its devices, such as "
             "x.example.com/n2/d0, are on node n2",
             "the claim's devices are elsewhere"},
        Case{"NodeUnschedulable",
             Node("n1", "spec: {unschedulable: true}\n") + kClass + Slice("n1") + kTemplate +
                 Pod(kFromTemplate),
             CauseKind::kNodeUnschedulable,
             "node(s) were unschedulable",
             kOnlyThis},
        Case{"NodeTaint",
             Node("n1", "spec: {taints: [{key: k, effect: NoSchedule}]}\n") + kClass + Slice("n1") +
                 kTemplate + Pod(kFromTemplate),
             CauseKind::kNodeTaint,
             "node(s) had untolerated taint(s)",
             kOnlyThis},
        Case{"NodeAffinity",
             Node("n1") + Node("n2") + kClass + Slice("n1") + kTemplate +
                 Pod(kFromTemplate, "  nodeSelector: {host: n2}\n"),
             CauseKind::kNodeAffinity,
             "node(s) didn't match Pod's node affinity/selector",
             kOnlyThis,
             /*later=*/true},
        Case{"NodePorts",
             Node("n1") + kClass + Slice("n1") + kTemplate + kPortTaken + kPortWanted,
             CauseKind::kNodePorts,
             "node(s) didn't have free ports for the requested pod ports",
             kOnlyThis},
        Case{"NodeResources",
             Node("n1") + kClass + Slice("n1") + kTemplate + Pod(kFromTemplate, "", 5),
             CauseKind::kNodeResources,
             "Insufficient cpu",
             kOnlyThis},
        Case{"DevicesElsewhere",
             Node("n1") + Node("n2", "spec: {unschedulable: true}\n") + kClass + Slice("n2") +
                 kTemplate + Pod(kFromTemplate),
             CauseKind::kDriverAbsent,
             "devices of other nodes",
             "let the pod go to the nodes that have them",
             /*later=*/true}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace allot::testing
