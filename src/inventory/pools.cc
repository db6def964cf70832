#include "inventory/pools.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

namespace allot::inventory {
namespace {

using schema::Str;

bool ByName(const Slice* a, const Slice* b) {
  return a->name < b->name;
}

// Fills one view from the slices of a complete pool.
class Builder {
 public:
  Builder(PoolView& view, const Features& features, bool may_repeat)
      : view_(view), features_(features), may_repeat_(may_repeat) {}

  void AddForNode(const SlicePtr& slice) {
    if (IsCounterSlice(*slice)) {
      view_.counter_slices.push_back(slice);
    } else {
      view_.slices.push_back(slice);
    }
  }
  void AddOther(const SlicePtr& slice) {
    (IsCounterSlice(*slice) ? view_.counter_slices : view_.other_slices).push_back(slice);
  }

  void Build() {
    LayOutDevices();
    std::string reason = may_repeat_ ? DuplicateDevice() : std::string();
    if (reason.empty() && features_.partitionable_devices) {
      reason = CollectCells();
      if (reason.empty()) {
        reason = CollectConsumers();
      }
    }
    if (!reason.empty()) {
      const std::string_view driver = view_.driver;
      const std::string_view pool = view_.pool;
      PoolView invalid;
      invalid.driver = driver;
      invalid.pool = pool;
      invalid.state = PoolState::kInvalid;
      invalid.generation = view_.generation;
      invalid.observed_slices = view_.observed_slices;
      invalid.wanted_slices = view_.wanted_slices;
      // Kept alive for the names, and for explanations.
      invalid.counter_slices = view_.counter_slices;
      invalid.other_slices.assign(view_.slices.begin(), view_.slices.end());
      invalid.invalid_reason = std::move(reason);
      view_ = std::move(invalid);
    }
  }

 private:
  [[nodiscard]] bool IsCounterSlice(const Slice& slice) const {
    return features_.partitionable_devices && !slice.spec->shared_counters.empty();
  }

  void LayOutDevices() {
    std::uint32_t position = 0;
    for (const SlicePtr& slice : view_.slices) {
      view_.first.Add(position, slice->devices.size());
      position += static_cast<std::uint32_t>(slice->devices.size());
      view_.has_binding_conditions |= slice->has_binding_conditions;
      view_.per_device |= slice->per_device;
    }
    view_.devices = position;
  }

  [[nodiscard]] std::string DuplicateDevice() const {
    std::unordered_set<Str> names;
    for (const SlicePtr& slice : view_.slices) {
      for (const Device& device : slice->devices) {
        if (!names.insert(device.spec->name).second) {
          return fmt::format("duplicate device name {}", device.spec->name);
        }
      }
    }
    return {};
  }

  std::string CollectCells() {
    for (const SlicePtr& slice : view_.counter_slices) {
      for (const api::resource::CounterSet& set : slice->spec->shared_counters) {
        if (!sets_.emplace(set.name, Set{view_.counter_sets, cell_count(), &set}).second) {
          return fmt::format("duplicate counter set name {}", set.name);
        }
        ++view_.counter_sets;
        for (const auto& counter : set.counters) {
          view_.cells.push_back({set.name, counter.key, counter.value.value});
        }
      }
    }
    return {};
  }

  std::string CollectConsumers() {
    const bool any = std::any_of(view_.slices.begin(),
                                 view_.slices.end(),
                                 [](const SlicePtr& slice) { return slice->has_counters; });
    if (any) {
      view_.consumer_of.assign(view_.device_count(), PoolView::kNone);
    }
    for (std::size_t s = 0; any && s < view_.slices.size(); ++s) {
      for (const Device& device : view_.slices[s]->devices) {
        if (!device.has_counters) {
          continue;
        }
        view_.consumer_of[view_.first[s] + device.position] =
            static_cast<std::uint32_t>(view_.consumers.size());
        if (std::string reason = AddConsumer(device); !reason.empty()) {
          return reason;
        }
      }
    }
    for (const SlicePtr& slice : view_.other_slices) {
      for (const Device& device : slice->devices) {
        if (!device.has_counters) {
          continue;
        }
        if (std::string reason = AddConsumer(device); !reason.empty()) {
          return reason;
        }
      }
    }
    return {};
  }

  std::string AddConsumer(const Device& device) {
    Consumer consumer{&device, use_count(), 0, group_count(), 0};
    for (const auto& use : device.spec->consumes_counters) {
      const auto set = sets_.find(use.counter_set);
      if (set == sets_.end()) {
        return fmt::format("counter set {} not found", use.counter_set);
      }
      for (const auto& counter : use.counters) {
        const auto& counters = set->second.set->counters;
        const auto* const found = std::lower_bound(
            counters.begin(), counters.end(), counter.key, [](const auto& entry, Str wanted) {
              return entry.key < wanted;
            });
        if (found == counters.end() || found->key != counter.key) {
          return fmt::format(
              "counter {} not found in counter set {}", counter.key, use.counter_set);
        }
        const auto ordinal = static_cast<std::uint32_t>(found - counters.begin());
        view_.uses.push_back({set->second.first_cell + ordinal, counter.value.value});
      }
      view_.groups.push_back({set->second.ordinal, &use.compatibility_groups});
    }
    consumer.end_use = use_count();
    consumer.end_group = group_count();
    view_.consumers.push_back(consumer);
    return {};
  }

  [[nodiscard]] std::uint32_t cell_count() const {
    return static_cast<std::uint32_t>(view_.cells.size());
  }
  [[nodiscard]] std::uint32_t use_count() const {
    return static_cast<std::uint32_t>(view_.uses.size());
  }
  [[nodiscard]] std::uint32_t group_count() const {
    return static_cast<std::uint32_t>(view_.groups.size());
  }

  struct Set {
    std::uint32_t ordinal = 0;
    std::uint32_t first_cell = 0;
    const api::resource::CounterSet* set = nullptr;
  };
  PoolView& view_;
  const Features& features_;
  bool may_repeat_;
  std::unordered_map<Str, Set> sets_;
};

PoolViewPtr MakeView(const Pool& pool,
                     const std::vector<const Slice*>& relevant,
                     const Features& features) {
  const std::int64_t generation = relevant.front()->spec->pool.generation;
  // Slices that disagree: those of the node itself are asked first.
  const auto own = std::find_if(
      relevant.begin(), relevant.end(), [](const Slice* slice) { return slice->local; });
  const std::int64_t want =
      (own != relevant.end() ? *own : relevant.front())->spec->pool.resource_slice_count;
  auto view = std::make_shared<PoolView>();
  view->names = pool.names;
  view->driver = pool.names->driver;
  view->pool = pool.names->name;
  view->generation = generation;
  view->wanted_slices = want;
  view->observed_slices = static_cast<std::int64_t>(relevant.size());

  std::vector<const Slice*> all;
  if (view->observed_slices != want) {
    // Slices for other nodes may complete the pool, or show that its generation is over.
    for (const SliceOwner& slice : pool.slices) {
      const std::int64_t other = slice->spec->pool.generation;
      if (other > generation) {
        return nullptr;
      }
      if (other == generation && (features.compatibility_groups || !slice->uses_groups)) {
        all.push_back(slice.get());
      }
    }
    view->observed_slices = static_cast<std::int64_t>(all.size());
    if (view->observed_slices != want) {
      view->state = PoolState::kIncomplete;
      for (const Slice* const slice : relevant) {
        view->other_slices.push_back(slice->shared_from_this());  // keeps the names alive
      }
      return view;
    }
  }
  Builder builder(*view, features, pool.repeated != 0);
  for (const Slice* const slice : relevant) {
    builder.AddForNode(slice->shared_from_this());
  }
  for (const Slice* const slice : all) {
    if (!std::binary_search(relevant.begin(), relevant.end(), slice, ByName)) {
      builder.AddOther(slice->shared_from_this());
    }
  }
  builder.Build();
  return view;
}

}  // namespace

base::Result<bool> NodeRuleMatches(const NodeRef& node,
                                   const Str* node_name,
                                   const bool* all_nodes,
                                   const api::core::NodeSelector* selector) {
  if (node_name != nullptr && !node_name->empty()) {
    return *node_name == node.name;
  }
  if (all_nodes != nullptr && *all_nodes) {
    return true;
  }
  if (selector == nullptr) {
    return false;
  }
  auto match = MatchNodeSelector(*selector, node);
  if (!match) {
    return base::Error(std::move(match).error().Prepend(
        fmt::format("failed to parse node selector {}: ", DescribeNodeSelector(*selector))));
  }
  return *match;
}

base::Result<bool> DeviceRuleMatches(const NodeRef& node, const Device& device) {
  const api::resource::Device& spec = *device.spec;
  return NodeRuleMatches(node, spec.node_name, spec.all_nodes, spec.node_selector);
}

bool SliceIsUsable(const Slice& slice, const Features& features) {
  if (!features.partitionable_devices &&
      (slice.per_device_set || !slice.spec->shared_counters.empty())) {
    return false;
  }
  return features.compatibility_groups || !slice.uses_groups;
}

base::Result<bool> SliceIsRelevant(const Slice& slice, const NodeRef& node) {
  const api::resource::ResourceSliceSpec& spec = *slice.spec;
  if (slice.everywhere) {
    return true;
  }
  const bool all = spec.all_nodes != nullptr && *spec.all_nodes;
  if (slice.local || all || spec.node_selector != nullptr) {
    auto match = NodeRuleMatches(node, spec.node_name, spec.all_nodes, spec.node_selector);
    if (!match) {
      return base::Error(std::move(match).error().Prepend(
          fmt::format("failed to perform node selection for slice {}: ", slice.name)));
    }
    return *match;
  }
  if (!slice.per_device) {
    return false;
  }
  for (const Device& device : slice.devices) {
    auto match = DeviceRuleMatches(node, device);
    if (!match) {
      return base::Error(std::move(match).error().Prepend(
          fmt::format("failed to perform node selection for device {} in slice {}: ",
                      device.spec->name,
                      slice.name)));
    }
    if (*match) {
      return true;
    }
  }
  return false;
}

PoolViewPtr ViewOfPool(Pool& pool, std::vector<const Slice*> relevant, const Features& features) {
  std::int64_t newest = relevant.front()->spec->pool.generation;
  for (const Slice* const slice : relevant) {
    newest = std::max(newest, slice->spec->pool.generation);
  }
  std::erase_if(relevant,
                [&](const Slice* slice) { return slice->spec->pool.generation < newest; });
  // Most often they come in order.
  if (!std::is_sorted(relevant.begin(), relevant.end(), ByName)) {
    std::sort(relevant.begin(), relevant.end(), ByName);
  }
  for (const Pool::Cached& cached : pool.views) {
    if (cached.relevant == relevant) {
      return cached.view;
    }
  }
  PoolViewPtr view = MakeView(pool, relevant, features);
  pool.views.push_back({std::move(relevant), view});
  return view;
}

}  // namespace allot::inventory
