// The look-ahead of the Pruner: whether the requests to come can have enough devices.
#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <utility>

#include "allocator/pruner.h"
#include "quantity/saturating.h"

namespace allot::allocator {
namespace {

using inventory::Consumer;
using inventory::CounterUse;
using inventory::PoolView;
using quantity::Int128;

// Values tried one by one for a matchAttribute that no device has fixed yet.
constexpr std::size_t kMaxTrials = 128;

std::int64_t Count(const std::vector<std::uint64_t>& words) {
  std::int64_t count = 0;
  for (const std::uint64_t word : words) {
    count += std::popcount(word);
  }
  return count;
}

std::int64_t CountBoth(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
  std::int64_t count = 0;
  for (std::size_t w = 0; w < a.size(); ++w) {
    count += std::popcount(a[w] & b[w]);
  }
  return count;
}

bool Bit(const std::vector<std::uint64_t>& words, std::uint32_t bit) {
  return (words[bit >> 6U] >> (bit & 63U) & 1U) != 0;
}

template <typename Visit>
void ForEachBit(const std::vector<std::uint64_t>& words, Visit visit) {
  for (std::size_t w = 0; w < words.size(); ++w) {
    for (std::uint64_t bits = words[w]; bits != 0; bits &= bits - 1) {
      visit(static_cast<std::uint32_t>(w * 64 + static_cast<std::size_t>(std::countr_zero(bits))));
    }
  }
}

bool Has(const std::vector<std::uint16_t>& list, std::uint16_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

bool Pruner::LookAhead(std::size_t first_demand, const Demand* current, std::uint32_t first) {
  left_.clear();
  std::int64_t results = current != nullptr ? search_.results_[current->claim] : 0;
  std::uint32_t claim = current != nullptr ? current->claim : 0;
  if (current != nullptr) {
    left_.push_back(current);
  }
  for (std::size_t d = first_demand; d < demands_.size(); ++d) {
    left_.push_back(&demands_[d]);
  }
  // No claim may grow beyond its limit.
  for (const Demand* const demand : left_) {
    if (demand->claim != claim) {
      claim = demand->claim;
      results = 0;
    }
    results += demand->need;
    if (results > kMaxResults) {
      return false;
    }
  }
  if (free_.size() < left_.size()) {
    free_.resize(left_.size());
  }
  taken_.assign(words_, 0);
  for (const Search::Taken& taken : search_.taken_) {
    if (!taken.shared) {
      for (const auto& [id, c] : CandidatesOf(taken.candidate.device->id)) {
        taken_[c >> 6U] |= std::uint64_t{1} << (c & 63U);
      }
    }
  }
  for (std::size_t j = 0; j < left_.size(); ++j) {
    Words& row = free_[j];
    row = rows_[left_[j]->row];
    if (j == 0 && current != nullptr) {
      for (std::size_t w = 0; w < first >> 6U; ++w) {
        row[w] = 0;
      }
      if (first >> 6U < words_) {
        row[first >> 6U] &= ~std::uint64_t{0} << (first & 63U);
      }
    }
    if (!left_[j]->admin) {
      for (std::size_t w = 0; w < words_; ++w) {
        row[w] &= ~taken_[w];
      }
      continue;
    }
    for (const Search::Taken& taken : search_.taken_) {
      if (taken.shared || taken.request->claim != left_[j]->claim) {
        continue;
      }
      for (const auto& [id, c] : CandidatesOf(taken.candidate.device->id)) {
        row[c >> 6U] &= ~(std::uint64_t{1} << (c & 63U));
      }
    }
  }
  if (!MatchValuesLeft(left_)) {
    return false;
  }
  for (std::size_t j = 0; j < left_.size(); ++j) {
    if (Count(free_[j]) < left_[j]->need) {
      return false;
    }
  }
  return CanMatch(left_, free_, candidate_count(), /*devices=*/true) && DistinctValuesLeft(left_) &&
         (!has_counters_ || (CountersLeft(left_) && SlotsLeft(left_)));
}

// The values all devices taken under a matchAttribute have in common; all values while there is no
// such device, which it tells by false.
bool Pruner::CommonValues(const Values& values,
                          std::uint32_t claim,
                          std::uint16_t constraint,
                          std::vector<std::uint32_t>& common) const {
  bool fixed = false;
  for (const Search::Taken& taken : search_.taken_) {
    if (taken.request->claim != claim || !Has(taken.request->constraints, constraint)) {
      continue;
    }
    for (const auto& [id, d] : CandidatesOf(taken.candidate.device->id)) {
      if (candidates_[d].device != taken.candidate.device) {
        continue;
      }
      if (!fixed) {
        common = values.of[d];
      } else {
        std::erase_if(common, [&](std::uint32_t value) {
          return !std::binary_search(values.of[d].begin(), values.of[d].end(), value);
        });
      }
      fixed = true;
    }
  }
  if (!fixed) {
    common.resize(values.count);
    std::iota(common.begin(), common.end(), std::uint32_t{0});
  }
  return fixed;
}

// Takes from the rows what matchAttribute rules out: a value stays possible only while every
// request in its scope can be served with it.
bool Pruner::MatchValuesLeft(std::span<const Demand* const> demands) {
  const Prepared& prepared = *search_.problem_.prepared;
  for (std::uint32_t c = demands.empty() ? 0 : demands.front()->claim; c < prepared.claims.size();
       ++c) {
    for (std::uint16_t k = 0; k < prepared.claims[c].constraints.size(); ++k) {
      const Values& values = values_[ConstraintSlot(c, k)];
      if (!values.match || !values.usable) {
        continue;
      }
      std::int64_t need = 0;
      for (const Demand* const demand : demands) {
        need += demand->claim == c && Has(demand->constraints, k) ? demand->need : 0;
      }
      std::vector<std::uint32_t> possible;
      const bool fixed = CommonValues(values, c, k, possible);
      if (need == 0 || (!fixed && need == 1)) {
        continue;  // one device alone matches itself, whatever it has
      }
      std::erase_if(possible,
                    [&](std::uint32_t value) { return !ValueFits(values, value, k, c, demands); });
      if (possible.empty()) {
        return false;
      }
      Words allowed(words_);
      for (const std::uint32_t value : possible) {
        for (std::size_t w = 0; w < words_; ++w) {
          allowed[w] |= values.masks[value][w];
        }
      }
      for (std::size_t j = 0; j < demands.size(); ++j) {
        if (demands[j]->claim == c && Has(demands[j]->constraints, k)) {
          for (std::size_t w = 0; w < words_; ++w) {
            free_[j][w] &= allowed[w];
          }
        }
      }
    }
  }
  return true;
}

bool Pruner::ValueFits(const Values& values,
                       std::uint32_t value,
                       std::uint16_t constraint,
                       std::uint32_t claim,
                       std::span<const Demand* const> demands) {
  const Words& mask = values.masks[value];
  Words& all = both_;
  all.assign(words_, 0);
  std::int64_t need = 0;
  const Words* first_row = nullptr;
  bool alike = true;
  for (std::size_t j = 0; j < demands.size(); ++j) {
    if (demands[j]->claim != claim || !Has(demands[j]->constraints, constraint) ||
        demands[j]->admin) {
      continue;
    }
    if (CountBoth(free_[j], mask) < demands[j]->need) {
      return false;
    }
    need += demands[j]->need;
    for (std::size_t w = 0; w < words_; ++w) {
      all[w] |= free_[j][w] & mask[w];
    }
    alike = alike && (first_row == nullptr || *first_row == free_[j]);
    first_row = &free_[j];
  }
  if (CountBoth(all, shareable_) == 0 && Count(all) < need) {
    return false;
  }
  if (alike || values.count > kMaxTrials) {
    return true;
  }
  trial_.resize(demands.size());
  for (std::size_t j = 0; j < demands.size(); ++j) {
    trial_[j] = free_[j];
    if (demands[j]->claim == claim && Has(demands[j]->constraints, constraint)) {
      for (std::size_t w = 0; w < words_; ++w) {
        trial_[j][w] &= mask[w];
      }
    }
  }
  return CanMatch(demands, trial_, candidate_count(), /*devices=*/true);
}

bool Pruner::DistinctValuesLeft(std::span<const Demand* const> demands) {
  const Prepared& prepared = *search_.problem_.prepared;
  for (std::uint32_t c = demands.empty() ? 0 : demands.front()->claim; c < prepared.claims.size();
       ++c) {
    for (std::uint16_t k = 0; k < prepared.claims[c].constraints.size(); ++k) {
      const Values& values = values_[ConstraintSlot(c, k)];
      if (values.match || !values.usable || values.count == 0) {
        continue;
      }
      const std::size_t words = (values.count + 63) / 64;
      Words used(words);
      for (const Search::Taken& taken : search_.taken_) {
        if (taken.request->claim != c || !Has(taken.request->constraints, k)) {
          continue;
        }
        for (const auto& [id, d] : CandidatesOf(taken.candidate.device->id)) {
          for (const std::uint32_t value : values.of[d]) {
            used[value >> 6U] |= std::uint64_t{1} << (value & 63U);
          }
        }
      }
      std::vector<const Demand*> in_scope;
      std::vector<Words> rows;
      for (std::size_t j = 0; j < demands.size(); ++j) {
        if (demands[j]->claim != c || !Has(demands[j]->constraints, k)) {
          continue;
        }
        in_scope.push_back(demands[j]);
        Words& row = rows.emplace_back(words);
        ForEachBit(free_[j], [&](std::uint32_t d) {
          for (const std::uint32_t value : values.of[d]) {
            row[value >> 6U] |= std::uint64_t{1} << (value & 63U);
          }
        });
        for (std::size_t w = 0; w < words; ++w) {
          row[w] &= ~used[w];
        }
      }
      if (!CanMatch(in_scope, rows, values.count, /*devices=*/false)) {
        return false;
      }
    }
  }
  return true;
}

// The least the remaining requests must take of every counter must be left.
bool Pruner::CountersLeft(std::span<const Demand* const> demands) {
  const auto& pools = search_.problem_.view->pools;
  for (std::uint32_t p = 0; p < pools.size(); ++p) {
    const PoolView& pool = *pools[p];
    if (pool.cells.empty()) {
      continue;
    }
    std::vector<Int128> least(pool.cells.size());
    std::vector<std::vector<Int128>> amounts(pool.cells.size());
    for (std::size_t j = 0; j < demands.size(); ++j) {
      if (demands[j]->admin && !search_.features_.compatible) {
        continue;
      }
      std::int64_t available = 0;
      for (auto& list : amounts) {
        list.clear();
      }
      ForEachBit(free_[j], [&](std::uint32_t c) {
        ++available;
        const Candidate& candidate = candidates_[c];
        const Consumer* const found = search_.ConsumerOf(candidate);
        if (candidate.pool != p || found == nullptr || Bit(shareable_, c)) {
          return;  // shares may be charged already
        }
        const Consumer& consumer = *found;
        for (std::uint32_t i = consumer.first_use; i < consumer.end_use; ++i) {
          amounts[pool.uses[i].cell].push_back(pool.uses[i].amount.nanos);
        }
      });
      for (std::size_t cell = 0; cell < amounts.size(); ++cell) {
        auto& list = amounts[cell];
        const auto size = static_cast<std::int64_t>(list.size());
        const std::int64_t forced = demands[j]->need - std::max<std::int64_t>(available - size, 0);
        if (forced <= 0) {
          continue;
        }
        const auto end = list.begin() + std::min(forced, size);
        std::partial_sort(list.begin(), end, list.end());
        for (auto at = list.begin(); at != end; ++at) {
          least[cell] = quantity::SaturatingAdd(least[cell], std::max<Int128>(*at, 0));
        }
      }
    }
    const std::vector<Int128>& left = search_.LedgerOf(p).left();
    for (std::size_t cell = 0; cell < least.size(); ++cell) {
      if (least[cell] > 0 && least[cell] > left[cell]) {
        return false;
      }
    }
  }
  return true;
}

// The cell that a device would use up most of; every device counts for one cell only.
std::uint32_t Pruner::TightestCell(const Candidate& candidate, const Consumer& consumer) {
  const PoolView& pool = *search_.problem_.view->pools[candidate.pool];
  const std::vector<Int128>& left = search_.LedgerOf(candidate.pool).left();
  std::uint32_t tightest = pool.uses[consumer.first_use].cell;
  double most = -1;
  for (std::uint32_t i = consumer.first_use; i < consumer.end_use; ++i) {
    const CounterUse& use = pool.uses[i];
    const double share =
        static_cast<double>(use.amount.nanos) / std::max(static_cast<double>(left[use.cell]), 1e-9);
    if (share > most) {
      most = share;
      tightest = use.cell;
    }
  }
  return tightest;
}

// No more devices of a cell can be taken than its smallest ones that fit together: those places are
// matched with the requests like devices.
bool Pruner::SlotsLeft(std::span<const Demand* const> demands) {
  std::vector<const Demand*> matched;
  std::vector<std::uint32_t> rows;
  both_.assign(words_, 0);
  for (std::uint32_t j = 0; j < demands.size(); ++j) {
    if (demands[j]->admin || CountBoth(free_[j], shareable_) != 0) {
      continue;  // counters may be charged already, or not at all
    }
    matched.push_back(demands[j]);
    rows.push_back(j);
    for (std::size_t w = 0; w < words_; ++w) {
      both_[w] |= free_[j][w];
    }
  }
  // Places: those of a cell one after the other, and one for each device without counters.
  struct Cell {
    std::vector<Int128> amounts;
    std::uint32_t first = 0, end = 0;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, Cell> cells;
  std::vector<Cell*> cell_of(candidate_count());
  ForEachBit(both_, [&](std::uint32_t c) {
    const Candidate& candidate = candidates_[c];
    const Consumer* const consumer = search_.ConsumerOf(candidate);
    if (consumer == nullptr || consumer->first_use == consumer->end_use) {
      return;
    }
    const std::uint32_t tightest = TightestCell(candidate, *consumer);
    cell_of[c] = &cells[{candidate.pool, tightest}];
    Int128 amount = 0;
    for (std::uint32_t i = consumer->first_use; i < consumer->end_use; ++i) {
      const CounterUse& use = search_.problem_.view->pools[candidate.pool]->uses[i];
      amount = use.cell == tightest ? use.amount.nanos : amount;
    }
    cell_of[c]->amounts.push_back(amount);
  });
  std::uint32_t places = 0;
  for (auto& [key, cell] : cells) {
    Int128 left = search_.LedgerOf(key.first).left()[key.second];
    std::sort(cell.amounts.begin(), cell.amounts.end());
    cell.first = places;
    for (const Int128 amount : cell.amounts) {
      left = quantity::SaturatingSubtract(left, amount);
      if (left < 0) {
        break;
      }
      ++places;
    }
    cell.end = places;
  }
  std::vector<Words> place_rows(matched.size(), Words((places + candidate_count() + 63U) / 64U));
  for (std::size_t m = 0; m < matched.size(); ++m) {
    Words& row = place_rows[m];
    ForEachBit(free_[rows[m]], [&](std::uint32_t c) {
      const std::uint32_t first = cell_of[c] != nullptr ? cell_of[c]->first : places + c;
      const std::uint32_t end = cell_of[c] != nullptr ? cell_of[c]->end : places + c + 1;
      for (std::uint32_t place = first; place < end; ++place) {
        row[place >> 6U] |= std::uint64_t{1} << (place & 63U);
      }
    });
  }
  return CanMatch(matched, place_rows, places + candidate_count(), /*devices=*/false);
}

// Bipartite matching of requests (with their counts) and columns. Shared devices serve any number
// of requests, once each, so they are set off against the counts first.
bool Pruner::CanMatch(std::span<const Demand* const> demands,
                      std::span<const Words> rows,
                      std::uint32_t columns,
                      bool devices) {
  const std::size_t words = (columns + 63U) / 64U;
  // All together first: the usual reason, and quick to tell.
  both_.assign(words, 0);
  std::int64_t all = 0;
  for (std::uint32_t j = 0; j < demands.size(); ++j) {
    if (demands[j]->admin && devices) {
      continue;
    }
    all += std::max<std::int64_t>(demands[j]->need - (devices ? CountBoth(rows[j], shareable_) : 0),
                                  0);
    for (std::size_t w = 0; w < words; ++w) {
      both_[w] |= rows[j][w] & (devices ? ~shareable_[w] : ~std::uint64_t{0});
    }
  }
  if (Count(both_) < all) {
    return false;
  }
  owner_.assign(columns, -1);
  occupied_.assign(words, 0);
  visited_.assign(words, 0);
  for (std::uint32_t j = 0; j < demands.size(); ++j) {
    std::int64_t need = demands[j]->need;
    if (demands[j]->admin && devices) {
      continue;  // admin access shares with other claims
    }
    if (devices) {
      need -= CountBoth(rows[j], shareable_);
    }
    for (; need > 0; --need) {
      std::fill(visited_.begin(), visited_.end(), 0);
      if (devices) {
        visited_ = shareable_;
      }
      if (!Augment(j, rows)) {
        return false;
      }
    }
  }
  return true;
}

bool Pruner::Augment(std::uint32_t demand, std::span<const Words> rows) {
  const Words& row = rows[demand];
  for (std::size_t w = 0; w < row.size(); ++w) {
    const std::uint64_t open = row[w] & ~occupied_[w] & ~visited_[w];
    if (open != 0) {
      const auto c =
          static_cast<std::uint32_t>(w * 64 + static_cast<std::size_t>(std::countr_zero(open)));
      occupied_[w] |= open & (~open + 1);
      owner_[c] = static_cast<std::int32_t>(demand);
      return true;
    }
  }
  for (std::size_t w = 0; w < row.size(); ++w) {
    for (std::uint64_t bits = row[w] & ~visited_[w]; bits != 0; bits = row[w] & ~visited_[w]) {
      const auto c =
          static_cast<std::uint32_t>(w * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
      visited_[w] |= std::uint64_t{1} << (c & 63U);
      const auto other = static_cast<std::uint32_t>(owner_[c]);
      if (other != demand && Augment(other, rows)) {
        owner_[c] = static_cast<std::int32_t>(demand);
        return true;
      }
    }
  }
  return false;
}

}  // namespace allot::allocator
