// TreeNode and TreeEditor: the copy-on-write B-tree behind Snapshot. Inside the store.
//
// A published tree never changes. An editor copies the nodes on the way to a change, each once per
// edit, and shares the rest with the tree it started from. Entries live in the leaves; an inner
// node holds its children and, for each, the first entry below it (kept alive by its leaf). Thread
// safety: nodes immutable once published; an editor belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/ref.h"
#include "store/entry.h"
#include "store/pool.h"

namespace allot::store {

class TreeNode final : public base::RefCounted<TreeNode> {
 public:
  static constexpr std::uint32_t kFanOut = 32;
  static constexpr std::uint32_t kMergeBelow = 8;  // a smaller node tries to join a neighbour
  static constexpr std::uint32_t kMergeUpTo = 24;  // unless the two together would be larger

  [[nodiscard]] bool leaf() const { return leaf_; }
  [[nodiscard]] std::uint32_t used() const { return used_; }
  /// Entries in the whole subtree.
  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// REQUIRES: leaf().
  [[nodiscard]] const Entry* entry(std::uint32_t i) const {
    return static_cast<const Entry*>(slots()[i]);
  }
  /// REQUIRES: !leaf().
  [[nodiscard]] const TreeNode* child(std::uint32_t i) const {
    return static_cast<const TreeNode*>(slots()[i]);
  }
  /// The first entry at or below place i.
  [[nodiscard]] const Entry* first(std::uint32_t i) const {
    return static_cast<const Entry*>(slots()[leaf_ ? i : kFanOut + i]);
  }
  /// The first place in a leaf whose key is not below `key`; used() when there is none.
  [[nodiscard]] std::uint32_t LowerBound(std::string_view key) const;
  /// The place in an inner node below which `key` belongs.
  [[nodiscard]] std::uint32_t ChildFor(std::string_view key) const;

  static void Destroy(const TreeNode* node);

 private:
  friend class TreeEditor;
  TreeNode() = default;
  ~TreeNode() = default;
  static std::size_t Size(bool leaf) {
    return sizeof(TreeNode) + sizeof(const void*) * (leaf ? kFanOut : 2 * kFanOut);
  }
  [[nodiscard]] const void* const* slots() const {
    return reinterpret_cast<const void* const*>(this + 1);
  }
  [[nodiscard]] const void** slots() { return reinterpret_cast<const void**>(this + 1); }

  bool leaf_ = true;
  std::uint32_t used_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t edit_ = 0;  // the edit that made the node and may change it
  Pool* pool_ = nullptr;
};

class TreeEditor {
 public:
  /// Starts from `root` (null: empty), which stays as it is.
  TreeEditor(Pool& pool, base::Ref<const TreeNode> root);
  TreeEditor(const TreeEditor&) = delete;
  TreeEditor& operator=(const TreeEditor&) = delete;
  TreeEditor(TreeEditor&&) noexcept;
  TreeEditor& operator=(TreeEditor&&) = delete;
  ~TreeEditor();

  /// Puts the entry under its key, in place of one that is there.
  void Put(const Entry& entry);
  /// Removes the entry of `key`; nothing happens when there is none.
  void Erase(std::string_view key);
  /// Ends the edit: the new tree (null: empty).
  [[nodiscard]] base::Ref<const TreeNode> Finish();

 private:
  [[nodiscard]] TreeNode* New(bool leaf);
  [[nodiscard]] TreeNode* Own(TreeNode* node);
  TreeNode* PutBelow(TreeNode* node, const Entry& entry);
  bool EraseBelow(TreeNode* node, std::string_view key);
  TreeNode* Insert(TreeNode* node, std::uint32_t at, const void* slot, const Entry* first);
  static void Place(TreeNode* node, std::uint32_t at, const void* slot, const Entry* first);
  TreeNode* Split(TreeNode* node, std::uint32_t at);
  void Remove(TreeNode* node, std::uint32_t at);
  void Join(TreeNode* parent, std::uint32_t at);
  static void Recount(TreeNode* node);

  Pool& pool_;
  std::uint64_t edit_;
  TreeNode* root_;  // one reference
};

}  // namespace allot::store
