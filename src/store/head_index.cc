#include "store/head_index.h"

#include <utility>

#include "store/entry_maker.h"

namespace allot::store {
namespace {

constexpr std::size_t kFirstSlots = 1024;

}  // namespace

HeadIndex::HeadIndex() : slots_(kFirstSlots) {}

HeadIndex::~HeadIndex() {
  for (const Slot& slot : slots_) {
    if (slot.entry != nullptr) {
      slot.entry->Release();
    }
  }
}

// The slot of the key, or the empty one where it belongs.
std::size_t HeadIndex::Probe(const Key& key, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].entry != nullptr) {
    if (slots_[at].hash == hash && slots_[at].entry->resource() == key.resource &&
        slots_[at].entry->key() == key.name) {
      break;
    }
    at = (at + 1) & mask;
  }
  return at;
}

const Entry* HeadIndex::Find(const Key& key, std::uint32_t hash) const {
  return slots_[Probe(key, hash)].entry;
}

base::Ref<const Entry> HeadIndex::Put(base::Ref<const Entry> entry) {
  const std::uint32_t hash = EntryMaker::HashOf(*entry);
  entry->AddRef();
  const std::size_t at = Probe({entry->resource(), entry->key()}, hash);
  const Entry* const before = std::exchange(slots_[at].entry, entry.get());
  slots_[at].hash = hash;
  if (before == nullptr && ++size_ * 4 > slots_.size() * 3) {
    Grow();
  }
  return base::Ref<const Entry>::Adopt(before);
}

base::Ref<const Entry> HeadIndex::Erase(const Key& key, std::uint32_t hash) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t hole = Probe(key, hash);
  const Entry* const before = std::exchange(slots_[hole].entry, nullptr);
  if (before == nullptr) {
    return nullptr;
  }
  --size_;
  // Entries behind the hole that could not stand at their own place move up, so that no probe stops
  // early.
  for (std::size_t at = (hole + 1) & mask; slots_[at].entry != nullptr; at = (at + 1) & mask) {
    const std::size_t home = slots_[at].hash & mask;
    if (((at - home) & mask) >= ((at - hole) & mask)) {
      slots_[hole] = std::exchange(slots_[at], Slot{});
      hole = at;
    }
  }
  return base::Ref<const Entry>::Adopt(before);
}

void HeadIndex::Grow() {
  std::vector<Slot> before(slots_.size() * 2);
  before.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : before) {
    if (slot.entry != nullptr) {
      std::size_t at = slot.hash & mask;
      while (slots_[at].entry != nullptr) {
        at = (at + 1) & mask;
      }
      slots_[at] = slot;
    }
  }
}

}  // namespace allot::store
