#include "placement/shape_cache.h"

#include <algorithm>
#include <utility>

namespace allot::placement {
namespace {

// Answers kept over all shapes; one takes about 30 bytes.
constexpr std::size_t kMaxAnswers = std::size_t{8} << 20U;
// So many changed nodes cost about as much as an answer without the cache.
constexpr std::size_t kCheapBacklog = 32;
// Of the latest uses, so many of one shape mean that it is in steady use.
constexpr std::ptrdiff_t kSteadyUses = 2;

// Reasons are numbered with 16 bits, 0 being none; the last one stands for all that come later.
constexpr std::size_t kMaxReasons = 0xffff;

constexpr std::uint32_t kNoRank = 0xffffffff;
// Changes that are no rank.
constexpr std::uint32_t kSharedTaken = 0xfffffffd;  // a device that many nodes see was taken
constexpr std::uint32_t kSharedGiven = 0xfffffffc;  // ... or given back
constexpr std::uint32_t kViews = 0xfffffffb;        // what nodes see of shared slices changed
constexpr std::uint32_t kMaxRank = 0xfffffff0;

bool SameParts(const RawScore& a, const RawScore& b) {
  return a.intolerable == b.intolerable && a.affinity == b.affinity && a.devices == b.devices;
}

}  // namespace

bool ShapeCache::IsWarm(const ShapeKey& key) {
  ReadLogs();
  const bool steady = std::count(recent_.begin(), recent_.end(), key) >= kSteadyUses;
  recent_[recent_at_++ % recent_.size()] = key;
  if (steady) {
    return true;
  }
  const auto found = shapes_.find(key);
  if (found == shapes_.end()) {
    return false;
  }
  const auto backlog = changes_.After(found->second.cursor);
  return backlog && backlog->size() <= kCheapBacklog;
}

ShapeCache::Shape& ShapeCache::Find(const ShapeKey& key, bool eager, bool packing) {
  ReadLogs();
  auto found = shapes_.find(key);
  if (found == shapes_.end()) {
    MakeRoom(shapes_);
    ++built_;
    found = shapes_.try_emplace(key).first;
    Shape& shape = found->second;
    const std::size_t nodes = view_.nodes().size();
    shape.eager = eager;
    shape.reads_views = packing || view_.inventory().features().node_allocatable_resources;
    shape.answers.resize(nodes);
    shape.pending.reserve(nodes);
    for (std::uint32_t rank = 0; rank < nodes; ++rank) {
      shape.answers[rank].pending = true;
      shape.pending.push_back(rank);
    }
    shape.cursor = changes_.end();
  }
  CatchUp(found->second);
  read_up_to_ = changes_.end();
  found->second.last_used = ++clock_;
  return found->second;
}

void ShapeCache::Reset() {
  shapes_.clear();
  devices_.clear();
  changes_.AddEverything();
  rank_of_index_.clear();
  const auto& nodes = view_.nodes();
  for (std::uint32_t rank = 0; rank < nodes.size(); ++rank) {
    if (nodes[rank]->index >= rank_of_index_.size()) {
      rank_of_index_.resize(nodes[rank]->index + 1, kNoRank);
    }
    rank_of_index_[nodes[rank]->index] = rank;
  }
}

void ShapeCache::Note(std::uint32_t entry) {
  // Runs of one entry are common: a node and its devices change together. What somebody has read
  // is told again.
  const auto unread = changes_.After(read_up_to_);
  if (!unread || unread->empty() || unread->back() != entry) {
    changes_.Add(entry);
  }
}

// The number may be of a node that only slices name, or of none.
void ShapeCache::NoteNode(std::uint32_t index) {
  if (index < rank_of_index_.size() && rank_of_index_[index] != kNoRank) {
    Note(rank_of_index_[index]);
  }
}

void ShapeCache::ReadNodes() {
  const auto changes = view_.changes().Since(node_cursor_);
  if (!changes) {
    return changes_.AddEverything();
  }
  for (const std::uint32_t index : *changes) {
    NoteNode(index);
  }
}

void ShapeCache::ReadViews() {
  const auto changes = view_.inventory().node_changes().Since(inventory_cursor_);
  if (!changes) {
    return Note(kViews);
  }
  for (const inventory::NodeIndex node : *changes) {
    NoteNode(Value(node));
  }
}

void ShapeCache::ReadDevices() {
  const auto changes = view_.allocated().changes().Since(device_cursor_);
  if (!changes) {
    return changes_.AddEverything();
  }
  for (const inventory::DeviceChange& change : *changes) {
    const inventory::NodeIndex node = view_.inventory().NodeSeeing(change.device);
    if (node == inventory::kAnyNode) {
      Note(change.given_back ? kSharedGiven : kSharedTaken);
    } else {
      NoteNode(Value(node));
    }
  }
}

void ShapeCache::ReadLogs() {
  if (view_.nodes_epoch() != nodes_epoch_) {
    nodes_epoch_ = view_.nodes_epoch();
    Reset();
  }
  ReadNodes();
  ReadViews();
  ReadDevices();
  if (view_.inventory().class_version() != class_version_) {
    class_version_ = view_.inventory().class_version();
    changes_.AddEverything();
  }
}

void ShapeCache::CatchUp(Shape& shape) {
  const auto changes = changes_.Since(shape.cursor);
  if (!changes) {
    return MakeAllUnknown(shape);
  }
  bool given = false;
  for (const std::uint32_t change : *changes) {
    if (change < kMaxRank) {
      MakeUnknown(shape, change);
    } else if (shape.eager || (change == kViews && shape.reads_views)) {
      return MakeAllUnknown(shape);
    } else {
      // What was taken, or is published no more, shows when a node is tried.
      given |= change != kSharedTaken;
    }
  }
  if (given) {
    ReopenLackingDevices(shape);
  }
}

void ShapeCache::ReopenLackingDevices(Shape& shape) {
  const bool any = std::any_of(shape.reasons.begin(), shape.reasons.end(), [](const auto& reason) {
    return reason.count != 0 && reason.status.by_devices;
  });
  for (std::uint32_t rank = 0; any && rank < shape.answers.size(); ++rank) {
    const Answer& answer = shape.answers[rank];
    if (answer.state == State::kRejected && shape.reasons[answer.reason].status.by_devices) {
      MakeUnknown(shape, rank);
    }
  }
}

void ShapeCache::MakeUnknown(Shape& shape, std::uint32_t rank) {
  Answer& answer = shape.answers[rank];
  if (answer.pending) {
    return;
  }
  if (answer.state == State::kRejected) {
    --shape.reasons[answer.reason].count;
  }
  answer.state = State::kUnknown;
  answer.pending = true;
  ++answer.stamp;
  shape.pending.push_back(rank);
}

void ShapeCache::MakeAllUnknown(Shape& shape) {
  for (std::uint32_t rank = 0; rank < shape.answers.size(); ++rank) {
    MakeUnknown(shape, rank);
  }
}

void ShapeCache::Reject(Shape& shape, std::uint32_t rank, NodeStatus status) {
  Answer& answer = shape.answers[rank];
  std::size_t reason = 0;
  while (reason < shape.reasons.size() && !(shape.reasons[reason].status == status)) {
    ++reason;
  }
  if (reason == kMaxReasons) {
    --reason;
  } else if (reason == shape.reasons.size()) {
    shape.reasons.push_back({std::move(status), 0});
  }
  ++shape.reasons[reason].count;
  answer.state = State::kRejected;
  answer.reason = static_cast<std::uint16_t>(reason);
  answer.pending = false;
  ++answer.stamp;
}

void ShapeCache::Push(
    Shape& shape, std::uint32_t rank, const RawScore& parts, std::int64_t score, State state) {
  Answer& answer = shape.answers[rank];
  answer.state = state;
  answer.pending = false;
  ++answer.stamp;
  auto bucket = std::find_if(shape.buckets.begin(), shape.buckets.end(), [&](const Bucket& one) {
    return SameParts(one.parts, parts);
  });
  if (bucket == shape.buckets.end()) {
    bucket = shape.buckets.insert(bucket, {parts, {}});
  }
  auto& heap = bucket->heap;
  if (heap.size() > 4 * shape.answers.size() + 64) {
    std::erase_if(
        heap, [&](const HeapItem& item) { return shape.answers[item.rank].stamp != item.stamp; });
    std::make_heap(heap.begin(), heap.end());
  }
  heap.push_back({score, rank, answer.stamp});
  std::push_heap(heap.begin(), heap.end());
}

template <typename Map>
void ShapeCache::MakeRoom(Map& map) const {
  const std::size_t each = std::max<std::size_t>(view_.nodes().size(), 1);
  const std::size_t limit = std::max<std::size_t>(kMaxAnswers / each, 4);
  while (map.size() >= limit) {
    map.erase(std::min_element(map.begin(), map.end(), [](const auto& a, const auto& b) {
      return a.second.last_used < b.second.last_used;
    }));
  }
}

ShapeCache::DeviceAnswers& ShapeCache::FindDevices(const ShapeKey& claims) {
  ReadLogs();
  auto found = devices_.find(claims);
  if (found == devices_.end()) {
    MakeRoom(devices_);
    found = devices_.try_emplace(claims).first;
    found->second.refused.resize(view_.nodes().size());
    found->second.slots.resize(view_.nodes().size());
    Reopen(found->second);
  }
  CatchUp(found->second);
  read_up_to_ = changes_.end();
  found->second.last_used = ++clock_;
  return found->second;
}

const ShapeCache::DeviceAnswers* ShapeCache::KnownDevices(const ShapeKey& claims) {
  ReadLogs();
  return devices_.contains(claims) ? &FindDevices(claims) : nullptr;
}

void ShapeCache::CatchUp(DeviceAnswers& known) const {
  const auto changes = changes_.Since(known.cursor);
  if (!changes) {
    return Reopen(known);
  }
  for (const std::uint32_t change : *changes) {
    if (change >= kMaxRank) {
      if (change != kSharedTaken) {
        return Reopen(known);
      }
    } else if (known.refused[change] != 0) {
      known.refused[change] = 0;
      known.slots[change] = static_cast<std::uint32_t>(known.open.size());
      known.open.push_back(change);
    }
  }
}

void ShapeCache::Reopen(DeviceAnswers& known) const {
  std::ranges::fill(known.refused, std::uint16_t{0});
  known.reasons.clear();
  known.open.resize(known.refused.size());
  for (std::uint32_t rank = 0; rank < known.open.size(); ++rank) {
    known.open[rank] = rank;
    known.slots[rank] = rank;
  }
  known.cursor = changes_.end();
}

void ShapeCache::Refuse(DeviceAnswers& known, std::uint32_t rank, NodeStatus status) {
  if (std::ranges::find(known.reasons, status) == known.reasons.end() &&
      known.reasons.size() < kMaxReasons) {
    known.reasons.push_back(status);
  }
  const auto reason = std::ranges::find(known.reasons, status);
  known.refused[rank] = static_cast<std::uint16_t>(
      std::min(static_cast<std::size_t>(reason - known.reasons.begin()) + 1, kMaxReasons));
  const std::uint32_t last = known.open.back();
  known.open[known.slots[rank]] = last;
  known.slots[last] = known.slots[rank];
  known.open.pop_back();
}

}  // namespace allot::placement
