// What a decision looks at: never the whole cluster for a pod, a claim or an event.
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "placement/load_index.h"
#include "placement/placement.h"
#include "placement/world_test.h"

namespace allot::placement {
namespace {

constexpr int kNodes = 300;

std::string NodeName(int n) {
  return fmt::format("n{:03}", n);
}

void Fill(World& world, int devices = 4) {
  world.Class();
  for (int n = 0; n < kNodes; ++n) {
    world.Node(NodeName(n));
    std::string list;
    for (int d = 0; d < devices; ++d) {
      list += fmt::format("{}{{'name':'d{}'}}", d == 0 ? "" : ",", d);
    }
    world.Slice(NodeName(n), fmt::format("'nodeName':'{}'", NodeName(n)), list);
  }
}

TEST(PlacerWorkTest, PodsOfOneShapeLookAtChangedNodesOnly) {
  World world;
  Fill(world);
  for (int p = 0; p < 5; ++p) {
    world.Run(*world.Pod(fmt::format("warm{}", p)), {world.Claim(fmt::format("w{}", p))});
  }
  EXPECT_EQ(world.placer.shapes_built(), 1U);
  for (int p = 0; p < 200; ++p) {
    world.Run(*world.Pod(fmt::format("p{}", p)), {world.Claim(fmt::format("c{}", p))});
    EXPECT_LE(world.visited, 2U);
  }
  EXPECT_EQ(world.placer.shapes_built(), 1U);
}

TEST(PlacerWorkTest, ANewShapeDoesNotLookAtAllNodes) {
  World world;
  Fill(world);
  for (int p = 0; p < 200; ++p) {
    const auto* const pod = world.Pod(fmt::format("p{}", p), fmt::format("'cpu':'{}m'", 100 + p));
    EXPECT_EQ(world.Run(*pod, {world.Claim(fmt::format("c{}", p))}).front(), 'n');
    EXPECT_LE(world.visited, 16U);
  }
  EXPECT_EQ(world.placer.shapes_built(), 0U);
  // Least loaded first: 200 pods on 300 nodes never share one.
  for (const NodeInfo* const node : world.view.nodes()) {
    EXPECT_LE(node->pods.size(), 1U);
  }
}

TEST(PlacerWorkTest, APodOfAnAllocatedClaimGoesStraightToItsNode) {
  World world;
  Fill(world);
  api::resource::ResourceClaim claim = *world.Claim("c");
  ASSERT_EQ(world.Run(*world.Pod("p0"), {&claim}).front(), 'n');
  const std::string node = world.last.node;
  const auto given = world.last.results[0];
  const Decision keep = std::move(world.last);
  claim.status.allocation = &given;
  for (int p = 1; p < 5; ++p) {
    EXPECT_EQ(world.Run(*world.Pod(fmt::format("p{}", p)), {&claim}), node);
    EXPECT_EQ(world.visited, 1U);
  }
  EXPECT_EQ(world.placer.shapes_built(), 0U);
}

TEST(PlacerWorkTest, SharedDevicesDoNotOutdateAnswers) {
  World world;
  Fill(world, 1);
  world.Class("nic");
  std::string list;
  for (int d = 0; d < 100; ++d) {
    list += fmt::format("{}{{'name':'d{}'}}", d == 0 ? "" : ",", d);
  }
  world.Slice("nics", "'allNodes':true", list, "nic");
  const std::string request =
      "{'name':'r','exactly':{'deviceClassName':'nic','allocationMode':'ExactCount','count':1}}";
  for (int p = 0; p < 60; ++p) {
    world.Run(*world.Pod(fmt::format("p{}", p)), {world.Claim(fmt::format("c{}", p), request)});
    if (p > 5) {
      EXPECT_LE(world.visited, 2U);
    }
  }
  // One comes back, as often as another goes.
  for (int p = 60; p < 100; ++p) {
    world.held.pop_front();
    world.view.DeletePod(fmt::format("p{}", p - 60));
    world.Run(*world.Pod(fmt::format("p{}", p)), {world.Claim(fmt::format("c{}", p), request)});
    EXPECT_LE(world.visited, 3U);
  }
  EXPECT_LE(world.placer.shapes_built(), 1U);
}

TEST(PlacerWorkTest, ASharedDeviceGivenBackReopensTheNodes) {
  World world;
  Fill(world, 1);
  world.Class("nic");
  world.Slice("nics", "'allNodes':true", "{'name':'d0'}", "nic");
  const std::string request =
      "{'name':'r','exactly':{'deviceClassName':'nic','allocationMode':'ExactCount','count':1}}";
  EXPECT_EQ(world.Run(*world.Pod("a"), {world.Claim("ca", request)}).front(), 'n');
  const auto* const pod = world.Pod("b");
  const std::string refused = world.Run(*pod, {world.Claim("cb", request)});
  EXPECT_NE(refused.find("300 cannot allocate all claims"), std::string::npos) << refused;
  world.Run(*pod, {world.Claim("cb", request)});  // often enough for its answers to be kept
  world.Run(*pod, {world.Claim("cb", request)});
  EXPECT_EQ(world.visited, 0U);  // nothing has changed
  world.held.pop_front();
  EXPECT_EQ(world.Run(*pod, {world.Claim("cb", request)}).front(), 'n');
}

TEST(PlacerWorkTest, NamedNodesAreTheOnlyOnesLookedAt) {
  World world;
  Fill(world);
  const std::string affinity =
      ",'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{"
      "'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name','operator':'In','values':["
      "'n007']}]}]}}}";
  EXPECT_EQ(world.Run(*world.Pod("p", "", affinity), {world.Claim("c")}), "n007");
  EXPECT_EQ(world.visited, 1U);
  const std::string refused = world.Run(*world.Pod("q", "'cpu':'9'", affinity));
  EXPECT_NE(refused.find("0/300 nodes are available: 1 Insufficient cpu, 299 node(s) didn't "
                         "satisfy plugin(s) [NodeAffinity]."),
            std::string::npos)
      << refused;
  EXPECT_EQ(world.visited, 1U);
}

TEST(PlacerTest, PrioritizedListsAndPreferencesDecide) {
  World world;
  world.Class();
  for (const char* name : {"a", "b", "c"}) {
    world.Node(name);
  }
  world.Slice("a", "'nodeName':'a'", "{'name':'d','attributes':{'n':{'int':1}}}");
  world.Slice("b", "'nodeName':'b'", "{'name':'d','attributes':{'n':{'int':2}}}");
  const std::string list =
      "{'name':'r','firstAvailable':[{'name':'x','deviceClassName':'gpu','allocationMode':"
      "'ExactCount','count':1,'selectors':[{'cel':{'expression':'device.attributes[\\'gpu\\'].n == "
      "2'}}]},{'name':'y','deviceClassName':'gpu','allocationMode':'ExactCount','count':1}]}";
  EXPECT_EQ(world.Run(*world.Pod("p1"), {world.Claim("c1", list)}), "b");
  EXPECT_EQ(world.Run(*world.Pod("p2"), {world.Claim("c2", list)}), "a");
  const std::string preferred =
      ",'affinity':{'nodeAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':"
      "1,'preference':{'matchExpressions':[{'key':'host','operator':'In','values':['b']}]}}]}}";
  EXPECT_EQ(world.Run(*world.Pod("p3", "", preferred)), "b");
  EXPECT_EQ(world.Run(*world.Pod("p4")), "c");
}

TEST(PlacerTest, MistakesOfTheClaimNameTheRightClaim) {
  World world;
  world.Class();
  world.Node("a");
  const std::string wrong =
      "{'name':'r','exactly':{'deviceClassName':'gpu','allocationMode':'Some','count':1}}";
  for (const char* name : {"c1", "c2"}) {
    EXPECT_EQ(world.Run(*world.Pod(name), {world.Claim(name, wrong)}),
              fmt::format("running \"DynamicResources\" filter plugin: claim default/{}, request "
                          "r: unsupported count mode Some",
                          name));
  }
}

// Upstream stops looking when it has enough nodes; so do we, at other ones.
TEST(PlacerTest, AnErrorOnOneOfManyNodesDoesNotEndTheAttempt) {
  for (const int nodes : {90, 150}) {
    World world;
    world.Class();
    for (int n = 0; n < nodes; ++n) {
      world.Node(NodeName(n));
      world.Slice(NodeName(n),
                  fmt::format("'nodeName':'{}'", NodeName(n)),
                  n == 50 ? "{'name':'d0'}" : "{'name':'d0','attributes':{'n':{'int':1}}}");
    }
    const std::string request =
        "{'name':'r','exactly':{'deviceClassName':'gpu','allocationMode':'ExactCount','count':1,"
        "'selectors':[{'cel':{'expression':'device.attributes[\\'gpu\\'].n == 1'}}]}}";
    const std::string answer = world.Run(*world.Pod("p"), {world.Claim("c", request)});
    EXPECT_EQ(answer.starts_with("running \"DynamicResources\" filter plugin: claim default/c: "
                                 "selector #0 on device gpu/n050/d0: CEL runtime error"),
              nodes <= 100)
        << answer;
  }
}

TEST(PlacerTest, VictimsAreNamedInFull) {
  World world;
  world.Node("n1");
  ASSERT_EQ(world.Run(*world.Pod("low", "'cpu':'5'", ",'priority':1")), "n1");
  ASSERT_EQ(world.Run(*world.Pod("mid", "'cpu':'3'", ",'priority':2")), "n1");
  const Decision decision = world.Place(*world.Pod("high", "'cpu':'4'", ",'priority':9"));
  EXPECT_EQ(decision.nominated_node, "n1");
  ASSERT_EQ(decision.victims.size(), 1U);
  EXPECT_EQ(decision.victims[0].ns, "default");
  EXPECT_EQ(decision.victims[0].name, "low");
  EXPECT_EQ(decision.victims[0].uid, "low");
}

TEST(LoadIndexTest, KeepsNodesInOrderOfLoad) {
  LoadIndex index;
  const auto order = [&] {
    std::vector<std::uint32_t> nodes;
    for (std::uint32_t at = index.First(); at != LoadIndex::kNone; at = index.Next(at)) {
      nodes.push_back(at);
    }
    return nodes;
  };
  EXPECT_TRUE(order().empty());
  index.Set(4, 700);
  index.Set(1, 0);
  index.Set(2, 70);
  index.Set(3, 70);
  index.Set(0, 5000);
  EXPECT_EQ(order(), (std::vector<std::uint32_t>{1, 2, 3, 4, 0}));
  index.Set(2, 70);  // nothing new: keeps its place
  index.Set(1, 71);
  EXPECT_EQ(order(), (std::vector<std::uint32_t>{2, 3, 1, 4, 0}));
  index.Remove(3);
  index.Remove(3);
  index.Remove(0);
  EXPECT_EQ(order(), (std::vector<std::uint32_t>{2, 1, 4}));
}

// Every attempt decides some nodes, and the next one does not look at those again.
struct Limited {
  std::string what;
  int nodes;
  allocator::AttemptLimits limits;
  std::string requests;
  std::string answer;  // of the last attempt
};

TEST(PlacerWorkTest, AnAttemptBeyondItsLimitsIsContinuedByTheNext) {
  const std::string dear =
      "{'name':'r','exactly':{'deviceClassName':'gpu','allocationMode':'ExactCount','count':1,"
      "'selectors':[{'cel':{'expression':'[1,2,3,4,5,6,7,8,9].map(x, x * 2).size() > 3 && "
      "device.attributes[\\'gpu\\'].last'}}]}}";
  const std::string two =
      "{'name':'r','exactly':{'deviceClassName':'gpu','allocationMode':'ExactCount','count':2,"
      "'selectors':[{'cel':{'expression':'device.attributes[\\'gpu\\'].last'}}]}}";
  const allocator::AttemptLimits cost{.evaluations = {.cost = 500}};
  const allocator::AttemptLimits steps{.steps = 0};
  for (const Limited& c : {Limited{"cost, all nodes known", 40, cost, dear, "n039"},
                           Limited{"cost, by load", 300, cost, dear, "n299"},
                           Limited{"steps, all nodes known", 40, steps, two, "cannot"},
                           Limited{"steps, by load", 300, steps, two, "cannot"}}) {
    World world({}, c.limits);
    world.Class();
    for (int n = 0; n < c.nodes; ++n) {
      world.Node(NodeName(n));
      std::string list;
      for (int d = 0; d < 4; ++d) {
        list += fmt::format("{}{{'name':'d{}','attributes':{{'last':{{'bool':{}}}}}}}",
                            d == 0 ? "" : ",",
                            d,
                            n == c.nodes - 1 && d == 3);
      }
      world.Slice(NodeName(n), fmt::format("'nodeName':'{}'", NodeName(n)), list);
    }
    const auto* const pod = world.Pod("p");
    const auto* const claim = world.Claim("c", c.requests);
    int attempts = 1;
    std::string answer;
    for (; attempts < 2 * c.nodes; ++attempts) {
      const auto before = world.placer.work();
      answer = world.Run(*pod, {claim});
      if (answer.find("used up") == std::string::npos) {
        break;
      }
      EXPECT_LE(world.placer.work().evaluations, before.evaluations + 200);
      EXPECT_EQ(world.last.node, "");
    }
    EXPECT_NE(answer.find(c.answer), std::string::npos) << c.what << ": " << answer;
    EXPECT_GE(attempts, 5) << c.what;
    EXPECT_LE(world.placer.work().evaluations, 2U * 4U * static_cast<unsigned>(c.nodes)) << c.what;
  }
}

// Devices of a node of which none, or all, are what kTwoGood asks for: a search of some steps.
std::string Four(bool good) {
  std::string list;
  for (int d = 0; d < 4; ++d) {
    list += fmt::format("{}{{'name':'d{}','attributes':{{'good':{{'bool':{}}}}}}}",
                        d == 0 ? "" : ",",
                        d,
                        good || d == 0);
  }
  return list;
}

constexpr const char* kTwoGood =
    "'deviceClassName':'gpu','allocationMode':'ExactCount','count':2,'selectors':[{'cel':{"
    "'expression':'device.attributes[\\'gpu\\'].good'}}]";

// The node that an allocated claim names uses all steps up before the others are looked at.
TEST(PlacerWorkTest, APinnedNodeLeavesTheOthersALook) {
  World world({}, {.steps = 0});
  world.Class();
  constexpr int kAll = 120;
  for (int n = 0; n < kAll; ++n) {
    world.Node(NodeName(n));
    world.Slice(NodeName(n), fmt::format("'nodeName':'{}'", NodeName(n)), Four(false));
  }
  std::vector<ClaimInput> inputs(2);
  const auto* const pinned = FromText<api::resource::ResourceClaim>(
      "{'metadata':{'name':'a','namespace':'default','uid':'a'},'spec':{'devices':{'requests':[]}},"
      "'status':{'allocation':{'nodeSelector':{'nodeSelectorTerms':[{'matchFields':[{'key':"
      "'metadata.name','operator':'In','values':['n007']}]}]}}}}",
      world.arena);
  inputs[0].claim = pinned;
  inputs[0].allocation = pinned->status.allocation;
  inputs[0].entry = "x";
  inputs[1].claim = world.Claim(
      "b", fmt::format("{{'name':'r','firstAvailable':[{{'name':'s',{}}}]}}", kTwoGood));
  inputs[1].entry = "y";
  const auto* const pod = world.Pod("p");
  int attempts = 1;
  Decision decision = world.Place(*pod, inputs);
  for (; attempts < 2 * kAll && decision.placed == Placed::kUnfinished; ++attempts) {
    decision = world.Place(*pod, inputs);
  }
  EXPECT_EQ(decision.placed, Placed::kUnschedulable) << decision.error;
  EXPECT_GE(attempts, 20);
  EXPECT_NE(decision.diagnosis.message.find("120 cannot allocate all claims"), std::string::npos)
      << decision.diagnosis.message;
}

// Nodes that the pod names are decided one after the other too; what they refused is known.
TEST(PlacerWorkTest, NamedNodesAreDecidedOverSeveralAttempts) {
  World world({}, {.steps = 0});
  world.Class();
  std::string names;
  for (int n = 0; n < 30; ++n) {
    world.Node(NodeName(n));
    world.Slice(NodeName(n), fmt::format("'nodeName':'{}'", NodeName(n)), Four(n == 29));
    names += fmt::format(
        "{}{{'matchFields':[{{'key':'metadata.name','operator':'In','values':['{}']}}]}}",
        n == 0 ? "" : ",",
        NodeName(n));
  }
  const auto* const pod =
      world.Pod("p",
                "",
                ",'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{"
                "'nodeSelectorTerms':[" +
                    names + "]}}}");
  const auto* const claim =
      world.Claim("c", fmt::format("{{'name':'r','exactly':{{{}}}}}", kTwoGood));
  int attempts = 1;
  while (attempts < 100 && world.Run(*pod, {claim}).find("used up") != std::string::npos) {
    ++attempts;
  }
  EXPECT_EQ(world.last.node, "n029");
  EXPECT_GE(attempts, 20);
  EXPECT_LE(attempts, 30);
}

// Each attempt ends at the last node, by an error: the others do not pile up.
TEST(PlacerWorkTest, AnErrorLeavesNoNodeListedTwice) {
  World world;
  world.Class();
  constexpr int kAll = 40;
  const auto slice = [&](int n, const char* attributes) {
    world.Slice(NodeName(n),
                fmt::format("'nodeName':'{}'", NodeName(n)),
                fmt::format("{{'name':'d'{}}}", attributes));
  };
  for (int n = 0; n < kAll; ++n) {
    world.Node(NodeName(n));
    slice(n, n + 1 < kAll ? ",'attributes':{'a':{'bool':true}}" : "");
  }
  const auto* const pod = world.Pod("p");
  const auto* const claim = world.Claim(
      "c",
      "{'name':'r','exactly':{'deviceClassName':'gpu','allocationMode':'ExactCount','count':1,"
      "'selectors':[{'cel':{'expression':'device.attributes[\\'gpu\\'].a'}}]}}");
  for (int attempt = 0; attempt < 5; ++attempt) {
    EXPECT_NE(world.Run(*pod, {claim}).find("filter plugin"), std::string::npos);
  }
  slice(kAll - 1, ",'attributes':{'a':{'bool':true}}");
  EXPECT_EQ(world.Run(*pod, {claim}).front(), 'n');
  EXPECT_EQ(world.visited, std::uint64_t{kAll});
}

// Devices of a node are asked for once, however many pods could go; out of steps, the best so far
// is taken.
TEST(PlacerWorkTest, PreemptionHasStepsOfItsOwn) {
  const auto steps_of = [](int nodes) {
    World world({}, {.steps = 0});
    world.Class();
    for (int n = 0; n < nodes; ++n) {
      world.Node(NodeName(n));
      world.Slice(NodeName(n), fmt::format("'nodeName':'{}'", NodeName(n)), "{'name':'d'}");
      for (int p = 0; p < 3; ++p) {
        const auto* const low =
            world.Pod(fmt::format("low{}-{}", n, p), "'cpu':'2'", ",'priority':1");
        world.view.UpsertPod(*low, NodeName(n));
      }
    }
    std::vector<ClaimInput> inputs(1);
    inputs[0].claim = world.Claim("c");
    inputs[0].entry = "x";
    const Decision decision = world.Place(*world.Pod("high", "'cpu':'5'", ",'priority':9"), inputs);
    EXPECT_EQ(decision.placed, Placed::kUnschedulable) << decision.error;
    EXPECT_EQ(decision.victims.size(), 2U);
    EXPECT_EQ(decision.nominated_node, "n000");
    return world.placer.work().steps;
  };
  EXPECT_GT(steps_of(1), 0U);
  EXPECT_LE(steps_of(1), 4U);
  EXPECT_EQ(steps_of(5), steps_of(1));
}

}  // namespace
}  // namespace allot::placement
