// alloc_bench: what an allocation costs, and how it grows.
//
//   alloc_bench problems [FILE.jsonl.gz [TRIALS]]   single problems: those built in, and those of
//                                          the file; TRIALS as Limits::plain_trials
//   alloc_bench growth                     the curves over counts, groups and counters, as CSV
//   alloc_bench cluster                    the choice of a node among 500, 5,000 and 50,000
//   alloc_bench cluster-growth             ... against nodes, use, devices, pod shapes, with slopes
//   alloc_bench live                       decisions on a live view: large pools, slice events
//   alloc_bench one NODES DEVICES SHAPES PERCENT DECISIONS    one point of it, for profiles
//   alloc_bench print                      the built-in problems as JSON lines, for the real code
// With $ALLOT_ORACLE_ALLOCATOR naming the real allocator, `problems` shows its figures beside ours.
// Figures are CPU time of this thread: median (and least) of many runs.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "alloc_bench_cluster.h"
#include "alloc_bench_problems.h"
#include "alloc_bench_real.h"
#include "allocator/allocator.h"
#include "differential/answers.h"
#include "snapshot/allocation_case.h"
#include "testing/heap_counter.h"

namespace allot::bench {
namespace {

struct Timing {
  double median_ns = 0;
  double least_ns = 0;
  double allocations = 0;
};

Timing Measure(const std::function<void()>& once) {
  once();
  // A batch takes some 50 us, so that the clock does not count.
  std::int64_t start = ThreadCpu();
  once();
  const std::int64_t single = std::max<std::int64_t>(ThreadCpu() - start, 20);
  const std::int64_t batch = std::clamp<std::int64_t>(50'000 / single, 1, 2000);
  std::vector<double> times;
  const std::uint64_t allocations = allot::testing::HeapAllocations();
  std::int64_t runs = 0;
  const std::int64_t begin = ThreadCpu();
  while (times.size() < 200 && (times.size() < 5 || ThreadCpu() - begin < 300'000'000)) {
    start = ThreadCpu();
    for (std::int64_t i = 0; i < batch; ++i) {
      once();
    }
    times.push_back(static_cast<double>(ThreadCpu() - start) / static_cast<double>(batch));
    runs += batch;
  }
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2],
          times.front(),
          static_cast<double>(allot::testing::HeapAllocations() - allocations - 8) /
              static_cast<double>(runs)};
}

struct Measured {
  allocator::Outcome outcome;
  Timing warm, fresh;
  double cold_ns = 0;
};

std::optional<Measured> MeasureProblem(const std::string& line, const allocator::Limits& limits) {
  auto problem = snapshot::ParseAllocationCase(line);
  if (!problem) {
    std::printf("%s\n", problem.error().message().c_str());
    return std::nullopt;
  }
  inventory::Inventory inventory(problem->features);
  for (const auto* const device_class : problem->classes) {
    inventory.UpsertClass(*device_class);
  }
  for (const auto* const slice : problem->slices) {
    inventory.UpsertSlice(*slice);
  }
  inventory::AllocatedState state;
  inventory::ClaimUse use;
  for (const auto& device : problem->allocated) {
    use.devices.push_back({inventory.InternDevice(device.driver, device.pool, device.device),
                           device.shared,
                           device.consumed});
  }
  const auto held = state.Commit(std::move(use));
  allocator::Allocator allocator(inventory, limits);
  const auto node = inventory::MakeNodeRef(*problem->node);
  const auto prepared = allocator.Prepare(problem->claims);
  Measured out;
  allocator::Outcome& outcome = out.outcome;
  const std::int64_t cold_start = ThreadCpu();
  allocator.AllocateInto(prepared, node, inventory.ViewFor(node), state, outcome);
  out.cold_ns = static_cast<double>(ThreadCpu() - cold_start);
  out.warm = Measure(
      [&] { allocator.AllocateInto(prepared, node, inventory.ViewFor(node), state, outcome); });
  out.fresh = Measure([&] {
    const auto again = allocator.Prepare(problem->claims);
    allocator.AllocateInto(again, node, inventory.ViewFor(node), state, outcome);
  });
  // What the outcome points to ends with this function.
  outcome.picks.clear();
  outcome.view.reset();
  outcome.prepared.reset();
  return out;
}

void Problem(const std::string& name, const std::string& line, const allocator::Limits& limits) {
  const auto measured = MeasureProblem(line, limits);
  if (!measured) {
    return;
  }
  static constexpr std::string_view kVerdicts[] = {
      "allocated", "infeasible", "node-error", "fatal", "undecided"};
  std::printf("| %s | %s | %llu | %s (%s) | %s | %s | %.1f |",
              name.c_str(),
              kVerdicts[static_cast<int>(measured->outcome.verdict)].data(),
              static_cast<unsigned long long>(measured->outcome.steps),
              Spelled(measured->warm.median_ns).c_str(),
              Spelled(measured->warm.least_ns).c_str(),
              Spelled(measured->fresh.median_ns).c_str(),
              Spelled(measured->cold_ns).c_str(),
              measured->warm.allocations);
  if (const char* const real = std::getenv("ALLOT_ORACLE_ALLOCATOR"); real != nullptr) {
    const RealTimes times = MeasureReal(real, line);
    if (times.least_ns == 0) {
      std::printf(" more than 2 s | | |");
    } else {
      std::printf(" %s (%s) | %.0f | %lld |",
                  Spelled(times.median_ns).c_str(),
                  Spelled(times.least_ns).c_str(),
                  times.least_ns / measured->warm.least_ns,
                  static_cast<long long>(times.allocations));
    }
  }
  std::printf("\n");
  std::fflush(stdout);
}

int Problems(const char* path, const allocator::Limits& limits) {
  const bool beside = std::getenv("ALLOT_ORACLE_ALLOCATOR") != nullptr;
  std::printf(
      "| problem | outcome | steps | warm: median (least) | with preparation | first time | heap "
      "allocations |%s\n|---|---|---|---|---|---|---|%s\n",
      beside ? " real code | ratio of the least | its allocations |" : "",
      beside ? "---|---|---|" : "");
  if (path != nullptr) {
    const auto lines = testing::ReadLines(path);
    if (!lines) {
      std::printf("%s\n", lines.error().message().c_str());
      return 1;
    }
    for (const std::string& line : *lines) {
      const std::size_t at = line.find("\"id\":\"") + 6;
      Problem(line.substr(at, line.find('"', at) - at), line, limits);
    }
  }
  for (const auto& [name, line] : HardProblems()) {
    Problem(name, line, limits);
  }
  return 0;
}

// Points of the growth curves, as CSV: shape, two variables, outcome, median in ns.
void Point(const std::string& shape, int x, int y, const std::string& line) {
  if (const auto measured = MeasureProblem(line, {})) {
    std::printf("%s,%d,%d,%d,%.0f\n",
                shape.c_str(),
                x,
                y,
                static_cast<int>(measured->outcome.verdict),
                measured->warm.median_ns);
    std::fflush(stdout);
  }
}

int Growth() {
  std::printf("shape,x,y,verdict,median_ns\n");
  for (const int m : {4, 8, 12, 16, 20, 24, 31, 63, 127}) {
    Point("one-too-many", m, 0, OneTooManyProblem(m));
  }
  for (const int groups : {1, 2, 4, 8, 16, 32, 64}) {
    for (const int requests : {1, 2, 4, 8, 16, 32}) {
      Point("match-groups-requests", groups, requests, MatchProblem(groups, requests));
    }
  }
  for (const int cards : {2, 4, 8, 12, 16, 20}) {
    Point("equal-cards-one-too-many", cards, 0, CardsProblem(cards));
  }
  for (const int counters : {1, 2, 4, 8, 16, 32}) {
    Point("counters-fit", counters, counters, CounterProblem(counters, counters));
    if (counters < 32) {
      Point(
          "counters-one-too-many", counters, counters + 1, CounterProblem(counters, counters + 1));
    }
  }
  return 0;
}

}  // namespace
}  // namespace allot::bench

int main(int argc, char** argv) {
  const std::string_view verb = argc > 1 ? argv[1] : "";
  if (verb == "problems") {
    allot::allocator::Limits limits;
    if (argc > 3) {
      limits.plain_trials = std::strtoull(argv[3], nullptr, 10);
    }
    return allot::bench::Problems(argc > 2 ? argv[2] : nullptr, limits);
  }
  if (verb == "growth") {
    return allot::bench::Growth();
  }
  if (verb == "cluster") {
    return allot::bench::Clusters();
  }
  if (verb == "cluster-growth") {
    return allot::bench::ClusterGrowth();
  }
  if (verb == "live") {
    return allot::bench::Live();
  }
  if (verb == "one" && argc == 7) {
    return allot::bench::OnePoint({.nodes = std::atoi(argv[2]),
                                   .devices = std::atoi(argv[3]),
                                   .shapes = std::atoi(argv[4]),
                                   .percent = std::atof(argv[5]),
                                   .decisions = std::atoi(argv[6])});
  }
  if (verb == "print") {
    for (const auto& [name, line] : allot::bench::HardProblems()) {
      std::printf("%s\n", line.c_str());
    }
    return 0;
  }
  if (verb.empty()) {
    const int problems = allot::bench::Problems(nullptr, {});
    const int clusters = allot::bench::Clusters();
    return std::max(problems, clusters);
  }
  std::printf(
      "usage: alloc_bench problems [FILE.jsonl.gz [TRIALS]] | growth | cluster | "
      "cluster-growth | live | print\n");
  return 2;
}
