#include "store/snapshot.h"

#include <utility>

#include "base/check.h"
#include "store/tree.h"

namespace allot::store {
namespace {

// How many keys of the tree are below `key`.
std::uint64_t Rank(const TreeNode* node, std::string_view key) {
  std::uint64_t rank = 0;
  while (!node->leaf()) {
    const std::uint32_t at = node->ChildFor(key);
    for (std::uint32_t i = 0; i < at; ++i) {
      rank += node->child(i)->count();
    }
    node = node->child(at);
  }
  return rank + node->LowerBound(key);
}

}  // namespace

Snapshot::Snapshot() = default;
Snapshot::Snapshot(base::Ref<const TreeNode> root, Revision revision)
    : root_(std::move(root)), revision_(revision) {}
Snapshot::Snapshot(const Snapshot&) = default;
Snapshot::Snapshot(Snapshot&&) noexcept = default;
Snapshot& Snapshot::operator=(Snapshot other) noexcept {
  std::swap(root_, other.root_);
  revision_ = other.revision_;
  return *this;
}
Snapshot::~Snapshot() = default;

std::size_t Snapshot::size() const {
  return root_ ? root_->count() : 0;
}

const Entry* Snapshot::Find(std::string_view key) const {
  const TreeNode* node = root_.get();
  if (node == nullptr) {
    return nullptr;
  }
  while (!node->leaf()) {
    node = node->child(node->ChildFor(key));
  }
  const std::uint32_t at = node->LowerBound(key);
  return at < node->used() && node->entry(at)->key() == key ? node->entry(at) : nullptr;
}

Cursor Snapshot::Seek(std::string_view key) const {
  Cursor cursor;
  const TreeNode* node = root_.get();
  if (node == nullptr) {
    return cursor;
  }
  while (!node->leaf()) {
    ALLOT_CHECK(cursor.depth_ + 1 < cursor.path_.size());
    const std::uint32_t at = node->ChildFor(key);
    cursor.path_[cursor.depth_++] = {node, at};
    node = node->child(at);
  }
  cursor.path_[cursor.depth_++] = {node, node->LowerBound(key)};
  cursor.Settle();
  return cursor;
}

std::size_t Snapshot::Count(std::string_view from, std::string_view to) const {
  if (!root_) {
    return 0;
  }
  const std::uint64_t begin = Rank(root_.get(), from);
  const std::uint64_t end = to.empty() ? root_->count() : Rank(root_.get(), to);
  return end > begin ? end - begin : 0;
}

void Cursor::Next() {
  ++path_[depth_ - 1].index;
  Settle();
}

// Makes entry_ that of the path, moving on to the next leaf when the present one is at its end.
void Cursor::Settle() {
  while (path_[depth_ - 1].index >= path_[depth_ - 1].node->used()) {
    if (--depth_ == 0) {
      entry_ = nullptr;
      return;
    }
    Level& above = path_[depth_ - 1];
    if (++above.index < above.node->used()) {
      const TreeNode* node = above.node->child(above.index);
      path_[depth_++] = {node, 0};
      while (!node->leaf()) {
        node = node->child(0);
        path_[depth_++] = {node, 0};
      }
    }
  }
  entry_ = path_[depth_ - 1].node->entry(path_[depth_ - 1].index);
}

std::string PrefixEnd(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xff) {
    end.pop_back();
  }
  if (!end.empty()) {
    end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  }
  return end;
}

}  // namespace allot::store
