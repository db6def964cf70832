// Entry: one revision of one key, shared by head index, durable tree, event ring and all readers.
// Event: a change as watchers see it: the entry and the one it replaced.
//
// Thread safety: immutable once the store has it, except for the attachments, which have their own
// lock: the typed view that came with the write and the wire forms that watchers made of it live on
// the entry while it is inside the event window, so that each is made at most once.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/ref.h"
#include "store/value.h"

namespace allot::store {

/// Names a resource of one store (Store::AddResource).
enum class ResourceId : std::uint16_t {};

/// A key as callers name it: "namespace/name", or "name" for cluster-scoped resources.
struct Key {
  ResourceId resource{};
  std::string_view name;
};

class Pool;

class Entry final : public base::RefCounted<Entry> {
 public:
  /// Attachment 0 is the typed view of Op::typed; the others belong to whoever serves watches.
  static constexpr std::size_t kTyped = 0;
  static constexpr std::size_t kSlots = 4;

  [[nodiscard]] Revision revision() const { return revision_; }
  /// The revision that created the key (again, after a deletion).
  [[nodiscard]] Revision created() const { return created_; }
  [[nodiscard]] ResourceId resource() const { return resource_; }
  [[nodiscard]] std::string_view key() const { return {key_text(), key_size_}; }
  /// True when this revision deleted the key; value() then is the last state of the object.
  [[nodiscard]] bool deleted() const { return deleted_; }
  [[nodiscard]] const Value& value() const { return value_; }

  /// What was attached in `slot`; null when there is nothing or the event window has passed.
  [[nodiscard]] std::shared_ptr<const void> Attached(std::size_t slot) const;
  /// Attaches `made` unless someone was faster, and returns what is attached then. Outside the
  /// event window nothing is kept and `made` comes back.
  std::shared_ptr<const void> Attach(std::size_t slot, std::shared_ptr<const void> made) const;

  /// Unit: bytes held, without attachments.
  [[nodiscard]] std::size_t memory() const {
    return sizeof(Entry) + key_size_ + value_.bytes().size();
  }

  static void Destroy(const Entry* entry);

 private:
  friend class EntryMaker;
  using Attachments = std::array<std::shared_ptr<const void>, kSlots - 1>;
  Entry() = default;
  ~Entry() = default;
  [[nodiscard]] const char* key_text() const { return reinterpret_cast<const char*>(this + 1); }

  std::uint32_t key_size_ = 0;
  ResourceId resource_{};
  bool deleted_ = false;
  mutable bool in_window_ = false;  // guarded by busy_
  mutable std::atomic_flag busy_;   // held for the copy of one pointer
  std::uint32_t hash_ = 0;
  Revision revision_ = 0;
  Revision created_ = 0;
  Value value_;
  mutable std::shared_ptr<const void> typed_;
  mutable std::unique_ptr<Attachments> others_;
  Pool* pool_ = nullptr;
};

/// One change of one key.
struct Event {
  enum class Kind : std::uint8_t { kAdded, kModified, kDeleted };

  base::Ref<const Entry> entry;
  base::Ref<const Entry> previous;  ///< null: the key did not exist before

  [[nodiscard]] Kind kind() const {
    if (entry->deleted()) {
      return Kind::kDeleted;
    }
    return previous ? Kind::kModified : Kind::kAdded;
  }
};

}  // namespace allot::store
