#include "snapshot/allocation_case.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace allot::snapshot {
namespace {

TEST(AllocationCaseTest, ReadsEveryPart) {
  const auto read = ParseAllocationCase(
      R"({"id":"1","features":{"base":"none","AdminAccess":true},"implementation":"stable",)"
      R"("node":{"metadata":{"name":"n"}},"classes":[{"metadata":{"name":"c"}}],)"
      R"("slices":[{"metadata":{"name":"s"}}],"claims":[{"metadata":{"name":"x"}}],)"
      R"("allocated":{"devices":[{"driver":"d","pool":"p","device":"a"}],)"
      R"("consumedCapacity":[{"driver":"d","pool":"p","device":"b","capacity":{"m":"1Gi","n":2}}]}})");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->id, "1");
  EXPECT_TRUE(read->features.admin_access);
  EXPECT_FALSE(read->features.prioritized_list);
  EXPECT_EQ(read->unsupported, "");
  EXPECT_EQ(read->node->metadata.name, "n");
  EXPECT_EQ(read->classes.size(), 1U);
  EXPECT_EQ(read->slices.size(), 1U);
  EXPECT_EQ(read->claims.size(), 1U);
  ASSERT_EQ(read->allocated.size(), 2U);
  EXPECT_FALSE(read->allocated[0].shared);
  EXPECT_TRUE(read->allocated[1].shared);
  ASSERT_EQ(read->allocated[1].consumed.size(), 2U);
  EXPECT_EQ(read->allocated[1].consumed[0].name, "m");
}

struct BadCase {
  std::string_view name;
  std::string_view line;
  std::string_view error;
};

class BadCaseTest : public ::testing::TestWithParam<BadCase> {};

TEST_P(BadCaseTest, IsAnError) {
  const auto read = ParseAllocationCase(GetParam().line);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message(), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    All,
    BadCaseTest,
    ::testing::Values(BadCase{"NoNode", R"({"id":"1"})", "node is missing"},
                      BadCase{"NodeIsAText", R"({"node":"n"})", "node is missing"},
                      BadCase{"UnknownFeature",
                              R"({"node":{},"features":{"Magic":true}})",
                              R"(unknown feature "Magic")"},
                      BadCase{"FeatureIsAText",
                              R"({"node":{},"features":{"AdminAccess":"yes"}})",
                              R"(feature "AdminAccess" is neither true nor false)"},
                      BadCase{"UnknownBase",
                              R"({"node":{},"features":{"base":"some"}})",
                              R"(features.base "some" is not one of default, none, all)"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(AllocationCaseTest, RulesThatCannotServeTheFeaturesAreNamed) {
  const auto older =
      ParseAllocationCase(R"({"node":{},"implementation":"stable","features":{"base":"all"}})");
  ASSERT_TRUE(older);
  EXPECT_EQ(older->unsupported, "the stable rules do not know all enabled features");
  const auto unknown = ParseAllocationCase(R"({"node":{},"implementation":"next"})");
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->unsupported, R"(unknown implementation "next")");
}

TEST(AllocationCaseTest, AnswersAreOneLine) {
  AllocationAnswer answer{.id = "a\"b",
                          .outcome = "infeasible",
                          .results = {},
                          .error = "why",
                          .implementation = "stable",
                          .steps = 3};
  EXPECT_EQ(
      FormatAllocationAnswer(answer),
      R"({"id":"a\"b","outcome":"infeasible","results":null,"error":"why","implementation":"stable","steps":3})");
  answer = {.id = "1",
            .outcome = "allocated",
            .results = {api::resource::AllocationResult()},
            .error = "",
            .implementation = "",
            .steps = 0};
  EXPECT_EQ(FormatAllocationAnswer(answer),
            R"({"id":"1","outcome":"allocated","results":[{"devices":{}}],"steps":0})");
}

}  // namespace
}  // namespace allot::snapshot
