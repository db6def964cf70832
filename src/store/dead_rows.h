// DeadRows: the rows of the log that nothing needs once compaction has passed them, and when that
// may happen. Inside the store.
//
// A row dies at the revision that replaced it; the row of a deletion dies at its own. Thread
// safety: one thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/clock.h"
#include "store/value.h"

namespace allot::store {

class DeadRows {
 public:
  /// Row `row` of `bytes` is not needed by any state from `at` on. REQUIRES: `at` never falls.
  void Add(Revision at, Revision row, std::uint64_t bytes) {
    rows_.push_back({at, row, bytes});
    bytes_ += bytes;
  }
  /// Notes that `durable` was the last revision at `now` (kept once a second).
  void Note(Revision durable, base::MonoTime now);
  /// The revision up to which history may go: what is older than `retention`, or more where the
  /// dead bytes pass `max_bytes`. At least the present compact revision.
  [[nodiscard]] Revision Due(base::MonoTime now,
                             std::chrono::nanoseconds retention,
                             std::uint64_t max_bytes);
  /// Sets the compact revision: rows that died at or before it may be deleted.
  void Compact(Revision compacted);
  [[nodiscard]] Revision compacted() const { return compacted_; }
  /// How many rows may be deleted now.
  [[nodiscard]] std::size_t ready() const { return ready_; }
  /// The oldest of them, up to `limit`, into `out` (cleared first); Drop forgets them once deleted.
  void Oldest(std::size_t limit, std::vector<Revision>& out) const;
  void Drop(std::size_t count);
  [[nodiscard]] std::size_t size() const { return rows_.size() - begin_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  struct Row {
    Revision at = 0;
    Revision row = 0;
    std::uint64_t bytes = 0;
  };
  struct Moment {
    Revision durable = 0;
    base::MonoTime time;
  };
  std::vector<Row> rows_;  // the first begin_ are gone; a deque would take from the heap for ever
  std::size_t begin_ = 0;
  std::deque<Moment> moments_;
  std::uint64_t bytes_ = 0;
  std::size_t ready_ = 0;  // the first rows after begin_ died at or before compacted_
  std::uint64_t ready_bytes_ = 0;
  Revision compacted_ = 0;
};

}  // namespace allot::store
