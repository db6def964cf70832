#include "placement/node_allocatable.h"

#include <string>

#include <gtest/gtest.h>

#include "placement/world_test.h"

namespace allot::placement {
namespace {

inventory::Features WithGate() {
  inventory::Features features;
  features.node_allocatable_resources = true;
  return features;
}

// "claim: containers; resource=mapped; resource~perPod+perContainer"
std::string Spelled(const ClaimStatuses& statuses) {
  std::string out;
  for (const auto& status : statuses) {
    out += std::string(status.resource_claim_name) + ":";
    for (const schema::Str container : status.containers) {
      out += " " + std::string(container);
    }
    for (const auto& mapped : status.mapping) {
      out += "; " + std::string(mapped.name) + "=" + mapped.quantity->ToString();
    }
    for (const auto& overhead : status.overhead) {
      out += "; " + std::string(overhead.name) + "~" +
             (overhead.per_pod != nullptr ? overhead.per_pod->ToString() : "") + "+" +
             (overhead.per_container != nullptr ? overhead.per_container->ToString() : "");
    }
  }
  return out;
}

struct Case {
  const char* name;
  const char* devices;
  const char* request;   // members of `exactly` after the class
  const char* requests;  // of the container
  const char* spec;      // of the pod
  const char* answer;    // the node, or the start of the message
  const char* statuses;
};

class DemandTest : public ::testing::TestWithParam<Case> {};

TEST_P(DemandTest, CountsAsUpstreamDoes) {
  World world(WithGate());
  world.Class();
  world.Node("n1");
  world.Slice("s", "'nodeName':'n1'", GetParam().devices);
  const auto* const claim = world.Claim(
      "c",
      std::string("{'name':'r','exactly':{'deviceClassName':'gpu'") + GetParam().request + "}}");
  const auto* const pod = world.Pod("p", GetParam().requests, GetParam().spec);
  const std::string answer = world.Run(*pod, {claim});
  EXPECT_TRUE(answer.starts_with(GetParam().answer)) << answer;
  EXPECT_EQ(Spelled(world.last.node_allocatable), GetParam().statuses);
}

constexpr const char* kOne = ",'allocationMode':'ExactCount','count':1";
constexpr const char* kTwo = ",'allocationMode':'ExactCount','count':2";
constexpr const char* kCpus =
    "{'name':'d0','nodeAllocatableResources':{'cpu':{'mapping':{'deviceMultiplier':'3'}}}},{'name':"
    "'d1','nodeAllocatableResources':{'cpu':{'mapping':{'deviceMultiplier':'1500m'}},'memory':{"
    "'overhead':{'perPod':'1Gi','perContainer':'1Mi'}}}}";
constexpr const char* kShares =
    "{'name':'d0','allowMultipleAllocations':true,'capacity':{'cores':{'value':'64'}},"
    "'nodeAllocatableResources':{'cpu':{'mapping':{'capacityKey':'cores','capacityMultiplier':"
    "'250m'}}}}";

INSTANTIATE_TEST_SUITE_P(
    Devices,
    DemandTest,
    ::testing::Values(
        Case{"Nothing", "{'name':'d0'}", kOne, "", "", "n1", ""},
        Case{"PerDevice", kCpus, kOne, "", "", "n1", "c: c; cpu=3"},
        Case{"Summed", kCpus, kTwo, "", "", "n1", "c: c; cpu=4500m; memory~1Gi+1Mi"},
        Case{"BesideTheContainers",
             kCpus,
             kTwo,
             "'cpu':'4'",
             "",
             "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 "
             "Preemption "
             "is not helpful",
             ""},
        Case{"MoreThanTheNodeHas",
             kCpus,
             kTwo,
             "'memory':'16Gi'",
             "",
             "0/1 nodes are available: 1 Insufficient memory. preemption: 0/1 nodes are available: "
             "1 Preemption is not helpful",
             ""},
        Case{"ConsumedTimesFactor",
             kShares,
             ",'allocationMode':'ExactCount','count':1,'capacity':{'requests':{'cores':'10'}}",
             "",
             "",
             "n1",
             "c: c; cpu=2500m"},
        Case{"AllOfItByDefault",
             kShares,
             kOne,
             "",
             "",
             "0/1 nodes are available: 1 Insufficient cpu.",
             ""},
        Case{"AShareTimesAFactorBeyond128Bits",
             "{'name':'d0','allowMultipleAllocations':true,'capacity':{'cores':{'value':'1e30'}},"
             "'nodeAllocatableResources':{'cpu':{'mapping':{'capacityKey':'cores',"
             "'capacityMultiplier':'500m'}}}}",
             kOne,
             "",
             "",
             "0/1 nodes are available: 1 Insufficient cpu.",
             ""},
        Case{"OverheadsBeyond128Bits",
             "{'name':'d0','nodeAllocatableResources':{'cpu':{'overhead':{'perPod':'1e30'}}}},"
             "{'name':'d1','nodeAllocatableResources':{'cpu':{'overhead':{'perPod':'1e30',"
             "'perContainer':'1e30'}}}}",
             kTwo,
             "",
             "",
             "0/1 nodes are available: 1 Insufficient cpu.",
             ""},
        Case{"NothingConsumed",
             "{'name':'d0','capacity':{'cores':{'value':'4'}},'nodeAllocatableResources':{'cpu':{"
             "'mapping':{'capacityKey':'cores','capacityMultiplier':'1'}}}}",
             kOne,
             "",
             "",
             "running \"DynamicResources\" filter plugin: claim default/c, device d0: "
             "ConsumedCapacity is nil, but Capacity key 'cores' is set in "
             "NodeAllocatableResources for resource cpu",
             ""},
        Case{"PodLevelTooSmall",
             kCpus,
             kOne,
             "'cpu':'1'",
             ",'resources':{'requests':{'cpu':'3'}}",
             "0/1 nodes are available: 1 pod level request for cpu is insufficient to cover the "
             "aggregated container and node-allocatable DRA requests.",
             ""},
        Case{"PodLevelLargeEnough",
             kCpus,
             kOne,
             "'cpu':'1'",
             ",'resources':{'requests':{'cpu':'4'}}",
             "n1",
             "c: c; cpu=3"}),
    [](const auto& info) { return info.param.name; });

TEST(NodeAllocatableTest, AMappedClaimServesOnePod) {
  World world(WithGate());
  world.Class();
  world.Node("n1");
  world.Slice("s", "'nodeName':'n1'", kCpus);
  api::resource::ResourceClaim claim = *world.Claim("c");
  ASSERT_EQ(world.Run(*world.Pod("p1"), {&claim}), "n1");
  const auto given = world.last.results[0];
  const Decision keep = std::move(world.last);
  claim.status.allocation = &given;
  EXPECT_EQ(world.Run(*world.Pod("p2"), {&claim}), "n1");  // nobody has reserved it
  api::resource::ResourceClaimConsumerReference user;
  user.resource = "pods";
  user.uid = "p1";
  claim.status.reserved_for = {&user, 1};
  EXPECT_TRUE(world.Run(*world.Pod("p3"), {&claim})
                  .starts_with("0/1 nodes are available: 1 node allocatable resource claim c has a "
                               "mapped device and cannot be shared across pods."));
  world.view.DeletePod("p1");
  world.view.DeletePod("p2");
  EXPECT_EQ(world.Run(*world.Pod("p1"), {&claim}), "n1");
}

// Upstream lists such a container twice, which the API server then refuses.
TEST(NodeAllocatableTest, AContainerThatNamesAClaimTwiceCountsOnce) {
  World world(WithGate());
  world.Class();
  world.Node("n1");
  world.Slice("s",
              "'nodeName':'n1'",
              "{'name':'d','nodeAllocatableResources':{'cpu':{'overhead':{'perContainer':'1'}}}}");
  const auto* const pod = FromText<api::core::Pod>(
      "{'metadata':{'name':'p','uid':'p'},'spec':{'containers':[{'name':'c','resources':{'claims':"
      "[{'name':'x','request':'r'},{'name':'x'}]}}]}}",
      world.arena);
  EXPECT_EQ(world.Run(*pod, {world.Claim("c")}), "n1");
  EXPECT_EQ(Spelled(world.last.node_allocatable), "c: c; cpu~+1");
  EXPECT_EQ(world.view.FindNode("n1")->requested.milli_cpu, 1000);
}

TEST(NodeAllocatableTest, WithoutTheGateNothingCounts) {
  World world;
  world.Class();
  world.Node("n1");
  world.Slice("s", "'nodeName':'n1'", kCpus);
  EXPECT_EQ(world.Run(*world.Pod("p", "'cpu':'8'"), {world.Claim("c")}), "n1");
  EXPECT_TRUE(world.last.node_allocatable.empty());
}

TEST(NodeAllocatableTest, WhatDevicesTakeIsTakenFromTheNode) {
  World world(WithGate());
  world.Class();
  world.Node("n1");
  world.Slice("s", "'nodeName':'n1'", kCpus);
  ASSERT_EQ(world.Run(*world.Pod("p1", "'cpu':'1'"), {world.Claim("c")}), "n1");
  EXPECT_EQ(world.view.FindNode("n1")->requested.milli_cpu, 4000);
  EXPECT_TRUE(world.Run(*world.Pod("p2", "'cpu':'5'"))
                  .starts_with("0/1 nodes are available: 1 "
                               "Insufficient cpu."));
  world.view.DeletePod("p1");
  EXPECT_EQ(world.view.FindNode("n1")->requested.milli_cpu, 0);
}

}  // namespace
}  // namespace allot::placement
