#include "cel/slot_reader.h"

#include <algorithm>

#include "cel/bind.h"
#include "quantity/semver.h"

namespace allot::cel {
namespace {

// Whether a qualified name is that of a slot.
bool Names(std::string_view full, std::string_view driver, const SlotKey& slot) {
  if (full.size() == slot.name.size()) {
    return full == slot.name && driver == slot.domain && !full.contains('/');
  }
  if (full.size() == slot.domain.size() + slot.name.size() + 1 && full[slot.domain.size()] == '/' &&
      full.starts_with(slot.domain) && full.ends_with(slot.name)) {
    return !slot.domain.contains('/');
  }
  return false;
}

}  // namespace

bool IsBindable(const AttributeValue& attribute) {
  switch (attribute.kind) {
    case AttributeKind::kMissing: return false;
    case AttributeKind::kVersion: return quantity::ParseSemver(attribute.text).has_value();
    case AttributeKind::kVersions:
      return std::ranges::all_of(attribute.texts, [](std::string_view text) {
        return quantity::ParseSemver(text).has_value();
      });
    default: return true;
  }
}

bool ReadSlots(Context& context,
               const DeviceView& device,
               std::span<const SlotKey> slots,
               std::span<Value> out) {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    switch (slots[i].kind) {
      case SlotKey::Kind::kDriver: out[i] = Value::String(device.driver); break;
      case SlotKey::Kind::kMultiple: out[i] = Value::Bool(device.allow_multiple_allocations); break;
      case SlotKey::Kind::kAttributeDomain:
        out[i] =
            Value::Bool(std::ranges::any_of(device.attributes, [&](const Attribute& attribute) {
              return SplitName(attribute.name, device.driver).domain == slots[i].domain;
            }));
        break;
      case SlotKey::Kind::kCapacityDomain:
        out[i] = Value::Bool(std::ranges::any_of(device.capacities, [&](const Capacity& capacity) {
          return SplitName(capacity.name, device.driver).domain == slots[i].domain;
        }));
        break;
      default: out[i] = SlotPlan::Absent();
    }
  }
  for (const Attribute& attribute : device.attributes) {
    bool read = false;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (slots[i].kind == SlotKey::Kind::kAttribute &&
          Names(attribute.name, device.driver, slots[i])) {
        out[i] = AttributeToValue(context, attribute.value);
        if (out[i].IsError()) {
          return false;
        }
        read = true;
      }
    }
    if (!read && !IsBindable(attribute.value)) {
      return false;
    }
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].kind != SlotKey::Kind::kCapacity) {
      continue;
    }
    for (const Capacity& capacity : device.capacities) {
      if (Names(capacity.name, device.driver, slots[i])) {
        out[i] = CapacityToValue(context, capacity);
      }
    }
  }
  return true;
}

}  // namespace allot::cel
