// The pruned search: it leaves out what cannot succeed, and nothing else.
#include "allocator/pruner.h"

#include <string>

#include <gtest/gtest.h>

#include "allocator/problem_test.h"

namespace allot::allocator {
namespace {

std::string Devices(int count, const std::string& (*of)(int)) {
  std::string out;
  for (int i = 0; i < count; ++i) {
    out += (i == 0 ? "" : ",") + ("{'name':'d" + std::to_string(i) + "'" + of(i) + "}");
  }
  return "'devices':[" + out + "]";
}

const std::string& Plain(int) {
  static const std::string kNothing;
  return kNothing;
}

// Attributes n: 0, 1, 0, 1, ...
const std::string& Halves(int i) {
  static const std::string kHalves[] = {",'attributes':{'n':{'int':0}}",
                                        ",'attributes':{'n':{'int':1}}"};
  return kHalves[i % 2];
}

// The first takes 20 of counter m, the others 10.
const std::string& Parts(int i) {
  static const std::string kParts[] = {
      ",'consumesCounters':[{'counterSet':'g','counters':{'m':{'value':'20'}}}]",
      ",'consumesCounters':[{'counterSet':'g','counters':{'m':{'value':'10'}}}]"};
  return kParts[i == 0 ? 0 : 1];
}

std::string Requests(int count, int devices = 1) {
  std::string out;
  for (int i = 0; i < count; ++i) {
    out += (i == 0 ? "" : ",") + Request("r" + std::to_string(i), devices);
  }
  return "'requests':[" + out + "]";
}

struct Case {
  const char* name;
  std::string devices;
  int counter;  // 0: no counter set
  std::string claim;
  std::string answer;
  std::uint64_t most_steps;  // of the search that is pruned from the start
};

class PrunerTest : public ::testing::TestWithParam<Case> {};

TEST_P(PrunerTest, FindsTheSameWithFewerSteps) {
  const Case& test = GetParam();
  TestProblem problem;
  problem.Slice("x", "p", test.devices, test.counter != 0 ? 2 : 1);
  if (test.counter != 0) {
    problem.Slice("x",
                  "p",
                  "'sharedCounters':[{'name':'g','counters':{'m':{'value':'" +
                      std::to_string(test.counter) + "'}}}]",
                  2,
                  "counters");
  }
  problem.Claim(test.claim);
  const Outcome plain = problem.Solve({.plain = true});
  const Outcome pruned = problem.Solve({.plain_trials = 0});
  const Outcome usual = problem.Solve();
  EXPECT_EQ(TestProblem::Text(plain), test.answer);
  EXPECT_EQ(TestProblem::Text(pruned), test.answer);
  EXPECT_EQ(TestProblem::Text(usual), test.answer);
  EXPECT_FALSE(plain.pruned);
  EXPECT_LE(pruned.steps, test.most_steps);
}

INSTANTIATE_TEST_SUITE_P(
    Techniques,
    PrunerTest,
    ::testing::Values(
        Case{"CountsFirst", Devices(8, Plain), 0, Requests(1, 9), "infeasible", 0},
        Case{"ManyRequestsOnFewDevices", Devices(5, Plain), 0, Requests(6), "infeasible", 0},
        Case{"NoValueIsEnough",
             Devices(12, Halves),
             0,
             Requests(1, 7) + ",'constraints':[{'matchAttribute':'x/n'}]",
             "infeasible",
             1},
        Case{"TooFewDifferentValues",
             Devices(10, Halves),
             0,
             Requests(3) + ",'constraints':[{'distinctAttribute':'x/n'}]",
             "infeasible",
             1},
        Case{"TheFirstPartitionIsWrong",
             Devices(8, Parts),
             70,
             Requests(1, 7),
             "d1 d2 d3 d4 d5 d6 d7",
             11},
        Case{"CountersRunOut", Devices(8, Parts), 60, Requests(1, 7), "infeasible", 1},
        // d0 must be left to the second request, the only one it can serve.
        Case{
            "ALaterRequestNeedsTheFirstDevice",
            Devices(4, Halves),
            0,
            "'requests':[" + Request("a", 2) + "," +
                Request(
                    "b",
                    2,
                    ",'selectors':[{'cel':{'expression':'device.attributes[\\\"x\\\"].n == 0'}}]") +
                "]",
            "d1 d3 d0 d2",
            11},
        Case{"AlternativesAreTriedInOrder",
             Devices(4, Plain),
             0,
             "'requests':[{'name':'q','firstAvailable':["
             "{'name':'s0','deviceClassName':'any','allocationMode':'ExactCount','count':4},"
             "{'name':'s1','deviceClassName':'any','allocationMode':'ExactCount','count':1}]}," +
                 Request("r", 3) + "]",
             "d0 d1 d2 d3",
             12}),
    [](const auto& info) { return std::string(info.param.name); });

// Where the answer depends on the order of the walk, it declines and the plain search goes on.
struct Declined {
  const char* name;
  std::string request;
  const char* verdict;
};

class PrunerDeclinesTest : public ::testing::TestWithParam<Declined> {};

TEST_P(PrunerDeclinesTest, AndThePlainSearchAnswers) {
  TestProblem problem;
  problem.Slice("x",
                "p",
                "'devices':[{'name':'d0','attributes':{'n':{'int':0}}},"
                "{'name':'d1','attributes':{'n':{'int':1}}},{'name':'d2'}]");
  problem.Claim(GetParam().request);
  const Outcome plain = problem.Solve({.plain = true});
  const Outcome declined = problem.Solve({.plain_trials = 0});
  EXPECT_EQ(TestProblem::Text(plain), GetParam().verdict);
  EXPECT_EQ(TestProblem::Text(declined), GetParam().verdict);
  EXPECT_EQ(plain.error, declined.error);
  EXPECT_EQ(plain.steps, declined.steps);
  EXPECT_FALSE(declined.pruned);
}

INSTANTIATE_TEST_SUITE_P(
    Errors,
    PrunerDeclinesTest,
    ::testing::Values(
        Declined{
            "AnExpressionFails",
            "'requests':[" +
                Request(
                    "r",
                    1,
                    ",'selectors':[{'cel':{'expression':'device.attributes[\\\"x\\\"].n == 0'}}]") +
                "]",
            "d0"},
        Declined{
            "AnExpressionFailsOnTheWay",
            "'requests':[" +
                Request(
                    "r",
                    2,
                    ",'selectors':[{'cel':{'expression':'device.attributes[\\\"x\\\"].n == 0'}}]") +
                "]",
            "fatal"},
        Declined{
            "AllMeetsAConstraint",
            "'requests':[{'name':'r','exactly':{'deviceClassName':'any','allocationMode':'All'}}],"
            "'constraints':[{'matchAttribute':'x/n'}]",
            "fatal"}),
    [](const auto& info) { return std::string(info.param.name); });

// Two devices for each of eight slots, nine requests: every request alone and every slot alone are
// fine.
TEST(PrunerTest, PlacesOfCountersAreMatched) {
  TestProblem problem;
  std::string counters;
  std::string devices;
  for (int i = 0; i < 8; ++i) {
    const std::string slot = "s" + std::to_string(i);
    counters += (i == 0 ? "" : ",") + ("'" + slot + "':{'value':'1'}");
    for (const char* const side : {"a", "b"}) {
      devices +=
          (devices.empty() ? "" : ",") +
          ("{'name':'" + slot + side + "','consumesCounters':[{'counterSet':'g','counters':{'" +
           slot + "':{'value':'1'}}}]}");
    }
  }
  problem.Slice("x", "p", "'devices':[" + devices + "]", 2);
  problem.Slice(
      "x", "p", "'sharedCounters':[{'name':'g','counters':{" + counters + "}}]", 2, "counters");
  problem.Claim(Requests(8));
  EXPECT_EQ(TestProblem::Text(problem.Solve({.plain_trials = 0})),
            "s0a s1a s2a s3a s4a s5a s6a s7a");
  problem.Claim(Requests(1), "d");
  const Outcome outcome = problem.Solve({.plain_trials = 0});
  EXPECT_EQ(TestProblem::Text(outcome), "infeasible");
  EXPECT_LE(outcome.steps, 1U);
}

// Cards of ten units with partitions of 6, 5, 5, 4, 4 and 3: a six on half of the cards leaves room
// for two fives on each of the others, and not for one more. Which cards they are does not matter.
TEST(PrunerTest, OnePartitionMoreThanEqualCardsHoldIsRefusedInStepsByTheCards) {
  constexpr int kSizes[] = {6, 5, 5, 4, 4, 3};
  for (const int cards : {2, 4, 8, 16, 30}) {
    TestProblem problem;
    std::string sets;
    std::string devices;
    for (int i = 0; i < 6 * cards; ++i) {
      const std::string size = std::to_string(kSizes[i / cards]);
      const std::string card = "g" + std::to_string(i % cards);
      devices += (i == 0 ? "" : ",") + ("{'name':'d" + std::to_string(i)) +
                 "','attributes':{'size':{'int':" + size +
                 "}},'consumesCounters':[{'counterSet':'" + card + "','counters':{'m':{'value':'" +
                 size + "'}}}]}";
      if (i < cards) {
        sets += (i == 0 ? "" : ",") + ("{'name':'" + card) + "','counters':{'m':{'value':'10'}}}";
      }
    }
    problem.Slice("x", "p", "'sharedCounters':[" + sets + "]", 2, "a");
    problem.Slice("x", "p", "'devices':[" + devices + "]", 2, "b");
    const auto of_size = [](int size) {
      return ",'selectors':[{'cel':{'expression':'device.attributes[\\'x\\'].size == " +
             std::to_string(size) + "'}}]";
    };
    problem.Claim("'requests':[" + Request("six", cards / 2, of_size(6)) + "]", "c1");
    // Two requests, since one alone is refused at a glance.
    problem.Claim("'requests':[" + Request("five", cards, of_size(5)) + "," +
                      Request("one", 1, of_size(5)) + "]",
                  "c2");
    const Outcome outcome = problem.Solve({.plain_trials = 0});
    EXPECT_EQ(TestProblem::Text(outcome), "infeasible") << cards;
    EXPECT_TRUE(outcome.pruned);
    EXPECT_LE(outcome.steps, static_cast<std::uint64_t>(8 * cards)) << cards;
  }
}

TEST(PrunerTest, TheBudgetEndsAHardSearch) {
  TestProblem problem;
  problem.Slice("x", "p", Devices(20, Halves));
  problem.Claim(Requests(1, 11) + ",'constraints':[{'matchAttribute':'x/n'}]");
  EXPECT_EQ(TestProblem::Text(problem.Solve({.steps = 100, .plain = true})), "undecided");
  EXPECT_EQ(TestProblem::Text(problem.Solve({.steps = 100})), "infeasible");
}

}  // namespace
}  // namespace allot::allocator
