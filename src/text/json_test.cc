#include "text/json.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "text/json_scanner.h"

namespace allot::text {
namespace {

struct Case {
  const char* name;
  std::string text;
  std::string expected;
};

class JsonReads : public testing::TestWithParam<Case> {};

TEST_P(JsonReads, AsGoDoes) {
  const auto value = ParseJson(GetParam().text);
  ASSERT_TRUE(value.has_value()) << value.error().message();
  EXPECT_EQ(ToJson(*value), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Json,
    JsonReads,
    testing::Values(
        Case{"Blanks", " \t\r\n{ \"a\" : [ 1 , { } , [ ] ] } ", R"({"a":[1,{},[]]})"},
        Case{"Words", "[true,false,null]", "[true,false,null]"},
        Case{"Integers",
             "[0,-0,1,-9223372036854775808,9223372036854775807]",
             "[0,0,1,-9223372036854775808,9223372036854775807]"},
        Case{"IntegerTooLarge", "[9223372036854775808]", "[9223372036854776000]"},
        Case{"HugeInteger", "123456789012345678901234567890", "1.2345678901234568e+29"},
        Case{"Doubles",
             "[0.1,1.5,1e3,1.0,100.25,1e20,1e21,1e-6,1e-7,1E2,5e-324]",
             "[0.1,1.5,1000,1,100.25,100000000000000000000,1e+21,0.000001,1e-7,100,5e-324]"},
        Case{"TooSmall", "1e-400", "0"},
        Case{"LastMemberWins", R"({"a":1,"b":2,"a":3})", R"({"a":3,"b":2})"},
        Case{"Escapes",
             R"("\"\\\/\b\f\n\r\t\u0041\u00e9")",
             "\"\\\"\\\\/\\b\\f\\n\\r\\tA\xC3\xA9\""},
        Case{"Pair", R"("\ud83d\ude00")", "\"\xF0\x9F\x98\x80\""},
        Case{"LoneSurrogate", R"("\ud83dx\udc00")", "\"\xEF\xBF\xBDx\xEF\xBF\xBD\""},
        Case{"Html", R"("<a&b>")", R"("\u003ca\u0026b\u003e")"},
        Case{"Separators", "\"\xE2\x80\xA8\xE2\x80\xA9\"", R"("\u2028\u2029")"},
        Case{"Control", R"("\u0001\u001f")", R"("\u0001\u001f")"},
        Case{"InvalidUtf8", "\"a\xFF\xC3\"", "\"a\xEF\xBF\xBD\xEF\xBF\xBD\""},
        Case{"EncodedSurrogate", "\"\xED\xA0\x80\"", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""}),
    [](const auto& spec) { return spec.param.name; });

class JsonRefuses : public testing::TestWithParam<Case> {};

TEST_P(JsonRefuses, InGosWords) {
  const auto value = ParseJson(GetParam().text);
  ASSERT_FALSE(value.has_value());
  EXPECT_EQ(value.error().message(), GetParam().expected);
  EXPECT_EQ(value.error().code(), 400);
}

INSTANTIATE_TEST_SUITE_P(
    Json,
    JsonRefuses,
    testing::Values(
        Case{"Empty", "", "unexpected end of JSON input"},
        Case{"OpenObject", "{\"a\":", "unexpected end of JSON input"},
        Case{"OpenString", "\"abc", "unexpected end of JSON input"},
        Case{"NoKey", "{a:1}", "invalid character 'a' looking for beginning of object key string"},
        Case{"NoValue", "{\"a\":}", "invalid character '}' looking for beginning of value"},
        Case{"NoColon", "{\"a\" 1}", "invalid character '1' after object key"},
        Case{"NoComma", "{\"a\":1 \"b\":2}", "invalid character '\"' after object key:value pair"},
        Case{"NoCommaInList", "[1 2]", "invalid character '2' after array element"},
        Case{"CommaBeforeEnd", "[1,]", "invalid character ']' looking for beginning of value"},
        Case{"Second", "1 2", "invalid character '2' after top-level value"},
        Case{"BadWord", "trux", "invalid character 'x' in literal true (expecting 'e')"},
        Case{"HalfWord", "tru", "invalid character ' ' in literal true (expecting 'e')"},
        Case{"LeadingZero", "01", "invalid character '1' after top-level value"},
        Case{"Minus", "-x", "invalid character 'x' in numeric literal"},
        Case{"Point", "1.x", "invalid character 'x' after decimal point in numeric literal"},
        Case{"Exponent", "1ex", "invalid character 'x' in exponent of numeric literal"},
        Case{"Escape", "\"\\x\"", "invalid character 'x' in string escape code"},
        Case{"HexEscape",
             "\"\\u12g4\"",
             "invalid character 'g' in \\u hexadecimal character escape"},
        Case{"Control", "\"\x01\"", "invalid character '\\x01' in string literal"},
        Case{"TooLarge",
             "1e400",
             "json: cannot unmarshal number 1e400 into Go value of type float64"},
        Case{"HighByte", "\xFF", "invalid character '\xC3\xBF' looking for beginning of value"}),
    [](const auto& spec) { return spec.param.name; });

TEST(Json, DepthHasALimit) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(ParseJson(nested(10000)).has_value());
  const auto deep = ParseJson(nested(10001));
  ASSERT_FALSE(deep.has_value());
  EXPECT_EQ(deep.error().message(), "invalid character '[' exceeded max depth");
  EXPECT_FALSE(ParseJson(std::string(100000, '[')).has_value());
  std::string objects;
  for (int i = 0; i < 100000; ++i) {
    objects += "{\"a\":";
  }
  EXPECT_FALSE(ParseJson(objects).has_value());
}

TEST(Json, DuplicatesAreReportedWithTheirPaths) {
  std::vector<std::string> duplicates;
  JsonOptions options;
  options.duplicates = &duplicates;
  std::string many = R"({"a":1,"b":[{"c":1,"c":2}],"a":2,"m":{)";
  for (int i = 0; i < 40; ++i) {
    many += "\"k" + std::to_string(i % 39) + "\":1,";
  }
  many.back() = '}';
  ASSERT_TRUE(ParseJson(many + "}", options).has_value());
  EXPECT_EQ(duplicates, (std::vector<std::string>{"b[0].c", "a", "m.k0"}));
}

TEST(Json, IndentsAsKubectl) {
  const auto value = ParseJson(R"({"a":[1,{"b":null}],"c":{},"d":[]})");
  EXPECT_EQ(ToJson(*value, JsonStyle::kIndented),
            "{\n    \"a\": [\n        1,\n        {\n            \"b\": null\n        }\n    ],\n"
            "    \"c\": {},\n    \"d\": []\n}");
}

TEST(Json, EqualityIsByMeaning) {
  EXPECT_EQ(*ParseJson(R"({"a":1,"b":[2]})"), *ParseJson(R"({"b":[2.0],"a":1})"));
  EXPECT_FALSE(*ParseJson(R"({"a":1})") == *ParseJson(R"({"a":1,"b":null})"));
  EXPECT_FALSE(*ParseJson("[1,2]") == *ParseJson("[2,1]"));
}

TEST(Json, CompactsKeepingStrings) {
  std::string out;
  AppendCompactJson(" { \"a b\" : [ 1 , \"x\\\" y\" ] } ", out);
  EXPECT_EQ(out, R"({"a b":[1,"x\" y"]})");
}

TEST(Json, SkipsAnyValueWithoutRecursion) {
  const std::string deep = std::string(200000, '[') + std::string(200000, ']');
  EXPECT_EQ(SkipValue(deep.data(), deep.data() + deep.size(), 200000), deep.data() + deep.size());
  EXPECT_EQ(SkipValue(deep.data(), deep.data() + deep.size(), 199999), nullptr);
}

TEST(Value, ReadsAndWritesMembers) {
  Value value;
  value["spec"]["nodeName"] = Value("n1");
  value["spec"].Set("count", Value(3));
  EXPECT_EQ(value.StringAt({"spec", "nodeName"}), "n1");
  EXPECT_EQ(value.FindPath({"spec", "count"})->AsInt(), 3);
  EXPECT_EQ(value.FindPath({"spec", "absent"}), nullptr);
  Value copy = value;
  EXPECT_TRUE(copy["spec"].Erase("count"));
  EXPECT_FALSE(copy["spec"].Erase("count"));
  EXPECT_EQ(value.FindPath({"spec", "count"})->AsInt(), 3);
  EXPECT_EQ(Value("x").AsInt(7), 7);
}

}  // namespace
}  // namespace allot::text
