// CounterLedger: shared counters and compatibility groups of one pool while a search runs.
//
// Starts from what allocated devices leave, and follows Take and Undo of the search.
// Thread safety: one thread. See: KEP-4815, KEP-5963.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "inventory/allocated_state.h"
#include "inventory/node_view.h"

namespace allot::allocator {

class CounterLedger {
 public:
  /// Starts over for this pool and state. `shares_count`: a device of which shares are held is
  /// charged. Cost: O(devices with counters in the pool).
  void Start(const inventory::PoolView& pool,
             const inventory::AllocatedState& state,
             bool with_groups,
             bool shares_count = true);
  [[nodiscard]] bool started() const { return pool_ != nullptr; }
  /// Forgets the pool; Start must come again.
  void Clear() { pool_ = nullptr; }

  /// Charges the device. False: some counter of the pool would go below zero (also one the device
  /// does not use), or its groups do not fit; nothing has changed then.
  [[nodiscard]] bool Take(const inventory::Consumer& consumer);
  /// Takes back the last successful Take, which was of this device.
  void Undo(const inventory::Consumer& consumer);

  /// What is left of every cell, in the order of PoolView::cells.
  [[nodiscard]] const std::vector<quantity::Int128>& left() const { return left_; }
  /// Some counter is over-committed, so that no device with counters can be had.
  [[nodiscard]] bool overcommitted() const { return negative_ != 0; }
  /// The groups of a set's users so far, as text: equal where the same devices fit.
  [[nodiscard]] std::string GroupsOf(std::uint32_t set) const;
  /// Whether the groups of the device fit now.
  [[nodiscard]] bool Admits(const inventory::Consumer& consumer) const;

 private:
  // The running intersection of a counter set's users.
  struct GroupState {
    bool has_members = false;
    bool all_empty = false;
    std::vector<schema::Str> groups;

    [[nodiscard]] bool Admits(const schema::List<schema::Str>& other) const;
    void Add(const schema::List<schema::Str>& other);
  };
  void Set(std::uint32_t cell, quantity::Int128 amount);
  // Takes back the groups of the device and its uses before `end_use`.
  void GiveBack(const inventory::Consumer& consumer, std::uint32_t end_use);
  [[nodiscard]] bool TakeGroups(const inventory::Consumer& consumer);

  const inventory::PoolView* pool_ = nullptr;
  std::vector<quantity::Int128> left_;
  std::uint32_t negative_ = 0;
  bool with_groups_ = false;
  std::vector<GroupState> group_states_;  // by counter set
  std::vector<GroupState> undo_;
};

}  // namespace allot::allocator
