// Macros: answers of cel-go v0.29.2 in the environment of Kubernetes 1.37.2.
#include "cel/answer_table.h"

namespace allot::cel {
namespace {

constexpr AnswerRow kExpansion[] = {
    {"[1, 2].all(x, x > 0)", R"({"t":"bool","v":true})", 21, 11},
    {"[1, 2].exists(x, x > 1)", R"({"t":"bool","v":true})", 23, 13},
    {"[1, 1].exists_one(x, x == 1)", R"({"t":"bool","v":false})", 20, 10},
    {"[1, 2].map(x, x * 2)",
     R"({"t":"list","v":[{"t":"int","v":"2"},{"t":"int","v":"4"}]})",
     49,
     29},
    {"[1, 2].map(x, x > 1, x * 2)", R"({"t":"list","v":[{"t":"int","v":"4"}]})", 53, 19},
    {"[1, 2].filter(x, x > 1)", R"({"t":"list","v":[{"t":"int","v":"2"}]})", 51, 18},
    {R"({"a": 1}.map(k, k))", R"({"t":"list","v":[{"t":"string","v":"a"}]})", 54, 14},
    {R"({"a": 1}.all(k, v, k == "a" && v == 1))", R"({"t":"bool","v":true})", 38, 8},
    {"[5, 6].exists(i, v, i == 1 && v == 6)", R"({"t":"bool","v":true})", 27, 15},
    {"[1, 2].existsOne(i, v, v == 2)", R"({"t":"bool","v":true})", 20, 8},
    {"[1, 2].exists_one(i, v, v == 2)", R"({"t":"bool","v":true})", 20, 8},
    {"[1, 2].transformList(i, v, i + v)",
     R"({"t":"list","v":[{"t":"int","v":"1"},{"t":"int","v":"3"}]})",
     51,
     31},
    {"[1, 2].transformList(i, v, i > 0, v)", R"({"t":"list","v":[{"t":"int","v":"2"}]})", 51, 18},
    {R"({"a": 1}.transformMap(k, v, v + 1))",
     R"({"t":"map","v":[[{"t":"string","v":"a"},{"t":"int","v":"2"}]]})",
     66,
     6},
    {R"({"a": 1, "b": 2}.transformMap(k, v, v > 1, v))",
     R"({"t":"map","v":[[{"t":"string","v":"b"},{"t":"int","v":"2"}]]})",
     73,
     9},
    {R"({"a": "x"}.transformMapEntry(k, v, {v: k}))",
     R"({"t":"map","v":[[{"t":"string","v":"x"},{"t":"string","v":"a"}]]})",
     95,
     35},
    {"[1, 1].transformMapEntry(i, v, {v: i})", "? insert failed: key 1 already exists", 109, 69},
    {"cel.bind(x, 1, x + x)", R"({"t":"int","v":"2"})", 13, 3},
    {"cel.bind(x, 1 / 0, true)", R"({"t":"bool","v":true})", 11, 0},
    {"optional.of(1).optMap(x, x + 1)", R"({"t":"optional","v":{"t":"int","v":"2"}})", 17, 7},
    {"optional.of(1).optFlatMap(x, optional.none())", R"({"t":"optional"})", 15, 3},
    {"[3, 1, 2].sortBy(x, -x)",
     R"({"t":"list","v":[{"t":"int","v":"3"},{"t":"int","v":"2"},{"t":"int","v":"1"}]})",
     104,
     74},
    {"[1].map(x, [2].map(x, x))",
     R"({"t":"list","v":[{"t":"list","v":[{"t":"int","v":"2"}]}]})",
     67,
     27},
    {"[1].map(device, device)", R"({"t":"list","v":[{"t":"int","v":"1"}]})", 34, 14},
};

TEST(CelMacrosTest, Expansion) {
  ExpectAnswers(kExpansion);
}

constexpr AnswerRow kErrors[] = {
    {"has(1)", "! 1:5: invalid argument to has() macro"},
    {"has(x)", "! 1:5: invalid argument to has() macro"},
    {"has(a.?b)", "! 1:6: invalid argument to has() macro"},
    {"[1].all(1, true)", "! 1:9: argument must be a simple name"},
    {"[1].all(x.y, true)", "! 1:10: argument must be a simple name"},
    {"[1].map(1, x)", "! 1:9: argument is not an identifier"},
    {R"([1].filter("x", true))", "! 1:12: argument is not an identifier"},
    {"[1].all(a, a, true)", "! 1:12: duplicate variable name: a"},
    {"[1].transformList(a, 1, true)", "! 1:22: argument must be a simple name"},
    {"cel.bind(1, 2, 3)", "! 1:10: cel.bind() variable names must be simple identifiers"},
    {"optional.of(google.protobuf.Duration{nope: 1}).optMap(o, o)",
     "! 1:42: undefined field 'nope'\n1:54: undefined field 'nope'"},
    {"optional.of(1).optMap(1, 2)", "! 1:23: optMap() variable name must be a simple identifier"},
    {"optional.of(1).optFlatMap(1, 2)",
     "! 1:27: optFlatMap() variable name must be a simple identifier"},
    {"[1].all(__result__, true)", "! 1:9: iteration variable overwrites accumulator variable"},
    {"[1].all(i, __result__, true)", "! 1:12: iteration variable overwrites accumulator variable"},
    {R"("a".sortBy(x, x))",
     "! 1:1: sortBy can only be applied to a list, identifier, comprehension, call or select "
     "expression"},
    {"[1].sortBy(1, x)", "! 1:12: argument is not an identifier"},
    {"[1].existsOne(x, true)",
     "! 1:14: undeclared reference to 'existsOne' (in container '')\n1:15: undeclared reference to "
     "'x' (in container '')"},
    {"[1].all(x)",
     "! 1:8: undeclared reference to 'all' (in container '')\n1:9: undeclared reference to 'x' (in "
     "container '')"},
    {"{}.transformMap(k, v)",
     "! 1:16: undeclared reference to 'transformMap' (in container '')\n1:17: undeclared reference "
     "to 'k' (in container '')\n1:20: undeclared reference to 'v' (in container '')"},
    {"has()", "! 1:4: undeclared reference to 'has' (in container '')"},
};

TEST(CelMacrosTest, Errors) {
  ExpectAnswers(kErrors);
}

}  // namespace
}  // namespace allot::cel
