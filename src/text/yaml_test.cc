#include "text/yaml.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "text/json.h"
#include "text/table.h"

namespace allot::text {
namespace {

struct Case {
  const char* name;
  std::string text;
  std::string expected;
};

class YamlReads : public testing::TestWithParam<Case> {};

TEST_P(YamlReads, AsKubectlDoes) {
  const auto value = ParseYaml(GetParam().text);
  ASSERT_TRUE(value.has_value()) << value.error().message();
  EXPECT_EQ(ToJson(*value), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Yaml,
    YamlReads,
    testing::Values(
        Case{"Booleans",
             "[y, Yes, on, true, n, No, off, False]",
             "[true,true,true,true,false,false,false,false]"},
        Case{"QuotedStayText",
             R"(["no", 'on', "1", !!str 123, ! 12])",
             R"(["no","on","1","123","12"])"},
        Case{"BooleanKeys", "{no: 1, y: 2, 1: 3, 1.5: 4}", R"({"false":1,"true":2,"1":3,"1.5":4})"},
        Case{"Integers",
             "[017, 0o17, 0x1F, 0b101, 1_000, 08, +5, -0x10, -0b11]",
             "[15,15,31,5,1000,8,5,-16,-3]"},
        Case{"Floats", "[1e3, .5, 1.0, 1.20, -.5, 1., 1_0.5]", "[1000,0.5,1,1.2,-0.5,1,10.5]"},
        Case{"NotNumbers",
             "[12:30:45, 0x, 0b, 1e, 0o8, '', ., _1, 1e400]",
             R"(["12:30:45","0x","0b","1e","0o8","",".","_1","1e400"])"},
        Case{"TimesStayText",
             "[2001-01-01, 2001-01-01T10:00:00Z]",
             R"(["2001-01-01","2001-01-01T10:00:00Z"])"},
        Case{"Nulls", "{a: ~, b: , c: null}", R"({"a":null,"b":null,"c":null})"},
        Case{"Tags",
             "{a: !!int \"42\", b: !!binary aGVsbG8=, c: !!float 3, d: !own x}",
             R"({"a":42,"b":"hello","c":3,"d":"x"})"},
        Case{"Alias", "a: &x {b: 1}\nc: *x\n", R"({"a":{"b":1},"c":{"b":1}})"},
        Case{"Merge",
             "a: &x {b: 1, c: 2}\nd: {<<: *x, e: 3}\nf: {<<: [*x, {c: 9, z: 8}]}\n",
             R"({"a":{"b":1,"c":2},"d":{"b":1,"c":2,"e":3},"f":{"c":2,"z":8,"b":1}})"},
        Case{"Blocks",
             "a: |\n  x\n  y\nb: >\n  x\n  y\nc: |-\n  x\n",
             "{\"a\":\"x\\ny\\n\",\"b\":\"x y\\n\",\"c\":\"x\"}"},
        Case{"Json", R"({"a": 1, "b": [1, {"c": null}]})", R"({"a":1,"b":[1,{"c":null}]})"},
        Case{"FirstDocumentOnly", "a: 1\n---\nb: 2\n", R"({"a":1})"},
        Case{"Empty", "", "null"},
        Case{"Comment", "# nothing\n", "null"}),
    [](const auto& spec) { return spec.param.name; });

class YamlRefuses : public testing::TestWithParam<Case> {};

TEST_P(YamlRefuses, WithLineAndColumn) {
  const auto value = ParseYaml(GetParam().text);
  ASSERT_FALSE(value.has_value());
  EXPECT_EQ(value.error().message(), GetParam().expected);
  EXPECT_EQ(value.error().code(), 400);
}

INSTANTIATE_TEST_SUITE_P(
    Yaml,
    YamlRefuses,
    testing::Values(
        Case{"ColonInText",
             "a: b: c\n",
             "yaml: line 1, column 5: mapping values are not allowed in this context"},
        Case{"Tab",
             "a:\n\tb: 1\n",
             "yaml: line 2, column 1: found character that cannot start any token"},
        Case{"OpenList", "a: [1, 2\n", "yaml: line 2, column 1: did not find expected ',' or ']'"},
        Case{"OpenText", "a: \"x\n", "yaml: line 2, column 1: found unexpected end of stream"},
        Case{"Alias", "a: *x\n", "yaml: line 1, column 4: unknown anchor 'x' referenced"},
        Case{"Cycle", "a: &x [*x]\n", "yaml: line 1, column 8: anchor 'x' value contains itself"},
        Case{"Infinite", "a: .inf\n", "yaml: line 1, column 4: json: unsupported value: +Inf"},
        Case{"WrongTag",
             "a: !!int abc\n",
             "yaml: line 1, column 4: cannot decode !!str `abc` as a !!int"},
        Case{"MergeOfText",
             "<<: x\n",
             "yaml: line 1, column 5: map merge requires map or sequence of maps as the value"},
        Case{"ListAsKey",
             "[a]: 1\n",
             "yaml: line 1, column 1: invalid map key: a map or a sequence"},
        Case{"Duplicates",
             "a: 1\nb: 2\na: 3\nb: 4\n",
             "yaml: unmarshal errors:\n  line 3: key \"a\" already set in map\n"
             "  line 4: key \"b\" already set in map"}),
    [](const auto& spec) { return spec.param.name; });

TEST(Yaml, DuplicatesMayBeAllowed) {
  YamlOptions options;
  options.duplicate_keys = DuplicateKeys::kLastWins;
  EXPECT_EQ(ToJson(*ParseYaml("a: 1\na: 2\n", options)), R"({"a":2})");
  std::vector<std::string> found;
  YamlOptions reporting;
  reporting.duplicates = &found;
  EXPECT_EQ(ToJson(*ParseYaml("a: 1\na: 2\n", reporting)), R"({"a":2})");
  EXPECT_EQ(found, std::vector<std::string>{"line 2: key \"a\" already set in map"});
}

TEST(Yaml, StreamsLeaveOutEmptyDocuments) {
  const auto documents = ParseYamlStream("---\n# none\n---\na: 1\n---\n\n---\nb: 2\n...\n");
  ASSERT_TRUE(documents.has_value()) << documents.error().message();
  ASSERT_EQ(documents->size(), 2U);
  EXPECT_EQ(ToJson((*documents)[1].value), R"({"b":2})");
  EXPECT_EQ((*documents)[1].start.line, 8U);
}

TEST(Yaml, AliasBombsAndDepthEndInErrors) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) {
      bomb += (j == 0 ? "*a" : ", *a") + std::to_string(i - 1);
    }
    bomb += "]\n";
  }
  const auto exploded = ParseYaml(bomb);
  ASSERT_FALSE(exploded.has_value());
  EXPECT_NE(exploded.error().message().find("document contains excessive aliasing"),
            std::string::npos);
  EXPECT_FALSE(ParseYaml(std::string(100000, '[')).has_value());
  std::string blocks;
  for (std::size_t i = 0; i < 3000; ++i) {
    blocks += std::string(i, ' ') + "a:\n";
  }
  EXPECT_FALSE(ParseYaml(blocks).has_value());
}

TEST(Yaml, WritesAsKubectl) {
  const auto value = ParseJson(
      R"({"b":[{"y":1,"x":[]},{}],"a":"plain","k10":1,"k9":"no","t":"2001-01-01","n":null,"f":1.5,)"
      R"("big":1000000.5,"m":"two\nlines\n","s":"12:30:45","o":"on: x","e":"","d":{"k":"0x1f"}})");
  EXPECT_EQ(ToYaml(*value),
            "a: plain\nb:\n- x: []\n  \"y\": 1\n- {}\nbig: 1.0000005e+06\nd:\n  k: \"0x1f\"\n"
            "e: \"\"\nf: 1.5\nk9: \"no\"\nk10: 1\nm: |\n  two\n  lines\n\"n\": null\no: 'on: x'\n"
            "s: \"12:30:45\"\nt: \"2001-01-01\"\n");
}

TEST(Yaml, WhatIsWrittenReadsBack) {
  const auto value = ParseJson(
      R"({"a":["no","1","~",""," x","x ","a: b","#c","- d","\ttab","\u0007","\u2028","\u00e9","<<","=","a\n\nb"]})");
  EXPECT_EQ(ToYaml(*ParseJson(R"({"a":"<<","b":"=","<<":"a<<"})")),
            "\"<<\": a<<\na: \"<<\"\nb: \"=\"\n");
  const auto again = ParseYaml(ToYaml(*value));
  ASSERT_TRUE(again.has_value()) << again.error().message();
  EXPECT_EQ(*again, *value);
}

TEST(TextTable, AlignsColumns) {
  TextTable table({"NAME", "READY", "AGE"});
  table.AddRow({"a-long-name", "1/1", "5s"});
  table.AddRow({"\xC3\xBC", "line\nbreak", ""});
  EXPECT_EQ(table.ToString(),
            "NAME          READY         AGE\na-long-name   1/1           5s\n"
            "\xC3\xBC             line\\nbreak   \n");
}

TEST(TextTable, ColumnsHaveALeastWidth) {
  TextTable table({"A", "B"});
  table.AddRow({"x", "y"});
  EXPECT_EQ(table.ToString(), "A     B\nx     y\n");
}

}  // namespace
}  // namespace allot::text
