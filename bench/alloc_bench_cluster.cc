#include "alloc_bench_cluster.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <time.h>

#include <fmt/format.h>

#include "base/random.h"
#include "placement/placement.h"
#include "snapshot/cluster.h"

namespace allot::bench {
namespace {

std::string NodeText(int n) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"node-{:05}","labels":{{"zone":"a"}}}},"status":{{"allocatable":{{"cpu":"64","memory":"256Gi","pods":"110"}}}}}})"
      "\n",
      n);
}

std::string DeviceList(int n, int devices) {
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
  return list;
}

std::string SliceText(int n, int devices) {
  return fmt::format(
      R"({{"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","metadata":{{"name":"slice-{0:05}"}},"spec":{{"driver":"gpu.example.com","pool":{{"name":"node-{0:05}","generation":1,"resourceSliceCount":1}},"nodeName":"node-{0:05}","devices":[{1}]}}}})"
      "\n",
      n,
      DeviceList(n, devices));
}

std::string ClassText(std::string_view name) {
  return fmt::format(
      R"({{"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{{"name":"{0}"}},"spec":{{"selectors":[{{"cel":{{"expression":"device.driver == \"{0}.example.com\""}}}}]}}}})"
      "\n",
      name);
}

// A cluster, pods of several shapes, and what they hold.
class Bench {
 public:
  explicit Bench(const ClusterPoint& point) : point_(point) {}

  bool Build() {
    std::string text = ClassText("gpu") + ClassText("nic");
    if (point_.shared > 0) {
      text += fmt::format(
          R"({{"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","metadata":{{"name":"nics"}},"spec":{{"driver":"nic.example.com","pool":{{"name":"nics","generation":1,"resourceSliceCount":1}},"allNodes":true,"devices":[{}]}}}})"
          "\n",
          DeviceList(99999, point_.shared));
    }
    // Fed in pieces, so that the texts of 50,000 nodes are never all in memory.
    for (int n = 0; n < point_.nodes; ++n) {
      text += NodeText(n) + SliceText(n, point_.devices);
      if (n % 500 == 499 || n + 1 == point_.nodes) {
        if (!Feed(text)) {
          return false;
        }
        text.clear();
      }
    }
    return AddShapes();
  }

  // Takes `count` devices, spread over the nodes, each by a pod of its own.
  void Fill(std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      const auto n = static_cast<int>(i % point_.nodes);
      const auto d = static_cast<int>(i / point_.nodes);
      inventory::ClaimUse use;
      use.devices.push_back(
          {view_.inventory().InternDevice(
               "gpu.example.com", fmt::format("node-{:05}", n), fmt::format("gpu-{}", d)),
           false,
           {}});
      Remember(i, fmt::format("node-{:05}", n), std::move(use));
    }
  }

  // Decides `count` pods; with `steady` one that runs leaves before each, so that as much stays in
  // use. Returns the times in ns, sorted.
  std::vector<double> Decide(int count, bool steady) {
    std::vector<double> times;
    base::Random& random = leaving_;
    for (int p = 0; p < count; ++p) {
      if (steady && !running_.empty()) {
        std::swap(running_[random.Below(running_.size())], running_.front());
        view_.DeletePod(running_.front().uid);
        running_.pop_front();
      }
      const auto s = static_cast<std::size_t>(p % point_.shapes);
      std::vector<placement::ClaimInput> inputs(1);
      inputs[0].claim = objects_.claims[s];
      if (point_.shared > 0) {
        inputs.emplace_back().claim = objects_.claims.back();
      }
      const std::int64_t start = ThreadCpu();
      const placement::Decision decision = placer_.Place(
          *objects_.pods[s], inputs, [](std::size_t) { return std::string("share"); });
      times.push_back(static_cast<double>(ThreadCpu() - start));
      placed_ += decision.placed == placement::Placed::kPlaced ? 1 : 0;
      if (decision.placed != placement::Placed::kPlaced) {
        continue;
      }
      inventory::ClaimUse use = view_.inventory().UseOf(*inputs[0].claim, decision.results[0]);
      if (point_.shared > 0) {
        const auto more = view_.inventory().UseOf(*inputs[1].claim, decision.results[1]);
        use.devices.insert(use.devices.end(), more.devices.begin(), more.devices.end());
      }
      Remember(static_cast<std::int64_t>(s), decision.node, std::move(use));
    }
    first_ = times.empty() ? 0 : times.front();
    std::sort(times.begin(), times.end());
    return times;
  }

  // All pods leave.
  void Clear() {
    for (const Running& running : running_) {
      view_.DeletePod(running.uid);
    }
    running_.clear();
  }

  // Decisions on that node alone, nothing taken; each pod brings a claim of its own.
  std::vector<double> DecideOn(const std::string& node, int count) {
    placement::PlaceOptions options;
    options.only_node = node;
    std::vector<double> times;
    for (int p = 0; p < count; ++p) {
      placement::ClaimInput input;
      input.claim = objects_.claims[0];
      const std::int64_t start = ThreadCpu();
      const auto decision = placer_.Place(
          *objects_.pods[0],
          {&input, 1},
          [](std::size_t) { return std::string("share"); },
          options);
      times.push_back(static_cast<double>(ThreadCpu() - start));
      placed_ += decision.placed == placement::Placed::kPlaced ? 1 : 0;
    }
    first_ = times.front();
    std::sort(times.begin(), times.end());
    return times;
  }

  // As Decide, a slice published anew before each decision.
  std::vector<double> Republish(int count) {
    std::vector<double> times;
    event_times_.clear();
    base::Random random(2);
    for (int i = 0; i < count; ++i) {
      snapshot::Cluster cluster;
      const auto n = static_cast<int>(random.Below(static_cast<std::uint64_t>(point_.nodes)));
      if (!cluster.Add(SliceText(n, point_.devices), "bench")) {
        return {};
      }
      const std::int64_t start = ThreadCpu();
      view_.inventory().UpsertSlice(*cluster.slices.front());
      event_times_.push_back(static_cast<double>(ThreadCpu() - start));
      times.push_back(Decide(1, /*steady=*/true).front());
    }
    first_ = times.front();
    std::sort(times.begin(), times.end());
    std::sort(event_times_.begin(), event_times_.end());
    return times;
  }

  [[nodiscard]] double first() const { return first_; }
  [[nodiscard]] int placed() const { return placed_; }
  [[nodiscard]] const std::vector<double>& event_times() const { return event_times_; }

 private:
  struct Running {
    std::string uid;
    inventory::AllocatedState::Handle held;
  };

  bool Feed(const std::string& text) {
    snapshot::Cluster cluster;
    if (auto added = cluster.Add(text, "bench"); !added) {
      std::printf("%s\n", added.error().message().c_str());
      return false;
    }
    for (const auto* const device_class : cluster.classes) {
      view_.inventory().UpsertClass(*device_class);
    }
    for (const auto* const slice : cluster.slices) {
      view_.inventory().UpsertSlice(*slice);
    }
    for (const auto* const node : cluster.nodes) {
      view_.UpsertNode(*node);
    }
    return true;
  }

  bool AddShapes() {
    std::string text;
    const auto claim = [](const std::string& name, std::string_view device_class) {
      return fmt::format(
          R"({{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{{"name":"{0}","namespace":"default","uid":"{0}"}},"spec":{{"devices":{{"requests":[{{"name":"r","exactly":{{"deviceClassName":"{1}","count":1}}}}]}}}}}})"
          "\n",
          name,
          device_class);
    };
    for (int s = 0; s < point_.shapes; ++s) {
      text +=
          claim(fmt::format("c{}", s), "gpu") +
          fmt::format(
              R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"p{0}","namespace":"default","uid":"p{0}"}},"spec":{{"containers":[{{"name":"c","image":"i","resources":{{"requests":{{"cpu":"{1}m","memory":"{2}Mi"}}}}}}],"resourceClaims":[{{"name":"r","resourceClaimName":"c{0}"}}]}}}})"
              "\n",
              s,
              100 + s % 1000,
              200 + s / 1000);
    }
    text += claim("nic", "nic");
    if (auto added = objects_.Add(text, "bench"); !added) {
      std::printf("%s\n", added.error().message().c_str());
      return false;
    }
    return true;
  }

  void Remember(std::int64_t shape, const std::string& node, inventory::ClaimUse use) {
    api::core::Pod assumed = *objects_.pods[static_cast<std::size_t>(shape % point_.shapes)];
    Running& running = running_.emplace_back();
    running.uid = fmt::format("assumed-{}", next_++);
    running.held = view_.allocated().Commit(std::move(use));
    assumed.metadata.uid = running.uid;
    view_.UpsertPod(assumed, node);
  }

  ClusterPoint point_;
  placement::ClusterView view_;
  placement::Placer placer_{view_};
  snapshot::Cluster objects_;
  std::deque<Running> running_;
  std::int64_t next_ = 0;
  double first_ = 0;
  int placed_ = 0;
  std::vector<double> event_times_;
  base::Random leaving_{1};
};

// A pool that all nodes see, in slices of 128; the claims want its last device.
class LivePool {
 public:
  static constexpr int kDevices = 100'000;

  bool Build() {
    std::string text = ClassText("big") + NodeText(0);
    for (int n = 1; n < 100; ++n) {
      text += NodeText(n);
    }
    const int slices = (kDevices + 127) / 128;
    for (int s = 0; s < slices; ++s) {
      std::string list;
      for (int d = s * 128; d < std::min((s + 1) * 128, kDevices); ++d) {
        list += fmt::format(R"({}{{"name":"d{}","attributes":{{"index":{{"int":{}}}}}}})",
                            d % 128 == 0 ? "" : ",",
                            d,
                            d);
      }
      text += fmt::format(
          R"({{"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","metadata":{{"name":"big-{:04}"}},"spec":{{"driver":"big.example.com","pool":{{"name":"big","generation":1,"resourceSliceCount":{}}},"allNodes":true,"devices":[{}]}}}})"
          "\n",
          s,
          slices,
          list);
    }
    text += fmt::format(
        R"({{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{{"name":"c","namespace":"default","uid":"c"}},"spec":{{"devices":{{"requests":[{{"name":"r","exactly":{{"deviceClassName":"big","count":1,"selectors":[{{"cel":{{"expression":"device.attributes[\"big.example.com\"].index == {}"}}}}]}}}}]}}}}}})"
        "\n",
        kDevices - 1);
    text +=
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default","uid":"p"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}],"resourceClaims":[{"name":"r","resourceClaimName":"c"}]}})"
        "\n";
    if (auto added = cluster_.Add(text, "bench"); !added) {
      std::printf("%s\n", added.error().message().c_str());
      return false;
    }
    view_.inventory().UpsertClass(*cluster_.classes.front());
    for (const auto* const slice : cluster_.slices) {
      view_.inventory().UpsertSlice(*slice);
    }
    for (const auto* const node : cluster_.nodes) {
      view_.UpsertNode(*node);
    }
    return true;
  }

  /// The pod gets the device and leaves, again and again; `published`: after a slice was published
  /// anew. Times of decisions in ns, sorted.
  std::vector<double> Run(int count, bool published) {
    std::vector<double> times;
    placement::ClaimInput input;
    input.claim = cluster_.claims.front();
    for (int i = 0; i < count; ++i) {
      if (published) {
        view_.inventory().UpsertSlice(*cluster_.slices[static_cast<std::size_t>(i) % 700]);
      }
      const std::int64_t start = ThreadCpu();
      const auto decision = placer_.Place(
          *cluster_.pods.front(), {&input, 1}, [](std::size_t) { return std::string("share"); });
      times.push_back(static_cast<double>(ThreadCpu() - start));
      if (decision.placed != placement::Placed::kPlaced) {
        return {};
      }
      const auto held =
          view_.allocated().Commit(view_.inventory().UseOf(*input.claim, decision.results[0]));
      view_.UpsertPod(*cluster_.pods.front(), decision.node);
      view_.DeletePod("p");
    }
    first_ = times.front();
    std::sort(times.begin(), times.end());
    return times;
  }
  [[nodiscard]] double first() const { return first_; }

 private:
  snapshot::Cluster cluster_;
  placement::ClusterView view_;
  placement::Placer placer_{view_};
  double first_ = 0;
};

double Median(const std::vector<double>& sorted) {
  return sorted.empty() ? 0 : sorted[sorted.size() / 2];
}

// The least of five medians, as other work on the machine only adds. In a steady state one pod
// leaves for each that comes; an empty cluster is one that some hundred pods come to before all
// leave.
double Measure(const ClusterPoint& point) {
  Bench bench(point);
  if (!bench.Build()) {
    return 0;
  }
  const bool empty = point.percent == 0;
  const std::int64_t devices = std::int64_t{point.nodes} * point.devices;
  if (!empty) {
    bench.Fill(std::clamp<std::int64_t>(
        std::llround(static_cast<double>(devices) * point.percent / 100), 10, devices - 10));
  }
  const int block = empty ? std::min(400, point.nodes / 10) : point.decisions / 5;
  bench.Decide(std::max(2 * point.shapes, 200), !empty);
  double least = 0;
  for (int b = 0; b < 5; ++b) {
    if (empty) {
      bench.Clear();
    }
    const double median = Median(bench.Decide(block, !empty));
    least = b == 0 ? median : std::min(least, median);
  }
  return least;
}

void Line(const char* curve, double x, double ns) {
  std::printf("%s,%g,%.0f\n", curve, x, ns);
  std::fflush(stdout);
}

// Least squares of log y against log x over the last decade of x.
double Slope(const std::vector<std::pair<double, double>>& points) {
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (const auto& [x, y] : points) {
    if (x * 10.01 < points.back().first) {
      continue;
    }
    const double lx = std::log(x), ly = std::log(y);
    n += 1, sx += lx, sy += ly, sxx += lx * lx, sxy += lx * ly;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

void Curve(const char* name,
           const std::vector<double>& at,
           const std::function<ClusterPoint(double)>& point) {
  std::vector<std::pair<double, double>> points;
  for (const double x : at) {
    points.emplace_back(x, Measure(point(x)));
    Line(name, x, points.back().second);
  }
  const auto [low, high] =
      std::minmax_element(points.begin(), points.end(), [](const auto& a, const auto& b) {
        return a.second < b.second;
      });
  std::printf("# %s: slope of the last decade %.2f, largest / least %.2f\n",
              name,
              points.front().first > 0 ? Slope(points) : 0.0,
              high->second / low->second);
}

void Row(const ClusterPoint& point, int pods) {
  Bench bench(point);
  if (!bench.Build()) {
    return;
  }
  const std::vector<double> times = bench.Decide(pods, /*steady=*/false);
  std::printf("| %d nodes x %d devices, %d pod shapes | %s | %s | %s |\n",
              point.nodes,
              point.devices,
              point.shapes,
              Spelled(Median(times)).c_str(),
              Spelled(times[times.size() * 99 / 100]).c_str(),
              Spelled(bench.first()).c_str());
  std::fflush(stdout);
}

}  // namespace

std::int64_t ThreadCpu() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

std::string Spelled(double ns) {
  if (ns < 1000) {
    return fmt::format("{:.0f} ns", ns);
  }
  return ns < 1e6 ? fmt::format("{:.1f} us", ns / 1e3) : fmt::format("{:.2f} ms", ns / 1e6);
}

int Clusters() {
  std::printf("| cluster | p50 | p99 | first pod |\n|---|---|---|---|\n");
  for (const int nodes : {500, 5000, 50000}) {
    Row({.nodes = nodes}, std::min(nodes * 4, 4000));
  }
  for (const int shapes : {10, 100, 1000, 10000}) {
    Row({.nodes = 5000, .shapes = shapes}, 4000 + shapes);
  }
  for (const int devices : {1, 32, 128}) {
    Row({.nodes = 500, .devices = devices}, std::min(250 * devices, 4000));
  }
  return 0;
}

// Pods of ever new shapes when all devices are taken.
std::vector<double> Refused(int nodes) {
  Bench bench({.nodes = nodes, .devices = 1, .shapes = 2000, .percent = 100});
  if (!bench.Build()) {
    return {};
  }
  bench.Fill(nodes);
  bench.Decide(1, /*steady=*/false);
  return bench.Decide(1000, /*steady=*/false);
}

int ClusterGrowth() {
  std::printf("curve,x,ns\n");
  Curve("nodes", {100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000}, [](double x) {
    return ClusterPoint{.nodes = static_cast<int>(x), .percent = 50};
  });
  Curve("utilisation", {0, 25, 50, 75, 90, 99, 100}, [](double x) {
    return ClusterPoint{.nodes = 5000, .percent = x};
  });
  Line("ten-pods-that-come-and-go", 5000, Measure({.nodes = 5000, .percent = 0.001}));
  Curve("allocated", {1000, 10000, 40000, 100000, 200000, 400000}, [](double x) {
    return ClusterPoint{.nodes = 5000, .devices = 100, .percent = x / 5000};
  });
  Curve("devices", {1, 2, 4, 8, 16, 32, 64, 128}, [](double x) {
    return ClusterPoint{.nodes = 500, .devices = static_cast<int>(x), .percent = 50};
  });
  Curve("shapes", {1, 10, 100, 1000, 10000}, [](double x) {
    return ClusterPoint{
        .nodes = 5000, .shapes = static_cast<int>(x), .percent = 50, .decisions = 12000};
  });
  for (const int nodes : {500, 5000, 50000}) {
    const auto times = Refused(nodes);
    std::printf("refused-of-new-shape,%d,%.0f\n", nodes, Median(times));
    std::fflush(stdout);
  }
  Curve("nodes-with-a-shared-pool", {200, 500, 1000, 2000, 5000}, [](double x) {
    return ClusterPoint{.nodes = static_cast<int>(x), .percent = 1, .shared = 1000};
  });
  return 0;
}

int Live() {
  std::printf("| what | p50 | p99 | first |\n|---|---|---|---|\n");
  const auto line = [](const char* what, const std::vector<double>& times, double first) {
    std::printf("| %s | %s | %s | %s |\n",
                what,
                Spelled(Median(times)).c_str(),
                times.empty() ? "-" : Spelled(times[times.size() * 99 / 100]).c_str(),
                Spelled(first).c_str());
    std::fflush(stdout);
  };
  {
    Bench bench({.nodes = 5000, .percent = 50});
    if (!bench.Build()) {
      return 1;
    }
    bench.Fill(20'000);
    const auto times = bench.DecideOn("node-04000", 2000);
    line("one node of 5,000 slices: prepare the claims, search, results", times, bench.first());
    bench.Decide(400, /*steady=*/true);
    line("the whole choice there, half full", bench.Decide(4000, /*steady=*/true), bench.first());
    const auto events = bench.Republish(2000);
    line("the same, a slice published anew before each", events, bench.first());
    line("what that event costs", bench.event_times(), bench.event_times().back());
  }
  LivePool pool;
  if (!pool.Build()) {
    return 1;
  }
  const auto times = pool.Run(2000, /*published=*/false);
  line("the last of a pool of 100,000 seen by 100 nodes", times, pool.first());
  const auto again = pool.Run(50, /*published=*/true);
  line("the same, a slice of the pool published anew before each", again, pool.first());
  return 0;
}

int OnePoint(const ClusterPoint& point) {
  std::printf("%s\n", Spelled(Measure(point)).c_str());
  return 0;
}

}  // namespace allot::bench
