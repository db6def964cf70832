// AllocatedState: which devices are held, by whom, and how much of the shared ones is consumed.
//
// The one place availability is asked of. Commit is the only way to take, and gives a handle that
// gives everything back when it is dropped. Fork is O(1): both sides share a tree and copy what
// they change. Thread safety: one writer a fork; const calls in parallel with each other; forks are
// independent.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/change_log.h"
#include "inventory/device.h"
#include "quantity/quantity.h"

namespace allot::inventory {

/// Consumed amount of one capacity of a shared device.
struct CapacityUse {
  std::string name;
  quantity::Quantity amount;
};

/// One device held by a claim: exclusively, or one share of it.
struct DeviceUse {
  DeviceId device{};
  bool shared = false;
  std::vector<CapacityUse> consumed;
};

/// Everything one claim holds.
struct ClaimUse {
  std::string namespace_;
  std::string name;
  std::string uid;
  std::vector<DeviceUse> devices;
};

/// One device taken or given back.
struct DeviceChange {
  DeviceId device{};
  bool given_back = false;
};

/// Who holds a device. Lifetime: until the state changes.
struct Holder {
  const ClaimUse* claim = nullptr;
  const DeviceUse* use = nullptr;
};

class AllocatedState {
 private:
  struct Core;
  struct Leaf;

 public:
  /// What a Commit took. Dropping it gives it back; Release() keeps it taken for good.
  class Handle {
   public:
    Handle() = default;
    Handle(Handle&& other) noexcept = default;
    Handle& operator=(Handle&& other) noexcept;
    ~Handle() { GiveBack(); }
    /// Gives everything back now.
    void GiveBack();
    /// Keeps everything taken although the handle goes away.
    void Release();
    /// Null when empty.
    [[nodiscard]] const ClaimUse* use() const { return use_.get(); }
    explicit operator bool() const { return use_ != nullptr; }

   private:
    friend class AllocatedState;
    std::shared_ptr<Core> core_;
    std::shared_ptr<const ClaimUse> use_;
  };

  AllocatedState();
  AllocatedState(AllocatedState&&) noexcept = default;
  AllocatedState& operator=(AllocatedState&&) noexcept = default;

  /// An independent state that starts equal. Cost: O(1). Handles stay with the state they came
  /// from.
  [[nodiscard]] AllocatedState Fork() const;

  /// Takes the devices of `use`. Taking a device twice is allowed (the cluster may be wrong); it is
  /// free again when both gave it back. Cost: O(devices).
  [[nodiscard]] Handle Commit(ClaimUse use);

  /// Held exclusively by some claim. Cost: a few loads.
  [[nodiscard]] bool IsExclusive(DeviceId id) const;
  /// Some share of it is held.
  [[nodiscard]] bool IsShared(DeviceId id) const;
  [[nodiscard]] bool IsHeld(DeviceId id) const { return IsExclusive(id) || IsShared(id); }
  /// Sum of the consumed amounts of capacity `name` over all shares.
  [[nodiscard]] quantity::Quantity Consumed(DeviceId id, std::string_view name) const;
  [[nodiscard]] std::vector<Holder> Holders(DeviceId id) const;
  /// Changes with every Commit and return.
  [[nodiscard]] std::uint64_t version() const;
  [[nodiscard]] std::size_t held_count() const;
  /// Devices taken or given back.
  [[nodiscard]] const base::ChangeLog<DeviceChange>& changes() const;

 private:
  explicit AllocatedState(std::shared_ptr<Core> core) : core_(std::move(core)) {}

  std::shared_ptr<Core> core_;
};

}  // namespace allot::inventory
