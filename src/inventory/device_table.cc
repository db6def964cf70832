#include "inventory/device_table.h"

#include <string_view>

namespace allot::inventory {

std::size_t DeviceTable::Hash::operator()(const DeviceName& name) const {
  const std::hash<std::string_view> hash;
  std::size_t h = hash(name.driver);
  h = h * 0x9E3779B97F4A7C15ULL + hash(name.pool);
  return h * 0x9E3779B97F4A7C15ULL + hash(name.device);
}

DeviceId DeviceTable::Intern(const DeviceName& name) {
  if (const DeviceId* const known = Find(name)) {
    return *known;
  }
  const DeviceName own{arena_.Copy(name.driver), arena_.Copy(name.pool), arena_.Copy(name.device)};
  const DeviceId id{static_cast<std::uint32_t>(names_.size())};
  names_.push_back(own);
  publishers_.push_back(nullptr);
  published_.push_back(0);
  seen_by_.push_back(kNoNode);
  ids_.emplace(own, id);
  return id;
}

const DeviceId* DeviceTable::Find(const DeviceName& name) const {
  const auto found = ids_.find(name);
  return found != ids_.end() ? &found->second : nullptr;
}

std::uint32_t DeviceTable::Publish(const Slice& slice) {
  std::uint32_t repeated = 0;
  for (const Device& device : slice.devices) {
    publishers_[Value(device.id)] = &slice;
    repeated += ++published_[Value(device.id)] > 1 ? 1 : 0;
  }
  return repeated;
}

std::uint32_t DeviceTable::Withdraw(const Slice& slice) {
  std::uint32_t repeated = 0;
  for (const Device& device : slice.devices) {
    repeated += --published_[Value(device.id)] > 0 ? 1 : 0;
    const Slice*& publisher = publishers_[Value(device.id)];
    if (publisher == &slice) {
      publisher = nullptr;
      seen_by_[Value(device.id)] = kNoNode;
    }
  }
  return repeated;
}

void DeviceTable::Claim(const Slice& slice, NodeIndex node) {
  for (const Device& device : slice.devices) {
    const Slice*& publisher = publishers_[Value(device.id)];
    if (publisher == nullptr) {
      publisher = &slice;
      seen_by_[Value(device.id)] = node;
    }
  }
}

void DeviceTable::SetSeenBy(const Slice& slice, NodeIndex node) {
  for (const Device& device : slice.devices) {
    if (publishers_[Value(device.id)] == &slice) {
      seen_by_[Value(device.id)] = node;
    }
  }
}

std::uint32_t DeviceTable::TakeRange(std::uint32_t count) {
  if (const auto range = free_.find(count); range != free_.end()) {
    const std::uint32_t first = range->second.back();
    range->second.pop_back();
    if (range->second.empty()) {
      free_.erase(range);
    }
    return first;
  }
  const std::uint32_t first = bound_;
  bound_ += count;
  return first;
}

void DeviceTable::GiveRange(const IndexRange& range) {
  if (range.count == 0) {
    return;
  }
  free_[range.count].push_back(range.first);
  recycled_.Add(range);
}

}  // namespace allot::inventory
