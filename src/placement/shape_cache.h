// ShapeCache: answers of all nodes for the pod shapes seen lately, kept current by change logs.
//
// For one shape it holds the state of every node and a heap of those worth trying, best first. A
// change of a node, of its devices or of who holds them makes that node's answer unknown again, and
// nothing else. Thread safety: one thread. Internal to the module.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "placement/cluster_view.h"
#include "placement/filters.h"
#include "placement/shape.h"

namespace allot::placement {

class ShapeCache {
 public:
  enum class State : std::uint8_t {
    kUnknown,   ///< waits in Shape::pending
    kTryable,   ///< filters passed, devices not tried; stands in the heap
    kFeasible,  ///< devices were found; stands in the heap
    kRejected,  ///< counted under its reason
  };
  struct Answer {
    State state = State::kUnknown;
    bool pending = false;
    std::uint16_t reason = 0;
    std::uint32_t stamp = 0;  ///< of its valid heap entry
  };
  struct HeapItem {
    std::int64_t score = 0;
    std::uint32_t rank = 0;
    std::uint32_t stamp = 0;
    /// Highest score first, then node name order.
    friend bool operator<(const HeapItem& x, const HeapItem& y) {
      return x.score != y.score ? x.score < y.score : x.rank > y.rank;
    }
  };
  struct Reason {
    NodeStatus status;
    std::size_t count = 0;
  };
  struct Shape {
    std::vector<Answer> answers;  ///< by rank: position in ClusterView::nodes()
    std::vector<HeapItem> heap;
    std::vector<std::uint32_t> pending;
    std::vector<Reason> reasons;
    std::uint64_t cursor = 0;
    std::uint64_t last_used = 0;
  };

  explicit ShapeCache(ClusterView& view) : view_(view) {}

  /// The shape's answers, with everything that has changed made unknown. Lifetime: until the next
  /// call.
  [[nodiscard]] Shape& Find(const ShapeKey& key);

  void Reject(Shape& shape, std::uint32_t rank, const NodeStatus& status);
  void Push(Shape& shape, std::uint32_t rank, std::int64_t score, State state);
  /// Takes a node out of its reason or the heap; it is pending afterwards.
  static void MakeUnknown(Shape& shape, std::uint32_t rank);
  static void MakeAllUnknown(Shape& shape);

 private:
  struct KeyHash {
    std::size_t operator()(const ShapeKey& key) const { return key.a; }
  };
  void ReadLogs();
  void Reset();
  void Dirty(std::uint32_t rank);
  void CatchUp(Shape& shape);
  void MakeRoom();

  ClusterView& view_;
  std::unordered_map<ShapeKey, Shape, KeyHash> shapes_;
  std::vector<std::uint32_t> rank_of_index_;
  std::uint64_t nodes_epoch_ = 0;
  std::uint64_t class_version_ = 0;
  std::uint64_t node_cursor_ = 0;
  std::uint64_t device_cursor_ = 0;
  std::uint64_t inventory_cursor_ = 0;
  std::vector<std::uint32_t> log_;  // ranks of changed nodes
  std::uint64_t log_start_ = 0;
  std::uint64_t clock_ = 0;
  std::vector<std::uint32_t> changed_nodes_;
  std::vector<inventory::DeviceId> changed_devices_;
  std::vector<std::string_view> changed_names_;
};

}  // namespace allot::placement
