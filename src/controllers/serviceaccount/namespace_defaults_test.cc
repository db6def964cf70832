#include "controllers/serviceaccount/namespace_defaults.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "api/core/v1.gen.h"
#include "testing/component_fixture.h"

namespace allot::controllers {
namespace {

using api::core::ConfigMap;
using api::core::Namespace;
using api::core::ServiceAccount;
using std::chrono::seconds;

class NamespaceDefaultsTest : public allot::testing::ComponentTest {
 protected:
  void SetUp() override {
    accounts = std::make_unique<ServiceAccountController>(context);
    authority = std::make_unique<RootCaPublisher>(context, "PEM");
    context.StartInformers();
    Run();
  }
  void AddNamespace(const std::string& name, const std::string& phase) {
    api.Add<Namespace>(R"({"metadata":{"name":")" + name + R"("},"status":{"phase":")" + phase +
                       R"("}})");
    Run();
  }
  bool HasAccount(const std::string& ns) {
    return static_cast<bool>(api.Get<ServiceAccount>(ns, "default"));
  }
  std::string Authority(const std::string& ns) {
    const auto map = api.Get<ConfigMap>(ns, "kube-root-ca.crt");
    return map ? std::string(map->data.Get("ca.crt")) : "none";
  }

  Context context{client, loop, metrics, log};
  std::unique_ptr<ServiceAccountController> accounts;
  std::unique_ptr<RootCaPublisher> authority;
};

TEST_F(NamespaceDefaultsTest, AnActiveNamespaceGetsBoth) {
  AddNamespace("a", "Active");
  EXPECT_TRUE(HasAccount("a"));
  EXPECT_EQ(Authority("a"), "PEM");
}

TEST_F(NamespaceDefaultsTest, ATerminatingNamespaceGetsNeither) {
  AddNamespace("a", "Terminating");
  Pass(seconds(5));
  EXPECT_FALSE(HasAccount("a"));
  EXPECT_EQ(Authority("a"), "none");
}

TEST_F(NamespaceDefaultsTest, WhatIsDeletedComesBack) {
  AddNamespace("a", "Active");
  api.Remove(client::ResourceOf<ServiceAccount>(), "a", "default");
  api.Remove(client::ResourceOf<ConfigMap>(), "a", "kube-root-ca.crt");
  Run();
  EXPECT_TRUE(HasAccount("a"));
  EXPECT_EQ(Authority("a"), "PEM");
}

TEST_F(NamespaceDefaultsTest, AChangedAuthorityIsPutRightOtherMapsAreLeft) {
  AddNamespace("a", "Active");
  api.Add<ConfigMap>(R"({"metadata":{"name":"mine","namespace":"a"},"data":{"ca.crt":"other"}})");
  api.Change(client::ResourceOf<ConfigMap>(),
             "a",
             "kube-root-ca.crt",
             R"({"data":{"ca.crt":"forged","more":"x"}})");
  Run();
  EXPECT_EQ(Authority("a"), "PEM");
  EXPECT_EQ(api.Get<ConfigMap>("a", "kube-root-ca.crt")->data.size(), 1U);
  EXPECT_EQ(api.Get<ConfigMap>("a", "mine")->data.Get("ca.crt"), "other");
}

TEST_F(NamespaceDefaultsTest, NothingIsWrittenWhenAllIsThere) {
  AddNamespace("a", "Active");
  const std::uint64_t writes = api.writes();
  api.Change(client::ResourceOf<Namespace>(), "", "a", R"({"metadata":{"labels":{"x":"y"}}})");
  Pass(seconds(5));
  EXPECT_EQ(api.writes(), writes);
}

TEST_F(NamespaceDefaultsTest, ANamespaceThatEndsMeanwhileIsNoError) {
  api.FailWith([](const client::Request& request) -> base::Result<void> {
    if (request.verb != client::Verb::kCreate) {
      return {};
    }
    base::StatusDetails details;
    details.causes.push_back({.reason = "NamespaceTerminating", .message = "", .field = ""});
    return base::Error(base::Status(base::Reason::kForbidden, "it ends", std::move(details)));
  });
  AddNamespace("a", "Active");
  const std::uint64_t writes = api.writes();
  Pass(seconds(30));
  EXPECT_EQ(api.writes(), writes);  // nobody tries again
}

}  // namespace
}  // namespace allot::controllers
