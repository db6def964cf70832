#include "placement/shape_cache.h"

#include <algorithm>
#include <utility>

namespace allot::placement {
namespace {

// Answers kept over all shapes; one takes about 30 bytes.
constexpr std::size_t kMaxAnswers = std::size_t{8} << 20U;
constexpr std::size_t kMaxLog = std::size_t{1} << 16U;
// So many changed nodes cost about as much as an answer without the cache.
constexpr std::uint64_t kCheapBacklog = 32;
// Of the latest uses, so many of one shape mean that it is in steady use.
constexpr std::ptrdiff_t kSteadyUses = 2;

constexpr std::uint32_t kNoRank = 0xffffffff;
// Log entries that are no rank.
constexpr std::uint32_t kAll = 0xfffffffe;          // anything may have changed
constexpr std::uint32_t kSharedTaken = 0xfffffffd;  // a device that many nodes see was taken
constexpr std::uint32_t kSharedGiven = 0xfffffffc;  // ... or given back
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
  return found != shapes_.end() && found->second.cursor >= log_start_ &&
         end() - found->second.cursor <= kCheapBacklog;
}

ShapeCache::Shape& ShapeCache::Find(const ShapeKey& key, bool eager) {
  ReadLogs();
  auto found = shapes_.find(key);
  if (found == shapes_.end()) {
    MakeRoom();
    ++stats_.built;
    found = shapes_.try_emplace(key).first;
    Shape& shape = found->second;
    const std::size_t nodes = view_.nodes().size();
    shape.eager = eager;
    shape.answers.resize(nodes);
    shape.pending.reserve(nodes);
    for (std::uint32_t rank = 0; rank < nodes; ++rank) {
      shape.answers[rank].pending = true;
      shape.pending.push_back(rank);
    }
    shape.cursor = end();
  }
  CatchUp(found->second);
  read_up_to_ = end();
  found->second.last_used = ++clock_;
  return found->second;
}

void ShapeCache::Reset() {
  ++stats_.resets;
  shapes_.clear();
  log_.clear();
  log_start_ = 0;
  read_up_to_ = 0;
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
  if (log_.size() > kMaxLog) {
    log_start_ += log_.size();
    log_.clear();
  }
  // Runs of one entry are common: a node and its devices change together. What somebody has read
  // is told again.
  if (!log_.empty() && end() > read_up_to_ && log_.back() == entry) {
    return;
  }
  log_.push_back(entry);
}

void ShapeCache::ReadDevices() {
  if (!view_.allocated().ChangedSince(device_cursor_, changed_devices_)) {
    return Note(kAll);
  }
  for (const inventory::DeviceChange& change : changed_devices_) {
    std::string_view name;
    if (!view_.inventory().NodeSeeing(change.device, name)) {
      Note(change.given_back ? kSharedGiven : kSharedTaken);
    } else if (const NodeInfo* const node = name.empty() ? nullptr : view_.FindNode(name)) {
      Note(rank_of_index_[node->index]);
    }
  }
}

void ShapeCache::ReadLogs() {
  const bool nodes_known = view_.nodes_epoch() == nodes_epoch_;
  if (!nodes_known) {
    nodes_epoch_ = view_.nodes_epoch();
    Reset();
  }
  if (!view_.ChangedSince(node_cursor_, changed_nodes_)) {
    Note(kAll);
  }
  for (const std::uint32_t index : changed_nodes_) {
    if (index < rank_of_index_.size() && rank_of_index_[index] != kNoRank) {
      Note(rank_of_index_[index]);
    }
  }
  if (!view_.inventory().ChangedNodesSince(inventory_cursor_, changed_names_)) {
    Note(kAll);
  }
  for (const std::string_view name : changed_names_) {
    if (const NodeInfo* const node = name.empty() ? nullptr : view_.FindNode(name)) {
      Note(rank_of_index_[node->index]);
    }
  }
  ReadDevices();
  if (view_.inventory().class_version() != class_version_) {
    class_version_ = view_.inventory().class_version();
    Note(kAll);
  }
}

void ShapeCache::CatchUp(Shape& shape) {
  if (shape.cursor < log_start_) {
    MakeAllUnknown(shape);
  } else {
    bool given = false;
    for (std::uint64_t at = shape.cursor; at < end(); ++at) {
      const std::uint32_t entry = log_[at - log_start_];
      if (entry < kMaxRank) {
        MakeUnknown(shape, entry);
      } else if (entry == kAll || shape.eager) {
        MakeAllUnknown(shape);
        break;
      } else {
        // What was taken shows when a node is tried.
        given |= entry == kSharedGiven;
      }
    }
    if (given) {
      ReopenLackingDevices(shape);
    }
  }
  shape.cursor = end();
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
  ++stats_.reevaluated;
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
  std::uint16_t reason = 0;
  while (reason < shape.reasons.size() && !(shape.reasons[reason].status == status)) {
    ++reason;
  }
  if (reason == shape.reasons.size()) {
    shape.reasons.push_back({std::move(status), 0});
  }
  ++shape.reasons[reason].count;
  answer.state = State::kRejected;
  answer.reason = reason;
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

void ShapeCache::MakeRoom() {
  const std::size_t each = std::max<std::size_t>(view_.nodes().size(), 1);
  const std::size_t limit = std::max<std::size_t>(kMaxAnswers / each, 4);
  while (shapes_.size() >= limit) {
    const auto oldest =
        std::min_element(shapes_.begin(), shapes_.end(), [](const auto& a, const auto& b) {
          return a.second.last_used < b.second.last_used;
        });
    shapes_.erase(oldest);
  }
}

}  // namespace allot::placement
