// What one call costs at run time, and the stack by which cel-go finds the values it counts.
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cel/plan.h"
#include "cel/value.h"

namespace allot::cel {

/// The cost of a call. Sets `panic` to a Go panic's text where counting itself fails upstream.
[[nodiscard]] std::uint64_t CallCost(const Step& step,
                                     std::span<const Value> args,
                                     const Value& result,
                                     std::string& panic);

/// Whether a call may take time that grows with the product of its sizes; its cost does not depend
/// on its result, so that it can be known before.
[[nodiscard]] bool CostsMuch(const Step& step);

/// The values observed so far, by node id. Dropping an id forgets everything above it, so that
/// loops reuse it.
class ValueStack {
 public:
  void Push(const Value& value, std::uint32_t id) {
    if (id >= last_.size()) {
      last_.resize(id + 1);
    }
    entries_.push_back({value, id, last_[id]});
    last_[id] = static_cast<std::uint32_t>(entries_.size());
  }
  void Drop(std::uint32_t id);
  /// Takes the last value of an id, and what is above it, off the stack. False: there is none.
  [[nodiscard]] bool Take(std::uint32_t id, Value& out);
  /// What Take would find for these ids, taken from the last to the first. False: not all are
  /// there.
  [[nodiscard]] bool Peek(std::span<const std::uint32_t> ids, std::span<Value> out) const;
  void Clear() { Cut(0); }

 private:
  struct Item {
    Value value;
    std::uint32_t id;
    std::uint32_t previous;  ///< as last_, before this one
  };
  void Cut(std::size_t size) {
    while (entries_.size() > size) {
      last_[entries_.back().id] = entries_.back().previous;
      entries_.pop_back();
    }
  }
  std::vector<Item> entries_;
  /// By id: the last entry with it, counted from 1; 0: none. Loops leave entries behind, and
  /// looking for the last one must not grow with them.
  std::vector<std::uint32_t> last_;
};

}  // namespace allot::cel
