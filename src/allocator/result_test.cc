// AllocationResults: what is copied where, and the node selector.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "allocator/problem_test.h"

namespace allot::allocator {
namespace {

constexpr const char* kTerm = "'nodeSelector':{'nodeSelectorTerms':[{'matchExpressions':[";
constexpr const char* kZone = "{'key':'zone','operator':'In','values':['a']}";
constexpr const char* kHere =
    "'nodeSelector':{'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name','operator':'In','"
    "values':['n1']}]}]}";

std::string Rule(const std::string& requirements) {
  return kTerm + requirements + "]}]}";
}

struct Case {
  const char* name;
  std::vector<std::string> rules;  // of the slices of pools p0, p1, ...
  std::string device;              // further members of each device
  std::string claim;
  std::string result;
};

class ResultTest : public ::testing::TestWithParam<Case> {};

TEST_P(ResultTest, IsAsTheApiServerStoresIt) {
  const Case& test = GetParam();
  inventory::Features features;
  features.optional_node_operations = true;
  TestProblem problem(features);
  base::Arena arena;
  problem.inventory().UpsertClass(
      *Decode<api::resource::DeviceClass>("{'metadata':{'name':'gpu'},'spec':{'config':[{'opaque':{"
                                          "'driver':'x','parameters':{'a':1}}}]}}",
                                          arena));
  for (std::size_t i = 0; i < test.rules.size(); ++i) {
    problem.Slice("x",
                  "p" + std::to_string(i),
                  "'devices':[{'name':'d'" + test.device + "}]",
                  1,
                  "",
                  test.rules[i]);
  }
  problem.Claim(test.claim);
  const Outcome outcome = problem.Solve();
  ASSERT_EQ(outcome.verdict, Verdict::kAllocated) << outcome.error;
  const auto results = BuildResults(
      outcome,
      problem.node(),
      features,
      [](std::size_t n) { return "share-" + std::to_string(n); },
      arena);
  ASSERT_EQ(results.size(), 1U);
  const auto* const expected = Decode<api::resource::AllocationResult>(test.result, arena);
  std::string got;
  schema::EncodeJson(api::Desc<api::resource::AllocationResult>(), results.data(), got);
  EXPECT_TRUE(
      schema::SemanticEqual(api::Desc<api::resource::AllocationResult>(), results.data(), expected))
      << got << "\nexpected " << Json(test.result);
}

std::string One(const std::string& pool, const std::string& request, const std::string& more = "") {
  return "{'request':'" + request + "','driver':'x','pool':'" + pool + "','device':'d'" + more +
         "}";
}

INSTANTIATE_TEST_SUITE_P(
    Parts,
    ResultTest,
    ::testing::Values(
        Case{"NodeName",
             {"'nodeName':'n1'"},
             "",
             "'requests':[" + Request("r") + "]",
             "{'devices':{'results':[" + One("p0", "r") + "]}," + kHere + "}"},
        Case{"AllNodes",
             {"'allNodes':true"},
             "",
             "'requests':[" + Request("r") + "]",
             "{'devices':{'results':[" + One("p0", "r") + "]}}"},
        Case{"BindsToNode",
             {"'allNodes':true"},
             ",'bindsToNode':true",
             "'requests':[" + Request("r") + "]",
             "{'devices':{'results':[" + One("p0", "r") + "]}," + kHere + "}"},
        Case{"SelectorsAreMerged",
             {Rule(kZone),
              Rule("{'key':'zone','operator':'Exists'}," + std::string(kZone)),
              "'allNodes':true"},
             "",
             "'requests':[" + Request("r", 3) + "]",
             "{'devices':{'results':[" + One("p0", "r") + "," + One("p1", "r") + "," +
                 One("p2", "r") + "]}," +
                 Rule(kZone + std::string(",{'key':'zone','operator':'Exists'}")) + "}"},
        Case{"ADeviceOfThisNodeDecides",
             {Rule(kZone), "'nodeName':'n1'"},
             "",
             "'requests':[" + Request("r", 2) + "]",
             "{'devices':{'results':[" + One("p0", "r") + "," + One("p1", "r") + "]}," + kHere +
                 "}"},
        Case{"SharesAndWhatTheyConsume",
             {"'allNodes':true"},
             ",'allowMultipleAllocations':true,'capacity':{'m':{'value':'8'},'n':{'value':'2'}}",
             "'requests':[" + Request("r", 1, ",'capacity':{'requests':{'m':'3'}}") + "]",
             "{'devices':{'results':[" +
                 One("p0", "r", ",'shareID':'share-0','consumedCapacity':{'m':'3','n':'2'}") +
                 "]}}"},
        Case{"ConditionsTolerationsAdminAccess",
             {"'allNodes':true"},
             ",'bindingConditions':['Ready'],'bindingFailureConditions':['Failed']",
             "'requests':[" +
                 Request("r",
                         1,
                         ",'adminAccess':true,'tolerations':[{'key':'k','operator':'Exists'}]") +
                 "]",
             "{'devices':{'results':[" +
                 One("p0",
                     "r",
                     ",'adminAccess':true,'tolerations':[{'key':'k','operator':'Exists'}],"
                     "'bindingConditions':['Ready'],'bindingFailureConditions':['Failed']") +
                 "]}}"},
        Case{"ConfigOfClassAndClaim",
             {"'allNodes':true", "'allNodes':true", "'allNodes':true"},
             "",
             "'requests':[" + Request("a", 1, "", "gpu") + "," + Request("b") + "," +
                 Request("c", 1, "", "gpu") +
                 "],'config':[{'requests':['b'],'opaque':{'driver':'x','parameters':{'b':1}}},"
                 "{'requests':['a','b','c'],'opaque':{'driver':'x','parameters':{'c':1}}},"
                 "{'requests':['gone'],'opaque':{'driver':'x','parameters':{'d':1}}}]",
             "{'devices':{'results':[" + One("p0", "a") + "," + One("p1", "b") + "," +
                 One("p2", "c") +
                 "],'config':[{'source':'FromClass','requests':['a','c'],'opaque':{'driver':'x','"
                 "parameters':{'a':1}}},"
                 "{'source':'FromClaim','requests':['b'],'opaque':{'driver':'x','parameters':{'b':"
                 "1}}},"
                 "{'source':'FromClaim','opaque':{'driver':'x','parameters':{'c':1}}}]}}"},
        Case{"ChosenAlternative",
             {"'allNodes':true"},
             "",
             "'requests':[{'name':'q','firstAvailable':["
             "{'name':'two','deviceClassName':'any','allocationMode':'ExactCount','count':2},"
             "{'name':'one','deviceClassName':'gpu','allocationMode':'ExactCount','count':1}]}],"
             "'config':[{'requests':['q/two'],'opaque':{'driver':'x','parameters':{'b':1}}},"
             "{'requests':['q/one'],'opaque':{'driver':'x','parameters':{'c':1}}}]",
             "{'devices':{'results':[" + One("p0", "q/one") +
                 "],'config':[{'source':'FromClass','opaque':{'driver':'x','parameters':{'a':1}}},"
                 "{'source':'FromClaim','opaque':{'driver':'x','parameters':{'c':1}}}]}}"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace allot::allocator
