// Refusals and choices by group: the same answers as a look at every node, without one.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "placement/node_groups.h"
#include "placement/shape_cache.h"
#include "placement/world_test.h"

namespace allot::placement {
namespace {

std::string NodeName(int n) {
  return fmt::format("n{:04}", n);
}

void Fill(World& world, int nodes) {
  world.Class();
  for (int n = 0; n < nodes; ++n) {
    world.Node(NodeName(n));
    world.Slice(NodeName(n), fmt::format("'nodeName':'{}'", NodeName(n)), "{'name':'d0'}");
  }
}

std::string Cpu(int milli) {
  return fmt::format("'cpu':'{}m'", milli);
}

class GroupedWorkTest : public ::testing::TestWithParam<int> {};

// 128 of them the least loaded nodes, which are asked first.
TEST_P(GroupedWorkTest, APodThatNoNodeHasRoomForLooksAtGroups) {
  World world;
  Fill(world, GetParam());
  for (int p = 0; p < 50; ++p) {
    const auto* const pod = world.Pod(fmt::format("p{}", p), Cpu(9000 + p));
    EXPECT_EQ(
        world.Run(*pod, {world.Claim(fmt::format("c{}", p))}),
        fmt::format("0/{0} nodes are available: {0} Insufficient cpu. preemption: 0/{0} nodes "
                    "are available: {0} Preemption is not helpful for scheduling.",
                    GetParam()));
    EXPECT_LE(world.visited, 130U);
  }
  EXPECT_EQ(world.placer.shapes_built(), 0U);
}

TEST_P(GroupedWorkTest, APodWhoseDevicesAreTakenLooksAtNodesOnceForAllShapes) {
  World world;
  Fill(world, GetParam());
  for (int p = 0; p < GetParam(); ++p) {
    ASSERT_EQ(
        world.Run(*world.Pod(fmt::format("p{}", p), Cpu(100)), {world.Claim(fmt::format("c{}", p))})
            .front(),
        'n');
  }
  for (int p = 0; p < 50; ++p) {
    const auto* const pod = world.Pod(fmt::format("q{}", p), Cpu(200 + p));
    const std::string refused = world.Run(*pod, {world.Claim(fmt::format("d{}", p))});
    EXPECT_NE(refused.find(fmt::format("{} cannot allocate all claims", GetParam())),
              std::string::npos)
        << refused;
    if (p > 0) {
      EXPECT_LE(world.visited, 140U);
    }
  }
  // One device comes back: the next pod gets it, whatever its shape.
  world.held.pop_front();
  world.view.DeletePod("p0");
  EXPECT_EQ(world.Run(*world.Pod("r", Cpu(333)), {world.Claim("e")}).front(), 'n');
  EXPECT_LE(world.visited, 140U);
}

INSTANTIATE_TEST_SUITE_P(Nodes,
                         GroupedWorkTest,
                         ::testing::Values(300, 1200),
                         [](const auto& info) { return std::to_string(info.param); });

// A random cluster; each shape is asked for once, by groups, then until its answers are kept.
TEST(GroupedTest, AnswersAsALookAtEveryNode) {
  // Any sequence will do, as long as it is the same every time.
  std::uint64_t state = 7;
  const auto below = [&](std::uint64_t bound) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<int>((state >> 33U) % bound);
  };
  for (int round = 0; round < 20; ++round) {
    World world;
    world.Class();
    const int nodes = 130 + below(40);
    for (int n = 0; n < nodes; ++n) {
      world.Node(NodeName(n),
                 below(4) == 0 ? ",'spec':{'taints':[{'key':'k','effect':'NoSchedule'}]}"
                               : (below(8) == 0 ? ",'spec':{'unschedulable':true}" : ""),
                 1 + below(3));
      if (below(3) != 0) {
        world.Slice(NodeName(n),
                    fmt::format("'nodeName':'{}'", NodeName(n)),
                    below(2) == 0 ? "{'name':'d0'}" : "{'name':'d0'},{'name':'d1'}");
      }
    }
    for (int p = 0; p < 120; ++p) {
      world.Run(*world.Pod(fmt::format("p{}", p), Cpu(100 + 100 * (p % 7))),
                {world.Claim(fmt::format("c{}", p))});
    }
    for (int s = 0; s < 12; ++s) {
      const auto* const pod = world.Pod(
          fmt::format("q{}", s),
          Cpu(301 + 250 * s),
          s % 3 == 0
              ? ",'tolerations':[{'operator':'Exists'}]"
              : (s % 3 == 1 ? fmt::format(",'nodeSelector':{{'host':'{}'}}", NodeName(s)) : ""));
      std::vector<ClaimInput> inputs(1);
      inputs[0].claim = world.Claim(
          fmt::format("d{}", s),
          fmt::format("{{'name':'r','exactly':{{'deviceClassName':'gpu','allocationMode':"
                      "'ExactCount','count':{}}}}}",
                      1 + s % 2));
      inputs[0].entry = "x";
      const Decision first = world.Place(*pod, inputs);
      world.Place(*pod, inputs);
      world.Place(*pod, inputs);
      const Decision kept = world.Place(*pod, inputs);
      ASSERT_EQ(first.placed, kept.placed) << round << " " << s;
      EXPECT_EQ(first.diagnosis.message, kept.diagnosis.message) << round << " " << s;
      EXPECT_LE(first.score, kept.score) << round << " " << s;
    }
  }
}

TEST(GroupedTest, NodesThatSeeTheSamePoolsAskThemOnce) {
  World world;
  world.Class();
  for (int n = 0; n < 60; ++n) {
    world.Node(NodeName(n));
  }
  world.Slice("pool", "'allNodes':true", "{'name':'d0'},{'name':'d1'}");
  for (int p = 0; p < 2; ++p) {
    const std::uint64_t before = world.placer.answers_shared();
    ASSERT_EQ(
        world.Run(*world.Pod(fmt::format("p{}", p)), {world.Claim(fmt::format("c{}", p))}).front(),
        'n');
    EXPECT_EQ(world.placer.answers_shared() - before, 59U);
  }
  // A node with devices of its own asks for itself.
  world.Slice("own", "'nodeName':'n0030'", "{'name':'d0'}");
  const std::uint64_t before = world.placer.answers_shared();
  EXPECT_EQ(world.Run(*world.Pod("p"), {world.Claim("c")}), "n0030");
  EXPECT_EQ(world.placer.answers_shared() - before, 57U);
}

TEST(NodeGroupsTest, FollowNodesPodsAndTheLabelsAskedFor) {
  World world;
  for (int n = 0; n < 6; ++n) {
    world.Node(NodeName(n));
  }
  NodeGroups groups(world.view);
  const auto sizes = [&](const api::core::Pod& pod) {
    std::vector<std::size_t> out;
    for (const NodeGroups::Group& group : *groups.For(pod)) {
      if (!group.nodes.empty()) {
        out.push_back(group.nodes.size());
      }
    }
    std::sort(out.begin(), out.end());
    return out;
  };
  using Sizes = std::vector<std::size_t>;
  const auto* const plain = world.Pod("p");
  EXPECT_EQ(sizes(*plain), (Sizes{6}));
  ASSERT_EQ(world.Run(*world.Pod("a", Cpu(100))), "n0000");
  EXPECT_EQ(sizes(*plain), (Sizes{1, 5}));
  world.Node(NodeName(1), ",'spec':{'unschedulable':true}");
  EXPECT_EQ(sizes(*plain), (Sizes{1, 1, 4}));
  world.view.DeletePod("a");
  EXPECT_EQ(sizes(*plain), (Sizes{1, 5}));
  world.view.DeleteNode(NodeName(2));
  EXPECT_EQ(sizes(*plain), (Sizes{1, 4}));
  EXPECT_EQ(sizes(*world.Pod("q", "", ",'nodeSelector':{'zone':'a'}")), (Sizes{1, 4}));
  EXPECT_EQ(sizes(*world.Pod("r", "", ",'nodeSelector':{'host':'n0003'}")), (Sizes{1, 1, 1, 1, 1}));
  EXPECT_EQ(groups.For(*world.Pod("s", "", ",'nodeName':'n0003'")), nullptr);
}

TEST(NodeGroupsTest, LabelsAskedForOnceDoNotEndTheGroups) {
  World world;
  world.Node("a");
  world.Node("b");
  NodeGroups groups(world.view);
  std::string many;
  for (int k = 0; k < 40; ++k) {
    const std::string key = fmt::format("'k{}':'v'", k);
    EXPECT_NE(groups.For(*world.Pod("p", "", ",'nodeSelector':{" + key + "}")), nullptr) << k;
    many += (k == 0 ? "" : ",") + key;
  }
  EXPECT_EQ(groups.For(*world.Pod("p", "", ",'nodeSelector':{" + many + "}")), nullptr);
  EXPECT_NE(groups.For(*world.Pod("p")), nullptr);
  // Those asked for now split them all the same.
  const auto* const split = groups.For(*world.Pod("p", "", ",'nodeSelector':{'host':'a'}"));
  ASSERT_NE(split, nullptr);
  EXPECT_NE(groups.GroupOf(world.view.FindNode("a")->index),
            groups.GroupOf(world.view.FindNode("b")->index));
}

// Numbers of reasons have 16 bits.
TEST(ShapeCacheTest, TheLastReasonStandsForAllThatComeLater) {
  World world;
  world.Node("a");
  ShapeCache cache(world.view);
  ShapeCache::Shape shape;
  shape.answers.resize(1);
  shape.reasons.resize(0xffff);
  cache.Reject(shape, 0, Rejection(allocator::CauseKind::kCombination, "new"));
  EXPECT_EQ(shape.reasons.size(), 0xffffU);
  EXPECT_EQ(shape.answers[0].reason, 0xfffe);
  EXPECT_EQ(shape.reasons.back().count, 1U);
  ShapeCache::DeviceAnswers& known = cache.FindDevices({});
  known.reasons.resize(0xffff);
  cache.Refuse(known, 0, Rejection(allocator::CauseKind::kCombination, "new"));
  EXPECT_EQ(known.refused[0], 0xffff);
  EXPECT_EQ(known.reasons.size(), 0xffffU);
}

}  // namespace
}  // namespace allot::placement
