#include "text/documents.h"

#include <string>

#include <gtest/gtest.h>

#include "text/json.h"

namespace allot::text {
namespace {

// The documents as JSON, each with the line it starts on; or the error.
std::string Read(std::string_view text) {
  const auto documents = ParseDocuments(text);
  if (!documents) {
    return std::string(documents.error().message());
  }
  std::string out;
  for (const YamlDocument& document : *documents) {
    out += (out.empty() ? "" : " ") + std::to_string(document.start.line) + ToJson(document.value);
  }
  return out;
}

TEST(Documents, JsonAndYaml) {
  const struct {
    std::string_view text;
    std::string_view want;
  } cases[] = {
      {"", ""},
      {" \n", ""},
      {"a: 1\n---\nb: 2\n", R"(1{"a":1} 3{"b":2})"},
      {R"({"a":1})", R"(1{"a":1})"},
      {R"({"a":1}{"b":"}"})", R"(1{"a":1} 1{"b":"}"})"},
      {"{\"a\":1}\n\n{\"b\":[{}]}\n", R"(1{"a":1} 3{"b":[{}]})"},
      {"{\"a\":1}\n---\n{\"b\":2}\n", R"(1{"a":1} 3{"b":2})"},
      {"{\"a\":1}\n---\nb: 2\n", R"(1{"a":1} 3{"b":2})"},
      {"{\"a\":1}\n# end\n", R"(1{"a":1})"},
      {R"(["a",{"b":"\"]"}])", R"(1["a",{"b":"\"]"}])"},
      {R"({"a":"\ud83d\ude00 \ud800"})", "1{\"a\":\"\xF0\x9F\x98\x80 \xEF\xBF\xBD\"}"},
      {"{\"a\":\n\t1}", R"(1{"a":1})"},
      {"{a: b}", R"(1{"a":"b"})"},
      {"{a: b", "yaml: line 2, column 1: did not find expected ',' or '}'"},
      {"{\"a\":1,\n\"b\":\"\\ud800\" x}",
       "json: line 2: invalid character 'x' after object key:value pair"},
      {"{\"a\":1}\n}", "json: line 2: expected another object"},
      {R"({"a":1)", "json: line 1: unexpected end of JSON input"},
  };
  for (const auto& test : cases) {
    EXPECT_EQ(Read(test.text), test.want) << test.text;
  }
}

}  // namespace
}  // namespace allot::text
