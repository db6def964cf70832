// Pools: grouping the slices a node sees into pools, and judging each pool.
//
// Internal to the module; Inventory::ViewFor is the door. Thread safety: pure functions.
// See: KEP-4381, KEP-4815.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "inventory/device.h"
#include "inventory/features.h"
#include "inventory/node_selector.h"
#include "inventory/node_view.h"

namespace allot::inventory {

using SliceOwner = std::shared_ptr<Slice>;

struct PoolKey {
  std::string driver;
  std::string name;
  friend auto operator<=>(const PoolKey&, const PoolKey&) = default;
};

/// All slices of one driver and pool name, in slice name order, and the views made of them.
struct Pool {
  std::shared_ptr<const PoolKey> names;  ///< views outlive the pool
  std::vector<SliceOwner> slices;
  struct Cached {
    std::vector<const Slice*> relevant;
    PoolViewPtr view;
  };
  std::uint32_t repeated = 0;    ///< publications of devices that were published already
  NodeIndex observer = kNoNode;  ///< the node of all slices; kAnyNode when there are others
  std::vector<Cached> views;     ///< dropped when a slice of the pool changes
};

/// The rule of nodeName, allNodes and nodeSelector, the first that is set deciding.
/// Errors: kInvalid "failed to parse node selector ...".
[[nodiscard]] base::Result<bool> NodeRuleMatches(const NodeRef& node,
                                                 const schema::Str* node_name,
                                                 const bool* all_nodes,
                                                 const api::core::NodeSelector* selector);
/// The device's own rule in a slice with perDeviceNodeSelection.
[[nodiscard]] base::Result<bool> DeviceRuleMatches(const NodeRef& node, const Device& device);

/// Whether `slice` is used at all with these gates.
[[nodiscard]] bool SliceIsUsable(const Slice& slice, const Features& features);
/// Whether `slice` has devices (or counters) for `node`. Errors: upstream's text for the pod.
[[nodiscard]] base::Result<bool> SliceIsRelevant(const Slice& slice, const NodeRef& node);

/// The view of `pool` for a node that sees `relevant` (slices of one pool, any generations).
/// Null when the pool is obsolete: a newer generation exists elsewhere.
[[nodiscard]] PoolViewPtr ViewOfPool(Pool& pool,
                                     std::vector<const Slice*> relevant,
                                     const Features& features);

}  // namespace allot::inventory
