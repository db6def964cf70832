// Typed JSON: strict findings, Go's error texts, what is left out and what is always written.
#include "text/json.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/codec/typed.h"

namespace allot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Case {
  const char* name;
  const char* group;
  const char* kind;
  std::string text;
  std::string expected;
};

constexpr const char* kResource = "resource.k8s.io";

class JsonRoundTrip : public ::testing::TestWithParam<Case> {};

TEST_P(JsonRoundTrip, Canonical) {
  const auto& type = testing::TypeOf(GetParam().group, GetParam().kind);
  base::Arena arena;
  void* const root = testing::NewStruct(type, arena);
  const auto decoded = schema::DecodeJson(type, GetParam().text, arena, root);
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message();
  EXPECT_EQ(testing::JsonOf(type, root), GetParam().expected);

  std::string bytes;
  schema::EncodeProtobuf(type, root, bytes);
  void* const again = testing::NewStruct(type, arena);
  ASSERT_TRUE(schema::DecodeProtobuf(type, bytes, arena, again).has_value());
  void* const copy = testing::NewStruct(type, arena);
  schema::DeepCopy(type, root, copy, arena);
  EXPECT_TRUE(schema::SemanticEqual(type, root, copy));
  EXPECT_TRUE(schema::SemanticEqual(type, root, again));
}

INSTANTIATE_TEST_SUITE_P(
    Codec,
    JsonRoundTrip,
    ::testing::Values(
        Case{"EmptyClaim",
             kResource,
             "ResourceClaim",
             "{}",
             R"({"metadata":{},"spec":{"devices":{"requests":null}},"status":{}})"},
        Case{
            "NullListIsWritten",
            kResource,
            "ResourceClaimTemplate",
            R"({"spec":{"spec":{"devices":{"constraints":[{"matchAttribute":"a/b"}]}}}})",
            R"({"metadata":{},"spec":{"metadata":{},"spec":{"devices":{"requests":null,"constraints":[{"matchAttribute":"a/b"}]}}}})"},
        Case{
            "QuantitiesAreCanonical",
            kResource,
            "ResourceSlice",
            R"({"spec":{"devices":[{"name":"d","capacity":{"b":{"value":"1024Mi"},"a":{"value":0.5}}}]}})",
            R"({"metadata":{},"spec":{"driver":"","pool":{"name":"","generation":0,"resourceSliceCount":0},)"
            R"("devices":[{"name":"d","capacity":{"a":{"value":"500m"},"b":{"value":"1Gi"}}}]}})"},
        Case{
            "KeptJson",
            kResource,
            "DeviceClass",
            R"({"spec":{"config":[{"opaque":{"driver":"d","parameters": { "z" : [ 1 , "<" ] } }}]}})",
            R"({"metadata":{},"spec":{"config":[{"opaque":{"driver":"d","parameters":{"z":[1,"\u003c"]}}}]}})"},
        Case{
            "NumbersOfKeptJson",
            kResource,
            "DeviceClass",
            R"({"spec":{"config":[{"opaque":{"driver":"d","parameters":{"a":18446744073709551615,"b":1.50,"c":-0.0,"d":1e3}}}]}})",
            R"({"metadata":{},"spec":{"config":[{"opaque":{"driver":"d","parameters":{"a":18446744073709551615,"b":1.50,"c":-0.0,"d":1e3}}}]}})"},
        Case{"TimesInUtcSeconds",
             "",
             "Namespace",
             R"({"metadata":{"creationTimestamp":"2026-01-02T03:04:05.678+01:00"}})",
             R"({"metadata":{"creationTimestamp":"2026-01-02T02:04:05Z"},"spec":{},"status":{}})"},
        Case{"MicroTimes",
             "coordination.k8s.io",
             "Lease",
             R"({"spec":{"renewTime":"2026-01-02T03:04:05.000060Z"}})",
             R"({"metadata":{},"spec":{"renewTime":"2026-01-02T03:04:05.000060Z"}})"},
        Case{"BytesAndEmptyBytes",
             "",
             "Secret",
             R"({"data":{"b":"aGk=","a":""}})",
             R"({"metadata":{},"data":{"a":"","b":"aGk="}})"},
        Case{
            "IntOrString",
            "",
            "Pod",
            R"({"spec":{"containers":[{"name":"c","livenessProbe":{"httpGet":{"port":"web"}}}]}})",
            R"({"metadata":{},"spec":{"containers":[{"name":"c","resources":{},"livenessProbe":{"httpGet":{"port":"web"}}}]},"status":{}})"},
        Case{"InvalidUtf8",
             "",
             "Namespace",
             "{\"metadata\":{\"name\":\"a\xFF\"}}",
             "{\"metadata\":{\"name\":\"a\xEF\xBF\xBD\"},\"spec\":{},\"status\":{}}"},
        Case{"MergesRepeatedObjects",
             "",
             "Namespace",
             R"({"metadata":{"name":"a"},"metadata":{"uid":"u"}})",
             R"({"metadata":{"name":"a","uid":"u"},"spec":{},"status":{}})"}),
    [](const auto& spec) { return spec.param.name; });

class JsonErrors : public ::testing::TestWithParam<Case> {};

TEST_P(JsonErrors, InGosWords) {
  const auto& type = testing::TypeOf(GetParam().group, GetParam().kind);
  base::Arena arena;
  const auto decoded =
      schema::DecodeJson(type, GetParam().text, arena, testing::NewStruct(type, arena));
  ASSERT_FALSE(decoded.has_value());
  EXPECT_EQ(decoded.error().message(), GetParam().expected);
  EXPECT_EQ(decoded.error().code(), 400);
}

INSTANTIATE_TEST_SUITE_P(
    Codec,
    JsonErrors,
    ::testing::Values(
        Case{"NumberForText",
             kResource,
             "DeviceClass",
             R"({"metadata":{"name":1}})",
             "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type "
             "string"},
        Case{"TextForStruct",
             "",
             "Pod",
             R"({"spec":{"containers":["x"]}})",
             "json: cannot unmarshal string into Go struct field PodSpec.spec.containers of type "
             "v1.Container"},
        Case{"ObjectForList",
             "",
             "Pod",
             R"({"spec":{"containers":{}}})",
             "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type "
             "[]v1.Container"},
        Case{"FractionForInteger",
             kResource,
             "ResourceSlice",
             R"({"spec":{"pool":{"generation":1.5}}})",
             "json: cannot unmarshal number 1.5 into Go struct field "
             "ResourcePool.spec.pool.generation of type int64"},
        Case{"NamedText",
             "",
             "Pod",
             R"({"spec":{"restartPolicy":true}})",
             "json: cannot unmarshal bool into Go struct field PodSpec.spec.restartPolicy of type "
             "v1.RestartPolicy"},
        Case{"InlinedStruct",
             "",
             "Pod",
             R"({"spec":{"volumes":[{"hostPath":3}]}})",
             "json: cannot unmarshal number into Go struct field "
             "Volume.spec.volumes.VolumeSource.hostPath of type v1.HostPathVolumeSource"},
        Case{"Root", "", "Pod", "[1]", "json: cannot unmarshal array into Go value of type v1.Pod"},
        Case{"FirstIsTold",
             "",
             "Pod",
             R"({"spec":{"nodeName":1,"hostname":2}})",
             "json: cannot unmarshal number into Go struct field PodSpec.spec.nodeName of type "
             "string"},
        Case{"OwnTextsComeFirst",
             kResource,
             "ResourceSlice",
             R"({"spec":{"driver":1,"devices":[{"capacity":{"a":{"value":"x"}}}]}})",
             "quantities must match the regular expression "
             "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
        Case{"SyntaxComesBeforeTypes",
             "",
             "Pod",
             R"({"metadata":{"name":1},})",
             "invalid character '}' looking for beginning of object key string"},
        Case{
            "Base64", "", "Secret", R"({"data":{"a":"a"}})", "illegal base64 data at input byte 0"},
        Case{
            "Time",
            "",
            "Pod",
            R"({"metadata":{"creationTimestamp":"x"}})",
            "parsing time \"x\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"x\" as \"2006\""}),
    [](const auto& spec) { return spec.param.name; });

TEST(JsonStrict, FindsUnknownAndDuplicateFields) {
  const auto& type = testing::TypeOf(kResource, "ResourceClaimTemplate");
  base::Arena arena;
  schema::StrictFindings strict;
  const std::string text =
      R"({"spec":{"spec":{"devices":{"requests":[{"name":"g","deviceClassName":"c","selectors":[{"x":1}]}]}}},)"
      R"("metadata":{"name":"a","name":"b","labels":{"k":"1","k":"2"}},"Kind":"x"})";
  void* const root = testing::NewStruct(type, arena);
  ASSERT_TRUE(schema::DecodeJson(type, text, arena, root, {.strict = &strict}).has_value());
  EXPECT_THAT(strict.errors,
              ElementsAre(R"(unknown field "spec.spec.devices.requests[0].deviceClassName")",
                          R"(unknown field "spec.spec.devices.requests[0].selectors")",
                          R"(duplicate field "metadata.name")",
                          R"(duplicate field "metadata.labels.k")",
                          R"(unknown field "Kind")"));
  EXPECT_THAT(testing::JsonOf(type, root), HasSubstr(R"("name":"b","labels":{"k":"2"})"));
}

TEST(JsonStrict, StopsAtAHundredFindings) {
  const auto& type = testing::TypeOf("", "Pod");
  base::Arena arena;
  schema::StrictFindings strict;
  std::string text = "{\"x0\":1";
  for (int i = 1; i < 300; ++i) {
    text += ",\"x" + std::to_string(i % 200) + "\":1";
  }
  ASSERT_TRUE(schema::DecodeJson(
                  type, text + "}", arena, testing::NewStruct(type, arena), {.strict = &strict})
                  .has_value());
  EXPECT_EQ(strict.errors.size(), 100U);
}

TEST(JsonDepth, DeepTextIsAnErrorEverywhere) {
  const auto& type = testing::TypeOf(kResource, "DeviceClass");
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  for (const std::string& text :
       {"{\"unknown\":" + deep + "}",
        "{\"spec\":{\"suitableNodes\":" + deep + "}}",
        "{\"spec\":{\"config\":[{\"opaque\":{\"parameters\":" + deep + "}}]}}",
        deep,
        std::string(100000, '{')}) {
    base::Arena arena;
    EXPECT_FALSE(
        schema::DecodeJson(type, text, arena, testing::NewStruct(type, arena)).has_value());
  }
}

TEST(JsonEncode, RevisionAndKindComeFromTheOptions) {
  const auto& type = testing::TypeOf("", "Namespace");
  base::Arena arena;
  void* const root = testing::NewStruct(type, arena);
  ASSERT_TRUE(schema::DecodeJson(
                  type, R"({"metadata":{"name":"a","resourceVersion":"3","uid":"u"}})", arena, root)
                  .has_value());
  EXPECT_EQ(
      testing::JsonOf(type, root, {.revision = 42, .kind = "Namespace", .api_version = "v1"}),
      R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":"a","uid":"u","resourceVersion":"42"},"spec":{},"status":{}})");
  EXPECT_EQ(testing::JsonOf(type, root, {.without_revision = true}),
            R"({"metadata":{"name":"a","uid":"u"},"spec":{},"status":{}})");
}

// Texts are looked at in words and vectors: any byte at any place of any length must come out as
// the plain escaper writes it, and come back.
TEST(JsonText, AnyByteAtAnyPlace) {
  const auto& type = testing::TypeOf("", "ConfigMap");
  for (std::size_t size = 1; size <= 40; ++size) {
    for (std::size_t place = 0; place < size; ++place) {
      for (int byte = 0; byte < 0x80; ++byte) {
        std::string text(size, 'a');
        text[place] = static_cast<char>(byte);
        std::string quoted;
        text::AppendJsonString(text, quoted);
        const std::string json = R"({"metadata":{"name":)" + quoted + "}}";
        base::Arena arena;
        void* const root = testing::NewStruct(type, arena);
        ASSERT_TRUE(schema::DecodeJson(type, json, arena, root)) << json;
        ASSERT_EQ(testing::JsonOf(type, root), json);
        std::string bytes;
        schema::EncodeProtobuf(type, root, bytes);
        void* const again = testing::NewStruct(type, arena);
        ASSERT_TRUE(schema::DecodeProtobuf(type, bytes, arena, again));
        void* const copy = testing::NewStruct(type, arena);
        schema::DeepCopy(type, again, copy, arena);
        ASSERT_EQ(testing::JsonOf(type, copy), json);
      }
    }
  }
}

}  // namespace
}  // namespace allot
