#include "placement/node_groups.h"

#include <algorithm>
#include <string_view>

#include "placement/hasher.h"

namespace allot::placement {
namespace {

// Label keys that take part; more of them would split the groups for pods that do not ask.
constexpr std::size_t kMaxAsked = 32;

}  // namespace

bool NodeGroups::Ask(const api::core::Pod& pod) {
  std::set<std::string_view> keys;
  if (!pod.spec.node_name.empty()) {
    return false;
  }
  for (const auto& label : pod.spec.node_selector) {
    keys.emplace(label.key);
  }
  const auto* const affinity = pod.spec.affinity;
  const auto* const required =
      affinity != nullptr && affinity->node_affinity != nullptr
          ? affinity->node_affinity->required_during_scheduling_ignored_during_execution
          : nullptr;
  if (required != nullptr) {
    for (const auto& term : required->node_selector_terms) {
      if (!term.match_fields.empty()) {
        return false;
      }
      for (const auto& requirement : term.match_expressions) {
        keys.emplace(requirement.key);
      }
    }
  }
  if (keys.size() > kMaxAsked) {
    return false;
  }
  const auto fresh = static_cast<std::size_t>(
      std::ranges::count_if(keys, [&](std::string_view key) { return !asked_.contains(key); }));
  if (fresh == 0) {
    return true;
  }
  if (asked_.size() + fresh > kMaxAsked) {
    asked_.clear();  // what pods asked for once must not split the groups, or end them, for ever
  }
  asked_.insert(keys.begin(), keys.end());
  stale_ = true;
  return true;
}

ShapeKey NodeGroups::KeyOf(const NodeInfo& node) const {
  Hasher hash;
  hash.Add(node.unschedulable);
  hash.Add(std::uint64_t{node.taints.size()});
  for (const api::core::Taint& taint : node.taints) {
    hash.Add(taint.key);
    hash.Add(taint.value);
    hash.Add(taint.effect);
  }
  hash.Add(node.allocatable);
  hash.Add(node.allowed_pods);
  hash.Add(node.requested);
  hash.Add(node.nonzero);
  hash.Add(std::uint64_t{node.pods.size()});
  std::vector<std::string_view> ports;
  for (const PodOnNode& pod : node.pods) {
    ports.insert(ports.end(), pod.host_ports.begin(), pod.host_ports.end());
  }
  std::sort(ports.begin(), ports.end());
  for (const std::string_view port : ports) {
    hash.Add(port);
  }
  for (const std::string& key : asked_) {
    const schema::Str* const value = node.ref.labels.Find(key);
    hash.Add(value != nullptr);
    if (value != nullptr) {
      hash.Add(*value);
    }
  }
  return hash.key();
}

void NodeGroups::Leave(std::uint32_t node) {
  Place& place = places_[node];
  if (place.group == kNone) {
    return;
  }
  Group& group = groups_[place.group];
  const std::uint32_t last = group.nodes.back();
  group.nodes[place.slot] = last;
  places_[last].slot = place.slot;
  group.nodes.pop_back();
  if (group.nodes.empty()) {
    by_key_.erase(group.key);
    free_.push_back(place.group);
  }
  place = {};
}

void NodeGroups::File(const NodeInfo& node) {
  const ShapeKey key = KeyOf(node);
  if (node.index >= places_.size()) {
    places_.resize(node.index + 1);
  }
  Place& place = places_[node.index];
  if (place.group != kNone && groups_[place.group].key == key) {
    return;
  }
  Leave(node.index);
  auto found = by_key_.find(key);
  if (found == by_key_.end()) {
    auto number = static_cast<std::uint32_t>(groups_.size());
    if (free_.empty()) {
      groups_.emplace_back();
    } else {
      number = free_.back();
      free_.pop_back();
    }
    groups_[number].key = key;
    found = by_key_.emplace(key, number).first;
  }
  Group& group = groups_[found->second];
  place = {found->second, static_cast<std::uint32_t>(group.nodes.size())};
  group.nodes.push_back(node.index);
}

void NodeGroups::Rebuild() {
  groups_.clear();
  free_.clear();
  by_key_.clear();
  places_.clear();
  for (const NodeInfo* const node : view_.nodes()) {
    File(*node);
  }
}

const std::vector<NodeGroups::Group>* NodeGroups::For(const api::core::Pod& pod) {
  if (!Ask(pod)) {
    return nullptr;
  }
  if (view_.nodes_epoch() != nodes_epoch_) {
    nodes_epoch_ = view_.nodes_epoch();
    stale_ = true;
  }
  const auto changes = view_.changes().Since(cursor_);
  if (!changes || stale_) {
    stale_ = false;
    Rebuild();
    return &groups_;
  }
  for (const std::uint32_t index : *changes) {
    File(view_.NodeAt(index));
  }
  return &groups_;
}

}  // namespace allot::placement
