// The fast tiers against the exact interpreter, on expressions made at random.
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cel/cel.h"
#include "cel/columns.h"
#include "cel/program.h"
#include "cel/testing_devices.h"

namespace allot::cel {
namespace {

class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  std::size_t Below(std::size_t end) { return engine_() % end; }
  template <std::size_t N>
  std::string Pick(const std::string_view (&from)[N]) {
    return std::string(from[Below(N)]);
  }

 private:
  std::mt19937 engine_;
};

std::string Attribute(Random& random) {
  static constexpr std::string_view kNames[] = {
      "n", "off", "ready", "model", "s", "v", "ids", "names", "flags", "vers", "missing", "long"};
  static constexpr std::string_view kDomains[] = {
      "gpu.example.com", "gpu.example.com", "gpu.example.com", "other.example.com"};
  return fmt::format("device.attributes[\"{}\"].{}", random.Pick(kDomains), random.Pick(kNames));
}

std::string Capacity(Random& random) {
  static constexpr std::string_view kNames[] = {"memory", "cores", "frac", "huge", "missing"};
  return fmt::format("device.capacity[\"gpu.example.com\"].{}", random.Pick(kNames));
}

std::string Value(Random& random) {
  static constexpr std::string_view kValues[] = {"dyn(5)",
                                                 "dyn(\"H100\")",
                                                 "dyn(true)",
                                                 "dyn(\"1.2.3\")",
                                                 "dyn([1, 2])",
                                                 "dyn(semver(\"1.2.3\"))",
                                                 "dyn(quantity(\"40Gi\"))"};
  return random.Below(4) == 0 ? random.Pick(kValues) : Attribute(random);
}

std::string Condition(Random& random, int depth);

std::string Chosen(Random& random, int depth) {
  return fmt::format("({} ? {} : {})", Condition(random, depth - 1), Value(random), Value(random));
}

// A test of one or two values.
std::string Atom(Random& random) {
  static constexpr std::string_view kOrders[] = {"==", "!=", "<", ">=", "=="};
  static constexpr std::string_view kLiterals[] = {
      "5", "\"H100\"", "true", "1.5", "\"\"", "[1, 2]"};
  static constexpr std::string_view kTexts[] = {"startsWith(\"H\")",
                                                "endsWith(\"00\")",
                                                "contains(\"1\")",
                                                "matches(\"^[A-Z][0-9]+$\")",
                                                "lowerAscii() == \"h100\"",
                                                "size() > 3",
                                                "split(\"0\").size() == 3",
                                                "substring(1) == \"100\"",
                                                "indexOf(\"0\") == 2"};
  static constexpr std::string_view kVersions[] = {"isGreaterThan(semver(\"1.0.0\"))",
                                                   "isLessThan(semver(\"2.0.0-rc.1\"))",
                                                   "compareTo(semver(\"1.2.3\")) == 0",
                                                   "major() == 1",
                                                   "compareTo(quantity(\"1\")) == 0"};
  static constexpr std::string_view kQuantities[] = {
      "isGreaterThan(quantity(\"1Gi\"))",
      "compareTo(quantity(\"40Gi\")) >= 0",
      "isLessThan(quantity(\"2\"))",
      "isInteger()",
      "asInteger() > 100",
      "add(quantity(\"1\")).isGreaterThan(quantity(\"2\"))",
      "compareTo(quantity(\"0.1\")) == 1"};
  static constexpr std::string_view kLists[] = {"includes(\"ib0\")",
                                                "includes(3)",
                                                "exists(x, x == 3)",
                                                "all(x, x != \"ib1\")",
                                                "exists_one(x, x == \"ib0\")",
                                                "exists(x, x.startsWith(\"e\"))",
                                                "all(x, x > 0)",
                                                "exists(i, x, i == 1 && x == 1)",
                                                "all(x, x.major() >= 1)",
                                                "exists(x, [\"ib0\", \"ib1\"].exists(y, y == x))",
                                                "sum() > 3",
                                                "isSorted()",
                                                "exists_one(i, x, x == true)"};
  switch (random.Below(16)) {
    case 0: return fmt::format("{}.{}", Attribute(random), random.Pick(kTexts));
    case 1: return fmt::format("{}.{}", Attribute(random), random.Pick(kVersions));
    case 2: return fmt::format("{}.{}", Capacity(random), random.Pick(kQuantities));
    case 3: return fmt::format("{}.{}", Attribute(random), random.Pick(kLists));
    case 4: return fmt::format("has({})", Attribute(random));
    case 5: return fmt::format("has({})", Capacity(random));
    case 6: return Attribute(random);
    case 7: return fmt::format("{} {} {}", Value(random), random.Pick(kOrders), Value(random));
    case 8: return fmt::format("{} in [\"H100\", \"A100\"]", Attribute(random));
    case 9: return fmt::format("\"ib0\" in {}", Attribute(random));
    case 10: return "\"model\" in device.attributes[\"gpu.example.com\"]";
    case 11: return "\"other.example.com\" in device.attributes";
    case 12: {
      std::string path = Attribute(random);
      path.insert(path.rfind('.') + 1, "?");
      return fmt::format("{}.orValue({}) == {}", path, "dyn(5)", random.Pick(kLiterals));
    }
    case 13: return fmt::format("{}[0] == {}", Attribute(random), random.Pick(kLiterals));
    case 14: return "device.allowMultipleAllocations";
    default:
      return fmt::format(
          "{} {} {}", Attribute(random), random.Pick(kOrders), random.Pick(kLiterals));
  }
}

std::string Condition(Random& random, int depth) {
  if (depth <= 0) {
    return Atom(random);
  }
  const auto part = [&] {
    return Condition(random, depth - 1);
  };
  switch (random.Below(9)) {
    case 0: return fmt::format("({} && {})", part(), part());
    case 1: return fmt::format("({} || {})", part(), part());
    case 2: return fmt::format("!({})", part());
    case 3: return fmt::format("({} ? {} : {})", part(), part(), part());
    case 4: return fmt::format("({} == {})", Chosen(random, depth), Value(random));
    case 5:
      return fmt::format("cel.bind(b, {}, (b == {} || {}))", Value(random), Value(random), part());
    case 6:
      return fmt::format(
          "cel.bind(d, device.attributes[\"gpu.example.com\"], has(d.{}) ? d.{} == {} : {})",
          "model",
          random.Below(2) == 0 ? "model" : "missing",
          Value(random),
          part());
    case 7: return fmt::format("({} && {} && {})", part(), part(), part());
    default: return Atom(random);
  }
}

TEST(TiersTest, AgreeOnRandomExpressions) {
  constexpr int kExpressions = 4000;
  const std::vector<testing::TestDevice> devices = testing::Devices();
  DeviceTable table;
  for (const testing::TestDevice& device : devices) {
    table.Add(device.view());
  }
  Random random(20261201);
  Evaluator evaluator;
  MatcherSet set(table);
  std::vector<std::vector<Verdict>> expected(devices.size());
  int planned = 0;
  int compiled_count = 0;
  for (int i = 0; i < kExpressions; ++i) {
    const std::string expression = Condition(random, static_cast<int>(random.Below(4)));
    const auto program = Compile(expression, {});
    if (!program) {
      continue;
    }
    ++compiled_count;
    planned += (*program)->impl().slots != nullptr ? 1 : 0;
    Matcher matcher(table, *program);
    std::vector<Verdict> all(devices.size());
    matcher.MatchAll(all);
    set.Add(*program);
    for (std::uint32_t d = 0; d < devices.size(); ++d) {
      const Outcome exact = evaluator.Match(**program, devices[d].view());
      expected[d].push_back(exact.verdict);
      ASSERT_EQ(evaluator.Test(**program, devices[d].view()), exact.verdict)
          << expression << " on " << devices[d].name << ": " << exact.error;
      ASSERT_EQ(all[d], exact.verdict) << expression << " on " << devices[d].name;
      ASSERT_EQ(matcher.Match(d), exact.verdict) << expression << " on " << devices[d].name;
      ASSERT_EQ(matcher.EvaluateOnce(d), exact.verdict) << expression << " on " << devices[d].name;
      // The bound holds wherever the slot tier may have decided.
      if ((*program)->impl().slots != nullptr && devices[d].fits && exact.cost) {
        EXPECT_LE(*exact.cost, (*program)->impl().slots->cost_bound()) << expression;
      }
    }
  }
  EXPECT_GE(compiled_count, kExpressions * 3 / 4);
  EXPECT_GE(planned, compiled_count * 9 / 10) << "of " << compiled_count;
  for (std::uint32_t d = 0; d < devices.size(); ++d) {
    std::vector<Verdict> got(set.size());
    set.Match(d, got);
    EXPECT_EQ(got, expected[d]) << devices[d].name;
  }
}

}  // namespace
}  // namespace allot::cel
