#include "controllers/podgc/pod_gc_controller.h"

#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/core/v1.gen.h"
#include "testing/component_fixture.h"

namespace allot::controllers {
namespace {

using api::core::Node;
using api::core::Pod;
using std::chrono::seconds;
using ::testing::ElementsAre;

class PodGcTest : public allot::testing::ComponentTest {
 protected:
  void Start(std::size_t threshold = 0) {
    controller = std::make_unique<PodGcController>(
        context, PodGcController::Options{.terminated_threshold = threshold});
    context.StartInformers();
    Run();
  }
  void AddNode(const std::string& name) {
    api.Add<Node>(R"({"metadata":{"name":")" + name + R"("}})");
    Run();
  }
  /// `meta` and `spec`: more members of the pod's.
  void AddPod(const std::string& name,
              const std::string& spec,
              const std::string& phase = "Running",
              const std::string& meta = "") {
    api.Add<Pod>(R"({"metadata":{"name":")" + name + "\"" + meta + R"(},"spec":{)" + spec +
                 R"(},"status":{"phase":")" + phase + R"("}})");
    Run();
  }
  std::vector<std::string> Pods() {
    std::vector<std::string> names;
    for (const auto& pod : api.All<Pod>()) {
      names.emplace_back(pod->metadata.name);
    }
    return names;
  }

  Context context{client, loop, metrics, log};
  std::unique_ptr<PodGcController> controller;
};

TEST_F(PodGcTest, PodsOfALostNodeGoAfterTheQuarantine) {
  AddNode("lost");
  AddNode("there");
  AddPod("a", R"("nodeName":"lost")");
  AddPod("b", R"("nodeName":"there")");
  Start();
  api.Remove(client::ResourceOf<Node>(), "", "lost");
  Pass(seconds(39));
  EXPECT_THAT(Pods(), ElementsAre("a", "b"));
  Pass(seconds(22));
  EXPECT_THAT(Pods(), ElementsAre("b"));
}

TEST_F(PodGcTest, ANodeThatComesBackKeepsItsPods) {
  AddNode("n");
  AddPod("a", R"("nodeName":"n")");
  Start();
  api.Remove(client::ResourceOf<Node>(), "", "n");
  Pass(seconds(30));
  AddNode("n");
  Pass(seconds(120));
  EXPECT_THAT(Pods(), ElementsAre("a"));
}

TEST_F(PodGcTest, APodHeldByAFinalizerIsToldWhy) {
  AddPod("a", R"("nodeName":"never")", "Running", R"(,"finalizers":["example.com/hold"])");
  Start();
  Pass(seconds(61));
  const auto pod = api.Get<Pod>("default", "a");
  ASSERT_TRUE(pod);
  EXPECT_NE(pod->metadata.deletion_timestamp, nullptr);
  ASSERT_EQ(pod->status.conditions.size(), 1U);
  EXPECT_EQ(pod->status.conditions[0].type, "DisruptionTarget");
  EXPECT_EQ(pod->status.conditions[0].reason, "DeletionByPodGC");
  EXPECT_EQ(pod->status.conditions[0].message, "PodGC: node no longer exists");
}

TEST_F(PodGcTest, APodDeletedBeforeItWasPlacedGoes) {
  AddPod("waits", "", "Pending");
  AddPod("ends", "", "Pending", R"(,"finalizers":["example.com/hold"])");
  Start();
  static_cast<void>(client::Delete<Pod>(client, "default", "ends"));
  std::vector<client::Request> deletes;
  api.FailWith([&](const client::Request& request) -> base::Result<void> {
    if (request.verb == client::Verb::kDelete) {
      EXPECT_EQ(request.name, "ends");
      EXPECT_EQ(request.options.grace_period_seconds, 0);
      deletes.push_back(request);
    }
    return {};
  });
  Pass(seconds(21));
  EXPECT_EQ(deletes.size(), 1U);
  EXPECT_EQ(Pods().size(), 2U);
}

TEST_F(PodGcTest, TheOldestFinishedPodsBeyondTheThresholdGo) {
  AddPod("first", "", "Succeeded");
  AddPod("runs", "", "Running");
  AddPod("second", "", "Failed");
  AddPod("third", "", "Succeeded");
  Start(/*threshold=*/2);
  Pass(seconds(21));
  EXPECT_THAT(Pods(), ElementsAre("runs", "second", "third"));
}

TEST_F(PodGcTest, AThresholdOfZeroKeepsAllFinishedPods) {
  AddPod("a", "", "Succeeded");
  Start(/*threshold=*/0);
  Pass(seconds(60));
  EXPECT_THAT(Pods(), ElementsAre("a"));
}

}  // namespace
}  // namespace allot::controllers
