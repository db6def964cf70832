#include "allocator/capacity.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "allocator/problem_test.h"

namespace allot::allocator {
namespace {

struct Case {
  const char* name;
  const char* capacity;   // of the device
  const char* request;    // empty: capacity not asked for
  bool fractional;        // the gate
  const char* consumed;   // or a part of the error
  bool violates = false;  // its policy
};

class CapacityTest : public ::testing::TestWithParam<Case> {};

TEST_P(CapacityTest, ConsumesWhatUpstreamConsumes) {
  const Case& test = GetParam();
  TestProblem problem;
  problem.Slice(
      "x",
      "p",
      std::string("'devices':[{'name':'d','allowMultipleAllocations':true,'capacity':{'m':") +
          test.capacity + "}}]");
  base::Arena arena;
  const auto* const wanted = Decode<api::resource::CapacityRequirements>(
      *test.request == '\0' ? "{}" : "{'requests':{'m':'" + std::string(test.request) + "'}}",
      arena);
  const auto slice = problem.inventory().Slices().front();
  const inventory::Device& device = slice->devices.front();
  std::vector<CapacityAmount> amounts;
  const auto done = ConsumptionOf(&wanted->requests, device, test.fractional, amounts);
  if (!done) {
    EXPECT_NE(std::string(done.error().message()).find(test.consumed), std::string::npos)
        << done.error().message();
    return;
  }
  ASSERT_EQ(amounts.size(), 1U);
  EXPECT_EQ(amounts[0].amount.ToString(), test.consumed);
  EXPECT_EQ(
      ViolatesPolicy(
          amounts[0].amount, device.spec->capacity.front().value.request_policy, test.fractional),
      test.violates);
}

constexpr const char* kStep =
    "{'value':'16','requestPolicy':{'default':'2','validRange':{'min':'2','step':'4','max':'10'}}}";
constexpr const char* kMilli =
    "{'value':'1','requestPolicy':{'default':'100m','validRange':{'min':'100m','step':'100m'}}}";
constexpr const char* kValues =
    "{'value':'8','requestPolicy':{'default':'1','validValues':['1','2','4','8']}}";

INSTANTIATE_TEST_SUITE_P(
    Policies,
    CapacityTest,
    ::testing::Values(
        Case{"WholeWithoutPolicy", "{'value':'8'}", "", false, "8"},
        Case{"AsRequestedWithoutPolicy", "{'value':'8'}", "3", false, "3"},
        Case{"Default", kStep, "", false, "2"},
        Case{"BelowMinimum", kStep, "1", false, "2"},
        Case{"UpToTheNextStep", kStep, "3", false, "6"},
        Case{"OnAStep", kStep, "6", false, "6"},
        Case{"PastTheMaximum", kStep, "11", false, "14", true},
        Case{"MilliSteps", kMilli, "250m", true, "300m"},
        Case{"MilliStepsWithTheGateOff", kMilli, "250m", false, "1"},
        Case{"NotAMilliValue",
             kMilli,
             "150500u",
             true,
             "150500u is not a representable milli value"},
        Case{"NextValue", kValues, "3", false, "4"},
        Case{"NoSuchValue", kValues, "9", false, "9", true},
        Case{"RangeWithoutStep",
             "{'value':'8','requestPolicy':{'validRange':{'min':'1'}}}",
             "1500u",
             true,
             "1"},
        Case{"BeyondWholeNumbers",
             "{'value':'20E','requestPolicy':{'default':'1','validRange':{'min':'1','step':'2'}}}",
             "10E",
             false,
             "exceeds MaxInt64"},
        Case{"RoundingBeyondMilli",
             "{'value':'20E','requestPolicy':{'default':'1','validRange':{'min':'1','step':'2'}}}",
             "9223372036854775806",
             true,
             "is not a representable milli value"},
        Case{"NegativeValue", "{'value':'-1'}", "", false, "capacity value is negative"},
        Case{"StepWithoutMinimum",
             "{'value':'8','requestPolicy':{'validRange':{'step':'2'}}}",
             "3",
             false,
             "validRange.step needs validRange.min"},
        Case{"StepOfNothing",
             "{'value':'8','requestPolicy':{'validRange':{'min':'1','step':'0'}}}",
             "3",
             false,
             "validRange.step must be positive"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(CapacityTest, UnknownNames) {
  TestProblem problem;
  problem.Slice("x", "p", "'devices':[{'name':'d','capacity':{'m':{'value':'8'}}}]");
  base::Arena arena;
  const auto slice = problem.inventory().Slices().front();
  const auto* const known =
      Decode<api::resource::CapacityRequirements>("{'requests':{'m':'9'}}", arena);
  const auto* const other =
      Decode<api::resource::CapacityRequirements>("{'requests':{'n':'1'}}", arena);
  EXPECT_FALSE(AsksForUnknownCapacity(nullptr, slice->devices.front()));
  EXPECT_FALSE(AsksForUnknownCapacity(&known->requests, slice->devices.front()));
  EXPECT_TRUE(AsksForUnknownCapacity(&other->requests, slice->devices.front()));
}

struct SumCase {
  const char* name;
  std::int64_t held;        // of the device by another claim
  const char* requests[2];  // of one claim; empty: none
  const char* outcome;
  const char* explained;  // a part of it
};

class CapacitySumTest : public ::testing::TestWithParam<SumCase> {};

TEST_P(CapacitySumTest, IsNeverBelowItsParts) {
  const SumCase& test = GetParam();
  TestProblem problem;
  problem.Slice("x",
                "p",
                "'devices':[{'name':'d','allowMultipleAllocations':true,'capacity':{'m':{'value':"
                "'10'}}}]");
  if (test.held != 0) {
    problem.Hold("x", "p", "d", "other", "m", test.held);
  }
  std::string requests;
  for (const char* const amount : test.requests) {
    if (*amount != '\0') {
      requests += (requests.empty() ? "" : ",") +
                  Request("r" + std::to_string(requests.size()),
                          1,
                          ",'capacity':{'requests':{'m':'" + std::string(amount) + "'}}");
    }
  }
  problem.Claim("'requests':[" + requests + "]");
  for (const std::uint64_t trials : {std::uint64_t{64}, std::uint64_t{0}}) {
    EXPECT_EQ(TestProblem::Text(problem.Solve({.plain_trials = trials})), test.outcome);
  }
  if (*test.explained != '\0') {
    const NodeDiagnosis diagnosis = problem.Diagnose();
    ASSERT_FALSE(diagnosis.causes.empty());
    EXPECT_NE(diagnosis.causes.front().example.find(test.explained), std::string::npos)
        << diagnosis.causes.front().example;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shares,
    CapacitySumTest,
    ::testing::Values(SumCase{"Fits", 3, {"4", "3"}, "d d", ""},
                      SumCase{
                          "BesideAShare", 1, {"1e30", ""}, "infeasible", "of which 1 is in use"},
                      SumCase{"BesideAnother", 0, {"1", "1e30"}, "infeasible", ""},
                      SumCase{"Two", 0, {"1e30", "1e30"}, "infeasible", ""}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace allot::allocator
