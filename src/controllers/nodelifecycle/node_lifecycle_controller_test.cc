#include "controllers/nodelifecycle/node_lifecycle_controller.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "api/coordination/v1.gen.h"
#include "api/core/v1.gen.h"
#include "controllers/tainteviction/taint_eviction_controller.h"
#include "testing/component_fixture.h"

namespace allot::controllers {
namespace {

using api::coordination::Lease;
using api::core::Node;
using api::core::Pod;
using std::chrono::seconds;

class NodeLifecycleTest : public allot::testing::ComponentTest {
 protected:
  void Start() {
    lifecycle = std::make_unique<NodeLifecycleController>(context);
    eviction = std::make_unique<TaintEvictionController>(context);
    context.StartInformers();
    Run();
  }
  void AddNode(const std::string& name, const std::string& ready, const std::string& spec = "") {
    api.Add<Node>(R"({"metadata":{"name":")" + name + R"("},"spec":{)" + spec +
                  R"(},"status":{"conditions":[{"type":"Ready","status":")" + ready + R"("}]}})");
  }
  void SetReady(const std::string& name, const std::string& ready) {
    api.Change(client::ResourceOf<Node>(),
               "",
               name,
               R"({"status":{"conditions":[{"type":"Ready","status":")" + ready + R"("}]}})");
    Run();
  }
  void Beat(const std::string& name) {
    api.Change(client::ResourceOf<Lease>(),
               "kube-node-lease",
               name,
               R"({"spec":{"leaseDurationSeconds":)" + std::to_string(++beats) + "}}");
    Run();
  }
  void AddLease(const std::string& name) {
    api.Add<Lease>(R"({"metadata":{"name":")" + name + R"(","namespace":"kube-node-lease"}})");
  }
  std::string Taints(const std::string& name) {
    std::string text;
    for (const auto& taint : api.Get<Node>("", name)->spec.taints) {
      text += std::string(taint.key.substr(taint.key.find('/') + 1)) + ":" +
              std::string(taint.effect) + " ";
    }
    return text;
  }
  void AddPod(const std::string& name, const std::string& node, const std::string& tolerations) {
    api.Add<Pod>(R"({"metadata":{"name":")" + name + R"("},"spec":{"nodeName":")" + node +
                 R"(","tolerations":[)" + tolerations + R"(]},"status":{"phase":"Running"}})");
    Run();
  }
  bool Exists(const std::string& pod) { return static_cast<bool>(api.Get<Pod>("default", pod)); }

  Context context{client, loop, metrics, log};
  std::unique_ptr<NodeLifecycleController> lifecycle;
  std::unique_ptr<TaintEvictionController> eviction;
  int beats = 0;
};

TEST_F(NodeLifecycleTest, ConditionsBecomeTaintsAndBack) {
  AddNode("well", "True");
  AddNode("n", "True");
  Start();
  EXPECT_EQ(Taints("n"), "");
  SetReady("n", "False");
  EXPECT_EQ(Taints("n"), "not-ready:NoSchedule not-ready:NoExecute ");
  SetReady("n", "True");
  EXPECT_EQ(Taints("n"), "");
  api.Change(client::ResourceOf<Node>(), "", "n", R"({"spec":{"unschedulable":true}})");
  Run();
  EXPECT_EQ(Taints("n"), "unschedulable:NoSchedule ");
}

TEST_F(NodeLifecycleTest, ForeignTaintsStay) {
  AddNode("well", "True");
  AddNode("n", "False", R"("taints":[{"key":"example.com/mine","effect":"NoSchedule"}])");
  Start();
  SetReady("n", "True");
  EXPECT_EQ(Taints("n"), "mine:NoSchedule ");
}

TEST_F(NodeLifecycleTest, TheTaintOfANodeThatSaidNothingYetStays) {
  AddNode("well", "True");
  api.Add<Node>(R"({"metadata":{"name":"n"},"spec":{"taints":[
      {"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"}]}})");
  Start();
  EXPECT_EQ(Taints("n"), "not-ready:NoSchedule ");
  SetReady("n", "True");
  EXPECT_EQ(Taints("n"), "");
}

TEST_F(NodeLifecycleTest, ASilentNodeBecomesUnknownALeaseKeepsItWell) {
  AddNode("silent", "True");
  AddNode("beating", "True");
  AddLease("beating");
  Start();
  for (int i = 0; i < 10; ++i) {
    Pass(seconds(6));
    Beat("beating");
  }
  EXPECT_EQ(api.Get<Node>("", "beating")->status.conditions[0].status, "True");
  const auto silent = api.Get<Node>("", "silent");
  ASSERT_EQ(silent->status.conditions.size(), 4U);
  EXPECT_EQ(silent->status.conditions[0].status, "Unknown");
  EXPECT_EQ(silent->status.conditions[0].message, "Kubelet stopped posting node status.");
  EXPECT_EQ(silent->status.conditions[1].message, "Kubelet never posted node status.");
  EXPECT_EQ(Taints("silent"), "unreachable:NoSchedule unreachable:NoExecute ");
}

TEST_F(NodeLifecycleTest, WhenAllAreUnwellNobodyIsEvicted) {
  AddNode("a", "True");
  AddNode("b", "True");
  Start();
  SetReady("a", "False");
  SetReady("b", "False");
  EXPECT_EQ(Taints("b"), "not-ready:NoSchedule ");
  SetReady("a", "True");
  EXPECT_EQ(Taints("b"), "not-ready:NoSchedule not-ready:NoExecute ");
}

TEST_F(NodeLifecycleTest, PodsGoWhenTheirTolerationRunsOut) {
  AddNode("well", "True");
  AddNode("n", "True");
  Start();
  AddPod("none", "n", "");
  AddPod("while",
         "n",
         R"({"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute",
             "tolerationSeconds":10})");
  AddPod("always", "n", R"({"operator":"Exists"})");
  AddPod("elsewhere", "well", "");
  SetReady("n", "False");
  Pass(seconds(1));
  EXPECT_FALSE(Exists("none"));
  EXPECT_TRUE(Exists("while"));
  Pass(seconds(10));
  EXPECT_FALSE(Exists("while"));
  EXPECT_TRUE(Exists("always"));
  EXPECT_TRUE(Exists("elsewhere"));
  EXPECT_EQ(api.All<api::core::Event>().size(), 2U);
}

TEST_F(NodeLifecycleTest, AnEvictionThatTheDiskLostIsMadeAgain) {
  AddNode("n", "True", R"("taints":[{"key":"k","effect":"NoExecute"}])");
  AddNode("well", "True");
  Start();
  api.Hold();
  api.Add<Pod>(R"({"metadata":{"name":"p"},"spec":{"nodeName":"n"},"status":{"phase":"Running"}})");
  api.Release();
  api.Hold();
  Run();
  EXPECT_FALSE(Exists("p"));
  api.Lose();
  EXPECT_TRUE(Exists("p"));
  Run();
  EXPECT_FALSE(Exists("p"));
}

TEST_F(NodeLifecycleTest, ANodeThatRecoversKeepsItsPods) {
  AddNode("well", "True");
  AddNode("n", "True");
  Start();
  AddPod("p",
         "n",
         R"({"key":"node.kubernetes.io/not-ready","operator":"Exists","tolerationSeconds":10})");
  SetReady("n", "False");
  Pass(seconds(5));
  SetReady("n", "True");
  Pass(seconds(20));
  EXPECT_TRUE(Exists("p"));
}

}  // namespace
}  // namespace allot::controllers
