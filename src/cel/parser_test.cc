// Lexing and parsing: answers of cel-go v0.29.2 in the environment of Kubernetes 1.37.2.
#include "cel/answer_table.h"

namespace allot::cel {
namespace {

constexpr AnswerRow kLiterals[] = {
    {"0x1F", R"({"t":"int","v":"31"})", 0, 0},
    {"-9223372036854775808", R"({"t":"int","v":"-9223372036854775808"})", 0, 0},
    {"18446744073709551615u", R"({"t":"uint","v":"18446744073709551615"})", 0, 0},
    {"0x10u", R"({"t":"uint","v":"16"})", 0, 0},
    {"1e3", R"({"bits":"408f400000000000","t":"double","v":"1000"})", 0, 0},
    {".5", R"({"bits":"3fe0000000000000","t":"double","v":"0.5"})", 0, 0},
    {"-0.0", R"({"bits":"8000000000000000","t":"double","v":"-0"})", 0, 0},
    {R"(r"a\n")", R"({"t":"string","v":"a\\n"})", 0, 0},
    {"'''a\nb'''", R"({"t":"string","v":"a\nb"})", 0, 0},
    {R"("\x41\u00e9\U0001F600\101")",
     "{\"t\":\"string\",\"v\":\"A\xC3\xA9\xF0\x9F\x98\x80"
     "A\"}",
     0,
     0},
    {R"(b"\xff\101")", R"({"t":"bytes","v":"ff41"})", 0, 0},
    {R"("\a\b\f\n\r\t\v\\\'\"\`\?")",
     R"({"t":"string","v":"\u0007\b\f\n\r\t\u000b\\'\"`?"})",
     0,
     0},
    {R"(br"\x")", R"({"t":"bytes","v":"5c78"})", 0, 0},
    {"b'\xC3\xA9'", R"({"t":"bytes","v":"c3a9"})", 0, 0},
    {R"("a" "b")", R"(! 1:5: Syntax error: extraneous input '"b"' expecting <EOF>)"},
    {"9223372036854775808", "! 1:1: invalid int literal"},
    {"1.", "! 1:3: Syntax error: no viable alternative at input '.'"},
    {R"("\q")",
     "! 1:1: Syntax error: token recognition error at: '\"\\q'\n1:4: Syntax error: token "
     "recognition error at: '\"'\n1:5: Syntax error: mismatched input '<EOF>' expecting {'[', '{', "
     "'(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, "
     "IDENTIFIER}"},
    {R"("\ud800")", "! 1:1: invalid unicode code point"},
    {R"(b"\u00e9")", "! 1:1: unable to unescape string"},
    {"1e999", "! 1:1: invalid double literal"},
    {"99999999999999999999u", "! 1:1: invalid uint literal"},
};

TEST(CelParserTest, Literals) {
  ExpectAnswers(kLiterals);
}

constexpr AnswerRow kPrecedence[] = {
    {"1 + 2 * 3", R"({"t":"int","v":"7"})", 2, 2},
    {"(1 + 2) * 3", R"({"t":"int","v":"9"})", 2, 2},
    {"-2 - -3", R"({"t":"int","v":"1"})", 1, 1},
    {"10 - 2 - 3", R"({"t":"int","v":"5"})", 2, 2},
    {"2 * 3 % 4", R"({"t":"int","v":"2"})", 2, 2},
    {"1 < 2 == true", R"({"t":"bool","v":true})", 2, 2},
    {"true || false && false", R"({"t":"bool","v":true})", 0, 0},
    {"!true || true", R"({"t":"bool","v":true})", 1, 1},
    {"--1", R"({"t":"int","v":"1"})", 0, 0},
    {"!!true", R"({"t":"bool","v":true})", 0, 0},
    {"true ? 1 : false ? 2 : 3", R"({"t":"int","v":"1"})", 0, 0},
    {"1 in [1] && true", R"({"t":"bool","v":true})", 11, 0},
    {"-[1][0]", R"({"t":"int","v":"-1"})", 12, 3},
    {R"({"a": 1}.a + 1)", R"({"t":"int","v":"2"})", 32, 3},
    {"[1, 2,][1]", R"({"t":"int","v":"2"})", 11, 2},
    {R"({"a": 1,}.size())", R"({"t":"int","v":"1"})", 31, 1},
};

TEST(CelParserTest, Precedence) {
  ExpectAnswers(kPrecedence);
}

constexpr AnswerRow kNames[] = {
    {".device.driver", R"({"t":"string","v":"d.example.com"})", 2, 2},
    {"device.`driver`", R"({"t":"string","v":"d.example.com"})", 2, 2},
    {R"({"a-b": 1}.`a-b`)", R"({"t":"int","v":"1"})", 31, 2},
    {"`a`",
     "! 1:1: Syntax error: mismatched input '`a`' expecting {'[', '{', '(', '.', '-', '!', 'true', "
     "'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"},
    {"while", "! 1:1: reserved identifier: while"},
    {"a.while", "! 1:1: undeclared reference to 'a' (in container '')"},
    {R"({"while": 1}.while)", R"({"t":"int","v":"1"})", 31, 2},
    {"if(1)", "! 1:1: reserved identifier: if"},
    {R"({"in": 1}.in)",
     "! 1:11: Syntax error: no viable alternative at input '.in'\n1:13: Syntax error: mismatched "
     "input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, "
     "NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"},
    {"x", "! 1:1: undeclared reference to 'x' (in container '')"},
    {"x.y.z", "! 1:1: undeclared reference to 'x' (in container '')"},
    {".x", "! 1:2: undeclared reference to '.x' (in container '')"},
};

TEST(CelParserTest, Names) {
  ExpectAnswers(kNames);
}

constexpr AnswerRow kSyntaxErrors[] = {
    {"",
     "! 1:0: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', "
     "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"},
    {"1 +",
     "! 1:4: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', "
     "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"},
    {"(1", "! 1:3: Syntax error: missing ')' at '<EOF>'"},
    {"[1", "! 1:3: Syntax error: mismatched input '<EOF>' expecting {']', ','}"},
    {R"({"a"})", "! 1:5: Syntax error: mismatched input '}' expecting ':'"},
    {"1 2", "! 1:3: Syntax error: extraneous input '2' expecting <EOF>"},
    {R"("a)",
     "! 1:1: Syntax error: token recognition error at: '\"a'\n1:3: Syntax error: mismatched input "
     "'<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, "
     "NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"},
    {"#",
     "! 1:1: Syntax error: token recognition error at: '#'\n1:2: Syntax error: mismatched input "
     "'<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, "
     "NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"},
    {"a.", "! 1:3: Syntax error: no viable alternative at input '.'"},
    {"a.(", "! 1:3: Syntax error: no viable alternative at input '.('"},
    {"f(,)",
     "! 1:3: Syntax error: extraneous input ',' expecting {'[', '{', '(', ')', '.', '-', '!', "
     "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"},
    {"[1,,2]", "! 1:4: Syntax error: mismatched input ',' expecting ']'"},
    {"1 ? 2", "! 1:6: Syntax error: mismatched input '<EOF>' expecting ':'"},
    {"a..b", "! 1:3: Syntax error: no viable alternative at input '..'"},
    {"a.true", "! 1:3: Syntax error: mismatched input 'true' expecting IDENTIFIER"},
    {"!-false", "! 1:3: Syntax error: mismatched input 'false' expecting IDENTIFIER"},
    {"!!-null.a", "! 1:4: Syntax error: mismatched input 'null' expecting IDENTIFIER"},
    {"! - false", "! 1:5: Syntax error: no viable alternative at input '- false'"},
    {"&& true",
     "! 1:1: Syntax error: extraneous input '&&' expecting {'[', '{', '(', '.', '-', '!', 'true', "
     "'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"},
    {"{1: }",
     "! 1:5: Syntax error: mismatched input '}' expecting {'[', '{', '(', '.', '-', '!', 'true', "
     "'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"},
    {"a[",
     "! 1:3: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', '?', "
     "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"},
    {"true false null", "! 1:6: Syntax error: mismatched input 'false' expecting <EOF>"},
    {"== 1",
     "! 1:1: Syntax error: extraneous input '==' expecting {'[', '{', '(', '.', '-', '!', 'true', "
     "'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"},
    {"@",
     "! 1:1: Syntax error: token recognition error at: '@'\n1:2: Syntax error: mismatched input "
     "'<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, "
     "NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"},
};

TEST(CelParserTest, SyntaxErrors) {
  ExpectAnswers(kSyntaxErrors);
}

constexpr AnswerRow kBehindASyntaxError[] = {
    {"has(x.y<)",
     "! 1:8: invalid argument to has() macro\n1:9: Syntax error: mismatched input ')' expecting "
     "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, "
     "STRING, BYTES, IDENTIFIER}"},
    {"foo(while, 1 +",
     "! 1:5: reserved identifier: while\n1:15: Syntax error: mismatched input '<EOF>' expecting "
     "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, "
     "STRING, BYTES, IDENTIFIER}"},
    {"[while, for,",
     "! 1:2: reserved identifier: while\n1:9: reserved identifier: for\n1:13: Syntax error: "
     "missing ']' at '<EOF>'"},
    {R"("\q" + ))",
     "! 1:1: Syntax error: token recognition error at: '\"\\q'\n1:4: Syntax error: token "
     "recognition error at: '\" + )'\n1:9: Syntax error: mismatched input '<EOF>' expecting {'[', "
     "'{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, "
     "BYTES, IDENTIFIER}"},
    {"99999999999999999999 1",
     "! 1:1: invalid int literal\n1:22: Syntax error: extraneous input '1' expecting <EOF>"},
    {"[1].map(1, x) + (",
     "! 1:9: argument is not an identifier\n1:18: Syntax error: mismatched input '<EOF>' expecting "
     "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, "
     "STRING, BYTES, IDENTIFIER}"},
    {"{a: while, b: 1e999} )",
     "! 1:5: reserved identifier: while\n1:15: invalid double literal\n1:22: Syntax error: "
     "extraneous input ')' expecting <EOF>"},
    {"has(N.<)",
     "! 1:5: invalid argument to has() macro\n1:7: Syntax error: no viable alternative at input "
     "'.<'\n1:8: Syntax error: mismatched input ')' expecting {'[', '{', '(', '.', '-', '!', "
     "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"},
    {"cel.bind(1, 2, 3) ]",
     "! 1:10: cel.bind() variable names must be simple identifiers\n1:19: Syntax error: extraneous "
     "input ']' expecting <EOF>"},
    {"a.b.c{while: 1}, )", "! 1:16: Syntax error: mismatched input ',' expecting <EOF>"},
};

TEST(CelParserTest, BehindASyntaxError) {
  ExpectAnswers(kBehindASyntaxError);
}

}  // namespace
}  // namespace allot::cel
