// Records, and protobuf that nobody's encoder writes.
#include "schema/object.h"

#include <string>

#include <gtest/gtest.h>

#include "api/core/v1.gen.h"
#include "tests/codec/typed.h"

namespace allot {
namespace {

base::Ref<const schema::Object> Record(std::string_view json, std::int64_t revision) {
  const auto& type = testing::TypeOf("", "Namespace");
  base::Arena arena;
  void* const root = testing::NewStruct(type, arena);
  EXPECT_TRUE(schema::DecodeJson(type, json, arena, root).has_value());
  std::string body;
  schema::EncodeProtobuf(type, root, body, {.without_revision = true});
  return schema::Object::Make({&type, "", "a", "u"}, body, revision);
}

TEST(Object, DecodesWithHeaderFilledIn) {
  schema::View<api::core::Namespace> view;
  {
    const auto record = Record(R"({"metadata":{"name":"a","resourceVersion":"3"}})", 42);
    EXPECT_EQ(record->name(), "a");
    EXPECT_EQ(record->uid(), "u");
    auto decoded = schema::DecodeAs<api::core::Namespace>(record);
    ASSERT_TRUE(decoded.has_value());
    view = *decoded;
  }
  // The view keeps the record alive.
  EXPECT_EQ(view->kind, "Namespace");
  EXPECT_EQ(view->api_version, "v1");
  EXPECT_EQ(view->metadata.name, "a");
  EXPECT_EQ(view->metadata.resource_version, "42");
}

TEST(Object, DraftsDoNotChangeTheirBase) {
  const auto base = schema::DecodeAs<api::core::Namespace>(
      Record(R"({"metadata":{"name":"a","labels":{"k":"v"},"finalizers":["x"]}})", 1));
  ASSERT_TRUE(base.has_value());
  schema::Draft<api::core::Namespace> draft(*base);
  draft->metadata.name = draft.Copy("b");
  draft.Put(draft->metadata.labels, "j", schema::Str("w"));
  draft.Append(draft->metadata.finalizers, schema::Str("y"));
  const auto frozen = draft.Freeze();
  EXPECT_EQ((*base)->metadata.name, "a");
  EXPECT_EQ((*base)->metadata.labels.size(), 1U);
  EXPECT_EQ((*base)->metadata.finalizers.size(), 1U);
  EXPECT_EQ(frozen->metadata.labels.Get("j"), "w");
  EXPECT_EQ(frozen->metadata.finalizers.back(), "y");
}

TEST(Protobuf, AppendedRevisionMergesIntoTheMetadata) {
  const auto& type = testing::TypeOf("", "Namespace");
  base::Arena arena;
  void* const root = testing::NewStruct(type, arena);
  ASSERT_TRUE(schema::DecodeJson(type, R"({"metadata":{"name":"a"}})", arena, root).has_value());
  std::string spliced;
  schema::EncodeProtobuf(type, root, spliced, {.without_revision = true});
  schema::AppendProtobufRevision(type, 42, spliced);
  std::string whole;
  schema::EncodeProtobuf(type, root, whole, {.revision = 42});
  EXPECT_EQ(spliced, whole);
  void* const parsed = testing::NewStruct(type, arena);
  ASSERT_TRUE(schema::DecodeProtobuf(type, whole, arena, parsed).has_value());
  EXPECT_EQ(testing::JsonOf(type, parsed),
            R"({"metadata":{"name":"a","resourceVersion":"42"},"spec":{},"status":{}})");
}

TEST(Protobuf, TakesWhatOtherEncodersMayWrite) {
  const auto& type = testing::TypeOf("", "ConfigMap");
  base::Arena arena;
  void* const root = testing::NewStruct(type, arena);
  // Unknown field 99, a map out of order with a repeated key, an entry without value.
  const std::string bytes = std::string("\x9A\x06\x01x", 4) +
                            "\x12\x06\x0A\x01z\x12\x01"
                            "1" +
                            "\x12\x06\x0A\x01"
                            "a\x12\x01"
                            "2" +
                            "\x12\x06\x0A\x01z\x12\x01"
                            "3" +
                            "\x12\x03\x0A\x01m";
  ASSERT_TRUE(schema::DecodeProtobuf(type, bytes, arena, root).has_value());
  EXPECT_EQ(testing::JsonOf(type, root), R"({"metadata":{},"data":{"a":"2","m":"","z":"3"}})");
}

TEST(Protobuf, RefusesMalformedBytes) {
  const auto& type = testing::TypeOf("resource.k8s.io", "DeviceClass");
  for (const std::string& bytes : {std::string("\x0A"),
                                   std::string("\x0A\x05"
                                               "a"),
                                   std::string("\x00", 1),
                                   std::string("\x0B"),
                                   std::string("\x08\x01"),
                                   std::string("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"),
                                   // A raw extension whose bytes are no JSON.
                                   std::string("\x12\x0D\x12\x0B\x0A\x09\x0A\x01"
                                               "d\x12\x04\x0A\x02{]")}) {
    base::Arena arena;
    EXPECT_FALSE(
        schema::DecodeProtobuf(type, bytes, arena, testing::NewStruct(type, arena)).has_value());
  }
}

TEST(Protobuf, EnvelopesNeedTheirPrefix) {
  std::string bytes;
  schema::EncodeEnvelope({"v1", "Pod", "body"}, bytes);
  const auto envelope = schema::DecodeEnvelope(bytes);
  ASSERT_TRUE(envelope.has_value());
  EXPECT_EQ(envelope->api_version, "v1");
  EXPECT_EQ(envelope->raw, "body");
  EXPECT_FALSE(schema::DecodeEnvelope("{}").has_value());
  EXPECT_FALSE(schema::DecodeEnvelope(std::string_view(bytes).substr(0, 12)).has_value());
}

TEST(Tables, EveryNameAndNumberIsFound) {
  for (const api::KindInfo& kind : api::Kinds()) {
    if (kind.type == nullptr) {
      continue;
    }
    for (const schema::JsonField& field : kind.type->json_fields) {
      EXPECT_EQ(kind.type->Find(field.field->name), &field);
    }
    for (const schema::FieldDesc& field : kind.type->fields) {
      if (field.protobuf != 0) {
        EXPECT_EQ(kind.type->FindNumber(field.protobuf), &field);
      }
    }
    EXPECT_EQ(kind.type->Find("nosuch"), nullptr);
    EXPECT_EQ(kind.type->Find(""), nullptr);
  }
}

}  // namespace
}  // namespace allot
