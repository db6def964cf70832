// ClaimCache: every claim as the scheduler must see it: what the server showed, or what we wrote
// since.
//
// Each allocated claim holds its devices in AllocatedState through a handle: taken when a decision
// is assumed, or when the server shows an allocation; given back when the allocation goes, the
// claim goes, or our own write failed. Thread safety: the scheduler's thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "api/resource/v1.gen.h"
#include "client/informer.h"
#include "client/typed.h"
#include "inventory/allocated_state.h"
#include "inventory/inventory.h"

namespace allot::scheduler {

/// What a change of a claim means for pods that wait.
struct ClaimEffect {
  bool created = false;
  bool changed = false;     ///< something pods that name the claim may wait for
  bool given_back = false;  ///< devices became free
};

class ClaimCache {
 public:
  using Claim = api::resource::ResourceClaim;

  /// `shown` is where changes come from; claims it still has decoded are not decoded again. May be
  /// null. REQUIRES: all outlive the cache.
  ClaimCache(inventory::Inventory& inventory,
             inventory::AllocatedState& allocated,
             const client::Informer* shown = nullptr)
      : inventory_(inventory), allocated_(allocated), shown_(shown) {}

  /// Takes over what the informer saw.
  ClaimEffect Apply(const client::Change& change);

  /// The newest version known; its view is null when there is no such claim.
  [[nodiscard]] client::Typed<Claim> Current(std::string_view ns, std::string_view name) const;
  /// Whether a decision about the claim is on its way to the server.
  [[nodiscard]] bool InFlight(std::string_view ns, std::string_view name) const;

  /// A decision gives `allocation` to the claim: its devices are taken from now on.
  void Assume(const Claim& claim, const api::resource::AllocationResult& allocation);
  /// The server took our write: this is the claim now.
  void Written(const client::Item& item);
  /// Our write of `claim` was not made after all. Returns whether devices became free.
  bool Forget(const Claim& claim);

  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    client::ObjectRef seen;
    client::Item written;  ///< newer than `seen`, else empty
    inventory::AllocatedState::Handle handle;
    bool in_flight = false;  ///< assumed, neither written nor forgotten
    bool confirmed = false;  ///< the handle is what the server showed
  };

  [[nodiscard]] const Entry* Find(std::string_view ns, std::string_view name) const;

  inventory::Inventory& inventory_;
  inventory::AllocatedState& allocated_;
  const client::Informer* shown_;
  std::unordered_map<std::string, Entry> entries_;
};

}  // namespace allot::scheduler
