#include "placement/node_kinds.h"

#include <utility>

#include "api/desc.h"
#include "inventory/pools.h"
#include "placement/hasher.h"
#include "schema/codec.h"

namespace allot::placement {
namespace {

using inventory::Device;
using inventory::PoolState;
using inventory::PoolView;
using inventory::Slice;

template <typename T>
void AddJson(const T& message, Hasher& hasher) {
  std::string json;
  schema::EncodeJson(api::Desc<T>(), &message, json);
  hasher.Add(std::string_view(json));
}

// In any order.
void Mix(const ShapeKey& key, ShapeKey& sum) {
  sum.a += key.a;
  sum.b += key.b;
}

void Add(const ShapeKey& key, Hasher& hasher) {
  hasher.Add(key.a);
  hasher.Add(key.b);
}

void AddValue(const api::resource::DeviceAttribute& value, Hasher& hasher) {
  if (value.int_ != nullptr) {
    hasher.Add(std::uint64_t{1});
    hasher.Add(*value.int_);
  } else if (value.bool_ != nullptr) {
    hasher.Add(std::uint64_t{2});
    hasher.Add(*value.bool_);
  } else if (value.string != nullptr) {
    hasher.Add(std::uint64_t{3});
    hasher.Add(std::string_view(*value.string));
  } else if (value.version != nullptr) {
    hasher.Add(std::uint64_t{4});
    hasher.Add(std::string_view(*value.version));
  } else {
    AddJson(value, hasher);
  }
}

// All but its name, the values of its attributes, and for which nodes it is.
ShapeKey RestOfDevice(const Device& device) {
  api::resource::Device rest = *device.spec;
  rest.name = {};
  rest.attributes = {};
  rest.taints = {};
  rest.node_name = nullptr;
  rest.node_selector = nullptr;
  rest.all_nodes = nullptr;
  Hasher hasher;
  AddJson(rest, hasher);
  for (const auto& attribute : device.spec->attributes) {
    hasher.Add(std::string_view(attribute.key));
  }
  for (const auto* const taint : device.taints) {
    hasher.Add(std::string_view(taint->key));
    hasher.Add(std::string_view(taint->value));
    hasher.Add(std::string_view(taint->effect));
  }
  return hasher.key();
}

}  // namespace

void NodeKinds::Begin(std::string asked, bool reads_any) {
  const std::uint64_t version = view_.inventory().version();
  if (version == version_ && asked == asked_ && reads_any == all_mentioned_) {
    return;
  }
  if (version != version_) {
    rests_.clear();
  }
  version_ = version;
  asked_ = std::move(asked);
  all_mentioned_ = reads_any;
  mentioned_.clear();
  contents_.clear();
}

bool NodeKinds::Mentions(std::string_view attribute) {
  if (all_mentioned_) {
    return true;
  }
  const std::string id(attribute.substr(attribute.find('/') + 1));
  const auto [known, is_new] = mentioned_.try_emplace(id, false);
  if (is_new) {
    known->second = asked_.find(id) != std::string::npos;
  }
  return known->second;
}

const std::vector<ShapeKey>& NodeKinds::RestOf(const Slice& slice) {
  std::vector<ShapeKey>& keys = rests_[&slice];
  if (!keys.empty()) {
    return keys;
  }
  keys.reserve(slice.devices.size() + 1);
  for (const Device& device : slice.devices) {
    keys.push_back(RestOfDevice(device));
  }
  api::resource::ResourceSliceSpec rest = *slice.spec;
  rest.devices = {};
  rest.pool = {};
  rest.node_name = nullptr;
  rest.node_selector = nullptr;
  rest.all_nodes = nullptr;
  Hasher hasher;
  AddJson(rest, hasher);
  keys.push_back(hasher.key());
  return keys;
}

const std::vector<ShapeKey>& NodeKinds::ContentOf(const Slice& slice) {
  std::vector<ShapeKey>& keys = contents_[&slice];
  if (!keys.empty()) {
    return keys;
  }
  keys = RestOf(slice);
  for (const Device& device : slice.devices) {
    Hasher hasher;
    Add(keys[device.position], hasher);
    for (const auto& attribute : device.spec->attributes) {
      if (Mentions(attribute.key)) {
        AddValue(attribute.value, hasher);
      }
    }
    keys[device.position] = hasher.key();
  }
  return keys;
}

ShapeKey NodeKinds::KeyOf(const Slice& slice, const NodeInfo& node) {
  const std::vector<ShapeKey>& contents = ContentOf(slice);
  const inventory::AllocatedState& state = view_.allocated();
  ShapeKey sum;
  for (const Device& device : slice.devices) {
    Hasher one;
    Add(contents[device.position], one);
    one.Add(state.IsExclusive(device.id));
    if (state.IsShared(device.id)) {
      for (const auto& capacity : device.spec->capacity) {
        one.Add(state.Consumed(device.id, capacity.key));
      }
    }
    if (slice.per_device) {
      const auto match = inventory::DeviceRuleMatches(node.ref, device);
      one.Add(match && *match);
    }
    Mix(one.key(), sum);
  }
  Hasher hasher;
  Add(contents.back(), hasher);
  Add(sum, hasher);
  return hasher.key();
}

ShapeKey NodeKinds::KeyOf(const PoolView& pool, const NodeInfo& node) {
  Hasher hasher;
  hasher.Add(pool.driver);
  hasher.Add(static_cast<std::uint64_t>(pool.state));
  hasher.Add(pool.wanted_slices);
  hasher.Add(pool.observed_slices);
  ShapeKey sum;
  for (const auto* const slices : {&pool.counter_slices, &pool.other_slices}) {
    // Devices of other nodes matter as far as they use up counters, or when nobody gets any.
    if (pool.state != PoolState::kComplete || !pool.consumers.empty()) {
      for (const auto& slice : *slices) {
        Mix(KeyOf(*slice, node), sum);
      }
    }
  }
  for (const auto& slice : pool.slices) {
    Mix(KeyOf(*slice, node), sum);
  }
  Add(sum, hasher);
  return hasher.key();
}

ShapeKey NodeKinds::KeyOf(const NodeInfo& node) {
  const inventory::NodeViewPtr view = view_.inventory().ViewFor(node.ref);
  ShapeKey sum;
  for (const auto& pool : view->pools) {
    Mix(KeyOf(*pool, node), sum);
  }
  Hasher hasher;
  Add(sum, hasher);
  hasher.Add(node.ref.optional_node_operations);
  hasher.Add(std::string_view(view->error));
  return hasher.key();
}

}  // namespace allot::placement
