#include "apiserver/table.h"

#include <string>

#include <gtest/gtest.h>

#include "api/core/v1.gen.h"
#include "api/resource/v1.gen.h"
#include "apiserver/json_text.h"

namespace allot::apiserver {
namespace {

TEST(TableTest, HumanDurations) {
  struct Case {
    std::int64_t seconds;
    std::string text;
  };
  const Case cases[] = {
      {-5, "<invalid>"},  {0, "0s"},        {119, "119s"},      {120, "2m"},       {192, "3m12s"},
      {599, "9m59s"},     {600, "10m"},     {10799, "179m"},    {10800, "3h"},     {11520, "3h12m"},
      {28800, "8h"},      {172799, "47h"},  {172800, "2d"},     {176400, "2d1h"},  {691200, "8d"},
      {31536000, "365d"}, {63072000, "2y"}, {63158400, "2y1d"}, {252288000, "8y"},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(HumanDuration(one.seconds), one.text) << one.seconds;
  }
}

std::string CellsOf(const schema::TypeDesc& type, const void* root, std::int64_t now) {
  std::string out = "[";
  CellWriter writer(out, now);
  FindPrinter(type)->cells(root, writer);
  return out + "]";
}

TEST(TableTest, ClaimStates) {
  api::resource::ResourceClaim claim;
  claim.metadata.name = "c";
  claim.metadata.creation_timestamp = {1000, 0, true};
  const schema::TypeDesc& type = api::Desc<api::resource::ResourceClaim>();
  EXPECT_EQ(CellsOf(type, &claim, 1005), R"(["c","pending","5s"])");
  const api::resource::AllocationResult allocation;
  claim.status.allocation = &allocation;
  EXPECT_EQ(CellsOf(type, &claim, 1005), R"(["c","allocated","5s"])");
  const api::resource::ResourceClaimConsumerReference consumer;
  claim.status.reserved_for = {&consumer, 1};
  const quantity::Time deleted = {1001, 0, true};
  claim.metadata.deletion_timestamp = &deleted;
  EXPECT_EQ(CellsOf(type, &claim, 1005), R"(["c","deleted,allocated,reserved","5s"])");
}

TEST(TableTest, PodWithAWaitingContainer) {
  api::core::Pod pod;
  pod.metadata.name = "p";
  pod.status.phase = "Pending";
  const api::core::Container container;
  pod.spec.containers = {&container, 1};
  const schema::TypeDesc& type = api::Desc<api::core::Pod>();
  EXPECT_EQ(
      CellsOf(type, &pod, 0),
      R"(["p","0/1","Pending","0","\u003cunknown\u003e","\u003cnone\u003e","\u003cnone\u003e",)"
      R"("\u003cnone\u003e","\u003cnone\u003e"])");
  api::core::ContainerStateWaiting waiting;
  waiting.reason = "CrashLoopBackOff";
  api::core::ContainerStatus status;
  status.state.waiting = &waiting;
  status.restart_count = 2;
  pod.status.container_statuses = {&status, 1};
  EXPECT_TRUE(CellsOf(type, &pod, 0).starts_with(R"(["p","0/1","CrashLoopBackOff","2",)"));
}

TEST(JsonTextTest, Pretty) {
  EXPECT_EQ(
      PrettyJson(R"({"a":[1,{"b":"x,y"}],"c":{},"d":[]})"),
      "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"x,y\"\n    }\n  ],\n  \"c\": {},\n  \"d\": "
      "[]\n}\n");
}

}  // namespace
}  // namespace allot::apiserver
