// Mailbox<T>: the only cross-thread queue of the house.
//
// Many producers, one consumer. A producer wakes the consumer only when the queue turns non-empty;
// the consumer swaps everything out at once. Stop and emptiness are checked under the lock before
// sleeping, so neither a message nor the stop can be lost. A consumer that sleeps elsewhere (an
// event loop) passes a wake function, called outside the lock, once per turn from empty to
// non-empty. Thread safety: Post, PostAll and Stop from any thread; Drain and Wait from the one
// consumer.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

namespace allot::base {

template <typename T>
class Mailbox {
 public:
  Mailbox() = default;
  /// `wake` is called (outside the lock) when the queue turns non-empty or stops.
  explicit Mailbox(std::function<void()> wake) : wake_(std::move(wake)) {}
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  /// Queues one message. Returns false when the mailbox is stopped (the message is dropped).
  bool Post(T message) {
    bool was_empty = false;
    {
      const std::lock_guard lock(mutex_);
      if (stopped_) {
        return false;
      }
      was_empty = queue_.empty();
      queue_.push_back(std::move(message));
    }
    if (was_empty) {
      Wake();
    }
    return true;
  }

  /// Queues a whole batch with one lock and at most one wake-up.
  bool PostAll(std::vector<T> messages) {
    if (messages.empty()) {
      return true;
    }
    bool was_empty = false;
    {
      const std::lock_guard lock(mutex_);
      if (stopped_) {
        return false;
      }
      was_empty = queue_.empty();
      if (was_empty) {
        queue_.swap(messages);
      } else {
        queue_.insert(queue_.end(),
                      std::make_move_iterator(messages.begin()),
                      std::make_move_iterator(messages.end()));
      }
    }
    if (was_empty) {
      Wake();
    }
    return true;
  }

  /// Moves all queued messages into `out` (cleared first) without waiting; true when there were
  /// any.
  bool Drain(std::vector<T>& out) {
    out.clear();
    const std::lock_guard lock(mutex_);
    out.swap(queue_);
    return !out.empty();
  }

  /// Waits until there are messages, Stop, or the time-out; then drains. True when `out` has
  /// messages.
  bool Wait(std::vector<T>& out,
            std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max()) {
    out.clear();
    std::unique_lock lock(mutex_);
    const auto ready = [this] {
      return stopped_ || !queue_.empty();
    };
    if (timeout == std::chrono::nanoseconds::max()) {
      condition_.wait(lock, ready);
    } else {
      condition_.wait_for(lock, timeout, ready);
    }
    out.swap(queue_);
    return !out.empty();
  }

  /// Refuses further messages and wakes the consumer; queued messages can still be drained.
  void Stop() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    Wake();
  }

  [[nodiscard]] bool stopped() const {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }

  /// How often the consumer was woken; a work counter for tests.
  [[nodiscard]] std::uint64_t wakes() const {
    const std::lock_guard lock(mutex_);
    return wakes_;
  }

 private:
  void Wake() {
    {
      const std::lock_guard lock(mutex_);
      ++wakes_;
    }
    condition_.notify_one();
    if (wake_) {
      wake_();
    }
  }

  mutable std::mutex mutex_;
  std::condition_variable condition_;
  std::vector<T> queue_;
  bool stopped_ = false;
  std::uint64_t wakes_ = 0;
  std::function<void()> wake_;
};

}  // namespace allot::base
