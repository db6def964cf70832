// Behaviour of upstream that one would not expect, one test each.
#include <vector>

#include "cel/answer_table.h"

namespace allot::cel {
namespace {

TEST(CelQuirksTest, KubernetesValuesOnTheLeftOfEqualityErr) {
  constexpr AnswerRow kRows[] = {
      {R"(semver("1.0.0") == dyn("x"))", "? no such overload", 3, 2},
      {R"(dyn("x") == semver("1.0.0"))", R"({"t":"bool","v":false})", 3, 2},
      {R"(semver("1.0.0") != dyn("x"))", R"({"t":"bool","v":true})", 3, 2},
      {R"(quantity("1") == dyn(1))", "? no such overload", 3, 2},
      {R"(dyn(1) == quantity("1"))", R"({"t":"bool","v":false})", 3, 2},
  };
  ExpectAnswers(kRows);
}

TEST(CelQuirksTest, SumsOfQuantitiesEqualOnlyOnTheLeft) {
  constexpr AnswerRow kRows[] = {
      {R"(quantity("49980") == quantity("50k").sub(20))", "? no such overload", 4, 4},
      {R"(quantity("50k").sub(20) == quantity("49980"))", R"({"t":"bool","v":true})", 4, 4},
  };
  ExpectAnswers(kRows);
}

TEST(CelQuirksTest, AVersionInASetOfConstantsPanics) {
  constexpr AnswerRow kRows[] = {
      {R"(semver("1.0.0") in [dyn("a")])",
       "? internal error: runtime error: hash of unhashable type cel.Semver",
       13,
       1},
      {R"(device.attributes["d.example.com"].v in ["a"])",
       "? internal error: runtime error: hash of unhashable type cel.Semver",
       15,
       4},
      {R"(device.attributes["d.example.com"].v in {"a": 1})",
       "? internal error: runtime error: hash of unhashable type cel.Semver",
       35,
       4},
  };
  ExpectAnswers(kRows);
}

TEST(CelQuirksTest, UnknownDomainsLookPresent) {
  constexpr AnswerRow kRows[] = {
      {"has(device.attributes.nope)", R"({"t":"bool","v":true})", 2, 2},
      {R"(device.attributes[?"nope"].hasValue())", R"({"t":"bool","v":true})", 4, 4},
      {R"(device.attributes["nope"].size() == 0)", R"({"t":"bool","v":true})", 5, 5},
      {R"("nope" in device.attributes)", R"({"t":"bool","v":false})", 3, 3},
      {R"(device.attributes["nope"].x)", "? no such key: x", 4, 4},
  };
  ExpectAnswers(kRows);
}

TEST(CelQuirksTest, ListEqualityOverlooksErrorsOfElements) {
  constexpr AnswerRow kRows[] = {
      {R"([semver("1.0.0")] == [dyn("x")])", R"({"t":"bool","v":true})", 23, 12},
      {R"([dyn("x")] == [semver("1.0.0")])", R"({"t":"bool","v":false})", 23, 12},
  };
  ExpectAnswers(kRows);
}

TEST(CelQuirksTest, ASuffixAloneIsZero) {
  constexpr AnswerRow kRows[] = {
      {R"(quantity("Mi") == quantity("0"))", R"({"t":"bool","v":true})", 3, 3},
      {R"(quantity("-") == quantity("0"))", R"({"t":"bool","v":true})", 3, 3},
      {R"(quantity(".") == quantity("0"))", R"({"t":"bool","v":true})", 3, 3},
  };
  ExpectAnswers(kRows);
}

TEST(CelQuirksTest, ComparingMakesAFastQuantitySlow) {
  constexpr AnswerRow kRows[] = {
      {R"(device.capacity["d.example.com"].memory.isLessThan(device.capacity["d.example.com"].huge) && device.capacity["d.example.com"].memory.isInteger())",
       R"({"t":"bool","v":false})",
       14,
       14},
      {R"(device.capacity["d.example.com"].memory.isInteger() && device.capacity["d.example.com"].memory.isLessThan(device.capacity["d.example.com"].huge))",
       R"({"t":"bool","v":true})",
       14,
       14},
      {R"(cel.bind(q, quantity("1"), q.isLessThan(device.capacity["d.example.com"].huge) && q.isInteger()))",
       R"({"t":"bool","v":false})",
       19,
       9},
      {R"(quantity("1000m").isInteger())", R"({"t":"bool","v":false})", 2, 2},
  };
  ExpectAnswers(kRows);
}

TEST(CelQuirksTest, SignIsNoMethod) {
  constexpr AnswerRow kRows[] = {
      {R"(sign(quantity("-1")))", R"({"t":"int","v":"-1"})", 2, 2},
      {R"(quantity("-1").sign())",
       "! 1:20: found no matching overload for 'sign' applied to 'kubernetes.Quantity.()'"},
  };
  ExpectAnswers(kRows);
}

TEST(CelQuirksTest, HostBitsOfPrefixesAreAccepted) {
  constexpr AnswerRow kRows[] = {
      {R"(cidr("10.1.2.3/8"))", R"({"t":"net.CIDR","v":"10.1.2.3/8"})", 1, 1},
      {R"(cidr("10.0.0.0/8").containsIP("x"))", "? no such overload", 6, 3},
      {R"(cidr("10.0.0.0/8").containsCIDR("x"))",
       R"(? network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix("x"): no '/')",
       9,
       5},
      {R"(cidr("x"))",
       R"(? network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix("x"): no '/')",
       1,
       1},
  };
  ExpectAnswers(kRows);
}

TEST(CelQuirksTest, ConstantConversionsFailThoughUnreachable) {
  constexpr AnswerRow kRows[] = {
      {R"(false && int("abc") == 1)",
       "! program instantiation failed: type conversion error from 'string' to 'int'"},
      {R"(false && "a".find("(") == "")",
       "! program instantiation failed: error parsing regexp: missing closing ): `(`"},
      {R"(true || quantity("bad") == quantity("1"))", R"({"t":"bool","v":true})", 3, 0},
      {"false && 1 / 0 == 1", R"({"t":"bool","v":false})", 2, 0},
  };
  ExpectAnswers(kRows);
}

TEST(CelQuirksTest, DynBesideALiteralIsRefused) {
  constexpr AnswerRow kRows[] = {
      {R"([device.attributes["d.example.com"].n, 2])",
       "! 1:40: expected type 'dyn' but found 'int'"},
      {R"([2, device.attributes["d.example.com"].n])",
       "! 1:39: expected type 'int' but found 'dyn'"},
      {R"({"a": 1, "b": device.attributes["d.example.com"].n})",
       "! 1:49: expected type 'int' but found 'dyn'"},
      {R"("%d %d".format([device.attributes["d.example.com"].n, 2]))",
       R"({"t":"string","v":"5 2"})",
       15,
       15},
  };
  ExpectAnswers(kRows);
}

TEST(CelQuirksTest, FormatGroupsDigitsAsInEnglish) {
  constexpr AnswerRow kRows[] = {
      {R"("%f".format([1234567.5]))", R"({"t":"string","v":"1,234,567.500000"})", 11, 1},
      {R"("%e".format([1234.5]))",
       "{\"t\":\"string\",\"v\":\"1.234500\xC3\x97"
       "10\xE2\x81\xB0\xC2\xB3\"}",
       11,
       1},
  };
  ExpectAnswers(kRows);
}

TEST(CelQuirksTest, AnUnusedBindingIsNeverEvaluated) {
  constexpr AnswerRow kRows[] = {
      {"cel.bind(x, 1 / 0, true)", R"({"t":"bool","v":true})", 11, 0},
      {"cel.bind(x, 1 / 0, x > 0 || true)", R"({"t":"bool","v":true})", 13, 3},
  };
  ExpectAnswers(kRows);
}

TEST(CelQuirksTest, LaterEntriesOfAMapWin) {
  constexpr AnswerRow kRows[] = {
      {R"({"a": 1, "a": 2})",
       R"({"t":"map","v":[[{"t":"string","v":"a"},{"t":"int","v":"2"}]]})",
       30,
       0},
      {"{0: 1, dyn(0u): 2}", "! 1:11: expected type 'int' but found 'dyn'"},
      {R"(duration("1h").getMilliseconds())", R"({"t":"int","v":"3600000"})", 2, 1},
  };
  ExpectAnswers(kRows);
}

TEST(CelQuirksTest, IncludesCostsSixtyEight) {
  constexpr AnswerRow kRows[] = {
      {R"(device.attributes["d.example.com"].names.includes("y"))",
       R"({"t":"bool","v":false})",
       68,
       4},
      {R"(device.attributes["d.example.com"].ids.includes(1))", R"({"t":"bool","v":true})", 68, 7},
  };
  ExpectAnswers(kRows);
}

TEST(CelQuirksTest, OffsetsOfZonesAreNotChecked) {
  constexpr AnswerRow kRows[] = {
      {R"(timestamp(0).getHours("+30:00"))", R"({"t":"int","v":"6"})", 2, 1},
      {R"(timestamp(0).getMinutes("00:90"))", R"({"t":"int","v":"30"})", 2, 1},
      {R"(double("1_0"))", R"({"bits":"4024000000000000","t":"double","v":"10"})", 1, 0},
      {R"(string(timestamp("2020-01-01T01:00:00+01:00")))",
       R"({"t":"string","v":"2020-01-01T01:00:00+01:00"})",
       2,
       0},
  };
  ExpectAnswers(kRows);
}

// Any expression fails on such a device, those included that do not read the version.
TEST(CelQuirksTest, ABadVersionFailsEverySelector) {
  Attribute bad;
  bad.name = "v";
  bad.value.kind = AttributeKind::kVersion;
  bad.value.text = "v1.0";
  DeviceView device;
  device.driver = "d.example.com";
  device.attributes = std::span(&bad, 1);
  const Compilation compiled = CompileVerbose("device.driver == 'd.example.com'", {});
  ASSERT_NE(compiled.program, nullptr);
  const Outcome outcome = Evaluator().Match(*compiled.program, device);
  EXPECT_EQ(outcome.verdict, Verdict::kError);
  EXPECT_EQ(outcome.error,
            "attribute v: parse semantic version: No Major.Minor.Patch elements found");
  EXPECT_EQ(outcome.cost, std::nullopt);
}

// Upstream's compiler panics.
TEST(CelQuirksTest, AnOptionalElementOfUnknownTypeIsAnError) {
  constexpr AnswerRow kRows[] = {
      {"[?dyn(1)]", "! 1:6: expected type 'optional_type(dyn)' but found 'dyn'"},
      {R"({?"a": dyn(1)})", "! 1:11: expected type 'optional_type(dyn)' but found 'dyn'"},
  };
  ExpectAnswers(kRows);
}

// List attributes count as one value of 64 in the estimate, and element by element when they run.
TEST(CelQuirksTest, TheActualCostMayExceedTheEstimate) {
  const std::string text(62, 'x');
  const std::vector<std::string_view> names(48, text);
  Attribute list;
  list.name = "names";
  list.value.kind = AttributeKind::kStrings;
  list.value.texts = names;
  DeviceView device;
  device.driver = "d.example.com";
  device.attributes = std::span(&list, 1);
  const Compilation compiled =
      CompileVerbose(R"(device.attributes["d.example.com"].names.includes("x"))", {});
  ASSERT_NE(compiled.program, nullptr);
  EXPECT_EQ(compiled.max_cost, 68);
  EXPECT_EQ(Evaluator().Match(*compiled.program, device).cost, 292);
}

}  // namespace
}  // namespace allot::cel
