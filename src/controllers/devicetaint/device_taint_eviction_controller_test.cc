#include "controllers/devicetaint/device_taint_eviction_controller.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "api/core/v1.gen.h"
#include "api/resource/v1.gen.h"
#include "quantity/time.h"
#include "testing/component_fixture.h"

namespace allot::controllers {
namespace {

using api::core::Pod;
using api::resource::DeviceTaintRule;
using api::resource::ResourceClaim;
using api::resource::ResourceSlice;
using std::chrono::seconds;

class DeviceTaintTest : public allot::testing::ComponentTest {
 protected:
  void SetUp() override {
    Slice(1, "");
    controller = std::make_unique<DeviceTaintEvictionController>(context, with_rules);
    context.StartInformers();
    Run();
  }
  std::string Now() { return quantity::FormatTime(quantity::ToTime(clock.Now())); }
  void Slice(int generation, const std::string& taints) {
    api.Add<ResourceSlice>(R"({"metadata":{"name":"s)" + std::to_string(generation) +
                           R"("},"spec":{"driver":"d","pool":{"name":"p","generation":)" +
                           std::to_string(generation) +
                           R"(,"resourceSliceCount":1},"nodeName":"n","devices":[{"name":"0",
        "taints":[)" + taints +
                           R"(]},{"name":"1"}]}})");
    Run();
  }
  void Rule(const std::string& effect, const std::string& selector = R"({"driver":"d"})") {
    api.Add<DeviceTaintRule>(R"({"metadata":{"name":"rule","uid":"rule-uid","generation":1},
        "spec":{"deviceSelector":)" +
                             selector + R"(,"taint":{"key":"k","effect":")" + effect +
                             R"(","timeAdded":")" + Now() + "\"}}}");
    Run();
  }
  /// A running pod with its own claim of device `device`.
  void User(const std::string& name,
            const std::string& device,
            const std::string& tolerations = "") {
    api.Add<ResourceClaim>(R"({"metadata":{"name":"c-)" + name +
                           R"("},"spec":{"devices":{}},"status":{"allocation":
        {"devices":{"results":[{"request":"r","driver":"d","pool":"p","device":")" +
                           device + R"(","tolerations":[)" + tolerations +
                           R"(]}]}},"reservedFor":[{"resource":"pods","name":")" + name +
                           R"(","uid":"uid-)" + name + "\"}]}}");
    api.Add<Pod>(
        R"({"metadata":{"name":")" + name + R"(","uid":"uid-)" + name +
        R"("},"spec":{"nodeName":"n","resourceClaims":[{"name":"x","resourceClaimName":"c-)" +
        name + R"("}]},"status":{"phase":"Running"}})");
    Run();
  }
  bool Exists(const std::string& pod) { return static_cast<bool>(api.Get<Pod>("default", pod)); }
  std::string Condition() {
    const auto rule = api.Get<DeviceTaintRule>("", "rule");
    for (const auto& condition : rule->status.conditions) {
      return std::string(condition.status) + " " + std::string(condition.reason) + ": " +
             std::string(condition.message);
    }
    return "";
  }

  bool with_rules = true;
  Context context{client, loop, metrics, log};
  std::unique_ptr<DeviceTaintEvictionController> controller;
};

TEST_F(DeviceTaintTest, OnlyPodsOfTaintedDevicesGo) {
  User("a", "0");
  User("b", "1");
  Slice(2, R"({"key":"k","effect":"NoExecute","timeAdded":")" + Now() + "\"}");
  EXPECT_FALSE(Exists("a"));
  EXPECT_TRUE(Exists("b"));
  const auto events = api.All<api::core::Event>();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0]->reason, "DeviceTaintManagerEviction");
  EXPECT_EQ(events[0]->message, "Marking for deletion");
  EXPECT_EQ(metrics.Value("device_taint_eviction_controller_pod_deletions_total"), 1);
}

TEST_F(DeviceTaintTest, TolerationsDelayOrPrevent) {
  User("forever", "0", R"({"operator":"Exists","effect":"NoExecute"})");
  User("while",
       "0",
       R"({"key":"k","operator":"Exists","effect":"NoExecute","tolerationSeconds":5})");
  User("other-key", "0", R"({"key":"z","operator":"Exists","effect":"NoExecute"})");
  User("no-effect", "0", R"({"operator":"Exists"})");
  Rule("NoExecute");
  EXPECT_TRUE(Exists("forever"));
  EXPECT_TRUE(Exists("while"));
  EXPECT_FALSE(Exists("other-key"));
  EXPECT_FALSE(Exists("no-effect")) << "for evictions the effect must be spelt out";
  Pass(seconds(6));
  EXPECT_FALSE(Exists("while"));
  EXPECT_TRUE(Exists("forever"));
}

TEST_F(DeviceTaintTest, ATaintThatGoesInTimeIsForgotten) {
  User("p", "0", R"({"operator":"Exists","effect":"NoExecute","tolerationSeconds":5})");
  Rule("NoExecute");
  Pass(seconds(2));
  api.Remove(client::ResourceOf<DeviceTaintRule>(), "", "rule");
  Pass(seconds(10));
  EXPECT_TRUE(Exists("p"));
  EXPECT_EQ(api.All<api::core::Event>()[0]->message, "Cancelling deletion");
}

TEST_F(DeviceTaintTest, OnlyTheNewestGenerationOfAPoolCounts) {
  User("p", "0");
  Slice(3, "");
  Slice(2, R"({"key":"k","effect":"NoExecute","timeAdded":")" + Now() + "\"}");
  EXPECT_TRUE(Exists("p"));
}

class WithoutRulesTest : public DeviceTaintTest {
 protected:
  WithoutRulesTest() { with_rules = false; }
};

TEST_F(WithoutRulesTest, OnlyTaintsOfSlicesEvict) {
  User("p", "0");
  User("q", "1");
  Rule("NoExecute");
  EXPECT_TRUE(Exists("p"));
  EXPECT_EQ(Condition(), "");
  Slice(2, R"({"key":"k","effect":"NoExecute"})");
  EXPECT_FALSE(Exists("p"));
  EXPECT_TRUE(Exists("q"));
}

TEST_F(DeviceTaintTest, RulesTellWhatTheyDo) {
  struct Case {
    const char* name;
    const char* effect;
    const char* selector;
    const char* condition;
  };
  User("p", "0", R"({"operator":"Exists","effect":"NoExecute","tolerationSeconds":50})");
  for (const Case& c : {
           Case{"pending",
                "NoExecute",
                R"({"driver":"d"})",
                "True PodsPendingEviction: 1 pod needs to be evicted in 1 namespace."},
           Case{"nothing", "NoExecute", R"({"driver":"other"})", "False NotStarted: "},
           Case{"schedule",
                "NoSchedule",
                R"({"driver":"d"})",
                "False OtherEffect: Eviction only happens for the NoExecute effect."},
           Case{
               "dry run",
               "None",
               R"({"driver":"d"})",
               "False NoEffect: 2 published devices selected. 1 allocated device selected. 1 pod "
               "would be evicted in 1 namespace if the effect was NoExecute. This information will "
               "not be updated again. Recreate the DeviceTaintRule to trigger an update."},
       }) {
    SCOPED_TRACE(c.name);
    Rule(c.effect, c.selector);
    EXPECT_EQ(Condition(), c.condition);
    api.Remove(client::ResourceOf<DeviceTaintRule>(), "", "rule");
    Run();
  }
}

TEST_F(DeviceTaintTest, ARuleCountsWhatItEvicted) {
  User("p", "0");
  Rule("NoExecute");
  EXPECT_FALSE(Exists("p"));
  Pass(seconds(11));
  EXPECT_EQ(Condition(), "False Completed: 1 pod evicted since starting the controller.");
}

}  // namespace
}  // namespace allot::controllers
