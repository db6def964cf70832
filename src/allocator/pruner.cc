#include "allocator/pruner.h"

#include <algorithm>
#include <bit>

namespace allot::allocator {
namespace {

using inventory::Consumer;
using inventory::PoolView;
using quantity::Int128;

constexpr std::size_t kMaxMemo = std::size_t{1} << 20U;
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

std::uint64_t Mix(std::uint64_t h, std::uint64_t value) {
  h ^= value * 0x9E3779B97F4A7C15ULL;
  h = (h ^ (h >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  return h ^ (h >> 27U);
}

}  // namespace

std::uint32_t Pruner::NextCandidate(const PreparedRequest& request, std::uint32_t from) const {
  const Words& row = rows_[row_of_[search_.IndexOf(request)]];
  for (std::size_t w = from >> 6U; w < words_; ++w) {
    std::uint64_t bits = row[w];
    if (w == from >> 6U) {
      bits &= ~std::uint64_t{0} << (from & 63U);
    }
    if (bits != 0) {
      return static_cast<std::uint32_t>(w * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
    }
  }
  return candidate_count();
}

std::span<const std::pair<std::uint32_t, std::uint32_t>> Pruner::CandidatesOf(
    inventory::DeviceId id) const {
  const auto first =
      std::lower_bound(by_id_.begin(), by_id_.end(), std::pair(Value(id), std::uint32_t{0}));
  auto last = first;
  while (last != by_id_.end() && last->first == Value(id)) {
    ++last;
  }
  return {first, last};
}

bool Pruner::Promising(const Search::Choice& choice,
                       const PreparedRequest& request,
                       std::uint32_t first) {
  if (!failed_.empty() && failed_.contains(KeyOf(choice, request, first))) {
    return false;
  }
  Demand current;
  current.need = search_.CountOf(request) - choice.index;
  current.row = row_of_[search_.IndexOf(request)];
  current.claim = choice.claim;
  current.admin = request.admin;
  current.constraints = request.constraints;
  return LookAhead(first_demand_[choice.claim] + choice.request + 1, &current, first);
}

void Pruner::Remember(const Search::Choice& choice,
                      const PreparedRequest& request,
                      std::uint32_t first) {
  if (failed_.size() < kMaxMemo) {
    failed_.insert(KeyOf(choice, request, first));
  }
}

// Two states with one key differ by an exchange of twins only, so they end alike.
Pruner::Key Pruner::KeyOf(const Search::Choice& choice,
                          const PreparedRequest& request,
                          std::uint32_t first) const {
  Key key;
  const auto add = [&](std::uint64_t a, std::uint64_t b) {
    key.a += Mix(a, 0x51);
    key.b += Mix(b, 0xA7);
  };
  for (const Search::Taken& taken : search_.taken_) {
    const auto found = CandidatesOf(taken.candidate.device->id);
    const std::uint32_t c = std::find_if(found.begin(), found.end(), [&](const auto& entry) {
                              return candidates_[entry.second].device == taken.candidate.device;
                            })->second;
    auto [a, b] = signature_hash_[signatures_[c]];
    if (taken.shared) {
      a = Mix(a, c + 1);  // shares are told apart by device and by what they consume
      b = Mix(b, c + 1);
      for (std::uint32_t i = taken.first_amount; i < taken.end_amount; ++i) {
        const Int128 nanos = search_.amounts_[i].amount.nanos;
        a = Mix(a, static_cast<std::uint64_t>(nanos));
        b = Mix(b, static_cast<std::uint64_t>(nanos >> 32));
      }
    }
    if (taken.request->claim == choice.claim) {
      // In this claim it also counts which constraints saw the device.
      a = Mix(a, 0xC1);
      b = Mix(b, 0xC1);
      for (const std::uint16_t k : taken.request->constraints) {
        a = Mix(a, k + 7U);
        b = Mix(b, k + 7U);
      }
    }
    add(a, b);
    if (c >= first) {
      add(Mix(a, 0xF1), Mix(b, 0xF1));  // what is left from here on
    }
  }
  for (const std::uint64_t part :
       {std::uint64_t{choice.claim},
        std::uint64_t{choice.request},
        std::uint64_t{static_cast<std::uint32_t>(request.subrequest + 1)},
        std::uint64_t{choice.index},
        std::uint64_t{first},
        std::uint64_t{search_.results_[choice.claim]}}) {
    key.a = Mix(key.a, part + 0x1000);
    key.b = Mix(key.b, part + 0x2000);
  }
  return key;
}

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
         CountersLeft(left_);
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
      bool fixed = false;
      std::vector<std::uint32_t> possible;
      for (const Search::Taken& taken : search_.taken_) {
        if (taken.request->claim != c || !Has(taken.request->constraints, k)) {
          continue;
        }
        for (const auto& [id, d] : CandidatesOf(taken.candidate.device->id)) {
          if (candidates_[d].device != taken.candidate.device) {
            continue;
          }
          if (!fixed) {
            possible = values.of[d];
          } else {
            std::erase_if(possible, [&](std::uint32_t value) {
              return !std::binary_search(values.of[d].begin(), values.of[d].end(), value);
            });
          }
          fixed = true;
        }
      }
      if (need == 0 || (!fixed && need == 1)) {
        continue;  // one device alone matches itself, whatever it has
      }
      if (!fixed) {
        possible.resize(values.count);
        for (std::uint32_t v = 0; v < values.count; ++v) {
          possible[v] = v;
        }
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
          least[cell] += std::max<Int128>(*at, 0);
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
