#include "cel/slot_reader.h"

#include <algorithm>

#include "cel/bind.h"

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

bool HasDomain(const DeviceView& device, const SlotKey& slot) {
  const auto in_domain = [&](const auto& named) {
    return SplitName(named.name, device.driver).domain == slot.domain;
  };
  return slot.kind == SlotKey::Kind::kAttributeDomain
             ? std::ranges::any_of(device.attributes, in_domain)
             : std::ranges::any_of(device.capacities, in_domain);
}

// MAJOR.MINOR.PATCH without anything else, which nearly all versions are. False: parse it properly.
bool ReadPlainVersion(std::string_view text, quantity::Semver& out) {
  std::uint64_t* const numbers[] = {&out.major_number, &out.minor_number, &out.patch_number};
  constexpr std::size_t kSafeDigits = 18;
  std::size_t at = 0;
  for (std::size_t i = 0; i < std::size(numbers); ++i) {
    const std::size_t begin = at;
    std::uint64_t number = 0;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
      number = number * 10 + static_cast<std::uint64_t>(text[at] - '0');
    }
    const std::size_t digits = at - begin;
    const bool last = i + 1 == std::size(numbers);
    if (digits == 0 || digits > kSafeDigits || (digits > 1 && text[begin] == '0') ||
        (last ? at != text.size() : at == text.size() || text[at] != '.')) {
      return false;
    }
    ++at;
    *numbers[i] = number;
  }
  out.pre = {};
  out.build = {};
  return true;
}

bool ReadVersion(std::string_view text, quantity::Semver& out) {
  if (ReadPlainVersion(text, out)) {
    return true;
  }
  const auto parsed = quantity::ParseSemver(text);
  if (parsed) {
    out = *parsed;
  }
  return parsed.has_value();
}

bool IsVersion(std::string_view text) {
  quantity::Semver ignored;
  return ReadVersion(text, ignored);
}

// Whether a device can be bound as far as this attribute goes.
bool IsBindable(const AttributeValue& attribute) {
  switch (attribute.kind) {
    case AttributeKind::kMissing: return false;
    case AttributeKind::kVersion: return IsVersion(attribute.text);
    case AttributeKind::kVersions: return std::ranges::all_of(attribute.texts, IsVersion);
    default: return true;
  }
}

}  // namespace

SlotReader::SlotReader()
    : items_(std::make_unique<Value[]>(SlotPlan::kMaxSlots * SlotPlan::kMaxList)) {}

SlotReader::Answer SlotReader::Read(const DeviceView& device, std::span<const SlotKey> slots) {
  if (used_versions_) {
    versions_.Reset();
    used_versions_ = false;
  }
  bool reads_capacities = false;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    switch (slots[i].kind) {
      case SlotKey::Kind::kDriver: values_[i] = Value::String(device.driver); break;
      case SlotKey::Kind::kMultiple:
        values_[i] = Value::Bool(device.allow_multiple_allocations);
        break;
      case SlotKey::Kind::kAttributeDomain:
      case SlotKey::Kind::kCapacityDomain:
        values_[i] = Value::Bool(HasDomain(device, slots[i]));
        break;
      case SlotKey::Kind::kCapacity: reads_capacities = true; [[fallthrough]];
      case SlotKey::Kind::kAttribute: values_[i] = SlotPlan::Absent(); break;
    }
  }
  Answer answer = Answer::kRead;
  for (const Attribute& attribute : device.attributes) {
    bool read = false;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (slots[i].kind != SlotKey::Kind::kAttribute ||
          !Names(attribute.name, device.driver, slots[i])) {
        continue;
      }
      const Answer one = ReadAttribute(attribute.value, i);
      if (one == Answer::kUnbindable) {
        return one;
      }
      answer = one == Answer::kAsk ? one : answer;
      read = true;
    }
    if (!read && !IsBindable(attribute.value)) {
      return Answer::kUnbindable;
    }
  }
  for (std::size_t i = 0; reads_capacities && i < slots.size(); ++i) {
    if (slots[i].kind != SlotKey::Kind::kCapacity) {
      continue;
    }
    for (const Capacity& capacity : device.capacities) {
      if (Names(capacity.name, device.driver, slots[i])) {
        ReadCapacity(capacity, i);
        answer = SlotPlan::Fits(values_[i]) ? answer : Answer::kAsk;
      }
    }
  }
  return answer;
}

SlotReader::Answer SlotReader::ReadAttribute(const AttributeValue& attribute, std::size_t slot) {
  Value& value = values_[slot];
  switch (attribute.kind) {
    case AttributeKind::kMissing: return Answer::kUnbindable;
    case AttributeKind::kInt: value = Value::Int(attribute.integer); return Answer::kRead;
    case AttributeKind::kBool: value = Value::Bool(attribute.boolean); return Answer::kRead;
    case AttributeKind::kString:
      value = Value::String(attribute.text);
      return SlotPlan::Fits(value) ? Answer::kRead : Answer::kAsk;
    case AttributeKind::kVersion: {
      if (!ReadVersion(attribute.text, semvers_[slot])) {
        return Answer::kUnbindable;
      }
      value.kind = ValueKind::kSemver;
      value.semver = &semvers_[slot];
      return Answer::kRead;
    }
    case AttributeKind::kVersions:
      used_versions_ = true;
      value = AttributeToValue(versions_, attribute);
      return value.IsError()         ? Answer::kUnbindable
             : SlotPlan::Fits(value) ? Answer::kRead
                                     : Answer::kAsk;
    default: return ReadList(attribute, slot);
  }
}

SlotReader::Answer SlotReader::ReadList(const AttributeValue& attribute, std::size_t slot) {
  const std::size_t size =
      attribute.integers.size() + attribute.booleans.size() + attribute.texts.size();
  if (size > SlotPlan::kMaxList) {
    return Answer::kAsk;
  }
  ListRep& list = lists_[slot];
  list.items = items_.get() + slot * SlotPlan::kMaxList;
  list.size = 0;
  for (const std::int64_t item : attribute.integers) {
    list.items[list.size++] = Value::Int(item);
  }
  for (const bool item : attribute.booleans) {
    list.items[list.size++] = Value::Bool(item);
  }
  for (const std::string_view item : attribute.texts) {
    list.items[list.size++] = Value::String(item);
  }
  Value& value = values_[slot];
  value.kind = ValueKind::kList;
  value.list = &list;
  return SlotPlan::Fits(value) ? Answer::kRead : Answer::kAsk;
}

void SlotReader::ReadCapacity(const Capacity& capacity, std::size_t slot) {
  QuantityRep& rep = quantities_[slot];
  rep.text = {};
  if (capacity.text.empty()) {
    rep.value = quantity::ExactQuantity::FromQuantity(capacity.value);
  } else if (auto parsed = quantity::ExactQuantity::Parse(capacity.text)) {
    rep.text = parsed->keeps_text() ? capacity.text : std::string_view();
    rep.value = *std::move(parsed);
  } else {
    rep.value = quantity::ExactQuantity::FromQuantity(capacity.value);
  }
  Value value;
  value.kind = ValueKind::kQuantity;
  value.quantity = &rep;
  values_[slot] = value;
}

}  // namespace allot::cel
