// The slot tier: what it takes, what it leaves to the exact interpreter, and that it allocates
// nothing.
#include "cel/slots.h"

#include <cstdlib>
#include <new>
#include <string_view>

#include <gtest/gtest.h>

#include "cel/cel.h"
#include "cel/columns.h"
#include "cel/program.h"
#include "cel/testing_devices.h"

namespace {
// Allocations of the process; the test that reads it is alone.
std::size_t allocations = 0;
}  // namespace

// NOLINTBEGIN(misc-new-delete-overloads): all forms end in these two.
void* operator new(std::size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size == 0 ? 1 : size); memory != nullptr) {
    return memory;
  }
  std::abort();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}
// NOLINTEND(misc-new-delete-overloads)

namespace allot::cel {
namespace {

struct Case {
  std::string_view expression;
  bool planned = true;
  Verdict on_full = Verdict::kTrue;
};

constexpr std::string_view kDevice = R"(device.attributes["gpu.example.com"])";

// `$` stands for the attributes of the driver's domain.
std::string Expand(std::string_view expression) {
  std::string out;
  for (const char c : expression) {
    c == '$' ? out += kDevice : out += c;
  }
  return out;
}

constexpr Case kCases[] = {
    {R"(device.driver == "gpu.example.com")"},
    {R"(has($.model) ? $.model == "H100" : false)"},
    {R"(has($.missing) ? $.missing == "H100" : false)", true, Verdict::kFalse},
    {R"(has($.missing) ? false : $.n > 3)"},
    {R"($.ready ? has($.model) : has($.missing))"},
    {R"($.n ? true : false)", true, Verdict::kError},
    {R"($.missing ? true : false)", true, Verdict::kError},
    {R"(($.ready ? $.n : $.model) == 5)"},
    {R"(($.ready ? $ : $).model == "H100")"},
    {R"(has(($.off ? $ : $).missing))", true, Verdict::kFalse},
    {R"($.off ? $.missing : true)"},
    {R"($.ready ? ($.off ? 1 : 2) == 2 : false)"},
    {R"($.ids.exists(i, i == 3))"},
    {R"($.ids.all(i, i > 1))", true, Verdict::kFalse},
    {R"($.ids.exists_one(i, i > 2))"},
    {R"($.names.exists(n, n.startsWith("eth") && size(n) == 4))"},
    {R"($.names.all(i, n, i < 3 && n != ""))"},
    {R"($.ids.exists(i, i == "x" || i == 1))", true},
    {R"($.ids.all(i, i.startsWith("x")))", true, Verdict::kError},
    {R"($.ids.exists(i, [1, 9].exists(j, j == i)))"},
    {R"($.n.all(i, true))", true, Verdict::kError},
    {R"(cel.bind(d, $, d.ready && d.n == 5))"},
    {R"(cel.bind(x, $.missing, true))"},
    {R"(cel.bind(x, $.?missing, x.orValue(true)))"},
    {R"($.vers.exists(v, v.isGreaterThan(semver("1.9.0"))))"},
    {R"($.names[0] == "ib0")"},
    {R"($.names[7] == "ib0")", true, Verdict::kError},
    {R"($.model.lowerAscii() == "h100")"},
    {R"(semver($.s + ".0.0", true).major() == 0)", true, Verdict::kError},
    {R"($.?model.hasValue())"},
    {R"($.model in ["A100", "H100"])"},
    {R"($.v in ["A100", "H100"] || true)", true, Verdict::kError},
    // Not for this tier.
    {R"(device.attributes.exists(d, d == "gpu.example.com"))", false},
    {R"($.names.map(n, n + "x").size() == 3)", false},
    {R"(device.attributes[device.driver].n == 5)", false},
    {R"($.ids.sort() == [1, 2, 3])", false},
    {R"(format.dns1123Label().validate($.s).hasValue())", false, Verdict::kFalse},
    // Too dear: four thousand matches of a long pattern.
    {R"($.names.all(a, $.names.all(b, $.names.all(c, a + b != c))))", false},
};

TEST(SlotsTest, TakesWhatItCanDecide) {
  const testing::TestDevice full = testing::Devices()[1];
  Evaluator evaluator;
  for (const Case& test : kCases) {
    const std::string expression = Expand(test.expression);
    const auto program = Compile(expression, {});
    ASSERT_TRUE(program) << expression << ": " << program.error().message();
    EXPECT_EQ((*program)->impl().slots != nullptr, test.planned) << expression;
    EXPECT_EQ(evaluator.Match(**program, full.view()).verdict, test.on_full) << expression;
    EXPECT_EQ(evaluator.Test(**program, full.view()), test.on_full) << expression;
  }
}

// A program whose own limit its bound exceeds has to be counted.
TEST(SlotsTest, ALowCostLimitNeedsCounting) {
  CompileOptions options;
  options.cost_limit = 10;
  const auto program = Compile(Expand(R"($.ids.all(i, i > 0))"), options);
  ASSERT_TRUE(program);
  EXPECT_EQ((*program)->impl().slots, nullptr);
  Evaluator evaluator;
  const testing::TestDevice full = testing::Devices()[1];
  EXPECT_EQ(evaluator.Test(**program, full.view()), Verdict::kError);
  EXPECT_EQ(evaluator.Match(**program, full.view()).error,
            "operation cancelled: actual cost limit exceeded");
}

TEST(SlotsTest, WhatDoesNotFit) {
  const testing::TestDevice outgrown = testing::Devices().back();
  Evaluator evaluator;
  for (const std::string_view text : {R"($.ids.all(i, i == 1))",
                                      R"($.model.startsWith("aaa"))",
                                      R"($.n == 5)",
                                      R"(device.capacity["gpu.example.com"].memory.isInteger())"}) {
    const auto program = Compile(Expand(text), {});
    ASSERT_TRUE(program);
    EXPECT_EQ(evaluator.Test(**program, outgrown.view()),
              evaluator.Match(**program, outgrown.view()).verdict)
        << text;
  }
}

// A scratch that others have used up: the work of a run is its own, and an answer that was broken
// off is none.
TEST(SlotsTest, ARunHasItsOwnWork) {
  for (const std::string_view text : {R"($.n == 5)",
                                      R"($.n in [dyn(1), dyn("a"), dyn(5)])",
                                      R"([$.n, $.n].indexOf(dyn(5)) == 0)",
                                      R"(sets.contains([$.n, $.n], [dyn(5)]))"}) {
    const auto program = Compile(Expand(text), {});
    ASSERT_TRUE(program) << text << ": " << program.error().message();
    const SlotPlan* const plan = (*program)->impl().slots.get();
    ASSERT_NE(plan, nullptr) << text;
    ASSERT_EQ(plan->slots().size(), 1U) << text;
    Context scratch;
    const Value five = Value::Int(5);
    for (int i = 0; i < 3; ++i) {
      static_cast<void>(scratch.Work(Context::kMaxWork));
      EXPECT_EQ(plan->Run(scratch, &five), Truth::kTrue) << text;
    }
    EXPECT_GE(scratch.all_work(), 3 * Context::kMaxWork);
  }
}

TEST(SlotsTest, AllocatesNothing) {
  const testing::TestDevice full = testing::Devices()[1];
  DeviceTable table;
  table.Add(full.view());
  Evaluator evaluator;
  for (const std::string_view text :
       {R"(device.driver == "gpu.example.com")",
        R"($.model == "H100" && $.ready && $.n >= 5)",
        R"(device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0)",
        R"(device.capacity["gpu.example.com"].frac.isGreaterThan(quantity("1")))",
        R"($.v.isGreaterThan(semver("1.0.0")))",
        R"($.names.includes("ib1"))",
        R"($.names.exists(n, n.startsWith("eth")))",
        R"($.model.matches("^[A-Z][0-9]+"))",
        R"(has($.missing) ? $.missing == 1 : $.?n.orValue(0) == 5)",
        R"($.missing == 1)",
        R"($.model in ["A100", "H100"])"}) {
    const auto program = Compile(Expand(text), {});
    ASSERT_TRUE(program) << program.error().message();
    ASSERT_NE((*program)->impl().slots, nullptr) << text;
    Matcher matcher(table, *program);
    static_cast<void>(matcher.EvaluateOnce(0));
    static_cast<void>(evaluator.Test(**program, full.view()));
    const std::size_t before = allocations;
    for (int i = 0; i < 100; ++i) {
      static_cast<void>(matcher.EvaluateOnce(0));
    }
    EXPECT_EQ(allocations - before, 0U) << text << " from a table";
    // Lists of versions apart, a device can be read without memory too.
    const DeviceView view = {
        full.driver, std::span(full.attributes).first(9), full.capacities, true};
    for (int i = 0; i < 100; ++i) {
      static_cast<void>(evaluator.Test(**program, view));
    }
    EXPECT_EQ(allocations - before, 0U) << text << " from a device";
  }
}

}  // namespace
}  // namespace allot::cel
