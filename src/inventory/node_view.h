// NodeView: the pools one node can use, in the order the search visits them.
//
// Built by Inventory::ViewFor and shared: nodes that see the same slices of a pool share its
// PoolView. Thread safety: immutable once published.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/device.h"
#include "inventory/one_or_more.h"
#include "quantity/quantity.h"

namespace allot::inventory {

/// One counter of one counter set of a pool.
struct CounterCell {
  std::string_view set;
  std::string_view counter;
  quantity::Quantity value;
};

/// What one device takes of one cell.
struct CounterUse {
  std::uint32_t cell = 0;
  quantity::Quantity amount;
};

/// The compatibility groups a device declares for one counter set (empty: none).
struct GroupUse {
  std::uint32_t set = 0;  ///< ordinal of the counter set in the pool
  const schema::List<schema::Str>* groups = nullptr;
};

/// A device with counters: its uses, as ranges of PoolView's arrays.
struct Consumer {
  const Device* device = nullptr;
  std::uint32_t first_use = 0, end_use = 0;
  std::uint32_t first_group = 0, end_group = 0;
};

enum class PoolState : std::uint8_t { kComplete, kIncomplete, kInvalid };

/// Position of the first device of each of some slices.
class Starts {
 public:
  std::uint32_t operator[](std::size_t slice) const { return slice == 0 ? 0 : later_[slice - 1]; }
  /// Adds a slice of `devices` devices that stands at `position`.
  void Add(std::uint32_t position, std::size_t devices) {
    later_.push_back(position + static_cast<std::uint32_t>(devices));
  }

 private:
  std::vector<std::uint32_t> later_;  // of the second slice on; the first one is at 0
};

// What a search reads comes first: with many nodes none of it is in a cache.
struct alignas(64) PoolView {
  PoolState state = PoolState::kComplete;
  bool has_binding_conditions = false;
  bool per_device = false;     ///< devices of `slices` may be for some of the nodes that see them
  std::uint32_t devices = 0;   ///< of `slices`
  OneOrMore<SlicePtr> slices;  ///< with devices for this node, by name
  Starts first;                ///< position of each slice's first device
  std::string_view driver;
  std::string_view pool;
  std::vector<std::uint32_t> consumer_of;  ///< by position: ordinal in `consumers`, or kNone
  std::vector<Consumer> consumers;         ///< all devices with counters; those of `slices` first
  std::vector<CounterCell> cells;
  std::vector<CounterUse> uses;
  std::vector<GroupUse> groups;
  std::uint32_t counter_sets = 0;
  std::shared_ptr<const void> names;  ///< of the texts `driver` and `pool`
  std::string invalid_reason;         ///< as upstream notes it ("duplicate device name x")
  std::int64_t observed_slices = 0;
  std::int64_t wanted_slices = 0;
  std::int64_t generation = 0;
  std::vector<SlicePtr> counter_slices;  ///< kept alive for the cells
  std::vector<SlicePtr> other_slices;    ///< devices of other nodes: they consume counters too

  static constexpr std::uint32_t kNone = 0xffffffff;
  [[nodiscard]] std::uint32_t device_count() const { return devices; }
};

using PoolViewPtr = std::shared_ptr<const PoolView>;

struct NodeView {
  bool has_invalid = false;
  bool has_incomplete = false;
  OneOrMore<PoolViewPtr> pools;
  /// Not empty: gathering failed for good (a selector that cannot be parsed), with upstream's text.
  std::string error;
};

using NodeViewPtr = std::shared_ptr<const NodeView>;

}  // namespace allot::inventory
