#include "quantity/quantity.h"

#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "quantity/exact.h"
#include "quantity/saturating.h"

namespace allot::quantity {
namespace {

struct TextCase {
  std::string_view text;
  std::string_view canonical;
};

TEST(QuantityTest, CanonicalText) {
  constexpr TextCase kCases[] = {
      {"0", "0"},
      {"1", "1"},
      {"+5", "5"},
      {"1000", "1k"},
      {"1500m", "1500m"},
      {"1.5", "1500m"},
      {"0.5Gi", "512Mi"},
      {"40Gi", "40Gi"},
      {"1024Mi", "1Gi"},
      {"1023", "1023"},
      {"1.1Ki", "1126400m"},
      {"12e6", "12e6"},
      {"1E3", "1e3"},
      {"5E", "5E"},
      {"1n", "1n"},
      {"0.1n", "1n"},
      {"-0.1n", "-1n"},
      {"Mi", "0"},
      {"Ti", "0"},
      {"0Pi", "0"},
      {".0Ei", "0"},
      {"0.e-20", "0"},
      {"-", "0"},
      {".", "0"},
      {"100Ki", "100Ki"},
      {"1Ei", "1Ei"},
      {"1e-3", "1e-3"},
      {"512", "512"},
      {"-40Gi", "-40Gi"},
      {"1000000000000000000000", "1000E"},
      {"8Ei", "9223372036854775807"},
      {"0.0000000001", "1n"},
  };
  for (const TextCase& c : kCases) {
    const auto parsed = ParseQuantity(c.text);
    ASSERT_TRUE(parsed) << c.text;
    EXPECT_EQ(parsed->ToString(), c.canonical) << c.text;
    const auto exact = ExactQuantity::Parse(c.text);
    ASSERT_TRUE(exact);
    EXPECT_EQ(exact->ToString(), c.canonical) << c.text;
  }
}

TEST(QuantityTest, Errors) {
  constexpr std::string_view kForm =
      "quantities must match the regular expression "
      "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  constexpr std::string_view kSuffix = "unable to parse quantity's suffix";
  constexpr std::string_view kNumber = "unable to parse numeric part of quantity";
  for (const auto& [text, message] :
       std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {"", kForm},
           {"1 ", kForm},
           {"1x", kForm},
           {"1.2.3", kForm},
           {"--1", kSuffix},
           {"1K", kSuffix},
           {"1Mo", kForm},
           {"1Mm", kSuffix},
           {"1e", kSuffix},
           {"1i", kSuffix},
           {"1+5", kSuffix},
           {"1e99999999999999999999", kSuffix},
           // No digits are a zero only where upstream needs no decimal.
           {"Pi", kNumber},
           {"+Ei", kNumber},
           {".Ei", kNumber},
           {"e-20", kNumber},
           {"-.e-20", kNumber}}) {
    const auto parsed = ParseQuantity(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().message(), message) << text;
  }
}

TEST(QuantityTest, EndsWhere128BitsDo) {
  constexpr std::string_view kMost = "170141183460469231731687303715884105727";
  for (const auto& [text, digits, suffix] :
       std::initializer_list<std::tuple<std::string_view, std::string, std::string_view>>{
           {"1e99999", std::string(kMost), "e-9"},
           {"1e2147483647", std::string(kMost), "e-9"},  // and in no time
           {"-1e99999", "-" + std::string(kMost), "e-9"},
           {"1000000000000000000000000000000", std::string(kMost), "n"},
           {"1e-99999", "1", "e-9"},
           {"1e29", "100", "e27"}}) {
    const auto parsed = ParseQuantity(text);
    ASSERT_TRUE(parsed) << text;
    const std::string written = parsed->ToString();
    EXPECT_EQ(written, digits + std::string(suffix)) << text;
    EXPECT_EQ(ParseQuantity(written)->nanos, parsed->nanos) << text;
  }
}

TEST(QuantityTest, RoundsAwayFromZero) {
  EXPECT_EQ(ParseQuantity("1500m")->Value(), 2);
  EXPECT_EQ(ParseQuantity("-1500m")->Value(), -2);
  EXPECT_EQ(ParseQuantity("1")->MilliValue(), 1000);
  EXPECT_EQ(ParseQuantity("1n")->MilliValue(), 1);
  EXPECT_EQ(ParseQuantity("99E")->Value(), std::numeric_limits<std::int64_t>::max());
}

TEST(ExactQuantityTest, FormDecidesIntegers) {
  const auto integer = [](std::string_view text) {
    return ExactQuantity::Parse(text)->AsInt64();
  };
  EXPECT_EQ(integer("40Gi"), 42'949'672'960);
  EXPECT_EQ(integer("1k"), 1000);
  EXPECT_EQ(integer("1000m"), std::nullopt);
  EXPECT_EQ(integer("1.0"), std::nullopt);
  EXPECT_EQ(integer("2.5Gi"), std::nullopt);
  EXPECT_EQ(integer("1Ei"), std::nullopt);
  EXPECT_EQ(integer("9999999999999999999999"), std::nullopt);
}

TEST(ExactQuantityTest, FloatsHaveTheTwoRoundingsOfUpstream) {
  struct Case {
    std::string_view text;
    std::uint64_t bits;
  };
  constexpr Case kCases[] = {
      {"9999999999999999999997500m", 0x4480f0cf064dd592U},
      {"-9999999999999999999997500m", 0xc480f0cf064dd592U},
      {"9999999999999999999999", 0x4480f0cf064dd592U},
      {"12345678901234567890123456789.987654321", 0x45c3f20d99235f65U},
      {"0.0000000000000000000001", 0x3e112e0be826d695U},
      {"1e-400", 0x3e112e0be826d695U},
      {"1e308", 0x7fe1ccf385ebc8a0U},
      {"1e320", 0x7ff0000000000000U},
      {"-1e320", 0xfff0000000000000U},
      {"123456789012345678901e280", 0x7ff0000000000000U},
      {"123456789012345678901e10", 0x462f2a353f47450fU},
      {"1.7Ki", 0x409b333333333334U},
      {"0.3Ei", 0x4393333333333334U},
      {"-0.3Ei", 0xc393333333333334U},
      {"9Ei", 0x43e0000000000000U},
      {"9007199254740993Ki", 0x43e0000000000000U},
      {"99999999999999999999k", 0x44b52d02c7e14af7U},
      {"99999999999999999999u", 0x42d6bcc41e900000U},
      {"9999999999999999999n", 0x4202a05f20000000U},
      {"3m", 0x3f689374bc6a7efaU},
      {"1e15000", 0x7ff0000000000000U},
      {"1.5e-2147483648", 0x7ff0000000000000U},
      {"1234567890123456789", 0x43b12210f47de982U},
      {"123456789012345678", 0x437b69b4ba630f35U},
      {"0.1", 0x3fb999999999999aU},
      {"0.1234567891", 0x3fbf9add3b84e65aU},
      {"0e-30", 0x0000000000000000U},
      {"637829327e39", 0x49dbee5065ac5d74U},
      {"-209.0e100", 0xd52ddc4cb75ce733U},
  };
  for (const Case& c : kCases) {
    const double value = ExactQuantity::Parse(c.text)->AsApproximateDouble();
    EXPECT_EQ(std::bit_cast<std::uint64_t>(value), c.bits) << c.text << ": " << value;
  }
}

TEST(ExactQuantityTest, ComparesAnyLength) {
  const auto compare = [](std::string_view a, std::string_view b) {
    return ExactQuantity::Compare(*ExactQuantity::Parse(a), *ExactQuantity::Parse(b));
  };
  EXPECT_EQ(compare("1", "1000m"), 0);
  EXPECT_EQ(compare("1e50", "1e51"), -1);
  EXPECT_EQ(compare("1e2000000000", "1e1999999999"), 1);
  EXPECT_EQ(compare("-1e40", "1n"), -1);
  EXPECT_EQ(compare("10000000000000000000000000000000001", "1e34"), 1);
  EXPECT_EQ(compare("1e-100", "1n"), 0);
}

TEST(ExactQuantityTest, Arithmetic) {
  const auto parse = [](std::string_view text) {
    return *ExactQuantity::Parse(text);
  };
  EXPECT_EQ(ExactQuantity::Add(parse("50k"), parse("20")).ToString(), "50020");
  EXPECT_EQ(ExactQuantity::Subtract(parse("1Gi"), parse("1Mi")).ToString(), "1023Mi");
  EXPECT_EQ(ExactQuantity::Subtract(parse("9E"), parse("99999999999999999999")).ToString(),
            "-90999999999999999999");
  EXPECT_EQ(parse("1.5").AsApproximateDouble(), 1.5);
}

// Of any length, with the suffix of their form.
TEST(ExactQuantityTest, SumsPrintInFull) {
  struct Case {
    std::string_view left;
    std::string_view right;
    std::string_view sum;
  };
  constexpr Case kCases[] = {
      {"1.5", "1e28", "10000000000000000000000000001500m"},
      {"1", "1e29", "100000000000000000000000000001"},
      {"0.000000001", "1e29", "100000000000000000000000000000000000001n"},
      {"1k", "1e29", "100000000000000000000000001k"},
      {"1E", "1e40", "10000000000000000000001E"},
      {"1e29", "1e1", "100000000000000000000000000010"},
      {"1e29", "1.5", "100000000000000000000000000001500e-3"},
      {"1Ki", "1e20", "97656250000000001Ki"},
      {"40Gi", "1e20", "95367431681585Mi"},
      {"1Ki", "1e40", "9765625000000000000000000000000000001Ki"},
      {"1Ki", "-1e40", "-9765624999999999999999999999999999999Ki"},
      {"8Ei", "9223372036854775809", "16Ei"},
      {"1Ki", "18446744073709551615", "18446744073709552639"},
      {"1Ki", "100000000000000000000001m", "100000000000000001024001m"},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(ExactQuantity::Add(*ExactQuantity::Parse(c.left), *ExactQuantity::Parse(c.right))
                  .ToString(),
              c.sum)
        << c.left << " + " << c.right;
  }
}

TEST(SaturatingTest, EndsWhere128BitsDo) {
  constexpr Int128 kMax = kMaxInt128;
  constexpr Int128 kMin = kMinInt128;
  struct Case {
    Int128 left, right;
    Int128 sum, rest, product;
  };
  constexpr Case kCases[] = {
      {7, -2, 5, 9, -14},
      {kMax, 0, kMax, kMax, 0},
      {kMax, 1, kMax, kMax - 1, kMax},
      {kMax, kMax, kMax, 0, kMax},
      {kMax, -kMax, 0, kMax, kMin},
      {kMin, 1, kMin + 1, kMin, kMin},
      {kMin, -1, kMin, kMin + 1, kMax},
      {-kMax, kMax, 0, kMin, kMin},
      {0, kMin, kMin, kMax, 0},
  };
  for (std::size_t i = 0; i < std::size(kCases); ++i) {
    const Case& c = kCases[i];
    EXPECT_TRUE(SaturatingAdd(c.left, c.right) == c.sum) << i;
    EXPECT_TRUE(SaturatingSubtract(c.left, c.right) == c.rest) << i;
    EXPECT_TRUE(SaturatingMultiply(c.left, c.right) == c.product) << i;
  }
  Quantity sum = *ParseQuantity("1Gi");
  AddTo(sum, *ParseQuantity("1e30"));
  EXPECT_EQ(sum, *ParseQuantity("1e30"));
  EXPECT_EQ(sum.format, Format::kBinarySi);
}

}  // namespace
}  // namespace allot::quantity
