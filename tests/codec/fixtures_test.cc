// Round trips of the Kubernetes fixtures: JSON -> struct -> protobuf and protobuf -> struct -> JSON
// give the very bytes. The fixtures are not part of the project; without them the test is skipped.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/registry.h"
#include "base/arena.h"
#include "schema/codec.h"
#include "text/json.h"

namespace allot {
namespace {

std::filesystem::path SharedFolder() {
  const char* const named = std::getenv("ALLOT_SHARED");
  return named != nullptr ? named : "../shared";
}

std::string Read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Fixture {
  std::string name;
  const api::KindInfo* kind = nullptr;
  std::string json;  // compact
  std::string protobuf;
};

/// Fixtures named group.version.Kind.json whose kind is served.
std::vector<Fixture> Fixtures() {
  std::vector<Fixture> fixtures;
  const auto folder = SharedFolder() / "data/k8s-fixtures";
  if (!std::filesystem::is_directory(folder)) {
    return fixtures;
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") {
      continue;
    }
    const std::string stem = entry.path().stem().string();
    const std::size_t kind_at = stem.rfind('.');
    const std::size_t version_at = stem.rfind('.', kind_at - 1);
    const std::string group = stem.substr(0, version_at);
    const auto* const kind = api::FindKind(group == "core" ? "" : group,
                                           stem.substr(version_at + 1, kind_at - version_at - 1),
                                           stem.substr(kind_at + 1));
    if (kind == nullptr || kind->type == nullptr) {
      continue;
    }
    Fixture fixture{.name = stem, .kind = kind, .json = {}, .protobuf = {}};
    text::AppendCompactJson(Read(entry.path()), fixture.json);
    auto binary = entry.path();
    fixture.protobuf = Read(binary.replace_extension(".pb"));
    fixtures.push_back(std::move(fixture));
  }
  return fixtures;
}

TEST(Fixtures, RoundTrip) {
  const auto fixtures = Fixtures();
  if (fixtures.empty()) {
    GTEST_SKIP() << "no fixtures: neither $ALLOT_SHARED nor ../shared has data/k8s-fixtures";
  }
  for (const Fixture& fixture : fixtures) {
    SCOPED_TRACE(fixture.name);
    const auto& type = *fixture.kind->type;
    base::Arena arena;
    void* const from_json = arena.Allocate(type.size, type.alignment);
    std::memset(from_json, 0, type.size);
    schema::StrictFindings strict;
    const auto decoded =
        schema::DecodeJson(type, fixture.json, arena, from_json, {.strict = &strict});
    ASSERT_TRUE(decoded.has_value()) << decoded.error().message();
    EXPECT_TRUE(strict.errors.empty()) << strict.errors.front();

    std::string json;
    schema::EncodeJson(type, from_json, json);
    EXPECT_EQ(json, fixture.json);

    std::string body;
    schema::EncodeProtobuf(type, from_json, body);
    std::string enveloped;
    schema::EncodeEnvelope({fixture.kind->api_version, fixture.kind->kind, body}, enveloped);
    EXPECT_TRUE(enveloped == fixture.protobuf)
        << "sizes " << enveloped.size() << " and " << fixture.protobuf.size();

    const auto envelope = schema::DecodeEnvelope(fixture.protobuf);
    ASSERT_TRUE(envelope.has_value());
    EXPECT_EQ(envelope->kind, fixture.kind->kind);
    void* const from_protobuf = arena.Allocate(type.size, type.alignment);
    std::memset(from_protobuf, 0, type.size);
    const auto parsed = schema::DecodeProtobuf(type, envelope->raw, arena, from_protobuf);
    ASSERT_TRUE(parsed.has_value()) << parsed.error().message();
    json.clear();
    schema::EncodeJson(
        type, from_protobuf, json, {.kind = envelope->kind, .api_version = envelope->api_version});
    EXPECT_EQ(json, fixture.json);
  }
  RecordProperty("fixtures", static_cast<int>(fixtures.size()));
}

}  // namespace
}  // namespace allot
