#include "controllers/manager.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "api/core/v1.gen.h"
#include "testing/component_fixture.h"

namespace allot::controllers {
namespace {

using api::core::ConfigMap;
using api::core::Namespace;
using api::core::ServiceAccount;

class ManagerTest : public allot::testing::ComponentTest {
 protected:
  void Start(Options options = {.root_ca = "PEM"}) {
    auto made = Manager::Make(client, loop, metrics, log, options);
    ASSERT_TRUE(made.has_value());
    manager = *std::move(made);
    manager->Start();
    Run();
  }
  void AddNamespace(const std::string& name) {
    api.Add<Namespace>(R"({"metadata":{"name":")" + name +
                       R"("},"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}})");
    Run();
  }
  std::unique_ptr<Manager> manager;
};

TEST(ControllersFlagTest, NamesMeanWhatTheyMeanUpstream) {
  struct Case {
    const char* value;
    const char* name;
    bool on;
  };
  for (const Case& c : {Case{"*", "namespace-controller", true},
                        Case{"*,-namespace-controller", "namespace-controller", false},
                        Case{"-namespace-controller,*", "namespace-controller", false},
                        Case{"namespace-controller", "namespace-controller", true},
                        Case{"namespace-controller", "garbage-collector-controller", false},
                        Case{"", "namespace-controller", false}}) {
    EXPECT_EQ(IsEnabled(c.value, c.name), c.on) << c.value;
  }
}

TEST_F(ManagerTest, UnknownNamesAreRefused) {
  const auto made = Manager::Make(client, loop, metrics, log, {.controllers = "*,-nonsense"});
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().message(), "\"nonsense\" is not in the list of known controllers");
}

TEST_F(ManagerTest, NoDeviceTaintNoEviction) {
  for (const bool taints : {true, false}) {
    const auto made = Manager::Make(client, loop, metrics, log, {.device_taints = taints});
    ASSERT_TRUE(made.has_value());
    EXPECT_EQ(std::ranges::count((*made)->running(), "device-taint-eviction-controller"),
              taints ? 1 : 0);
  }
}

TEST_F(ManagerTest, EveryNamespaceGetsItsDefaultsAndGetsThemBack) {
  Start();
  AddNamespace("ns");
  EXPECT_TRUE(api.Get<ServiceAccount>("ns", "default"));
  const auto map = api.Get<ConfigMap>("ns", "kube-root-ca.crt");
  ASSERT_TRUE(map);
  EXPECT_EQ(map->data.Get("ca.crt"), "PEM");
  api.Remove(client::ResourceOf<ServiceAccount>(), "ns", "default");
  api.Change(client::ResourceOf<ConfigMap>(),
             "ns",
             "kube-root-ca.crt",
             R"({"data":{"ca.crt":"forged","more":"x"}})");
  Run();
  EXPECT_TRUE(api.Get<ServiceAccount>("ns", "default"));
  EXPECT_EQ(api.Get<ConfigMap>("ns", "kube-root-ca.crt")->data.Get("ca.crt"), "PEM");
  EXPECT_EQ(api.Get<ConfigMap>("ns", "kube-root-ca.crt")->data.size(), 1U);
}

TEST_F(ManagerTest, ANamespaceIsEmptiedAndThenGoes) {
  Start();
  AddNamespace("ns");
  api.Add<ConfigMap>(R"({"metadata":{"name":"a","namespace":"ns"}})");
  ASSERT_TRUE(client::Delete<Namespace>(client, "", "ns").has_value());
  Run();
  Pass(std::chrono::seconds(2));
  EXPECT_TRUE(api.All<ConfigMap>("ns").empty());
  EXPECT_TRUE(api.All<ServiceAccount>("ns").empty());
  EXPECT_FALSE(api.Get<Namespace>("", "ns"));
}

TEST_F(ManagerTest, ANamespaceSaysWhatHoldsIt) {
  Start();
  AddNamespace("ns");
  api.Add<ConfigMap>(
      R"({"metadata":{"name":"a","namespace":"ns","finalizers":["example.com/hold"]}})");
  ASSERT_TRUE(client::Delete<Namespace>(client, "", "ns").has_value());
  Run();
  Pass(std::chrono::seconds(2));
  const auto ns = api.Get<Namespace>("", "ns");
  ASSERT_TRUE(ns);
  EXPECT_EQ(ns->status.phase, "Terminating");
  std::string remaining;
  std::string held;
  for (const auto& condition : ns->status.conditions) {
    if (condition.type == "NamespaceContentRemaining") {
      remaining = condition.message;
    } else if (condition.type == "NamespaceFinalizersRemaining") {
      held = condition.message;
    }
  }
  EXPECT_EQ(remaining, "Some resources are remaining: configmaps. has 1 resource instances");
  EXPECT_EQ(
      held,
      "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource "
      "instances");
  const std::uint64_t writes = api.writes();
  Pass(std::chrono::milliseconds(500));
  EXPECT_LE(api.writes() - writes, 2U) << "the conditions are not written again and again";
  api.Remove(client::ResourceOf<ConfigMap>(), "ns", "a");
  Pass(std::chrono::seconds(2));
  EXPECT_FALSE(api.Get<Namespace>("", "ns"));
}

TEST_F(ManagerTest, PodsOfANodeThatIsGoneAreRemoved) {
  Start();
  api.Add<api::core::Node>(R"({"metadata":{"name":"n"}})");
  api.Add<api::core::Pod>(
      R"({"metadata":{"name":"p"},"spec":{"nodeName":"n"},"status":{"phase":"Running"}})");
  Run();
  Pass(std::chrono::seconds(60));
  EXPECT_TRUE(api.Get<api::core::Pod>("default", "p"));
  api.Remove(client::ResourceOf<api::core::Node>(), "", "n");
  Pass(std::chrono::seconds(30));
  EXPECT_TRUE(api.Get<api::core::Pod>("default", "p")) << "the node may come back";
  Pass(std::chrono::seconds(40));
  EXPECT_FALSE(api.Get<api::core::Pod>("default", "p"));
}

}  // namespace
}  // namespace allot::controllers
