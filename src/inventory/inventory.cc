#include "inventory/inventory.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "inventory/class_table.h"
#include "inventory/copy.h"
#include "inventory/device_table.h"
#include "inventory/node_table.h"
#include "inventory/pools.h"
#include "inventory/taint_rules.h"

namespace allot::inventory {
namespace {

template <typename List, typename T>
void InsertByName(List& list, T slice) {
  const auto at =
      std::lower_bound(list.begin(), list.end(), slice, [](const auto& a, const auto& b) {
        return a->name < b->name;
      });
  list.insert(at, std::move(slice));
}

}  // namespace

struct Inventory::Impl {
  explicit Impl(Features features_in) : features(features_in) {}

  Features features;
  std::uint64_t version = 1;
  std::uint64_t class_version = 1;
  std::map<std::string, SliceOwner, std::less<>> slices;
  std::map<PoolKey, Pool> pools;
  std::vector<const Slice*> global;  // slices without node name, by name
  NodeTable nodes;
  DeviceTable devices;
  ClassTable classes;
  TaintRules rules;

  Pool& PoolOf(const Slice& slice) {
    PoolKey key{std::string(slice.spec->driver), std::string(slice.spec->pool.name)};
    const auto [at, added] = pools.try_emplace(key);
    if (added) {
      at->second.names = std::make_shared<const PoolKey>(std::move(key));
    }
    return at->second;
  }

  // Everybody who sees the pool may see something else now.
  void Touch(const Slice& slice, const Pool& pool) {
    ++version;
    if (!slice.local) {
      nodes.AllChanged(version);
      return;
    }
    nodes.Changed(slice.node, version);
    for (const SliceOwner& other : pool.slices) {
      if (!other->local) {
        nodes.AllChanged(version);
      } else if (other->node != slice.node) {
        nodes.Changed(other->node, version);
      }
    }
  }

  // Who notices when a device of the pool is taken: its node, or all where devices of several nodes
  // may share counters.
  void FindObserver(Pool& pool, const Slice* added) {
    NodeIndex node = pool.slices.empty() ? kNoNode : pool.slices.front()->node;
    if (!std::all_of(pool.slices.begin(), pool.slices.end(), [&](const SliceOwner& slice) {
          return slice->local && slice->node == node;
        })) {
      node = kAnyNode;
    }
    if (node == pool.observer) {
      if (added != nullptr) {
        devices.SetSeenBy(*added, node);
      }
      return;
    }
    pool.observer = node;
    for (const SliceOwner& slice : pool.slices) {
      devices.SetSeenBy(*slice, node);
    }
  }

  // What a slice that went had published for others too is theirs, the newest generation's first.
  void ClaimDevices(const Pool& pool) {
    std::vector<const Slice*> others;
    for (const SliceOwner& slice : pool.slices) {
      others.push_back(slice.get());
    }
    std::ranges::stable_sort(others, std::ranges::greater(), [](const Slice* slice) {
      return slice->spec->pool.generation;
    });
    for (const Slice* const slice : others) {
      devices.Claim(*slice, pool.observer);
    }
  }

  void Insert(const SliceOwner& slice) {
    Pool& pool = PoolOf(*slice);
    slice->pool = &pool;
    InsertByName(pool.slices, slice);
    pool.views.clear();
    auto* const seen = static_cast<const Slice*>(slice.get());
    if (slice->local) {
      slice->node = nodes.Intern(*slice->spec->node_name);
      InsertByName(nodes.At(slice->node).slices, seen);
    } else {
      InsertByName(global, seen);
    }
    pool.repeated += devices.Publish(*slice);
    FindObserver(pool, seen);
    Touch(*slice, pool);
  }

  void Remove(const SliceOwner& slice) {
    Pool& pool = *slice->pool;
    Touch(*slice, pool);
    std::erase(pool.slices, slice);
    pool.views.clear();
    const std::uint32_t repeated = devices.Withdraw(*slice);
    pool.repeated -= repeated;
    FindObserver(pool, nullptr);
    if (repeated != 0) {
      ClaimDevices(pool);
    }
    if (slice->local) {
      std::erase(nodes.At(slice->node).slices, slice.get());
      nodes.DropIfUnused(slice->node);
    } else {
      std::erase(global, slice.get());
    }
    devices.GiveRange({Value(slice->first), static_cast<std::uint32_t>(slice->devices.size())});
    slice->pool = nullptr;
    if (pool.slices.empty()) {
      pools.erase(*std::shared_ptr(pool.names));
    }
  }

  void RuleChanged(const TaintRule& rule) {
    for (const auto& [name, slice] : slices) {
      if (rule.MayMatch(*slice)) {
        rules.Apply(*slice);
        Touch(*slice, *slice->pool);
      }
    }
  }

  void ClassesChanged() {
    ++version;
    ++class_version;
  }

  NodeViewPtr Gather(const NodeRef& node, const NodeEntry& entry) {
    auto view = std::make_shared<NodeView>();
    std::map<Pool*, std::vector<const Slice*>> relevant;
    const auto add = [&](const Slice* slice) -> bool {
      if (!SliceIsUsable(*slice, features)) {
        return true;
      }
      auto match = SliceIsRelevant(*slice, node);
      if (!match) {
        view->error = "gather pool information: " + match.error().message();
        return false;
      }
      if (*match) {
        relevant[slice->pool].push_back(slice);
      }
      return true;
    };
    if (!std::all_of(entry.slices.begin(), entry.slices.end(), add) ||
        !std::all_of(global.begin(), global.end(), add)) {
      return view;
    }
    for (auto& [pool, slices_of_pool] : relevant) {
      PoolViewPtr pool_view = ViewOfPool(*pool, std::move(slices_of_pool), features);
      if (pool_view != nullptr) {
        view->has_invalid |= pool_view->state == PoolState::kInvalid;
        view->has_incomplete |= pool_view->state == PoolState::kIncomplete;
        view->pools.push_back(std::move(pool_view));
      }
    }
    std::sort(view->pools.begin(), view->pools.end(), [](const auto& a, const auto& b) {
      return std::tuple(a->has_binding_conditions, a->driver, a->pool) <
             std::tuple(b->has_binding_conditions, b->driver, b->pool);
    });
    return view;
  }
};

Inventory::Inventory(Features features) : impl_(std::make_unique<Impl>(features)) {}
Inventory::~Inventory() = default;

const Features& Inventory::features() const {
  return impl_->features;
}

void Inventory::UpsertSlice(const api::resource::ResourceSlice& from) {
  auto slice = std::make_shared<Slice>();
  slice->name = slice->arena.Copy(from.metadata.name);
  const auto* const spec =
      slice->arena.New<api::resource::ResourceSliceSpec>(CopySliceSpec(from.spec, slice->arena));
  slice->spec = spec;
  slice->everywhere =
      impl_->features.variant() == Variant::kStable && !spec->shared_counters.empty();
  slice->local = !slice->everywhere && spec->node_name != nullptr && !spec->node_name->empty();
  slice->per_device_set = spec->per_device_node_selection != nullptr;
  slice->per_device = slice->per_device_set && *spec->per_device_node_selection;
  // The old slice goes first, so that an unchanged layout gets its indices back.
  DeleteSlice(from.metadata.name);
  const auto count = static_cast<std::uint32_t>(spec->devices.size());
  const std::uint32_t first = count != 0 ? impl_->devices.TakeRange(count) : 0;
  slice->first = DeviceIndex{first};
  slice->devices.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const api::resource::Device& device_spec = spec->devices[i];
    Device& device = slice->devices[i];
    device.spec = &device_spec;
    device.slice = slice.get();
    device.index = DeviceIndex{first + i};
    device.id = impl_->devices.Intern({spec->driver, spec->pool.name, device_spec.name});
    device.position = i;
    device.shareable = device_spec.allow_multiple_allocations != nullptr &&
                       *device_spec.allow_multiple_allocations;
    device.has_binding_conditions = device_spec.binding_conditions.items != nullptr;
    device.has_counters = !device_spec.consumes_counters.empty();
    slice->has_binding_conditions |= device.has_binding_conditions;
    slice->has_counters |= device.has_counters;
    device.plain_capacity = std::all_of(
        device_spec.capacity.begin(), device_spec.capacity.end(), [](const auto& entry) {
          return entry.value.request_policy == nullptr && entry.value.value.nanos >= 0;
        });
    for (const auto& use : device_spec.consumes_counters) {
      device.has_groups |= !use.compatibility_groups.empty();
    }
    slice->uses_groups |= device.has_groups;
  }
  impl_->rules.Apply(*slice);
  impl_->slices.emplace(std::string(slice->name), slice);
  impl_->Insert(slice);
}

void Inventory::DeleteSlice(std::string_view name) {
  const auto found = impl_->slices.find(name);
  if (found == impl_->slices.end()) {
    return;
  }
  const SliceOwner slice = found->second;
  impl_->slices.erase(found);
  impl_->Remove(slice);
}

void Inventory::UpsertClass(const api::resource::DeviceClass& from) {
  impl_->classes.Upsert(from);
  impl_->ClassesChanged();
}

void Inventory::DeleteClass(std::string_view name) {
  if (impl_->classes.Delete(name)) {
    impl_->ClassesChanged();
  }
}

void Inventory::UpsertTaintRule(const api::resource::DeviceTaintRule& from) {
  if (!impl_->features.device_taint_rules) {
    return;
  }
  DeleteTaintRule(from.metadata.name);
  impl_->RuleChanged(impl_->rules.Insert(from));
}

void Inventory::DeleteTaintRule(std::string_view name) {
  if (const std::unique_ptr<TaintRule> gone = impl_->rules.Take(name)) {
    impl_->RuleChanged(*gone);
  }
}

ClassPtr Inventory::FindClass(std::string_view name) const {
  return impl_->classes.Find(name);
}

bool Inventory::HasClass(std::string_view name) const {
  return impl_->classes.Has(name);
}

ClassPtr Inventory::FindClassOfExtendedResource(std::string_view resource) const {
  return impl_->classes.FindByResource(resource);
}

bool Inventory::AnyExtendedResource() const {
  return impl_->classes.AnyResource();
}

NodeIndex Inventory::KnowNode(std::string_view name) {
  const NodeIndex index = impl_->nodes.Intern(name);
  impl_->nodes.At(index).known = true;
  return index;
}

const NodeViewPtr& Inventory::ViewFor(const NodeRef& node) {
  const NodeIndex index = node.index != kNoNode ? node.index : KnowNode(node.name);
  NodeEntry& entry = impl_->nodes.At(index);
  const std::uint64_t version = impl_->nodes.VersionOf(index);
  if (entry.view == nullptr || entry.view_version != version) {
    entry.view = impl_->Gather(node, entry);
    entry.view_version = version;
  }
  return entry.view;
}

const base::ChangeLog<NodeIndex>& Inventory::node_changes() const {
  return impl_->nodes.changes();
}

NodeIndex Inventory::NodeSeeing(DeviceId id) const {
  return impl_->devices.SeenBy(id);
}

void Inventory::NodeChanged(std::string_view node_name) {
  if (const NodeIndex index = impl_->nodes.Find(node_name); index != kNoNode) {
    impl_->nodes.At(index).view = nullptr;
    impl_->nodes.Changed(index, ++impl_->version);
  }
}

void Inventory::NodeGone(std::string_view node_name) {
  NodeChanged(node_name);
  if (const NodeIndex index = impl_->nodes.Find(node_name); index != kNoNode) {
    impl_->nodes.At(index).known = false;
    impl_->nodes.DropIfUnused(index);
  }
}

DeviceId Inventory::InternDevice(std::string_view driver,
                                 std::string_view pool,
                                 std::string_view device) {
  return impl_->devices.Intern({driver, pool, device});
}

DeviceName Inventory::NameOf(DeviceId id) const {
  return impl_->devices.NameOf(id);
}

const Device* Inventory::FindDevice(const DeviceName& name,
                                    const NodeRef* node,
                                    DevicePlace& place) const {
  place = DevicePlace::kNotPublished;
  const DeviceId* const id = impl_->devices.Find(name);
  const Slice* const slice = id != nullptr ? impl_->devices.PublisherOf(*id) : nullptr;
  if (slice == nullptr) {
    return nullptr;
  }
  const auto device = std::find_if(slice->devices.begin(),
                                   slice->devices.end(),
                                   [&](const Device& one) { return one.id == *id; });
  if (node != nullptr) {
    const auto seen =
        slice->per_device ? DeviceRuleMatches(*node, *device) : SliceIsRelevant(*slice, *node);
    if (!seen || !*seen) {
      place = slice->per_device ? DevicePlace::kOtherNode : DevicePlace::kNotPublished;
      return nullptr;
    }
  }
  place = DevicePlace::kHere;
  return &*device;
}

ClaimUse Inventory::UseOf(const api::resource::ResourceClaim& claim,
                          const api::resource::AllocationResult& allocation) {
  ClaimUse use;
  use.namespace_ = claim.metadata.namespace_;
  use.name = claim.metadata.name;
  use.uid = claim.metadata.uid;
  for (const auto& result : allocation.devices.results) {
    if (result.admin_access != nullptr && *result.admin_access) {
      continue;
    }
    DeviceUse device;
    device.device = InternDevice(result.driver, result.pool, result.device);
    // Without the feature a share counts as the whole device, so that it is not handed out twice.
    device.shared = result.share_id != nullptr && impl_->features.consumable_capacity;
    if (device.shared) {
      for (const auto& capacity : result.consumed_capacity) {
        device.consumed.push_back({std::string(capacity.key), capacity.value});
      }
    }
    use.devices.push_back(std::move(device));
  }
  return use;
}

std::vector<SlicePtr> Inventory::Slices() const {
  std::vector<SlicePtr> slices;
  slices.reserve(impl_->slices.size());
  for (const auto& [name, slice] : impl_->slices) {
    slices.push_back(slice);
  }
  return slices;
}

std::vector<ClassPtr> Inventory::Classes() const {
  return impl_->classes.All();
}

std::uint32_t Inventory::index_bound() const {
  return impl_->devices.bound();
}

const base::ChangeLog<IndexRange>& Inventory::recycled() const {
  return impl_->devices.recycled();
}

Inventory::Sizes Inventory::sizes() const {
  return {.nodes = impl_->nodes.size(), .pools = impl_->pools.size()};
}

std::uint64_t Inventory::version() const {
  return impl_->version;
}

std::uint64_t Inventory::class_version() const {
  return impl_->class_version;
}

}  // namespace allot::inventory
