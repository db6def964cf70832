// The CEL engine: compile, exact evaluation, slot tier, many devices at once, one changed device
// and many selectors. `bench/compare_cel.sh` runs it beside the real package on the same selectors
// and devices. `cel_bench growth` prints how times grow with devices and with distinct signatures,
// as CSV.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sys/resource.h>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "cel/cel.h"
#include "cel/columns.h"
#include "cel_devices.h"

namespace {

using namespace allot;
using bench::Compile;
using bench::Device;
using bench::kSelectorCount;
using bench::kSelectors;

void SetLabel(benchmark::State& state) {
  state.SetLabel(std::string(kSelectors[state.range(0)].expression.substr(0, 60)));
}

void BM_Compile(benchmark::State& state) {
  const std::string_view expression = kSelectors[state.range(0)].expression;
  for (auto _ : state) {
    benchmark::DoNotOptimize(cel::Compile(expression, {}));
  }
  SetLabel(state);
}
BENCHMARK(BM_Compile)->DenseRange(0, kSelectorCount - 1);

void BM_CompileNoEstimate(benchmark::State& state) {
  const std::string_view expression = kSelectors[state.range(0)].expression;
  cel::CompileOptions options;
  options.estimate_cost = false;
  for (auto _ : state) {
    benchmark::DoNotOptimize(cel::Compile(expression, options));
  }
}
BENCHMARK(BM_CompileNoEstimate)->DenseRange(0, kSelectorCount - 1);

void BM_Exact(benchmark::State& state) {
  const auto program = Compile(kSelectors[state.range(0)].expression);
  const Device device(1);
  const cel::DeviceView view = device.view();
  cel::Evaluator evaluator;
  for (auto _ : state) {
    benchmark::DoNotOptimize(evaluator.Match(*program, view));
  }
}
BENCHMARK(BM_Exact)->DenseRange(0, kSelectorCount - 1);

// The verdict alone, from an unprepared device.
void BM_Test(benchmark::State& state) {
  const auto program = Compile(kSelectors[state.range(0)].expression);
  const Device device(1);
  const cel::DeviceView view = device.view();
  cel::Evaluator evaluator;
  for (auto _ : state) {
    benchmark::DoNotOptimize(evaluator.Test(*program, view));
  }
}
BENCHMARK(BM_Test)->DenseRange(0, kSelectorCount - 1);

// One evaluation from slots, nothing remembered.
void BM_Slots(benchmark::State& state) {
  const auto program = Compile(kSelectors[state.range(0)].expression);
  cel::DeviceTable table;
  table.Add(Device(1).view());
  cel::Matcher matcher(table, program);
  for (auto _ : state) {
    benchmark::DoNotOptimize(matcher.EvaluateOnce(0));
  }
}
BENCHMARK(BM_Slots)->DenseRange(0, kSelectorCount - 1);

constexpr std::int64_t kFleet = 100'000;

std::unique_ptr<cel::DeviceTable> MakeFleet(std::int64_t size, bench::DeviceShape shape = {}) {
  auto out = std::make_unique<cel::DeviceTable>();
  for (std::int64_t i = 0; i < size; ++i) {
    out->Add(Device(i, shape).view());
  }
  return out;
}

cel::DeviceTable& Fleet() {
  static const std::unique_ptr<cel::DeviceTable> table = MakeFleet(kFleet);
  return *table;
}

void BM_FleetWarm(benchmark::State& state) {
  cel::Matcher matcher(Fleet(), Compile(kSelectors[state.range(0)].expression));
  std::vector<cel::Verdict> verdicts(kFleet);
  matcher.MatchAll(verdicts);
  for (auto _ : state) {
    matcher.MatchAll(verdicts);
    benchmark::DoNotOptimize(verdicts.data());
  }
}
BENCHMARK(BM_FleetWarm)->DenseRange(0, kSelectorCount - 1);

void BM_FleetFirst(benchmark::State& state) {
  const auto program = Compile(kSelectors[state.range(0)].expression);
  std::vector<cel::Verdict> verdicts(kFleet);
  cel::DeviceTable& fleet = Fleet();
  for (auto _ : state) {
    cel::Matcher matcher(fleet, program);
    matcher.MatchAll(verdicts);
    benchmark::DoNotOptimize(verdicts.data());
  }
}
BENCHMARK(BM_FleetFirst)->DenseRange(0, kSelectorCount - 1);

void BM_LoadDevice(benchmark::State& state) {
  const Device a(1);
  const Device b(2);
  cel::DeviceTable table;
  std::int64_t turn = 0;
  for (auto _ : state) {
    table.Add((turn++ % 2 == 0 ? a : b).view());
  }
}
BENCHMARK(BM_LoadDevice);

// The selector of a registered crowd. Alike: two terms over the same two attributes. Mixed: every
// kind of test, over other attributes and capacities, alone or joined.
std::string CrowdSelector(int i, bool mixed) {
  constexpr std::string_view kModel = R"(device.attributes["gpu.example.com"].model)";
  constexpr std::string_view kIndex = R"(device.attributes["gpu.example.com"].index)";
  if (!mixed) {
    return fmt::format(R"({} == "H100" && {} >= {})", kModel, kIndex, i);
  }
  const std::string_view other = kSelectors[i % kSelectorCount].expression;
  switch (i % 4) {
    case 0: return fmt::format(R"({} && {} >= {})", other, kIndex, i);
    case 1: return fmt::format(R"({} == "M{}" || {})", kModel, i, other);
    case 2:
      return fmt::format(
          R"(device.attributes["gpu.example.com"].extra{:02} == "value-{}")", 5 + i % 5, i);
    default:
      return fmt::format(
          R"(device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("{}Gi")) && ({} || {} == {}))",
          i,
          other,
          kIndex,
          i % 8);
  }
}

constexpr int kCrowd = 1000;

void RunCrowd(benchmark::State& state, bool mixed, bool fresh) {
  const std::unique_ptr<cel::DeviceTable> table = MakeFleet(1000);
  cel::MatcherSet set(*table);
  for (int i = 0; i < kCrowd; ++i) {
    set.Add(Compile(CrowdSelector(i, mixed)));
  }
  std::vector<cel::Verdict> verdicts(kCrowd);
  const Device a(1);
  const Device b(3 * 8);
  std::vector<std::unique_ptr<Device>> news;
  constexpr std::int64_t kNews = 20'000;
  for (std::int64_t i = 0; fresh && i < kNews; ++i) {
    news.push_back(std::make_unique<Device>(1'000'000 + i, bench::DeviceShape{10, 1 << 30}));
  }
  std::int64_t turn = 0;
  for (auto _ : state) {
    const Device& next = fresh           ? *news[static_cast<std::size_t>(turn % kNews)]
                         : turn % 2 == 0 ? a
                                         : b;
    ++turn;
    table->Update(7, next.view());
    set.Match(7, verdicts);
    benchmark::DoNotOptimize(verdicts.data());
  }
  state.counters["evaluations"] = benchmark::Counter(static_cast<double>(set.evaluations()),
                                                     benchmark::Counter::kAvgIterations);
}

// One device changes to and fro: to match it with 1,000 selectors again.
void BM_OneChangedDevice1000Selectors(benchmark::State& state) {
  RunCrowd(state, /*mixed=*/false, /*fresh=*/false);
}
BENCHMARK(BM_OneChangedDevice1000Selectors);

void BM_OneChangedDevice1000MixedSelectors(benchmark::State& state) {
  RunCrowd(state, /*mixed=*/true, /*fresh=*/false);
}
BENCHMARK(BM_OneChangedDevice1000MixedSelectors);

// Every change brings a model and texts that no device had before.
void BM_OneDeviceOfNewValues1000MixedSelectors(benchmark::State& state) {
  RunCrowd(state, /*mixed=*/true, /*fresh=*/true);
}
BENCHMARK(BM_OneDeviceOfNewValues1000MixedSelectors)->Iterations(20'000);

// The same with a matcher of its own for each selector.
void BM_OneChangedDevice1000Matchers(benchmark::State& state) {
  std::vector<cel::Matcher> matchers;
  for (int i = 0; i < kCrowd; ++i) {
    matchers.emplace_back(Fleet(), Compile(CrowdSelector(i, /*mixed=*/false)));
    static_cast<void>(matchers.back().Match(0));
  }
  const Device a(1);
  const Device b(3 * 8);
  std::int64_t turn = 0;
  for (auto _ : state) {
    Fleet().Update(7, (turn++ % 2 == 0 ? a : b).view());
    int yes = 0;
    for (cel::Matcher& matcher : matchers) {
      yes += matcher.Match(7) == cel::Verdict::kTrue ? 1 : 0;
    }
    benchmark::DoNotOptimize(yes);
  }
}
BENCHMARK(BM_OneChangedDevice1000Matchers);

// Processor time of this process so far. Unit: microseconds.
double CpuMicros() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto micros = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
  };
  return micros(usage.ru_utime) + micros(usage.ru_stime);
}

// The least of several measurements of `fn`, each repeated until it takes long enough to be told.
template <typename Fn>
double LeastMicros(int rounds, Fn&& fn) {
  constexpr double kLongEnough = 20'000;
  double least = 0;
  for (int round = 0; round < rounds; ++round) {
    int times = 0;
    const double start = CpuMicros();
    double spent = 0;
    while (spent < kLongEnough) {
      fn();
      ++times;
      spent = CpuMicros() - start;
    }
    const double one = spent / times;
    least = round == 0 ? one : std::min(least, one);
  }
  return least;
}

struct GrowthCase {
  std::string_view name;
  std::string_view expression;
};
// Two terms of a column each, one term over two columns, and one for the exact interpreter.
constexpr GrowthCase kGrowth[] = {
    {"terms",
     R"(device.attributes["gpu.example.com"].model == "H100" && device.attributes["gpu.example.com"].index >= 3)"},
    {"combination",
     R"((device.attributes["gpu.example.com"].index >= 3 ? device.attributes["gpu.example.com"].model : "") == "H100")"},
    {"exact",
     R"([device.attributes["gpu.example.com"].model].map(m, m)[0] == "H100" && device.attributes["gpu.example.com"].index >= 3)"},
};

// One line of CSV. Devices have eight indexes and an odd number of models, so that all pairs occur.
void PrintGrowth(const GrowthCase& what, std::int64_t devices, std::int64_t signatures) {
  constexpr std::int64_t kIndexes = 8;
  const std::int64_t models = (signatures / kIndexes) | 1;
  const std::unique_ptr<cel::DeviceTable> table = MakeFleet(devices, {6, models});
  const auto program = Compile(what.expression);
  std::vector<cel::Verdict> verdicts(static_cast<std::size_t>(devices));
  // Only the first evaluation after loading pays for combinations of columns and for values.
  const double start = CpuMicros();
  cel::Matcher matcher(*table, program);
  matcher.MatchAll(verdicts);
  const double first = CpuMicros() - start;
  constexpr int kRounds = 3;
  const std::uint64_t evaluations = matcher.evaluations();
  const double warm = LeastMicros(kRounds, [&] { matcher.MatchAll(verdicts); });
  const Device a(1, {6, models});
  const Device b(kIndexes, {6, models});
  std::int64_t turn = 0;
  constexpr int kTimes = 64;
  const double changes = LeastMicros(kRounds, [&] {
    for (int i = 0; i < kTimes; ++i) {
      table->Update(0, (turn++ % 2 == 0 ? a : b).view());
      benchmark::DoNotOptimize(matcher.Match(0));
    }
  });
  fmt::print("{},{},{},{:.0f},{:.1f},{:.2f},{:.3f},{}\n",
             what.name,
             devices,
             std::min(devices, models * kIndexes),
             first,
             warm,
             warm * 1000 / static_cast<double>(devices),
             changes / kTimes,
             evaluations);
}

int Growth() {
  fmt::print(
      "selector,devices,signatures,first_us,warm_us,warm_ns_per_device,changed_device_us,"
      "evaluations\n");
  for (const GrowthCase& what : kGrowth) {
    for (const std::int64_t devices : {1'000, 10'000, 100'000, 1'000'000}) {
      PrintGrowth(what, devices, 100);
    }
    for (const std::int64_t signatures : {8, 100, 1'000, 10'000, 100'000}) {
      PrintGrowth(what, kFleet, signatures);
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "growth") {
    return Growth();
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
