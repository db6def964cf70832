#include "allocator/pruner.h"

#include <algorithm>
#include <bit>

namespace allot::allocator {
namespace {

using quantity::Int128;

constexpr std::size_t kMaxMemo = std::size_t{1} << 20U;

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
    if (taken.request->admin) {
      a = Mix(a, 0xAD);  // may not have been charged for counters
      b = Mix(b, 0xAD);
    }
    if (taken.request->claim == choice.claim) {
      // In this claim it also counts which constraints saw the device.
      a = Mix(a, 0xC1);
      b = Mix(b, 0xC1);
      if (!taken.request->derived.empty()) {
        // Its constraints saw values of its own.
        a = Mix(a, search_.IndexOf(*taken.request) + 0xD1);
        b = Mix(b, search_.IndexOf(*taken.request) + 0xD1);
      }
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

}  // namespace allot::allocator
