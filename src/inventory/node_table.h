// NodeTable: what the inventory keeps a node: its slices, its view, and when it last changed.
//
// Nodes have dense numbers, so that whoever knows a node's number needs no look-up by name. An
// entry lives while a slice names the node or somebody knows it. Thread safety: one writer.
// Internal to the module.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/change_log.h"
#include "inventory/device.h"
#include "inventory/node_selector.h"
#include "inventory/node_view.h"

namespace allot::inventory {

/// Lets maps keyed by std::string be asked with a std::string_view.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

template <typename T>
using TextMap = std::unordered_map<std::string, T, TextHash, std::equal_to<>>;

/// What one node sees beyond the slices without a node name.
struct alignas(64) NodeEntry {
  std::uint64_t version = 0;
  std::uint64_t view_version = 0;
  NodeViewPtr view;
  bool known = false;                ///< somebody asked for it, and it is not gone since
  std::vector<const Slice*> slices;  ///< by name
  std::string_view name;             ///< Lifetime: the entry.
};

class NodeTable {
 public:
  /// The node's number, given out when it is new.
  NodeIndex Intern(std::string_view name);
  /// kNoNode when there is no entry.
  [[nodiscard]] NodeIndex Find(std::string_view name) const;
  [[nodiscard]] NodeEntry& At(NodeIndex index) { return entries_[Value(index)]; }
  [[nodiscard]] const NodeEntry& At(NodeIndex index) const { return entries_[Value(index)]; }
  /// Drops an entry that nobody needs.
  void DropIfUnused(NodeIndex index);

  /// The node may see something else from `version` on.
  void Changed(NodeIndex index, std::uint64_t version);
  /// All nodes may.
  void AllChanged(std::uint64_t version);
  /// The latest of the node's own change and of those that concern all.
  [[nodiscard]] std::uint64_t VersionOf(NodeIndex index) const;
  /// Nodes whose view may have changed.
  [[nodiscard]] const base::ChangeLog<NodeIndex>& changes() const { return changes_; }

  [[nodiscard]] std::size_t size() const { return numbers_.size(); }

 private:
  TextMap<std::uint32_t> numbers_;
  std::vector<NodeEntry> entries_;
  std::vector<std::uint32_t> free_;
  std::uint64_t all_version_ = 1;  // of the slices without node name
  base::ChangeLog<NodeIndex> changes_;
};

}  // namespace allot::inventory
