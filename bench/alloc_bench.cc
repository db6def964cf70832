// alloc_bench: what an allocation costs, and how it grows.
//
//   alloc_bench problems [FILE.jsonl.gz [TRIALS]]   single problems: those built in, and those of
//   the
//                                          file; TRIALS as Limits::plain_trials
//   alloc_bench growth                     the curves over counts, groups and counters, as CSV
//   alloc_bench cluster                    the choice of a node among 500, 5,000 and 50,000
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

#include <time.h>

#include <fmt/format.h>

#include "alloc_bench_problems.h"
#include "alloc_bench_real.h"
#include "allocator/allocator.h"
#include "differential/answers.h"
#include "placement/placement.h"
#include "snapshot/allocation_case.h"
#include "snapshot/cluster.h"

namespace {
std::atomic<std::uint64_t> heap_allocations{0};
}  // namespace

void* operator new(std::size_t size) {
  heap_allocations.fetch_add(1, std::memory_order_relaxed);
  void* const memory = std::malloc(size);
  if (memory == nullptr) {
    std::abort();
  }
  return memory;
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace allot::bench {
namespace {

std::int64_t ThreadCpu() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

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
  const std::uint64_t allocations = heap_allocations.load();
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
  return {
      times[times.size() / 2],
      times.front(),
      static_cast<double>(heap_allocations.load() - allocations - 8) / static_cast<double>(runs)};
}

std::string Spelled(double ns) {
  if (ns < 1000) {
    return fmt::format("{:.0f} ns", ns);
  }
  return ns < 1e6 ? fmt::format("{:.1f} us", ns / 1e3) : fmt::format("{:.2f} ms", ns / 1e6);
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
  for (const int counters : {1, 2, 4, 8, 16, 32}) {
    Point("counters-fit", counters, counters, CounterProblem(counters, counters));
    if (counters < 32) {
      Point(
          "counters-one-too-many", counters, counters + 1, CounterProblem(counters, counters + 1));
    }
  }
  return 0;
}

std::string NodeText(int n) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"node-{:05}","labels":{{"zone":"a"}}}},"status":{{"allocatable":{{"cpu":"64","memory":"256Gi","pods":"110"}}}}}})"
      "\n",
      n);
}

std::string SliceText(int n, int devices) {
  std::string list;
  for (int d = 0; d < devices; ++d) {
    list += fmt::format(
        R"({}{{"name":"gpu-{}","attributes":{{"model":{{"string":"h100"}},"index":{{"int":{}}},"uuid":{{"string":"uuid-{}-{}"}}}},"capacity":{{"memory":{{"value":"80Gi"}}}}}})",
        d == 0 ? "" : ",",
        d,
        d,
        n,
        d);
  }
  return fmt::format(
      R"({{"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","metadata":{{"name":"slice-{0:05}"}},"spec":{{"driver":"gpu.example.com","pool":{{"name":"node-{0:05}","generation":1,"resourceSliceCount":1}},"nodeName":"node-{0:05}","devices":[{1}]}}}})"
      "\n",
      n,
      list);
}

void Cluster(int nodes, int devices, int shapes) {
  std::string text =
      R"({"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{"name":"gpu"},"spec":{"selectors":[{"cel":{"expression":"device.driver == \"gpu.example.com\""}}]}})"
      "\n";
  placement::ClusterView view;
  {
    // Fed in pieces, so that the texts of 50,000 nodes are never all in memory.
    for (int n = 0; n < nodes; ++n) {
      text += NodeText(n) + SliceText(n, devices);
      if (n % 500 == 499 || n + 1 == nodes) {
        snapshot::Cluster cluster;
        if (auto added = cluster.Add(text, "bench"); !added) {
          std::printf("%s\n", added.error().message().c_str());
          return;
        }
        for (const auto* const device_class : cluster.classes) {
          view.inventory().UpsertClass(*device_class);
        }
        for (const auto* const slice : cluster.slices) {
          view.inventory().UpsertSlice(*slice);
        }
        for (const auto* const node : cluster.nodes) {
          view.UpsertNode(*node);
        }
        text.clear();
      }
    }
  }
  snapshot::Cluster objects;
  std::string claims;
  for (int s = 0; s < shapes; ++s) {
    claims += fmt::format(
        R"({{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{{"name":"c{0}","namespace":"default","uid":"c{0}"}},"spec":{{"devices":{{"requests":[{{"name":"r","exactly":{{"deviceClassName":"gpu","count":1}}}}]}}}}}})"
        "\n"
        R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"p{0}","namespace":"default","uid":"p{0}"}},"spec":{{"containers":[{{"name":"c","image":"i","resources":{{"requests":{{"cpu":"{1}m"}}}}}}],"resourceClaims":[{{"name":"r","resourceClaimName":"c{0}"}}]}}}})"
        "\n",
        s,
        100 + s);
  }
  if (auto added = objects.Add(claims, "bench"); !added) {
    std::printf("%s\n", added.error().message().c_str());
    return;
  }
  placement::Placer placer(view);
  std::vector<inventory::AllocatedState::Handle> held;
  std::vector<double> times;
  const int pods = std::min(nodes * devices / 2, 4000) + shapes;
  double first = 0;
  for (int p = 0; p < pods; ++p) {
    const auto s = static_cast<std::size_t>(p % shapes);
    placement::ClaimInput input;
    input.claim = objects.claims[s];
    const std::int64_t start = ThreadCpu();
    placement::Decision decision = placer.Place(
        *objects.pods[s], {&input, 1}, [](std::size_t) { return std::string("share"); });
    const auto spent = static_cast<double>(ThreadCpu() - start);
    if (p == 0) {
      first = spent;
    } else if (p >= shapes) {
      times.push_back(spent);
    }
    if (decision.placed != placement::Placed::kPlaced) {
      std::printf(
          "not placed: %s %s\n", decision.error.c_str(), decision.diagnosis.message.c_str());
      return;
    }
    held.push_back(
        view.allocated().Commit(view.inventory().UseOf(*input.claim, decision.results[0])));
    api::core::Pod assumed = *objects.pods[s];
    const std::string uid = fmt::format("assumed-{}", p);
    assumed.metadata.uid = uid;
    view.UpsertPod(assumed, decision.node);
  }
  std::sort(times.begin(), times.end());
  std::printf("| %d nodes x %d devices, %d pod shapes | %s | %s | %s |\n",
              nodes,
              devices,
              shapes,
              Spelled(times[times.size() / 2]).c_str(),
              Spelled(times[times.size() * 99 / 100]).c_str(),
              Spelled(first).c_str());
  std::fflush(stdout);
}

int Clusters() {
  std::printf("| cluster | p50 | p99 | first pod |\n|---|---|---|---|\n");
  for (const int nodes : {500, 5000, 50000}) {
    Cluster(nodes, 8, 1);
  }
  for (const int shapes : {10, 100}) {
    Cluster(5000, 8, shapes);
  }
  for (const int devices : {1, 32, 128}) {
    Cluster(500, devices, 1);
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
  std::printf("usage: alloc_bench problems [FILE.jsonl.gz [TRIALS]] | growth | cluster | print\n");
  return 2;
}
