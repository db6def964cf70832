// Placement on small clusters written as YAML: texts, filters, scores, extended resources, and that
// kept answers equal fresh ones.
#include "placement/placement.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/simulate.h"
#include "base/random.h"
#include "snapshot/cluster.h"

namespace allot::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Node(const std::string& name, const std::string& more = "") {
  return fmt::format(
      "---\napiVersion: v1\nkind: Node\nmetadata: {{name: {}, labels: {{host: {}}}}}\n{}status: "
      "{{allocatable: {{cpu: '4', memory: 8Gi, pods: '110'}}}}\n",
      name,
      name,
      more);
}

std::string Slice(const std::string& node, int devices) {
  std::string list;
  for (int d = 0; d < devices; ++d) {
    list += fmt::format("{}{{name: d{}, attributes: {{model: {{string: {}}}}}}}",
                        d == 0 ? "" : ", ",
                        d,
                        d % 2 == 0 ? "a" : "b");
  }
  return fmt::format(
      "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {{name: s-{0}}}\nspec: "
      "{{driver: x.example.com, nodeName: {0}, pool: {{name: {0}, generation: 1, "
      "resourceSliceCount: "
      "1}}, devices: [{1}]}}\n",
      node,
      list);
}

const std::string kClass =
    "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\nspec: "
    "{selectors: "
    "[{cel: {expression: 'device.driver == \"x.example.com\"'}}], extendedResourceName: "
    "example.com/gpu}\n";

std::string Template(const std::string& name, int count, const std::string& more = "") {
  return fmt::format(
      "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {{name: "
      "{}}}\nspec: "
      "{{spec: {{devices: {{requests: [{{name: r, exactly: {{deviceClassName: gpu, count: "
      "{}{}}}}}]}}}}}}\n",
      name,
      count,
      more);
}

std::string Pod(const std::string& name, const std::string& spec) {
  return fmt::format(
      "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {}}}\nspec:\n  {}\n", name, spec);
}

std::string Asks(const std::string& resources) {
  return fmt::format("containers: [{{name: c, image: i, resources: {{requests: {{{}}}}}}}]",
                     resources);
}

const std::string kPlain = "containers: [{name: c, image: i}]";

std::string WithClaim(const std::string& from) {
  return kPlain +
         fmt::format("\n  resourceClaims: [{{name: x, resourceClaimTemplateName: {}}}]", from);
}

analysis::Simulation RunYaml(const std::string& yaml, snapshot::Cluster& cluster) {
  const auto added = cluster.Add(yaml, "test");
  EXPECT_TRUE(added) << (added ? "" : added.error().message());
  return analysis::Simulate(cluster, {});
}

struct TextCase {
  const char* name;
  std::string yaml;
  std::string message;
};

class TextTest : public ::testing::TestWithParam<TextCase> {};

TEST_P(TextTest, SaysWhatUpstreamSays) {
  snapshot::Cluster cluster;
  const auto simulation = RunYaml(GetParam().yaml, cluster);
  ASSERT_FALSE(simulation.pods.empty());
  EXPECT_FALSE(simulation.pods.back().placed);
  EXPECT_EQ(simulation.pods.back().diagnosis.message, GetParam().message);
}

const std::string kNotHelpful1 =
    " preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.";
const std::string kNotHelpful2 =
    " preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.";

INSTANTIATE_TEST_SUITE_P(
    Texts,
    TextTest,
    ::testing::Values(
        TextCase{"NoNodes", Pod("p", kPlain), "no nodes available to schedule pods"},
        TextCase{"TooBig",
                 Node("n1") + Node("n2") + Pod("p", Asks("cpu: '5'")),
                 "0/2 nodes are available: 2 Insufficient cpu." + kNotHelpful2},
        TextCase{"Full",
                 Node("n1") + Pod("a", Asks("cpu: '3'") + "\n  nodeName: n1") +
                     Pod("p", Asks("cpu: '2'")),
                 "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are "
                 "available: 1 No "
                 "preemption victims found for incoming pod."},
        TextCase{"Never",
                 Node("n1") + Pod("a", Asks("cpu: '3'") + "\n  nodeName: n1") +
                     Pod("p", Asks("cpu: '2'") + "\n  preemptionPolicy: Never"),
                 "0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to "
                 "preemptionPolicy=Never."},
        TextCase{"Unschedulable",
                 Node("n1", "spec: {unschedulable: true}\n") + Pod("p", kPlain),
                 "0/1 nodes are available: 1 node(s) were unschedulable." + kNotHelpful1},
        TextCase{"Taint",
                 Node("n1", "spec: {taints: [{key: k, value: v, effect: NoSchedule}]}\n") +
                     Pod("p", kPlain),
                 "0/1 nodes are available: 1 node(s) had untolerated taint(s)." + kNotHelpful1},
        TextCase{"Selector",
                 Node("n1") + Node("n2") + Pod("p", kPlain + "\n  nodeSelector: {host: n3}"),
                 "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector." +
                     kNotHelpful2},
        TextCase{"UnknownResource",
                 Node("n1") + Pod("p", Asks("example.com/nothing: 1")),
                 "0/1 nodes are available: 1 Insufficient example.com/nothing." + kNotHelpful1},
        TextCase{
            "MissingClass",
            Node("n1") + Template("t", 1) + Pod("p", WithClaim("t")),
            "0/1 nodes are available: request r: device class gpu does not exist." + kNotHelpful1},
        TextCase{"NoDevices",
                 Node("n1") + Node("n2") + kClass + Template("t", 1) + Pod("p", WithClaim("t")),
                 "0/2 nodes are available: 2 cannot allocate all claims." + kNotHelpful2},
        TextCase{
            "Mixed",
            Node("n1", "spec: {unschedulable: true}\n") + Node("n2") + kClass + Slice("n1", 2) +
                Template("t", 1) + Pod("p", WithClaim("t")),
            "0/2 nodes are available: 1 cannot allocate all claims, 1 node(s) were unschedulable." +
                kNotHelpful2}),
    [](const auto& info) { return info.param.name; });

TEST(PlacementTest, DevicesAreUsedUpInOrder) {
  snapshot::Cluster cluster;
  const auto simulation =
      RunYaml(Node("n1") + Node("n2") + kClass + Slice("n2", 2) + Template("t", 1) +
                  Pod("a", WithClaim("t")) + Pod("b", WithClaim("t")) + Pod("c", WithClaim("t")),
              cluster);
  ASSERT_EQ(simulation.pods.size(), 3U);
  EXPECT_EQ(simulation.pods[0].node, "n2");
  EXPECT_EQ(simulation.pods[0].claims[0].allocation->devices.results[0].device, "d0");
  EXPECT_EQ(simulation.pods[1].claims[0].allocation->devices.results[0].device, "d1");
  EXPECT_FALSE(simulation.pods[2].placed);
  EXPECT_EQ(simulation.devices_in_use, 2U);
  // n2 is out because its devices are held, n1 because it has none.
  bool in_use = false;
  bool absent = false;
  for (const auto& cause : simulation.pods[2].diagnosis.causes) {
    in_use |= cause.kind == allocator::CauseKind::kInUse;
    absent |= cause.kind == allocator::CauseKind::kDriverAbsent;
  }
  EXPECT_TRUE(in_use);
  EXPECT_TRUE(absent);
}

TEST(PlacementTest, ExtendedResourcesAreServedByDevices) {
  snapshot::Cluster cluster;
  const auto simulation =
      RunYaml(Node("n1") + kClass + Slice("n1", 3) + Pod("a", Asks("example.com/gpu: 2")) +
                  Pod("b", Asks("deviceclass.resource.kubernetes.io/gpu: 2")),
              cluster);
  ASSERT_TRUE(simulation.pods[0].placed) << simulation.pods[0].diagnosis.message;
  ASSERT_EQ(simulation.pods[0].claims.size(), 1U);
  const auto& results = simulation.pods[0].claims[0].allocation->devices.results;
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].request, "container-0-request-0");
  EXPECT_FALSE(simulation.pods[1].placed);
}

TEST(PlacementTest, PodsSpreadOverNodes) {
  snapshot::Cluster cluster;
  const auto simulation = RunYaml(
      Node("n1") + Node("n2") + Pod("a", Asks("cpu: '1'")) + Pod("b", Asks("cpu: '1'")), cluster);
  EXPECT_EQ(simulation.pods[0].node, "n1");
  EXPECT_EQ(simulation.pods[1].node, "n2");
}

TEST(PlacementTest, CausesTellSelectorsTaintsAndCounts) {
  struct Case {
    const char* more;
    int count;
    allocator::CauseKind kind;
  };
  for (const Case& c :
       {Case{", selectors: [{cel: {expression: 'device.attributes[\"x.example.com\"].model == "
             "\"z\"'}}]",
             1,
             allocator::CauseKind::kSelector},
        Case{", selectors: [{cel: {expression: 'device.attributes[\"x.example.com\"].nope == "
             "1'}}]",
             1,
             allocator::CauseKind::kRequestInvalid},
        Case{"", 5, allocator::CauseKind::kTooFew}}) {
    snapshot::Cluster cluster;
    const auto simulation = RunYaml(Node("n1") + kClass + Slice("n1", 4) +
                                        Template("t", c.count, c.more) + Pod("p", WithClaim("t")),
                                    cluster);
    ASSERT_FALSE(simulation.pods[0].placed);
    ASSERT_FALSE(simulation.pods[0].diagnosis.causes.empty())
        << simulation.pods[0].diagnosis.message;
    if (c.kind == allocator::CauseKind::kRequestInvalid) {
      EXPECT_THAT(simulation.pods[0].diagnosis.message, HasSubstr("CEL runtime error"));
      continue;
    }
    EXPECT_EQ(simulation.pods[0].diagnosis.causes[0].kind, c.kind)
        << CauseName(simulation.pods[0].diagnosis.causes[0].kind);
  }
}

// Random changes; after each, a placer that has followed them all decides as one that is new.
TEST(PlacementTest, KeptAnswersEqualFreshOnes) {
  base::Random random(7);
  for (int round = 0; round < 5; ++round) {
    const int nodes = round % 2 == 0 ? 8 : 130;
    std::string yaml = kClass;
    for (int n = 0; n < nodes; ++n) {
      yaml += Node(fmt::format("n{:03}", n)) + Slice(fmt::format("n{:03}", n), 1 + n % 4);
    }
    for (int s = 0; s < 4; ++s) {
      yaml += Template(fmt::format("t{}", s), 1 + s % 3) +
              Pod(fmt::format("p{}", s),
                  Asks(fmt::format("cpu: {}m", 200 + 300 * s)) +
                      fmt::format(
                          "\n  resourceClaims: [{{name: x, resourceClaimTemplateName: t{}}}]", s));
    }
    snapshot::Cluster cluster;
    ASSERT_TRUE(cluster.Add(yaml, "test"));
    placement::ClusterView view;
    for (const auto* const device_class : cluster.classes) {
      view.inventory().UpsertClass(*device_class);
    }
    for (const auto* const slice : cluster.slices) {
      view.inventory().UpsertSlice(*slice);
    }
    for (const auto* const node : cluster.nodes) {
      view.UpsertNode(*node);
    }
    std::vector<api::resource::ResourceClaim> claims(4);
    for (std::size_t s = 0; s < 4; ++s) {
      claims[s].metadata.name = "c";
      claims[s].spec = cluster.templates[s]->spec.spec;
    }
    placement::Placer kept(view);
    std::vector<std::pair<std::string, inventory::AllocatedState::Handle>> placed;
    for (int step = 0; step < 150; ++step) {
      const std::uint64_t what = random.Below(10);
      if (what == 0 && !placed.empty()) {
        const std::size_t victim = random.Below(placed.size());
        view.DeletePod(placed[victim].first);
        placed.erase(placed.begin() + static_cast<std::ptrdiff_t>(victim));
        continue;
      }
      if (what == 1) {
        const auto* const slice = cluster.slices[random.Below(cluster.slices.size())];
        if (random.Below(2) == 0) {
          view.inventory().DeleteSlice(slice->metadata.name);
        } else {
          view.inventory().UpsertSlice(*slice);
        }
        continue;
      }
      if (what == 2) {
        const auto* const node = cluster.nodes[random.Below(cluster.nodes.size())];
        if (random.Below(3) == 0) {
          view.DeleteNode(node->metadata.name);
        } else {
          view.UpsertNode(*node);
        }
        continue;
      }
      const std::size_t s = random.Below(4);
      placement::ClaimInput input;
      input.claim = &claims[s];
      const auto ids = [](std::size_t) {
        return std::string("share");
      };
      placement::Placer fresh(view);
      const auto expected = fresh.Place(*cluster.pods[s], {&input, 1}, ids);
      const auto got = kept.Place(*cluster.pods[s], {&input, 1}, ids);
      ASSERT_EQ(got.placed, expected.placed) << step;
      if (view.nodes().size() <= 100) {
        // A large cluster is not looked at whole for a shape that is seen for the first time.
        ASSERT_EQ(got.node, expected.node) << step;
      }
      ASSERT_EQ(got.diagnosis.message, expected.diagnosis.message) << step;
      if (got.placed != placement::Placed::kPlaced) {
        continue;
      }
      ASSERT_EQ(got.results[0].devices.results.size(), expected.results[0].devices.results.size());
      api::core::Pod assumed = *cluster.pods[s];
      const std::string uid = fmt::format("u{}", step);
      assumed.metadata.uid = uid;
      view.UpsertPod(assumed, got.node);
      placed.emplace_back(
          uid, view.allocated().Commit(view.inventory().UseOf(claims[s], got.results[0])));
    }
  }
}

}  // namespace
}  // namespace allot::testing
