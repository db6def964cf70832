// One answer for all nodes alike, however many there are; what helps most comes first.
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "placement/placement.h"
#include "placement/world_test.h"

namespace allot::placement {
namespace {

using allocator::CauseKind;
using allocator::Diagnosis;

class ExplainTest : public ::testing::Test {
 protected:
  void Nodes(int count) {
    world_.Class();
    for (int n = 0; n < count; ++n) {
      const std::string name = fmt::format("n{}", n);
      world_.Node(name);
      world_.Slice(name,
                   fmt::format("'nodeName':'{}'", name),
                   "{'name':'d0','capacity':{'memory':{'value':'80Gi'}}},"
                   "{'name':'d1','capacity':{'memory':{'value':'80Gi'}}}");
    }
  }
  Diagnosis Explain(const std::string& request) {
    const auto* const claim = world_.Claim("c", request);
    const ClaimInput input{.claim = claim, .entry = "x"};
    return world_.placer.Explain(*world_.Pod("p"), {&input, 1}, {});
  }

  World world_;
};

TEST_F(ExplainTest, AFailedExpressionIsToldOnceForAllNodes) {
  Nodes(20);
  const Diagnosis told = Explain(
      "{'name':'r','exactly':{'deviceClassName':'gpu','allocationMode':'ExactCount','count':1,'"
      "selectors':[{'cel':{'expression':"
      "'device.attributes[\\'gpu\\'].memory > 1'}}]}}");
  ASSERT_EQ(told.groups.size(), 1U);
  EXPECT_EQ(told.groups[0].nodes, 20);
  ASSERT_EQ(told.causes.size(), 2U);
  EXPECT_EQ(told.causes[0].kind, CauseKind::kWrongSection);
  EXPECT_EQ(told.causes[0].hint, "use device.capacity[\"gpu\"].memory, a quantity");
  EXPECT_EQ(told.causes[1].kind, CauseKind::kSelectorError);
}

TEST_F(ExplainTest, NodesWithOtherCountsAreAnotherGroup) {
  Nodes(3);
  world_.Node("big");
  world_.Slice("big", "'nodeName':'big'", "{'name':'d0'},{'name':'d1'},{'name':'d2'}");
  const Diagnosis told = Explain(
      "{'name':'r','exactly':{'deviceClassName':'gpu','allocationMode':'ExactCount','count':4}}");
  ASSERT_EQ(told.groups.size(), 2U);
  EXPECT_EQ(told.groups[0].nodes + told.groups[1].nodes, 4);
  ASSERT_EQ(told.causes.size(), 2U);
  EXPECT_EQ(told.causes[0].kind, CauseKind::kTooFew);
  EXPECT_EQ(told.causes[1].kind, CauseKind::kTooFew);
}

struct Reading {
  const char* name;
  const char* expression;
  std::uint64_t looks;  // at three nodes, two of which differ in the serial number only
};

class ReadingTest : public ::testing::TestWithParam<Reading> {};

// Nodes are alike unless an expression may read what differs, however it spells the name.
TEST_P(ReadingTest, TellsNodesApart) {
  World world;
  world.Class();
  for (int n = 0; n < 3; ++n) {
    const std::string name = fmt::format("n{}", n);
    world.Node(name);
    world.Slice(name,
                fmt::format("'nodeName':'{}'", name),
                fmt::format("{{'name':'d0','attributes':{{'serial':{{'string':'{}'}},'numa':"
                            "{{'int':{}}}}}}}",
                            n,
                            n / 2));
  }
  const auto* const claim = world.Claim(
      "c",
      fmt::format("{{'name':'r','exactly':{{'deviceClassName':'gpu','allocationMode':'ExactCount',"
                  "'count':2,'selectors':[{{'cel':{{'expression':'{}'}}}}]}}}}",
                  GetParam().expression));
  const ClaimInput input{.claim = claim, .entry = "x"};
  static_cast<void>(world.placer.Explain(*world.Pod("p"), {&input, 1}, {}));
  EXPECT_EQ(world.placer.explained(), GetParam().looks);
}

INSTANTIATE_TEST_SUITE_P(
    Expressions,
    ReadingTest,
    ::testing::Values(
        Reading{"Nothing", "true", 1},
        Reading{"Select", R"(device.attributes[\'gpu\'].numa == 1)", 2},
        Reading{"Index", R"(device.attributes[\'gpu\'][\'numa\'] == 1)", 2},
        Reading{"EscapedIndex", R"(device.attributes[\'gpu\'][\'\\x6euma\'] == 1)", 2},
        Reading{"AnotherName", R"(device.attributes[\'gpu\'].model == \'a\')", 1},
        Reading{
            "BuiltName", R"(device.attributes[\'gpu\'][\'n-uma\'.replace(\'-\', \'\')] == 1)", 3},
        Reading{"NameInCapitals", R"(device.attributes[\'gpu\'][\'NUMA\'.lowerAscii()] == 1)", 3},
        Reading{"WholeMaps", R"(device.attributes[\'gpu\'] == device.attributes[\'other\'])", 3},
        Reading{"Loop", R"(device.attributes[\'gpu\'].all (k, k != \'x\'))", 3},
        Reading{"WholeDevice", R"([device].size() == 1)", 3}),
    [](const auto& info) { return std::string(info.param.name); });

struct Crowd {
  const char* name;
  int bare;   // nodes without devices, first by name
  int withs;  // nodes with two devices, numbers of their own
  int kinds;  // how many different capacities these have
  const char* constraint;
  std::vector<std::string> causes;  // "KIND SUBJECT, NODES"
  std::vector<std::int64_t> groups;
  std::int64_t left_out;
  std::int64_t not_looked_at;
  std::uint64_t looks;
};

class CrowdTest : public ::testing::TestWithParam<Crowd> {};

// However many nodes there are: a cause and a group for each kind of trouble, those with devices
// first, and as many looks as there are kinds of nodes.
TEST_P(CrowdTest, IsToldByKinds) {
  const Crowd& crowd = GetParam();
  World world;
  world.Class();
  for (int n = 0; n < crowd.bare; ++n) {
    world.Node(fmt::format("a{:05}", n));
  }
  for (int n = 0; n < crowd.withs; ++n) {
    const std::string name = fmt::format("z{:05}", n);
    world.Node(name);
    std::string devices;
    for (int d = 0; d < 2; ++d) {
      devices += fmt::format(
          "{}{{'name':'d{}','attributes':{{'serial':{{'string':'{}-{}'}},'numa':{{'int':{}}}}},"
          "'capacity':{{'memory':{{'value':'{}Gi'}}}}}}",
          d == 0 ? "" : ",",
          d,
          n,
          d,
          d,
          n % crowd.kinds + 1);
    }
    world.Slice(name, fmt::format("'nodeName':'{}'", name), devices);
  }
  auto* const claim = FromText<api::resource::ResourceClaim>(
      fmt::format("{{'metadata':{{'name':'c','namespace':'default','uid':'c'}},'spec':{{'devices':"
                  "{{'requests':[{{'name':'r','exactly':{{'deviceClassName':'gpu',"
                  "'allocationMode':'ExactCount','count':{}}}}}]{}}}}}}}",
                  *crowd.constraint == '\0' ? 3 : 2,
                  crowd.constraint),
      world.arena);
  const ClaimInput input{.claim = claim, .entry = "x"};
  const Diagnosis told = world.placer.Explain(*world.Pod("p"), {&input, 1}, {});
  std::vector<std::string> causes;
  for (const allocator::Cause& cause : told.causes) {
    causes.push_back(fmt::format("{} {}, {}", CauseName(cause.kind), cause.subject, cause.nodes));
  }
  EXPECT_EQ(causes, crowd.causes);
  std::vector<std::int64_t> groups;
  for (const allocator::NodeDiagnosis& group : told.groups) {
    groups.push_back(group.nodes);
  }
  EXPECT_EQ(groups, crowd.groups);
  EXPECT_EQ(told.nodes_left_out, crowd.left_out);
  EXPECT_EQ(told.nodes_not_looked_at, crowd.not_looked_at);
  EXPECT_EQ(world.placer.explained(), crowd.looks);
}

INSTANTIATE_TEST_SUITE_P(
    Clusters,
    CrowdTest,
    ::testing::Values(Crowd{"BareNodesComeLast",
                            300,
                            3,
                            1,
                            ",'constraints':[{'matchAttribute':'gpu/numa'}]",
                            {"Constraint claim default/c, matchAttribute gpu/numa, 3",
                             "DriverAbsent claim default/c, request r, 300"},
                            {3, 300},
                            0,
                            0,
                            2},
                      Crowd{"NodesAlikeGetOneLook",
                            0,
                            2000,
                            1,
                            "",
                            {"TooFew claim default/c, request r, 2000"},
                            {2000},
                            0,
                            0,
                            1},
                      Crowd{"KindsWithOneAnswer",
                            0,
                            120,
                            40,
                            "",
                            {"TooFew claim default/c, request r, 120"},
                            {120},
                            0,
                            0,
                            40},
                      Crowd{"TooManyKinds",
                            10,
                            200,
                            100,
                            "",
                            {"TooFew claim default/c, request r, 128"},
                            {128},
                            0,
                            82,
                            64}),
    [](const auto& info) { return std::string(info.param.name); });

// The scheduler leaves such pods alone; another caller may ask all the same.
TEST_F(ExplainTest, AnotherNodeIsNamed) {
  Nodes(2);
  const auto* const claim = world_.Claim("c");
  const ClaimInput input{.claim = claim, .entry = "x"};
  const Diagnosis told =
      world_.placer.Explain(*world_.Pod("p", "", ",'nodeName':'n9'"), {&input, 1}, {});
  ASSERT_EQ(told.groups.size(), 1U);
  EXPECT_EQ(told.groups[0].nodes, 2);
  ASSERT_EQ(told.causes.size(), 1U);
  EXPECT_EQ(told.causes[0].kind, CauseKind::kNodeName);
  EXPECT_EQ(told.causes[0].example, "node(s) didn't match the requested node name");
  EXPECT_EQ(told.causes[0].hint, "the node has the devices; only this keeps the pod away");
}

}  // namespace
}  // namespace allot::placement
