// Building the Pruner: rows, values and demands of one problem. Its twins: pruner_twins.cc.
#include <algorithm>

#include "allocator/pruner.h"

namespace allot::allocator {
namespace {

using inventory::Consumer;
using inventory::PoolState;
using inventory::PoolView;

// A constraint with more values than this is left to the search.
constexpr std::size_t kMaxValueBits = std::size_t{1} << 27;

bool Bit(const std::vector<std::uint64_t>& words, std::uint32_t bit) {
  return (words[bit >> 6U] >> (bit & 63U) & 1U) != 0;
}

void SetBit(std::vector<std::uint64_t>& words, std::uint32_t bit) {
  words[bit >> 6U] |= std::uint64_t{1} << (bit & 63U);
}

bool SameTolerations(const schema::List<api::resource::DeviceToleration>& a,
                     const schema::List<api::resource::DeviceToleration>& b) {
  return a.items == b.items ||
         std::equal(a.begin(), a.end(), b.begin(), b.end(), [](auto& x, auto& y) {
           return x.key == y.key && x.operator_ == y.operator_ && x.value == y.value &&
                  x.effect == y.effect;
         });
}

bool SameCapacity(const schema::Map<quantity::Quantity>* a,
                  const schema::Map<quantity::Quantity>* b) {
  if (a == nullptr || b == nullptr) {
    return a == b;
  }
  return std::equal(a->begin(), a->end(), b->begin(), b->end(), [](auto& x, auto& y) {
    return x.key == y.key && x.value == y.value && x.value.format == y.value.format;
  });
}

// Requests that every device answers alike.
bool SameShape(const PreparedRequest& a, const PreparedRequest& b) {
  return a.selectors == b.selectors && a.admin == b.admin && a.derived.empty() &&
         b.derived.empty() && a.constraints == b.constraints &&
         (a.constraints.empty() || a.claim == b.claim) &&
         SameTolerations(a.tolerations, b.tolerations) && SameCapacity(a.capacity, b.capacity);
}

}  // namespace

Pruner::Built Pruner::Build() {
  failed_.clear();
  if (!CollectRows() || !CollectValues()) {
    if (search_.Unfinished()) {
      return Built::kUnfinished;
    }
    search_.error_.clear();
    return Built::kUnsuitable;
  }
  CollectDemands();
  if (!LookAhead(0, nullptr, 0)) {
    return Built::kImpossible;
  }
  CollectSignatures();
  return Built::kReady;
}

Search::Tested Pruner::Static(const PreparedRequest& request, const Candidate& candidate) {
  using Tested = Search::Tested;
  const inventory::Device& device = *candidate.device;
  if (search_.HeldByOthers(request, device)) {
    return Tested::kNo;  // its expressions are never evaluated, so they cannot fail either
  }
  Tested tested = search_.Selectable(request, device);
  if (tested == Tested::kYes && search_.features_.consumable_capacity) {
    tested = search_.CapacityLeft(request, device, /*name_only=*/false);
  }
  if (tested != Tested::kYes) {
    return tested;
  }
  if (search_.NodeFeatureMissing(device) || search_.CountersUnsupported(device) ||
      !search_.Tolerated(request, device)) {
    return Tested::kNo;
  }
  if (search_.Charges(request, device)) {
    const Consumer& consumer = *search_.ConsumerOf(candidate);
    CounterLedger& ledger = search_.LedgerOf(candidate.pool);
    if (!ledger.Take(consumer)) {
      return Tested::kNo;
    }
    ledger.Undo(consumer);
  }
  for (const std::uint16_t ordinal : request.constraints) {
    ValueIds values;
    if (search_.ValuesOf(request,
                         search_.problem_.prepared->claims[request.claim].constraints[ordinal],
                         device,
                         values) == Tested::kFatal) {
      return Tested::kFatal;
    }
    Constraint& constraint =
        *search_.constraints_[search_.first_constraint_[request.claim] + ordinal];
    if (!constraint.Add(values)) {
      return Tested::kNo;
    }
    constraint.Undo();
  }
  return Tested::kYes;
}

bool Pruner::FillRow(const PreparedRequest& request, Words& row) {
  std::uint32_t ordinal = 0;
  const auto& pools = search_.problem_.view->pools;
  for (std::uint32_t p = 0; p < pools.size(); ++p) {
    const PoolView& pool = *pools[p];
    if (pool.state != PoolState::kComplete) {
      continue;
    }
    for (std::size_t s = 0; s < pool.slices.size(); ++s) {
      for (const inventory::Device& device : pool.slices[s]->devices) {
        const Candidate candidate{&device, p, pool.first[s] + device.position};
        switch (Static(request, candidate)) {
          case Search::Tested::kFatal: return false;
          case Search::Tested::kYes: SetBit(row, ordinal); break;
          case Search::Tested::kNo: break;
        }
        ++ordinal;
      }
    }
  }
  return true;
}

bool Pruner::CollectRows() {
  const Prepared& prepared = *search_.problem_.prepared;
  const auto& pools = search_.problem_.view->pools;
  std::vector<Candidate> all;
  std::vector<std::uint32_t> first_of_pool;
  for (std::uint32_t p = 0; p < pools.size(); ++p) {
    first_of_pool.push_back(static_cast<std::uint32_t>(all.size()));
    if (pools[p]->state != PoolState::kComplete) {
      continue;
    }
    for (std::size_t s = 0; s < pools[p]->slices.size(); ++s) {
      for (const inventory::Device& device : pools[p]->slices[s]->devices) {
        all.push_back({&device, p, pools[p]->first[s] + device.position});
      }
    }
  }
  search_.looked_at_ += all.size();
  const std::size_t words = (all.size() + 63) / 64;
  std::vector<Words> rows;
  std::vector<std::uint32_t> shapes;
  row_of_.assign(prepared.requests.size(), 0);
  for (std::uint32_t r = 0; r < prepared.requests.size(); ++r) {
    const PreparedRequest& request = prepared.requests[r];
    if (request.mode == Mode::kAll) {
      if (!request.constraints.empty()) {
        return false;
      }
      Words row(words);
      for (const Candidate& candidate : search_.AllOf(request)) {
        SetBit(row, first_of_pool[candidate.pool] + candidate.position);
      }
      row_of_[r] = static_cast<std::uint32_t>(rows.size());
      rows.push_back(std::move(row));
      continue;
    }
    const auto twin = std::find_if(shapes.begin(), shapes.end(), [&](std::uint32_t other) {
      return SameShape(request, prepared.requests[other]);
    });
    if (twin != shapes.end()) {
      row_of_[r] = row_of_[*twin];
      continue;
    }
    Words row(words);
    search_.looked_at_ += all.size();
    if (!FillRow(request, row)) {
      return false;
    }
    row_of_[r] = static_cast<std::uint32_t>(rows.size());
    rows.push_back(std::move(row));
    shapes.push_back(r);
  }
  // Keep the devices that some request can use.
  std::vector<std::uint32_t> kept;
  for (std::uint32_t c = 0; c < all.size(); ++c) {
    if (std::any_of(rows.begin(), rows.end(), [&](const Words& row) { return Bit(row, c); })) {
      kept.push_back(c);
    }
  }
  candidates_.clear();
  words_ = (kept.size() + 63) / 64;
  rows_.assign(rows.size(), Words(words_));
  shareable_.assign(words_, 0);
  for (std::uint32_t c = 0; c < kept.size(); ++c) {
    candidates_.push_back(all[kept[c]]);
    if (search_.IsShareable(*all[kept[c]].device)) {
      SetBit(shareable_, c);
    }
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (Bit(rows[r], kept[c])) {
        SetBit(rows_[r], c);
      }
    }
  }
  by_id_.clear();
  for (std::uint32_t c = 0; c < candidates_.size(); ++c) {
    by_id_.emplace_back(Value(candidates_[c].device->id), c);
  }
  std::sort(by_id_.begin(), by_id_.end());
  has_counters_ = CountersCount();
  return true;
}

// Whether counters can be reckoned with: some are used, and none is given back by a negative use.
bool Pruner::CountersCount() const {
  bool used = false;
  for (const Candidate& candidate : candidates_) {
    const Consumer* const consumer = search_.ConsumerOf(candidate);
    if (consumer == nullptr) {
      continue;
    }
    used = true;
    const PoolView& pool = *search_.problem_.view->pools[candidate.pool];
    for (std::uint32_t i = consumer->first_use; i < consumer->end_use; ++i) {
      if (pool.uses[i].amount.nanos < 0) {
        return false;
      }
    }
  }
  return used;
}

std::uint32_t Pruner::ConstraintSlot(std::uint32_t claim, std::uint16_t constraint) const {
  return search_.first_constraint_[claim] + constraint;
}

bool Pruner::CollectValues() {
  const Prepared& prepared = *search_.problem_.prepared;
  values_.clear();
  for (std::uint32_t c = 0; c < prepared.claims.size(); ++c) {
    const PreparedClaim& claim = prepared.claims[c];
    for (std::uint16_t k = 0; k < claim.constraints.size(); ++k) {
      Values& values = values_.emplace_back();
      values.match = claim.constraints[k].kind == ConstraintKind::kMatch;
      values.of.resize(candidates_.size());
      // Derived values differ from request to request: such a constraint is left to the search.
      bool derived = false;
      const PreparedRequest* in_scope = nullptr;
      Words scope(words_);
      for (const RequestChoices& choices : claim.requests) {
        for (std::uint32_t r = choices.first; r < choices.end; ++r) {
          const PreparedRequest& request = prepared.requests[r];
          if (std::find(request.constraints.begin(), request.constraints.end(), k) ==
              request.constraints.end()) {
            continue;
          }
          in_scope = &request;
          derived |= !request.derived.empty();
          for (std::size_t w = 0; w < words_; ++w) {
            scope[w] |= rows_[row_of_[r]][w];
          }
        }
      }
      if (derived || in_scope == nullptr) {
        continue;
      }
      NumberValues(claim.constraints[k], scope, values);
      values.usable = values.count * std::max<std::size_t>(words_, 1) * 64 <= kMaxValueBits;
      if (values.usable && values.match) {
        values.masks.assign(values.count, Words(words_));
        for (std::uint32_t d = 0; d < candidates_.size(); ++d) {
          for (const std::uint32_t value : values.of[d]) {
            SetBit(values.masks[value], d);
          }
        }
      }
    }
  }
  return true;
}

// Fills values.of with numbers from 0 on.
void Pruner::NumberValues(const PreparedConstraint& constraint,
                          const Words& scope,
                          Values& values) {
  numbers_.clear();
  for (std::uint32_t d = 0; d < candidates_.size(); ++d) {
    if (Bit(scope, d)) {
      const auto ids = search_.columns_.Of(*constraint.column, *candidates_[d].device).ids;
      values.of[d].assign(ids.begin(), ids.end());
      numbers_.insert(numbers_.end(), ids.begin(), ids.end());
    }
  }
  std::sort(numbers_.begin(), numbers_.end());
  numbers_.erase(std::unique(numbers_.begin(), numbers_.end()), numbers_.end());
  values.count = static_cast<std::uint32_t>(numbers_.size());
  for (std::uint32_t d = 0; d < candidates_.size(); ++d) {
    if (!Bit(scope, d)) {
      continue;
    }
    for (std::uint32_t& value : values.of[d]) {
      value = static_cast<std::uint32_t>(std::lower_bound(numbers_.begin(), numbers_.end(), value) -
                                         numbers_.begin());
    }
    if (values.of[d].empty() && !values.match) {
      // Distinct without a value: never equal to another, so a value of its own.
      values.of[d].push_back(values.count++);
    }
  }
}

std::uint32_t Pruner::UnionRow(std::span<const std::uint32_t> rows) {
  if (rows.size() == 1) {
    return rows.front();
  }
  Words all(words_);
  for (const std::uint32_t row : rows) {
    for (std::size_t w = 0; w < words_; ++w) {
      all[w] |= rows_[row][w];
    }
  }
  rows_.push_back(std::move(all));
  return static_cast<std::uint32_t>(rows_.size() - 1);
}

void Pruner::CollectDemands() {
  const Prepared& prepared = *search_.problem_.prepared;
  demands_.clear();
  first_demand_.clear();
  for (std::uint32_t c = 0; c < prepared.claims.size(); ++c) {
    first_demand_.push_back(static_cast<std::uint32_t>(demands_.size()));
    for (const RequestChoices& choices : prepared.claims[c].requests) {
      Demand demand;
      demand.claim = c;
      demand.need = kMaxResults + 1;
      std::vector<std::uint32_t> rows;
      for (std::uint32_t r = choices.first; r < choices.end; ++r) {
        const PreparedRequest& request = prepared.requests[r];
        // An empty All list cannot be chosen; it asks for nothing here, which is on the safe side.
        demand.need = std::min(demand.need, search_.CountOf(request));
        demand.admin |= request.admin;
        rows.push_back(row_of_[r]);
        if (r == choices.first) {
          demand.constraints = request.constraints;
        } else {
          std::erase_if(demand.constraints, [&](std::uint16_t k) {
            return std::find(request.constraints.begin(), request.constraints.end(), k) ==
                   request.constraints.end();
          });
        }
      }
      demand.row = UnionRow(rows);
      demands_.push_back(std::move(demand));
    }
  }
}

}  // namespace allot::allocator
