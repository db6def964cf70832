// Single allocation problems with a name each, answered by Kubernetes 1.37.2: the worked examples
// of the semantics, public bug reports, and the shapes of the scheduler's benchmark.
//
// data/examples.jsonl, reports.jsonl, shapes.jsonl, variants.jsonl (the stable rules), found.jsonl
// (once answered wrongly): one case a line, its answer in `expected`. Every case is solved by the
// plain search (whose steps are compared too), by the pruned one, and with the inputs in other
// orders.
#include <string>

#include <gtest/gtest.h>

#include "differential/answers.h"

namespace allot::testing {
namespace {

class ExampleTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ExampleTest, AnswersLikeTheRealAllocator) {
  const auto lines = ReadLines(std::string(ALLOT_CASES) + GetParam());
  ASSERT_TRUE(lines) << lines.error().message();
  for (const std::string& line : *lines) {
    const auto expected = ParseAnswer(line, /*expected=*/true);
    ASSERT_TRUE(expected) << expected.error().message();
    SCOPED_TRACE(expected->answer.id);
    const auto plain = Solve(line, {.plain = true}, 0);
    ASSERT_TRUE(plain) << plain.error().message();
    EXPECT_EQ(Difference(plain->answer, expected->answer), "");
    if (expected->answer.implementation != "stable") {  // which walks permutations
      EXPECT_EQ(plain->answer.steps, expected->answer.steps);
    }
    for (std::uint64_t shuffle = 0; shuffle < 6; ++shuffle) {
      const auto usual = Solve(line, {}, shuffle);
      const auto pruned = Solve(line, {.plain_trials = 0}, shuffle);
      ASSERT_TRUE(usual && pruned);
      EXPECT_EQ(Difference(usual->answer, expected->answer), "") << "shuffle " << shuffle;
      EXPECT_EQ(Difference(pruned->answer, expected->answer), "") << "pruned, " << shuffle;
    }
  }
  std::printf("%zu cases\n", lines->size());
}

INSTANTIATE_TEST_SUITE_P(Files,
                         ExampleTest,
                         ::testing::Values("examples.jsonl",
                                           "reports.jsonl",
                                           "shapes.jsonl",
                                           "variants.jsonl",
                                           "found.jsonl"),
                         [](const auto& info) {
                           const std::string name = info.param;
                           return name.substr(0, name.find('.'));
                         });

// The same on a scale that the real allocator cannot answer: it would take it half an hour and
// more.
TEST(ExampleTest, ThirtyTwoOfThirtyOneIsImpossible) {
  std::string devices;
  for (int i = 0; i < 31; ++i) {
    devices += (i == 0 ? "" : ",") + std::string(R"({"name":"d)") + std::to_string(i) + R"("})";
  }
  const auto got = Solve(
      R"({"id":"S06","node":{"metadata":{"name":"n1"}},"classes":[{"metadata":{"name":"any"},"spec":{}}],)"
      R"("slices":[{"metadata":{"name":"s"},"spec":{"driver":"x","pool":{"name":"p","generation":1,)"
      R"("resourceSliceCount":1},"nodeName":"n1","devices":[)" +
          devices +
          R"(]}}],"claims":[{"metadata":{"name":"c","namespace":"default"},"spec":{"devices":{"requests":[)"
          R"({"name":"r","exactly":{"deviceClassName":"any","allocationMode":"ExactCount","count":32}}]}}}]})",
      {},
      0);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->answer.outcome, "infeasible");
  EXPECT_LT(got->answer.steps, 100U);
}

}  // namespace
}  // namespace allot::testing
