#include "allocator/pruner.h"

#include <algorithm>
#include <bit>

namespace allot::allocator {

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

}  // namespace allot::allocator
