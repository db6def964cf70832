#include "placement/shape_cache.h"

#include <algorithm>

namespace allot::placement {
namespace {

// Answers kept over all shapes; one takes about 30 bytes.
constexpr std::size_t kMaxAnswers = std::size_t{8} << 20U;
constexpr std::size_t kMaxLog = std::size_t{1} << 16U;
constexpr std::uint32_t kNoRank = 0xffffffff;

}  // namespace

ShapeCache::Shape& ShapeCache::Find(const ShapeKey& key) {
  ReadLogs();
  auto found = shapes_.find(key);
  if (found == shapes_.end()) {
    MakeRoom();
    found = shapes_.try_emplace(key).first;
    Shape& shape = found->second;
    const std::size_t nodes = view_.nodes().size();
    shape.answers.resize(nodes);
    shape.pending.reserve(nodes);
    for (std::uint32_t rank = 0; rank < nodes; ++rank) {
      shape.answers[rank].pending = true;
      shape.pending.push_back(rank);
    }
    shape.cursor = log_start_ + log_.size();
  }
  CatchUp(found->second);
  found->second.last_used = ++clock_;
  return found->second;
}

void ShapeCache::Reset() {
  shapes_.clear();
  log_.clear();
  log_start_ = 0;
  rank_of_index_.clear();
  const auto& nodes = view_.nodes();
  for (std::uint32_t rank = 0; rank < nodes.size(); ++rank) {
    if (nodes[rank]->index >= rank_of_index_.size()) {
      rank_of_index_.resize(nodes[rank]->index + 1, kNoRank);
    }
    rank_of_index_[nodes[rank]->index] = rank;
  }
}

void ShapeCache::Dirty(std::uint32_t rank) {
  if (log_.size() > kMaxLog) {
    log_start_ += log_.size();
    log_.clear();
  }
  log_.push_back(rank);
}

void ShapeCache::ReadLogs() {
  bool all = !view_.ChangedSince(node_cursor_, changed_nodes_);
  all |= !view_.allocated().ChangedSince(device_cursor_, changed_devices_);
  all |= !view_.inventory().ChangedNodesSince(inventory_cursor_, changed_names_);
  all |= view_.nodes_epoch() != nodes_epoch_;
  all |= view_.inventory().class_version() != class_version_;
  for (const inventory::DeviceId id : changed_devices_) {
    std::string_view name;
    if (!view_.inventory().NodeSeeing(id, name)) {
      all = true;
    } else if (!name.empty()) {
      changed_names_.push_back(name);
    }
  }
  nodes_epoch_ = view_.nodes_epoch();
  class_version_ = view_.inventory().class_version();
  if (all) {
    return Reset();
  }
  for (const std::uint32_t index : changed_nodes_) {
    if (index < rank_of_index_.size() && rank_of_index_[index] != kNoRank) {
      Dirty(rank_of_index_[index]);
    }
  }
  for (const std::string_view name : changed_names_) {
    if (const NodeInfo* const node = view_.FindNode(name)) {
      Dirty(rank_of_index_[node->index]);
    }
  }
}

void ShapeCache::CatchUp(Shape& shape) {
  const std::uint64_t end = log_start_ + log_.size();
  if (shape.cursor < log_start_) {
    MakeAllUnknown(shape);
  } else {
    for (std::uint64_t at = shape.cursor; at < end; ++at) {
      MakeUnknown(shape, log_[at - log_start_]);
    }
  }
  shape.cursor = end;
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

void ShapeCache::Reject(Shape& shape, std::uint32_t rank, const NodeStatus& status) {
  Answer& answer = shape.answers[rank];
  std::uint16_t reason = 0;
  for (; reason < shape.reasons.size(); ++reason) {
    const NodeStatus& known = shape.reasons[reason].status;
    if (known.reasons == status.reasons && known.resolvable == status.resolvable &&
        known.kind == status.kind) {
      break;
    }
  }
  if (reason == shape.reasons.size()) {
    shape.reasons.push_back({status, 0});
  }
  ++shape.reasons[reason].count;
  answer.state = State::kRejected;
  answer.reason = reason;
  answer.pending = false;
  ++answer.stamp;
}

void ShapeCache::Push(Shape& shape, std::uint32_t rank, std::int64_t score, State state) {
  Answer& answer = shape.answers[rank];
  answer.state = state;
  answer.pending = false;
  ++answer.stamp;
  if (shape.heap.size() > 4 * shape.answers.size() + 64) {
    std::erase_if(shape.heap, [&](const HeapItem& item) {
      return shape.answers[item.rank].stamp != item.stamp;
    });
    std::make_heap(shape.heap.begin(), shape.heap.end());
  }
  shape.heap.push_back({score, rank, answer.stamp});
  std::push_heap(shape.heap.begin(), shape.heap.end());
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
