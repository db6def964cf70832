#include "client/work_queue.h"

#include <future>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "client/loop.h"

namespace allot::client {
namespace {

using std::chrono::milliseconds;

class WorkQueueTest : public ::testing::Test {
 protected:
  base::FakeClock clock;
  Loop loop{clock};
  std::vector<std::string> seen;
};

TEST_F(WorkQueueTest, MergesKeysThatWait) {
  WorkQueue queue(loop, "q", [&](const std::string& key) {
    seen.push_back(key);
    return base::Result<void>();
  });
  for (const char* key : {"a", "b", "a", "a"}) {
    queue.Add(key);
  }
  loop.RunUntilIdle();
  EXPECT_EQ(seen, (std::vector<std::string>{"a", "b"}));
}

TEST_F(WorkQueueTest, KeyAddedWhileReconciledComesAgain) {
  WorkQueue* self = nullptr;
  WorkQueue queue(loop, "q", [&](const std::string& key) {
    seen.push_back(key);
    if (seen.size() == 1) {
      self->Add(key);
    }
    return base::Result<void>();
  });
  self = &queue;
  queue.Add("a");
  loop.RunUntilIdle();
  EXPECT_EQ(seen.size(), 2U);
}

TEST_F(WorkQueueTest, FailuresDoubleTheDelayAndSuccessForgets) {
  bool fail = true;
  WorkQueue queue(loop, "q", [&](const std::string& key) -> base::Result<void> {
    seen.push_back(key);
    if (fail) {
      return base::Error(base::Reason::kConflict, "later");
    }
    return {};
  });
  queue.Add("a");
  loop.RunUntilIdle();
  EXPECT_EQ(seen.size(), 1U);
  struct Step {
    int advance_ms;
    std::size_t calls;
  };
  for (const Step step : {Step{4, 1}, {1, 2}, {9, 2}, {1, 3}, {19, 3}, {1, 4}}) {
    clock.Advance(milliseconds(step.advance_ms));
    loop.RunUntilIdle();
    EXPECT_EQ(seen.size(), step.calls);
  }
  fail = false;
  clock.Advance(milliseconds(40));
  loop.RunUntilIdle();
  fail = true;
  queue.Add("a");
  loop.RunUntilIdle();
  EXPECT_EQ(seen.size(), 6U);
  clock.Advance(milliseconds(5));
  loop.RunUntilIdle();
  EXPECT_EQ(seen.size(), 7U) << "the delay starts afresh after a success";
  EXPECT_EQ(queue.stats().retries, 6U);
}

TEST_F(WorkQueueTest, EarlierDelayWins) {
  WorkQueue queue(loop, "q", [&](const std::string& key) {
    seen.push_back(key);
    return base::Result<void>();
  });
  queue.AddAfter("a", milliseconds(100));
  queue.AddAfter("a", milliseconds(10));
  queue.AddAfter("a", milliseconds(50));
  clock.Advance(milliseconds(10));
  loop.RunUntilIdle();
  EXPECT_EQ(seen.size(), 1U);
  clock.Advance(milliseconds(500));
  loop.RunUntilIdle();
  EXPECT_EQ(seen.size(), 1U) << "one wake-up for one key";
}

TEST_F(WorkQueueTest, TurnsAreBounded) {
  WorkQueue::Options options;
  options.per_turn = 2;
  WorkQueue queue(
      loop,
      "q",
      [&](const std::string& key) {
        seen.push_back(key);
        return base::Result<void>();
      },
      options);
  for (int i = 0; i < 5; ++i) {
    queue.Add(std::to_string(i));
  }
  EXPECT_TRUE(loop.RunTurn());
  EXPECT_EQ(seen.size(), 2U);
  loop.RunUntilIdle();
  EXPECT_EQ(seen.size(), 5U);
}

TEST(LoopTest, PostedTasksRunAndStopEnds) {
  Loop loop(base::SystemClock());
  int runs = 0;
  std::jthread thread([&](const std::stop_token& stop) { loop.Run(stop); });
  std::promise<void> done;
  loop.Post([&] {
    ++runs;
    done.set_value();
  });
  done.get_future().wait();
  thread.request_stop();
  thread.join();
  EXPECT_EQ(runs, 1);
}

TEST(LoopTest, TimersFireInOrderAndCanBeCancelled) {
  base::FakeClock clock;
  Loop loop(clock);
  std::vector<int> order;
  loop.After(milliseconds(20), [&] { order.push_back(2); });
  const Loop::TimerId cancelled = loop.After(milliseconds(15), [&] { order.push_back(9); });
  loop.After(milliseconds(10), [&] {
    order.push_back(1);
    loop.Cancel(cancelled);
    loop.After(milliseconds(0), [&] { order.push_back(3); });
  });
  clock.Advance(milliseconds(20));
  loop.RunTurn();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  loop.RunUntilIdle();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

}  // namespace
}  // namespace allot::client
