#include "api/line_diff.h"

#include <string>

#include <gtest/gtest.h>

namespace allot::api {
namespace {

struct Case {
  const char* name;
  const char* before;
  const char* after;
  const char* diff;
};

class UnifiedDiffTest : public ::testing::TestWithParam<Case> {};

TEST_P(UnifiedDiffTest, AsDifflib) {
  EXPECT_EQ(UnifiedDiff(GetParam().before, GetParam().after), GetParam().diff);
}

INSTANTIATE_TEST_SUITE_P(
    LineDiff,
    UnifiedDiffTest,
    ::testing::Values(
        Case{"Equal", "a\nb", "a\nb", ""},
        Case{"OneLine", "a", "b", "@@ -1 +1 @@\n-a\n+b\n"},
        Case{"Middle",
             "1\n2\n3\n4\n5\n6\n7\n8\n9",
             "1\n2\n3\n4\nX\n6\n7\n8\n9",
             "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+X\n 6\n 7\n 8\n"},
        Case{"Added", "1\n2", "1\n2\n3", "@@ -1,2 +1,3 @@\n 1\n 2\n+3\n"},
        Case{"Removed", "1\n2\n3", "2\n3", "@@ -1,3 +1,2 @@\n-1\n 2\n 3\n"},
        Case{"TwoGroups",
             "a\n1\n2\n3\n4\n5\n6\n7\nb",
             "A\n1\n2\n3\n4\n5\n6\n7\nB",
             "@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n"},
        Case{"OneGroupWhenNear",
             "a\n1\n2\n3\n4\n5\n6\nb",
             "A\n1\n2\n3\n4\n5\n6\nB",
             "@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B\n"}),
    [](const auto& spec) { return spec.param.name; });

}  // namespace
}  // namespace allot::api
