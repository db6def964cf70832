// The three kinds of patches: trees, typed objects, and the answers to bad ones.
#include "schema/patch.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/codec/typed.h"
#include "text/json.h"

namespace allot {
namespace {

using schema::PatchType;
using ::testing::ElementsAre;

struct Case {
  const char* name;
  std::string document;
  std::string patch;
  std::string expected;
};

text::Value Parse(const std::string& json) {
  return text::ParseJson(json).value_or(text::Value());
}

std::string Sorted(text::Value value) {
  value.SortKeys();
  return text::ToJson(value);
}

class JsonPatches : public ::testing::TestWithParam<Case> {};

TEST_P(JsonPatches, Apply) {
  text::Value document = Parse(GetParam().document);
  const auto applied = schema::ApplyJsonPatch(document, Parse(GetParam().patch));
  EXPECT_EQ(applied ? Sorted(document) : applied.error().message(), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Patch,
    JsonPatches,
    ::testing::Values(
        Case{
            "Add",
            R"({"a":[1]})",
            R"([{"op":"add","path":"/a/-","value":2},{"op":"add","path":"/a/0","value":0},{"op":"add","path":"/b~1c","value":{}}])",
            R"({"a":[0,1,2],"b/c":{}})"},
        Case{"NegativeIndex",
             R"({"a":[1,2]})",
             R"([{"op":"remove","path":"/a/-1"}])",
             R"({"a":[1]})"},
        Case{"ReplaceAddsAbsent",
             R"({})",
             R"([{"op":"replace","path":"/a","value":1}])",
             R"({"a":1})"},
        Case{"Move",
             R"({"a":{"b":1}})",
             R"([{"op":"move","from":"/a/b","path":"/c"}])",
             R"({"a":{},"c":1})"},
        Case{"Copy",
             R"({"a":{"b":1}})",
             R"([{"op":"copy","from":"/a","path":"/c"}])",
             R"({"a":{"b":1},"c":{"b":1}})"},
        Case{"TestOfAbsentAndNull",
             R"({"a":1})",
             R"([{"op":"test","path":"/b","value":null},{"op":"test","path":"/a","value":1.0}])",
             R"({"a":1})"},
        Case{"TestFails",
             R"({"a":1})",
             R"([{"op":"test","path":"/a","value":2}])",
             "testing value /a failed: test failed"},
        Case{"RemoveAbsent",
             R"({})",
             R"([{"op":"remove","path":"/a"}])",
             "error in remove for path: '/a': Unable to remove nonexistent key: a: missing value"},
        Case{"NoSuchPath",
             R"({})",
             R"([{"op":"add","path":"/a/b","value":1}])",
             "add operation does not apply: doc is missing path: \"/a/b\": missing value"},
        Case{"BadIndex",
             R"({"a":[]})",
             R"([{"op":"add","path":"/a/2","value":1}])",
             "error in add for path: '/a/2': Unable to access invalid index: 2: invalid index "
             "referenced"},
        Case{"UnknownOperation", R"({})", R"([{"op":"x","path":"/a"}])", "Unexpected kind: x"}),
    [](const auto& spec) { return spec.param.name; });

TEST(JsonPatch, CopiesIntoThemselvesStopAtTheDepthOfADocument) {
  text::Value document = Parse(R"({"a":{}})");
  std::string path = "/a";
  text::Value patch = text::Value::Array();
  for (int i = 0; i < 15; ++i) {
    text::Value copy;
    copy["op"] = text::Value("copy");
    copy["from"] = text::Value("/a");
    copy["path"] = text::Value(path + "/a");
    patch.Append(std::move(copy));
    path += path;
  }
  const auto applied = schema::ApplyJsonPatch(document, patch);
  ASSERT_FALSE(applied.has_value());
  EXPECT_NE(applied.error().message().find("max depth"), std::string::npos)
      << applied.error().message();
}

class MergePatches : public ::testing::TestWithParam<Case> {};

TEST_P(MergePatches, Apply) {
  text::Value document = Parse(GetParam().document);
  schema::ApplyMergePatch(document, Parse(GetParam().patch));
  EXPECT_EQ(Sorted(document), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Patch,
    MergePatches,
    ::testing::Values(Case{"ReplacesAndDeletes",
                           R"({"a":1,"b":{"c":2,"d":3}})",
                           R"({"a":null,"b":{"c":4},"e":{"f":null,"g":1}})",
                           R"({"b":{"c":4,"d":3},"e":{"g":1}})"},
                      Case{"ListsWhole", R"({"a":[1,2]})", R"({"a":[3]})", R"({"a":[3]})"},
                      Case{"ObjectForScalar", R"({"a":1})", R"({"a":{"b":null}})", R"({"a":{}})"}),
    [](const auto& spec) { return spec.param.name; });

class StrategicPatches : public ::testing::TestWithParam<Case> {};

TEST_P(StrategicPatches, Apply) {
  text::Value document = Parse(GetParam().document);
  const auto applied = schema::ApplyStrategicMergePatch(
      testing::TypeOf("", "Pod"), document, Parse(GetParam().patch));
  EXPECT_EQ(applied ? Sorted(document) : applied.error().message(), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Patch,
    StrategicPatches,
    ::testing::Values(
        Case{
            "MergesByKey",
            R"({"spec":{"containers":[{"name":"a","image":"x"},{"name":"b"}]}})",
            R"({"spec":{"containers":[{"name":"b","image":"y"},{"name":"c"}]}})",
            R"({"spec":{"containers":[{"image":"x","name":"a"},{"image":"y","name":"b"},{"name":"c"}]}})"},
        Case{"DeletesElement",
             R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
             R"({"spec":{"containers":[{"name":"a","$patch":"delete"}]}})",
             R"({"spec":{"containers":[{"name":"b"}]}})"},
        Case{"ReplacesList",
             R"({"spec":{"containers":[{"name":"a"}]}})",
             R"({"spec":{"containers":[{"$patch":"replace"},{"name":"c"}]}})",
             R"({"spec":{"containers":[{"name":"c"}]}})"},
        Case{"AtomicList",
             R"({"spec":{"tolerations":[{"key":"a"}]}})",
             R"({"spec":{"tolerations":[{"key":"b"}]}})",
             R"({"spec":{"tolerations":[{"key":"b"}]}})"},
        Case{"ScalarList",
             R"({"metadata":{"finalizers":["a","b"]}})",
             R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a"],"finalizers":["c"]}})",
             R"({"metadata":{"finalizers":["c","b"]}})"},
        Case{"SetsOrder",
             R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
             R"({"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}]}})",
             R"({"spec":{"containers":[{"name":"b"},{"name":"a"}]}})"},
        Case{
            "RetainsKeys",
            R"({"spec":{"volumes":[{"name":"v","emptyDir":{}}]}})",
            R"({"spec":{"volumes":[{"name":"v","$retainKeys":["name","hostPath"],"hostPath":{"path":"/"}}]}})",
            R"({"spec":{"volumes":[{"hostPath":{"path":"/"},"name":"v"}]}})"},
        Case{"ReplacesMap",
             R"({"metadata":{"labels":{"a":"1"}}})",
             R"({"metadata":{"labels":{"$patch":"replace","b":"2"}}})",
             R"({"metadata":{"labels":{"b":"2"}}})"},
        Case{"NullDeletes",
             R"({"spec":{"nodeName":"n","hostname":"h"}})",
             R"({"spec":{"nodeName":null}})",
             R"({"spec":{"hostname":"h"}})"},
        Case{"NoMergeKey",
             R"({"spec":{"containers":[{"name":"a"}]}})",
             R"({"spec":{"containers":[{"image":"x"}]}})",
             "map: map[image:x] does not contain declared merge key: name"},
        Case{"BadDirective",
             R"({"spec":{}})",
             R"({"spec":{"$patch":"x"}})",
             "unknown patch type: x in map: map[$patch:x]"},
        Case{"BadRetainKeys",
             R"({"spec":{"volumes":[{"name":"v"}]}})",
             R"({"spec":{"volumes":[{"name":"v","$retainKeys":["name"],"emptyDir":{}}]}})",
             "invalid patch format of retainKeys"}),
    [](const auto& spec) { return spec.param.name; });

/// Applies a patch to a small DeviceClass and gives the JSON or the error.
std::string Patched(PatchType patch_type,
                    const std::string& patch,
                    const schema::PatchOptions& options = {}) {
  const auto& type = testing::TypeOf("resource.k8s.io", "DeviceClass");
  base::Arena arena;
  void* const current = testing::NewStruct(type, arena);
  EXPECT_TRUE(schema::DecodeJson(type, R"({"metadata":{"name":"c"},"spec":{}})", arena, current)
                  .has_value());
  void* const patched = testing::NewStruct(type, arena);
  const auto applied =
      schema::ApplyPatch(patch_type, type, current, patch, arena, patched, options);
  return applied ? testing::JsonOf(type, patched)
                 : std::to_string(applied.error().code()) + " " + applied.error().message();
}

TEST(TypedPatch, AnswersOfTheApi) {
  EXPECT_EQ(Patched(PatchType::kMerge, R"({"metadata":{"labels":{"a":"b"}}})"),
            R"({"metadata":{"name":"c","labels":{"a":"b"}},"spec":{}})");
  EXPECT_EQ(Patched(PatchType::kMerge, "{"), "400 invalid JSON patch");
  EXPECT_EQ(Patched(PatchType::kMerge, "[]"),
            "400 error decoding patch: json: cannot unmarshal array into Go value of type "
            "map[string]interface {}");
  EXPECT_EQ(Patched(PatchType::kJson, "{}"),
            "400 error decoding patch: json: cannot unmarshal object into Go value of type "
            "[]handlers.jsonPatchOp");
  EXPECT_EQ(Patched(PatchType::kJson, R"([{"op":"remove","path":"/x"}])"),
            "422 the server rejected our request due to an error in our request");
  EXPECT_EQ(Patched(PatchType::kStrategicMerge, R"({"metadata":{"ownerReferences":[[1]]}})"),
            "422  \"\" is invalid: patch: Invalid value: "
            "\"map[metadata:map[ownerReferences:[[1]]]]\": cannot restore struct from: slice");
  EXPECT_EQ(
      Patched(PatchType::kMerge, R"({"metadata":{"name":1}})"),
      R"(422  "" is invalid: patch: Invalid value: "{\"metadata\":{\"name\":1},\"spec\":{}}": json: cannot unmarshal )"
      "number into Go struct field ObjectMeta.metadata.name of type string");
  std::string many = "[";
  for (std::size_t i = 0; i <= schema::kMostJsonPatchOperations; ++i) {
    many += R"({"op":"test","path":"/x"},)";
  }
  many.back() = ']';
  EXPECT_EQ(Patched(PatchType::kJson, many).substr(0, 4), "413 ");
}

TEST(TypedPatch, StrictFindingsWarnOrRefuse) {
  std::vector<std::string> warnings;
  const std::string patch = R"({"spec":{"nosuch":1},"metadata":{"uid":"a","uid":"b"}})";
  EXPECT_EQ(Patched(PatchType::kMerge, patch, {.warnings = &warnings}),
            R"({"metadata":{"name":"c","uid":"b"},"spec":{}})");
  EXPECT_THAT(warnings,
              ElementsAre("duplicate field \"metadata.uid\"", "unknown field \"spec.nosuch\""));
  EXPECT_EQ(
      Patched(PatchType::kStrategicMerge, patch, {.validation = schema::FieldValidation::kStrict}),
      "422  \"\" is invalid: patch: Invalid value: \"map[metadata:map[uid:b] "
      "spec:map[nosuch:1]]\": strict decoding "
      "error: duplicate field \"metadata.uid\", unknown field \"spec.nosuch\"");
  warnings.clear();
  EXPECT_EQ(Patched(PatchType::kJson,
                    R"([{"op":"add","path":"/metadata/uid","value":"b","x":1}])",
                    {.warnings = &warnings}),
            R"({"metadata":{"name":"c","uid":"b"},"spec":{}})");
  EXPECT_THAT(warnings, ElementsAre("json patch unknown field \"[0].x\""));
  EXPECT_EQ(Patched(PatchType::kMerge,
                    patch,
                    {.validation = schema::FieldValidation::kIgnore, .warnings = &warnings}),
            R"({"metadata":{"name":"c","uid":"b"},"spec":{}})");
}

}  // namespace
}  // namespace allot
