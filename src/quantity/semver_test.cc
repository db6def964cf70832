#include "quantity/semver.h"

#include <string_view>
#include <utility>

#include <gtest/gtest.h>

namespace allot::quantity {
namespace {

TEST(SemverTest, ErrorTexts) {
  constexpr std::pair<std::string_view, std::string_view> kCases[] = {
      {"", "Version string empty"},
      {"1.2", "No Major.Minor.Patch elements found"},
      {"v1.0.0", "Invalid character(s) found in major number \"v1\""},
      {"1.x.0", "Invalid character(s) found in minor number \"x\""},
      {"1.0.0.0", "Invalid character(s) found in patch number \"0.0\""},
      {"01.0.0", "Major number must not contain leading zeroes \"01\""},
      {"1.0.0-", "Prerelease is empty"},
      {"1.0.0-01", "Numeric PreRelease version must not contain leading zeroes \"01\""},
      {"1.0.0-a_b", "Invalid character(s) found in prerelease \"a_b\""},
      {"1.0.0+", "Build meta data is empty"},
      {"1.0.0+a_b", "Invalid character(s) found in build meta data \"a_b\""},
      {".0.0", "strconv.ParseUint: parsing \"\": invalid syntax"},
      {"99999999999999999999.0.0",
       "strconv.ParseUint: parsing \"99999999999999999999\": value out of range"},
  };
  for (const auto& [text, message] : kCases) {
    const auto parsed = ParseSemver(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().message(), message);
  }
}

TEST(SemverTest, Precedence) {
  constexpr std::string_view kAscending[] = {"0.9.0",
                                             "1.0.0-1",
                                             "1.0.0-2",
                                             "1.0.0-10",
                                             "1.0.0-alpha",
                                             "1.0.0-alpha.1",
                                             "1.0.0-rc.1",
                                             "1.0.0",
                                             "1.0.1",
                                             "1.1.0",
                                             "2.0.0"};
  for (std::size_t i = 0; i < std::size(kAscending); ++i) {
    for (std::size_t j = 0; j < std::size(kAscending); ++j) {
      const int want = i < j ? -1 : i > j ? 1 : 0;
      EXPECT_EQ(CompareSemver(*ParseSemver(kAscending[i]), *ParseSemver(kAscending[j])), want)
          << kAscending[i] << " " << kAscending[j];
    }
  }
  EXPECT_EQ(CompareSemver(*ParseSemver("1.0.0+a"), *ParseSemver("1.0.0+b")), 0);
}

TEST(SemverTest, Normalizes) {
  EXPECT_EQ(*NormalizeSemver("v1.02"), "1.2.0");
  EXPECT_EQ(*NormalizeSemver("00.1"), "0.1.0");
  EXPECT_EQ(*NormalizeSemver("1"), "1.0.0");
  EXPECT_EQ(*NormalizeSemver("1.2.03-rc.1"), "1.2.3-rc.1");
  EXPECT_EQ(*NormalizeSemver("vv1"), "0v1.0.0");
  EXPECT_FALSE(NormalizeSemver("1.2-rc"));
}

}  // namespace
}  // namespace allot::quantity
