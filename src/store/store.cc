#include "store/store.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

namespace allot::store {
namespace {

// Lets one thread wait for one outcome.
class WaitingSink final : public CommitSink {
 public:
  void OnCommitted(std::span<const CommitOutcome> outcomes) override {
    const std::lock_guard lock(mutex_);
    done_ = true;
    if (outcomes.front().error != nullptr) {
      error_ = *outcomes.front().error;
    }
    // Under the lock: the waiter destroys this as soon as it sees the flag.
    condition_.notify_one();
  }
  std::optional<base::Status> Wait() {
    std::unique_lock lock(mutex_);
    condition_.wait(lock, [this] { return done_; });
    return error_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool done_ = false;
  std::optional<base::Status> error_;
};

}  // namespace

base::Result<base::Ref<const Entry>> Store::CommitAndWait(Op op, Ack ack) {
  if (ack == Ack::kSequenced) {
    return Commit(std::move(op), nullptr, 0);
  }
  WaitingSink sink;
  auto entry = Commit(std::move(op), &sink, 0);
  if (entry) {
    if (auto error = sink.Wait()) {
      return base::Error(*std::move(error));
    }
  }
  return entry;
}

}  // namespace allot::store
