// Strings and format(): answers of cel-go v0.29.2 in the environment of Kubernetes 1.37.2.
#include "cel/answer_table.h"

namespace allot::cel {
namespace {

constexpr AnswerRow kFunctions[] = {
    {R"("abc".charAt(1))", R"({"t":"string","v":"b"})", 1, 1},
    {R"("abc".charAt(3))", R"({"t":"string","v":""})", 1, 1},
    {R"("abc".charAt(4))", "? index out of range: 4", 1, 1},
    {"\"\xC3\xA9\xE2\x9C\x93\".charAt(1)", "{\"t\":\"string\",\"v\":\"\xE2\x9C\x93\"}", 1, 1},
    {R"("abcabc".indexOf("c"))", R"({"t":"int","v":"2"})", 1, 0},
    {R"("abc".indexOf("x"))", R"({"t":"int","v":"-1"})", 1, 0},
    {R"("abc".indexOf(""))", R"({"t":"int","v":"0"})", 1, 0},
    {R"("abc".indexOf("", 5))", R"({"t":"int","v":"3"})", 1, 0},
    {R"("abcabc".indexOf("c", 3))", R"({"t":"int","v":"5"})", 1, 0},
    {R"("abc".indexOf("a", -1))", "? index out of range: -1", 1, 0},
    {R"("abcabc".lastIndexOf("a"))", R"({"t":"int","v":"3"})", 1, 0},
    {R"("abcabc".lastIndexOf("a", 2))", R"({"t":"int","v":"0"})", 1, 0},
    {R"("abc".lastIndexOf(""))", R"({"t":"int","v":"3"})", 1, 0},
    {"\"aB\xC3\x89\".lowerAscii()", "{\"t\":\"string\",\"v\":\"ab\xC3\x89\"}", 1, 1},
    {"\"ab\xC3\xA9\".upperAscii()", "{\"t\":\"string\",\"v\":\"AB\xC3\xA9\"}", 1, 1},
    {R"("aXbX".replace("X", "-"))", R"({"t":"string","v":"a-b-"})", 1, 1},
    {R"("aXbX".replace("X", "-", 1))", R"({"t":"string","v":"a-bX"})", 1, 1},
    {R"("ab".replace("", "-"))", R"({"t":"string","v":"-a-b-"})", 1, 1},
    {R"("a,b,c".split(","))",
     R"({"t":"list","v":[{"t":"string","v":"a"},{"t":"string","v":"b"},{"t":"string","v":"c"}]})",
     1,
     1},
    {R"("a,b,c".split(",", 2))",
     R"({"t":"list","v":[{"t":"string","v":"a"},{"t":"string","v":"b,c"}]})",
     1,
     1},
    {R"("a,b".split(",", 0))", R"({"t":"list","v":[]})", 1, 1},
    {"\"\xC3\xA9\xE2\x9C\x93\".split(\"\")",
     "{\"t\":\"list\",\"v\":[{\"t\":\"string\",\"v\":\"\xC3\xA9\"},{\"t\":\"string\",\"v\":"
     "\"\xE2\x9C\x93\"}]}",
     1,
     1},
    {R"("hello".substring(1))", R"({"t":"string","v":"ello"})", 1, 1},
    {R"("hello".substring(1, 3))", R"({"t":"string","v":"el"})", 1, 1},
    {R"("hello".substring(6))", "? index out of range: 6", 1, 1},
    {R"("hello".substring(3, 1))", "? invalid substring range. start: 3, end: 1", 1, 1},
    {R"("\u2003 a\t\u0085".trim())", R"({"t":"string","v":"a"})", 1, 1},
    {R"(["a", "b"].join())", R"({"t":"string","v":"ab"})", 1844674407370955274, 1},
    {R"(["a", "b"].join("-"))", R"({"t":"string","v":"a-b"})", 1844674407370955274, 1},
    {R"([dyn("a"), dyn(1)].join())", "? join: invalid input: 1", 1844674407370955276, 1},
    {R"(strings.quote("a\"\n\t\x07"))", R"({"t":"string","v":"\"a\\\"\\n\\t\\a\""})", 1, 1},
    {"size(\"\xC3\xA9\xE2\x9C\x93\")", R"({"t":"int","v":"2"})", 1, 1},
    {R"("abc".contains("bc"))", R"({"t":"bool","v":true})", 1, 1},
    {R"("abc".startsWith(""))", R"({"t":"bool","v":true})", 0, 0},
    {R"("abc".endsWith("bc"))", R"({"t":"bool","v":true})", 1, 1},
};

TEST(CelStringsTest, Functions) {
  ExpectAnswers(kFunctions);
}

constexpr AnswerRow kFormat[] = {
    {R"("%s %d %%".format(["a", 1]))", R"({"t":"string","v":"a 1 %"})", 11, 1},
    {R"("%f".format([1234.5]))", R"({"t":"string","v":"1,234.500000"})", 11, 1},
    {R"("%.0f".format([2.5]))", R"({"t":"string","v":"2"})", 11, 1},
    {R"("%.3f".format([1e21]))",
     R"({"t":"string","v":"1,000,000,000,000,000,000,000.000"})",
     11,
     1},
    {R"("%e".format([1234.5]))",
     "{\"t\":\"string\",\"v\":\"1.234500\xC3\x97"
     "10\xE2\x81\xB0\xC2\xB3\"}",
     11,
     1},
    {R"("%.2e".format([-0.0000001]))",
     "{\"t\":\"string\",\"v\":\"-1.000000\xC3\x97"
     "10\xE2\x81\xBB\xE2\x81\xB0\xE2\x81\xB7\"}",
     11,
     1},
    {R"("%e".format([0.0 / 0.0]))", R"({"t":"string","v":"   NaN"})", 12, 12},
    {R"("%f".format([1.0 / 0.0]))", "{\"t\":\"string\",\"v\":\"\xE2\x88\x9E\"}", 12, 12},
    {R"("%f".format(["NaN"]))", R"({"t":"string","v":"NaN"})", 11, 1},
    {R"("%b".format([5]))", R"({"t":"string","v":"101"})", 11, 1},
    {R"("%b".format([true]))", R"({"t":"string","v":"1"})", 11, 1},
    {R"("%b".format([-5]))", R"({"t":"string","v":"-101"})", 11, 1},
    {R"("%x".format([255]))", R"({"t":"string","v":"ff"})", 11, 1},
    {R"("%X".format(["ab"]))", R"({"t":"string","v":"6162"})", 11, 1},
    {R"("%x".format([b"\xff"]))", R"({"t":"string","v":"ff"})", 11, 1},
    {R"("%o".format([8]))", R"({"t":"string","v":"10"})", 11, 1},
    {R"("%s".format([[1, "a", 2.5]]))", R"({"t":"string","v":"[1, \"a\", 2.500000]"})", 21, 1},
    {R"("%s".format([{"b": 2, "a": null}]))",
     R"({"t":"string","v":"{\"a\":null, \"b\":2}"})",
     41,
     1},
    {R"("%s".format([timestamp(0)]))", R"({"t":"string","v":"1970-01-01T00:00:00Z"})", 12, 1},
    {R"("%s".format([duration("1s")]))", R"({"t":"string","v":"1s"})", 12, 1},
    {R"("%s".format([int]))", R"({"t":"string","v":"int"})", 12, 1},
    {R"("%s".format([null]))", R"({"t":"string","v":"null"})", 11, 1},
    {R"("%s".format([1.0]))", R"({"t":"string","v":"1"})", 11, 1},
    {R"("%d".format([dyn("a")]))",
     "? error during formatting: decimal clause can only be used on integers, was given string",
     12,
     1},
    {R"("%s".format([dyn(quantity("1"))]))",
     "? error during formatting: string clause can only be used on strings, bools, bytes, ints, "
     "doubles, maps, lists, types, durations, and timestamps, was given kubernetes.Quantity",
     13,
     13},
    {R"(dyn("%d %d").format([1]))", "? index 1 out of range", 12, 1},
    {R"(dyn("%").format([1]))", "? unexpected end of string", 12, 1},
    {R"(dyn("%.f").format([1]))",
     R"(? could not parse formatting clause: error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax)",
     12,
     1},
};

TEST(CelStringsTest, Format) {
  ExpectAnswers(kFormat);
}

}  // namespace
}  // namespace allot::cel
