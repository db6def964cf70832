#include "controllers/resourceclaim/resource_claim_controller.h"

#include <string>

#include <gtest/gtest.h>

#include "api/core/v1.gen.h"
#include "api/pod_claims.h"
#include "api/resource/v1.gen.h"
#include "testing/component_fixture.h"

namespace allot::controllers {
namespace {

using api::core::Pod;
using api::resource::ResourceClaim;
using api::resource::ResourceClaimTemplate;
using std::chrono::milliseconds;
using std::chrono::seconds;

class ResourceClaimControllerTest : public allot::testing::ComponentTest {
 protected:
  void Start() {
    controller = std::make_unique<ResourceClaimController>(context);
    context.StartInformers();
    Run();
  }
  void AddTemplate() {
    api.Add<ResourceClaimTemplate>(R"({"metadata":{"name":"t"},"spec":{
        "metadata":{"labels":{"team":"x"},"annotations":{"note":"y"}},
        "spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c"}}]}}}})");
  }
  void AddPod(const std::string& name,
              const std::string& more = "",
              const std::string& status = R"("phase":"Pending")") {
    api.Add<Pod>(R"({"metadata":{"name":")" + name + R"(","uid":"uid-)" + name +
                 R"("},"spec":{"containers":[{"name":"m"}],
        "resourceClaims":[{"name":"x","resourceClaimTemplateName":"t"}])" +
                 more + R"(},"status":{)" + status + "}}");
  }
  /// A claim in use by pods, with its allocation.
  void AddAllocated(const std::string& name,
                    const std::vector<std::string>& pods,
                    const std::string& metadata = "") {
    std::string users;
    for (const std::string& pod : pods) {
      users += (users.empty() ? "" : ",");
      users += R"({"resource":"pods","name":")" + pod + R"(","uid":"uid-)" + pod + R"("})";
    }
    api.Add<ResourceClaim>(
        R"({"metadata":{"name":")" + name +
        R"(","finalizers":["resource.kubernetes.io/delete-protection"])" + metadata +
        R"(},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c"}}]}},
          "status":{"allocation":{"devices":{"results":[{"request":"r","driver":"d","pool":"p",
          "device":"0"}]}},"reservedFor":[)" +
        users + "]}}");
  }
  schema::View<ResourceClaim> Claim(const std::string& name) {
    return api.Get<ResourceClaim>("default", name);
  }

  Context context{client, loop, metrics, log};
  std::unique_ptr<ResourceClaimController> controller;
};

TEST_F(ResourceClaimControllerTest, MakesAndRecordsClaimsFromTemplates) {
  AddTemplate();
  Start();
  AddPod("p");
  Run();
  const auto claims = api.All<ResourceClaim>();
  ASSERT_EQ(claims.size(), 1U);
  const ResourceClaim& claim = *claims[0];
  EXPECT_TRUE(claim.metadata.name.starts_with("p-x-"));
  EXPECT_EQ(claim.metadata.generate_name, "p-x-");
  EXPECT_EQ(claim.metadata.labels.Get("team"), "x");
  EXPECT_EQ(claim.metadata.annotations.Get("note"), "y");
  EXPECT_EQ(claim.metadata.annotations.Get(api::kPodClaimAnnotation), "x");
  ASSERT_EQ(claim.metadata.owner_references.size(), 1U);
  EXPECT_EQ(claim.metadata.owner_references[0].uid, "uid-p");
  EXPECT_TRUE(*claim.metadata.owner_references[0].controller);
  EXPECT_EQ(claim.metadata.owner_references[0].block_owner_deletion, nullptr);
  EXPECT_EQ(claim.spec.devices.requests[0].exactly->device_class_name, "c");
  const auto pod = this->api.Get<Pod>("default", "p");
  ASSERT_EQ(pod->status.resource_claim_statuses.size(), 1U);
  EXPECT_EQ(*pod->status.resource_claim_statuses[0].resource_claim_name, claim.metadata.name);
  EXPECT_EQ(api.writes(), 2U) << "one claim, one status";
  EXPECT_EQ(metrics.Value("dynamic_resource_allocation_resourceclaim_creates_total",
                          {{"status", "success"},
                           {"admin_access", "false"},
                           {"owner_api_group", ""},
                           {"owner_api_kind", "Pod"}}),
            1);
}

TEST_F(ResourceClaimControllerTest, AMissingTemplateIsReportedAndFoundLater) {
  Start();
  AddPod("p");
  Run();
  const auto events = api.All<api::core::Event>();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0]->reason, "FailedResourceClaimCreation");
  EXPECT_EQ(events[0]->message,
            "PodResourceClaim x: resource claim template \"t\": "
            "resourceclaimtemplate.resource.k8s.io \"t\" not found");
  EXPECT_EQ(events[0]->source.component, "resource_claim");
  AddTemplate();
  Run();
  EXPECT_EQ(api.All<ResourceClaim>().size(), 1U) << "no need to wait for the back-off";
}

TEST_F(ResourceClaimControllerTest, AClaimThatWasNotRecordedIsFoundAgain) {
  AddTemplate();
  api.Add<ResourceClaim>(R"({"metadata":{"name":"p-x-abc","annotations":
      {"resource.kubernetes.io/pod-claim-name":"x"},"ownerReferences":[{"apiVersion":"v1",
      "kind":"Pod","name":"p","uid":"uid-p","controller":true}]},
      "spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c"}}]}}})");
  AddPod("p");
  Start();
  EXPECT_EQ(api.All<ResourceClaim>().size(), 1U);
  const auto pod = this->api.Get<Pod>("default", "p");
  EXPECT_EQ(*pod->status.resource_claim_statuses[0].resource_claim_name, "p-x-abc");
}

TEST_F(ResourceClaimControllerTest, NoSecondClaimWhileTheFirstIsNotVisible) {
  AddTemplate();
  Start();
  AddPod("p");
  api.Hold();  // the claim and the status are on their way
  Run();
  EXPECT_EQ(api.All<ResourceClaim>().size(), 1U);
  const std::uint64_t writes = api.writes();
  api.Change(client::ResourceOf<ResourceClaimTemplate>(),
             "default",
             "t",
             R"({"metadata":{"labels":{"a":"b"}}})");
  Run();
  api.Release();
  Run();
  EXPECT_EQ(api.All<ResourceClaim>().size(), 1U);
  EXPECT_EQ(api.writes(), writes);
}

TEST_F(ResourceClaimControllerTest, WhatTheDiskLostIsMadeAgain) {
  AddTemplate();
  Start();
  AddPod("p");
  api.Hold();
  Run();
  api.Lose();
  Run();
  EXPECT_EQ(api.All<ResourceClaim>().size(), 1U);
  const auto pod = this->api.Get<Pod>("default", "p");
  EXPECT_EQ(pod->status.resource_claim_statuses.size(), 1U);
}

TEST_F(ResourceClaimControllerTest, AReservationThatTheDiskLostIsMadeAgain) {
  AddAllocated("c", {});
  Start();
  api.Hold();
  api.Add<Pod>(R"({"metadata":{"name":"p","uid":"uid-p"},"spec":{"nodeName":"n","resourceClaims":
      [{"name":"x","resourceClaimName":"c"}]},"status":{"phase":"Running"}})");
  api.Release();
  api.Hold();
  Run();
  api.Lose();
  Run();
  EXPECT_EQ(Claim("c")->status.reserved_for.size(), 1U);
}

TEST_F(ResourceClaimControllerTest, UsersThatAreGoneOrDoneLeaveAndTheLastTakesTheAllocation) {
  struct Case {
    const char* name;
    std::string phase;
    bool remove;
    bool released;
  };
  for (const Case& c : {Case{"running", "Running", false, false},
                        Case{"succeeded", "Succeeded", false, true},
                        Case{"failed", "Failed", false, true},
                        Case{"removed", "Running", true, true}}) {
    SCOPED_TRACE(c.name);
    const std::string pod = std::string("pod-") + c.name;
    const std::string claim = std::string("claim-") + c.name;
    api.Add<Pod>(R"({"metadata":{"name":")" + pod + R"(","uid":"uid-)" + pod +
                 R"("},"spec":{"nodeName":"n","containers":[{"name":"m"}],"resourceClaims":
        [{"name":"x","resourceClaimName":")" +
                 claim + R"("}]},"status":{"phase":"Running"}})");
    AddAllocated(claim, {pod});
    if (controller == nullptr) {
      Start();
    }
    Run();
    ASSERT_NE(Claim(claim)->status.allocation, nullptr);
    if (c.remove) {
      api.Remove(client::ResourceOf<Pod>(), "default", pod);
    } else {
      api.Change(
          client::ResourceOf<Pod>(), "default", pod, R"({"status":{"phase":")" + c.phase + "\"}}");
    }
    Run();
    EXPECT_EQ(Claim(claim)->status.allocation == nullptr, c.released);
    EXPECT_EQ(Claim(claim)->status.reserved_for.empty(), c.released);
    EXPECT_EQ(Claim(claim)->metadata.finalizers.empty(), c.released);
  }
}

TEST_F(ResourceClaimControllerTest, OneOfTwoUsersLeavesAlone) {
  AddPod("a");
  AddPod("b");
  AddAllocated("shared", {"a", "b"});
  Start();
  api.Remove(client::ResourceOf<Pod>(), "default", "a");
  Run();
  // The pods above do not name the claim; a reservation is checked when the claim is looked at.
  api.Change(client::ResourceOf<ResourceClaim>(),
             "default",
             "shared",
             R"({"metadata":{"labels":{"touched":"yes"}}})");
  Run();
  ASSERT_EQ(Claim("shared")->status.reserved_for.size(), 1U);
  EXPECT_EQ(Claim("shared")->status.reserved_for[0].name, "b");
  EXPECT_NE(Claim("shared")->status.allocation, nullptr);
}

TEST_F(ResourceClaimControllerTest, StaleUsersAreFoundAtTheStart) {
  AddAllocated("stale", {"gone"});
  Start();
  EXPECT_EQ(Claim("stale")->status.allocation, nullptr);
  EXPECT_TRUE(Claim("stale")->metadata.finalizers.empty());
}

TEST_F(ResourceClaimControllerTest, UnknownKindsOfUsersStay) {
  api.Add<ResourceClaim>(R"({"metadata":{"name":"c","finalizers":
      ["resource.kubernetes.io/delete-protection"]},"spec":{"devices":{}},
      "status":{"allocation":{},"reservedFor":[{"apiGroup":"x.example.com","resource":"things",
      "name":"t","uid":"1"}]}})");
  Start();
  EXPECT_EQ(Claim("c")->status.reserved_for.size(), 1U);
}

TEST_F(ResourceClaimControllerTest, ADeletedClaimGoesWhenNobodyUsesIt) {
  AddAllocated("c", {}, R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")");
  Start();
  EXPECT_FALSE(Claim("c"));
}

TEST_F(ResourceClaimControllerTest, AGeneratedClaimGoesWhenItsPodIsDone) {
  AddTemplate();
  Start();
  AddPod("p");
  Run();
  ASSERT_EQ(api.All<ResourceClaim>().size(), 1U);
  api.Change(client::ResourceOf<Pod>(), "default", "p", R"({"status":{"phase":"Succeeded"}})");
  Run();
  EXPECT_TRUE(api.All<ResourceClaim>().empty());
}

TEST_F(ResourceClaimControllerTest, APodThatCameWithItsNodeGetsItsReservation) {
  AddAllocated("c", {"user"});
  AddPod("user");
  api.Add<ResourceClaim>(R"({"metadata":{"name":"free"},"spec":{"devices":{}}})");
  Start();
  for (const std::string claim : {"c", "free"}) {
    api.Add<Pod>(R"({"metadata":{"name":"direct-)" + claim + R"("},"spec":{"nodeName":"n",
        "containers":[{"name":"m"}],"resourceClaims":[{"name":"x","resourceClaimName":")" +
                 claim + R"("}]},"status":{"phase":"Pending"}})");
  }
  Run();
  ASSERT_EQ(Claim("c")->status.reserved_for.size(), 2U);
  EXPECT_EQ(Claim("c")->status.reserved_for[1].name, "direct-c");
  EXPECT_EQ(Claim("c")->status.reserved_for[1].resource, "pods");
  EXPECT_EQ(Claim("free")->status.allocation, nullptr);
  EXPECT_TRUE(Claim("free")->status.reserved_for.empty());
}

TEST(GenerateClaimNameTest, CutsBothPartsInProportion) {
  struct Case {
    std::string pod;
    std::string entry;
    std::string name;
  };
  for (const Case& c : {
           Case{"p", "x", "p-x-"},
           Case{std::string(50, 'p'), "entry", std::string(50, 'p') + "-entry-"},
           // 60 + 20 + 2 = 82: 60*57/82 = 41 and 20*57/82 = 13 characters, no dash at the end.
           Case{std::string(60, 'p'),
                std::string(20, 'e'),
                std::string(41, 'p') + "-" + std::string(13, 'e')},
       }) {
    EXPECT_EQ(GenerateClaimName(c.pod, c.entry), c.name);
  }
}

}  // namespace
}  // namespace allot::controllers
