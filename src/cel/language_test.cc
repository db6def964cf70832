// Operators, conversions, look-ups: answers of cel-go v0.29.2 in the environment of
// Kubernetes 1.37.2.
#include "cel/answer_table.h"

namespace allot::cel {
namespace {

constexpr AnswerRow kArithmetic[] = {
    {"9223372036854775807 + 1", "? integer overflow", 1, 1},
    {"-9223372036854775808 - 1", "? integer overflow", 1, 1},
    {"9223372036854775807 * 2", "? integer overflow", 1, 1},
    {"1 / 0", "? division by zero", 1, 1},
    {"1 % 0", "? modulus by zero", 1, 1},
    {"-9223372036854775808 / -1", "? integer overflow", 1, 1},
    {"-9223372036854775808 % -1", "? integer overflow", 1, 1},
    {"-(-9223372036854775808)", "? integer overflow", 1, 1},
    {"7 / -2", R"({"t":"int","v":"-3"})", 1, 1},
    {"-7 % 3", R"({"t":"int","v":"-1"})", 1, 1},
    {"1u - 2u", "? unsigned integer overflow", 1, 1},
    {"18446744073709551615u + 1u", "? unsigned integer overflow", 1, 1},
    {"1u / 0u", "? division by zero", 1, 1},
    {"1.0 / 0.0", R"({"bits":"7ff0000000000000","t":"double","v":"+Inf"})", 1, 1},
    {"0.0 / 0.0", R"({"bits":"fff8000000000000","t":"double","v":"NaN"})", 1, 1},
    {"5.5 - 2.25", R"({"bits":"400a000000000000","t":"double","v":"3.25"})", 1, 1},
    {R"("a" + "b")", R"({"t":"string","v":"ab"})", 1, 1},
    {R"(b"a" + b"b")", R"({"t":"bytes","v":"6162"})", 1, 1},
    {"[1] + [2]", R"({"t":"list","v":[{"t":"int","v":"1"},{"t":"int","v":"2"}]})", 21, 1},
    {R"(duration("1h") + duration("1m"))", R"({"t":"duration","v":{"n":0,"s":3660}})", 3, 1},
    {R"(timestamp(0) + duration("1s"))", R"({"t":"timestamp","v":{"n":0,"s":1}})", 3, 1},
    {R"(timestamp("9999-12-31T23:59:59Z") + duration("1s"))", "? timestamp overflow", 3, 1},
    {"timestamp(10) - timestamp(4)", R"({"t":"duration","v":{"n":0,"s":6}})", 3, 1},
    {R"(duration("2562047h") + duration("2562047h"))", "? integer overflow", 3, 1},
};

TEST(CelLanguageTest, Arithmetic) {
  ExpectAnswers(kArithmetic);
}

constexpr AnswerRow kEquality[] = {
    {"1 == dyn(1.0)", R"({"t":"bool","v":true})", 2, 1},
    {"1 == dyn(1u)", R"({"t":"bool","v":true})", 2, 1},
    {"1u == dyn(1.0)", R"({"t":"bool","v":true})", 2, 1},
    {"0.0 / 0.0 == 0.0 / 0.0", R"({"t":"bool","v":false})", 3, 3},
    {R"(dyn(1) == "a")", R"({"t":"bool","v":false})", 2, 1},
    {"null == dyn(0)", R"({"t":"bool","v":false})", 2, 1},
    {"null == null", R"({"t":"bool","v":true})", 1, 1},
    {"[1] == [dyn(1.0)]", R"({"t":"bool","v":true})", 22, 1},
    {R"({"a": 1} == {"a": dyn(1u)})", R"({"t":"bool","v":true})", 62, 1},
    {"{1: 1} == dyn({1.0: 1u})", R"({"t":"bool","v":false})", 62, 1},
    {R"({1: "a"} == dyn({1u: "a"}))", R"({"t":"bool","v":true})", 62, 1},
    {"type(1) == int", R"({"t":"bool","v":true})", 1844674407370955266, 1},
    {"optional.of(1) == optional.of(1)", R"({"t":"bool","v":true})", 3, 3},
    {"optional.none() == optional.none()", R"({"t":"bool","v":true})", 1844674407370955266, 3},
    {R"(duration("60s") == duration("1m"))", R"({"t":"bool","v":true})", 3, 1},
    {R"(timestamp("2020-01-01T01:00:00+01:00") == timestamp("2020-01-01T00:00:00Z"))",
     R"({"t":"bool","v":true})",
     3,
     1},
    {"1 in [dyn(1.0)]", R"({"t":"bool","v":true})", 12, 0},
    {"1.0 in dyn({1: 2})", R"({"t":"bool","v":true})", 32, 1},
    {R"("a" in {"a": 1})", R"({"t":"bool","v":true})", 31, 1},
    {"1 < dyn(1.5)", R"({"t":"bool","v":true})", 2, 1},
    {"-1 < dyn(0u)", R"({"t":"bool","v":true})", 2, 1},
    {R"(dyn("a") < 1)", "? no such overload", 2, 1},
    {"0.0 / 0.0 < 1.0", "? NaN values cannot be ordered", 2, 2},
    {"false < true", R"({"t":"bool","v":true})", 1, 1},
    {R"(b"a" < b"b")", R"({"t":"bool","v":true})", 1, 1},
};

TEST(CelLanguageTest, Equality) {
  ExpectAnswers(kEquality);
}

constexpr AnswerRow kConversions[] = {
    {R"(int("12"))", R"({"t":"int","v":"12"})", 1, 0},
    {R"(int(" 12"))",
     "! program instantiation failed: type conversion error from 'string' to 'int'"},
    {R"(int("+12"))", R"({"t":"int","v":"12"})", 1, 0},
    {"int(12.9)", R"({"t":"int","v":"12"})", 1, 0},
    {"int(-12.9)", R"({"t":"int","v":"-12"})", 1, 0},
    {"int(1e19)", "! program instantiation failed: integer overflow"},
    {"int(18446744073709551615u)", "! program instantiation failed: integer overflow"},
    {R"(int(timestamp("2020-01-01T00:00:00Z")))", R"({"t":"int","v":"1577836800"})", 2, 0},
    {R"(int(duration("1s")))", R"({"t":"int","v":"1000000000"})", 2, 0},
    {"uint(-1)", "! program instantiation failed: unsigned integer overflow"},
    {R"(uint("12"))", R"({"t":"uint","v":"12"})", 1, 0},
    {"uint(1.9)", R"({"t":"uint","v":"1"})", 1, 0},
    {R"(double("1_0"))", R"({"bits":"4024000000000000","t":"double","v":"10"})", 1, 0},
    {R"(double("inf"))", R"({"bits":"7ff0000000000000","t":"double","v":"+Inf"})", 1, 0},
    {R"(double("0x1p-2"))", R"({"bits":"3fd0000000000000","t":"double","v":"0.25"})", 1, 0},
    {R"(double("1e400"))",
     "! program instantiation failed: type conversion error from 'string' to 'double'"},
    {R"(bool("t"))", R"({"t":"bool","v":true})", 1, 0},
    {R"(bool("yes"))",
     "! program instantiation failed: type conversion error from 'string' to 'bool'"},
    {"string(1000000.0)", R"({"t":"string","v":"1e+06"})", 1, 0},
    {"string(123456.0)", R"({"t":"string","v":"123456"})", 1, 0},
    {"string(0.00001)", R"({"t":"string","v":"1e-05"})", 1, 0},
    {"string(-0.0)", R"({"t":"string","v":"-0"})", 1, 0},
    {"string(0.0 / 0.0)", R"({"t":"string","v":"NaN"})", 2, 2},
    {R"(string(duration("90m")))", R"({"t":"string","v":"5400s"})", 2, 0},
    {R"(string(duration("1.5s")))", R"({"t":"string","v":"1.5s"})", 2, 0},
    {R"(string(timestamp("2020-01-01T01:00:00+01:00")))",
     R"({"t":"string","v":"2020-01-01T01:00:00+01:00"})",
     2,
     0},
    {R"(string(b"\xff"))",
     "! program instantiation failed: invalid UTF-8 in bytes, cannot convert to string"},
    {R"(string(b"abc"))", R"({"t":"string","v":"abc"})", 1, 0},
    {"bytes(\"\xC3\xA9\")", R"({"t":"bytes","v":"c3a9"})", 1, 0},
    {R"(string(ip("::1")))", R"({"t":"string","v":"::1"})", 2, 2},
    {R"(string(cidr("10.0.0.0/8")))", R"({"t":"string","v":"10.0.0.0/8"})", 2, 2},
    {"timestamp(253402300800)", "! 1:11: invalid timestamp argument"},
    {R"(timestamp("2020-01-01"))", "! 1:11: invalid timestamp argument"},
    {R"(duration("1d"))", "! 1:10: invalid duration argument"},
    {R"(dyn(quantity("1")) == dyn(1))", "? no such overload", 4, 3},
    {"string(true)", R"({"t":"string","v":"true"})", 1, 0},
};

TEST(CelLanguageTest, Conversions) {
  ExpectAnswers(kConversions);
}

constexpr AnswerRow kAbsorption[] = {
    {"1 / 0 > 0 || true", R"({"t":"bool","v":true})", 2, 2},
    {"1 / 0 > 0 && false", R"({"t":"bool","v":false})", 2, 2},
    {"1 / 0 > 0 || false", "? division by zero", 2, 2},
    {"true && 1 / 0 > 0", "? division by zero", 2, 2},
    {"dyn(1) && false", R"({"t":"bool","v":false})", 1, 0},
    {"dyn(1) && true", "? no such overload", 1, 0},
    {R"(dyn("a") || true)", R"({"t":"bool","v":true})", 1, 0},
    {"1 / 0 > 0 ? 1 : 2", "? division by zero", 2, 2},
    {"[1, 0].exists(x, 1 / x == 1)", R"({"t":"bool","v":true})", 25, 11},
    {"[0, 1].all(x, 1 / x == 2)", R"({"t":"bool","v":false})", 23, 13},
    {"[0].map(x, 1 / x)", "? division by zero", 35, 15},
    {"[0].filter(x, 1 / x > 0)", "? division by zero", 37, 4},
    {"dyn(1) ? 1 : 2", "? no such overload", 1, 0},
    {"!dyn(1)", "? no such overload", 2, 1},
};

TEST(CelLanguageTest, Absorption) {
  ExpectAnswers(kAbsorption);
}

constexpr AnswerRow kLookups[] = {
    {"[1, 2][2]", "? index out of bounds: 2", 11, 2},
    {"[1][-1]", "? index out of bounds: -1", 11, 2},
    {"[1][dyn(0.0)]", R"({"t":"int","v":"1"})", 12, 2},
    {"[1][dyn(0.5)]", "? unsupported index value 0.5 in list", 12, 2},
    {R"([1][dyn("a")])", "? unsupported index type 'string' in list", 12, 2},
    {R"({"a": 1}["b"])", "? no such key: b", 31, 2},
    {R"({"a": 1}.b)", "? no such key: b", 31, 2},
    {"{1: 2}[dyn(1.0)]", R"({"t":"int","v":"2"})", 32, 2},
    {"{1: 2}[dyn(1u)]", R"({"t":"int","v":"2"})", 32, 2},
    {R"(device.attributes["d.example.com"].missing)", "? no such key: missing", 4, 4},
    {R"(device.attributes["d.example.com"]["missing"])", "? no such key: missing", 4, 4},
    {R"(device.attributes["none"].x)", "? no such key: x", 4, 4},
    {R"(device.attributes["none"].size())", R"({"t":"int","v":"0"})", 4, 4},
    {"has(device.attributes.none)", R"({"t":"bool","v":true})", 2, 2},
    {R"("none" in device.attributes)", R"({"t":"bool","v":false})", 3, 3},
    {R"(device.attributes[?"none"].hasValue())", R"({"t":"bool","v":true})", 4, 4},
    {R"(device.attributes["d.example.com"].n.x)", "? no such key: x", 4, 5},
    {R"(has(device.attributes["d.example.com"].n.x))", R"({"t":"bool","v":false})", 4, 4},
    {R"(device.attributes["d.example.com"].n[0])", "? no such key: 0", 5, 5},
    {R"(device.attributes["d.example.com"].?missing.orValue(1))", R"({"t":"int","v":"1"})", 5, 3},
    {R"(device.attributes["d.example.com"].?n.?x.hasValue())", R"({"t":"bool","v":false})", 6, 5},
    {R"({"a": 1}[?"b"])", R"({"t":"optional"})", 31, 1},
    {"[1][?5]", R"({"t":"optional"})", 11, 1},
    {"optional.none().value()", "? optional.none() dereference", 2, 2},
    {"dyn(1)[[1]]", "! program instantiation failed: invalid qualifier type: *types.baseList"},
    {"{dyn([1]): 1}",
     R"({"t":"map","v":[[{"t":"list","v":[{"t":"int","v":"1"}]},{"t":"int","v":"1"}]]})",
     41,
     0},
    {"dyn(null).x", "? no such key: x", 1, 2},
    {"1.exists(x, true)",
     "! 1:1: expression of type 'int' cannot be range of a comprehension (must be list, map, or "
     "dynamic)"},
    {"dyn(1).exists(x, true)", "? got 'types.Int', expected iterable type", 6, 0},
    {"dyn(1).exists(k, v, true)", "? unsupported comprehension range type: types.Int", 6, 0},
};

TEST(CelLanguageTest, Lookups) {
  ExpectAnswers(kLookups);
}

}  // namespace
}  // namespace allot::cel
