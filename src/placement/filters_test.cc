#include "placement/filters.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "placement/score.h"
#include "placement/world_test.h"

namespace allot::placement {
namespace {

struct Case {
  const char* name;
  const char* node;  // members after status
  const char* requests;
  const char* spec;  // members of the pod's spec
  const char* reason;
  bool resolvable = false;
};

class FiltersTest : public ::testing::TestWithParam<Case> {};

TEST_P(FiltersTest, SayWhatUpstreamSays) {
  World world;
  world.Node("n1", GetParam().node);
  world.view.UpsertPod(*world.Pod("other",
                                  "'cpu':'6'",
                                  ",'nodeName':'n1','initContainers':[{'name':'s','restartPolicy':"
                                  "'Always','ports':[{'containerPort':1,'hostPort':80}]}]"));
  const auto* const pod = world.Pod("p", GetParam().requests, GetParam().spec);
  const PodFacts facts = FactsOf(*pod);
  const NodeStatus status = RunFilters(facts, *world.view.FindNode("n1"), world.view.inventory());
  EXPECT_EQ(status.ok() ? "" : status.reasons.front(), GetParam().reason);
  if (!status.ok()) {
    EXPECT_EQ(status.resolvable, GetParam().resolvable);
  }
}

constexpr const char* kTainted =
    ",'spec':{'taints':[{'key':'k','value':'v','effect':'NoSchedule'}]}";
constexpr const char* kTaint = "node(s) had untolerated taint(s)";
constexpr const char* kAffinity = "node(s) didn't match Pod's node affinity/selector";
constexpr const char* kPorts = "node(s) didn't have free ports for the requested pod ports";

INSTANTIATE_TEST_SUITE_P(
    Nodes,
    FiltersTest,
    ::testing::Values(
        Case{"Fits", "", "'cpu':'2'", "", ""},
        Case{"OtherNodeName",
             "",
             "",
             ",'nodeName':'n2'",
             "node(s) didn't match the requested node name"},
        Case{"Cordoned", ",'spec':{'unschedulable':true}", "", "", "node(s) were unschedulable"},
        Case{"CordonTolerated",
             ",'spec':{'unschedulable':true}",
             "",
             ",'tolerations':[{'key':'node.kubernetes.io/unschedulable','operator':'Exists'}]",
             ""},
        Case{"Tainted", kTainted, "", "", kTaint},
        Case{"TolerationOfOtherValue",
             kTainted,
             "",
             ",'tolerations':[{'key':'k','value':'w'}]",
             kTaint},
        Case{"TolerationOfOtherEffect",
             kTainted,
             "",
             ",'tolerations':[{'key':'k','value':'v','effect':'NoExecute'}]",
             kTaint},
        Case{"TolerationOfAll", kTainted, "", ",'tolerations':[{'operator':'Exists'}]", ""},
        Case{"SoftTaintsAreNoReason",
             ",'spec':{'taints':[{'key':'k','effect':'PreferNoSchedule'}]}",
             "",
             "",
             ""},
        Case{"SelectorMatches", "", "", ",'nodeSelector':{'host':'n1'}", ""},
        Case{"SelectorDoesNot", "", "", ",'nodeSelector':{'host':'n2'}", kAffinity},
        Case{"OneTermIsEnough",
             "",
             "",
             ",'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{"
             "'nodeSelectorTerms':[{'matchExpressions':[{'key':'host','operator':'In','values':['x'"
             "]}]},{'matchExpressions':[{'key':'zone','operator':'DoesNotExist'}]}]}}}",
             ""},
        Case{"PortInUse",
             "",
             "",
             ",'initContainers':[{'name':'i','restartPolicy':'Always','ports':[{'containerPort':2,"
             "'hostPort':80,'hostIP':'10.0.0.1'}]}]",
             kPorts,
             true},
        Case{"PortOfOtherProtocol",
             "",
             "",
             ",'initContainers':[{'name':'i','restartPolicy':'Always','ports':[{'containerPort':2,"
             "'hostPort':80,'protocol':'UDP'}]}]",
             ""},
        Case{"NoCpuLeft", "", "'cpu':'3'", "", "Insufficient cpu", true},
        Case{"NeverEnoughCpu", "", "'cpu':'9'", "", "Insufficient cpu", false},
        Case{"UnknownResource", "", "'x.example.com/y':'1'", "", "Insufficient x.example.com/y"},
        Case{"NoMemory", "", "'memory':'17Gi'", "", "Insufficient memory"}),
    [](const auto& info) { return info.param.name; });

struct LargeCase {
  const char* name;
  std::vector<const char*> bound;  // what each of two containers of a pod on the node asks for
  std::vector<const char*> asked;  // by the containers of the pod
  bool fits;
  bool fits_alone;
};

const api::core::Pod* PodOf(World& world,
                            const std::string& name,
                            const std::vector<const char*>& amounts) {
  std::string containers;
  for (const char* const amount : amounts) {
    containers += (containers.empty() ? "" : ",") + std::string("{'name':'c") +
                  std::to_string(containers.size()) + "','resources':{'requests':{'memory':'" +
                  amount + "'}}}";
  }
  return FromText<api::core::Pod>("{'metadata':{'name':'" + name +
                                      "','namespace':'default','uid':'" + name +
                                      "'},'spec':{'containers':[" + containers + "]}}",
                                  world.arena);
}

// No sum of requests wraps, and a node has all back when its pods are gone.
TEST(NodeFitTest, SumsBeyond64BitsFitNowhere) {
  const LargeCase cases[] = {
      {"two containers", {}, {"1e30", "1e30"}, false, false},
      {"two of 8Ei", {}, {"8Ei", "8Ei"}, false, false},
      {"a pod of 8Ei twice is bound", {"8Ei"}, {"1"}, false, true},
      {"many are bound", {"7Ei", "8Ei", "1e30", "7Ei"}, {"1", "1"}, false, true},
      {"little is bound", {"1"}, {"1"}, true, true},
  };
  for (const LargeCase& one : cases) {
    World world;
    world.Node("n1");
    const auto* const pod = PodOf(world, "p", one.asked);
    const auto fits = [&]() {
      const NodeInfo& node = *world.view.FindNode("n1");
      return RunFilters(FactsOf(*pod), node, world.view.inventory()).ok();
    };
    const std::size_t count = one.bound.size();
    for (std::size_t i = 0; i < count; ++i) {
      const auto* const other = PodOf(world, "b" + std::to_string(i), {one.bound[i], one.bound[i]});
      world.view.UpsertPod(*other, "n1");
    }
    EXPECT_EQ(fits(), one.fits) << one.name;
    for (std::size_t i = 0; i < count; ++i) {
      world.view.DeletePod("b" + std::to_string(i));
      EXPECT_EQ(fits(), i + 1 == count ? one.fits_alone : one.fits) << one.name << i;
    }
  }
}

struct NamesCase {
  const char* terms;
  bool all;
  bool conflict;
  std::size_t names;
};

TEST(NamedNodesTest, OnlyTermsThatNameNodesLimitThem) {
  base::Arena arena;
  const std::string in_a = "{'key':'metadata.name','operator':'In','values':['a']}";
  const std::string in_b = "{'key':'metadata.name','operator':'In','values':['b']}";
  const std::vector<std::pair<std::string, NamesCase>> cases = {
      {"", {"", true, false, 0}},
      {"{'matchFields':[" + in_a + "]}", {"", false, false, 1}},
      {"{'matchFields':[" + in_a + "]},{'matchFields':[" + in_b + "]}", {"", false, false, 2}},
      {"{'matchFields':[" + in_a + "," + in_b + "]}", {"", false, true, 0}},
      {"{'matchFields':[" + in_a + "]},{'matchExpressions':[{'key':'z','operator':'Exists'}]}",
       {"", true, false, 0}},
  };
  for (const auto& [terms, want] : cases) {
    const auto* const pod = FromText<api::core::Pod>(
        "{'spec':{'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{"
        "'nodeSelectorTerms':[" +
            terms + "]}}}}}",
        arena);
    const NamedNodes named = NodesNamedBy(*pod);
    EXPECT_EQ(named.all, want.all) << terms;
    EXPECT_EQ(named.conflict, want.conflict) << terms;
    EXPECT_EQ(named.names.size(), want.names) << terms;
  }
}

TEST(ScoreTest, PartsAreScaledOverAllNodes) {
  const RawScore max{0, 2, 50, 8};
  EXPECT_EQ(Combine({150, 0, 50, 8}, max), 150 + 3 * 100 + 2 * 100 + 2 * 100);
  EXPECT_EQ(Combine({150, 2, 0, 4}, max), 150 + 0 + 0 + 2 * 50);
  EXPECT_EQ(Combine({150, 1, 25, 0}, max), 150 + 3 * 50 + 2 * 50);
  EXPECT_EQ(Combine({150, 0, 0, 0}, {}), 150 + 300);
  // Mostly held before less held, and then the one upstream likes least.
  EXPECT_GT(PackingScore(200, 6, 8), PackingScore(0, 5, 8));
  EXPECT_GT(PackingScore(100, 6, 8), PackingScore(101, 6, 8));
}

TEST(ScoreTest, LessLoadedAndBetterBalancedNodesScoreMore) {
  World world;
  world.Node("a");
  world.Node("b");
  world.view.UpsertPod(*world.Pod("one", "'cpu':'4'", ",'nodeName':'b'"));
  const PodFacts facts = FactsOf(*world.Pod("p", "'cpu':'1','memory':'2Gi'"));
  const RawScore a = ScoreNode(facts, *world.view.FindNode("a"));
  const RawScore b = ScoreNode(facts, *world.view.FindNode("b"));
  // Least allocated: (7/8 + 14/16) / 2 = 87; balanced: the shares stay equal.
  EXPECT_EQ(a.resources, 87 + 75);
  EXPECT_LT(b.resources, a.resources);
}

}  // namespace
}  // namespace allot::placement
