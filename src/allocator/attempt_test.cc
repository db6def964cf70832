// What one scheduling attempt may cost: an attempt that runs out ends soon, tells why, and leaves
// behind what it found, so that the attempts together do the work of one without limits.
#include <atomic>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "allocator/problem_test.h"

namespace allot::allocator {
namespace {

constexpr int kDevices = 24;
// Costs some hundred, whatever the device is.
const std::string kDear =
    "[1,2,3,4,5,6,7,8,9,10].all(x, [1,2,3,4,5,6,7,8,9,10].all(y, x * y < 200)) && ";

struct Case {
  std::string name;
  std::string claim;  // what the pod asks for
  std::string features;
  std::string blamed;  // part of the error
};

std::string Dear(const std::string& name, const std::string& test, int count = 1) {
  return Request(name,
                 count,
                 ",'selectors':[{'cel':{'expression':'" + kDear + "device.attributes[\\'d\\'].n " +
                     test + "'}}]");
}

const Case kCases[] = {
    {"the last device", "'requests':[" + Dear("r", "== 23") + "]", "", "request r:"},
    {"two requests",
     "'requests':[" + Dear("a", "== 20") + "," + Dear("b", "== 21") + "]",
     "",
     "selector #0"},
    {"more than there are", "'requests':[" + Dear("a", ">= 20", 5) + "]", "", "request a:"},
    {"alternatives",
     "'requests':[{'name':'q','firstAvailable':[{'name':'x','deviceClassName':'any',"
     "'allocationMode':'ExactCount','count':1,'selectors':[{'cel':{'expression':'" +
         kDear +
         "device.attributes[\\'d\\'].n == 99'}}]},{'name':'y','deviceClassName':'any',"
         "'allocationMode':'ExactCount','count':1}]}]",
     "",
     "request q/x:"},
    {"all that match",
     "'requests':[{'name':'r','exactly':{'deviceClassName':'any','allocationMode':'All',"
     "'selectors':[{'cel':{'expression':'" +
         kDear + "device.attributes[\\'d\\'].n > 21'}}]}}]",
     "",
     "request r:"},
    {"the class is dear",
     "'requests':[" + Request("r", 1, "", "dear") + "]",
     "",
     "selector #0 of class dear"},
    {"derived attributes",
     "'requests':[" +
         Request("r",
                 2,
                 ",'derivedAttributes':[{'name':'d/m','expression':'" + kDear +
                     "true ? device.attributes[\\'d\\'].n / 23 : 0'}]") +
         "],'constraints':[{'requests':['r'],'distinctAttribute':'d/m'}]",
     "derived",
     "request r:"},
};

class AttemptTest : public ::testing::TestWithParam<Case> {
 protected:
  AttemptTest() : problem_(FeaturesOf(GetParam())) {
    problem_.Class("dear", kDear + "device.attributes['d'].n == 23");
    std::string devices;
    for (int i = 0; i < kDevices; ++i) {
      devices += (i == 0 ? "" : ",") + std::string("{'name':'d") + std::to_string(i) +
                 "','attributes':{'n':{'int':" + std::to_string(i) + "}}}";
    }
    problem_.Slice("d", "p", "'devices':[" + devices + "]");
    problem_.Claim(GetParam().claim);
  }
  static inventory::Features FeaturesOf(const Case& one) {
    inventory::Features features;
    features.derived_attributes = one.features == "derived";
    return features;
  }
  // What three evaluations cost.
  static std::uint64_t Some(const Allocator& plain) {
    return 3 * plain.work().cost / plain.work().evaluations;
  }
  TestProblem problem_;
};

TEST_P(AttemptTest, GoesOnWhereTheLastOneStopped) {
  Allocator plain(problem_.inventory());
  const Outcome whole =
      plain.Allocate(plain.Prepare(problem_.claims()), problem_.node(), problem_.state());
  // Some three evaluations an attempt.
  Allocator allocator(problem_.inventory(), {}, {.evaluations = {.cost = Some(plain)}});
  int attempts = 0;
  for (std::uint64_t known = 0;; ++attempts) {
    ASSERT_LT(attempts, 4 * kDevices);
    allocator.BeginAttempt();
    const PreparedPtr prepared = allocator.Prepare(problem_.claims());
    const Outcome outcome = allocator.Allocate(prepared, problem_.node(), problem_.state());
    if (outcome.verdict != Verdict::kUnfinished) {
      EXPECT_EQ(TestProblem::Text(outcome), TestProblem::Text(whole));
      EXPECT_EQ(outcome.steps, whole.steps);
      break;
    }
    EXPECT_NE(outcome.error.find("claim default/c, request "), std::string::npos) << outcome.error;
    EXPECT_NE(outcome.error.find(GetParam().blamed), std::string::npos) << outcome.error;
    EXPECT_GT(allocator.work().evaluations, known);
    EXPECT_LE(allocator.work().evaluations, known + 8);
    known = allocator.work().evaluations;
  }
  EXPECT_GE(attempts, 3);
  EXPECT_EQ(allocator.work().evaluations, plain.work().evaluations);
  EXPECT_EQ(allocator.work().cost, plain.work().cost);
}

TEST_P(AttemptTest, GoesOnAtOnceWhereItMay) {
  Allocator plain(problem_.inventory());
  const Outcome whole =
      plain.Allocate(plain.Prepare(problem_.claims()), problem_.node(), problem_.state());
  int asked = 0;
  Allocator allocator(problem_.inventory(), {}, {.evaluations = {.cost = Some(plain), .more = [&] {
                                                                   ++asked;
                                                                   return true;
                                                                 }}});
  const Outcome outcome =
      allocator.Allocate(allocator.Prepare(problem_.claims()), problem_.node(), problem_.state());
  EXPECT_EQ(TestProblem::Text(outcome), TestProblem::Text(whole));
  EXPECT_GE(asked, 3);
}

TEST_P(AttemptTest, EndsWhenItIsToStop) {
  std::atomic<bool> stop = true;
  Allocator allocator(problem_.inventory(), {}, {.evaluations = {.stop = &stop}});
  const PreparedPtr prepared = allocator.Prepare(problem_.claims());
  const Outcome outcome = allocator.Allocate(prepared, problem_.node(), problem_.state());
  EXPECT_EQ(TestProblem::Text(outcome), "unfinished");
  EXPECT_EQ(outcome.error, "the scheduler is being stopped");
  EXPECT_EQ(allocator.work().evaluations, 0U);
}

INSTANTIATE_TEST_SUITE_P(Claims, AttemptTest, ::testing::ValuesIn(kCases), [](const auto& info) {
  std::string name;
  bool upper = true;
  for (const char c : info.param.name) {
    if (c == ' ') {
      upper = true;
    } else {
      name += upper ? static_cast<char>(c - 'a' + 'A') : c;
      upper = false;
    }
  }
  return name;
});

// Comparing values that share their parts costs next to nothing and takes long.
TEST(AttemptWorkTest, EndsForWorkWithoutCost) {
  std::string test = "v16 == v16";
  for (int i = 16; i > 0; --i) {
    const std::string part = "v" + std::to_string(i - 1);
    test = "cel.bind(v" + std::to_string(i) + ",[" + part + "," + part + "]," + test + ")";
  }
  TestProblem problem;
  problem.Class("shared", "cel.bind(v0,[1]," + test + ") && device.attributes['d'].n == 23");
  std::string devices;
  for (int i = 0; i < kDevices; ++i) {
    devices += (i == 0 ? "" : ",") + std::string("{'name':'d") + std::to_string(i) +
               "','attributes':{'n':{'int':" + std::to_string(i) + "}}}";
  }
  problem.Slice("d", "p", "'devices':[" + devices + "]");
  problem.Claim("'requests':[" + Request("r", 1, "", "shared") + "]");
  Allocator allocator(problem.inventory(), {}, {.evaluations = {.cost = 25'000}});
  const PreparedPtr prepared = allocator.Prepare(problem.claims());
  const Outcome outcome = allocator.Allocate(prepared, problem.node(), problem.state());
  EXPECT_EQ(outcome.verdict, Verdict::kUnfinished);
  EXPECT_LE(allocator.work().evaluations, 4U);
}

// A long search ends between two steps: told to when all devices are known, it has little left.
TEST(AttemptStopTest, EndsALongSearch) {
  constexpr int kTaken = 16;
  TestProblem problem;
  problem.Class("d", "device.driver == 'd'");
  std::string devices;
  for (int i = 0; i < kTaken; ++i) {
    devices += (i == 0 ? "" : ",") + std::string("{'name':'d") + std::to_string(i) + "'}";
  }
  problem.Slice("d", "p", "'devices':[" + devices + "]");
  std::string requests;
  for (int i = 0; i <= kTaken; ++i) {
    requests += (i == 0 ? "" : ",") + Request("r" + std::to_string(i), 1, "", "d");
  }
  problem.Claim("'requests':[" + requests + "]");
  std::atomic<bool> stop = false;
  int evaluated = 1;
  Allocator allocator(problem.inventory(),
                      {.plain = true},
                      {.evaluations = {.cost = 1,
                                       .more =
                                           [&] {
                                             stop = ++evaluated == kTaken;
                                             return true;
                                           },
                                       .stop = &stop}});
  const PreparedPtr prepared = allocator.Prepare(problem.claims());
  const Outcome outcome = allocator.Allocate(prepared, problem.node(), problem.state());
  EXPECT_EQ(TestProblem::Text(outcome), "unfinished");
  EXPECT_GT(outcome.steps, 16U);
  EXPECT_LE(outcome.steps, 256U);
  EXPECT_EQ(allocator.work().evaluations, 16U);
}

// Devices that others hold are no steps of a search, but work of the attempt.
TEST(AttemptStopTest, DevicesPassedOverCount) {
  constexpr int kHeld = 640;
  TestProblem problem;
  std::string devices;
  for (int i = 0; i < kHeld; ++i) {
    const std::string name = "d" + std::to_string(i);
    devices += (i == 0 ? "" : ",") + std::string("{'name':'") + name + "'}";
    problem.Hold("d", "p", name, name);
  }
  problem.Slice("d", "p", "'devices':[" + devices + "]");
  problem.Claim("'requests':[" + Request("r") + "]");
  for (const bool plain : {true, false}) {
    Allocator allocator(problem.inventory(), {.plain = plain, .plain_trials = 0}, {.steps = 8});
    allocator.BeginAttempt();
    const Outcome outcome =
        allocator.Allocate(allocator.Prepare(problem.claims()), problem.node(), problem.state());
    EXPECT_EQ(TestProblem::Text(outcome), "infeasible");
    EXPECT_LE(outcome.steps, 2U);
    EXPECT_TRUE(allocator.OutOfSteps()) << plain;
  }
}

}  // namespace
}  // namespace allot::allocator
