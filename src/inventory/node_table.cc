#include "inventory/node_table.h"

#include <algorithm>

namespace allot::inventory {

NodeIndex NodeTable::Intern(std::string_view name) {
  if (const auto found = numbers_.find(name); found != numbers_.end()) {
    return NodeIndex{found->second};
  }
  auto number = static_cast<std::uint32_t>(entries_.size());
  if (free_.empty()) {
    entries_.emplace_back();
  } else {
    number = free_.back();
    free_.pop_back();
  }
  const auto at = numbers_.emplace(std::string(name), number).first;
  entries_[number].name = at->first;
  return NodeIndex{number};
}

NodeIndex NodeTable::Find(std::string_view name) const {
  const auto found = numbers_.find(name);
  return found != numbers_.end() ? NodeIndex{found->second} : kNoNode;
}

void NodeTable::DropIfUnused(NodeIndex index) {
  NodeEntry& entry = At(index);
  if (entry.known || !entry.slices.empty()) {
    return;
  }
  numbers_.erase(numbers_.find(entry.name));
  entry = {};
  free_.push_back(Value(index));
}

void NodeTable::Changed(NodeIndex index, std::uint64_t version) {
  At(index).version = version;
  changes_.Add(index);
}

void NodeTable::AllChanged(std::uint64_t version) {
  all_version_ = version;
  changes_.AddEverything();
}

std::uint64_t NodeTable::VersionOf(NodeIndex index) const {
  return std::max(all_version_, At(index).version);
}

}  // namespace allot::inventory
