// Extended resources served by devices: the claim that stands for a pod's resource requests on one
// node. Thread safety: pure functions. See: KEP-5004. Internal to the module.
#pragma once

#include <string>
#include <vector>

#include "api/core/v1.gen.h"
#include "api/resource/v1.gen.h"
#include "placement/cluster_view.h"

namespace allot::placement {

struct ExtendedClaim {
  /// Null: nothing is served by devices.
  const api::resource::ResourceClaim* claim = nullptr;
  schema::List<api::core::ContainerExtendedResourceRequest> mappings;
};

/// The resources of `facts` that devices serve on `node`, in name order.
[[nodiscard]] std::vector<std::string> ResourcesServedByDevices(
    const Resources& requests, const NodeInfo& node, const inventory::Inventory& inventory);

/// The in-memory claim for `resources` of the pod. Lifetime: `arena`.
[[nodiscard]] ExtendedClaim MakeExtendedClaim(const api::core::Pod& pod,
                                              const std::vector<std::string>& resources,
                                              const inventory::Inventory& inventory,
                                              base::Arena& arena);

}  // namespace allot::placement
