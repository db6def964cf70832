// Combinations of columns: one code per distinct combination.
#include <algorithm>

#include "cel/device_columns.h"

namespace allot::cel {

std::size_t TupleCodes::Hash(const std::uint32_t* tuple) const {
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < arity_; ++i) {
    hash = (hash ^ tuple[i]) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 29U;
  }
  return static_cast<std::size_t>(hash);
}

void TupleCodes::Grow() {
  const std::size_t size = std::max<std::size_t>(64, table_.size() * 2);
  table_.assign(size, 0);
  for (std::uint32_t number = 0; number < size_; ++number) {
    std::size_t at = Hash(tuples_.data() + number * arity_) & (size - 1);
    while (table_[at] != 0) {
      at = (at + 1) & (size - 1);
    }
    table_[at] = number + 1;
  }
}

std::uint32_t TupleCodes::Intern(std::span<const std::uint32_t> tuple) {
  if (std::size_t{size_} * 2 >= table_.size()) {
    Grow();
  }
  std::size_t at = Hash(tuple.data()) & (table_.size() - 1);
  for (; table_[at] != 0; at = (at + 1) & (table_.size() - 1)) {
    const std::uint32_t number = table_[at] - 1;
    if (std::equal(tuple.begin(),
                   tuple.end(),
                   tuples_.begin() + static_cast<std::ptrdiff_t>(number * arity_))) {
      return number;
    }
  }
  tuples_.insert(tuples_.end(), tuple.begin(), tuple.end());
  table_[at] = ++size_;
  return size_ - 1;
}

Grouping& DeviceTable::Impl::GroupingFor(std::span<const SlotKey> slots) {
  std::vector<const Column*> wanted;
  for (const SlotKey& slot : slots) {
    wanted.push_back(&ColumnFor(slot));
  }
  std::ranges::sort(wanted, {}, &Column::number);
  for (const std::unique_ptr<Grouping>& grouping : groupings) {
    if (!grouping->whole && grouping->columns == wanted) {
      return *grouping;
    }
  }
  groupings.push_back(std::make_unique<Grouping>(std::move(wanted)));
  for (const Column* const column : groupings.back()->columns) {
    columns[column->number]->groupings.push_back(groupings.back().get());
  }
  return *groupings.back();
}

Grouping& DeviceTable::Impl::WholeGrouping() {
  for (const std::unique_ptr<Grouping>& grouping : groupings) {
    if (grouping->whole) {
      return *grouping;
    }
  }
  groupings.push_back(std::make_unique<Grouping>(std::vector<const Column*>()));
  groupings.back()->whole = true;
  return *groupings.back();
}

std::uint32_t DeviceTable::Impl::GroupCode(Grouping& grouping, std::uint32_t index) {
  if (!grouping.whole) {
    scratch_tuple_.clear();
    for (const Column* const column : grouping.columns) {
      scratch_tuple_.push_back(column->CodeOf(index));
    }
    return grouping.tuples.Intern(scratch_tuple_);
  }
  scratch_text_.clear();
  for (const Cell& cell : rows[index].cells) {
    scratch_text_.append(reinterpret_cast<const char*>(&cell), sizeof cell);
  }
  return grouping.wholes
      .try_emplace(scratch_text_, static_cast<std::uint32_t>(grouping.wholes.size()))
      .first->second;
}

void DeviceTable::Impl::Extend(Grouping& grouping) {
  const auto begin = static_cast<std::uint32_t>(grouping.codes.size());
  const auto end = static_cast<std::uint32_t>(rows.size());
  grouping.codes.resize(end);
  if (ExtendDense(grouping, begin, end)) {
    return;
  }
  for (std::uint32_t i = begin; i < end; ++i) {
    grouping.codes[i] = GroupCode(grouping, i);
  }
}

// Combinations of few values go through a dense table. False: there are too many.
bool DeviceTable::Impl::ExtendDense(Grouping& grouping, std::uint32_t begin, std::uint32_t end) {
  constexpr std::size_t kDense = 1 << 20;
  constexpr std::uint32_t kFew = 64;
  std::size_t size = 1;
  for (const Column* const column : grouping.columns) {
    size = std::min(kDense + 1, size * column->values.size());
  }
  if (grouping.whole || size > kDense || end - begin < kFew) {
    return false;
  }
  constexpr std::uint32_t kUnknown = ~std::uint32_t{0};
  std::vector<std::uint32_t> dense(size, kUnknown);
  std::vector<std::uint32_t> mixed(end - begin, 0);
  for (const Column* const column : grouping.columns) {
    const auto radix = static_cast<std::uint32_t>(column->values.size());
    const auto known = static_cast<std::uint32_t>(std::min<std::size_t>(end, column->codes.size()));
    for (std::uint32_t i = begin; i < known; ++i) {
      mixed[i - begin] = mixed[i - begin] * radix + column->codes[i];
    }
    for (std::uint32_t i = std::max(begin, known); i < end; ++i) {
      mixed[i - begin] *= radix;
    }
  }
  for (std::uint32_t i = begin; i < end; ++i) {
    std::uint32_t& code = dense[mixed[i - begin]];
    if (code == kUnknown) {
      code = GroupCode(grouping, i);
    }
    grouping.codes[i] = code;
  }
  return true;
}

}  // namespace allot::cel
