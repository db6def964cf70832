// Regular expressions: answers of cel-go v0.29.2 in the environment of Kubernetes 1.37.2.
#include "cel/answer_table.h"

namespace allot::cel {
namespace {

constexpr AnswerRow kPatterns[] = {
    {R"("abc".matches("^a.c$"))", R"({"t":"bool","v":true})", 2, 2},
    {R"("abc".matches("B"))", R"({"t":"bool","v":false})", 1, 1},
    {R"("ABC".matches("(?i)b"))", R"({"t":"bool","v":true})", 2, 2},
    {R"(matches("abc", "b"))", R"({"t":"bool","v":true})", 1, 1},
    {R"("foo bar".find("o+"))", R"({"t":"string","v":"oo"})", 1, 1},
    {R"("foo".find("x"))", R"({"t":"string","v":""})", 1, 1},
    {R"("a1b22".findAll("[0-9]+"))",
     R"({"t":"list","v":[{"t":"string","v":"1"},{"t":"string","v":"22"}]})",
     2,
     2},
    {R"("aaa".findAll("a", 2))",
     R"({"t":"list","v":[{"t":"string","v":"a"},{"t":"string","v":"a"}]})",
     1,
     1},
    {R"("abc".findAll(""))",
     R"({"t":"list","v":[{"t":"string","v":""},{"t":"string","v":""},{"t":"string","v":""},{"t":"string","v":""}]})",
     0,
     0},
    {R"("aab".findAll("a*"))",
     R"({"t":"list","v":[{"t":"string","v":"aa"},{"t":"string","v":""}]})",
     1,
     1},
    {R"("abc".findAll("b", 0))", R"({"t":"list","v":[]})", 1, 1},
    {"\"ab\".find(\"(?<n>b)\")", R"({"t":"string","v":"b"})", 2, 2},
    {"\"\xC3\xA9\".findAll(\".\")",
     "{\"t\":\"list\",\"v\":[{\"t\":\"string\",\"v\":\"\xC3\xA9\"}]}",
     1,
     1},
    {R"("a\nb".matches("a.b"))", R"({"t":"bool","v":false})", 1, 1},
    {R"("x".find("[z-a]"))",
     "! program instantiation failed: error parsing regexp: invalid character class range: `z-a`"},
    {R"("x".find("("))",
     "! program instantiation failed: error parsing regexp: missing closing ): `(`"},
    {R"("x".find("a**"))",
     "! program instantiation failed: error parsing regexp: invalid nested repetition operator: "
     "`**`"},
    {R"("x".find("\\C"))",
     R"(! program instantiation failed: error parsing regexp: invalid escape sequence: `\C`)"},
    {"\"x\".find(\"(?<!a)\")",
     "! program instantiation failed: error parsing regexp: invalid named capture: `(?<!a)`"},
    {"\"a\".find(\"b(?P<\xC3\xA9>a)\")",
     "! program instantiation failed: error parsing regexp: invalid named capture: "
     "`(?P<\xC3\xA9>`"},
    {"\"a\".find(\"(?<\xC3\xA9>a)\")",
     "! program instantiation failed: error parsing regexp: invalid named capture: `(?<\xC3\xA9>`"},
    {"\"a\".matches(\"[(?P<\xC3\xA9>a)]\")", R"({"t":"bool","v":true})", 3, 3},
    {R"("x".find("a{1001}"))",
     "! program instantiation failed: error parsing regexp: invalid repeat count: `{1001}`"},
    {R"("x".find("a{100000000}"))",
     "! program instantiation failed: error parsing regexp: invalid repeat count: `{100000000}`"},
    {R"("x".find("" + "["))",
     "? Illegal regex: error parsing regexp: missing closing ]: `[`",
     2,
     2},
    {R"("x".matches("" + "["))", "? error parsing regexp: missing closing ]: `[`", 2, 2},
    {R"("K\u212A".findAll("\\B"))", R"({"t":"list","v":[{"t":"string","v":""}]})", 1, 1},
    {R"("x".find("\\p{Nope}"))",
     R"(! program instantiation failed: error parsing regexp: invalid character class range: `\p{Nope}`)"},
};

TEST(CelRegexTest, Patterns) {
  ExpectAnswers(kPatterns);
}

}  // namespace
}  // namespace allot::cel
