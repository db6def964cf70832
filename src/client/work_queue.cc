#include "client/work_queue.h"

#include <algorithm>
#include <utility>

namespace allot::client {

WorkQueue::WorkQueue(Loop& loop, std::string name, Reconcile reconcile, Options options)
    : loop_(loop), name_(std::move(name)), reconcile_(std::move(reconcile)), options_(options) {
  loop_.OnTurn([this] { return ProcessSome(); });
}

void WorkQueue::Add(std::string_view key) {
  auto [it, inserted] = waiting_.emplace(key);
  if (inserted) {
    order_.push_back(*it);
    ++stats_.adds;
  }
}

void WorkQueue::AddAfter(std::string_view key, std::chrono::nanoseconds delay) {
  if (delay <= std::chrono::nanoseconds::zero()) {
    Add(key);
    return;
  }
  const base::MonoTime due = loop_.Now() + delay;
  auto [it, inserted] = delayed_.emplace(std::string(key), due);
  if (!inserted) {
    if (it->second <= due) {
      return;  // an earlier wake-up is already set
    }
    it->second = due;
  }
  loop_.After(delay, [this, due, name = std::string(key)] {
    const auto found = delayed_.find(name);
    if (found != delayed_.end() && found->second == due) {
      delayed_.erase(found);
      Add(name);
    }
  });
}

void WorkQueue::Retry(const std::string& key) {
  const int failures = failures_[key]++;
  ++stats_.retries;
  // Beyond 2^40 every first delay is past any maximum; shifting further would overflow.
  const auto delay = options_.first_delay * (std::int64_t{1} << std::min(failures, 32));
  AddAfter(key, std::min<std::chrono::nanoseconds>(delay, options_.max_delay));
}

bool WorkQueue::ProcessSome() {
  if (order_.empty() || (ready_ && !ready_())) {
    return false;
  }
  for (int i = 0; i < options_.per_turn && !order_.empty(); ++i) {
    const std::string key = std::move(order_.front());
    order_.pop_front();
    waiting_.erase(key);
    const base::MonoTime start = loop_.Now();
    const base::Result<void> result = reconcile_(key);
    stats_.work += loop_.Now() - start;
    ++stats_.done;
    if (result) {
      failures_.erase(key);
      continue;
    }
    if (on_error_) {
      on_error_(key, result.error());
    }
    Retry(key);
  }
  return !order_.empty();
}

}  // namespace allot::client
