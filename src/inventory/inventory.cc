#include "inventory/inventory.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "inventory/copy.h"
#include "inventory/pools.h"

namespace allot::inventory {
namespace {

using schema::Str;

constexpr std::string_view kImplicitPrefix = "deviceclass.resource.kubernetes.io/";

// Changes kept for readers that come back.
constexpr std::size_t kMaxLog = std::size_t{1} << 16U;

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

struct NameHash {
  std::size_t operator()(const DeviceName& name) const {
    const std::hash<std::string_view> hash;
    std::size_t h = hash(name.driver);
    h = h * 0x9E3779B97F4A7C15ULL + hash(name.pool);
    return h * 0x9E3779B97F4A7C15ULL + hash(name.device);
  }
};

struct NameEqual {
  bool operator()(const DeviceName& a, const DeviceName& b) const {
    return a.driver == b.driver && a.pool == b.pool && a.device == b.device;
  }
};

// What one node sees beyond the slices without a node name.
struct NodeEntry {
  std::vector<const Slice*> slices;  // by name
  std::uint64_t version = 0;
  std::uint64_t view_version = 0;
  NodeViewPtr view;
  bool known = false;  // somebody asked for its view, and it is not gone since
};

struct TaintRule {
  base::Arena arena;
  api::resource::DeviceTaint taint;
  bool selects = false;  // a rule without selector selects nothing
  bool has_driver = false, has_pool = false, has_device = false;
  Str driver, pool, device;

  [[nodiscard]] bool Matches(const Slice& slice, const Device& device_in) const {
    return selects && (!has_driver || driver == slice.spec->driver) &&
           (!has_pool || pool == slice.spec->pool.name) &&
           (!has_device || device == device_in.spec->name);
  }
};

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
  std::uint64_t global_version = 1;  // of the slices without node name
  std::map<std::string, SliceOwner, std::less<>> slices;
  std::map<PoolKey, Pool> pools;
  std::vector<const Slice*> slice_of;  // by DeviceId: the slice that publishes it, or null
  std::vector<std::string> log;        // nodes whose view may have changed; "" = all
  std::uint64_t log_start = 0;         // cursor of log[0]
  std::unordered_map<std::string, NodeEntry, TextHash, std::equal_to<>> nodes;
  std::uint64_t absent_version = 0;  // of nodes without entry: that of the last one dropped
  std::vector<const Slice*> global;  // slices without node name, by name
  std::map<std::string, ClassPtr, std::less<>> classes;
  std::unordered_map<std::string, ClassPtr, TextHash, std::equal_to<>> extended;
  std::map<std::string, std::unique_ptr<TaintRule>, std::less<>> rules;

  base::Arena names;
  std::unordered_map<DeviceName, std::uint32_t, NameHash, NameEqual> ids;
  std::vector<DeviceName> name_of;

  std::uint32_t bound = 0;
  std::map<std::uint32_t, std::vector<std::uint32_t>> free_ranges;  // size -> first indices
  std::vector<IndexRange> recycled;
  std::uint64_t recycled_start = 0;  // cursor of recycled[0]

  std::uint32_t TakeRange(std::uint32_t count) {
    if (const auto range = free_ranges.find(count); range != free_ranges.end()) {
      const std::uint32_t first = range->second.back();
      range->second.pop_back();
      if (range->second.empty()) {
        free_ranges.erase(range);
      }
      return first;
    }
    const std::uint32_t first = bound;
    bound += count;
    return first;
  }

  void GiveRange(const Slice& slice) {
    const auto count = static_cast<std::uint32_t>(slice.devices.size());
    if (count != 0) {
      free_ranges[count].push_back(Value(slice.first));
      if (recycled.size() > kMaxLog) {
        recycled_start += recycled.size();
        recycled.clear();
      }
      recycled.push_back({Value(slice.first), count});
    }
  }

  DeviceId Intern(const DeviceName& name) {
    if (const auto found = ids.find(name); found != ids.end()) {
      return DeviceId{found->second};
    }
    const DeviceName own{names.Copy(name.driver), names.Copy(name.pool), names.Copy(name.device)};
    const auto id = static_cast<std::uint32_t>(name_of.size());
    name_of.push_back(own);
    slice_of.push_back(nullptr);
    ids.emplace(own, id);
    return DeviceId{id};
  }

  Pool& PoolOf(const Slice& slice) {
    PoolKey key{std::string(slice.spec->driver), std::string(slice.spec->pool.name)};
    const auto [at, added] = pools.try_emplace(key);
    if (added) {
      at->second.names = std::make_shared<const PoolKey>(std::move(key));
    }
    return at->second;
  }

  NodeEntry& EntryOf(std::string_view node_name) {
    auto found = nodes.find(node_name);
    if (found == nodes.end()) {
      found = nodes.try_emplace(std::string(node_name)).first;
      found->second.version = absent_version;
    }
    return found->second;
  }

  // An entry nobody needs. Its version lives on, so that no version of a node comes twice.
  void DropIfUnused(std::string_view node_name) {
    const auto found = nodes.find(node_name);
    if (found != nodes.end() && !found->second.known && found->second.slices.empty()) {
      absent_version = std::max(absent_version, found->second.version);
      nodes.erase(found);
    }
  }

  void SetTaints(Slice& slice) {
    for (Device& device : slice.devices) {
      device.taints.clear();
      for (const auto& taint : device.spec->taints) {
        device.taints.push_back(&taint);
      }
      for (const auto& [name, rule] : rules) {
        if (rule->Matches(slice, device)) {
          device.taints.push_back(&rule->taint);
        }
      }
    }
  }

  void Note(std::string_view node_name) {
    if (log.size() > kMaxLog) {
      log_start += log.size();
      log.clear();
    }
    log.emplace_back(node_name);
  }

  // Everybody who sees the pool may see something else now.
  void Touch(const Slice& slice, Pool& pool) {
    ++version;
    pool.one_node = Pool::OneNode::kUnknown;
    if (!slice.local) {
      global_version = version;
      Note({});
      return;
    }
    EntryOf(*slice.spec->node_name).version = version;
    Note(*slice.spec->node_name);
    for (const SliceOwner& other : pool.slices) {
      if (!other->local) {
        global_version = version;
        Note({});
      } else if (*other->spec->node_name != *slice.spec->node_name) {
        EntryOf(*other->spec->node_name).version = version;
        Note(*other->spec->node_name);
      }
    }
  }

  void Insert(const SliceOwner& slice) {
    Pool& pool = PoolOf(*slice);
    slice->pool = &pool;
    InsertByName(pool.slices, slice);
    pool.views.clear();
    if (slice->local) {
      InsertByName(EntryOf(*slice->spec->node_name).slices, static_cast<const Slice*>(slice.get()));
    } else {
      InsertByName(global, static_cast<const Slice*>(slice.get()));
    }
    Touch(*slice, pool);
  }

  void Remove(const SliceOwner& slice) {
    Pool& pool = *slice->pool;
    Touch(*slice, pool);
    std::erase(pool.slices, slice);
    pool.views.clear();
    for (const Device& device : slice->devices) {
      const Slice*& publisher = slice_of[Value(device.id)];
      if (publisher == slice.get()) {
        publisher = nullptr;
      }
    }
    if (slice->local) {
      std::erase(EntryOf(*slice->spec->node_name).slices, slice.get());
      DropIfUnused(*slice->spec->node_name);
    } else {
      std::erase(global, slice.get());
    }
    GiveRange(*slice);
    slice->pool = nullptr;
    if (pool.slices.empty()) {
      pools.erase(*std::shared_ptr(pool.names));
    }
  }

  void RuleChanged(const TaintRule& rule) {
    for (const auto& [name, slice] : slices) {
      if (!rule.selects || (rule.has_driver && rule.driver != slice->spec->driver) ||
          (rule.has_pool && rule.pool != slice->spec->pool.name)) {
        continue;
      }
      SetTaints(*slice);
      Touch(*slice, *slice->pool);
    }
  }

  void ClassesChanged() {
    ++version;
    ++class_version;
    extended.clear();
    const auto better = [](const Class& a, const Class& b) {
      return a.created != b.created ? a.created > b.created : a.name < b.name;
    };
    for (const auto& [name, device_class] : classes) {
      extended[std::string(kImplicitPrefix) + name] = device_class;
      const Str* const explicit_name = device_class->spec->extended_resource_name;
      if (explicit_name == nullptr || explicit_name->empty()) {
        continue;
      }
      ClassPtr& winner = extended[std::string(*explicit_name)];
      if (winner == nullptr || better(*device_class, *winner)) {
        winner = device_class;
      }
    }
  }

  NodeViewPtr Gather(const NodeRef& node, const NodeEntry* entry) {
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
    if (entry != nullptr && !std::all_of(entry->slices.begin(), entry->slices.end(), add)) {
      return view;
    }
    if (!std::all_of(global.begin(), global.end(), add)) {
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
  const std::uint32_t first = count != 0 ? impl_->TakeRange(count) : 0;
  slice->first = DeviceIndex{first};
  slice->devices.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const api::resource::Device& device_spec = spec->devices[i];
    Device& device = slice->devices[i];
    device.spec = &device_spec;
    device.slice = slice.get();
    device.index = DeviceIndex{first + i};
    device.id = impl_->Intern({spec->driver, spec->pool.name, device_spec.name});
    device.position = i;
    device.shareable = device_spec.allow_multiple_allocations != nullptr &&
                       *device_spec.allow_multiple_allocations;
    device.has_binding_conditions = device_spec.binding_conditions.items != nullptr;
    device.has_counters = !device_spec.consumes_counters.empty();
    device.plain_capacity = std::all_of(
        device_spec.capacity.begin(), device_spec.capacity.end(), [](const auto& entry) {
          return entry.value.request_policy == nullptr && entry.value.value.nanos >= 0;
        });
    for (const auto& use : device_spec.consumes_counters) {
      device.has_groups |= !use.compatibility_groups.empty();
    }
    slice->uses_groups |= device.has_groups;
  }
  for (const Device& device : slice->devices) {
    impl_->slice_of[Value(device.id)] = slice.get();
  }
  impl_->SetTaints(*slice);
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
  auto device_class = std::make_shared<Class>();
  device_class->name = device_class->arena.Copy(from.metadata.name);
  device_class->spec = device_class->arena.New<api::resource::DeviceClassSpec>(
      CopyClassSpec(from.spec, device_class->arena));
  device_class->created = from.metadata.creation_timestamp;
  impl_->classes.insert_or_assign(std::string(device_class->name), device_class);
  impl_->ClassesChanged();
}

void Inventory::DeleteClass(std::string_view name) {
  if (const auto found = impl_->classes.find(name); found != impl_->classes.end()) {
    impl_->classes.erase(found);
    impl_->ClassesChanged();
  }
}

void Inventory::UpsertTaintRule(const api::resource::DeviceTaintRule& from) {
  DeleteTaintRule(from.metadata.name);
  auto rule = std::make_unique<TaintRule>();
  rule->taint = CopyTaint(from.spec.taint, rule->arena);
  if (const auto* const selector = from.spec.device_selector) {
    rule->selects = true;
    const auto take = [&](const Str* part, bool& has, Str& text) {
      has = part != nullptr;
      text = has ? rule->arena.Copy(*part) : Str();
    };
    take(selector->driver, rule->has_driver, rule->driver);
    take(selector->pool, rule->has_pool, rule->pool);
    take(selector->device, rule->has_device, rule->device);
  }
  const TaintRule& added =
      *impl_->rules.insert_or_assign(std::string(from.metadata.name), std::move(rule))
           .first->second;
  impl_->RuleChanged(added);
}

void Inventory::DeleteTaintRule(std::string_view name) {
  if (const auto found = impl_->rules.find(name); found != impl_->rules.end()) {
    const std::unique_ptr<TaintRule> gone = std::move(found->second);
    impl_->rules.erase(found);
    impl_->RuleChanged(*gone);
  }
}

ClassPtr Inventory::FindClass(std::string_view name) const {
  const auto found = impl_->classes.find(name);
  return found != impl_->classes.end() ? found->second : nullptr;
}

bool Inventory::HasClass(std::string_view name) const {
  return impl_->classes.contains(name);
}

ClassPtr Inventory::FindClassOfExtendedResource(std::string_view resource) const {
  const auto found = impl_->extended.find(resource);
  return found != impl_->extended.end() ? found->second : nullptr;
}

bool Inventory::AnyExtendedResource() const {
  return !impl_->extended.empty();
}

NodeViewPtr Inventory::ViewFor(const NodeRef& node) {
  NodeEntry& entry = impl_->EntryOf(node.name);
  entry.known = true;
  const std::uint64_t version = std::max(entry.version, impl_->global_version);
  if (entry.view == nullptr || entry.view_version != version) {
    entry.view = impl_->Gather(node, &entry);
    entry.view_version = version;
  }
  return entry.view;
}

std::uint64_t Inventory::NodeVersion(std::string_view node_name) const {
  const auto found = impl_->nodes.find(node_name);
  return std::max(impl_->global_version,
                  found != impl_->nodes.end() ? found->second.version : impl_->absent_version);
}

bool Inventory::ChangedNodesSince(std::uint64_t& cursor,
                                  std::vector<std::string_view>& changed) const {
  changed.clear();
  const std::uint64_t end = impl_->log_start + impl_->log.size();
  bool complete = cursor >= impl_->log_start && cursor <= end;
  for (std::uint64_t at = cursor; complete && at < end; ++at) {
    const std::string& name = impl_->log[at - impl_->log_start];
    complete = !name.empty();
    changed.push_back(name);
  }
  cursor = end;
  return complete;
}

bool Inventory::NodeSeeing(DeviceId id, std::string_view& node_name) const {
  node_name = {};
  const Slice* const slice = impl_->slice_of[Value(id)];
  if (slice == nullptr) {
    return true;
  }
  if (!slice->local) {
    return false;
  }
  Pool& pool = *slice->pool;
  if (pool.one_node == Pool::OneNode::kUnknown) {
    // Devices of one pool may share counters over nodes.
    const bool one = std::all_of(pool.slices.begin(), pool.slices.end(), [&](const auto& other) {
      return other->local && *other->spec->node_name == *slice->spec->node_name;
    });
    pool.one_node = one ? Pool::OneNode::kYes : Pool::OneNode::kNo;
  }
  node_name = *slice->spec->node_name;
  return pool.one_node == Pool::OneNode::kYes;
}

void Inventory::NodeChanged(std::string_view node_name) {
  if (const auto found = impl_->nodes.find(node_name); found != impl_->nodes.end()) {
    found->second.version = ++impl_->version;
    found->second.view = nullptr;
    impl_->Note(node_name);
  }
}

void Inventory::NodeGone(std::string_view node_name) {
  NodeChanged(node_name);
  if (const auto found = impl_->nodes.find(node_name); found != impl_->nodes.end()) {
    found->second.known = false;
    impl_->DropIfUnused(node_name);
  }
}

DeviceId Inventory::InternDevice(std::string_view driver,
                                 std::string_view pool,
                                 std::string_view device) {
  return impl_->Intern({driver, pool, device});
}

DeviceName Inventory::NameOf(DeviceId id) const {
  return impl_->name_of[Value(id)];
}

const Device* Inventory::FindDevice(const DeviceName& name,
                                    const NodeRef* node,
                                    DevicePlace& place) const {
  place = DevicePlace::kNotPublished;
  const auto id = impl_->ids.find(name);
  const Slice* const slice = id != impl_->ids.end() ? impl_->slice_of[id->second] : nullptr;
  if (slice == nullptr) {
    return nullptr;
  }
  const auto device = std::find_if(slice->devices.begin(),
                                   slice->devices.end(),
                                   [&](const Device& one) { return Value(one.id) == id->second; });
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
  std::vector<ClassPtr> classes;
  for (const auto& [name, device_class] : impl_->classes) {
    classes.push_back(device_class);
  }
  return classes;
}

std::uint32_t Inventory::index_bound() const {
  return impl_->bound;
}

std::uint64_t Inventory::recycled_end() const {
  return impl_->recycled_start + impl_->recycled.size();
}

bool Inventory::RecycledSince(std::uint64_t& cursor, std::span<const IndexRange>& ranges) const {
  const bool complete = cursor >= impl_->recycled_start;
  ranges = impl_->recycled;
  if (complete) {
    ranges = ranges.subspan(cursor - impl_->recycled_start);
  }
  cursor = recycled_end();
  return complete;
}

Inventory::Sizes Inventory::sizes() const {
  return {.nodes = impl_->nodes.size(),
          .pools = impl_->pools.size(),
          .recycled = impl_->recycled.size(),
          .log = impl_->log.size()};
}

std::uint64_t Inventory::version() const {
  return impl_->version;
}

std::uint64_t Inventory::class_version() const {
  return impl_->class_version;
}

}  // namespace allot::inventory
