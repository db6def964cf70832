// Where the engine differs from upstream on purpose.
#include <string>
#include <utility>

#include "cel/answer_table.h"

namespace allot::cel {
namespace {

std::string Value(std::string_view expression) {
  CompileOptions options;
  options.purpose = Purpose::kAnyValue;
  const Compilation compiled = CompileVerbose(expression, options);
  if (compiled.program == nullptr) {
    return compiled.error;
  }
  const AnswerDevice device;
  return Evaluator().EvaluateToJson(*compiled.program, device.view()).json;
}

// Upstream prints the digits of another number.
TEST(CelDifferencesTest, LargeQuantitiesPrintInFull) {
  EXPECT_EQ(Value(R"(quantity("1234567890123456789012").add(1))"),
            R"({"t":"kubernetes.Quantity","v":"1234567890123456789013"})");
}

// Upstream's order is that of Go's maps.
TEST(CelDifferencesTest, MapsAreIteratedInKeyOrder) {
  EXPECT_EQ(Value(R"({"c": 1, "a": 2, "b": 3}.map(k, k).join())"), R"({"t":"string","v":"abc"})");
  EXPECT_EQ(Value(R"(device.attributes["d.example.com"].map(n, n).join())"),
            R"({"t":"string","v":"idsmodelnnamesreadyv"})");
}

// Upstream's keys are objects made anew at every read.
TEST(CelDifferencesTest, ListsOfTheDeviceAreKeysByValue) {
  constexpr AnswerRow kRows[] = {
      {R"(device.attributes["d.example.com"].ids in {device.attributes["d.example.com"].ids: 1})",
       R"({"t":"bool","v":true})",
       39,
       39},
      {R"([1, 2].transformMapEntry(i, v, {device.attributes["d.example.com"].ids: 1}).size())",
       "? insert failed: key [3, 1, 2] already exists",
       114,
       74},
      {"device in {device: 1}", R"({"t":"bool","v":true})", 33, 33},
      {"{device: 1}[device]", "? invalid qualifier type: *types.baseMap", 33, 33},
      {"{0.0: 1, -0.0: 2}.map(k, k)",
       R"({"t":"list","v":[{"bits":"8000000000000000","t":"double","v":"-0"}]})",
       67,
       14},
  };
  ExpectAnswers(kRows);
}

TEST(CelDifferencesTest, AnyIsNotUnpacked) {
  constexpr AnswerRow kRows[] = {
      {R"(google.protobuf.Any{type_url: "t/google.protobuf.Empty"})",
       R"(? unsupported conversion to ref.Val: (*dynamicpb.Message)type_url:"t/google.protobuf.Empty")",
       40,
       40},
      {"google.protobuf.Struct.FieldsEntry",
       "! 1:23: type 'type(map(string, dyn))' does not support field selection"},
  };
  ExpectAnswers(kRows);
}

// Go 1.25 and later fold the case of names and know long ones.
TEST(CelDifferencesTest, ClassNamesInPatternsAreThoseOfRe2) {
  constexpr AnswerRow kRows[] = {
      {R"("a".find("\\p{Letter}"))",
       "! program instantiation failed: error parsing regexp: invalid character class range: "
       "`\\p{Letter}`"},
      {R"("a".find("\\pL"))", R"({"t":"string","v":"a"})", 1, 1},
  };
  ExpectAnswers(kRows);
}

}  // namespace
}  // namespace allot::cel
