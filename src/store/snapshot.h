// Snapshot: one resource as it was at one durable revision. Taking one is O(1); holding one costs
// the nodes and entries that have changed since.
// Thread safety: immutable; a Cursor belongs to one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/ref.h"
#include "store/entry.h"

namespace allot::store {

class TreeNode;

/// Walks entries in key order. Lifetime: the snapshot it came from.
class Cursor {
 public:
  [[nodiscard]] bool valid() const { return entry_ != nullptr; }
  /// REQUIRES: valid().
  [[nodiscard]] const Entry& operator*() const { return *entry_; }
  const Entry* operator->() const { return entry_; }
  [[nodiscard]] base::Ref<const Entry> ref() const { return base::Ref<const Entry>::Share(entry_); }
  void Next();

 private:
  friend class Snapshot;
  struct Level {
    const TreeNode* node = nullptr;
    std::uint32_t index = 0;
  };
  void Settle();

  std::array<Level, 12>
      path_;  // root first; fan-out >= 8 inside makes 12 levels enough for 2^36 keys
  std::uint32_t depth_ = 0;
  const Entry* entry_ = nullptr;
};

class Snapshot {
 public:
  Snapshot();
  Snapshot(base::Ref<const TreeNode> root, Revision revision);
  Snapshot(const Snapshot&);
  Snapshot(Snapshot&&) noexcept;
  Snapshot& operator=(Snapshot) noexcept;
  ~Snapshot();

  /// The state contains exactly the writes up to this revision.
  [[nodiscard]] Revision revision() const { return revision_; }
  [[nodiscard]] std::size_t size() const;
  /// The entry of `key`; null when there is none. Lifetime: the snapshot.
  [[nodiscard]] const Entry* Find(std::string_view key) const;
  /// The first entry whose key is not below `key` ("": the very first).
  [[nodiscard]] Cursor Seek(std::string_view key) const;
  /// How many keys lie in [from, to); an empty `to` means no end. Cost: O(log n).
  [[nodiscard]] std::size_t Count(std::string_view from, std::string_view to) const;

 private:
  base::Ref<const TreeNode> root_;  // null: empty
  Revision revision_ = 0;
};

/// The first key after all that begin with `prefix` ("" when there is none): the end of a range
/// scan.
[[nodiscard]] std::string PrefixEnd(std::string_view prefix);

}  // namespace allot::store
