#include "client/loop.h"

#include <algorithm>

namespace allot::client {

Loop::TimerId Loop::After(std::chrono::nanoseconds delay, Task task) {
  const TimerId id{clock_.Monotonic() + std::max(delay, std::chrono::nanoseconds::zero()),
                   ++next_timer_};
  timers_.emplace(id, std::move(task));
  return id;
}

bool Loop::FireTimers() {
  if (timers_.empty()) {
    return false;
  }
  // Timers set by a timer wait for the next turn, so that a zero delay cannot hold the loop.
  const base::MonoTime now = clock_.Monotonic();
  const std::uint64_t newest = next_timer_;
  bool fired = false;
  for (auto it = timers_.begin(); it != timers_.end() && it->first.first <= now;) {
    if (it->first.second > newest) {
      ++it;
      continue;
    }
    const Task task = std::move(it->second);
    timers_.erase(it);
    task();
    fired = true;
    it = timers_.begin();  // the task may have cancelled others
  }
  return fired;
}

bool Loop::Turn(std::vector<Task>& batch) {
  ++turns_;
  bool more = !batch.empty();
  for (Task& task : batch) {
    task();
  }
  batch.clear();
  more |= FireTimers();
  bool again = false;
  for (const Hook& hook : hooks_) {
    again |= hook();
  }
  return more || again;
}

std::chrono::nanoseconds Loop::UntilNextTimer() const {
  if (timers_.empty()) {
    return std::chrono::nanoseconds::max();
  }
  const auto wait = timers_.begin()->first.first - clock_.Monotonic();
  return std::max<std::chrono::nanoseconds>(wait, std::chrono::nanoseconds::zero());
}

void Loop::Run(const std::stop_token& stop) {
  const std::stop_callback on_stop(stop, [this] { tasks_.Stop(); });
  bool again = true;  // the first turn starts what was prepared before the loop ran
  while (!stop.stop_requested()) {
    if (again) {
      tasks_.Drain(batch_);
    } else {
      tasks_.Wait(batch_, UntilNextTimer());
      if (stop.stop_requested()) {
        break;
      }
    }
    again = Turn(batch_);
  }
}

bool Loop::RunTurn() {
  tasks_.Drain(batch_);
  return Turn(batch_);
}

std::size_t Loop::RunUntilIdle(std::size_t limit) {
  std::size_t turns = 0;
  while (turns < limit && RunTurn()) {
    ++turns;
  }
  return turns;
}

}  // namespace allot::client
