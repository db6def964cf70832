#include "cli/reported.h"

#include <string>

#include <gtest/gtest.h>

#include "text/json.h"

namespace allot::cli {
namespace {

struct Case {
  const char* name;
  std::string items;
  std::string text;
};

std::string Event(const std::string& reason, const std::string& message, int minute) {
  return R"({"reason":")" + reason + R"(","message":")" + message +
         R"(","lastTimestamp":"2026-01-01T00:0)" + std::to_string(minute) + R"(:00Z"})";
}

class ReportedTest : public ::testing::TestWithParam<Case> {};

TEST_P(ReportedTest, NamesTheCause) {
  const auto events = text::ParseJson(R"({"items":[)" + GetParam().items + "]}");
  ASSERT_TRUE(events);
  EXPECT_EQ(ReportedText(*events), GetParam().text);
}

const std::string kQuota = "PodResourceClaim x: resource claim creation failed: exceeded quota: q";

INSTANTIATE_TEST_SUITE_P(
    Events,
    ReportedTest,
    ::testing::Values(
        Case{"None", "", ""},
        Case{"OthersAreLeftOut", Event("FailedScheduling", "0/1 nodes", 1), ""},
        Case{"Quota",
             Event("FailedResourceClaimCreation", kQuota, 1),
             "\nReported by others:\n  QuotaRefused\n    for example: " + kQuota +
                 "\n    what helps:  delete claims that count against the quota, or have it "
                 "raised\n"},
        Case{"TheLatestCounts",
             Event("FailedResourceClaimCreation", "no template", 2) + "," +
                 Event("FailedResourceClaimCreation", kQuota, 1),
             "\nReported by others:\n  ClaimNotCreated\n    for example: no template\n    what "
             "helps:  correct the template; the controller tries again\n"},
        Case{"Prepare",
             Event("FailedPrepareDynamicResources", "plugin x is not registered", 1),
             "\nReported by others:\n  PrepareFailed\n    for example: plugin x is not "
             "registered\n    what helps:  look at the driver on the pod's node: its log, and "
             "whether it runs\n"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(ReportedTextTest, AnythingElseIsNothing) {
  EXPECT_EQ(ReportedText(text::Value()), "");
}

}  // namespace
}  // namespace allot::cli
