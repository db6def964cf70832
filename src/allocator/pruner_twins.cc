// Twins of the Pruner: what tells devices apart, counter sets that hold the same, and the keys of
// states.
//
// Why twins may be skipped, though one is taken from another counter set: say the search found
// nothing with d, and d' comes later. Let p be an exchange of devices that changes no rule of the
// problem, changes nothing of what is taken so far, and takes d' to d. An answer with d' here would
// be turned by p into an answer that comes earlier in the order of the walk (request by request the
// sorted devices: with d for d' the first new one is smaller). All earlier ones have been walked,
// so there is none. For d and d' of one set, p exchanges these two. For equal sets, it exchanges
// the sets with all their devices, each for one that differs in the set only; what is taken of the
// two, by which request, must be the same.
#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include "allocator/pruner.h"
#include "quantity/saturating.h"

namespace allot::allocator {
namespace {

using inventory::Consumer;
using inventory::PoolView;
using quantity::Int128;

constexpr std::size_t kMaxMemo = std::size_t{1} << 20U;

std::uint64_t Mix(std::uint64_t h, std::uint64_t value) {
  h ^= value * 0x9E3779B97F4A7C15ULL;
  h = (h ^ (h >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  return h ^ (h >> 27U);
}

std::uint64_t MixIn(std::uint64_t h, std::uint64_t value) {
  h ^= value + 0x9E3779B97F4A7C15ULL + (h << 6U) + (h >> 2U);
  h *= 0xBF58476D1CE4E5B9ULL;
  return h ^ (h >> 31U);
}

struct Hasher {
  std::uint64_t a = 0x243F6A8885A308D3ULL;
  std::uint64_t b = 0x13198A2E03707344ULL;
  void Add(std::uint64_t value) {
    a = MixIn(a, value);
    b = MixIn(b, ~value);
  }
  void Add(Int128 value) {
    Add(static_cast<std::uint64_t>(value));
    Add(static_cast<std::uint64_t>(value >> 64));
  }
  void Add(std::string_view text) {
    Add(std::uint64_t{text.size()});
    for (const char c : text) {
      Add(std::uint64_t{static_cast<unsigned char>(c)});
    }
  }
};

bool Bit(const std::vector<std::uint64_t>& words, std::uint32_t bit) {
  return (words[bit >> 6U] >> (bit & 63U) & 1U) != 0;
}

// The counters and sets that devices of one pool tie together: a forest over cells, then sets.
class Ties {
 public:
  explicit Ties(std::size_t nodes) : parent_(nodes) {
    std::iota(parent_.begin(), parent_.end(), std::uint32_t{0});
  }
  std::uint32_t Root(std::uint32_t node) {
    while (parent_[node] != node) {
      node = parent_[node] = parent_[parent_[node]];
    }
    return node;
  }
  void Tie(std::uint32_t a, std::uint32_t b) { parent_[Root(a)] = Root(b); }

 private:
  std::vector<std::uint32_t> parent_;
};

template <typename Visit>
void ForEachNode(const PoolView& pool, const Consumer& consumer, Visit visit) {
  for (std::uint32_t i = consumer.first_use; i < consumer.end_use; ++i) {
    visit(pool.uses[i].cell);
  }
  for (std::uint32_t i = consumer.first_group; i < consumer.end_group; ++i) {
    visit(static_cast<std::uint32_t>(pool.cells.size()) + pool.groups[i].set);
  }
}

}  // namespace

// Bundles: the counter sets that devices tie together. Each gets its nodes (cells and sets) in
// order; places in that order are the same in all bundles alike.
void Pruner::CollectBundles() {
  const auto& pools = search_.problem_.view->pools;
  bundle_of_.assign(candidates_.size(), kNoBundle);
  bundles_.clear();
  for (std::uint32_t p = 0; p < pools.size(); ++p) {
    const PoolView& pool = *pools[p];
    if (pool.cells.empty()) {
      continue;
    }
    Ties ties(pool.cells.size() + pool.counter_sets);
    const auto each = [&](auto visit) {
      for (std::uint32_t c = 0; c < candidates_.size(); ++c) {
        const Consumer* const consumer =
            candidates_[c].pool == p ? search_.ConsumerOf(candidates_[c]) : nullptr;
        if (consumer != nullptr && consumer->first_use != consumer->end_use) {
          visit(c, *consumer);
        }
      }
    };
    each([&](std::uint32_t, const Consumer& consumer) {
      const std::uint32_t first = pool.uses[consumer.first_use].cell;
      ForEachNode(pool, consumer, [&](std::uint32_t node) { ties.Tie(first, node); });
    });
    std::map<std::uint32_t, std::uint32_t> numbers;  // of the roots
    each([&](std::uint32_t c, const Consumer& consumer) {
      const auto [at, added] = numbers.try_emplace(ties.Root(pool.uses[consumer.first_use].cell),
                                                   static_cast<std::uint32_t>(bundles_.size()));
      if (added) {
        bundles_.push_back({p, {}});
      }
      bundle_of_[c] = at->second;
      auto& nodes = bundles_[at->second].nodes;
      ForEachNode(pool, consumer, [&](std::uint32_t node) { nodes.push_back(node); });
    });
  }
  for (Bundle& bundle : bundles_) {
    std::sort(bundle.nodes.begin(), bundle.nodes.end());
    bundle.nodes.erase(std::unique(bundle.nodes.begin(), bundle.nodes.end()), bundle.nodes.end());
  }
}

// What tells a device apart from others, but for the bundle it is of.
Pruner::Key Pruner::TraitsOf(std::uint32_t c, bool any_derived) const {
  const Candidate& candidate = candidates_[c];
  const inventory::Device& device = *candidate.device;
  Hasher hash;
  for (const Words& row : rows_) {
    hash.Add(std::uint64_t{Bit(row, c)});
  }
  for (const Values& values : values_) {
    hash.Add(std::uint64_t{values.of[c].size()});
    for (const std::uint32_t value : values.of[c]) {
      hash.Add(std::uint64_t{value});
    }
  }
  if (any_derived || CandidatesOf(device.id).size() > 1) {
    hash.Add(std::uint64_t{c} + 1);  // not to be exchanged for another
  }
  if (const Consumer* const consumer = search_.ConsumerOf(candidate)) {
    const PoolView& pool = *search_.problem_.view->pools[candidate.pool];
    hash.Add(std::uint64_t{candidate.pool} + 1);
    const auto add_place = [&](std::uint32_t node) {
      if (bundle_of_[c] == kNoBundle) {
        return hash.Add(std::uint64_t{node} + 1);
      }
      const auto& nodes = bundles_[bundle_of_[c]].nodes;
      hash.Add(static_cast<std::uint64_t>(std::lower_bound(nodes.begin(), nodes.end(), node) -
                                          nodes.begin()));
    };
    for (std::uint32_t i = consumer->first_use; i < consumer->end_use; ++i) {
      add_place(pool.uses[i].cell);
      hash.Add(pool.uses[i].amount.nanos);
    }
    for (std::uint32_t i = consumer->first_group; i < consumer->end_group; ++i) {
      add_place(static_cast<std::uint32_t>(pool.cells.size()) + pool.groups[i].set);
      hash.Add(std::uint64_t{pool.groups[i].groups->size()});
      for (const schema::Str group : *pool.groups[i].groups) {
        hash.Add(group);
      }
    }
  }
  if (Bit(shareable_, c)) {
    // Shares add up device by device: twins need equal capacities and equal use so far.
    hash.Add(std::uint64_t{search_.problem_.state->IsShared(device.id)} + 1);
    for (const auto& capacity : device.spec->capacity) {
      hash.Add(capacity.key);
      hash.Add(quantity::SaturatingSubtract(
          capacity.value.value.nanos,
          search_.problem_.state->Consumed(device.id, capacity.key).nanos));
      if (capacity.value.request_policy != nullptr) {
        hash.Add(std::uint64_t{c} + 1);
      }
    }
  }
  return {hash.a, hash.b};
}

// What a bundle is like: what is left of its counters, its groups so far, and its devices.
Pruner::Key Pruner::KindOf(const Bundle& bundle, std::vector<Key>& devices) {
  const PoolView& pool = *search_.problem_.view->pools[bundle.pool];
  const CounterLedger& ledger = search_.LedgerOf(bundle.pool);
  Hasher hash;
  hash.Add(std::uint64_t{bundle.pool});
  for (const std::uint32_t node : bundle.nodes) {
    if (node < pool.cells.size()) {
      hash.Add(std::uint64_t{1});
      hash.Add(ledger.left()[node]);
    } else {
      hash.Add(std::uint64_t{2});
      hash.Add(ledger.GroupsOf(node - static_cast<std::uint32_t>(pool.cells.size())));
    }
  }
  std::sort(devices.begin(), devices.end(), [](const Key& x, const Key& y) {
    return std::pair(x.a, x.b) < std::pair(y.a, y.b);
  });
  for (const Key& device : devices) {
    hash.Add(device.a);
    hash.Add(device.b);
  }
  return {hash.a, hash.b};
}

void Pruner::CollectSignatures() {
  CollectBundles();
  const auto& requests = search_.problem_.prepared->requests;
  const bool any_derived = std::any_of(requests.begin(), requests.end(), [](const auto& request) {
    return !request.derived.empty();
  });
  std::vector<Key> traits;
  std::vector<std::vector<Key>> devices(bundles_.size());
  for (std::uint32_t c = 0; c < candidates_.size(); ++c) {
    traits.push_back(TraitsOf(c, any_derived));
    if (bundle_of_[c] != kNoBundle) {
      devices[bundle_of_[c]].push_back(traits.back());
    }
  }
  std::vector<Key> kinds;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> known;
  for (std::size_t b = 0; b < bundles_.size(); ++b) {
    kinds.push_back(KindOf(bundles_[b], devices[b]));
    known[{kinds[b].a, kinds[b].b}] = 0;
  }
  bundles_alike_ = known.size() < bundles_.size();
  known.clear();
  signatures_.assign(candidates_.size(), 0);
  signature_hash_.clear();
  for (std::uint32_t c = 0; c < candidates_.size(); ++c) {
    std::pair key(traits[c].a, traits[c].b);
    if (bundle_of_[c] != kNoBundle) {
      const Key& kind = kinds[bundle_of_[c]];
      key = {MixIn(key.first, kind.a), MixIn(key.second, kind.b)};
    }
    const auto [at, added] =
        known.try_emplace(key, static_cast<std::uint32_t>(signature_hash_.size()));
    if (added) {
      signature_hash_.push_back(key);
    }
    signatures_[c] = at->second;
  }
}

std::uint32_t Pruner::CandidateOf(const Search::Taken& taken) const {
  const auto found = CandidatesOf(taken.candidate.device->id);
  return std::find_if(found.begin(),
                      found.end(),
                      [&](const auto& entry) {
                        return candidates_[entry.second].device == taken.candidate.device;
                      })
      ->second;
}

void Pruner::AddTo(std::vector<BundleState>& states, std::uint32_t bundle, const Key& part) {
  auto at = std::find_if(
      states.begin(), states.end(), [&](const auto& state) { return state.bundle == bundle; });
  if (at == states.end()) {
    at = states.insert(at, {bundle, {}});
  }
  at->taken.a += part.a;
  at->taken.b += part.b;
}

std::vector<Pruner::BundleState> Pruner::BundleStates() const {
  std::vector<BundleState> states;
  for (const Search::Taken& taken : search_.taken_) {
    if (!bundles_alike_) {
      break;
    }
    const std::uint32_t c = CandidateOf(taken);
    if (bundle_of_[c] == kNoBundle) {
      continue;
    }
    auto [a, b] = signature_hash_[signatures_[c]];
    const std::uint64_t by = search_.IndexOf(*taken.request) + 1;
    // A device of which there are shares is itself, and no other.
    const std::uint64_t itself = taken.shared ? std::uint64_t{c} + 1 : 0;
    AddTo(states, bundle_of_[c], {Mix(Mix(a, by), itself), Mix(Mix(b, ~by), ~itself)});
  }
  return states;
}

Pruner::Key Pruner::TwinKey(std::uint32_t c, const std::vector<BundleState>& states) const {
  const auto at = std::find_if(states.begin(), states.end(), [&](const auto& state) {
    return state.bundle == bundle_of_[c];
  });
  const Key taken = at != states.end() ? at->taken : Key{};
  return {Mix(signatures_[c], taken.a), Mix(~std::uint64_t{signatures_[c]}, taken.b)};
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
  std::vector<BundleState> states;
  for (const Search::Taken& taken : search_.taken_) {
    const std::uint32_t c = CandidateOf(taken);
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
    Key part{Mix(a, 0x51), Mix(b, 0xA7)};
    if (c >= first) {
      part.a += Mix(Mix(a, 0xF1), 0x51);  // what is left from here on
      part.b += Mix(Mix(b, 0xF1), 0xA7);
    }
    if (bundles_alike_ && bundle_of_[c] != kNoBundle) {
      AddTo(states, bundle_of_[c], part);
    } else {
      key.a += part.a;
      key.b += part.b;
    }
  }
  // Of bundles alike it only counts what is taken together from one.
  for (const BundleState& state : states) {
    key.a += Mix(state.taken.a, 0xB5);
    key.b += Mix(state.taken.b, 0xC7);
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
