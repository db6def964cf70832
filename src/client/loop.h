// Loop: the one thread of a component. Informers, work queues and timers of the component run on
// it.
//
// Other threads hand work over with Post (once per batch); everything else belongs to the loop's
// thread. A turn is: drain what was posted, fire due timers, run the turn hooks in the order they
// were added. A hook that has more to do says so, and the next turn follows without waiting. Thread
// safety: Post and Stop from any thread; the rest from the thread that runs the loop, or before it
// runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mailbox.h"

namespace allot::client {

class Loop {
 public:
  using Task = std::function<void()>;
  /// Returns whether there is more to do at once.
  using Hook = std::function<bool()>;
  using TimerId = std::pair<base::MonoTime, std::uint64_t>;

  /// REQUIRES: clock outlives the loop.
  explicit Loop(const base::Clock& clock) : clock_(clock) {}
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Runs `task` on the loop's thread in the next turn; dropped when the loop has stopped.
  void Post(Task task) { tasks_.Post(std::move(task)); }

  /// Runs `task` once, `delay` from now (never before the next turn).
  TimerId After(std::chrono::nanoseconds delay, Task task);
  /// Forgets a timer that has not fired yet.
  void Cancel(const TimerId& timer) { timers_.erase(timer); }

  /// Adds a hook that runs at the end of every turn.
  void OnTurn(Hook hook) { hooks_.push_back(std::move(hook)); }

  /// Runs turns until `stop` is requested.
  void Run(const std::stop_token& stop);
  /// One turn without waiting. Returns whether a task or timer ran or a hook has more to do.
  bool RunTurn();
  /// Turns until nothing is left to do now (timers in the future stay); for tests and start-up.
  /// Returns the number of turns that did something.
  std::size_t RunUntilIdle(std::size_t limit = 100'000);

  [[nodiscard]] const base::Clock& clock() const { return clock_; }
  [[nodiscard]] base::MonoTime Now() const { return clock_.Monotonic(); }
  /// Work counters: turns that ran, and wake-ups by other threads.
  [[nodiscard]] std::uint64_t turns() const { return turns_; }
  [[nodiscard]] std::uint64_t wakes() const { return tasks_.wakes(); }

 private:
  bool Turn(std::vector<Task>& batch);
  bool FireTimers();
  [[nodiscard]] std::chrono::nanoseconds UntilNextTimer() const;

  const base::Clock& clock_;
  base::Mailbox<Task> tasks_;
  std::vector<Task> batch_;
  std::map<TimerId, Task> timers_;
  std::uint64_t next_timer_ = 0;
  std::vector<Hook> hooks_;
  std::uint64_t turns_ = 0;
};

}  // namespace allot::client
