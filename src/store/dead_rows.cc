#include "store/dead_rows.h"

#include <algorithm>

namespace allot::store {

void DeadRows::Note(Revision durable, base::MonoTime now) {
  if (moments_.empty() || now - moments_.back().time >= std::chrono::seconds(1)) {
    moments_.push_back({durable, now});
  }
}

Revision DeadRows::Due(base::MonoTime now,
                       std::chrono::nanoseconds retention,
                       std::uint64_t max_bytes) {
  Revision due = compacted_;
  while (!moments_.empty() && now - moments_.front().time >= retention) {
    due = std::max(due, moments_.front().durable);
    moments_.pop_front();
  }
  std::uint64_t left = bytes_ - ready_bytes_;
  for (std::size_t i = begin_ + ready_; i < rows_.size() && left > max_bytes; ++i) {
    due = std::max(due, rows_[i].at);
    left -= rows_[i].bytes;
  }
  return due;
}

void DeadRows::Compact(Revision compacted) {
  compacted_ = std::max(compacted_, compacted);
  for (; ready_ < size() && rows_[begin_ + ready_].at <= compacted_; ++ready_) {
    ready_bytes_ += rows_[begin_ + ready_].bytes;
  }
}

void DeadRows::Oldest(std::size_t limit, std::vector<Revision>& out) const {
  out.clear();
  for (std::size_t i = 0; i < std::min(limit, ready_); ++i) {
    out.push_back(rows_[begin_ + i].row);
  }
}

void DeadRows::Drop(std::size_t count) {
  for (; count > 0 && ready_ > 0; --count, --ready_, ++begin_) {
    bytes_ -= rows_[begin_].bytes;
    ready_bytes_ -= rows_[begin_].bytes;
  }
  if (begin_ > rows_.size() / 2) {
    rows_.erase(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
  }
}

}  // namespace allot::store
