// EventWindow: the newest events of one resource, in order of revision, bounded by bytes and by
// compaction. Inside the store.
//
// Thread safety: changed by the writer thread under the lock of the views and read by others under
// it; the writer may read without the lock. What leaves the window goes to the caller, to be
// released outside the lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "store/entry.h"

namespace allot::store {

class EventWindow {
 public:
  /// Events after `floor` will be complete.
  explicit EventWindow(Revision floor) : floor_(floor) {}

  /// REQUIRES: the revision is above all others.
  void Append(Event event);
  /// Takes the oldest events out while the window holds more than `max_bytes` or they are not after
  /// `compacted`, and appends them to `out`.
  void Trim(std::uint64_t max_bytes, Revision compacted, std::vector<Event>& out);
  /// Appends to `out` the events that have just become older than the newest `count`.
  void Age(std::size_t count, std::vector<base::Ref<const Entry>>& out);

  /// The place of the first event after `revision`; size() when there is none.
  [[nodiscard]] std::size_t After(Revision revision) const;
  [[nodiscard]] const Event& at(std::size_t i) const { return ring_[(begin_ + i) & mask()]; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// Every event after this revision is here.
  [[nodiscard]] Revision floor() const { return floor_; }

 private:
  [[nodiscard]] std::size_t mask() const { return ring_.size() - 1; }
  static std::uint64_t BytesOf(const Event& event);

  std::vector<Event> ring_ = std::vector<Event>(64);  // a power of two
  std::size_t begin_ = 0;
  std::size_t size_ = 0;
  std::size_t aged_ = 0;  // the oldest `aged_` events have been through Age
  std::uint64_t bytes_ = 0;
  Revision floor_;
};

}  // namespace allot::store
