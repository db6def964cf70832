#include "controllers/namespaces/namespace_controller.h"

#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/core/v1.gen.h"
#include "api/resource/v1.gen.h"
#include "testing/component_fixture.h"

namespace allot::controllers {
namespace {

using api::core::ConfigMap;
using api::core::Namespace;
using api::core::Pod;
using api::resource::ResourceClaim;
using std::chrono::seconds;
using ::testing::HasSubstr;

class NamespaceTest : public allot::testing::ComponentTest {
 protected:
  void SetUp() override {
    for (const std::string name : {"ends", "stays"}) {
      api.Add<Namespace>(R"({"metadata":{"name":")" + name +
                         R"("},"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}})");
      api.Add<ConfigMap>(R"({"metadata":{"name":"c","namespace":")" + name + R"("}})");
      api.Add<Pod>(R"({"metadata":{"name":"p","namespace":")" + name + R"("}})");
    }
    controller = std::make_unique<NamespaceController>(context);
    context.StartInformers();
    Run();
  }
  void End() {
    ASSERT_TRUE(client::Delete<Namespace>(client, "", "ends"));
    Run();
  }
  /// "reason: message" of a condition.
  std::string Condition(std::string_view type) {
    const auto ns = api.Get<Namespace>("", "ends");
    for (std::size_t i = 0; ns && i < ns->status.conditions.size(); ++i) {
      const auto& condition = ns->status.conditions[i];
      if (condition.type == type) {
        return std::string(condition.reason) + ": " + std::string(condition.message);
      }
    }
    return "none";
  }

  Context context{client, loop, metrics, log};
  std::unique_ptr<NamespaceController> controller;
};

TEST_F(NamespaceTest, ADeletedNamespaceIsEmptiedAndGoesNoOtherIsTouched) {
  EXPECT_TRUE(api.Get<Pod>("ends", "p"));
  End();
  Pass(seconds(2));
  EXPECT_FALSE(api.Get<Namespace>("", "ends"));
  EXPECT_TRUE(api.All<Pod>("ends").empty());
  EXPECT_TRUE(api.All<ConfigMap>("ends").empty());
  EXPECT_TRUE(api.Get<Namespace>("", "stays"));
  EXPECT_TRUE(api.Get<Pod>("stays", "p"));
  EXPECT_TRUE(api.Get<ConfigMap>("stays", "c"));
}

TEST_F(NamespaceTest, WhatHoldsItIsShownUntilItIsGone) {
  api.Add<ResourceClaim>(
      R"({"metadata":{"name":"held","namespace":"ends","finalizers":["example.com/hold"]}})");
  End();
  Pass(seconds(1));
  const auto ns = api.Get<Namespace>("", "ends");
  ASSERT_TRUE(ns);
  EXPECT_EQ(ns->status.phase, "Terminating");
  EXPECT_EQ(Condition("NamespaceContentRemaining"),
            "SomeResourcesRemain: Some resources are remaining: resourceclaims.resource.k8s.io has "
            "1 resource instances");
  EXPECT_EQ(Condition("NamespaceFinalizersRemaining"),
            "SomeFinalizersRemain: Some content in the namespace has finalizers remaining: "
            "example.com/hold in 1 resource instances");
  EXPECT_EQ(Condition("NamespaceDeletionContentFailure"),
            "ContentDeleted: All content successfully deleted, may be waiting on finalization");
  api.Remove(client::ResourceOf<ResourceClaim>(), "ends", "held");
  Pass(seconds(1));
  EXPECT_FALSE(api.Get<Namespace>("", "ends"));
}

TEST_F(NamespaceTest, AKindThatCannotBeDeletedDoesNotKeepTheOthersAlive) {
  api.FailWith([](const client::Request& request) -> base::Result<void> {
    if (request.verb == client::Verb::kDeleteCollection && request.resource->kind == "ConfigMap") {
      return base::Error(base::Reason::kInternalError, "no");
    }
    return {};
  });
  End();
  Pass(seconds(1));
  EXPECT_TRUE(api.All<Pod>("ends").empty());
  EXPECT_THAT(Condition("NamespaceDeletionContentFailure"), HasSubstr("1 remaining: no"));
  api.FailWith({});
  Pass(seconds(30));
  EXPECT_FALSE(api.Get<Namespace>("", "ends"));
}

}  // namespace
}  // namespace allot::controllers
