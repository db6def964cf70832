// The CEL engine: compile, exact evaluation, slot tier, 100,000 devices at once. The oracle's `cel
// -bench` measures the real package on the same selectors and devices.
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "cel/cel.h"
#include "cel/columns.h"
#include "quantity/quantity.h"

namespace {

using namespace allot;

constexpr std::string_view kSelectors[] = {
    R"(device.driver == "gpu.example.com")",
    R"(device.attributes["gpu.example.com"].model == "H100")",
    R"(device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].type == "gpu" && device.attributes["gpu.example.com"].index >= 0)",
    R"(device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0)",
    R"(device.attributes["gpu.example.com"].driverVersion.isGreaterThan(semver("550.0.0")))",
    R"(device.attributes["gpu.example.com"].links.includes("ib3"))",
    R"(device.attributes["gpu.example.com"].model.matches("^[A-Z][0-9]+$"))",
};
constexpr std::int64_t kSelectorCount = std::size(kSelectors);

// A device with ten attributes and two capacities.
struct Device {
  explicit Device(std::int64_t serial) : serial_text(fmt::format("value-{}", serial)) {
    const auto text = [](std::string_view value) {
      cel::AttributeValue out;
      out.kind = cel::AttributeKind::kString;
      out.text = value;
      return out;
    };
    attributes.push_back({"type", text("gpu")});
    attributes.push_back({"model", text(serial % 3 == 0 ? "A100" : "H100")});
    cel::AttributeValue index;
    index.kind = cel::AttributeKind::kInt;
    index.integer = serial % 8;
    attributes.push_back({"index", index});
    cel::AttributeValue version;
    version.kind = cel::AttributeKind::kVersion;
    version.text = "570.86.15";
    attributes.push_back({"driverVersion", version});
    cel::AttributeValue links;
    links.kind = cel::AttributeKind::kStrings;
    links.texts = kLinks;
    attributes.push_back({"links", links});
    for (const std::string_view name : {"extra00", "extra01", "extra02", "extra03", "extra04"}) {
      attributes.push_back({name, text(serial_text)});
    }
    capacities.push_back({"memory", *quantity::ParseQuantity("80Gi"), "80Gi"});
    capacities.push_back({"multiprocessors", *quantity::ParseQuantity("132"), "132"});
  }
  [[nodiscard]] cel::DeviceView view() const {
    return {"gpu.example.com", attributes, capacities, false};
  }

  static constexpr std::string_view kLinks[] = {"ib0", "ib1", "ib2", "ib3"};
  std::string serial_text;
  std::vector<cel::Attribute> attributes;
  std::vector<cel::Capacity> capacities;
};

std::shared_ptr<const cel::Program> Compile(std::string_view expression) {
  auto program = cel::Compile(expression, {});
  if (!program) {
    std::abort();
  }
  return *std::move(program);
}

void BM_Compile(benchmark::State& state) {
  const std::string_view expression = kSelectors[state.range(0)];
  for (auto _ : state) {
    benchmark::DoNotOptimize(cel::Compile(expression, {}));
  }
  state.SetLabel(std::string(expression.substr(0, 60)));
}
BENCHMARK(BM_Compile)->DenseRange(0, kSelectorCount - 1);

void BM_Exact(benchmark::State& state) {
  const auto program = Compile(kSelectors[state.range(0)]);
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
  const auto program = Compile(kSelectors[state.range(0)]);
  const Device device(1);
  const cel::DeviceView view = device.view();
  cel::Evaluator evaluator;
  for (auto _ : state) {
    benchmark::DoNotOptimize(evaluator.Test(*program, view));
  }
}
BENCHMARK(BM_Test)->DenseRange(0, kSelectorCount - 1);

// One evaluation from slots: a fresh matcher evaluates its selector once for the one device of the
// table.
void BM_Slots(benchmark::State& state) {
  const auto program = Compile(kSelectors[state.range(0)]);
  cel::DeviceTable table;
  table.Add(Device(1).view());
  cel::Matcher matcher(table, program);
  for (auto _ : state) {
    benchmark::DoNotOptimize(matcher.EvaluateOnce(0));
  }
}
BENCHMARK(BM_Slots)->DenseRange(0, kSelectorCount - 1);

constexpr std::int64_t kFleet = 100'000;

cel::DeviceTable& Fleet() {
  static cel::DeviceTable* const table = [] {
    auto* const out = new cel::DeviceTable;
    for (std::int64_t i = 0; i < kFleet; ++i) {
      out->Add(Device(i).view());
    }
    return out;
  }();
  return *table;
}

void BM_FleetWarm(benchmark::State& state) {
  cel::Matcher matcher(Fleet(), Compile(kSelectors[state.range(0)]));
  std::vector<cel::Verdict> verdicts(kFleet);
  matcher.MatchAll(verdicts);
  for (auto _ : state) {
    matcher.MatchAll(verdicts);
    benchmark::DoNotOptimize(verdicts.data());
  }
}
BENCHMARK(BM_FleetWarm)->DenseRange(0, kSelectorCount - 1);

void BM_FleetFirst(benchmark::State& state) {
  const auto program = Compile(kSelectors[state.range(0)]);
  std::vector<cel::Verdict> verdicts(kFleet);
  for (auto _ : state) {
    cel::Matcher matcher(Fleet(), program);
    matcher.MatchAll(verdicts);
    benchmark::DoNotOptimize(verdicts.data());
  }
}
BENCHMARK(BM_FleetFirst)->DenseRange(0, kSelectorCount - 1);

void BM_OneChangedDevice1000Selectors(benchmark::State& state) {
  constexpr int kCount = 1000;
  std::vector<cel::Matcher> matchers;
  for (int i = 0; i < kCount; ++i) {
    const std::string expression = fmt::format(
        R"(device.attributes["gpu.example.com"].model == "H100" && device.attributes["gpu.example.com"].index >= {})",
        i);
    matchers.emplace_back(Fleet(), Compile(expression));
    static_cast<void>(matchers.back().Match(0));
  }
  const Device a(1);
  const Device b(3);
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
BENCHMARK(BM_OneChangedDevice1000Selectors);

}  // namespace

BENCHMARK_MAIN();
