#include "net/loop.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

namespace allot::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using testing::ElementsAre;

TEST(LoopTest, TasksRunInOrderAndOnce) {
  Loop loop;
  std::vector<int> seen;
  loop.Post([&] { seen.push_back(1); });
  std::vector<Task> batch;
  batch.emplace_back([&] { seen.push_back(2); });
  batch.emplace_back([&] { seen.push_back(3); });
  loop.PostAll(std::move(batch));
  loop.RunOnce(nanoseconds(0));
  EXPECT_THAT(seen, ElementsAre(1, 2, 3));
}

TEST(LoopTest, TimersFireInTheOrderOfTheirTimes) {
  base::FakeClock clock;
  Loop loop(clock);
  std::vector<int> seen;
  loop.After(milliseconds(20), [&] { seen.push_back(2); });
  loop.After(milliseconds(10), [&] { seen.push_back(1); });
  const Loop::TimerId cancelled = loop.After(milliseconds(15), [&] { seen.push_back(9); });
  loop.Cancel(cancelled);
  loop.Cancel(cancelled);
  loop.Cancel(0);
  loop.RunOnce(nanoseconds(0));
  EXPECT_TRUE(seen.empty());
  clock.Advance(milliseconds(12));
  loop.RunOnce(nanoseconds(0));
  EXPECT_THAT(seen, ElementsAre(1));
  clock.Advance(milliseconds(12));
  loop.RunOnce(nanoseconds(0));
  EXPECT_THAT(seen, ElementsAre(1, 2));
}

TEST(LoopTest, ATimerSetByATimerWaitsForTheNextTurn) {
  base::FakeClock clock;
  Loop loop(clock);
  int calls = 0;
  std::function<void()> again = [&] {
    ++calls;
    loop.After(nanoseconds(0), [&] { again(); });
  };
  loop.After(nanoseconds(0), [&] { again(); });
  loop.RunOnce(nanoseconds(0));
  EXPECT_EQ(calls, 1);
  loop.RunOnce(nanoseconds(0));
  EXPECT_EQ(calls, 2);
}

TEST(LoopTest, TheHandleOutlivesTheLoop) {
  Loop::Handle handle;
  EXPECT_FALSE(handle.Post([] {}));
  {
    Loop loop;
    handle = loop.handle();
    EXPECT_TRUE(handle.Post([] {}));
  }
  EXPECT_FALSE(handle.Post([] {}));
}

TEST(LoopTest, StopTakesNoMoreTasksAndRunsTheAcceptedOnes) {
  Loop loop;
  int calls = 0;
  loop.Post([&] {
    loop.Post([&] { ++calls; });
    loop.Stop();
    EXPECT_FALSE(loop.Post([&] { calls += 100; }));
  });
  loop.Run();
  EXPECT_EQ(calls, 1);
}

TEST(LoopTest, TurnEndRunsOnceATurnAfterTheTasks) {
  struct Handler final : TurnEndHandler {
    void OnTurnEnd() override { seen->emplace_back("end"); }
    std::vector<std::string>* seen = nullptr;
  };
  Loop loop;
  std::vector<std::string> seen;
  Handler handler;
  Handler forgotten;
  handler.seen = forgotten.seen = &seen;
  loop.Post([&] {
    loop.AtTurnEnd(&handler);
    loop.AtTurnEnd(&forgotten);
    loop.ForgetTurnEnd(&forgotten);
    seen.emplace_back("task 1");
  });
  loop.Post([&] { seen.emplace_back("task 2"); });
  loop.RunOnce(nanoseconds(0));
  EXPECT_THAT(seen, ElementsAre("task 1", "task 2", "end"));
}

TEST(LoopTest, NoPostIsLostUnderContention) {
  constexpr int kThreads = 4;
  constexpr int kPosts = 5000;
  LoopThread thread("loop-test");
  std::atomic<int> calls{0};
  std::vector<std::thread> producers;
  for (int i = 0; i < kThreads; ++i) {
    producers.emplace_back([&] {
      for (int n = 0; n < kPosts; ++n) {
        thread.loop().Post([&] { calls.fetch_add(1); });
      }
    });
  }
  for (std::thread& producer : producers) {
    producer.join();
  }
  thread.StopAndJoin();
  EXPECT_EQ(calls.load(), kThreads * kPosts);
}

}  // namespace
}  // namespace allot::net
