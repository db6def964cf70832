// CountingSink: waits until so many writes are acknowledged.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <span>

#include "store/store.h"

namespace allot::testing {

class CountingSink final : public store::CommitSink {
 public:
  void OnCommitted(std::span<const store::CommitOutcome> outcomes) override {
    const std::lock_guard lock(mutex_);
    count_ += outcomes.size();
    condition_.notify_one();
  }
  void Await(std::uint64_t count) {
    std::unique_lock lock(mutex_);
    condition_.wait(lock, [&] { return count_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  std::uint64_t count_ = 0;
};

}  // namespace allot::testing
