// Round trips of the Kubernetes fixtures: JSON -> struct -> protobuf and protobuf -> struct -> JSON
// give the very bytes. The fixtures are not part of the project; without them the test is skipped.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/authentication/v1.gen.h"
#include "api/core/v1.gen.h"
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
  std::string api_version;
  std::string kind;
  const schema::TypeDesc* type = nullptr;
  std::string json;  // compact
  std::string protobuf;
};

/// The table of a kind: of those served, and of two that only stand inside others or below them.
const schema::TypeDesc* FindType(const std::string& group,
                                 const std::string& version,
                                 const std::string& kind) {
  for (const auto* const type :
       {&api::core::kPodTemplateDesc, &api::authentication::kTokenRequestDesc}) {
    if (type->group == group && type->version == version && type->name == kind) {
      return type;
    }
  }
  const auto* const info = api::FindKind(group, version, kind);
  return info != nullptr ? info->type : nullptr;
}

/// Fixtures named group.version.Kind.json whose kind has a table.
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
    Fixture fixture;
    fixture.name = entry.path().stem().string();
    const std::size_t kind_at = fixture.name.rfind('.');
    const std::size_t version_at = fixture.name.rfind('.', kind_at - 1);
    const std::string named = fixture.name.substr(0, version_at);
    const std::string group = named == "core" ? "" : named;
    const std::string version = fixture.name.substr(version_at + 1, kind_at - version_at - 1);
    fixture.kind = fixture.name.substr(kind_at + 1);
    fixture.api_version = group.empty() ? version : group + "/" + version;
    fixture.type = FindType(group, version, fixture.kind);
    if (fixture.type == nullptr) {
      continue;
    }
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
    GTEST_SKIP() << "no fixtures: neither $ALLOT_SHARED nor ../shared beside the checkout has "
                    "data/k8s-fixtures";
  }
  for (const Fixture& fixture : fixtures) {
    SCOPED_TRACE(fixture.name);
    const auto& type = *fixture.type;
    base::Arena arena;
    void* const from_json = schema::NewStruct(type, arena);
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
    schema::EncodeEnvelope({fixture.api_version, fixture.kind, body}, enveloped);
    EXPECT_TRUE(enveloped == fixture.protobuf)
        << "sizes " << enveloped.size() << " and " << fixture.protobuf.size();

    const auto envelope = schema::DecodeEnvelope(fixture.protobuf);
    ASSERT_TRUE(envelope.has_value());
    EXPECT_EQ(envelope->kind, fixture.kind);
    void* const from_protobuf = schema::NewStruct(type, arena);
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
