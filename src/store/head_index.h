// HeadIndex: the newest entry of every key, durable or not (a deletion stays until it is durable).
//
// Open addressing with linear probing; a look-up touches one or two cache lines before the entry.
// It joins the overlay of undurable writes and the durable keys in one table, so that the sequencer
// answers "what is at head" with one probe. Thread safety: guarded by its owner's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ref.h"
#include "store/entry.h"

namespace allot::store {

class HeadIndex {
 public:
  HeadIndex();
  HeadIndex(const HeadIndex&) = delete;
  HeadIndex& operator=(const HeadIndex&) = delete;
  ~HeadIndex();

  /// Null when there is none.
  [[nodiscard]] const Entry* Find(const Key& key, std::uint32_t hash) const;
  /// Puts the entry in place of the one of its key, which it returns (null when new).
  base::Ref<const Entry> Put(base::Ref<const Entry> entry);
  /// Removes the entry of the key, which it returns.
  base::Ref<const Entry> Erase(const Key& key, std::uint32_t hash);
  [[nodiscard]] std::size_t size() const { return size_; }

  /// Calls visit(const Entry&) for all, in no order.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const Slot& slot : slots_) {
      if (slot.entry != nullptr) {
        visit(*slot.entry);
      }
    }
  }

 private:
  struct Slot {
    const Entry* entry = nullptr;  // one reference
    std::uint32_t hash = 0;
  };
  [[nodiscard]] std::size_t Probe(const Key& key, std::uint32_t hash) const;
  void Grow();

  std::vector<Slot> slots_;  // a power of two
  std::size_t size_ = 0;
};

}  // namespace allot::store
