// The recorded answers of Kubernetes 1.37.2 to 1,200 problems: plain and pruned search, input
// shuffled.
#include <string>

#include <gtest/gtest.h>

#include "differential/answers.h"

namespace allot::testing {
namespace {

struct Variant {
  const char* name;
  allocator::Limits limits;
  bool shuffled;
  bool steps;
};

class GoldenTest : public ::testing::TestWithParam<Variant> {};

TEST_P(GoldenTest, AnswersLikeTheRealAllocator) {
  const auto lines = ReadLines(ALLOT_GOLDEN);
  ASSERT_TRUE(lines) << lines.error().message();
  int failed = 0;
  for (const std::string& line : *lines) {
    const auto expected = ParseAnswer(line, /*expected=*/true);
    ASSERT_TRUE(expected) << expected.error().message();
    const auto got = Solve(line, GetParam().limits, GetParam().shuffled);
    if (!got) {
      ADD_FAILURE() << expected->answer.id << ": " << got.error().message();
      ++failed;
      continue;
    }
    std::string difference = Difference(got->answer, expected->answer);
    // The stable rules walk permutations; ours walks combinations and finds the same answer.
    if (difference.empty() && GetParam().steps && expected->answer.implementation != "stable" &&
        got->answer.steps != expected->answer.steps) {
      difference = "steps " + std::to_string(got->answer.steps) + ", expected " +
                   std::to_string(expected->answer.steps);
    }
    if (!difference.empty()) {
      ADD_FAILURE() << expected->answer.id << ": " << difference;
      ++failed;
    }
  }
  std::printf("%zu problems, %d differ\n", lines->size(), failed);
}

INSTANTIATE_TEST_SUITE_P(
    All,
    GoldenTest,
    ::testing::Values(Variant{"Plain", {.steps = 100'000'000, .plain = true}, false, true},
                      Variant{"Usual", {}, true, false},
                      Variant{"PrunedFromTheStart", {.plain_trials = 0}, false, false}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace allot::testing
