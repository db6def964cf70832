// Every cause the allocator can name, told apart from the others, with an example and what helps.
#include "allocator/diagnosis.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "allocator/problem_test.h"
#include "allocator/references.h"

namespace allot::allocator {
namespace {

using Setup = void (*)(TestProblem&);

struct Case {
  const char* name;
  Setup setup;
  CauseKind kind;
  const char* subject;
  const char* example;
  const char* hint;
};

class DiagnosisTest : public ::testing::TestWithParam<Case> {};

std::string Text(const NodeDiagnosis& diagnosis) {
  std::string text;
  for (const Cause& cause : diagnosis.causes) {
    text += std::string(CauseName(cause.kind)) + " | " + cause.subject + " | " + cause.example +
            " | " + cause.hint + "\n";
  }
  return text;
}

TEST_P(DiagnosisTest, NamesTheCause) {
  inventory::Features features;
  features.compatibility_groups = true;
  features.optional_node_operations = true;
  TestProblem problem(features);
  problem.Class("gpu", "device.driver == 'gpu.example.com'");
  GetParam().setup(problem);
  const NodeDiagnosis diagnosis = problem.Diagnose();
  const std::string text = Text(diagnosis);
  ASSERT_FALSE(diagnosis.causes.empty());
  EXPECT_EQ(diagnosis.reasons.size(), 1U);
  // The first cause that is not about a pool which nobody needs.
  const Cause& cause = diagnosis.causes.front();
  EXPECT_EQ(CauseName(cause.kind), CauseName(GetParam().kind)) << text;
  EXPECT_NE(cause.subject.find(GetParam().subject), std::string::npos) << text;
  EXPECT_NE(cause.example.find(GetParam().example), std::string::npos) << text;
  EXPECT_NE(cause.hint.find(GetParam().hint), std::string::npos) << text;
}

std::string Selector(const std::string& expression) {
  std::string text;
  for (const char c : expression) {
    text += c == '"' ? std::string("\\\"") : std::string(1, c);
  }
  return ",'selectors':[{'cel':{'expression':'" + text + "'}}]";
}

// Two devices of gpu.example.com with a model, a memory and a NUMA node.
void TwoGpus(TestProblem& problem, const std::string& more = "") {
  problem.Slice("gpu.example.com",
                "n1",
                "'devices':[{'name':'g0','attributes':{'model':{'string':'a100'},'numa':{'int':0}},"
                "'capacity':{'memory':{'value':'40Gi'}}" +
                    more +
                    "},{'name':'g1','attributes':{'model':{'string':'a100'},'numa':{'int':1}},"
                    "'capacity':{'memory':{'value':'40Gi'}}" +
                    more + "}]");
}

void Ask(TestProblem& problem, const std::string& requests, const std::string& more = "") {
  problem.Claim("'requests':[" + requests + "]" + more);
}

void Partitions(TestProblem& problem, const std::string& groups) {
  const auto part = [&](const std::string& name, const std::string& group) {
    return "{'name':'" + name +
           "','consumesCounters':[{'counterSet':'card','counters':{'memory':{'value':'20Gi'}}" +
           (groups.empty() ? "" : ",'compatibilityGroups':['" + group + "']") + "}]}";
  };
  problem.Slice("gpu.example.com",
                "n1",
                "'sharedCounters':[{'name':'card','counters':{'memory':{'value':'" +
                    std::string(groups.empty() ? "30Gi" : "80Gi") + "'}}}]",
                2,
                "counters");
  problem.Slice("gpu.example.com",
                "n1",
                "'devices':[" + part("p0", "mig") + "," + part("p1", "vgpu") + "]",
                2);
  problem.Hold("gpu.example.com", "n1", "p0", "first");
}

INSTANTIATE_TEST_SUITE_P(
    Causes,
    DiagnosisTest,
    ::testing::Values(
        Case{"DriverAbsentFromTheNode",
             [](TestProblem& p) { Ask(p, Request("r", 1, "", "gpu")); },
             CauseKind::kDriverAbsent,
             "request r",
             "driver gpu.example.com, which publishes nothing in this cluster",
             "install the driver"},
        Case{"DriverOnOtherNodesOnly",
             [](TestProblem& p) {
               p.Slice("nic.example.com", "n1", "'devices':[{'name':'eth0'}]");
               p.Slice(
                   "gpu.example.com", "n2", "'devices':[{'name':'g0'}]", 1, "", "'nodeName':'n2'");
               Ask(p, Request("r", 1, "", "gpu"));
             },
             CauseKind::kDriverAbsent,
             "request r",
             "such as gpu.example.com/n2/g0 on node n2",
             "on this node"},
        Case{"PoolIncomplete",
             [](TestProblem& p) {
               p.Slice("gpu.example.com", "n1", "'devices':[{'name':'g0'}]", 2);
               Ask(p, "{'name':'r','exactly':{'deviceClassName':'gpu','allocationMode':'All'}}");
             },
             CauseKind::kPoolIncomplete,
             "claims of the pod",
             "currently being updated",
             ""},
        Case{"PoolInvalid",
             [](TestProblem& p) {
               p.Slice("gpu.example.com", "n1", "'devices':[{'name':'g0'},{'name':'g0'}]");
               Ask(p, "{'name':'r','exactly':{'deviceClassName':'gpu','allocationMode':'All'}}");
             },
             CauseKind::kPoolInvalid,
             "claims of the pod",
             "currently invalid",
             ""},
        Case{"ClassMissing",
             [](TestProblem& p) {
               TwoGpus(p);
               Ask(p, Request("r", 1, "", "gpus"));
             },
             CauseKind::kClassMissing,
             "claims of the pod",
             "could not retrieve device class gpus",
             ""},
        Case{"RequestInvalid",
             [](TestProblem& p) {
               TwoGpus(p);
               Ask(p, "{'name':'r','exactly':{'deviceClassName':'gpu','allocationMode':'Some'}}");
             },
             CauseKind::kRequestInvalid,
             "claims of the pod",
             "unsupported count mode Some",
             ""},
        Case{"ClassSelectsNothing",
             [](TestProblem& p) {
               TwoGpus(p);
               p.Class("big", "device.attributes['gpu.example.com'].model == 'h100'");
               Ask(p, Request("r", 1, "", "big"));
             },
             CauseKind::kClassSelectsNothing,
             "request r",
             "does not pass the selectors of class big",
             "class big"},
        Case{"ClassAsksForAMissingAttribute",
             [](TestProblem& p) {
               TwoGpus(p);
               p.Class("big", "device.attributes['gpu.example.com'].?modle.orValue('') == 'a100'");
               Ask(p, Request("r", 1, "", "big"));
             },
             CauseKind::kAttributeMissing,
             "request r",
             "device.attributes[\"gpu.example.com\"].modle: none of 2 devices publishes it",
             "did you mean gpu.example.com/model?"},
        Case{"Selector",
             [](TestProblem& p) {
               TwoGpus(p);
               Ask(p,
                   Request("r",
                           1,
                           Selector("device.attributes[\"gpu.example.com\"].model == \"h100\""),
                           "gpu"));
             },
             CauseKind::kSelector,
             "request r",
             "selector #0 passes 0 of 2 devices of the class",
             "would fit without its selectors"},
        Case{"SelectorTypo",
             [](TestProblem& p) {
               TwoGpus(p);
               Ask(p,
                   Request("r",
                           1,
                           Selector("device.attributes[\"gpu.example.com\"].?nuna.orValue(7) == 0"),
                           "gpu"));
             },
             CauseKind::kAttributeMissing,
             "request r",
             "device.attributes[\"gpu.example.com\"].nuna",
             "did you mean gpu.example.com/numa?"},
        Case{"AttributeInsteadOfCapacity",
             [](TestProblem& p) {
               TwoGpus(p);
               Ask(p,
                   Request("r",
                           1,
                           Selector("\"memory\" in device.attributes[\"gpu.example.com\"]"),
                           "gpu"));
             },
             CauseKind::kWrongSection,
             "request r",
             "\"memory\" is published under capacity",
             "device.capacity[\"gpu.example.com\"].memory"},
        Case{
            "CapacityInsteadOfAttribute",
            [](TestProblem& p) {
              TwoGpus(p);
              Ask(p,
                  Request(
                      "r", 1, Selector("\"numa\" in device.capacity[\"gpu.example.com\"]"), "gpu"));
            },
            CauseKind::kWrongSection,
            "request r",
            "\"numa\" is published under attributes",
            "device.attributes[\"gpu.example.com\"].numa"},
        Case{"SelectorError",
             [](TestProblem& p) {
               TwoGpus(p);
               p.Slice("gpu.example.com", "old", "'devices':[{'name':'g9'}]");
               Ask(p,
                   Request("r",
                           3,
                           Selector("device.attributes[\"gpu.example.com\"].model == \"a100\""),
                           "gpu"));
             },
             CauseKind::kSelectorError,
             "request r",
             "no such key: model",
             ""},
        Case{"OtherNode",
             [](TestProblem& p) {
               p.Slice("gpu.example.com",
                       "all",
                       "'devices':[{'name':'g0','nodeName':'n2'},{'name':'g1','nodeName':'n1'}]",
                       1,
                       "",
                       "'perDeviceNodeSelection':true");
               Ask(p, Request("r", 2, "", "gpu"));
             },
             CauseKind::kOtherNode,
             "request r",
             "gpu.example.com/all/g0 is not for this node",
             "with count 1 instead of 2"},
        Case{"Tainted",
             [](TestProblem& p) {
               TwoGpus(p, ",'taints':[{'key':'broken','effect':'NoSchedule'}]");
               Ask(p, Request("r", 1, "", "gpu"));
             },
             CauseKind::kTainted,
             "request r",
             "g0 has taint broken:NoSchedule",
             "would fit with a toleration"},
        Case{"InUseByWhom",
             [](TestProblem& p) {
               TwoGpus(p);
               p.Hold("gpu.example.com", "n1", "g0", "training");
               p.Hold("gpu.example.com", "n1", "g1", "notebook");
               Ask(p, Request("r", 1, "", "gpu"));
             },
             CauseKind::kInUse,
             "request r",
             "holders: default/notebook, default/training",
             "once other claims have given their devices back"},
        Case{"InUsePartly",
             [](TestProblem& p) {
               TwoGpus(p);
               p.Hold("gpu.example.com", "n1", "g0", "training");
               Ask(p, Request("r", 2, "", "gpu"));
             },
             CauseKind::kInUse,
             "request r",
             "g0 is held by claim default/training",
             "would fit with count 1 instead of 2"},
        Case{"Capacity",
             [](TestProblem& p) {
               TwoGpus(p, ",'allowMultipleAllocations':true");
               Ask(p, Request("r", 1, ",'capacity':{'requests':{'memory':'50Gi'}}", "gpu"));
             },
             CauseKind::kCapacity,
             "request r",
             "has 40Gi memory of which 0 is in use, 50Gi is asked for",
             "would fit without its capacity request"},
        Case{"UnknownCapacity",
             [](TestProblem& p) {
               TwoGpus(p);
               Ask(p, Request("r", 1, ",'capacity':{'requests':{'cores':'1'}}", "gpu"));
             },
             CauseKind::kCapacity,
             "request r",
             "has no capacity \"cores\"",
             "would fit without its capacity request"},
        Case{"Counters",
             [](TestProblem& p) {
               Partitions(p, "");
               Ask(p, Request("r", 1, "", "gpu"));
             },
             CauseKind::kCounters,
             "request r",
             "p1 needs 20Gi of counter card/memory, 10Gi is left",
             "given their devices back"},
        Case{"Groups",
             [](TestProblem& p) {
               Partitions(p, "x");
               Ask(p, Request("r", 1, "", "gpu"));
             },
             CauseKind::kGroups,
             "request r",
             "p1 shares no compatibility group",
             "given their devices back"},
        Case{"NodeFeature",
             [](TestProblem& p) {
               p.Slice(
                   "gpu.example.com", "n1", "'skipNodeOperations':['*'],'devices':[{'name':'g0'}]");
               Ask(p, Request("r", 1, "", "gpu"));
             },
             CauseKind::kNodeFeature,
             "request r",
             "g0 needs DRAOptionalNodeOperations",
             "update the node"},
        Case{"ConstraintWithTheBestSet",
             [](TestProblem& p) {
               TwoGpus(p);
               Ask(p,
                   Request("r", 2, "", "gpu"),
                   ",'constraints':[{'matchAttribute':'gpu.example.com/numa'}]");
             },
             CauseKind::kConstraint,
             "matchAttribute gpu.example.com/numa",
             "2 devices with one value are wanted, the best value has 1: g0",
             "would fit without the constraint matchAttribute gpu.example.com/numa"},
        Case{"ConstraintOnDifferentValues",
             [](TestProblem& p) {
               TwoGpus(p);
               Ask(p,
                   Request("r", 2, "", "gpu"),
                   ",'constraints':[{'distinctAttribute':'gpu.example.com/model'}]");
             },
             CauseKind::kConstraint,
             "distinctAttribute gpu.example.com/model",
             "2 devices with different values are wanted, there are 1 values",
             "without the constraint distinctAttribute"},
        Case{"ConstraintOnAMissingAttribute",
             [](TestProblem& p) {
               TwoGpus(p);
               Ask(p,
                   Request("r", 2, "", "gpu"),
                   ",'constraints':[{'matchAttribute':'resource.kubernetes.io/numa'}]");
             },
             CauseKind::kAttributeMissing,
             "request r",
             "matchAttribute resource.kubernetes.io/numa: none of 2 devices publishes it",
             "did you mean gpu.example.com/numa?"},
        Case{"ConstraintOnACapacity",
             [](TestProblem& p) {
               TwoGpus(p);
               Ask(p,
                   Request("r", 2, "", "gpu"),
                   ",'constraints':[{'matchAttribute':'gpu.example.com/memory'}]");
             },
             CauseKind::kWrongSection,
             "request r",
             "\"memory\" is published under capacity",
             ""},
        Case{"TooFew",
             [](TestProblem& p) {
               TwoGpus(p);
               Ask(p, Request("r", 3, "", "gpu"));
             },
             CauseKind::kTooFew,
             "request r",
             "3 devices are wanted, 2 published",
             "would fit with count 2 instead of 3"},
        Case{"TooFewOfTheClass",
             [](TestProblem& p) {
               TwoGpus(p);
               p.Slice("nic.example.com", "n1", "'devices':[{'name':'eth0'}]");
               Ask(p, Request("r", 3, "", "gpu"));
             },
             CauseKind::kTooFew,
             "request r",
             "3 devices are wanted, 2 are of class gpu",
             "would fit with count 2 instead of 3"},
        Case{"TooMany",
             [](TestProblem& p) {
               TwoGpus(p);
               Ask(p, Request("r", 33, "", "gpu"));
             },
             CauseKind::kTooMany,
             "claims of the pod",
             "exceeds the claim limit of 32",
             "would fit with count 2 instead of 33"},
        Case{"Combination",
             [](TestProblem& p) {
               TwoGpus(p);
               Ask(p, Request("a", 2, "", "gpu") + "," + Request("b", 1, "", "gpu"));
             },
             CauseKind::kCombination,
             "all requests together",
             "no request is short of devices",
             "request a would fit with count 1 instead of 2"},
        Case{"CombinationOfConstraints",
             [](TestProblem& p) {
               p.Slice("gpu.example.com",
                       "n1",
                       "'devices':[{'name':'g0','attributes':{'a':{'int':0},'b':{'int':0}}},"
                       "{'name':'g1','attributes':{'a':{'int':0},'b':{'int':1}}},"
                       "{'name':'g2','attributes':{'a':{'int':1},'b':{'int':0}}}]");
               Ask(p,
                   Request("r", 2, "", "gpu"),
                   ",'constraints':[{'matchAttribute':'gpu.example.com/a'},"
                   "{'matchAttribute':'gpu.example.com/b'}]");
             },
             CauseKind::kCombination,
             "request r",
             "",
             "would fit without the constraint matchAttribute gpu.example.com/a"}),
    [](const auto& info) { return std::string(info.param.name); });

// Partitions that are free but cannot be had stand behind the ones in use in the funnel.
TEST(DiagnosisTest, CountersAndGroupsAreStagesOfTheirOwn) {
  for (const bool groups : {false, true}) {
    inventory::Features features;
    features.compatibility_groups = true;
    TestProblem problem(features);
    problem.Class("gpu", "device.driver == 'gpu.example.com'");
    Partitions(problem, groups ? "x" : "");
    Ask(problem, Request("r", 1, "", "gpu"));
    const NodeDiagnosis diagnosis = problem.Diagnose();
    ASSERT_EQ(diagnosis.funnels.size(), 1U);
    const RequestFunnel& funnel = diagnosis.funnels.front();
    EXPECT_EQ(funnel.published, 2);
    ASSERT_EQ(funnel.stages.size(), 2U);
    EXPECT_EQ(funnel.stages[0].lost_to, CauseKind::kInUse);
    EXPECT_EQ(funnel.stages[0].left, 1);
    EXPECT_EQ(funnel.stages[1].lost_to, groups ? CauseKind::kGroups : CauseKind::kCounters);
    EXPECT_EQ(funnel.stages[1].left, 0);
    EXPECT_NE(
        funnel.stages[1].example.find(groups ? "shares no compatibility group"
                                             : "needs 20Gi of counter card/memory, 10Gi is left"),
        std::string::npos)
        << funnel.stages[1].example;
  }
}

TEST(DiagnosisTest, BudgetIsToldFromImpossible) {
  TestProblem problem;
  std::string devices;
  for (int i = 0; i < 24; ++i) {
    devices +=
        (i == 0 ? "" : ",") + ("{'name':'d" + std::to_string(i) +
                               "','attributes':{'n':{'int':" + std::to_string(i % 2) + "}}}");
  }
  problem.Slice("x", "p", "'devices':[" + devices + "]");
  Ask(problem, Request("r", 13), ",'constraints':[{'matchAttribute':'x/n'}]");
  const Limits few{.steps = 50, .plain = true};
  EXPECT_EQ(problem.Solve(few).verdict, Verdict::kBudgetExhausted);
  const NodeDiagnosis diagnosis = problem.Diagnose(few);
  ASSERT_FALSE(diagnosis.causes.empty());
  EXPECT_EQ(diagnosis.causes.front().kind, CauseKind::kBudget);
  EXPECT_NE(problem.Diagnose().causes.front().kind, CauseKind::kBudget);
}

TEST(DiagnosisTest, NothingIsWrongWhenThePodFits) {
  TestProblem problem;
  TwoGpus(problem);
  Ask(problem, Request("r", 2));
  const NodeDiagnosis diagnosis = problem.Diagnose();
  EXPECT_TRUE(diagnosis.causes.empty());
  EXPECT_TRUE(diagnosis.reasons.empty());
}

struct Read {
  const char* expression;
  std::vector<Reference> references;
};

TEST(ReferencesTest, AreReadOffTheText) {
  const auto attributes = [](const char* domain, const char* id) {
    return Reference{Section::kAttributes, domain, id};
  };
  const auto capacity = [](const char* domain, const char* id) {
    return Reference{Section::kCapacity, domain, id};
  };
  const std::vector<Read> cases = {
      {"true", {}},
      {R"(device.attributes["d"].a == 1)", {attributes("d", "a")}},
      {R"(device.attributes['d'].a == 1)", {attributes("d", "a")}},
      {R"(device . attributes [ "d" ] . ?a.orValue(1) == 1)", {attributes("d", "a")}},
      {R"(device.attributes["d"]["a"] == 1)", {attributes("d", "a")}},
      {R"(device.attributes[?"d"][?"a"].orValue(1) == 1)", {attributes("d", "a")}},
      {R"("a" in device.attributes["d"])", {attributes("d", "a")}},
      {R"(has(device.capacity[device.driver].m))", {capacity("", "m")}},
      {R"(device.capacity["d"].m.compareTo(quantity("1Gi")) > 0 && device.attributes["d"].a)",
       {capacity("d", "m"), attributes("d", "a")}},
      {R"(device.attributes["d"].exists(k, k == "x"))", {}},
      {R"("device.attributes[\"d\"].a" == "")", {}},
  };
  for (const Read& test : cases) {
    EXPECT_EQ(ReferencesOf(test.expression), test.references) << test.expression;
  }
  EXPECT_EQ(DriversOf(R"(device.driver == "a" || "b" == device.driver || device.driver != "c")"),
            (std::vector<std::string>{"a", "b"}));
}

TEST(ReferencesTest, LooksLikeFindsMisspellings) {
  const std::vector<std::string_view> names = {"model", "driverVersion", "numaNode", "uuid"};
  EXPECT_EQ(LooksLike("modle", names), "model");
  EXPECT_EQ(LooksLike("driverversion", names), "driverVersion");
  EXPECT_EQ(LooksLike("numa_node", names), "numaNode");
  EXPECT_EQ(LooksLike("profile", names), "");
}

}  // namespace
}  // namespace allot::allocator
