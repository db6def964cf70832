#include "store/tree.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/check.h"

namespace allot::store {
namespace {

TreeNode* Writable(const TreeNode* node) {
  return const_cast<TreeNode*>(node);
}

}  // namespace

std::uint32_t TreeNode::LowerBound(std::string_view key) const {
  std::uint32_t low = 0;
  std::uint32_t high = used_;
  while (low < high) {
    const std::uint32_t middle = (low + high) / 2;
    if (entry(middle)->key() < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::uint32_t TreeNode::ChildFor(std::string_view key) const {
  std::uint32_t low = 1;  // what is below the first key of the second child belongs to the first
  std::uint32_t high = used_;
  while (low < high) {
    const std::uint32_t middle = (low + high) / 2;
    if (first(middle)->key() <= key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low - 1;
}

void TreeNode::Destroy(const TreeNode* node) {
  for (std::uint32_t i = 0; i < node->used_; ++i) {
    if (node->leaf_) {
      node->entry(i)->Release();
    } else {
      node->child(i)->Release();
    }
  }
  Pool* const pool = node->pool_;
  const std::size_t size = Size(node->leaf_);
  node->~TreeNode();
  pool->Free(Writable(node), size);
}

TreeEditor::TreeEditor(Pool& pool, base::Ref<const TreeNode> root)
    : pool_(pool), edit_(pool.NextEdit()), root_(Writable(root.get())) {
  if (root_ != nullptr) {
    root_->AddRef();
  }
}

TreeEditor::TreeEditor(TreeEditor&& other) noexcept
    : pool_(other.pool_), edit_(other.edit_), root_(std::exchange(other.root_, nullptr)) {}

TreeEditor::~TreeEditor() {
  if (root_ != nullptr) {
    root_->Release();
  }
}

base::Ref<const TreeNode> TreeEditor::Finish() {
  edit_ = pool_.NextEdit();  // what is handed out is frozen even if the editor goes on
  TreeNode* const root = std::exchange(root_, nullptr);
  return base::Ref<const TreeNode>::Adopt(root);
}

TreeNode* TreeEditor::New(bool leaf) {
  auto* const node = ::new (pool_.Allocate(TreeNode::Size(leaf))) TreeNode();
  node->leaf_ = leaf;
  node->edit_ = edit_;
  node->pool_ = &pool_;
  return node;
}

// Takes over one reference to `node` and gives back one to a node this edit may change.
TreeNode* TreeEditor::Own(TreeNode* node) {
  if (node->edit_ == edit_) {
    return node;
  }
  TreeNode* const copy = New(node->leaf_);
  copy->used_ = node->used_;
  copy->count_ = node->count_;
  const std::size_t slots = node->leaf_ ? node->used_ : TreeNode::kFanOut + node->used_;
  std::memcpy(copy->slots(), node->slots(), slots * sizeof(const void*));
  // The counts to raise lie scattered in memory and a locked addition does not overlap with the
  // next: ask for all lines first.
  for (std::uint32_t i = 0; i < copy->used_; ++i) {
    __builtin_prefetch(copy->slots()[i], 1);
  }
  for (std::uint32_t i = 0; i < copy->used_; ++i) {
    if (copy->leaf_) {
      copy->entry(i)->AddRef();
    } else {
      copy->child(i)->AddRef();
    }
  }
  node->Release();
  return copy;
}

void TreeEditor::Recount(TreeNode* node) {
  std::uint64_t count = 0;
  for (std::uint32_t i = 0; i < node->used_; ++i) {
    count += node->leaf_ ? 1 : node->child(i)->count();
  }
  node->count_ = count;
}

void TreeEditor::Put(const Entry& entry) {
  if (root_ == nullptr) {
    root_ = New(/*leaf=*/true);
  }
  root_ = Own(root_);
  TreeNode* const right = PutBelow(root_, entry);
  if (right != nullptr) {
    TreeNode* const top = New(/*leaf=*/false);
    top->slots()[0] = root_;
    top->slots()[1] = right;
    top->slots()[TreeNode::kFanOut] = root_->first(0);
    top->slots()[TreeNode::kFanOut + 1] = right->first(0);
    top->used_ = 2;
    Recount(top);
    root_ = top;
  }
}

// Puts the entry below `node`, which this edit owns. Returns the new right neighbour after a split.
TreeNode* TreeEditor::PutBelow(TreeNode* node, const Entry& entry) {
  if (node->leaf_) {
    const std::uint32_t at = node->LowerBound(entry.key());
    entry.AddRef();
    if (at < node->used_ && node->entry(at)->key() == entry.key()) {
      node->entry(at)->Release();
      node->slots()[at] = &entry;
      return nullptr;
    }
    return Insert(node, at, &entry, &entry);
  }
  const std::uint32_t at = node->ChildFor(entry.key());
  TreeNode* const child = Own(Writable(node->child(at)));
  node->slots()[at] = child;
  const std::uint64_t before = child->count_;
  TreeNode* const right = PutBelow(child, entry);
  node->slots()[TreeNode::kFanOut + at] = child->first(0);
  node->count_ += child->count_ - before;
  return right != nullptr ? Insert(node, at + 1, right, right->first(0)) : nullptr;
}

// Inserts a slot, splitting a full node; returns the new right neighbour after a split. The count
// of the node that takes it grows by what the slot brings.
TreeNode* TreeEditor::Insert(TreeNode* node,
                             std::uint32_t at,
                             const void* slot,
                             const Entry* first) {
  if (node->used_ < TreeNode::kFanOut) {
    Place(node, at, slot, first);
    return nullptr;
  }
  // Keys that only rise leave full nodes behind; anything else splits in the middle.
  const std::uint32_t split = at == node->used_ ? node->used_ : node->used_ / 2;
  TreeNode* const right = Split(node, split);
  if (at > split || split == TreeNode::kFanOut) {
    Place(right, at - split, slot, first);
  } else {
    Place(node, at, slot, first);
  }
  return right;
}

// REQUIRES: the node is not full.
void TreeEditor::Place(TreeNode* node, std::uint32_t at, const void* slot, const Entry* first) {
  const void** const slots = node->slots();
  std::copy_backward(slots + at, slots + node->used_, slots + node->used_ + 1);
  slots[at] = slot;
  if (!node->leaf_) {
    const void** const firsts = slots + TreeNode::kFanOut;
    std::copy_backward(firsts + at, firsts + node->used_, firsts + node->used_ + 1);
    firsts[at] = first;
  }
  ++node->used_;
  node->count_ += node->leaf_ ? 1 : static_cast<const TreeNode*>(slot)->count();
}

// Moves the slots from `at` on to a new node.
TreeNode* TreeEditor::Split(TreeNode* node, std::uint32_t at) {
  TreeNode* const right = New(node->leaf_);
  right->used_ = node->used_ - at;
  std::copy_n(node->slots() + at, right->used_, right->slots());
  if (!node->leaf_) {
    std::copy_n(
        node->slots() + TreeNode::kFanOut + at, right->used_, right->slots() + TreeNode::kFanOut);
  }
  node->used_ = at;
  Recount(node);
  Recount(right);
  return right;
}

void TreeEditor::Erase(std::string_view key) {
  if (root_ == nullptr) {
    return;
  }
  root_ = Own(root_);
  EraseBelow(root_, key);
  while (!root_->leaf_ && root_->used_ == 1) {
    auto* const only = Writable(root_->child(0));
    only->AddRef();
    root_->Release();
    root_ = only;
  }
  if (root_->used_ == 0) {
    root_->Release();
    root_ = nullptr;
  }
}

// Removes the key below `node`, which this edit owns. Returns whether it was there.
bool TreeEditor::EraseBelow(TreeNode* node, std::string_view key) {
  if (node->leaf_) {
    const std::uint32_t at = node->LowerBound(key);
    if (at == node->used_ || node->entry(at)->key() != key) {
      return false;
    }
    node->entry(at)->Release();
    Remove(node, at);
    --node->count_;
    return true;
  }
  const std::uint32_t at = node->ChildFor(key);
  TreeNode* const child = Own(Writable(node->child(at)));
  node->slots()[at] = child;
  const bool found = EraseBelow(child, key);
  node->count_ -= found ? 1 : 0;
  if (child->used_ == 0) {
    child->Release();
    Remove(node, at);
    return found;
  }
  node->slots()[TreeNode::kFanOut + at] = child->first(0);
  if (child->used_ < TreeNode::kMergeBelow) {
    if (at + 1 < node->used_ && child->used_ + node->child(at + 1)->used_ <= TreeNode::kMergeUpTo) {
      Join(node, at);
    } else if (at > 0 && node->child(at - 1)->used_ + child->used_ <= TreeNode::kMergeUpTo) {
      Join(node, at - 1);
    }
  }
  return found;
}

void TreeEditor::Remove(TreeNode* node, std::uint32_t at) {
  const void** const slots = node->slots();
  std::copy(slots + at + 1, slots + node->used_, slots + at);
  if (!node->leaf_) {
    const void** const firsts = slots + TreeNode::kFanOut;
    std::copy(firsts + at + 1, firsts + node->used_, firsts + at);
  }
  --node->used_;
}

// Joins the children at `at` and `at` + 1 into the left one.
void TreeEditor::Join(TreeNode* parent, std::uint32_t at) {
  TreeNode* const left = Own(Writable(parent->child(at)));
  parent->slots()[at] = left;
  const TreeNode* const right = parent->child(at + 1);
  for (std::uint32_t i = 0; i < right->used(); ++i) {
    left->slots()[left->used_ + i] = right->slots()[i];
    if (left->leaf_) {
      right->entry(i)->AddRef();
    } else {
      right->child(i)->AddRef();
      left->slots()[TreeNode::kFanOut + left->used_ + i] = right->first(i);
    }
  }
  left->used_ += right->used();
  left->count_ += right->count();
  right->Release();
  Remove(parent, at + 1);
}

}  // namespace allot::store
