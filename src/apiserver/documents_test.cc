// Tests of the documents clients learn the API from: OpenAPI and what it is made of.
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "api/core/v1.gen.h"
#include "api/gates.h"
#include "apiserver/openapi.h"
#include "apiserver/openapi_schema.h"
#include "apiserver/resources.h"
#include "store/local_store.h"
#include "text/json.h"

namespace allot::apiserver {
namespace {

class DocumentsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = store::OpenLocal(store::MakeMemoryLog(), {});
    ASSERT_TRUE(opened.has_value());
    store_ = *std::move(opened);
    auto resources = ResourceSet::Make(*store_, gates_, RuntimeConfig());
    ASSERT_TRUE(resources.has_value());
    resources_ = *std::move(resources);
  }

  api::GateSet gates_;
  std::unique_ptr<store::Store> store_;
  ResourceSet resources_;
};

TEST_F(DocumentsTest, OpenApiHasWhatKubectlReads) {
  const OpenApi openapi(resources_, "v1.37.2");
  const auto document = text::ParseJson(openapi.MakeDocument("apis/resource.k8s.io/v1"));
  ASSERT_TRUE(document.has_value()) << document.error().message();
  const text::Value* const patch = document->FindPath(
      {"paths", "/apis/resource.k8s.io/v1/namespaces/{namespace}/resourceclaims/{name}", "patch"});
  ASSERT_NE(patch, nullptr);
  EXPECT_EQ(patch->FindPath({"x-kubernetes-group-version-kind", "kind"})->AsString(),
            "ResourceClaim");
  EXPECT_NE(patch->FindPath({"requestBody", "content", "application/strategic-merge-patch+json"}),
            nullptr);
  bool has_field_validation = false;
  for (const text::Value& parameter : patch->FindPath({"parameters"})->items()) {
    has_field_validation |= parameter.Find("name")->AsString() == "fieldValidation";
  }
  EXPECT_TRUE(has_field_validation);
  const text::Value* const reserved =
      document->FindPath({"components",
                          "schemas",
                          "io.k8s.api.resource.v1.ResourceClaimStatus",
                          "properties",
                          "reservedFor"});
  ASSERT_NE(reserved, nullptr);
  EXPECT_EQ(reserved->Find("x-kubernetes-patch-merge-key")->AsString(), "uid");
  EXPECT_EQ(reserved->Find("x-kubernetes-list-type")->AsString(), "map");
  EXPECT_TRUE(openapi.MakeDocument("apis/nothing/v1").empty());
}

TEST_F(DocumentsTest, EveryReferenceOfTheCoreDocumentIsDefined) {
  const OpenApi openapi(resources_, "v1.37.2");
  const std::string text = openapi.MakeDocument("api/v1");
  const auto document = text::ParseJson(text);
  ASSERT_TRUE(document.has_value()) << document.error().message();
  const text::Value* const schemas = document->FindPath({"components", "schemas"});
  ASSERT_NE(schemas, nullptr);
  constexpr std::string_view kPrefix = "#/components/schemas/";
  for (std::size_t at = text.find(kPrefix); at != std::string::npos;
       at = text.find(kPrefix, at + 1)) {
    const std::size_t begin = at + kPrefix.size();
    const std::string name = text.substr(begin, text.find('"', begin) - begin);
    EXPECT_NE(schemas->Find(name), nullptr) << name;
  }
}

TEST_F(DocumentsTest, RuntimeConfigDecidesWhatIsServed) {
  struct Case {
    std::string config;
    bool claims;
    bool pods;
  };
  const Case cases[] = {
      {"", true, true},
      {"resource.k8s.io/v1=false", false, true},
      {"api/all=false,v1=true", false, true},
      {"resource.k8s.io/v1/resourceclaims=false", false, true},
      {"api/ga=true", true, true},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.config);
    const auto config = RuntimeConfig::Parse(one.config);
    ASSERT_TRUE(config.has_value());
    const auto set = ResourceSet::Make(*store_, gates_, *config);
    ASSERT_TRUE(set.has_value());
    EXPECT_EQ(set->Find("resource.k8s.io", "v1", "resourceclaims") != nullptr, one.claims);
    EXPECT_EQ(set->Find("", "v1", "pods") != nullptr, one.pods);
  }
  EXPECT_FALSE(RuntimeConfig::Parse("api/all=maybe").has_value());
  EXPECT_FALSE(RuntimeConfig::Parse("nonsense=true").has_value());
}

}  // namespace
}  // namespace allot::apiserver
