#include "quantity/time.h"

#include <string_view>
#include <utility>

#include <gtest/gtest.h>

namespace allot::quantity {
namespace {

TEST(TimeTest, ParsesRfc3339) {
  EXPECT_EQ(ParseTime("1970-01-01T00:00:00Z")->seconds, 0);
  EXPECT_EQ(ParseTime("2009-02-13T23:31:30Z")->seconds, 1'234'567'890);
  EXPECT_EQ(ParseTime("2009-02-14T01:31:30.25+02:00")->seconds, 1'234'567'890);
  EXPECT_EQ(ParseTime("2009-02-14T01:31:30.25+02:00")->nanos, 250'000'000);
  EXPECT_EQ(ParseTime("0001-01-01T00:00:00Z")->seconds, -62'135'596'800);
  EXPECT_EQ(ParseTime("9999-12-31T23:59:59Z")->seconds, 253'402'300'799);
}

TEST(TimeTest, ErrorTexts) {
  constexpr std::string_view kAs = " as \"2006-01-02T15:04:05Z07:00\": cannot parse ";
  const std::pair<std::string, std::string> cases[] = {
      {"x", std::string("parsing time \"x\"").append(kAs).append("\"x\" as \"2006\"")},
      {"2020-01-01",
       std::string("parsing time \"2020-01-01\"").append(kAs).append("\"\" as \"T\"")},
      {"2020-13-01T00:00:00Z", "parsing time \"2020-13-01T00:00:00Z\": month out of range"},
      {"2021-02-29T00:00:00Z", "parsing time \"2021-02-29T00:00:00Z\": day out of range"},
      {"2020-01-01T00:00:00",
       std::string("parsing time \"2020-01-01T00:00:00\"")
           .append(kAs)
           .append("\"\" as \"Z07:00\"")},
      {"2020-01-01T00:00:00Zx", "parsing time \"2020-01-01T00:00:00Zx\": extra text: \"x\""},
  };
  for (const auto& [text, message] : cases) {
    const auto parsed = ParseTime(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().message(), message);
  }
}

TEST(TimeTest, Formats) {
  EXPECT_EQ(FormatTime({1'234'567'890, 0, true}), "2009-02-13T23:31:30Z");
  EXPECT_EQ(FormatMicroTime({1'234'567'890, 1'500, true}), "2009-02-13T23:31:30.000001Z");
  EXPECT_EQ(FormatNanoTime({1'234'567'890, 500'000'000, 3600}), "2009-02-14T00:31:30.5+01:00");
  EXPECT_EQ(FormatNanoTime({-1, 1, 0}), "1969-12-31T23:59:59.000000001Z");
}

TEST(DurationTest, ParsesAndFormats) {
  constexpr std::pair<std::string_view, std::string_view> kCases[] = {{"1h2m3.5s", "1h2m3.5s"},
                                                                      {"0", "0s"},
                                                                      {"-1.5h", "-1h30m0s"},
                                                                      {"100ms", "100ms"},
                                                                      {"1us", "1\xC2\xB5s"},
                                                                      {"1ns", "1ns"},
                                                                      {"90m", "1h30m0s"},
                                                                      {"+5s", "5s"},
                                                                      {".5s", "500ms"}};
  for (const auto& [text, formatted] : kCases) {
    const auto parsed = ParseDuration(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(FormatDuration(*parsed), formatted) << text;
  }
  EXPECT_EQ(ParseDuration("1").error().message(), "time: missing unit in duration \"1\"");
  EXPECT_EQ(ParseDuration("").error().message(), "time: invalid duration \"\"");
  EXPECT_EQ(ParseDuration("1x").error().message(), "time: unknown unit \"x\" in duration \"1x\"");
  EXPECT_FALSE(ParseDuration("9999999h"));
}

}  // namespace
}  // namespace allot::quantity
