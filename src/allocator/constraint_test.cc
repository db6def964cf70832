#include "allocator/constraint.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "allocator/attributes.h"
#include "allocator/problem_test.h"

namespace allot::allocator {
namespace {

// What a device has: -1 nothing, -2 an attribute without a value, else the numbers of its values.
using Numbers = std::vector<int>;

struct Case {
  const char* name;
  ConstraintKind kind;
  AttributeSemantics semantics;
  std::vector<Numbers> devices;  // added one after the other
  std::string accepted;          // y or n for each
};

class ConstraintTest : public ::testing::TestWithParam<Case> {};

ValueIds Values(const Numbers& numbers, std::vector<std::uint32_t>& memory) {
  memory.clear();
  for (const int number : numbers) {
    if (number >= 0) {
      memory.push_back(static_cast<std::uint32_t>(number));
    }
  }
  return {numbers != Numbers{-1}, memory};
}

TEST_P(ConstraintTest, AcceptsWhatUpstreamAccepts) {
  const auto constraint = Constraint::Make(GetParam().kind, GetParam().semantics);
  std::string accepted;
  std::vector<std::uint32_t> memory;
  // Twice, with everything undone between: nothing may be left over.
  for (int round = 0; round < 2; ++round) {
    accepted.clear();
    int added = 0;
    for (const Numbers& device : GetParam().devices) {
      const bool fits = constraint->Add(Values(device, memory));
      accepted += fits ? 'y' : 'n';
      added += fits ? 1 : 0;
    }
    EXPECT_EQ(accepted, GetParam().accepted);
    for (; added > 0; --added) {
      constraint->Undo();
    }
  }
}

constexpr auto kMatch = ConstraintKind::kMatch;
constexpr auto kDistinct = ConstraintKind::kDistinct;
constexpr auto kScalar = AttributeSemantics::kScalar;
constexpr auto kSet = AttributeSemantics::kSet;

INSTANTIATE_TEST_SUITE_P(
    Kinds,
    ConstraintTest,
    ::testing::Values(
        Case{"MatchEqual", kMatch, kScalar, {{1}, {1}, {2}, {1}}, "yyny"},
        Case{"MatchNeedsTheAttribute", kMatch, kScalar, {{-1}, {1}, {-1}}, "nyn"},
        Case{"MatchNothingBesideAFirstWithoutValue", kMatch, kScalar, {{-2}, {1}, {-2}}, "ynn"},
        Case{"MatchNoValueLater", kMatch, kScalar, {{1}, {-2}, {1}}, "yny"},
        Case{"DistinctAll", kDistinct, kScalar, {{1}, {2}, {1}, {3}, {2}}, "yynyn"},
        Case{"DistinctNeedsTheAttribute", kDistinct, kScalar, {{-1}, {1}}, "ny"},
        Case{
            "DistinctScalarBesideAFirstWithoutValue", kDistinct, kScalar, {{-2}, {1}, {-2}}, "yyn"},
        Case{"SetMatchCommonElement", kMatch, kSet, {{1, 2}, {1}, {2}, {1, 3}}, "yyny"},
        Case{"SetMatchIsNotPairwise", kMatch, kSet, {{1, 2}, {2, 3}, {1, 3}}, "yyn"},
        Case{"SetMatchNeedsAValue", kMatch, kSet, {{-2}, {-1}, {1}}, "nny"},
        Case{"SetDistinctDisjoint", kDistinct, kSet, {{1, 2}, {2, 3}, {3, 4}}, "yny"},
        Case{"SetDistinctNeedsAValue", kDistinct, kSet, {{-2}, {1}, {-1}}, "nyn"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(ConstraintTest, OnlyTellsTheValueOfAMatch) {
  const auto match = Constraint::Make(kMatch, kScalar);
  std::vector<std::uint32_t> memory;
  EXPECT_EQ(match->only(), Constraint::kAnyValue);
  ASSERT_TRUE(match->Add(Values({7}, memory)));
  ASSERT_TRUE(match->Add(Values({7}, memory)));
  EXPECT_EQ(match->only(), 7U);
  match->Undo();
  EXPECT_EQ(match->only(), 7U);
  match->Undo();
  EXPECT_EQ(match->only(), Constraint::kAnyValue);
}

struct Pair {
  const char* name;
  const char* attributes;  // of devices a and b of driver x
  bool lists;
  bool equal;
};

class AttributesTest : public ::testing::TestWithParam<Pair> {};

TEST_P(AttributesTest, NumbersAreEqualWhenValuesAre) {
  TestProblem problem;
  problem.Slice("x", "p", std::string("'devices':[") + GetParam().attributes + "]");
  AttributeColumns columns(
      problem.inventory(),
      GetParam().lists ? AttributeSemantics::kSet : AttributeSemantics::kScalar);
  const auto column = columns.Intern("x/n");
  EXPECT_EQ(columns.Intern("x/n"), column);
  columns.Sync(*column);
  const auto slice = problem.inventory().Slices().front();
  // Asked twice: the second answer comes from the column.
  for (int round = 0; round < 2; ++round) {
    std::vector<std::vector<std::uint32_t>> found;
    for (const inventory::Device& device : slice->devices) {
      const ValueIds values = columns.Of(*column, device);
      found.emplace_back(values.ids.begin(), values.ids.end());
    }
    EXPECT_EQ(found[0] == found[1], GetParam().equal);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Types,
    AttributesTest,
    ::testing::Values(
        Pair{"SameInt",
             "{'name':'a','attributes':{'n':{'int':1}}},{'name':'b','attributes':{'n':{'int':1}}}",
             false,
             true},
        Pair{"IntIsNoString",
             "{'name':'a','attributes':{'n':{'int':1}}},{'name':'b','attributes':{'n':{'string':'1'"
             "}}}",
             false,
             false},
        Pair{"StringIsNoVersion",
             "{'name':'a','attributes':{'n':{'string':'1.0.0'}}},"
             "{'name':'b','attributes':{'n':{'version':'1.0.0'}}}",
             false,
             false},
        Pair{
            "FullAndBareName",
            "{'name':'a','attributes':{'n':{'int':1}}},{'name':'b','attributes':{'x/n':{'int':1}}}",
            false,
            true},
        Pair{
            "OfAnotherDomain",
            "{'name':'a','attributes':{'n':{'int':1}}},{'name':'b','attributes':{'y/n':{'int':1}}}",
            false,
            false},
        Pair{"ListOrderAndRepeats",
             "{'name':'a','attributes':{'n':{'ints':[2,1,2]}}},"
             "{'name':'b','attributes':{'n':{'ints':[1,2]}}}",
             true,
             true},
        Pair{"ScalarIsASetOfOne",
             "{'name':'a','attributes':{'n':{'strings':['s']}}},"
             "{'name':'b','attributes':{'n':{'string':'s'}}}",
             true,
             true},
        Pair{"ListsWithoutTheGateHaveNoValue",
             "{'name':'a','attributes':{'n':{'ints':[1]}}},{'name':'b','attributes':{'n':{'int':1}}"
             "}",
             false,
             false}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(AttributesTest, AValueIsForgottenWithItsSlice) {
  TestProblem problem;
  problem.Slice("x", "p", "'devices':[{'name':'a','attributes':{'n':{'int':1}}}]");
  AttributeColumns columns(problem.inventory(), AttributeSemantics::kScalar);
  const auto column = columns.Intern("x/n");
  const auto value = [&] {
    columns.Sync(*column);
    const auto slice = problem.inventory().Slices().front();
    const ValueIds values = columns.Of(*column, slice->devices.front());
    return values.present ? static_cast<int>(values.ids.front()) : -1;
  };
  EXPECT_EQ(value(), 0);
  problem.Slice("x", "p", "'devices':[{'name':'a','attributes':{'n':{'int':2}}}]");
  EXPECT_EQ(value(), 1);
  problem.Slice("x", "p", "'devices':[{'name':'a'}]");
  EXPECT_EQ(value(), -1);
}

}  // namespace
}  // namespace allot::allocator
