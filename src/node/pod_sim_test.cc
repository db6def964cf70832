#include "node/pod_sim.h"

#include <gtest/gtest.h>

namespace allot::node {
namespace {

using api::core::Pod;
using std::chrono::seconds;

const base::WallTime kStart{seconds(1'800'000'000)};

struct Spec {
  std::string_view restart_policy = "Never";
  std::vector<std::string_view> command;
  std::vector<std::string_view> init;  // its command; empty = no init container
};

schema::Draft<Pod> MakePod(const Spec& spec) {
  schema::Draft<Pod> pod;
  pod->metadata.uid = "u";
  pod->spec.restart_policy = spec.restart_policy;
  const auto fill = [&pod](schema::List<api::core::Container>& list,
                           const std::vector<std::string_view>& words) {
    auto* const container = pod.MutableList(list, 1);
    container->name = "c";
    auto* const command = pod.MutableList(container->command, words.size());
    std::copy(words.begin(), words.end(), command);
  };
  fill(pod->spec.containers, spec.command);
  if (!spec.init.empty()) {
    fill(pod->spec.init_containers, spec.init);
  }
  return pod;
}

PodSim Started(const Spec& spec) {
  return PodSim(*MakePod(spec), {"10.0.0.1", "10.64.0.1"}, kStart);
}

TEST(PodSimTest, FinitePodRunsThenSucceeds) {
  PodSim sim = Started({.command = {"sleep", "5"}});
  EXPECT_EQ(sim.Phase(), "Running");
  EXPECT_EQ(sim.NextChange(), kStart + seconds(5));
  EXPECT_FALSE(sim.Advance(kStart + seconds(4)));
  EXPECT_TRUE(sim.Advance(kStart + seconds(5)));
  EXPECT_EQ(sim.Phase(), "Succeeded");
  EXPECT_FALSE(sim.NextChange());
}

TEST(PodSimTest, BadExitFails) {
  PodSim sim = Started({.command = {"sh", "-c", "sleep 1; exit 3"}});
  sim.Advance(kStart + seconds(1));
  EXPECT_EQ(sim.Phase(), "Failed");
  auto pod = MakePod({});
  sim.Fill(pod, kStart + seconds(1));
  ASSERT_NE(pod->status.container_statuses[0].state.terminated, nullptr);
  EXPECT_EQ(pod->status.container_statuses[0].state.terminated->exit_code, 3);
}

TEST(PodSimTest, ServersRunUntilStopped) {
  PodSim sim = Started({.restart_policy = "Always", .command = {"nginx"}});
  EXPECT_FALSE(sim.NextChange());
  auto pod = MakePod({});
  sim.Fill(pod, kStart);
  EXPECT_EQ(pod->status.phase, "Running");
  EXPECT_EQ(pod->status.pod_ip, "10.64.0.1");
  for (const auto& condition : pod->status.conditions) {
    EXPECT_EQ(condition.status, "True") << condition.type;
  }
}

TEST(PodSimTest, RestartPolicyAlwaysRestartsWithBackOff) {
  PodSim sim = Started({.restart_policy = "Always", .command = {"sleep", "1"}});
  sim.Advance(kStart + seconds(1));
  EXPECT_EQ(sim.Phase(), "Running");
  auto pod = MakePod({});
  sim.Fill(pod, kStart + seconds(1));
  ASSERT_NE(pod->status.container_statuses[0].state.waiting, nullptr);
  EXPECT_EQ(sim.NextChange(), kStart + seconds(11));
  sim.Advance(kStart + seconds(11));
  sim.Fill(pod, kStart + seconds(11));
  EXPECT_EQ(pod->status.container_statuses[0].restart_count, 1);
  ASSERT_NE(pod->status.container_statuses[0].state.running, nullptr);
}

TEST(PodSimTest, ContainersWaitForInitContainers) {
  PodSim sim = Started({.command = {"nginx"}, .init = {"sleep", "2"}});
  EXPECT_EQ(sim.Phase(), "Pending");
  sim.Advance(kStart + seconds(2));
  EXPECT_EQ(sim.Phase(), "Running");
}

TEST(PodSimTest, FailedInitContainerFailsThePodThatNeverRestarts) {
  PodSim sim = Started({.command = {"nginx"}, .init = {"false"}});
  EXPECT_EQ(sim.Phase(), "Failed");
}

TEST(PodSimTest, TakesUpARunningPodAfterARestartOfTheAgent) {
  PodSim first = Started({.command = {"sleep", "60"}});
  auto pod = MakePod({.command = {"sleep", "60"}});
  first.Fill(pod, kStart);
  PodSim second(*pod, {"10.0.0.1", "10.64.9.9"}, kStart + seconds(30));
  EXPECT_EQ(second.Phase(), "Running");
  EXPECT_EQ(second.NextChange(), kStart + seconds(60));
  second.Fill(pod, kStart + seconds(30));
  EXPECT_EQ(pod->status.pod_ip, "10.64.0.1");
}

}  // namespace
}  // namespace allot::node
