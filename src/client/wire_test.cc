#include "client/wire.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/core/v1.gen.h"
#include "api/meta/v1.gen.h"
#include "client/typed.h"
#include "schema/codec.h"

namespace allot::client {
namespace {

using api::core::ConfigMap;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const schema::TypeDesc& Type() {
  return api::Desc<ConfigMap>();
}

constexpr std::string_view kObject =
    R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"7"},"data":{"k":"v"}})";

/// The protobuf of a JSON object in its envelope.
std::string Protobuf(std::string_view json) {
  const auto item = DecodeItem(Type(), json, Format::kJson);
  EXPECT_TRUE(item) << item.error().ToString();
  return EncodeBody(Type(), item->view.get(), item->object->revision(), Format::kProtobuf);
}

void AppendField(std::string& out, char tag, std::string_view bytes) {
  out.push_back(tag);
  for (std::size_t size = bytes.size();; size >>= 7U) {
    if (size < 128) {
      out.push_back(static_cast<char>(size));
      break;
    }
    out.push_back(static_cast<char>((size & 0x7FU) | 0x80U));
  }
  out += bytes;
}

std::string ProtobufEvent(std::string_view type, std::string_view object) {
  std::string raw;
  AppendField(raw, '\x0a', object);
  std::string event;
  AppendField(event, '\x0a', type);
  AppendField(event, '\x12', raw);
  std::string frame;
  for (int shift = 24; shift >= 0; shift -= 8) {
    frame.push_back(static_cast<char>(event.size() >> static_cast<unsigned>(shift) & 0xFFU));
  }
  return frame + event;
}

std::string Describe(const std::vector<WatchEvent>& events) {
  std::string out;
  for (const WatchEvent& event : events) {
    out += std::to_string(static_cast<int>(event.type)) + "@" + std::to_string(event.revision);
    out += event.item.object ? std::string(event.item.object->name()) + " " : " ";
  }
  return out;
}

TEST(WireTest, ObjectsInBothForms) {
  for (const Format format : {Format::kJson, Format::kProtobuf}) {
    const std::string bytes = format == Format::kJson ? std::string(kObject) : Protobuf(kObject);
    const auto item = DecodeItem(Type(), bytes, format);
    ASSERT_TRUE(item) << item.error().ToString();
    EXPECT_EQ(item->object->name(), "a");
    EXPECT_EQ(item->object->namespace_(), "n");
    EXPECT_EQ(item->object->uid(), "u");
    EXPECT_EQ(item->object->revision(), 7);
    const auto decoded = schema::DecodeAs<ConfigMap>(item->object);
    ASSERT_TRUE(decoded);
    for (const ConfigMap* map : {decoded->get(), ToView<ConfigMap>(item->view).get()}) {
      EXPECT_EQ(map->data.Find("k") != nullptr ? *map->data.Find("k") : "", "v");
      EXPECT_EQ(map->kind, "ConfigMap");
      EXPECT_EQ(map->api_version, "v1");
      EXPECT_EQ(map->metadata.resource_version, "7");
    }
  }
}

TEST(WireTest, AStatusIsAnEmptyItem) {
  const auto item = DecodeItem(
      Type(), R"({"kind":"Status","apiVersion":"v1","status":"Success"})", Format::kJson);
  ASSERT_TRUE(item);
  EXPECT_FALSE(item->object);
}

TEST(WireTest, BrokenAnswersAreErrors) {
  for (const Format format : {Format::kJson, Format::kProtobuf}) {
    for (const std::string_view bytes : {"", "rubbish", "[1]", "k8s", "{\"metadata\":3}"}) {
      EXPECT_FALSE(DecodeItem(Type(), bytes, format)) << bytes;
      EXPECT_FALSE(DecodeList(Type(), bytes, format) &&
                   !DecodeList(Type(), bytes, format)->items.empty())
          << bytes;
    }
  }
}

TEST(WireTest, Lists) {
  const std::string json =
      R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9","continue":"c"},"items":[)" +
      std::string(kObject) + "," + std::string(kObject) + "]}";
  const auto from_json = DecodeList(Type(), json, Format::kJson);
  ASSERT_TRUE(from_json) << from_json.error().ToString();

  const auto item = DecodeItem(Type(), kObject, Format::kJson);
  std::string object;
  schema::EncodeProtobuf(Type(), item->view.get(), object);
  std::string list;
  std::string metadata;
  AppendField(metadata, '\x12', "9");
  AppendField(metadata, '\x1a', "c");
  AppendField(list, '\x0a', metadata);
  AppendField(list, '\x12', object);
  AppendField(list, '\x12', object);
  std::string bytes;
  schema::EncodeEnvelope({.api_version = "v1", .kind = "ConfigMapList", .raw = list}, bytes);
  const auto from_protobuf = DecodeList(Type(), bytes, Format::kProtobuf);
  ASSERT_TRUE(from_protobuf) << from_protobuf.error().ToString();

  for (const ListAnswer& answer : {*from_json, *from_protobuf}) {
    EXPECT_EQ(answer.revision, 9);
    EXPECT_EQ(answer.continue_token, "c");
    ASSERT_EQ(answer.items.size(), 2U);
    EXPECT_EQ(answer.items[1].object->name(), "a");
    EXPECT_EQ(answer.items[1].object->revision(), 7);
  }
}

TEST(WireTest, WatchesInPiecesOfAnySize) {
  const std::string bookmark =
      R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"30"}})";
  std::string json;
  std::string protobuf;
  for (const char* type : {"ADDED", "MODIFIED", "DELETED"}) {
    json += R"({"type":")" + std::string(type) + R"(","object":)" + std::string(kObject) + "}\n";
    protobuf += ProtobufEvent(type, Protobuf(kObject));
  }
  json += R"({"object":)" + bookmark + R"(, "type":"BOOKMARK"})" + "\r\n";
  protobuf += ProtobufEvent("BOOKMARK", Protobuf(bookmark));
  for (const Format format : {Format::kJson, Format::kProtobuf}) {
    const std::string& bytes = format == Format::kJson ? json : protobuf;
    for (const std::size_t step : {1UL, 3UL, 100UL, 100'000UL}) {
      WatchSplitter splitter(Type(), format);
      std::vector<WatchEvent> events;
      for (std::size_t at = 0; at < bytes.size(); at += step) {
        const auto fed = splitter.Feed(std::string_view(bytes).substr(at, step), events);
        ASSERT_TRUE(fed) << fed.error().ToString();
      }
      EXPECT_EQ(Describe(events), "0@7a 1@7a 2@7a 3@30 ");
    }
  }
}

TEST(WireTest, AnErrorEventEndsAWatch) {
  const std::string status =
      R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"too old resource version: 1","reason":"Expired","code":410})";
  WatchSplitter json(Type(), Format::kJson);
  std::vector<WatchEvent> events;
  auto fed = json.Feed(R"({"type":"ERROR","object":)" + status + "}\n", events);
  ASSERT_FALSE(fed);
  EXPECT_EQ(fed.error().reason(), base::Reason::kExpired);
  EXPECT_EQ(fed.error().code(), 410);

  api::meta::Status wire;
  wire.message = "too old resource version: 1";
  wire.reason = "Expired";
  wire.code = 410;
  WatchSplitter protobuf(Type(), Format::kProtobuf);
  fed = protobuf.Feed(
      ProtobufEvent("ERROR",
                    EncodeBody(api::Desc<api::meta::Status>(), &wire, 0, Format::kProtobuf)),
      events);
  ASSERT_FALSE(fed);
  EXPECT_EQ(fed.error().reason(), base::Reason::kExpired);
  EXPECT_EQ(fed.error().message(), "too old resource version: 1");
  EXPECT_TRUE(events.empty());
}

TEST(WireTest, RubbishInAWatchIsAnError) {
  std::vector<WatchEvent> events;
  WatchSplitter json(Type(), Format::kJson);
  EXPECT_FALSE(json.Feed("rubbish\n", events));
  WatchSplitter protobuf(Type(), Format::kProtobuf);
  EXPECT_FALSE(protobuf.Feed("rubbish that is long enough", events));
  WatchSplitter empty(Type(), Format::kProtobuf);
  EXPECT_FALSE(empty.Feed(std::string("\0\0\0\2\x0a\x05", 6), events));
  EXPECT_TRUE(events.empty());
}

TEST(WireTest, StatusWithDetails) {
  const auto status = DecodeStatus(
      404,
      R"({"kind":"Status","message":"pods \"x\" not found","reason":"NotFound","details":{"name":"x","kind":"pods","causes":[{"field":"f","message":"m","reason":"r"}]},"code":404})");
  EXPECT_EQ(status.reason(), base::Reason::kNotFound);
  ASSERT_NE(status.details(), nullptr);
  EXPECT_EQ(status.details()->name, "x");
  EXPECT_EQ(status.details()->causes.size(), 1U);
  EXPECT_THAT(DecodeStatus(502, "<html>").message(), HasSubstr("502: <html>"));
  EXPECT_EQ(DecodeStatus(502, "").code(), 502);
  EXPECT_EQ(DecodeStatus(500, std::string("k8s\0rubbish", 11)).code(), 500);
}

}  // namespace
}  // namespace allot::client
