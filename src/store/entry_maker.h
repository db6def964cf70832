// EntryMaker: the only writer of entries. Inside the store.
//
// An entry is made by the thread that writes, completed by the sequencer under its lock, and never
// changed after that. Thread safety: as each function says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "store/entry.h"
#include "store/pool.h"

namespace allot::store {

/// The hash of a key in the head index.
[[nodiscard]] inline std::uint32_t HashKey(ResourceId resource, std::string_view key) {
  const std::uint64_t hash = std::hash<std::string_view>()(key) +
                             0x9e3779b97f4a7c15ULL * (static_cast<std::uint64_t>(resource) + 1);
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

class EntryMaker {
 public:
  struct Fields {
    Value value{};
    std::shared_ptr<const void> typed{};
    Revision revision = 0;
    Revision created = 0;
    bool deleted = false;
  };
  /// A new entry with one reference, for the caller to adopt.
  [[nodiscard]] static Entry* Make(Pool& pool, const Key& key, Fields fields);

  /// Completes an entry of the calling thread. REQUIRES: nobody else has it yet.
  static void Sequence(Entry& entry, Revision revision, Revision created) {
    entry.revision_ = revision;
    entry.created_ = created;
    entry.value_.Stamp(revision);
  }
  static void SetValue(Entry& entry, Value value) { entry.value_ = std::move(value); }

  /// Ends the event window for the entry: drops the attachments and refuses further ones. Any
  /// thread.
  static void CloseWindow(const Entry& entry);
  [[nodiscard]] static std::uint32_t HashOf(const Entry& entry) { return entry.hash_; }
};

}  // namespace allot::store
