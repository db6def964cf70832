// The pruned search against the plain one: all small instances, and random problems over all
// features.
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "analysis/answer_case.h"
#include "differential/answers.h"
#include "differential/problems.h"
#include "snapshot/allocation_case.h"

namespace allot::testing {
namespace {

std::uint64_t Scale() {
  const char* const text = std::getenv("ALLOT_DIFFERENTIAL_SCALE");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 1;
}

void Compare(const std::string& problem, const std::string& name) {
  const auto plain = Solve(problem, {.steps = 3'000'000, .plain = true}, false);
  const auto pruned = Solve(problem, {.plain_trials = 0}, true);
  ASSERT_TRUE(plain) << name << plain.error().message();
  ASSERT_TRUE(pruned) << name;
  if (plain->answer.outcome == "timeout") {
    return;  // the plain search gave up; the pruned one may know more
  }
  const std::string difference = Difference(pruned->answer, plain->answer);
  ASSERT_TRUE(difference.empty()) << name << ": " << difference << "\n" << problem;
}

TEST(SearchTest, EverySmallInstance) {
  // All of them with a large scale; a fixed stride through them otherwise.
  const std::uint64_t stride = Scale() > 1 ? 1 : 1999;
  for (std::uint64_t n = 0; n < ExhaustiveCount(); n += stride) {
    Compare(ExhaustiveProblem(n), "instance " + std::to_string(n));
    if (HasFatalFailure()) {
      return;
    }
  }
}

TEST(SearchTest, EverySmallInstanceOfEqualCounterSets) {
  const std::uint64_t stride = Scale() > 1 ? 1 : 199;
  for (std::uint64_t n = 0; n < ExhaustiveSetCount(); n += stride) {
    Compare(ExhaustiveSetProblem(n), "instance " + std::to_string(n));
    if (HasFatalFailure()) {
      return;
    }
  }
}

TEST(SearchTest, RandomEqualCounterSets) {
  for (std::uint64_t seed = 0; seed < 2000 * Scale(); ++seed) {
    Compare(SetProblem(seed), "seed " + std::to_string(seed));
    if (HasFatalFailure()) {
      return;
    }
  }
}

class RandomSearchTest : public ::testing::TestWithParam<ProblemMix> {};

TEST_P(RandomSearchTest, PrunedEqualsPlain) {
  for (std::uint64_t seed = 0; seed < 500 * Scale(); ++seed) {
    Compare(RandomProblem(seed, GetParam()), "seed " + std::to_string(seed));
    if (HasFatalFailure()) {
      return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Mixes,
                         RandomSearchTest,
                         ::testing::Values(ProblemMix::kBasic,
                                           ProblemMix::kEverything,
                                           ProblemMix::kWide),
                         [](const auto& info) {
                           return info.param == ProblemMix::kBasic        ? "Basic"
                                  : info.param == ProblemMix::kEverything ? "Everything"
                                                                          : "Wide";
                         });

// Problems that look-ahead does not help with: its steps run out, the plain search's do not.
TEST(SearchTest, WhatThePlainSearchDecidesIsNotGivenUp) {
  for (const std::uint64_t seed : {204552U, 230442U, 284093U, 286542U}) {
    Compare(WideProblem(seed), "seed " + std::to_string(seed));
  }
}

// Whatever the reason is, there is a cause to name, and explaining changes nothing.
TEST(DiagnosisTest, EveryRefusalHasACause) {
  for (std::uint64_t seed = 0; seed < 300 * Scale(); ++seed) {
    const std::string text = WideProblem(seed);
    const auto problem = snapshot::ParseAllocationCase(text);
    ASSERT_TRUE(problem) << problem.error().message();
    const auto diagnosis = analysis::DiagnoseCase(*problem, {});
    const auto answer = Solve(text, {}, 0);
    ASSERT_TRUE(answer);
    const bool fits = answer->answer.outcome == "allocated";
    ASSERT_EQ(diagnosis.reasons.empty(), fits) << text;
    ASSERT_EQ(diagnosis.causes.empty(), fits) << text;
    if (!answer->answer.error.empty()) {
      ASSERT_EQ(diagnosis.reasons.front(), answer->answer.error);
    }
  }
}

std::string OneDevice(const std::string& device, const std::string& request) {
  return R"({"id":"h","node":{"metadata":{"name":"n1"}},"classes":[{"metadata":{"name":"any"},"spec":{}}],)"
         R"("slices":[{"metadata":{"name":"s"},"spec":{"driver":"x","pool":{"name":"p","generation":1,)"
         R"("resourceSliceCount":1},"nodeName":"n1","devices":[{"name":"d")" +
         device +
         R"(}]}}],"claims":[{"metadata":{"name":"c","namespace":"default"},"spec":{"devices":{"requests":[)"
         R"({"name":"r","exactly":{"deviceClassName":"any","allocationMode":"ExactCount")" +
         request + "}}]}}}]}";
}

// Objects no API server accepts, but a file may hold: errors, never crashes.
TEST(HostileInputTest, IsRefused) {
  const auto negative = Solve(OneDevice("", R"(,"count":-1)"), {}, false);
  ASSERT_TRUE(negative);
  EXPECT_EQ(negative->answer.outcome, "fatal");
  const auto step = Solve(
      OneDevice(
          R"(,"allowMultipleAllocations":true,"capacity":{"m":{"value":"8","requestPolicy":{"validRange":{"step":"2"}}}})",
          R"(,"count":1,"capacity":{"requests":{"m":"3"}})"),
      {},
      false);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->answer.outcome, "fatal");
}

TEST(OracleTest, RandomProblemsLikeTheRealAllocator) {
  const char* const path = std::getenv("ALLOT_ORACLE_ALLOCATOR");
  if (path == nullptr || *path == '\0') {
    GTEST_SKIP()
        << "ALLOT_ORACLE_ALLOCATOR does not name the real allocator (it needs Go to build)";
  }
  std::vector<std::string> problems;
  for (std::uint64_t seed = 0; seed < 400 * Scale(); ++seed) {
    problems.push_back(RandomProblem(seed, ProblemMix::kEverything));
  }
  const auto answers = Oracle(path).Ask(problems);
  ASSERT_TRUE(answers) << answers.error().message();
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const auto expected = ParseAnswer((*answers)[i], /*expected=*/false);
    ASSERT_TRUE(expected);
    if (expected->answer.outcome == "timeout" || expected->answer.outcome == "panic") {
      continue;
    }
    const auto got = Solve(problems[i], {}, true);
    ASSERT_TRUE(got);
    EXPECT_EQ(Difference(got->answer, expected->answer), "") << problems[i];
  }
}

}  // namespace
}  // namespace allot::testing
