#include "node/pod_agent.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "testing/component_fixture.h"

namespace allot::node {
namespace {

using api::core::Pod;
using api::resource::ResourceClaim;
using client::Request;
using client::Verb;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// Keeps what is prepared as "node/uid"; fails while told to.
class FakePreparer final : public Preparer {
 public:
  base::Result<std::vector<std::string>> Prepare(
      std::string_view node, const schema::View<ResourceClaim>& claim) override {
    if (broken) {
      return base::Error(base::Reason::kInternalError, "driver");
    }
    prepared.push_back(std::string(node) + "/" + std::string(claim->metadata.uid));
    return std::vector<std::string>();
  }
  base::Result<void> Unprepare(std::string_view node, std::string_view claim_uid) override {
    if (broken) {
      return base::Error(base::Reason::kInternalError, "driver");
    }
    std::erase(prepared, std::string(node) + "/" + std::string(claim_uid));
    return {};
  }

  std::vector<std::string> prepared;
  bool broken = false;
};

class PodAgentTest : public allot::testing::ComponentTest {
 protected:
  void SetUp() override {
    agent.Start();
    Run();
  }
  void AddPod(const std::string& name,
              const std::string& spec = "",
              const std::string& status = "") {
    api.Add<Pod>(R"({"metadata":{"name":")" + name + R"(","uid":"uid-)" + name +
                 R"("},"spec":{"nodeName":"n","restartPolicy":"Never",)" + spec +
                 R"("containers":[{"name":"c","command":["sleep","60"]}]},"status":{)" + status +
                 "}}");
    Run();
  }
  void AddClaim(const std::string& name, const std::string& metadata, const std::string& user) {
    api.Add<ResourceClaim>(
        R"({"metadata":{"name":")" + name + R"(","uid":"uid-)" + name + "\"" + metadata +
        R"(},"spec":{"devices":{}},"status":{"allocation":{"devices":{"results":[]}},
        "reservedFor":[{"resource":"pods","name":")" +
        user + R"(","uid":"uid-)" + user + "\"}]}}");
    Run();
  }
  void Change(const std::string& name, const std::string& json) {
    api.Change(client::ResourceOf<Pod>(), "default", name, json);
  }
  std::string Phase(const std::string& name) {
    const auto pod = api.Get<Pod>("default", name);
    return pod.get() != nullptr ? std::string(pod->status.phase) : "gone";
  }
  /// Fails writes of pods of one verb this many times.
  void Fail(Verb verb, int times, base::Reason reason) {
    api.FailWith([=, left = times](const Request& request) mutable -> base::Result<void> {
      if (request.verb == verb && request.resource->kind == "Pod" && left > 0) {
        --left;
        return base::Error(reason, "told to fail");
      }
      return {};
    });
  }

  static constexpr const char* kDeleted =
      R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["hold"]}})";
  /// Marked for deletion and still there, as pods of a kubelet are: the fake API drops what nothing
  /// holds.
  void MarkDeleted(const std::string& name) { Change(name, kDeleted); }
  [[nodiscard]] bool Deleted() const { return agent.stats().deleted > 0; }

  FakePreparer preparer;
  PodAgent agent{client,
                 loop,
                 preparer,
                 [](std::string_view node) { return std::string(node == "n" ? "10.0.0.1" : ""); },
                 log};
};

TEST_F(PodAgentTest, RunsAPodToItsEnd) {
  AddPod("p");
  EXPECT_EQ(Phase("p"), "Running");
  Pass(seconds(61));
  EXPECT_EQ(Phase("p"), "Succeeded");
  EXPECT_EQ(agent.stats().ended, 1U);
  Change("p", R"({"metadata":{"labels":{"a":"b"}}})");
  Run();
  EXPECT_EQ(agent.stats().ended, 1U) << "counted once";
}

TEST_F(PodAgentTest, ADeletionThatWinsTheRaceWithAStatusIsNotMissed) {
  AddClaim("c", "", "p");
  AddPod("p", R"("resourceClaims":[{"name":"x","resourceClaimName":"c"}],)");
  EXPECT_EQ(preparer.prepared, std::vector<std::string>{"n/uid-c"});
  bool raced = false;
  api.FailWith([&](const Request& request) -> base::Result<void> {
    if (request.subresource == "status" && !raced) {
      raced = true;
      MarkDeleted("p");  // its event follows after the agent has read it
    }
    return {};
  });
  Pass(seconds(61));
  EXPECT_TRUE(raced);
  EXPECT_TRUE(Deleted());
  EXPECT_TRUE(preparer.prepared.empty());
}

TEST_F(PodAgentTest, WhatFailsIsTriedAgain) {
  for (const base::Reason reason :
       {base::Reason::kInternalError, base::Reason::kTooManyRequests, base::Reason::kConflict}) {
    SCOPED_TRACE(base::ReasonText(reason));
    const std::string name = "p" + std::to_string(static_cast<int>(reason));
    Fail(Verb::kUpdate, 5, reason);
    AddPod(name);
    EXPECT_EQ(Phase(name), "");
    Pass(seconds(20));
    EXPECT_EQ(Phase(name), "Running");
    const std::size_t deleted = agent.stats().deleted;
    Fail(Verb::kDelete, 3, reason);
    MarkDeleted(name);
    Run();
    EXPECT_EQ(agent.stats().deleted, deleted);
    Pass(seconds(5));
    EXPECT_GT(agent.stats().deleted, deleted);
  }
}

TEST_F(PodAgentTest, ALostCommitIsWrittenAgain) {
  AddPod("p", "", R"("phase":"Pending")");
  Pass(seconds(58));
  api.Hold();
  Pass(seconds(3));
  EXPECT_EQ(Phase("p"), "Succeeded");
  api.Lose();
  EXPECT_EQ(Phase("p"), "Running");
  Pass(seconds(1));
  EXPECT_EQ(Phase("p"), "Succeeded");

  AddPod("q");
  MarkDeleted("q");
  api.Hold();
  Run();
  const std::size_t deleted = agent.stats().deleted;
  EXPECT_EQ(deleted, 1U);
  api.Lose();
  Pass(seconds(1));
  EXPECT_GT(agent.stats().deleted, deleted);
}

TEST_F(PodAgentTest, AStatusThatSomebodyElseChangedIsReportedAgain) {
  AddPod("p");
  for (const char* patch : {R"({"status":null})",
                            R"({"status":{"phase":"Pending"}})",
                            R"({"status":{"podIP":"1.2.3.4"}})",
                            R"({"status":{"containerStatuses":null}})"}) {
    SCOPED_TRACE(patch);
    Change("p", patch);
    Run();
    EXPECT_EQ(Phase("p"), "Running");
    const auto pod = api.Get<Pod>("default", "p");
    EXPECT_EQ(pod->status.pod_ip, "10.64.0.1");
    EXPECT_EQ(pod->status.container_statuses.size(), 1U);
  }
  const std::uint64_t writes = api.writes();
  Change("p", R"({"metadata":{"labels":{"a":"b"}}})");
  Run();
  EXPECT_EQ(api.writes(), writes) << "nothing new to say";
}

TEST_F(PodAgentTest, AFinalPhaseThatSomebodyElseSetEndsThePod) {
  AddClaim("c", "", "p");
  AddPod("p", R"("resourceClaims":[{"name":"x","resourceClaimName":"c"}],)");
  Change("p", R"({"status":{"phase":"Failed"}})");
  Run();
  EXPECT_TRUE(preparer.prepared.empty());
  Pass(seconds(61));
  EXPECT_EQ(Phase("p"), "Failed");
  EXPECT_EQ(agent.stats().ended, 1U);
}

TEST_F(PodAgentTest, WaitsForItsClaims) {
  const std::string owned = R"(,"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p",)"
                            R"("controller":true,"uid":")";
  const std::string from_template =
      R"("resourceClaims":[{"name":"x","resourceClaimTemplateName":"t"}],)";
  const std::string status = R"("resourceClaimStatuses":[{"name":"x","resourceClaimName":"c"}])";
  struct Case {
    const char* name;
    std::string spec;
    std::string status;
    std::string owner;
    std::string user;
    bool runs;
  };
  const std::vector<Case> cases = {
      {"named", R"("resourceClaims":[{"name":"x","resourceClaimName":"c"}],)", "", "", "p", true},
      {"for another",
       R"("resourceClaims":[{"name":"x","resourceClaimName":"c"}],)",
       "",
       "",
       "q",
       false},
      {"made from a template", from_template, status, owned + "uid-p\"}]", "p", true},
      {"made for another pod", from_template, status, owned + "uid-q\"}]", "p", false},
      {"not made yet", from_template, "", "", "p", false},
      {"not needed", from_template, R"("resourceClaimStatuses":[{"name":"x"}])", "", "p", true},
      {"extended resource",
       "",
       R"("extendedResourceClaimStatus":{"resourceClaimName":"c","requestMappings":[]})",
       "",
       "p",
       true},
      {"extended resource of another",
       "",
       R"("extendedResourceClaimStatus":{"resourceClaimName":"c","requestMappings":[]})",
       "",
       "q",
       false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    AddPod("p", c.spec, c.status);
    AddClaim("c", c.owner, c.user);
    EXPECT_EQ(Phase("p"), c.runs ? "Running" : "");
    const bool prepares = c.runs && std::string_view(c.name) != "not needed";
    EXPECT_EQ(preparer.prepared.size(), prepares ? 1U : 0U);
    api.Remove(client::ResourceOf<Pod>(), "default", "p");
    api.Remove(client::ResourceOf<ResourceClaim>(), "default", "c");
    Run();
    EXPECT_TRUE(preparer.prepared.empty());
  }
}

TEST_F(PodAgentTest, ADriverThatFailsHoldsThePod) {
  preparer.broken = true;
  AddClaim("c", "", "p");
  AddPod("p", R"("resourceClaims":[{"name":"x","resourceClaimName":"c"}],)");
  EXPECT_EQ(Phase("p"), "");
  preparer.broken = false;
  Pass(seconds(1));
  EXPECT_EQ(Phase("p"), "Running");
  preparer.broken = true;
  MarkDeleted("p");
  Pass(milliseconds(200));
  EXPECT_FALSE(Deleted());
  preparer.broken = false;
  Pass(seconds(5));
  EXPECT_TRUE(Deleted());
  EXPECT_TRUE(preparer.prepared.empty());
}

}  // namespace
}  // namespace allot::node
