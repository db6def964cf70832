#include "scheduler/claim_cache.h"

#include <algorithm>
#include <utility>

#include "api/object_key.h"

namespace allot::scheduler {

using api::resource::AllocationResult;
using api::resource::ResourceClaim;
using client::Typed;

namespace {

bool SameDevices(const inventory::ClaimUse& a, const inventory::ClaimUse& b) {
  const auto same_amount = [](const auto& x, const auto& y) {
    return x.name == y.name && x.amount == y.amount;
  };
  return std::ranges::equal(a.devices, b.devices, [&](const auto& x, const auto& y) {
    return x.device == y.device && x.shared == y.shared &&
           std::ranges::equal(x.consumed, y.consumed, same_amount);
  });
}

}  // namespace

const ClaimCache::Entry* ClaimCache::Find(std::string_view ns, std::string_view name) const {
  const auto found = entries_.find(api::KeyOf(ns, name));
  return found != entries_.end() ? &found->second : nullptr;
}

ClaimEffect ClaimCache::Apply(const client::Change& change) {
  const client::ObjectRef& object = change.item.object;
  const std::string key = api::KeyOf(object->namespace_(), object->name());
  ClaimEffect effect;
  if (change.type == client::EventType::kDeleted) {
    const auto found = entries_.find(key);
    if (found != entries_.end()) {
      effect.given_back = static_cast<bool>(found->second.handle);
      effect.changed = true;
      entries_.erase(found);
    }
    return effect;
  }
  Entry& entry = entries_[key];
  effect.created = !entry.seen;
  effect.changed = true;
  if (entry.seen && entry.seen->uid() != object->uid()) {
    effect.given_back = static_cast<bool>(entry.handle);
    entry = Entry();  // deleted and made again under the same name
  }
  entry.seen = object;
  if (entry.written.object) {
    if (entry.written.object->revision() > object->revision()) {
      return effect;  // an older version than ours on its way
    }
    entry.written = {};
  }
  const auto& claim = *static_cast<const ResourceClaim*>(change.item.view.get());
  if (claim.status.allocation != nullptr) {
    entry.in_flight = false;
    // Somebody else may have allocated it otherwise than we assumed, or freed and allocated it
    // again while the informer did not look: what the server says holds.
    inventory::ClaimUse use = inventory_.UseOf(claim, *claim.status.allocation);
    if (!entry.handle || !SameDevices(*entry.handle.use(), use)) {
      effect.given_back |= static_cast<bool>(entry.handle);
      entry.handle = allocated_.Commit(std::move(use));
    }
    entry.confirmed = true;
  } else if (!entry.in_flight && entry.handle) {
    entry.handle = {};
    entry.confirmed = false;
    effect.given_back = true;
  }
  return effect;
}

Typed<ResourceClaim> ClaimCache::Current(std::string_view ns, std::string_view name) const {
  const Entry* const entry = Find(ns, name);
  if (entry == nullptr) {
    return {};
  }
  client::Item item = entry->written;
  if (!item.object) {
    item = shown_ != nullptr ? shown_->FindItem(ns, name) : client::Item{};
    if (item.object.get() != entry->seen.get()) {
      item = {entry->seen, nullptr};
    }
  }
  auto claim = client::ViewOf<ResourceClaim>(item);
  return claim ? *std::move(claim) : Typed<ResourceClaim>{};
}

bool ClaimCache::InFlight(std::string_view ns, std::string_view name) const {
  const Entry* const entry = Find(ns, name);
  return entry != nullptr && entry->in_flight;
}

void ClaimCache::Assume(const ResourceClaim& claim, const AllocationResult& allocation) {
  const auto found = entries_.find(api::KeyOf(claim.metadata.namespace_, claim.metadata.name));
  if (found == entries_.end()) {
    return;
  }
  found->second.handle = allocated_.Commit(inventory_.UseOf(claim, allocation));
  found->second.in_flight = true;
  found->second.confirmed = false;
}

void ClaimCache::Written(const client::Item& item) {
  const auto found = entries_.find(api::KeyOf(item.object->namespace_(), item.object->name()));
  if (found == entries_.end() || found->second.seen->uid() != item.object->uid()) {
    return;
  }
  Entry& entry = found->second;
  entry.in_flight = false;
  if (entry.seen->revision() < item.object->revision()) {
    entry.written = item;
  }
}

bool ClaimCache::Forget(const ResourceClaim& claim) {
  const auto found = entries_.find(api::KeyOf(claim.metadata.namespace_, claim.metadata.name));
  if (found == entries_.end() || found->second.seen->uid() != claim.metadata.uid) {
    return false;  // gone with its devices; another of its name keeps what it holds
  }
  Entry& entry = found->second;
  entry.in_flight = false;
  entry.written = {};
  if (entry.confirmed || !entry.handle) {
    return false;
  }
  entry.handle = {};
  // The server may have shown an allocation while ours was on its way.
  const auto seen = client::ViewOf<ResourceClaim>({entry.seen, nullptr});
  if (seen && (*seen)->status.allocation != nullptr) {
    entry.handle = allocated_.Commit(inventory_.UseOf(**seen, *(*seen)->status.allocation));
    entry.confirmed = true;
  }
  return true;
}

}  // namespace allot::scheduler
