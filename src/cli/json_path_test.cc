#include "cli/json_path.h"

#include <gtest/gtest.h>

#include "text/yaml.h"

namespace allot::cli {
namespace {

constexpr const char* kDocument = R"(
kind: List
metadata: {"a.b/c": dotted}
items:
- {metadata: {name: n0, labels: {x: "1"}}, num: 1, conditions: [{type: Ready, status: "True"}, {type: Disk, status: "False"}]}
- {metadata: {name: n1}, num: 2}
- {metadata: {name: n2}, num: 3}
)";

TEST(JsonPathTest, RendersTemplates) {
  const auto root = text::ParseYaml(kDocument);
  ASSERT_TRUE(root);
  const std::pair<const char*, const char*> kCases[] = {
      {"{.kind}", "List"},
      {"{.items[*].metadata.name}", "n0 n1 n2"},
      {"{.items[0].metadata.name}", "n0"},
      {"{.items[-1].metadata.name}", "n2"},
      {"{.items[0:2].metadata.name}", "n0 n1"},
      {"{.items[::2].num}", "1 3"},
      {"{.items[0,2].num}", "1 3"},
      {"{.items[?(@.num>1)].metadata.name}", "n1 n2"},
      {"{.items[?(@.metadata.name==\"n1\")].num}", "2"},
      {"{.items[?(@.metadata.labels)].num}", "1"},
      {"{.items[0].conditions[?(@.type=='Ready')].status}", "True"},
      {"{..name}", "n0 n1 n2"},
      {"{.metadata.a\\.b/c}", "dotted"},
      {"{.metadata['a.b/c']}", "dotted"},
      {"{range .items[*]}{.metadata.name}{\"\\t\"}{.num}{\"\\n\"}{end}", "n0\t1\nn1\t2\nn2\t3\n"},
      {"names: {.items[*].metadata.name}!", "names: n0 n1 n2!"},
      {"{.missing.field}", ""},
      {"{.items[0].metadata.labels}", "{\"x\":\"1\"}"},
      {"{$.kind}", "List"},
  };
  for (const auto& [expression, want] : kCases) {
    const auto path = JsonPath::Parse(expression);
    ASSERT_TRUE(path) << expression << ": " << path.error().message();
    EXPECT_EQ(path->Render(*root), want) << expression;
  }
}

TEST(JsonPathTest, BrokenTemplatesAreErrors) {
  for (const char* const bad :
       {"{.a", "{range .x}", "{end}", "{.a[}", "{.a['b}", "{a}", "{.a[?(@.b==]}", "{.a[1:2:0]}"}) {
    EXPECT_FALSE(JsonPath::Parse(bad)) << bad;
  }
  EXPECT_TRUE(JsonPath::ParseRelaxed("status.phase"));
  EXPECT_TRUE(JsonPath::ParseRelaxed(".status.phase"));
}

}  // namespace
}  // namespace allot::cli
