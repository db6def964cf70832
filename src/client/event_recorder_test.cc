#include "client/event_recorder.h"

#include <string>

#include <gtest/gtest.h>

#include "api/core/v1.gen.h"
#include "api/events/v1.gen.h"
#include "base/clock.h"
#include "testing/fake_api.h"

namespace allot::client {
namespace {

using std::chrono::seconds;

class RecorderTest : public ::testing::Test {
 protected:
  EventSubject Pod(Revision revision = 5) {
    return {.api_version = "v1",
            .kind = "Pod",
            .ns = "ns",
            .name = "p",
            .uid = "u",
            .revision = revision};
  }
  base::FakeClock clock;
  Loop loop{clock};
  allot::testing::FakeApi api{clock};
  LocalClient client{api, {.user = "test", .groups = {}}};
};

TEST_F(RecorderTest, RepeatsBecomeASeriesOfTheFirstEvent) {
  EventRecorder recorder(
      client, loop, {.api = EventApi::kEventsV1, .component = "default-scheduler", .host = "h"});
  for (int i = 0; i < 5; ++i) {
    recorder.Record(Pod(),
                    EventSeverity::kWarning,
                    "FailedScheduling",
                    "Scheduling",
                    "text " + std::to_string(i));
    loop.RunUntilIdle();
    clock.Advance(seconds(1));
  }
  const auto events = api.All<api::events::Event>();
  ASSERT_EQ(events.size(), 1U);
  const api::events::Event& event = *events[0];
  EXPECT_EQ(event.note, "text 0");
  EXPECT_EQ(event.type, "Warning");
  EXPECT_EQ(event.reporting_controller, "default-scheduler");
  EXPECT_EQ(event.reporting_instance, "default-scheduler-h");
  EXPECT_EQ(event.regarding.resource_version, "5");
  ASSERT_NE(event.series, nullptr);
  EXPECT_EQ(event.series->count, 2) << "later repeats are not written one by one";
  EXPECT_EQ(recorder.stats().created, 1U);
  EXPECT_EQ(recorder.stats().patched, 1U);
}

TEST_F(RecorderTest, AnotherVersionOfTheObjectIsAnotherEvent) {
  EventRecorder recorder(client, loop, {.api = EventApi::kEventsV1, .component = "c"});
  recorder.Record(Pod(5), EventSeverity::kWarning, "FailedScheduling", "Scheduling", "a");
  recorder.Record(Pod(6), EventSeverity::kWarning, "FailedScheduling", "Scheduling", "b");
  loop.RunUntilIdle();
  EXPECT_EQ(api.All<api::events::Event>().size(), 2U);
}

TEST_F(RecorderTest, ASeriesEndsAfterSixMinutes) {
  EventRecorder recorder(client, loop, {.api = EventApi::kEventsV1, .component = "c"});
  recorder.Record(Pod(), EventSeverity::kNormal, "R", "A", "a");
  clock.Advance(seconds(400));
  recorder.Record(Pod(), EventSeverity::kNormal, "R", "A", "b");
  loop.RunUntilIdle();
  EXPECT_EQ(api.All<api::events::Event>().size(), 2U);
}

TEST_F(RecorderTest, CoreEventsCountEqualMessages) {
  EventRecorder recorder(client, loop, {.api = EventApi::kCoreV1, .component = "resource_claim"});
  for (int i = 0; i < 3; ++i) {
    recorder.Record(Pod(), EventSeverity::kWarning, "Failed", "", "the \"same\"");
    loop.RunUntilIdle();
  }
  recorder.Record(Pod(), EventSeverity::kWarning, "Failed", "", "another");
  loop.RunUntilIdle();
  const auto events = api.All<api::core::Event>();
  ASSERT_EQ(events.size(), 2U);
  const api::core::Event& first = events[0]->count == 3 ? *events[0] : *events[1];
  EXPECT_EQ(first.count, 3);
  EXPECT_EQ(first.message, "the \"same\"");
  EXPECT_EQ(first.source.component, "resource_claim");
}

TEST_F(RecorderTest, ManySimilarEventsAreCombinedAndThenLimited) {
  EventRecorder recorder(client, loop, {.api = EventApi::kCoreV1, .component = "c"});
  for (int i = 0; i < 30; ++i) {
    recorder.Record(Pod(), EventSeverity::kWarning, "Failed", "", "message " + std::to_string(i));
    loop.RunUntilIdle();
  }
  const auto events = api.All<api::core::Event>();
  EXPECT_EQ(events.size(), 10U) << "nine of their own and a combined one";
  EXPECT_EQ(recorder.stats().dropped, 5U) << "25 at once for one object";
  bool combined = false;
  for (const auto& event : events) {
    combined |= event->message == "(combined from similar events): message 24";
  }
  EXPECT_TRUE(combined);
}

TEST_F(RecorderTest, LongMessagesAreCut) {
  EventRecorder recorder(client, loop, {.api = EventApi::kEventsV1, .component = "c"});
  recorder.Record(Pod(), EventSeverity::kNormal, "R", "A", std::string(2000, 'x'));
  loop.RunUntilIdle();
  const auto events = api.All<api::events::Event>();
  EXPECT_EQ(events[0]->note.size(), 1024U);
  EXPECT_TRUE(events[0]->note.ends_with("x ..."));
}

}  // namespace
}  // namespace allot::client
