#include "client/catalog.h"

#include <gtest/gtest.h>

#include "api/meta/v1.gen.h"
#include "api/resource/v1.gen.h"
#include "client/resources.h"

namespace allot::client {
namespace {

constexpr std::string_view kDocument = R"({"kind":"APIGroupDiscoveryList","items":[
  {"metadata":{"name":"example.com"},"versions":[
    {"version":"v2","resources":[{"resource":"things","responseKind":{"kind":"Thing"},
      "scope":"Namespaced","verbs":["delete","get","list","watch"]}]},
    {"version":"v1","resources":[{"resource":"things","responseKind":{"kind":"Thing"},
      "scope":"Namespaced","verbs":["delete","get","list","watch"]},
      {"resource":"old","responseKind":{"kind":"Old"},"scope":"Cluster","verbs":["create"]}]}]},
  {"metadata":{"name":"resource.k8s.io"},"versions":[
    {"version":"v2alpha1","resources":[{"resource":"resourceclaims",
      "responseKind":{"kind":"ResourceClaim"},"scope":"Namespaced","verbs":["list"]}]},
    {"version":"v1","resources":[{"resource":"resourceclaims",
      "responseKind":{"kind":"ResourceClaim"},"scope":"Namespaced",
      "verbs":["delete","deletecollection","list","watch"]}]}]}]})";

TEST(ResourceCatalogTest, TakesOneVersionOfEachAndOursWhereItIsServed) {
  ResourceCatalog catalog;
  std::vector<ServedResource> served;
  ASSERT_TRUE(catalog.Read(kDocument, served).has_value());
  ASSERT_EQ(served.size(), 3U);
  EXPECT_EQ(served[0].resource->plural, "things");
  EXPECT_EQ(served[0].resource->version, "v2");
  EXPECT_EQ(served[0].resource->type, &api::Desc<api::meta::PartialObjectMetadata>());
  EXPECT_TRUE(served[0].watch);
  EXPECT_FALSE(served[0].remove_collection);
  EXPECT_EQ(served[1].resource->kind, "Old");
  EXPECT_FALSE(served[1].resource->namespaced);
  EXPECT_FALSE(served[1].watch);
  EXPECT_EQ(served[2].resource, &ResourceOf<api::resource::ResourceClaim>());
}

TEST(ResourceCatalogTest, NamesTheSameThingTheSameEachTime) {
  ResourceCatalog catalog;
  std::vector<ServedResource> first;
  std::vector<ServedResource> second;
  ASSERT_TRUE(catalog.Read(kDocument, first).has_value());
  ASSERT_TRUE(catalog.Read(kDocument, second).has_value());
  EXPECT_EQ(first[0].resource, second[0].resource);
}

TEST(ResourceCatalogTest, RefusesOtherDocuments) {
  ResourceCatalog catalog;
  std::vector<ServedResource> served;
  EXPECT_FALSE(catalog.Read(R"({"kind":"APIGroupList"})", served).has_value());
  EXPECT_FALSE(catalog.Read("no json", served).has_value());
}

}  // namespace
}  // namespace allot::client
