// The choice of a node in the whole cluster: what it costs, and how that grows.
#pragma once

#include <cstdint>
#include <string>

namespace allot::bench {

/// One measurement: a cluster in a steady state, pods coming and going.
struct ClusterPoint {
  int nodes = 500;
  int devices = 8;     ///< of each node
  int shapes = 1;      ///< distinct pod specs, in turn
  double percent = 0;  ///< of all devices, in use all the time
  int decisions = 4000;
  int shared = 0;  ///< devices of a pool without node name, one of which every pod takes too
};

/// Unit: ns of CPU time of this thread.
[[nodiscard]] std::int64_t ThreadCpu();
[[nodiscard]] std::string Spelled(double ns);

/// The table of docs/performance.md.
int Clusters();
/// Curves with the slope of the last decade (perf.md 6.3).
int ClusterGrowth();
/// Decisions on a live view, with the events between them.
int Live();
int OnePoint(const ClusterPoint& point);

}  // namespace allot::bench
