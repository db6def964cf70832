// LoadIndex: all nodes ordered by how loaded they are, so that a pod of a new shape finds promising
// nodes without looking at all.
//
// Load is the mean of the cpu and memory shares in use, in thousandths; nodes of equal load stand
// in the order in which they got it. Thread safety: one thread. Internal to the module.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace allot::placement {

class LoadIndex {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  /// Files the node under its load. Cost: O(1).
  void Set(std::uint32_t node, std::int64_t load);
  void Remove(std::uint32_t node);

  /// The least loaded node; kNone when there are none.
  [[nodiscard]] std::uint32_t First() const { return HeadFrom(0); }
  /// The next one in order. Cost: O(1), and a few words where loads are sparse.
  [[nodiscard]] std::uint32_t Next(std::uint32_t node) const;

 private:
  static constexpr std::uint32_t kBuckets = 1024;
  struct Link {
    std::uint32_t next = kNone;
    std::uint32_t previous = kNone;
    std::uint32_t bucket = kNone;
  };
  struct Ends {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
  };
  [[nodiscard]] std::uint32_t HeadFrom(std::uint32_t bucket) const;

  std::vector<Link> links_;  // by node
  std::array<Ends, kBuckets> ends_{};
  std::array<std::uint64_t, kBuckets / 64> used_{};
};

}  // namespace allot::placement
