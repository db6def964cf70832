// Hostile input: nothing crashes, and nothing takes longer than its cost allows (tests end after a
// minute).
#include <string>
#include <utility>

#include "cel/answer_table.h"

namespace allot::cel {
namespace {

std::string Repeat(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) {
    out += text;
  }
  return out;
}

// Compiles and evaluates. The error of either, or the value.
std::string Answer(std::string_view expression) {
  const AnswerDevice device;
  CompileOptions options;
  options.purpose = Purpose::kAnyValue;
  const Compilation compiled = CompileVerbose(expression, options);
  if (compiled.program == nullptr) {
    return compiled.error;
  }
  const auto answer = Evaluator().EvaluateToJson(*compiled.program, device.view());
  return answer.error.empty() ? answer.json : answer.error;
}

TEST(CelLimitsTest, NestingEndsInAnError) {
  constexpr std::size_t kDeep = 2500;
  constexpr std::pair<std::string_view, std::string_view> kBrackets[] = {
      {"(", ")"},
      {"[", "]"},
      {"{1: ", "}"},
      {"!(", ")"},
      {"-(", ")"},
      {"[1].map(x, ", ")"},
      {"f(", ")"},
      {"true ? 1 : ", ""},
      {"1 + (", ")"},
      {"a[", "]"},
      {"optional.of(", ")"},
      {"google.protobuf.Value{list_value: [", "]}"}};
  for (const auto& [open, close] : kBrackets) {
    const std::string text = Repeat(open, kDeep) + "1" + Repeat(close, kDeep);
    EXPECT_TRUE(Answer(text).contains("recursion")) << open;
    EXPECT_FALSE(Answer(Repeat(open, kDeep)).empty()) << open;
    EXPECT_FALSE(Answer("1" + Repeat(close, kDeep)).empty()) << close;
  }
  // Chains count as nesting, too.
  for (const std::string_view link : {" + 1", ".a", "[0]", ".size()", " < 1", " * 1"}) {
    EXPECT_FALSE(Answer("1" + Repeat(link, 240)).contains("recursion")) << link;
    EXPECT_TRUE(Answer("1" + Repeat(link, 300)).contains("recursion")) << link;
  }
  EXPECT_EQ(Answer("true" + Repeat(" && true", 1000)), R"({"t":"bool","v":true})");
}

TEST(CelLimitsTest, TenKibibytesOfAnyTokenAreRead) {
  constexpr std::string_view kTokens[] = {"a",
                                          "1",
                                          "\"",
                                          "'",
                                          "`",
                                          "(",
                                          ")",
                                          "[",
                                          "]",
                                          "{",
                                          "}",
                                          ".",
                                          ",",
                                          "?",
                                          ":",
                                          "!",
                                          "-",
                                          "+",
                                          "*",
                                          "/",
                                          "%",
                                          "<",
                                          ">",
                                          "=",
                                          "&",
                                          "|",
                                          "==",
                                          "&&",
                                          "||",
                                          "in ",
                                          "true ",
                                          "has(",
                                          "\\",
                                          "#",
                                          "@",
                                          "\n",
                                          "\t",
                                          "\r",
                                          "r\"",
                                          "b'",
                                          "'''",
                                          "0x",
                                          "1e",
                                          "1u",
                                          "//",
                                          "\xC3\xA9",
                                          "\xFF",
                                          "\xE2\x82",
                                          "a.",
                                          ".?",
                                          "[?",
                                          "{?",
                                          "1:",
                                          "while ",
                                          "x.y{",
                                          ".all(x,",
                                          "has()",
                                          "1.all(x.y,",
                                          "\"%d\".format([",
                                          "99999999999999999999 ",
                                          "\xF0\x9F\x98\x80"};
  for (const std::string_view token : kTokens) {
    const std::string text = Repeat(token, kMaxExpressionLength / token.size());
    EXPECT_FALSE(Answer(text).empty()) << token;
    EXPECT_FALSE(Answer("[1" + text + "]").empty()) << token;
  }
  EXPECT_FALSE(Answer(std::string(kMaxExpressionLength, '\0')).empty());
}

TEST(CelLimitsTest, InvalidUtf8IsAnErrorOfTheText) {
  for (const std::string_view text : {"\"\xFF\"",
                                      "'\xC0\x80'",
                                      "\"\xED\xA0\x80\" == \"\"",
                                      "\xFE",
                                      "a.`\xFF`",
                                      "// \xFF\n1",
                                      "b'\xFF'.size()"}) {
    EXPECT_FALSE(Answer(text).empty()) << text;
  }
}

TEST(CelLimitsTest, LoopsEndAtTheCostLimit) {
  constexpr std::string_view kTen = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].all(x, ";
  const std::string nested = Repeat(kTen, 7) + "true" + Repeat(")", 7);
  const std::string_view kLoops[] = {
      "lists.range(1000000).map(x, x)",
      "lists.range(1000).map(x, lists.range(1000).map(y, lists.range(1000))).size()",
      "lists.range(1000).distinct()",
      "lists.range(2000).sortBy(x, -x)",
      "lists.range(400000).transformMap(i, v, v).size()",
      nested};
  for (const std::string_view text : kLoops) {
    EXPECT_EQ(Answer(text), "operation cancelled: actual cost limit exceeded") << text;
  }
}

TEST(CelLimitsTest, MemoryOfAnEvaluationIsBounded) {
  std::string text = "dyn(\"0123456789abcdef\")";
  for (int i = 0; i < 30; ++i) {
    text = "cel.bind(x, " + text + ", x + x)";
  }
  EXPECT_TRUE(Answer(text).contains("evaluation needs too much memory")) << Answer(text);
}

TEST(CelLimitsTest, PatternsTooLargeAreRefused) {
  EXPECT_EQ(Answer(R"("a".find("\\pL{1000}"))"),
            "program instantiation failed: error parsing regexp: expression too large: "
            "`\\pL{1000}`");
  // Many of the largest ones that are allowed, in the text and at run time.
  std::string many = "[\"\"";
  for (int i = 0; i < 90; ++i) {
    many += R"(, "a".find("\\pL{2)" + std::to_string(i + 10) + R"(}"))";
  }
  EXPECT_TRUE(Answer(many + "]").contains("expression too large"));
  EXPECT_TRUE(Answer(R"(lists.range(500).map(x, "a".find("\\pL{2" + string(x % 90 + 10) + "}")))")
                  .contains("expression too large"));
  for (const std::string_view pattern :
       {"(", "(?:", "(a|", "((a*)*", "[", "a{1000}", "(a?){100}"}) {
    EXPECT_FALSE(Answer("\"aaaa\".find('" + Repeat(pattern, 900) + "')").empty()) << pattern;
  }
  EXPECT_FALSE(Answer("'" + std::string(3000, 'x') + "'.matches('(x+x+)+y')").empty());
}

}  // namespace
}  // namespace allot::cel
