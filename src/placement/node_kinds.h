// NodeKinds: nodes whose devices no claim of a pod can tell apart, for explanations: one look for
// all of them.
//
// Nodes are of one kind when they offer equal devices of which as many are free. Names do not
// count, nor do values of attributes that neither claims nor classes mention (serial numbers).
// Thread safety: one thread. Internal to the module.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "inventory/inventory.h"
#include "placement/cluster_view.h"
#include "placement/shape.h"

namespace allot::placement {

class NodeKinds {
 public:
  explicit NodeKinds(ClusterView& view) : view_(view) {}

  /// `asked`: everything the claims and their classes say, as text, with the names of the
  /// attributes that their expressions read. `reads_any`: these may read others too.
  void Begin(std::string asked, bool reads_any);
  /// Cost: O(devices of the node), a multiple of that when its slices have not been seen since they
  /// changed. REQUIRES: Begin was called since the last change.
  [[nodiscard]] ShapeKey KeyOf(const NodeInfo& node);

 private:
  [[nodiscard]] bool Mentions(std::string_view attribute);
  [[nodiscard]] const std::vector<ShapeKey>& RestOf(const inventory::Slice& slice);
  [[nodiscard]] const std::vector<ShapeKey>& ContentOf(const inventory::Slice& slice);
  [[nodiscard]] ShapeKey KeyOf(const inventory::PoolView& pool, const NodeInfo& node);
  [[nodiscard]] ShapeKey KeyOf(const inventory::Slice& slice, const NodeInfo& node);

  ClusterView& view_;
  std::string asked_;
  bool all_mentioned_ = false;
  std::uint64_t version_ = 0;
  std::unordered_map<std::string, bool> mentioned_;
  // The devices of each slice, then the slice without them: all that no claim can leave out, and
  // with the attributes that are mentioned.
  std::unordered_map<const inventory::Slice*, std::vector<ShapeKey>> rests_;
  std::unordered_map<const inventory::Slice*, std::vector<ShapeKey>> contents_;
};

}  // namespace allot::placement
