// Expressions: compiled in every environment, then evaluated; the fast tiers must give the exact
// interpreter's verdict.
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

#include "cel/cel.h"
#include "cel/columns.h"
#include "quantity/quantity.h"

namespace {

using namespace allot;

const std::vector<cel::DeviceView>& Devices() {
  static constexpr std::int64_t kInts[] = {3, 1, 2};
  static constexpr std::string_view kNames[] = {"ib0", "eth0"};
  static const auto attribute = [](std::string_view name, cel::AttributeKind kind) {
    cel::Attribute out{name, {}};
    out.value.kind = kind;
    return out;
  };
  static const std::vector<cel::Attribute> attributes = [] {
    std::vector<cel::Attribute> out;
    out.push_back(attribute("n", cel::AttributeKind::kInt));
    out.back().value.integer = 5;
    out.push_back(attribute("model", cel::AttributeKind::kString));
    out.back().value.text = "H100";
    out.push_back(attribute("v", cel::AttributeKind::kVersion));
    out.back().value.text = "1.2.3";
    out.push_back(attribute("ids", cel::AttributeKind::kInts));
    out.back().value.integers = kInts;
    out.push_back(attribute("names", cel::AttributeKind::kStrings));
    out.back().value.texts = kNames;
    out.push_back(attribute("ready", cel::AttributeKind::kBool));
    return out;
  }();
  static const std::vector<cel::Capacity> capacities = {
      {"memory", *quantity::ParseQuantity("40Gi"), "40Gi"},
      {"frac", *quantity::ParseQuantity("1500m"), "1500m"}};
  static const std::vector<cel::DeviceView> devices = {
      {"gpu.example.com", attributes, capacities, true}, {"gpu.example.com", {}, {}, false}};
  return devices;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view expression(reinterpret_cast<const char*>(data), size);
  if (size > cel::kMaxExpressionLength) {
    return 0;
  }
  cel::CompileOptions options;
  options.environment = cel::Environment::kNew;
  options.purpose = cel::Purpose::kAnyValue;
  constexpr std::uint64_t kLimit = 20'000;
  options.cost_limit = kLimit;
  static cel::Evaluator evaluator;
  if (const auto any = cel::CompileVerbose(expression, options); any.program != nullptr) {
    for (const cel::DeviceView& device : Devices()) {
      static_cast<void>(evaluator.EvaluateToJson(*any.program, device));
    }
  }
  const auto selector = cel::CompileVerbose(expression, {});
  if (selector.program == nullptr || selector.max_cost.value_or(0) > kLimit) {
    return 0;
  }
  cel::DeviceTable table;
  for (const cel::DeviceView& device : Devices()) {
    table.Add(device);
  }
  cel::Matcher matcher(table, selector.program);
  cel::MatcherSet set(table);
  set.Add(selector.program);
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    const cel::Verdict exact = evaluator.Match(*selector.program, Devices()[i]).verdict;
    cel::Verdict together = cel::Verdict::kError;
    set.Match(i, std::span(&together, 1));
    if (evaluator.Test(*selector.program, Devices()[i]) != exact || matcher.Match(i) != exact ||
        matcher.EvaluateOnce(i) != exact || together != exact) {
      std::abort();
    }
  }
  return 0;
}
