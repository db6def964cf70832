// Registry: admission of slices whose devices take resources of their node: every node they name
// must say that it can account for them (plugin NodeDeclaredFeatures; gate
// DRANodeAllocatableResources).
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "api/core/v1.gen.h"
#include "api/resource/v1.gen.h"
#include "apiserver/errors.h"
#include "apiserver/registry.h"
#include "inventory/node_selector.h"

namespace allot::apiserver {
namespace {

namespace core = api::core;
namespace res = api::resource;
using base::Result;

constexpr std::string_view kFeature = "DRANodeAllocatableResources";

/// Which nodes can use a device: its own rule, or that of its slice.
struct NodeRule {
  const schema::Str* name = nullptr;
  const core::NodeSelector* selector = nullptr;
  bool all = false;
};

NodeRule RuleOf(const res::ResourceSliceSpec& slice, const res::Device& device) {
  const bool own = slice.per_device_node_selection != nullptr && *slice.per_device_node_selection;
  const auto rule = [](const auto& from) -> NodeRule {
    if (from.node_name != nullptr && !from.node_name->empty()) {
      return {.name = from.node_name};
    }
    if (from.node_selector != nullptr) {
      return {.selector = from.node_selector};
    }
    return {.all = from.all_nodes != nullptr && *from.all_nodes};
  };
  return own ? rule(device) : rule(slice);
}

}  // namespace

Result<void> Registry::ValidateSliceNodes(const Resource& resource,
                                          const res::ResourceSlice& slice) const {
  const Resource* const nodes = resources_.Find("", "v1", "nodes");
  if (nodes == nullptr || !gates_.Enabled(api::Gate::kDRANodeAllocatableResources)) {
    return {};
  }
  const auto refuse = [&](const std::string& why) {
    return base::Error(ForbiddenError(*resource.info, slice.metadata.name, why));
  };
  const auto declares = [](const core::Node& node) {
    const auto& features = node.status.declared_features;
    return std::find(features.begin(), features.end(), kFeature) != features.end();
  };
  const store::Snapshot snapshot = store_.TakeSnapshot(nodes->store_id);
  for (const res::Device& device : slice.spec.devices) {
    if (device.node_allocatable_resources.empty()) {
      continue;
    }
    const NodeRule rule = RuleOf(slice.spec, device);
    if (rule.name == nullptr && rule.selector == nullptr && !rule.all) {
      return refuse(
          fmt::format("device \"{}\" in ResourceSlice has NodeAllocatableResources but "
                      "does not map to any nodes",
                      device.name));
    }
    if (rule.name != nullptr && snapshot.Find(*rule.name) == nullptr) {
      return refuse(
          fmt::format("node \"{}\" not found for device \"{}\"", *rule.name, device.name));
    }
    for (store::Cursor at = snapshot.Seek(rule.name != nullptr ? *rule.name : schema::Str());
         at.valid();
         at.Next()) {
      ALLOT_ASSIGN_OR_RETURN(const AnyView view, ViewOf(*at));
      const auto& node = *static_cast<const core::Node*>(view.get());
      const bool meant = rule.selector == nullptr ||
                         inventory::MatchNodeSelector(*rule.selector, inventory::MakeNodeRef(node))
                             .value_or(false);
      if (meant && !declares(node)) {
        return refuse(
            fmt::format("node \"{}\" does not support {} feature", node.metadata.name, kFeature));
      }
      if (rule.name != nullptr) {
        break;
      }
    }
  }
  return {};
}

}  // namespace allot::apiserver
