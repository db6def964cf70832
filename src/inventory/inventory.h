// Inventory: every published device of the cluster and the classes, kept current by events.
//
// Upserts and deletes are incremental: they touch the one slice, its pool and the views of nodes
// that see it. Pool completeness, generations and validity are judged when a node's view is next
// asked for. Thread safety: one writer; const calls may run in parallel with each other, not with
// the writer. See: reference KEP-4381 (structured parameters); docs/architecture.md, pure wing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/resource/v1.gen.h"
#include "base/change_log.h"
#include "inventory/allocated_state.h"
#include "inventory/device.h"
#include "inventory/features.h"
#include "inventory/node_selector.h"
#include "inventory/node_view.h"

namespace allot::inventory {

/// A device class as published. Lifetime: until the class is replaced; hold the pointer to keep it.
struct Class {
  base::Arena arena;
  std::string_view name;
  const api::resource::DeviceClassSpec* spec = nullptr;
  quantity::Time created;
};
using ClassPtr = std::shared_ptr<const Class>;

/// Whether a node has a device.
enum class DevicePlace : std::uint8_t {
  kHere,
  kNotPublished,  ///< no slice that the node sees lists it
  kOtherNode,     ///< the slice is seen, the device's own rule names other nodes
};

class Inventory {
 public:
  explicit Inventory(Features features = {});
  ~Inventory();
  Inventory(const Inventory&) = delete;
  Inventory& operator=(const Inventory&) = delete;

  [[nodiscard]] const Features& features() const;

  /// Publishes or replaces the slice of that name. Cost: O(devices of the slice).
  void UpsertSlice(const api::resource::ResourceSlice& slice);
  void DeleteSlice(std::string_view name);
  void UpsertClass(const api::resource::DeviceClass& device_class);
  void DeleteClass(std::string_view name);
  /// Adds the rule's taint to the devices it selects. Cost: O(devices selected by driver).
  void UpsertTaintRule(const api::resource::DeviceTaintRule& rule);
  void DeleteTaintRule(std::string_view name);

  /// Null when there is no such class.
  [[nodiscard]] ClassPtr FindClass(std::string_view name) const;
  [[nodiscard]] bool HasClass(std::string_view name) const;
  /// The class that serves an extended resource name, explicit or implicit; null when none does.
  [[nodiscard]] ClassPtr FindClassOfExtendedResource(std::string_view resource) const;
  [[nodiscard]] bool AnyExtendedResource() const;

  /// The number of the node, for NodeRef::index. Lifetime: until NodeGone; may be given to another
  /// node afterwards.
  NodeIndex KnowNode(std::string_view name);
  /// The pools `node` can use, from the cache when nothing it depends on has changed.
  /// Cost: O(1) warm, without a look-up by name when node.index is set; else O(slices of the node +
  /// slices without node name). Lifetime: until the next call.
  [[nodiscard]] const NodeViewPtr& ViewFor(const NodeRef& node);
  /// Nodes whose view may have changed.
  [[nodiscard]] const base::ChangeLog<NodeIndex>& node_changes() const;
  /// Which node notices when the device is taken or given back: one, none (kNoNode), or possibly
  /// all (kAnyNode). Cost: one load.
  [[nodiscard]] NodeIndex NodeSeeing(DeviceId id) const;
  /// Forgets the cached view: the node's labels changed.
  void NodeChanged(std::string_view node_name);
  /// Forgets the node: it was deleted.
  void NodeGone(std::string_view node_name);

  /// The identity of a device, made when it is new. Lifetime: never reused.
  DeviceId InternDevice(std::string_view driver, std::string_view pool, std::string_view device);
  [[nodiscard]] DeviceName NameOf(DeviceId id) const;
  /// The published device of that name, as `node` sees it (null: as anybody does); null with
  /// `place` saying why when there is none. Lifetime: until its slice is replaced.
  [[nodiscard]] const Device* FindDevice(const DeviceName& name,
                                         const NodeRef* node,
                                         DevicePlace& place) const;
  /// What an allocated claim holds; results with admin access hold nothing.
  [[nodiscard]] ClaimUse UseOf(const api::resource::ResourceClaim& claim,
                               const api::resource::AllocationResult& allocation);

  /// All published slices, in name order.
  [[nodiscard]] std::vector<SlicePtr> Slices() const;
  [[nodiscard]] std::vector<ClassPtr> Classes() const;
  /// One more than the largest DeviceIndex ever given.
  [[nodiscard]] std::uint32_t index_bound() const;
  /// Index ranges that were given up and may be given again; caches by DeviceIndex clear them.
  [[nodiscard]] const base::ChangeLog<IndexRange>& recycled() const;
  /// Entries of what grows and shrinks with the cluster, for tests.
  struct Sizes {
    std::size_t nodes, pools;
  };
  [[nodiscard]] Sizes sizes() const;
  /// Counts changes of any kind.
  [[nodiscard]] std::uint64_t version() const;
  /// Counts changes of classes.
  [[nodiscard]] std::uint64_t class_version() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace allot::inventory
