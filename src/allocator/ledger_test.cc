#include "allocator/ledger.h"

#include <string>

#include <gtest/gtest.h>

#include "allocator/problem_test.h"

namespace allot::allocator {
namespace {

std::string Uses(const std::string& name,
                 const std::string& set,
                 const std::string& amount,
                 const std::string& groups = "") {
  return "{'name':'" + name + "','consumesCounters':[{'counterSet':'" + set +
         "','counters':{'m':{'value':'" + amount + "'}}" +
         (groups.empty() ? "" : ",'compatibilityGroups':[" + groups + "]") + "}]}";
}

std::string Uses(const std::string& name,
                 const std::string& set,
                 int amount,
                 const std::string& groups = "") {
  return Uses(name, set, std::to_string(amount), groups);
}

struct Case {
  const char* name;
  std::string devices;
  std::string held;   // device already allocated, or empty
  std::string taken;  // y or n for every device in order
  bool groups = false;
};

class LedgerTest : public ::testing::TestWithParam<Case> {};

TEST_P(LedgerTest, ChargesAndGivesBack) {
  inventory::Features features;
  features.compatibility_groups = GetParam().groups;
  TestProblem problem(features);
  problem.Slice("x",
                "p",
                "'sharedCounters':[{'name':'g0','counters':{'m':{'value':'40'}}},"
                "{'name':'g1','counters':{'m':{'value':'5'}}}]",
                2,
                "counters");
  problem.Slice("x", "p", "'devices':[" + GetParam().devices + "]", 2, "devices");
  if (!GetParam().held.empty()) {
    problem.Hold("x", "p", GetParam().held, "other");
  }
  const auto view = problem.inventory().ViewFor(problem.node());
  ASSERT_EQ(view->pools.size(), 1U);
  const inventory::PoolView& pool = *view->pools.front();
  CounterLedger ledger;
  ledger.Start(pool, problem.state(), GetParam().groups);
  const auto before = ledger.left();
  for (int round = 0; round < 2; ++round) {
    std::string taken;
    std::vector<const inventory::Consumer*> stack;
    for (const inventory::Consumer& consumer : pool.consumers) {
      const bool fits = ledger.Take(consumer);
      taken += fits ? 'y' : 'n';
      if (fits) {
        stack.push_back(&consumer);
      }
    }
    EXPECT_EQ(taken, GetParam().taken);
    for (; !stack.empty(); stack.pop_back()) {
      ledger.Undo(*stack.back());
    }
    EXPECT_EQ(ledger.left(), before);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Pools,
    LedgerTest,
    ::testing::Values(
        Case{"UntilItIsEmpty",
             Uses("a", "g0", 30) + "," + Uses("b", "g0", 20) + "," + Uses("c", "g0", 10),
             "",
             "yny"},
        Case{"SetsApart", Uses("a", "g0", 40) + "," + Uses("b", "g1", 5), "", "yy"},
        Case{"HeldDevicesAreCharged", Uses("a", "g0", 30) + "," + Uses("b", "g0", 20), "a", "nn"},
        Case{"AnOvercommittedSetBlocksThePool",
             Uses("a", "g1", 10) + "," + Uses("b", "g0", 10),
             "a",
             "nn"},
        Case{"HeldUsesBeyond128Bits",
             Uses("a", "g0", "1e30") + "," + Uses("b", "g0", "1e30") + "," + Uses("c", "g1", 1),
             "a",
             "nnn"},
        Case{"AUseBeyond128Bits", Uses("a", "g0", 1) + "," + Uses("b", "g0", "1e30"), "", "yn"},
        Case{"GivenBackBeyond128Bits",
             Uses("a", "g0", "-1e30") + "," + Uses("b", "g0", 40),
             "",
             "ny"},
        Case{"GroupsMustShareAName",
             Uses("a", "g0", 1, "'x','y'") + "," + Uses("b", "g0", 1, "'z'") + "," +
                 Uses("c", "g0", 1, "'y','z'") + "," + Uses("d", "g0", 1, "'x'"),
             "",
             "ynyn",
             true},
        Case{"NoGroupsKeepToThemselves",
             Uses("a", "g0", 1) + "," + Uses("b", "g0", 1, "'x'") + "," + Uses("c", "g0", 1),
             "",
             "yny",
             true},
        Case{"GroupsOfHeldDevicesCount",
             Uses("a", "g0", 1, "'x'") + "," + Uses("b", "g0", 1, "'y'") + "," +
                 Uses("c", "g1", 1, "'y'"),
             "a",
             "yny",
             true}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(LedgerTest, AdminAccessIsChargedInTheCompatibleRulesOnly) {
  for (const bool compatible : {true, false}) {
    inventory::Features features;
    features.compatible = compatible;
    TestProblem problem(features);
    problem.Slice("x",
                  "p",
                  "'sharedCounters':[{'name':'g0','counters':{'m':{'value':'10'}}}]",
                  2,
                  "counters");
    problem.Slice("x", "p", "'devices':[" + Uses("a", "g0", 10) + "]", 2, "devices");
    problem.Hold("x", "p", "a", "other");
    problem.Claim("'requests':[" + Request("r", 1, ",'adminAccess':true") + "]");
    for (const std::uint64_t trials : {std::uint64_t{64}, std::uint64_t{0}}) {
      EXPECT_EQ(TestProblem::Text(problem.Solve({.plain_trials = trials})),
                compatible ? "infeasible" : "a");
    }
  }
}

}  // namespace
}  // namespace allot::allocator
