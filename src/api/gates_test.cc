#include "api/gates.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace allot::api {
namespace {

TEST(GatesTest, StockDefaults) {
  const GateSet gates;
  EXPECT_TRUE(gates.Enabled(Gate::kDynamicResourceAllocation));
  EXPECT_TRUE(gates.Enabled(Gate::kDRAConsumableCapacity));
  EXPECT_FALSE(gates.Enabled(Gate::kGenericWorkload));
  EXPECT_FALSE(gates.Enabled(Gate::kDRAListTypeAttributes));
  EXPECT_FALSE(gates.Enabled(Gate::kDRAFractionalCapacityRange));
  EXPECT_FALSE(gates.Enabled("NoSuchGate"));
  EXPECT_EQ(Gates()[static_cast<std::size_t>(Gate::kDRAAdminAccess)].name, "DRAAdminAccess");
}

TEST(GatesTest, SpecialGatesYieldToNamedOnes) {
  GateSet gates;
  ASSERT_TRUE(gates.Parse("DRAListTypeAttributes=false,AllBeta=true,AllAlpha=true"));
  EXPECT_FALSE(gates.Enabled(Gate::kDRAListTypeAttributes));
  EXPECT_TRUE(gates.Enabled(Gate::kDRADerivedAttributes));
  EXPECT_TRUE(gates.Enabled(Gate::kGenericWorkload));
  EXPECT_TRUE(gates.Enabled(Gate::kDRAWorkloadResourceClaims));
}

struct ErrorCase {
  std::string_view name;
  std::string_view text;
  std::string_view message;
};

class GateErrorsTest : public testing::TestWithParam<ErrorCase> {};

TEST_P(GateErrorsTest, SaysWhatUpstreamSays) {
  GateSet gates;
  const auto result = gates.Parse(GetParam().text);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message(), GetParam().message);
  EXPECT_FALSE(gates.Enabled(Gate::kDRAListTypeAttributes));
}

INSTANTIATE_TEST_SUITE_P(
    All,
    GateErrorsTest,
    testing::ValuesIn(std::vector<ErrorCase>{
        {"unknown", "Nope=true", "unrecognized feature gate: Nope"},
        {"missing", "DRAListTypeAttributes", "missing bool value for DRAListTypeAttributes"},
        {"bad_value",
         "DRAListTypeAttributes=maybe",
         "invalid value of DRAListTypeAttributes=maybe, err: strconv.ParseBool: parsing \"maybe\": "
         "invalid syntax"},
        {"locked",
         "DRAListTypeAttributes=true,DRAAdminAccess=false",
         "cannot set feature gate DRAAdminAccess to false, feature is locked to true"},
        {"needs",
         "DRAWorkloadResourceClaims=true",
         "DRAWorkloadResourceClaims is enabled, but depends on features that are disabled: "
         "[GenericWorkload]"},
    }),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace allot::api
