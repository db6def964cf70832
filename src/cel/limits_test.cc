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

// The cost of a call is charged before it is made where its time grows with a product.
TEST(CelLimitsTest, NoCallRunsLongerThanItsCostAllows) {
  constexpr std::string_view kCalls[] = {
      "lists.range(200000).distinct()",
      "lists.range(200000).sortBy(x, -x)",
      "sets.contains(lists.range(100000), lists.range(100000))",
      "sets.equivalent(lists.range(100000), lists.range(100000))",
      "sets.intersects(lists.range(100000), lists.range(100000).map(x, x + 100000))"};
  for (const std::string_view text : kCalls) {
    EXPECT_EQ(Answer(text), "operation cancelled: actual cost limit exceeded") << text;
  }
}

// Searches are charged for the length of the text alone.
TEST(CelLimitsTest, SearchesTakeNoLongerForLongPatterns) {
  std::string text = "\"aaaaaaaaaaaaaaaa\"";
  for (int i = 0; i < 15; ++i) {
    text = "cel.bind(x, " + text + ", x + x)";
  }
  const std::string half = "s.substring(0, s.size() / 2)";
  const std::pair<std::string, std::string> kSearches[] = {
      {"s.indexOf(" + half + " + 'b')", R"({"t":"int","v":"-1"})"},
      {"s.indexOf('b' + " + half + ")", R"({"t":"int","v":"-1"})"},
      {"s.lastIndexOf(" + half + " + 'b')", R"({"t":"int","v":"-1"})"},
      {"s.lastIndexOf('b' + " + half + ")", R"({"t":"int","v":"-1"})"},
      {"s.lastIndexOf(" + half + ")", R"({"t":"int","v":"262144"})"},
      {"s.lastIndexOf(" + half + ", 7)", R"({"t":"int","v":"7"})"},
      {"s.split('b' + " + half + ").size()", R"({"t":"int","v":"1"})"},
      {"s.replace('b' + " + half + ", '').size()", R"({"t":"int","v":"524288"})"}};
  for (const auto& [search, answer] : kSearches) {
    EXPECT_EQ(Answer("cel.bind(s, " + text + ", " + search + ")"), answer) << search;
  }
}

TEST(CelLimitsTest, MemoryOfAnEvaluationIsBounded) {
  std::string text = "dyn(\"0123456789abcdef\")";
  for (int i = 0; i < 30; ++i) {
    text = "cel.bind(x, " + text + ", x + x)";
  }
  EXPECT_TRUE(Answer(text).contains("evaluation needs too much memory")) << Answer(text);
}

// Values that share their parts are as large as they look only to who walks over them.
std::string Doubled(std::string_view twice, std::string_view first, std::string_view body) {
  std::string out(body);
  for (int i = 60; i > 0; --i) {
    std::string once(twice);
    for (std::size_t at = 0; (at = once.find('P', at)) != std::string::npos;) {
      once.replace(at, 1, "y" + std::to_string(i - 1));
    }
    out = "cel.bind(y" + std::to_string(i) + ", " + once + ", " + out + ")";
  }
  return "cel.bind(y0, " + std::string(first) + ", " + out + ")";
}

TEST(CelLimitsTest, SharedPartsEndAtALimit) {
  constexpr std::string_view kLimit = "operation cancelled: actual cost limit exceeded";
  constexpr std::string_view kComparing[] = {"y60 == y60",
                                             "y60 in [y60]",
                                             "[y60, y60].distinct().size()",
                                             "[y60].indexOf(y60)",
                                             "sets.equivalent([y60], [y60])",
                                             "optional.of(y60) == optional.of(y60)",
                                             "dyn(y60).sum()",
                                             "dyn([dyn(y60)]).min()",
                                             "dyn(y60).includes(1)"};
  constexpr std::string_view kWriting[] = {
      "y60", "{dyn(y60): 1}", "dyn(y60).flatten(70)", "google.protobuf.ListValue{values: y60}"};
  constexpr std::pair<std::string_view, std::string_view> kValues[] = {
      {"[P, P]", "[1]"}, {"[P, P]", "[]"}, {"{1: P, 2: P}", "{1: 1}"}};
  for (const auto& [twice, first] : kValues) {
    EXPECT_EQ(Answer(Doubled(twice, first, "y60 == y60")), kLimit) << twice;
    EXPECT_LT(Answer(Doubled(twice, first, "'%s'.format([y60])")).size(), 1000U) << twice;
  }
  for (const std::string_view body : kComparing) {
    EXPECT_EQ(Answer(Doubled("[P, P]", "[1]", body)), kLimit) << body;
  }
  for (const std::string_view body : kWriting) {
    EXPECT_LT(Answer(Doubled("[P, P]", "[1]", body)).size(), 1000U) << body;
  }
  // Long lists and texts inside of others cost as little to compare.
  for (const std::string_view text :
       {"cel.bind(l, lists.range(50000), lists.range(50000).all(x, [l] == [l]))",
        "cel.bind(l, lists.range(50000), lists.range(50000).all(x, {1: l} == {1: l}))",
        "lists.range(300000).distinct().size()"}) {
    EXPECT_EQ(Answer(text), kLimit) << text;
  }
}

// Work that costs next to nothing is spent all the same.
TEST(CelLimitsTest, WorkWithoutCostIsSpent) {
  const auto program = Compile(Doubled("[P, P]", "[1]", "y60 == y60"), {});
  ASSERT_TRUE(program) << program.error().message();
  Evaluator evaluator;
  const Outcome outcome = evaluator.Match(**program, {});
  EXPECT_EQ(outcome.verdict, Verdict::kError);
  EXPECT_LT(outcome.cost.value_or(0), 10'000U);
  EXPECT_GT(evaluator.spent(), 2'000'000U);
  const std::uint64_t once = evaluator.spent();
  static_cast<void>(evaluator.Match(**program, {}));
  EXPECT_NEAR(static_cast<double>(evaluator.spent()), 2.0 * static_cast<double>(once), 1.0);
}

TEST(CelLimitsTest, TypesThatShareTheirPartsAreRefused) {
  for (const std::string_view first : {"1", "[]", "{}", "optional.none()"}) {
    for (const std::string_view twice : {"{P: P}", "{P: [P]}", "{[P]: P}"}) {
      EXPECT_TRUE(Answer(Doubled(twice, first, "true"))
                      .contains("a type of more than 10000 parts is too large"))
          << twice << " " << first;
    }
    EXPECT_EQ(Answer(Doubled("[P, P]", first, "true")), R"({"t":"bool","v":true})") << first;
  }
}

TEST(CelLimitsTest, ReadingLongTextsEndsAtALimit) {
  const std::string_view kBodies[] = {"s.size() > 0",
                                      "s in {s: 1}",
                                      "m[s] == 1",
                                      "!isURL(s)",
                                      "[s] == [s]",
                                      "s.indexOf('z') < 0",
                                      "s.charAt(7) == '7'"};
  std::string text = "'0123456789abcdef'";
  for (int i = 0; i < 14; ++i) {
    text = "cel.bind(x, " + text + ", x + x)";
  }
  for (const std::string_view body : kBodies) {
    const std::string answer =
        Answer("cel.bind(s, " + text + ", cel.bind(m, {s: 1}, lists.range(100000).all(i, " +
               std::string(body) + ")))");
    EXPECT_TRUE(answer.starts_with("operation cancelled: ")) << body << ": " << answer;
  }
}

TEST(CelLimitsTest, DigitsOfQuantitiesAreMemory) {
  EXPECT_TRUE(Answer("cel.bind(q, quantity('1e9999').add(1), lists.range(100000).map(x, "
                     "q.add(q)).size())")
                  .contains("evaluation needs too much memory"));
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
