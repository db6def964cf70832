#include "store/entry.h"

#include <cstring>
#include <new>
#include <utility>

#include "base/check.h"
#include "store/entry_maker.h"
#include "store/pool.h"

namespace allot::store {
namespace {

// The lock of one entry's attachments: held for the copy of a pointer, so waiting means spinning a
// few instructions; the holder may be descheduled, hence the wait on the flag after that.
class AttachmentLock {
 public:
  explicit AttachmentLock(std::atomic_flag& flag) : flag_(flag) {
    while (flag_.test_and_set(std::memory_order_acquire)) {
      flag_.wait(true, std::memory_order_relaxed);
    }
  }
  AttachmentLock(const AttachmentLock&) = delete;
  AttachmentLock& operator=(const AttachmentLock&) = delete;
  ~AttachmentLock() {
    flag_.clear(std::memory_order_release);
    flag_.notify_one();
  }

 private:
  std::atomic_flag& flag_;
};

}  // namespace

void Entry::Destroy(const Entry* entry) {
  Pool* const pool = entry->pool_;
  const std::size_t size = sizeof(Entry) + entry->key_size_;
  entry->~Entry();
  pool->Free(const_cast<Entry*>(entry), size);
}

std::shared_ptr<const void> Entry::Attached(std::size_t slot) const {
  ALLOT_DCHECK(slot < kSlots);
  const AttachmentLock lock(busy_);
  if (slot == kTyped) {
    return typed_;
  }
  return others_ != nullptr ? (*others_)[slot - 1] : nullptr;
}

std::shared_ptr<const void> Entry::Attach(std::size_t slot,
                                          std::shared_ptr<const void> made) const {
  ALLOT_DCHECK(slot < kSlots);
  const AttachmentLock lock(busy_);
  if (!in_window_) {
    return made;
  }
  if (slot != kTyped && others_ == nullptr) {
    others_ = std::make_unique<Attachments>();
  }
  std::shared_ptr<const void>& place = slot == kTyped ? typed_ : (*others_)[slot - 1];
  if (place == nullptr) {
    place = std::move(made);
  }
  return place;
}

Entry* EntryMaker::Make(Pool& pool, const Key& key, Fields fields) {
  void* const block = pool.Allocate(sizeof(Entry) + key.name.size());
  auto* const entry = ::new (block) Entry();
  entry->key_size_ = static_cast<std::uint32_t>(key.name.size());
  if (!key.name.empty()) {
    std::memcpy(static_cast<char*>(block) + sizeof(Entry), key.name.data(), key.name.size());
  }
  entry->resource_ = key.resource;
  entry->deleted_ = fields.deleted;
  entry->in_window_ = true;
  entry->hash_ = HashKey(key.resource, key.name);
  entry->revision_ = fields.revision;
  entry->created_ = fields.created;
  entry->value_ = std::move(fields.value);
  entry->typed_ = std::move(fields.typed);
  entry->pool_ = &pool;
  return entry;
}

void EntryMaker::CloseWindow(const Entry& entry) {
  std::shared_ptr<const void> typed;
  std::unique_ptr<Entry::Attachments> others;
  const AttachmentLock lock(entry.busy_);
  entry.in_window_ = false;
  typed.swap(entry.typed_);
  others.swap(entry.others_);
}

}  // namespace allot::store
