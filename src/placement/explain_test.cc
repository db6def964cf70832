// One answer for all nodes alike, however many there are; what helps most comes first.
#include <string>

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
