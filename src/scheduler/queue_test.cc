#include "scheduler/queue.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "schema/type_desc.h"

namespace allot::scheduler {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const schema::TypeDesc kType{.name = "Pod"};

class QueueTest : public ::testing::Test {
 protected:
  QueuedPod& Add(const std::string& uid, std::int32_t priority = 0, bool gated = false) {
    const schema::ObjectHeader header{.type = &kType, .namespace_ = "ns", .name = uid, .uid = uid};
    return queue.Upsert(schema::Object::Make(header, ""), priority, gated, now);
  }
  std::string Pop() {
    QueuedPod* const pod = queue.Pop(now);
    return pod != nullptr ? pod->uid : "";
  }
  void Fail(const std::string& uid, const std::string& group = "", Waits waits = kWaitsAll) {
    queue.Unschedulable(*queue.Find(uid), waits, group, now);
  }
  void Pass(std::chrono::nanoseconds by) {
    now += by;
    queue.Tick(now);
  }

  base::MonoTime now{seconds(1000)};
  SchedulingQueue queue;
};

TEST_F(QueueTest, PriorityThenAge) {
  Add("a");
  now += milliseconds(1);
  Add("b");
  now += milliseconds(1);
  Add("high", 10);
  EXPECT_EQ(Pop(), "high");
  EXPECT_EQ(Pop(), "a");
  EXPECT_EQ(Pop(), "b");
  EXPECT_EQ(Pop(), "");
}

TEST_F(QueueTest, GatedPodsAreNotTried) {
  Add("a", 0, /*gated=*/true);
  EXPECT_EQ(Pop(), "");
  EXPECT_EQ(queue.Count(PodState::kGated), 1U);
  Add("a", 0, /*gated=*/false);
  EXPECT_EQ(Pop(), "a");
}

TEST_F(QueueTest, OnlyEventsThatCanHelpBringPodsBack) {
  struct Case {
    Waits waits;
    Waits event;
    bool back;
  };
  for (const Case& c : {Case{kWaitsDevices, kWaitsDevices, true},
                        Case{kWaitsDevices, kWaitsResources, false},
                        Case{kWaitsNode | kWaitsResources, kWaitsResources, true}}) {
    const std::string uid = "p" + std::to_string(c.waits) + std::to_string(c.event);
    Add(uid);
    ASSERT_EQ(Pop(), uid);
    Fail(uid, "", c.waits);
    queue.Wake(c.event, now);
    EXPECT_EQ(Pop(), c.back ? uid : "");
    queue.Remove(uid, now);
  }
}

TEST_F(QueueTest, BackoffDoublesUpToTheMaximum) {
  Add("a");
  std::vector<int> waits;
  for (int i = 0; i < 6; ++i) {
    ASSERT_EQ(Pop(), "a");
    queue.Failed(*queue.Find("a"), now);
    int waited = 0;
    while (!queue.HasActive()) {
      Pass(seconds(1));
      ++waited;
    }
    waits.push_back(waited);
  }
  EXPECT_EQ(waits, (std::vector<int>{1, 2, 4, 8, 10, 10}));
}

TEST_F(QueueTest, ErrorsWaitOutTheirBackoffOthersMayComeEarly) {
  Add("error");
  ASSERT_EQ(Pop(), "error");
  queue.Failed(*queue.Find("error"), now);
  Add("full");
  ASSERT_EQ(Pop(), "full");
  Fail("full");
  queue.Wake(kWaitsAll, now);
  EXPECT_EQ(queue.Count(PodState::kBackoff), 2U);
  EXPECT_EQ(Pop(), "full") << "nothing else to do: no need to wait";
  EXPECT_EQ(Pop(), "");
}

TEST_F(QueueTest, AnEventWakesOnePodOfAGroupAndSuccessTheNext) {
  for (int i = 0; i < 1000; ++i) {
    now += milliseconds(1);
    const std::string uid = "p" + std::to_string(i);
    Add(uid);
    ASSERT_EQ(Pop(), uid);
    Fail(uid, "shape");
  }
  Pass(seconds(20));
  const auto before = queue.stats();
  queue.Wake(kWaitsDevices, now);
  queue.Wake(kWaitsDevices, now);
  EXPECT_EQ(queue.stats().groups_seen - before.groups_seen, 2U) << "work is by group, not by pod";
  EXPECT_EQ(queue.stats().moved - before.moved, 1U);
  EXPECT_EQ(Pop(), "p0");
  EXPECT_EQ(Pop(), "");
  queue.Placed(*queue.Find("p0"), now);
  queue.Remove("p0", now);
  EXPECT_EQ(Pop(), "p1") << "the next may fit as well";
  Fail("p1", "shape");
  EXPECT_EQ(Pop(), "") << "it does not fit: nor do its equals";
  queue.Wake(kWaitsDevices, now);
  EXPECT_EQ(queue.stats().moved - before.moved, 3U);
}

TEST_F(QueueTest, TheTurnIsPassedOnWhenItsHolderGoesAway) {
  for (const char* uid : {"a", "b"}) {
    Add(uid);
    ASSERT_EQ(Pop(), uid);
    Fail(uid, "shape");
    now += seconds(2);
  }
  Pass(seconds(20));
  queue.Wake(kWaitsDevices, now);
  queue.Remove("a", now);
  EXPECT_EQ(Pop(), "b");
}

TEST_F(QueueTest, UnschedulablePodsAreFlushedAfterFiveMinutes) {
  Add("a");
  ASSERT_EQ(Pop(), "a");
  Fail("a");
  EXPECT_EQ(queue.NextDue(), now + std::chrono::minutes(5));
  Pass(std::chrono::minutes(5));
  EXPECT_EQ(Pop(), "a");
  EXPECT_EQ(queue.stats().flushed, 1U);
}

// Tries that take too long go on, in turns, however often: one in each first back-off.
TEST_F(QueueTest, LongTriesTakeTurns) {
  for (const char* const uid : {"a", "b", "c"}) {
    Add(uid);
    ASSERT_EQ(Pop(), uid);
    queue.Unfinished(*queue.Find(uid), now);
  }
  std::string order;
  for (int step = 0; step < 90; ++step) {
    Pass(milliseconds(100));
    int tried = 0;
    for (std::string uid = Pop(); !uid.empty(); uid = Pop()) {
      order += uid;
      ++tried;
      queue.Unfinished(*queue.Find(uid), now);
    }
    EXPECT_LE(tried, 1);
  }
  EXPECT_EQ(order, "abcabcabc");
}

}  // namespace
}  // namespace allot::scheduler
