// Reads what slots want straight from a device, without binding it. Thread safety: one thread.
#pragma once

#include <array>
#include <memory>
#include <span>

#include "cel/context.h"
#include "cel/device.h"
#include "cel/slots.h"
#include "quantity/semver.h"

namespace allot::cel {

/// The values of the slots of one device and what they point to; memory that is used again for the
/// next device.
class SlotReader {
 public:
  SlotReader();

  enum class Answer : std::uint8_t {
    kRead,
    kUnbindable,  ///< the device cannot be bound and every expression on it fails
    kAsk,         ///< a value does not fit a slot
  };
  /// Reads the slots. REQUIRES: slots.size() <= SlotPlan::kMaxSlots. Cost: no allocation, but for
  /// lists of versions.
  [[nodiscard]] Answer Read(const DeviceView& device, std::span<const SlotKey> slots);
  /// What was read, by slot. Lifetime: until the next Read.
  [[nodiscard]] const Value* values() const { return values_.data(); }

 private:
  Answer ReadAttribute(const AttributeValue& attribute, std::size_t slot);
  Answer ReadList(const AttributeValue& attribute, std::size_t slot);
  void ReadCapacity(const Capacity& capacity, std::size_t slot);

  std::array<Value, SlotPlan::kMaxSlots> values_;
  std::array<quantity::Semver, SlotPlan::kMaxSlots> semvers_;
  std::array<QuantityRep, SlotPlan::kMaxSlots> quantities_;
  std::array<ListRep, SlotPlan::kMaxSlots> lists_;
  std::unique_ptr<Value[]> items_;  // kMaxList for each slot
  Context versions_;                // lists of versions
  bool used_versions_ = false;
};

}  // namespace allot::cel
