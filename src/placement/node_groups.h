// NodeGroups: nodes that no filter can tell apart stand together, so that one look answers for all.
//
// A group agrees in schedulability, taints, resources offered and in use, pods, host ports, and the
// labels that pods have asked for lately (most nodes have some label of their own, which seldom
// matters). Catches up from the view's log when it is asked. Thread safety: one thread. Internal to
// the module.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "placement/cluster_view.h"
#include "placement/shape.h"

namespace allot::placement {

class NodeGroups {
 public:
  struct Group {
    std::vector<std::uint32_t> nodes;  ///< NodeInfo::index, in no order; may be empty
    ShapeKey key;
  };

  explicit NodeGroups(const ClusterView& view) : view_(view) {}

  /// Groups whose nodes the filters cannot tell apart for `pod`; null when they cannot be had (it
  /// names nodes, or alone asks for too many labels). Cost: O(changed nodes); O(nodes) when one
  /// came or went, or when no pod has asked for a label lately. Lifetime: until the next call.
  [[nodiscard]] const std::vector<Group>* For(const api::core::Pod& pod);
  /// The group of that NodeInfo::index.
  [[nodiscard]] std::uint32_t GroupOf(std::uint32_t node) const { return places_[node].group; }

 private:
  struct Place {
    std::uint32_t group = kNone;
    std::uint32_t slot = 0;  // in Group::nodes
  };
  static constexpr std::uint32_t kNone = 0xffffffff;

  [[nodiscard]] bool Ask(const api::core::Pod& pod);
  [[nodiscard]] ShapeKey KeyOf(const NodeInfo& node) const;
  void Rebuild();
  void File(const NodeInfo& node);
  void Leave(std::uint32_t node);

  const ClusterView& view_;
  std::set<std::string, std::less<>> asked_;  // label keys
  bool stale_ = true;
  std::uint64_t cursor_ = 0;
  std::uint64_t nodes_epoch_ = 0;
  std::vector<Group> groups_;
  std::vector<std::uint32_t> free_;
  std::unordered_map<ShapeKey, std::uint32_t, ShapeKeyHash> by_key_;
  std::vector<Place> places_;  // by NodeInfo::index
};

}  // namespace allot::placement
