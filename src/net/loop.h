// Loop: one event loop: sockets, timers and tasks posted from other threads, on one thread.
//
// One turn = wait, ready sockets, due timers, posted tasks, then the turn-end list (where
// connections write everything the turn produced with one TLS write each). Thread safety: Post,
// PostAll, Stop, handle and OnLoopThread from any thread; the rest on the loop thread (or before
// Run).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"

namespace allot::net {

using Task = std::move_only_function<void()>;

/// Told when its socket can be read or written. Net's own; other modules have no use for it.
class FdHandler {
 public:
  /// `events` is a set of Loop::kReadable and kWritable; errors and hang-ups set both.
  virtual void OnReady(std::uint32_t events) = 0;

 protected:
  ~FdHandler() = default;
};

/// Told once at the end of the turn in which it was added. Net's own.
class TurnEndHandler {
 public:
  virtual void OnTurnEnd() = 0;

 protected:
  ~TurnEndHandler() = default;
};

class Loop {
 public:
  using TimerId = std::uint64_t;  // 0 = none
  static constexpr std::uint32_t kReadable = 1;
  static constexpr std::uint32_t kWritable = 2;

  /// Posts into a loop that may already be gone. Copyable, cheap. Thread safety: any thread.
  class Handle {
   public:
    Handle() = default;
    /// Queues the task; false (task dropped) when the loop is stopped or gone.
    bool Post(Task task) const;
    bool PostAll(std::vector<Task> tasks) const;
    /// As Loop::OnLoopThread; false when the loop never ran.
    [[nodiscard]] bool OnLoopThread() const;

   private:
    friend class Loop;
    struct Shared;
    std::shared_ptr<Shared> shared_;
  };

  /// Makes the loop; also sets SIGPIPE to ignored for the process (OpenSSL writes with write(2)).
  explicit Loop(const base::Clock& clock = base::SystemClock());
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  /// Drops what is still queued. REQUIRES: not running.
  ~Loop();

  /// Runs turns on the calling thread until Stop.
  void Run();
  /// Runs one turn, waiting at most `max_wait`; for tests and fuzzers.
  void RunOnce(std::chrono::nanoseconds max_wait);
  /// Makes Run return after the current turn. Sticky: a stopped loop takes no more tasks.
  void Stop();
  [[nodiscard]] bool stopped() const;

  /// Queues a task for the loop thread; false (task dropped) when stopped.
  bool Post(Task task);
  /// Queues a batch with one lock and at most one wake-up.
  bool PostAll(std::vector<Task> tasks);
  [[nodiscard]] Handle handle() const;
  /// Whether the caller runs on the thread that is inside Run or RunOnce.
  [[nodiscard]] bool OnLoopThread() const;

  /// Calls the task once, `delay` from now. Cost: O(log timers).
  TimerId After(std::chrono::nanoseconds delay, Task task);
  /// Forgets a timer; harmless when it has fired or is 0.
  void Cancel(TimerId timer);

  [[nodiscard]] const base::Clock& clock() const { return clock_; }
  /// Monotonic time at the start of this turn: free to ask.
  [[nodiscard]] base::MonoTime now() const { return now_; }
  /// Turns made so far; a work counter for tests.
  [[nodiscard]] std::uint64_t turns() const { return turns_; }

  // For net's own sockets. A handler stays valid until Unwatch; Unwatch may be called from inside
  // any callback, and no event of the current turn is delivered to it afterwards.
  bool Watch(int fd, std::uint32_t events, FdHandler* handler);
  void Rewatch(int fd, std::uint32_t events);
  void Unwatch(int fd);
  /// Calls the handler at the end of this turn. The caller adds itself at most once a turn.
  void AtTurnEnd(TurnEndHandler* handler) { turn_end_.push_back(handler); }
  void ForgetTurnEnd(TurnEndHandler* handler);
  /// Destroys `garbage` at the end of the turn, when nobody is on the stack inside it.
  void DestroyLater(std::shared_ptr<void> garbage) { garbage_.push_back(std::move(garbage)); }

 private:
  struct Impl;

  void RunTimers();
  void RunTasks();
  void RunTurnEnd();

  const base::Clock& clock_;
  base::MonoTime now_;
  std::uint64_t turns_ = 0;
  std::vector<TurnEndHandler*> turn_end_;          // for this turn's end
  std::vector<TurnEndHandler*> running_turn_end_;  // being called
  std::vector<std::shared_ptr<void>> garbage_;
  std::unique_ptr<Impl> impl_;
};

/// A loop with its own thread, named for the process list; the destructor stops and joins it.
class LoopThread {
 public:
  explicit LoopThread(const std::string& name, const base::Clock& clock = base::SystemClock());
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;
  ~LoopThread();

  [[nodiscard]] Loop& loop() { return loop_; }
  /// Stops the loop and waits for its thread; idempotent. REQUIRES: not on the loop thread.
  void StopAndJoin();

 private:
  Loop loop_;
  std::thread thread_;
};

}  // namespace allot::net
