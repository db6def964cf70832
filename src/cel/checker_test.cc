// Types and errors of the checker: answers of cel-go v0.29.2 in the environment of
// Kubernetes 1.37.2.
#include "cel/answer_table.h"

namespace allot::cel {
namespace {

constexpr AnswerRow kTypes[] = {
    {"[]", R"({"t":"list","v":[]})", 10, 0},
    {"{}", R"({"t":"map","v":[]})", 30, 0},
    {"[1]", R"({"t":"list","v":[{"t":"int","v":"1"}]})", 10, 0},
    {"[[]]", R"({"t":"list","v":[{"t":"list","v":[]}]})", 20, 0},
    {R"({"a": []})", R"({"t":"map","v":[[{"t":"string","v":"a"},{"t":"list","v":[]}]]})", 40, 0},
    {"optional.none()", R"({"t":"optional"})", 1, 1},
    {"optional.of(1)", R"({"t":"optional","v":{"t":"int","v":"1"}})", 1, 1},
    {"null", R"({"t":"null"})", 0, 0},
    {"type(1)", R"({"t":"type","v":"int"})", 1, 0},
    {"type([])", R"({"t":"type","v":"list"})", 11, 0},
    {"dyn(1)", R"({"t":"int","v":"1"})", 1, 0},
    {"dyn([1])[0]", R"({"t":"int","v":"1"})", 12, 2},
    {"[dyn(1)]", R"({"t":"list","v":[{"t":"int","v":"1"}]})", 11, 0},
    {"true ? [] : [1]", R"({"t":"list","v":[]})", 10, 0},
    {"[] + [1]", R"({"t":"list","v":[{"t":"int","v":"1"}]})", 21, 1},
    {R"({}["a"])", "? no such key: a", 31, 2},
    {"[1, 2].map(x, string(x))",
     R"({"t":"list","v":[{"t":"string","v":"1"},{"t":"string","v":"2"}]})",
     49,
     29},
    {R"(device.attributes["d.example.com"])",
     R"({"t":"map","v":[[{"t":"string","v":"ids"},{"t":"list","v":[{"t":"int","v":"3"},{"t":"int","v":"1"},{"t":"int","v":"2"}]}],[{"t":"string","v":"model"},{"t":"string","v":"H100"}],[{"t":"string","v":"n"},{"t":"int","v":"5"}],[{"t":"string","v":"names"},{"t":"list","v":[{"t":"string","v":"ib0"},{"t":"string","v":"ib1"},{"t":"string","v":"eth0"}]}],[{"t":"string","v":"ready"},{"t":"bool","v":true}],[{"t":"string","v":"v"},{"t":"kubernetes.Semver","v":"1.2.3"}]]})",
     3,
     3},
    {R"(device.attributes["d.example.com"].n)", R"({"t":"int","v":"5"})", 4, 4},
    {R"(device.capacity["d.example.com"].memory)",
     R"({"t":"kubernetes.Quantity","v":"40Gi"})",
     4,
     4},
    {R"(device.attributes["d.example.com"].?n)",
     R"({"t":"optional","v":{"t":"int","v":"5"}})",
     4,
     4},
    {R"(device.attributes["d.example.com"][?"n"])",
     R"({"t":"optional","v":{"t":"int","v":"5"}})",
     4,
     4},
    {"google.protobuf.Int32Value{value: 1}", R"({"t":"int","v":"1"})", 40, 40},
    {"int", R"({"t":"type","v":"int"})", 1, 0},
    {"list", R"({"t":"type","v":"list"})", 1, 0},
    {"map", R"({"t":"type","v":"map"})", 1, 0},
    {R"(duration("1s") + timestamp(0))", R"({"t":"timestamp","v":{"n":0,"s":1}})", 3, 1},
    {R"("a".split(","))", R"({"t":"list","v":[{"t":"string","v":"a"}]})", 1, 1},
    {R"("a".find("a"))", R"({"t":"string","v":"a"})", 1, 1},
    {R"(url("/a").getQuery())", R"({"t":"map","v":[]})", 2, 2},
    {R"(semver("1.0.0"))", R"({"t":"kubernetes.Semver","v":"1.0.0"})", 1, 1},
    {R"(ip("::1"))", R"({"t":"net.IP","v":"::1"})", 1, 1},
    {R"(cidr("::/0").ip())", R"({"t":"net.IP","v":"::"})", 2, 2},
    {"[optional.of(1)].unwrapOpt()", R"({"t":"list","v":[{"t":"int","v":"1"}]})", 12, 12},
    {"[1].first()", R"({"t":"optional","v":{"t":"int","v":"1"}})", 11, 1},
};

TEST(CelCheckerTest, Types) {
  ExpectAnswers(kTypes);
}

constexpr AnswerRow kErrors[] = {
    {R"(1 + "a")", "! 1:3: found no matching overload for '_+_' applied to '(int, string)'"},
    {R"(1 == "a")", "! 1:3: found no matching overload for '_==_' applied to '(int, string)'"},
    {"true && 1", "! 1:9: expected type 'bool' but found 'int'"},
    {"1 || true", "! 1:1: expected type 'bool' but found 'int'"},
    {R"(true ? 1 : "a")",
     "! 1:6: found no matching overload for '_?_:_' applied to '(bool, int, string)'"},
    {R"("a" < 1)", "! 1:5: found no matching overload for '_<_' applied to '(string, int)'"},
    {"!1", "! 1:1: found no matching overload for '!_' applied to '(int)'"},
    {R"(-"a")", "! 1:1: found no matching overload for '-_' applied to '(string)'"},
    {R"([1, "a"])", "! 1:5: expected type 'int' but found 'string'"},
    {R"({"a": 1, "b": "c"})", "! 1:15: expected type 'int' but found 'string'"},
    {"[dyn(1), 1]", "! 1:10: expected type 'dyn' but found 'int'"},
    {"1.size()", "! 1:7: found no matching overload for 'size' applied to 'int.()'"},
    {"size(1)", "! 1:5: found no matching overload for 'size' applied to '(int)'"},
    {R"("a".nope())", "! 1:9: undeclared reference to 'nope' (in container '')"},
    {"nope(1)", "! 1:5: undeclared reference to 'nope' (in container '')"},
    {"device.vendor", "! 1:7: undefined field 'vendor'"},
    {"device.name", "! 1:7: undefined field 'name'"},
    {R"(device["driver"])",
     "! 1:7: found no matching overload for '_[_]' applied to '(kubernetes.DRADevice, string)'"},
    {"device.driver.x", "! 1:14: type 'string' does not support field selection"},
    {"kubernetes.Quantity", "! 1:1: undeclared reference to 'kubernetes' (in container '')"},
    {R"(duration("1 h"))", "! 1:10: invalid duration argument"},
    {R"(timestamp("x"))", "! 1:11: invalid timestamp argument"},
    {R"("a".matches("("))", "! 1:13: invalid matches argument"},
    {R"("%d".format(["a"]))",
     "! 1:14: error during formatting: decimal clause can only be used on integers, was given "
     "string"},
    {R"("%s".format([]))", "! 1:12: index 0 out of range"},
    {R"("%s".format([1, 2]))",
     "! 1:12: too many arguments supplied to string.format (expected 1, got 2)"},
    {R"("%z".format([1]))",
     R"(! 1:12: could not parse formatting clause: unrecognized formatting clause "z")"},
    {"[1].all(x, x)", "! 1:12: expected type 'bool' but found 'int'"},
    {"1.all(x, true)",
     "! 1:1: expression of type 'int' cannot be range of a comprehension (must be list, map, or "
     "dynamic)"},
    {"[?1]", "! 1:3: expected type 'optional_type(int)' but found 'int'"},
    {R"({?"a": 1})", "! 1:8: expected type 'optional_type(int)' but found 'int'"},
    {"int{}", "! 1:4: 'int' is not a message type"},
    {"bytes{a: 1}", "! 1:6: 'bytes' is not a message type\n1:8: undefined field 'a'"},
    {"map{a: 1, b: [2]}", "! 1:4: 'map' is not a message type"},
    {"Nope{}", "! 1:5: undeclared reference to 'Nope' (in container '')"},
    {"google.protobuf.Duration{nope: 1}", "! 1:30: undefined field 'nope'"},
    {R"(google.protobuf.Duration{seconds: "a"})",
     "! 1:33: expected type of field 'seconds' is 'int' but provided type is 'string'"},
    {R"(quantity("1") + quantity("2"))",
     "! 1:15: found no matching overload for '_+_' applied to '(kubernetes.Quantity, "
     "kubernetes.Quantity)'"},
    {R"(quantity("1") > quantity("2"))",
     "! 1:15: found no matching overload for '_>_' applied to '(kubernetes.Quantity, "
     "kubernetes.Quantity)'"},
    {R"(quantity("1").sign())",
     "! 1:19: found no matching overload for 'sign' applied to 'kubernetes.Quantity.()'"},
    {"[1].includes()",
     "! 1:13: found no matching overload for 'includes' applied to 'list(int).()'"},
    {"sets.contains([1], 1)",
     "! 1:14: found no matching overload for 'sets.contains' applied to '(list(int), int)'"},
    {"type(1) == kubernetes.Semver",
     "! 1:12: undeclared reference to 'kubernetes' (in container '')"},
    {"[1].all(v, optional.none())",
     "! 1:25: expected type 'bool' but found 'optional_type(_var0)'"},
    {"optional.of(1).x", "! 1:15: type 'int' does not support field selection"},
};

TEST(CelCheckerTest, Errors) {
  ExpectAnswers(kErrors);
}

constexpr AnswerRow kNamesOnlyTheCheckerKnows[] = {
    {"duration", "! program instantiation failed: reference to undefined type: duration"},
    {"timestamp", "! program instantiation failed: reference to undefined type: timestamp"},
    {"google.protobuf.Int32Value",
     "! program instantiation failed: reference to undefined type: google.protobuf.Int32Value"},
    {"kubernetes.DRADevice",
     "! program instantiation failed: reference to undefined type: kubernetes.DRADevice"},
    {"kubernetes.DRADevice.attributes",
     "! program instantiation failed: reference to undefined type: "
     "kubernetes.DRADevice.attributes"},
    {"[int].map(x, x)", "! program instantiation failed: reference to undefined type: x"},
    {"cel.bind(t, int, t)", "! program instantiation failed: reference to undefined type: t"},
    {R"(cel.bind(int, type("a"), int))", R"({"t":"type","v":"int"})", 12, 0},
    {"google.protobuf.NullValue.NULL_VALUE", R"({"t":"int","v":"0"})", 1, 0},
    {"google.protobuf.NullValue", "! 1:1: undeclared reference to 'google' (in container '')"},
    {"duration{seconds: 1}", "? unknown type 'duration'", 40, 40},
    {"list{}", "? unknown type 'list'", 40, 40},
    {"null_type{}", "? unknown type 'null_type'", 40, 40},
    {"kubernetes.DRADevice{}", "? unknown type 'kubernetes.DRADevice'", 40, 40},
};

TEST(CelCheckerTest, NamesOnlyTheCheckerKnows) {
  ExpectAnswers(kNamesOnlyTheCheckerKnows);
}

}  // namespace
}  // namespace allot::cel
