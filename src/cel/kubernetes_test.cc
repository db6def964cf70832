// Quantities, versions, lists, formats: answers of cel-go v0.29.2 in the environment of
// Kubernetes 1.37.2.
#include "cel/answer_table.h"

namespace allot::cel {
namespace {

constexpr AnswerRow kQuantities[] = {
    {R"(quantity("1Gi") == quantity("1024Mi"))", R"({"t":"bool","v":true})", 3, 3},
    {R"(quantity("1500m").isInteger())", R"({"t":"bool","v":false})", 2, 2},
    {R"(quantity("1.0").isInteger())", R"({"t":"bool","v":false})", 2, 2},
    {R"(quantity("1k").asInteger())", R"({"t":"int","v":"1000"})", 2, 2},
    {R"(quantity("1500m").asInteger())", "? cannot convert value to integer", 2, 2},
    {R"(quantity("0.1").asApproximateFloat())",
     R"({"bits":"3fb999999999999a","t":"double","v":"0.1"})",
     2,
     2},
    {R"(quantity("1").add(quantity("500m")))", R"({"t":"kubernetes.Quantity","v":"1500m"})", 3, 3},
    {R"(quantity("50k").sub(20))", R"({"t":"kubernetes.Quantity","v":"49980"})", 2, 2},
    {R"(sign(quantity("-1")))", R"({"t":"int","v":"-1"})", 2, 2},
    {R"(quantity("1").compareTo(quantity("1000m")))", R"({"t":"int","v":"0"})", 3, 3},
    {R"(quantity("1Gi").isGreaterThan(quantity("1G")))", R"({"t":"bool","v":true})", 3, 3},
    {R"(quantity("Mi"))", R"({"t":"kubernetes.Quantity","v":"0"})", 1, 1},
    {R"(quantity(""))",
     "? quantities must match the regular expression "
     "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
     0,
     0},
    {R"(quantity("1Q"))",
     "? quantities must match the regular expression "
     "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
     1,
     1},
    {R"(quantity("1e"))", "? unable to parse quantity's suffix", 1, 1},
    {R"(quantity("12E"))", R"({"t":"kubernetes.Quantity","v":"12E"})", 1, 1},
    {R"(isQuantity("1.5Gi"))", R"({"t":"bool","v":true})", 1, 1},
    {R"(isQuantity("x"))", R"({"t":"bool","v":false})", 1, 1},
    {R"(quantity("1n").add(quantity("0.1n")))", R"({"t":"kubernetes.Quantity","v":"2n"})", 3, 3},
    {R"(quantity("9223372036854775807").add(1))",
     R"({"t":"kubernetes.Quantity","v":"9223372036854775808"})",
     3,
     3},
};

TEST(CelKubernetesTest, Quantities) {
  ExpectAnswers(kQuantities);
}

// Beyond 18 digits upstream computes with decimals of any length, which are never integers.
constexpr AnswerRow kLongQuantities[] = {
    {R"(quantity("9223372036854775807").add(1).asApproximateFloat())",
     R"({"bits":"43e0000000000000","t":"double","v":"9.223372036854776e+18"})",
     4,
     4},
    {R"(quantity("9223372036854775807").add(quantity("3m")).asApproximateFloat())",
     R"({"bits":"43e0000000000000","t":"double","v":"9.223372036854776e+18"})",
     5,
     5},
    {R"(quantity("1e20").add(quantity("1e-9")).asApproximateFloat())",
     R"({"bits":"4415af1d78b58c40","t":"double","v":"1e+20"})",
     4,
     4},
    {R"(quantity("99999999999999999999").sub(quantity("99999999999999999998")).asApproximateFloat())",
     R"({"bits":"3ff0000000000000","t":"double","v":"1"})",
     6,
     6},
    {R"(quantity("99999999999999999999").sub(quantity("99999999999999999998")).isInteger())",
     R"({"t":"bool","v":false})",
     6,
     6},
    {R"(quantity("99999999999999999999").sub(quantity("99999999999999999999")).asApproximateFloat())",
     R"({"bits":"0000000000000000","t":"double","v":"0"})",
     6,
     6},
    {R"(quantity("1.5e-2147483648").isInteger())", R"({"t":"bool","v":false})", 3, 3},
    {R"(quantity("0.0000000000000000000000").add(quantity("1")).asApproximateFloat())",
     R"({"bits":"3ff0000000000000","t":"double","v":"1"})",
     6,
     6},
    {R"(quantity("0.0000000000000000000000").add(quantity("3m")).asApproximateFloat())",
     R"({"bits":"3f689374bc6a7efa","t":"double","v":"0.003"})",
     6,
     6},
    {R"(sign(quantity("1e-400")))", R"({"t":"int","v":"1"})", 2, 2},
    {R"(sign(quantity("-0.0000000000000000000001")))", R"({"t":"int","v":"-1"})", 4, 4},
    {R"(quantity("1e-400").compareTo(quantity("1n")))", R"({"t":"int","v":"0"})", 3, 3},
    {R"(quantity("9223372036854775807").compareTo(quantity("8Ei")))",
     R"({"t":"int","v":"0"})",
     4,
     4},
    {R"(quantity("9223372036854775807").isInteger())", R"({"t":"bool","v":false})", 3, 3},
    {R"(quantity("922337203685477580").isInteger())", R"({"t":"bool","v":true})", 3, 3},
    {R"(quantity("100000000000000000000m").isGreaterThan(quantity("99999999999999999")))",
     R"({"t":"bool","v":true})",
     6,
     6},
    {R"(quantity("10000e-9").isInteger())", R"({"t":"bool","v":false})", 2, 2},
    {R"(quantity("1e19").isInteger())", R"({"t":"bool","v":false})", 2, 2},
    {R"(quantity("1e18").asInteger())", R"({"t":"int","v":"1000000000000000000"})", 2, 2},
};

TEST(CelKubernetesTest, LongQuantities) {
  ExpectAnswers(kLongQuantities);
}

constexpr AnswerRow kVersions[] = {
    {R"(semver("1.2.3").major())", R"({"t":"int","v":"1"})", 2, 2},
    {R"(semver("v1.2", true))", R"({"t":"kubernetes.Semver","v":"1.2.0"})", 1, 1},
    {R"(semver("01.2.3", true))", R"({"t":"kubernetes.Semver","v":"1.2.3"})", 1, 1},
    {R"(semver("1.2.3-rc.1+b").patch())", R"({"t":"int","v":"3"})", 3, 3},
    {R"(semver("1.0.0-rc.1").isLessThan(semver("1.0.0")))", R"({"t":"bool","v":true})", 3, 3},
    {R"(semver("1.0.0+a") == semver("1.0.0+b"))", R"({"t":"bool","v":true})", 3, 3},
    {R"(semver("1.0.0-2").compareTo(semver("1.0.0-10")))", R"({"t":"int","v":"-1"})", 3, 3},
    {R"(semver("v1.0.0"))", R"(? Invalid character(s) found in major number "v1")", 1, 1},
    {R"(semver("1.0"))", "? No Major.Minor.Patch elements found", 1, 1},
    {R"(semver("1.2-a", true))", "? short version cannot contain PreRelease/Build meta data", 1, 1},
    {R"(isSemver("1.0"))", R"({"t":"bool","v":false})", 1, 1},
    {R"(isSemver("1.0", true))", R"({"t":"bool","v":true})", 1, 1},
    {R"(semver(""))", "? Version string empty", 0, 0},
};

TEST(CelKubernetesTest, Versions) {
  ExpectAnswers(kVersions);
}

constexpr AnswerRow kLists[] = {
    {"[3, 1, 2].sort()",
     R"({"t":"list","v":[{"t":"int","v":"1"},{"t":"int","v":"2"},{"t":"int","v":"3"}]})",
     39,
     29},
    {R"(["b", "a"].isSorted())", R"({"t":"bool","v":false})", 3689348814741910540, 0},
    {"[1, 2].sum()", R"({"t":"int","v":"3"})", 12, 2},
    {"[].sum()", R"({"t":"int","v":"0"})", 10, 0},
    {"[1.5, 2.5].sum()", R"({"bits":"4010000000000000","t":"double","v":"4"})", 12, 2},
    {R"([duration("1s"), duration("2s")].sum())", R"({"t":"duration","v":{"n":0,"s":3}})", 14, 2},
    {"[].min()", "? min called on empty list", 10, 0},
    {"[].max()", "? max called on empty list", 10, 0},
    {R"(["b", "a"].min())", R"({"t":"string","v":"a"})", 3689348814741910540, 0},
    {"[1, 2, 1].lastIndexOf(1)", R"({"t":"int","v":"2"})", 13, 3},
    {"[1, 2, 1].indexOf(3)", R"({"t":"int","v":"-1"})", 13, 3},
    {R"(device.attributes["d.example.com"].ids.includes(2))", R"({"t":"bool","v":true})", 68, 7},
    {R"(device.attributes["d.example.com"].n.includes(5))", R"({"t":"bool","v":true})", 68, 5},
    {R"(device.attributes["d.example.com"].model.includes(1))", R"({"t":"bool","v":false})", 68, 4},
    {"[1, 2, 3].slice(1, 2)", R"({"t":"list","v":[{"t":"int","v":"2"}]})", 22, 12},
    {"[1].slice(1, 0)",
     "? cannot slice(1, 0), start index must be less than or equal to end index",
     18446744073709551615U,
     12},
    {"[1].slice(0, 2)", "? cannot slice(0, 2), list is length 1", 23, 12},
    {"[1].slice(-1, 0)", "? cannot slice(-1, 0), negative indexes not supported", 21, 12},
    {"[[1], [2, [3]]].flatten()",
     "! 1:7: expected type 'list(int)' but found 'list(dyn)'\n1:11: expected type 'int' but found "
     "'list(int)'"},
    {"[[[1]]].flatten(2)", R"({"t":"list","v":[{"t":"int","v":"1"}]})", 43, 13},
    {"[1].flatten(-1)", "? level must be non-negative", 21, 12},
    {"[1, 2].reverse()", R"({"t":"list","v":[{"t":"int","v":"2"},{"t":"int","v":"1"}]})", 23, 13},
    {"[1, 1, 2].distinct()",
     R"({"t":"list","v":[{"t":"int","v":"1"},{"t":"int","v":"2"}]})",
     39,
     29},
    {"lists.range(3)",
     R"({"t":"list","v":[{"t":"int","v":"0"},{"t":"int","v":"1"},{"t":"int","v":"2"}]})",
     14,
     14},
    {"lists.range(-1)", "? lists.range: size must be non-negative, got -1", 11, 12},
    {"lists.range(1000001)",
     "? lists.range: size 1000001 exceeds maximum allowed (1000000)",
     1000012,
     12},
    {R"([dyn(1), dyn("a")].sort())", "? list elements must have the same type", 32, 1},
    {"sets.intersects([1], [2])", R"({"t":"bool","v":false})", 22, 2},
    {"sets.equivalent([1, 1], [1])", R"({"t":"bool","v":true})", 25, 5},
    {"[1].first()", R"({"t":"optional","v":{"t":"int","v":"1"}})", 11, 1},
    {"[].last()", R"({"t":"optional"})", 11, 1},
    {"dyn(1).min()", "? no such overload: min(int)", 2, 1},
};

TEST(CelKubernetesTest, Lists) {
  ExpectAnswers(kLists);
}

constexpr AnswerRow kFormats[] = {
    {R"(format.dns1123Label().validate("A_b"))",
     "{\"t\":\"optional\",\"v\":{\"t\":\"list\",\"v\":[{\"t\":\"string\",\"v\":\"a lowercase RFC "
     "1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
     "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
     "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')\"}]}}",
     33,
     9},
    {R"(format.dns1123Label().validate("ab"))", R"({"t":"optional"})", 33, 9},
    {R"(format.uuid().validate("x"))",
     R"({"t":"optional","v":{"t":"list","v":[{"t":"string","v":"does not match the UUID format"}]}})",
     33,
     19},
    {R"(format.byte().validate("%"))",
     R"({"t":"optional","v":{"t":"list","v":[{"t":"string","v":"invalid base64"}]}})",
     33,
     22},
    {R"(format.date().validate("2020-13-01"))",
     R"({"t":"optional","v":{"t":"list","v":[{"t":"string","v":"invalid date"}]}})",
     33,
     37},
    {R"(format.datetime().validate("x"))",
     R"({"t":"optional","v":{"t":"list","v":[{"t":"string","v":"invalid datetime"}]}})",
     33,
     19},
    {R"(format.uri().validate("a b"))",
     R"({"t":"optional","v":{"t":"list","v":[{"t":"string","v":"parse \"a b\": invalid URI for request"}]}})",
     33,
     277},
    {R"(format.labelValue().validate("-"))",
     "{\"t\":\"optional\",\"v\":{\"t\":\"list\",\"v\":[{\"t\":\"string\",\"v\":\"a valid label "
     "must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
     "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', "
     "regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')\"}]}}",
     33,
     11},
    {R"(format.qualifiedName().validate("a/b/c"))",
     "{\"t\":\"optional\",\"v\":{\"t\":\"list\",\"v\":[{\"t\":\"string\",\"v\":\"a valid label key "
     "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
     "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
     "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain "
     "prefix and '/' (e.g. 'example.com/MyName')\"}]}}",
     33,
     16},
    {R"(format.named("dns1035Label").hasValue())", R"({"t":"bool","v":true})", 2, 2},
    {R"(format.named("x").hasValue())", R"({"t":"bool","v":false})", 2, 2},
    {R"(format.uuid() == format.named("uuid").value())", R"({"t":"bool","v":true})", 10, 4},
};

TEST(CelKubernetesTest, Formats) {
  ExpectAnswers(kFormats);
}

}  // namespace
}  // namespace allot::cel
