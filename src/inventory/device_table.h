// DeviceTable: identities of devices, who publishes and who sees them, and the dense indices of
// those that are published.
//
// Thread safety: one writer. Internal to the module.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <unordered_map>
#include <vector>

#include "base/arena.h"
#include "base/change_log.h"
#include "inventory/device.h"
#include "inventory/node_selector.h"

namespace allot::inventory {

class DeviceTable {
 public:
  /// The identity of a device, made when it is new. Never reused.
  DeviceId Intern(const DeviceName& name);
  /// Null: nobody has named it yet.
  [[nodiscard]] const DeviceId* Find(const DeviceName& name) const;
  [[nodiscard]] DeviceName NameOf(DeviceId id) const { return names_[Value(id)]; }
  [[nodiscard]] const Slice* PublisherOf(DeviceId id) const { return publishers_[Value(id)]; }
  [[nodiscard]] NodeIndex SeenBy(DeviceId id) const { return seen_by_[Value(id)]; }

  /// `slice` publishes its devices from now on. Returns how many of them were published already.
  std::uint32_t Publish(const Slice& slice);
  /// The slice's devices are published no more, but for those that others publish too. Returns how
  /// many of them were; the others are to Claim them.
  std::uint32_t Withdraw(const Slice& slice);
  /// `slice`, which is published, becomes the publisher of those of its devices that have none;
  /// they are seen by that node.
  void Claim(const Slice& slice, NodeIndex node);
  /// The devices that `slice` publishes are seen by that node only (or kAnyNode).
  void SetSeenBy(const Slice& slice, NodeIndex node);

  /// `count` consecutive indices.
  std::uint32_t TakeRange(std::uint32_t count);
  void GiveRange(const IndexRange& range);
  [[nodiscard]] std::uint32_t bound() const { return bound_; }
  /// Ranges that were given up and may be given again.
  [[nodiscard]] const base::ChangeLog<IndexRange>& recycled() const { return recycled_; }

 private:
  struct Hash {
    std::size_t operator()(const DeviceName& name) const;
  };
  struct Equal {
    bool operator()(const DeviceName& a, const DeviceName& b) const {
      return a.driver == b.driver && a.pool == b.pool && a.device == b.device;
    }
  };

  base::Arena arena_;
  std::unordered_map<DeviceName, DeviceId, Hash, Equal> ids_;
  // By DeviceId.
  std::vector<DeviceName> names_;
  std::vector<const Slice*> publishers_;  // the last one
  std::vector<std::uint32_t> published_;  // how often
  std::vector<NodeIndex> seen_by_;

  std::uint32_t bound_ = 0;
  std::map<std::uint32_t, std::vector<std::uint32_t>> free_;  // size -> first indices
  base::ChangeLog<IndexRange> recycled_;
};

}  // namespace allot::inventory
