// Tables of devices: verdicts per signature, changes, and how little is evaluated for them.
#include "cel/columns.h"

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cel/testing_devices.h"

namespace allot::cel {
namespace {

using testing::TestDevice;

std::shared_ptr<const Program> Compiled(std::string_view expression) {
  auto program = Compile(expression, {});
  EXPECT_TRUE(program) << expression;
  return *program;
}

// One of `models` models, one of eight indexes, and an id of its own.
struct Gpu {
  Gpu(std::int64_t serial, std::int64_t models)
      : model(fmt::format("model-{}", serial % models)), id(fmt::format("id-{}", serial)) {
    attributes = {testing::Text("model", model),
                  testing::Int("index", serial % 8),
                  testing::Text("uuid", id),
                  testing::Version("driverVersion", "570.86.15")};
    capacities = {testing::Amount("memory", "80Gi")};
  }
  [[nodiscard]] DeviceView view() const {
    return {"gpu.example.com", attributes, capacities, false};
  }
  std::string model;
  std::string id;
  std::vector<Attribute> attributes;
  std::vector<Capacity> capacities;
};

constexpr std::string_view kTwoTerms =
    R"(device.attributes["gpu.example.com"].model == "model-1" && device.attributes["gpu.example.com"].index >= 4)";
constexpr std::string_view kTwoSlotsInOneTerm =
    R"((device.attributes["gpu.example.com"].index >= 4 ? device.attributes["gpu.example.com"].model : "-") == "model-1")";
constexpr std::string_view kConditional =
    R"(device.attributes["gpu.example.com"].model == "model-1" ? device.attributes["gpu.example.com"].index >= 4 : false)";
constexpr std::string_view kUnplanned =
    R"(device.attributes["gpu.example.com"].model.split("-").map(x, x)[1] == "1" && device.attributes["gpu.example.com"].index >= 4)";

class ColumnsTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kDevices = 1000;
  ColumnsTest() {
    for (std::uint32_t i = 0; i < kDevices; ++i) {
      table_.Add(Gpu(i, 4).view());
    }
  }
  static bool Expected(std::uint32_t serial) { return serial % 4 == 1 && serial % 8 >= 4; }

  DeviceTable table_;
};

// Values, not devices, decide how often anything is evaluated.
TEST_F(ColumnsTest, EvaluatesPerDistinctValue) {
  const struct {
    std::string_view expression;
    std::uint64_t at_most;
  } cases[] = {
      {kTwoTerms, 5 + 9},       // values of each column, and that of a device that lacks it
      {kTwoSlotsInOneTerm, 8},  // combinations that occur
      {kConditional, 5 + 9 + 1},
      {kUnplanned, 8},
      {R"(device.driver == "gpu.example.com")", 2},
      {"true", 1},
  };
  for (const auto& test : cases) {
    Matcher matcher(table_, Compiled(test.expression));
    std::vector<Verdict> verdicts(kDevices);
    matcher.MatchAll(verdicts);
    EXPECT_LE(matcher.evaluations(), test.at_most) << test.expression;
    const std::uint64_t before = matcher.evaluations();
    matcher.MatchAll(verdicts);
    for (std::uint32_t i = 0; i < kDevices; ++i) {
      EXPECT_EQ(matcher.Match(i), verdicts[i]);
    }
    EXPECT_EQ(matcher.evaluations(), before) << "a second pass evaluates nothing";
  }
}

TEST_F(ColumnsTest, SelectorsShareTheirTerms) {
  Matcher first(table_, Compiled(kTwoTerms));
  std::vector<Verdict> verdicts(kDevices);
  first.MatchAll(verdicts);
  Matcher second(
      table_,
      Compiled(
          R"(device.attributes["gpu.example.com"].index >= 4 || device.attributes["gpu.example.com"].model == "model-1")"));
  second.MatchAll(verdicts);
  EXPECT_EQ(second.evaluations(), 0U);
}

TEST_F(ColumnsTest, AChangedDeviceEvaluatesOnlyNewValues) {
  int round = 0;
  for (const std::string_view expression :
       {kTwoTerms, kTwoSlotsInOneTerm, kConditional, kUnplanned}) {
    Matcher matcher(table_, Compiled(expression));
    std::vector<Verdict> verdicts(kDevices);
    matcher.MatchAll(verdicts);
    const std::uint64_t before = matcher.evaluations();
    table_.Update(0, Gpu(5, 4).view());
    matcher.MatchAll(verdicts);
    EXPECT_EQ(verdicts[0], Verdict::kTrue) << expression;
    EXPECT_EQ(matcher.evaluations(), before) << expression << ": nothing new";
    // A new model: one value more, whatever else the device has.
    Gpu other(5, 4);
    other.model = fmt::format("model-new-{}", ++round);
    other.attributes[0] = testing::Text("model", other.model);
    table_.Update(0, other.view());
    matcher.MatchAll(verdicts);
    EXPECT_EQ(verdicts[0], Verdict::kFalse) << expression;
    EXPECT_EQ(matcher.evaluations(), before + 1) << expression;
    table_.Update(0, Gpu(0, 4).view());
    matcher.MatchAll(verdicts);
    EXPECT_EQ(verdicts[0], Verdict::kFalse) << expression;
    EXPECT_EQ(matcher.evaluations(), before + 1) << expression;
    for (std::uint32_t i = 1; i < kDevices; ++i) {
      EXPECT_EQ(verdicts[i] == Verdict::kTrue, Expected(i)) << expression << " " << i;
    }
  }
}

TEST_F(ColumnsTest, DevicesAreAppended) {
  Matcher matcher(table_, Compiled(kTwoTerms));
  std::vector<Verdict> verdicts(kDevices);
  matcher.MatchAll(verdicts);
  EXPECT_EQ(table_.Add(Gpu(5, 4).view()), kDevices);
  table_.Add({"other.example.com", {}, {}, false});
  EXPECT_EQ(matcher.Match(kDevices), Verdict::kTrue);
  verdicts.resize(table_.size());
  matcher.MatchAll(verdicts);
  EXPECT_EQ(verdicts[kDevices], Verdict::kTrue);
  EXPECT_EQ(verdicts[kDevices + 1], Verdict::kError);
  EXPECT_EQ(matcher.ErrorText(kDevices + 1), "no such key: model");
}

TEST_F(ColumnsTest, ADeviceThatCannotBeBoundFailsEverySelector) {
  Matcher matcher(table_, Compiled("true"));
  std::vector<Verdict> verdicts(kDevices);
  matcher.MatchAll(verdicts);
  const std::vector<Attribute> bad = {testing::Version("v", "1.2")};
  table_.Update(3, {"gpu.example.com", bad, {}, false});
  matcher.MatchAll(verdicts);
  EXPECT_EQ(verdicts[3], Verdict::kError);
  EXPECT_EQ(matcher.Match(3), Verdict::kError);
  EXPECT_EQ(verdicts[4], Verdict::kTrue);
  table_.Update(3, Gpu(3, 4).view());
  matcher.MatchAll(verdicts);
  EXPECT_EQ(verdicts[3], Verdict::kTrue);
}

// More changes than a matcher keeps track of.
TEST_F(ColumnsTest, ManyChangesAreSeenTogether) {
  Matcher matcher(table_, Compiled(kTwoTerms));
  std::vector<Verdict> verdicts(kDevices);
  matcher.MatchAll(verdicts);
  for (int round = 0; round < 20; ++round) {
    for (std::uint32_t i = 0; i < kDevices; ++i) {
      table_.Update(i, Gpu(i + (round % 2 == 0 ? 1 : 0), 4).view());
    }
  }
  table_.Update(0, Gpu(5, 4).view());
  matcher.MatchAll(verdicts);
  EXPECT_EQ(verdicts[0], Verdict::kTrue);
  for (std::uint32_t i = 1; i < kDevices; ++i) {
    EXPECT_EQ(verdicts[i] == Verdict::kTrue, Expected(i)) << i;
  }
}

TEST_F(ColumnsTest, ASetMatchesAChangedDeviceWithLittleWork) {
  constexpr int kSelectors = 200;
  MatcherSet set(table_);
  std::vector<Matcher> alone;
  for (int i = 0; i < kSelectors; ++i) {
    const auto program = Compiled(fmt::format(
        R"(device.attributes["gpu.example.com"].model == "model-1" && device.attributes["gpu.example.com"].index >= {})",
        i % 8));
    set.Add(program);
    alone.emplace_back(table_, program);
  }
  for (
      const std::string_view expression :
      {kTwoSlotsInOneTerm,
       kUnplanned,
       std::string_view(R"(!(device.driver == "x" && true))"),
       std::string_view(
           R"(device.driver == "x" || device.driver == "y" || device.attributes["gpu.example.com"].missing)")}) {
    const auto program = Compiled(expression);
    set.Add(program);
    alone.emplace_back(table_, program);
  }
  std::vector<Verdict> verdicts(set.size());
  const auto check = [&](std::uint32_t device) {
    set.Match(device, verdicts);
    for (std::size_t i = 0; i < alone.size(); ++i) {
      EXPECT_EQ(verdicts[i], alone[i].Match(device)) << i;
    }
  };
  for (std::uint32_t device = 0; device < 16; ++device) {
    check(device);
  }
  const std::uint64_t before = set.evaluations();
  table_.Update(7, Gpu(5, 4).view());
  set.Match(7, verdicts);
  EXPECT_EQ(set.evaluations(), before) << "known values: nothing is evaluated";
  Gpu other(5, 4);
  other.attributes[0] = testing::Text("model", "model-new");
  table_.Update(7, other.view());
  set.Match(7, verdicts);
  EXPECT_LE(set.evaluations(), before + 3) << "one term and two selectors read the model";
  check(7);
  table_.Update(7, testing::Devices().back().view());
  check(7);
  set.Add(Compiled("true"));
  verdicts.resize(set.size());
  set.Match(8, verdicts);
  EXPECT_EQ(verdicts.back(), Verdict::kTrue);
}

}  // namespace
}  // namespace allot::cel
