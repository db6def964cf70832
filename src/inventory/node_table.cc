#include "inventory/node_table.h"

#include <algorithm>

namespace allot::inventory {
namespace {

// Changes kept for readers that come back.
constexpr std::size_t kMaxLog = std::size_t{1} << 16U;

}  // namespace

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
  entries_[number].version = absent_version_;
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
  absent_version_ = std::max(absent_version_, entry.version);
  numbers_.erase(numbers_.find(entry.name));
  entry = {};
  free_.push_back(Value(index));
}

void NodeTable::Note(NodeIndex index) {
  if (log_.size() > kMaxLog) {
    log_start_ += log_.size();
    log_.clear();
  }
  log_.push_back(index);
}

void NodeTable::Changed(NodeIndex index, std::uint64_t version) {
  At(index).version = version;
  Note(index);
}

void NodeTable::AllChanged(std::uint64_t version) {
  all_version_ = version;
  Note(kAnyNode);
}

std::uint64_t NodeTable::VersionOf(NodeIndex index) const {
  return std::max(all_version_, index != kNoNode ? At(index).version : absent_version_);
}

bool NodeTable::ChangedSince(std::uint64_t& cursor, std::vector<NodeIndex>& changed) const {
  changed.clear();
  const std::uint64_t end = log_start_ + log_.size();
  bool complete = cursor >= log_start_ && cursor <= end;
  for (std::uint64_t at = cursor; complete && at < end; ++at) {
    const NodeIndex index = log_[at - log_start_];
    complete = index != kAnyNode;
    changed.push_back(index);
  }
  cursor = end;
  return complete;
}

}  // namespace allot::inventory
