// ShapeCache: answers of all nodes for the pod shapes seen lately, kept current by change logs.
//
// For one shape it holds the state of every node and heaps of those worth trying, best first. A
// change of a node, of its devices or of who holds them makes that node's answer unknown again, and
// nothing else; a device that many nodes see, once given back, reopens the nodes that lacked
// devices. Thread safety: one thread. Internal to the module.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/change_log.h"
#include "placement/cluster_view.h"
#include "placement/filters.h"
#include "placement/score.h"
#include "placement/shape.h"

namespace allot::placement {

class ShapeCache {
 public:
  enum class State : std::uint8_t {
    kUnknown,   ///< waits in Shape::pending
    kTryable,   ///< filters passed, devices not tried; stands in a heap
    kFeasible,  ///< devices were found; stands in a heap
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
  /// Nodes whose scores can be compared as they are: equal in the parts that are scaled over all
  /// nodes. Most shapes have one.
  struct Bucket {
    RawScore parts;  ///< `resources` is not one of them
    std::vector<HeapItem> heap;
  };
  struct Reason {
    NodeStatus status;
    std::size_t count = 0;
  };
  struct Shape {
    std::vector<Answer> answers;  ///< by rank: position in ClusterView::nodes()
    std::vector<Bucket> buckets;
    std::vector<std::uint32_t> pending;
    std::vector<Reason> reasons;
    std::uint64_t cursor = 0;
    std::uint64_t last_used = 0;
    /// Devices were tried on every node, so its answers depend on devices that many nodes see.
    bool eager = false;
    /// Filters or scores look at the devices of a node themselves.
    bool reads_views = false;
  };
  /// Which nodes lack devices for claims of one kind, whatever pod brings them.
  struct DeviceAnswers {
    std::vector<std::uint16_t> refused;  ///< by rank: 1 + position in `reasons`; 0: not known
    std::vector<std::uint32_t> open;     ///< ranks that are not known to refuse, in no order
    std::vector<std::uint32_t> slots;    ///< by rank: position in `open`
    std::vector<NodeStatus> reasons;
    std::uint64_t cursor = 0;
    std::uint64_t last_used = 0;
  };

  explicit ShapeCache(ClusterView& view) : view_(view) {}

  /// Whether looking the shape up is cheap: it is known and little has changed since it was used,
  /// or it is in steady use, so that catching up pays. Notes the use.
  [[nodiscard]] bool IsWarm(const ShapeKey& key);

  /// The shape's answers, with everything that has changed made unknown. Lifetime: until the next
  /// call.
  [[nodiscard]] Shape& Find(const ShapeKey& key, bool eager, bool packing);
  /// The same for the claims alone. Cost: O(changed nodes). Lifetime: until the next call.
  [[nodiscard]] DeviceAnswers& FindDevices(const ShapeKey& claims);
  /// Null: none are kept.
  [[nodiscard]] const DeviceAnswers* KnownDevices(const ShapeKey& claims);
  void Refuse(DeviceAnswers& known, std::uint32_t rank, NodeStatus status);

  void Reject(Shape& shape, std::uint32_t rank, NodeStatus status);
  void Push(Shape& shape, std::uint32_t rank, const RawScore& parts, std::int64_t score, State);
  /// Takes a node out of its reason or the heap; it is pending afterwards.
  void MakeUnknown(Shape& shape, std::uint32_t rank);
  void MakeAllUnknown(Shape& shape);
  /// Shapes started anew: each looks at all nodes once.
  [[nodiscard]] std::uint64_t built() const { return built_; }

 private:
  void ReadLogs();
  void ReadNodes();
  void ReadViews();
  void ReadDevices();
  void Reset();
  void Note(std::uint32_t entry);
  void NoteNode(std::uint32_t index);
  void CatchUp(Shape& shape);
  void CatchUp(DeviceAnswers& known) const;
  /// Forgets which nodes refuse.
  void Reopen(DeviceAnswers& known) const;
  void ReopenLackingDevices(Shape& shape);
  template <typename Map>
  void MakeRoom(Map& map) const;

  ClusterView& view_;
  std::unordered_map<ShapeKey, Shape, ShapeKeyHash> shapes_;
  std::unordered_map<ShapeKey, DeviceAnswers, ShapeKeyHash> devices_;
  std::vector<std::uint32_t> rank_of_index_;
  std::uint64_t nodes_epoch_ = 0;
  std::uint64_t class_version_ = 0;
  std::uint64_t node_cursor_ = 0;
  std::uint64_t device_cursor_ = 0;
  std::uint64_t inventory_cursor_ = 0;
  base::ChangeLog<std::uint32_t> changes_;  // ranks of changed nodes, or what concerns many
  std::uint64_t read_up_to_ = 0;
  std::uint64_t clock_ = 0;
  std::array<ShapeKey, 16> recent_{};
  std::size_t recent_at_ = 0;
  std::uint64_t built_ = 0;
};

}  // namespace allot::placement
