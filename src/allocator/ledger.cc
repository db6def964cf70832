#include "allocator/ledger.h"

#include <algorithm>

#include "quantity/saturating.h"

namespace allot::allocator {

using inventory::Consumer;
using quantity::Int128;
using schema::Str;

bool CounterLedger::GroupState::Admits(const schema::List<Str>& other) const {
  if (!has_members) {
    return true;
  }
  if (other.empty() || all_empty) {
    return other.empty() && all_empty;
  }
  return std::any_of(groups.begin(), groups.end(), [&](Str group) {
    return std::find(other.begin(), other.end(), group) != other.end();
  });
}

void CounterLedger::GroupState::Add(const schema::List<Str>& other) {
  if (!has_members) {
    has_members = true;
    all_empty = other.empty();
    groups.assign(other.begin(), other.end());
    return;
  }
  if (all_empty || other.empty()) {
    return;
  }
  std::erase_if(groups, [&](Str group) {
    return std::find(other.begin(), other.end(), group) == other.end();
  });
}

void CounterLedger::Start(const inventory::PoolView& pool,
                          const inventory::AllocatedState& state,
                          bool with_groups,
                          bool shares_count) {
  pool_ = &pool;
  with_groups_ = with_groups;
  negative_ = 0;
  left_.clear();
  for (const inventory::CounterCell& cell : pool.cells) {
    left_.push_back(cell.value.nanos);
  }
  undo_.clear();
  group_states_.assign(with_groups ? pool.counter_sets : 0, GroupState{});
  for (const Consumer& consumer : pool.consumers) {
    if (!state.IsExclusive(consumer.device->id) &&
        !(shares_count && state.IsShared(consumer.device->id))) {
      continue;
    }
    for (std::uint32_t i = consumer.first_use; i < consumer.end_use; ++i) {
      Int128& left = left_[pool.uses[i].cell];
      left = quantity::SaturatingSubtract(left, pool.uses[i].amount.nanos);
    }
    if (with_groups) {
      for (std::uint32_t i = consumer.first_group; i < consumer.end_group; ++i) {
        group_states_[pool.groups[i].set].Add(*pool.groups[i].groups);
      }
    }
  }
  for (const Int128 left : left_) {
    negative_ += left < 0 ? 1 : 0;
  }
}

void CounterLedger::Set(std::uint32_t cell, Int128 amount) {
  Int128& left = left_[cell];
  const bool was_negative = left < 0;
  left = amount;
  const bool is_negative = left < 0;
  if (was_negative != is_negative) {
    negative_ += is_negative ? 1U : ~0U;
  }
}

bool CounterLedger::TakeGroups(const Consumer& consumer) {
  const std::size_t mark = undo_.size();
  for (std::uint32_t i = consumer.first_group; i < consumer.end_group; ++i) {
    GroupState& state = group_states_[pool_->groups[i].set];
    if (!state.Admits(*pool_->groups[i].groups)) {
      for (std::uint32_t done = i; done > consumer.first_group; --done) {
        group_states_[pool_->groups[done - 1].set] = std::move(undo_.back());
        undo_.pop_back();
      }
      return false;
    }
    undo_.push_back(state);
    state.Add(*pool_->groups[i].groups);
  }
  return undo_.size() >= mark;
}

bool CounterLedger::Take(const Consumer& consumer) {
  if (with_groups_ && !TakeGroups(consumer)) {
    return false;
  }
  // What lies beyond 128 bits is refused, not cut off: Undo has to find what was there before.
  std::uint32_t next = consumer.first_use;
  Int128 rest = 0;
  while (next < consumer.end_use &&
         !__builtin_sub_overflow(
             left_[pool_->uses[next].cell], pool_->uses[next].amount.nanos, &rest)) {
    Set(pool_->uses[next].cell, rest);
    ++next;
  }
  if (next < consumer.end_use || negative_ != 0) {
    GiveBack(consumer, next);
    return false;
  }
  return true;
}

void CounterLedger::Undo(const Consumer& consumer) {
  GiveBack(consumer, consumer.end_use);
}

void CounterLedger::GiveBack(const Consumer& consumer, std::uint32_t end_use) {
  for (std::uint32_t i = end_use; i > consumer.first_use; --i) {
    const inventory::CounterUse& use = pool_->uses[i - 1];
    Set(use.cell, left_[use.cell] + use.amount.nanos);
  }
  if (with_groups_) {
    for (std::uint32_t i = consumer.end_group; i > consumer.first_group; --i) {
      group_states_[pool_->groups[i - 1].set] = std::move(undo_.back());
      undo_.pop_back();
    }
  }
}

std::string CounterLedger::GroupsOf(std::uint32_t set) const {
  if (!with_groups_ || !group_states_[set].has_members) {
    return {};
  }
  std::vector<Str> groups = group_states_[set].groups;
  std::sort(groups.begin(), groups.end());
  std::string text = group_states_[set].all_empty ? "none" : "some";
  for (const Str group : groups) {
    text += '\0';
    text += group;
  }
  return text;
}

bool CounterLedger::Admits(const Consumer& consumer) const {
  if (!with_groups_) {
    return true;
  }
  for (std::uint32_t i = consumer.first_group; i < consumer.end_group; ++i) {
    if (!group_states_[pool_->groups[i].set].Admits(*pool_->groups[i].groups)) {
      return false;
    }
  }
  return true;
}

}  // namespace allot::allocator
