#include "scheduler/scheduler.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "api/events/v1.gen.h"
#include "api/pod_claims.h"
#include "base/random.h"
#include "testing/component_fixture.h"

namespace allot::scheduler {
namespace {

using api::core::Node;
using api::core::Pod;
using api::events::Event;
using api::resource::DeviceClass;
using api::resource::ResourceClaim;
using api::resource::ResourceSlice;
using std::chrono::milliseconds;
using std::chrono::seconds;

class SchedulerTest : public allot::testing::ComponentTest {
 protected:
  void Start() {
    scheduler = std::make_unique<Scheduler>(*use, loop, metrics, log, random, options);
    scheduler->Start();
    Run();
  }
  void AddNode(const std::string& name) {
    api.Add<Node>(R"({"metadata":{"name":")" + name + R"(","labels":{"kubernetes.io/hostname":")" +
                  name + R"("}},"status":{"allocatable":{"cpu":"8","memory":"32Gi","pods":"110"},
                  "conditions":[{"type":"Ready","status":"True"}]}})");
  }
  void AddClass() {
    api.Add<DeviceClass>(R"({"metadata":{"name":"c"},"spec":{"selectors":
        [{"cel":{"expression":"device.driver == \"d.example.com\""}}]}})");
  }
  void AddSlice(const std::string& node, int devices) {
    std::string list;
    for (int i = 0; i < devices; ++i) {
      list += (i != 0 ? "," : "");
      list += R"({"name":"d)" + std::to_string(i) + R"("})";
    }
    api.Add<ResourceSlice>(R"({"metadata":{"name":"slice-)" + node +
                           R"("},"spec":{"driver":"d.example.com","pool":{"name":")" + node +
                           R"(","generation":1,"resourceSliceCount":1},"nodeName":")" + node +
                           R"(","devices":[)" + list + "]}}");
  }
  void AddClaim(const std::string& name, const std::string& metadata = "") {
    api.Add<ResourceClaim>(R"({"metadata":{"name":")" + name + "\"" + metadata +
                           R"(},"spec":{"devices":{"requests":[{"name":"r","exactly":
        {"deviceClassName":"c","allocationMode":"ExactCount","count":1}}]}}})");
  }
  void AddPod(const std::string& name,
              const std::string& claim = "",
              const std::string& more = "") {
    std::string claims;
    if (!claim.empty()) {
      claims = R"(,"resourceClaims":[{"name":"x","resourceClaimName":")" + claim + R"("}])";
    }
    api.Add<Pod>(R"({"metadata":{"name":")" + name + R"(","uid":"uid-)" + name +
                 R"(","generation":1},"spec":{"schedulerName":"default-scheduler","containers":
        [{"name":"m","resources":{"requests":{"cpu":"1"}}}])" +
                 claims + more + R"(},"status":{"phase":"Pending"}})");
  }
  /// A pod with its generated claim, as the claim controller leaves them.
  void AddTemplatePod(const std::string& name) {
    AddClaim(name + "-x",
             R"(,"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":")" + name +
                 R"(","uid":"uid-)" + name + R"(","controller":true}])");
    api.Add<Pod>(R"({"metadata":{"name":")" + name + R"(","uid":"uid-)" + name +
                 R"(","generation":1},"spec":{"schedulerName":"default-scheduler","containers":
        [{"name":"m"}],"resourceClaims":[{"name":"x","resourceClaimTemplateName":"t"}]},
        "status":{"phase":"Pending","resourceClaimStatuses":[{"name":"x","resourceClaimName":")" +
                 name + R"(-x"}]}})");
  }
  std::string NodeOf(const std::string& pod) {
    return std::string(api.Get<Pod>("default", pod)->spec.node_name);
  }
  std::string Reason(const std::string& pod) {
    const auto view = api.Get<Pod>("default", pod);
    for (const auto& condition : view->status.conditions) {
      if (condition.type == "PodScheduled") {
        return std::string(condition.reason);
      }
    }
    return "";
  }
  std::string Message(const std::string& pod) {
    const auto view = api.Get<Pod>("default", pod);
    for (const auto& condition : view->status.conditions) {
      if (condition.type == "PodScheduled") {
        return std::string(condition.message);
      }
    }
    return "";
  }
  std::vector<std::string> Notes() {
    std::vector<std::string> notes;
    for (const auto& event : api.All<Event>()) {
      notes.push_back(std::string(event->reason) + ": " + std::string(event->note));
    }
    return notes;
  }
  schema::View<ResourceClaim> Claim(const std::string& name) {
    return api.Get<ResourceClaim>("default", name);
  }

  Options options;
  base::Random random{3};
  client::Client* use = &client;
  std::unique_ptr<Scheduler> scheduler;
};

TEST_F(SchedulerTest, AllocatesReservesBindsAndTells) {
  AddNode("n1");
  AddClass();
  AddSlice("n1", 1);
  AddClaim("c");
  Start();
  AddPod("p", "c");
  const std::uint64_t writes = api.writes();
  Run();
  EXPECT_EQ(NodeOf("p"), "n1");
  const auto claim = Claim("c");
  ASSERT_NE(claim->status.allocation, nullptr);
  ASSERT_EQ(claim->status.allocation->devices.results.size(), 1U);
  EXPECT_EQ(claim->status.allocation->devices.results[0].device, "d0");
  EXPECT_NE(claim->status.allocation->allocation_timestamp, nullptr);
  ASSERT_EQ(claim->status.reserved_for.size(), 1U);
  EXPECT_EQ(claim->status.reserved_for[0].uid, "uid-p");
  EXPECT_TRUE(api::HasFinalizer(claim->metadata, api::kClaimFinalizer));
  EXPECT_EQ(Notes(),
            (std::vector<std::string>{"Scheduled: Successfully assigned default/p to n1"}));
  EXPECT_EQ(api.writes() - writes, 4U) << "finalizer, claim status, binding, event";
  EXPECT_EQ(metrics.Value("scheduler_schedule_attempts_total",
                          {{"profile", "default-scheduler"}, {"result", "scheduled"}}),
            1);
  EXPECT_EQ(scheduler->queue().size(), 0U);
  for (const char* type : {"nodes", "pods", "claims"}) {
    EXPECT_EQ(metrics.Value("scheduler_cache_size", {{"type", type}}), 1) << type;
  }
}

TEST_F(SchedulerTest, APodThatDoesNotFitIsToldWhyAndTriedWhenADeviceComes) {
  AddNode("n1");
  AddClass();
  AddClaim("c");
  Start();
  AddPod("p", "c");
  Run();
  EXPECT_EQ(Reason("p"), "Unschedulable");
  EXPECT_EQ(Message("p"),
            "0/1 nodes are available: 1 cannot allocate all claims. preemption: 0/1 nodes are "
            "available: 1 Preemption is not helpful for scheduling.");
  EXPECT_EQ(Notes(), (std::vector<std::string>{"FailedScheduling: " + Message("p")}));
  const std::uint64_t writes = api.writes();
  Pass(seconds(30));
  EXPECT_EQ(api.writes(), writes) << "nothing happened, so nothing is tried";
  AddSlice("n1", 1);
  Run();
  EXPECT_EQ(NodeOf("p"), "n1");
}

TEST_F(SchedulerTest, PodsWhoseClaimsAreMissingWaitWithoutAWord) {
  AddNode("n1");
  AddClass();
  AddSlice("n1", 1);
  Start();
  AddPod("p", "c");
  AddPod("gated", "", R"(,"schedulingGates":[{"name":"example.com/hold"}])");
  Run();
  EXPECT_EQ(scheduler->queue().Count(PodState::kGated), 2U);
  EXPECT_TRUE(Notes().empty());
  EXPECT_EQ(Reason("p"), "");
  AddClaim("c");
  api.Change(client::ResourceOf<Pod>(), "default", "gated", R"({"spec":{"schedulingGates":null}})");
  Run();
  EXPECT_EQ(NodeOf("p"), "n1");
  EXPECT_EQ(NodeOf("gated"), "n1");
}

TEST_F(SchedulerTest, NoDeviceIsGivenTwice) {
  AddNode("n1");
  AddClass();
  AddSlice("n1", 8);
  Start();
  api.Hold();  // nothing becomes visible: only the assumptions keep the pods apart
  for (int i = 0; i < 12; ++i) {
    AddTemplatePod("p" + std::to_string(i));
  }
  api.Release();
  api.Hold();
  Run();
  api.Release();
  Run();
  std::set<std::string> devices;
  int bound = 0;
  for (int i = 0; i < 12; ++i) {
    const auto claim = Claim("p" + std::to_string(i) + "-x");
    if (claim->status.allocation != nullptr) {
      ++bound;
      EXPECT_TRUE(
          devices.insert(std::string(claim->status.allocation->devices.results[0].device)).second);
    }
  }
  EXPECT_EQ(bound, 8);
  EXPECT_EQ(scheduler->queue().Count(PodState::kUnschedulable), 4U);
  EXPECT_EQ(scheduler->queue().groups(), 1U) << "equal pods wait together";
}

TEST_F(SchedulerTest, ADeviceGivenBackGoesToTheNextInLine) {
  AddNode("n1");
  AddClass();
  AddSlice("n1", 1);
  Start();
  for (int i = 0; i < 50; ++i) {
    AddTemplatePod("p" + std::to_string(i));
    Run();
    clock.Advance(milliseconds(1));
  }
  EXPECT_EQ(NodeOf("p0"), "n1");
  EXPECT_EQ(NodeOf("p1"), "");
  Pass(seconds(20));
  const auto before = scheduler->queue().stats();
  const double attempts =
      metrics.Value("scheduler_schedule_attempts_total",
                    {{"profile", "default-scheduler"}, {"result", "unschedulable"}});
  api.Remove(client::ResourceOf<Pod>(), "default", "p0");
  api.Remove(client::ResourceOf<ResourceClaim>(), "default", "p0-x");
  Run();
  EXPECT_EQ(NodeOf("p1"), "n1");
  EXPECT_EQ(NodeOf("p2"), "");
  EXPECT_LE(scheduler->queue().stats().moved - before.moved, 3U) << "not all 49 are tried";
  EXPECT_LE(metrics.Value("scheduler_schedule_attempts_total",
                          {{"profile", "default-scheduler"}, {"result", "unschedulable"}}) -
                attempts,
            2);
}

TEST_F(SchedulerTest, SharedClaimsKeepTheirNode) {
  AddNode("n1");
  AddNode("n2");
  AddClass();
  AddSlice("n2", 1);
  AddClaim("c");
  Start();
  for (const char* pod : {"a", "b", "d"}) {
    AddPod(pod, "c");
  }
  Run();
  for (const char* pod : {"a", "b", "d"}) {
    EXPECT_EQ(NodeOf(pod), "n2");
  }
  EXPECT_EQ(Claim("c")->status.reserved_for.size(), 3U);
  EXPECT_TRUE(Reason("b").empty());
}

TEST_F(SchedulerTest, AFailedBindingGivesEverythingBackAndIsTriedAgain) {
  AddNode("n1");
  AddClass();
  AddSlice("n1", 1);
  AddTemplatePod("p");
  bool fail = true;
  api.FailWith([&fail](const client::Request& request) -> base::Result<void> {
    if (fail && request.subresource == "status" &&
        request.resource == &client::ResourceOf<ResourceClaim>()) {
      return base::Error(base::Reason::kInternalError, "no");
    }
    return {};
  });
  Start();
  EXPECT_EQ(Reason("p"), "SchedulerError");
  EXPECT_EQ(Message("p"),
            "running PreBind plugin \"DynamicResources\": add allocation and reservation to claim "
            "default/p-x: no");
  EXPECT_EQ(scheduler->view().allocated().held_count(), 0U);
  EXPECT_EQ(scheduler->queue().Count(PodState::kBackoff), 1U);
  fail = false;
  Pass(milliseconds(900));
  EXPECT_EQ(NodeOf("p"), "");
  Pass(milliseconds(200));
  EXPECT_EQ(NodeOf("p"), "n1");
}

TEST_F(SchedulerTest, WhatTheDiskLostIsDecidedAgain) {
  AddNode("n1");
  AddClass();
  AddSlice("n1", 1);
  Start();
  AddTemplatePod("p");
  api.Hold();
  Run();
  EXPECT_EQ(scheduler->view().allocated().held_count(), 1U);
  api.Lose();
  Run();
  EXPECT_EQ(scheduler->view().allocated().held_count(), 0U);
  Pass(seconds(2));
  EXPECT_EQ(NodeOf("p"), "n1");
  EXPECT_EQ(scheduler->view().allocated().held_count(), 1U);
}

TEST_F(SchedulerTest, ARestartFindsWhatWasHalfDone) {
  AddNode("n1");
  AddClass();
  AddSlice("n1", 2);
  AddTemplatePod("p");
  AddTemplatePod("q");
  // The claim was allocated and reserved, the binding never came.
  api.Change(client::ResourceOf<ResourceClaim>(),
             "default",
             "p-x",
             R"({"metadata":{"finalizers":["resource.kubernetes.io/delete-protection"]},
      "status":{"allocation":{"devices":{"results":[{"request":"r","driver":"d.example.com",
      "pool":"n1","device":"d0"}]},"nodeSelector":{"nodeSelectorTerms":[{"matchFields":[{
      "key":"metadata.name","operator":"In","values":["n1"]}]}]}},
      "reservedFor":[{"resource":"pods","name":"p","uid":"uid-p"}]}})");
  Start();
  EXPECT_EQ(NodeOf("p"), "n1");
  EXPECT_EQ(NodeOf("q"), "n1");
  EXPECT_EQ(Claim("p-x")->status.reserved_for.size(), 1U);
  EXPECT_EQ(Claim("q-x")->status.allocation->devices.results[0].device, "d1");
}

class BindingConditionsTest : public SchedulerTest {
 protected:
  void SetUp() override {
    AddNode("n1");
    AddClass();
    api.Add<ResourceSlice>(R"({"metadata":{"name":"s"},"spec":{"driver":"d.example.com",
        "pool":{"name":"n1","generation":1,"resourceSliceCount":1},"nodeName":"n1","devices":
        [{"name":"d0","bindingConditions":["Attached"],"bindingFailureConditions":["Broken"]}]}})");
    AddClaim("c");
    Start();
    AddPod("p", "c");
    Run();
  }
  void Report(const std::string& condition) {
    api.Change(client::ResourceOf<ResourceClaim>(),
               "default",
               "c",
               R"({"status":{"devices":[{"driver":"d.example.com","pool":"n1","device":"d0",
        "conditions":[{"type":")" +
                   condition + R"(","status":"True","reason":"R","message":"m \"x\""}]}]}})");
    Run();
  }
};

TEST_F(BindingConditionsTest, ThePodIsBoundWhenItsDevicesAreReady) {
  EXPECT_EQ(NodeOf("p"), "");
  EXPECT_EQ(api.Get<Pod>("default", "p")->status.nominated_node_name, "n1");
  EXPECT_EQ(Claim("c")->status.reserved_for.size(), 1U);
  EXPECT_EQ(Notes(),
            (std::vector<std::string>{"BindingConditionsPending: waiting for binding "
                                      "conditions for device on node n1"}));
  Pass(seconds(30));
  EXPECT_EQ(NodeOf("p"), "");
  EXPECT_EQ(scheduler->claims_awaited(), 1U);
  Report("Attached");
  EXPECT_EQ(NodeOf("p"), "n1");
  EXPECT_EQ(scheduler->claims_awaited(), 0U);
}

TEST_F(BindingConditionsTest, AFailureIsReportedAndTheReservationGoes) {
  Report("Broken");
  EXPECT_EQ(NodeOf("p"), "");
  EXPECT_EQ(Reason("p"), "SchedulerError");
  EXPECT_EQ(
      Message("p"),
      "running PreBind plugin \"DynamicResources\": device binding failed: claim=c, reason=R, "
      "message=\"m \\\"x\\\"\"");
  EXPECT_TRUE(Claim("c")->status.reserved_for.empty());
  Pass(milliseconds(1200));
  EXPECT_NE(Message("p").find("deallocation of ResourceClaim completed"), std::string::npos);
}

TEST_F(BindingConditionsTest, WaitingEnds) {
  Pass(seconds(610));
  const std::vector<std::string> notes = Notes();
  EXPECT_TRUE(std::ranges::any_of(notes, [](const std::string& note) {
    return note ==
           "FailedScheduling: running PreBind plugin \"DynamicResources\": device binding timeout: "
           "claim=c";
  }));
}

TEST_F(BindingConditionsTest, ADeletedPodWaitsNoLonger) {
  api.Remove(client::ResourceOf<Pod>(), "default", "p");
  Run();
  EXPECT_TRUE(Claim("c")->status.reserved_for.empty());
  EXPECT_EQ(scheduler->claims_awaited(), 0U);
}

TEST_F(SchedulerTest, APodOfHigherPriorityMakesRoom) {
  AddNode("n1");
  Start();
  for (int i = 0; i < 8; ++i) {
    AddPod("low" + std::to_string(i), "", R"(,"priority":1)");
    Run();
  }
  AddPod("high", "", R"(,"priority":9)");
  Run();
  Run();
  int left = 0;
  for (const auto& pod : api.All<Pod>()) {
    left += pod->metadata.name.starts_with("low") ? 1 : 0;
  }
  EXPECT_EQ(left, 7);
  Pass(seconds(2));
  EXPECT_EQ(NodeOf("high"), "n1");
  EXPECT_EQ(api.Get<Pod>("default", "high")->status.nominated_node_name, "n1");
}

TEST_F(SchedulerTest, OtherSchedulersPodsAreLeftAlone) {
  AddNode("n1");
  Start();
  api.Add<Pod>(R"({"metadata":{"name":"p"},"spec":{"schedulerName":"other","containers":
      [{"name":"m"}]},"status":{"phase":"Pending"}})");
  Run();
  EXPECT_EQ(NodeOf("p"), "");
  EXPECT_EQ(scheduler->queue().size(), 0U);
}

TEST_F(SchedulerTest, ResourcesOfPodsCountOnceAndComeBack) {
  AddNode("n1");
  Start();
  for (int i = 0; i < 9; ++i) {
    AddPod("p" + std::to_string(i));
    Run();
  }
  EXPECT_EQ(NodeOf("p7"), "n1");
  EXPECT_EQ(NodeOf("p8"), "");
  EXPECT_TRUE(Message("p8").starts_with("0/1 nodes are available: 1 Insufficient cpu."));
  api.Change(client::ResourceOf<Pod>(), "default", "p3", R"({"status":{"phase":"Succeeded"}})");
  Run();
  EXPECT_EQ(NodeOf("p8"), "n1");
}

TEST_F(SchedulerTest, WorksThroughARemoteServerWithWorkers) {
  allot::testing::RemoteClient remote(api);
  use = &remote;
  AddNode("n1");
  AddClass();
  AddSlice("n1", 4);
  for (int i = 0; i < 4; ++i) {
    AddTemplatePod("p" + std::to_string(i));
  }
  Start();
  // Worker threads post their outcomes; turns go on until all have come in.
  for (int i = 0; i < 100'000 && scheduler->queue().size() > 0; ++i) {
    Run();
    std::this_thread::yield();
  }
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(NodeOf("p" + std::to_string(i)), "n1");
  }
  scheduler.reset();
}

TEST_F(SchedulerTest, WorkersBindPodsThatWaitedForTheirDevices) {
  allot::testing::RemoteClient remote(api);
  use = &remote;
  AddNode("n1");
  AddClass();
  api.Add<ResourceSlice>(R"({"metadata":{"name":"s"},"spec":{"driver":"d.example.com",
      "pool":{"name":"n1","generation":1,"resourceSliceCount":1},"nodeName":"n1","devices":
      [{"name":"d0","bindingConditions":["Attached"],"bindingFailureConditions":["Broken"]}]}})");
  AddClaim("c");
  AddPod("p", "c");
  Start();
  for (int i = 0; i < 100'000 && scheduler->claims_awaited() == 0; ++i) {
    Run();
    std::this_thread::yield();
  }
  EXPECT_EQ(scheduler->claims_awaited(), 1U);
  EXPECT_EQ(NodeOf("p"), "");
  api.Change(client::ResourceOf<ResourceClaim>(),
             "default",
             "c",
             R"({"status":{"devices":[{"driver":"d.example.com","pool":"n1","device":"d0",
      "conditions":[{"type":"Attached","status":"True","reason":"R","message":"m"}]}]}})");
  for (int i = 0; i < 100'000 && scheduler->queue().size() > 0; ++i) {
    Run();
    std::this_thread::yield();
  }
  EXPECT_EQ(NodeOf("p"), "n1");
  EXPECT_EQ(scheduler->claims_awaited(), 0U);
  scheduler.reset();
}

// The loop looks at decisions that workers hold (a thread sanitizer sees how).
TEST_F(SchedulerTest, PodsDeletedInTheHandsOfWorkersEndOnce) {
  allot::testing::RemoteClient remote(api);
  use = &remote;
  AddNode("n1");
  Start();
  constexpr int kPods = 8;
  for (int i = 0; i < kPods; ++i) {
    AddPod("p" + std::to_string(i));
  }
  Run();
  for (int i = 0; i < kPods; ++i) {
    api.Remove(client::ResourceOf<Pod>(), "default", "p" + std::to_string(i));
  }
  const auto ended = [this] {
    double sum = 0;
    for (const char* result : {"scheduled", "error"}) {
      sum += metrics.Value("scheduler_schedule_attempts_total",
                           {{"profile", "default-scheduler"}, {"result", result}});
    }
    return sum;
  };
  for (int i = 0; i < 100'000 && ended() < kPods; ++i) {
    Run();
    std::this_thread::yield();
  }
  EXPECT_EQ(ended(), kPods);
  EXPECT_EQ(scheduler->queue().size(), 0U);
  scheduler.reset();
}

// A pod whose selectors cost too much for one attempt is brought to its end in several, and those
// beside it are placed in between.
TEST_F(SchedulerTest, APodThatCostsTooMuchDoesNotHoldUpOthers) {
  options.attempt.evaluations.cost = 500;
  AddNode("n1");
  AddClass();
  AddSlice("n1", 30);
  api.Add<ResourceClaim>(R"({"metadata":{"name":"dear"},"spec":{"devices":{"requests":[{"name":"r",
      "exactly":{"deviceClassName":"c","allocationMode":"ExactCount","count":31,"selectors":[{"cel":
      {"expression":"[1,2,3,4,5,6,7,8,9].map(x, x * 2).filter(x, x > 4).size() > 3"}}]}}]}}})");
  AddClaim("cheap");
  AddPod("hog", "dear");
  Start();
  EXPECT_EQ(Reason("hog"), "SchedulerError");
  EXPECT_NE(Message("hog").find("claim default/dear, request r: the CEL cost of one scheduling "
                                "attempt (500) is used up; selector #0 costs "),
            std::string::npos)
      << Message("hog");
  AddPod("neighbour", "cheap");
  Run();
  EXPECT_EQ(NodeOf("neighbour"), "n1");
  int waited = 0;
  for (; Reason("hog") != "Unschedulable" && waited < 60; ++waited) {
    Pass(seconds(1));
  }
  // Some devices an attempt, one attempt a second.
  EXPECT_GE(waited, 4);
  EXPECT_LT(waited, 30);
  EXPECT_EQ(Message("hog").find("used up"), std::string::npos) << Message("hog");
}

TEST_F(SchedulerTest, NothingIsTriedOnceItIsToStop) {
  std::atomic<bool> stop = false;
  options.attempt.evaluations.stop = &stop;
  AddNode("n1");
  AddClass();
  AddSlice("n1", 2);
  AddClaim("c1");
  Start();
  stop = true;
  AddPod("p1", "c1");
  Run();
  EXPECT_EQ(NodeOf("p1"), "");
  EXPECT_EQ(Reason("p1"), "");
}

}  // namespace
}  // namespace allot::scheduler
