#include "placement/resources.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "placement/world_test.h"

namespace allot::placement {
namespace {

struct Case {
  const char* name;
  const char* pod;  // spec and status members
  Amount cpu, memory;
  Amount nonzero_cpu, nonzero_memory;
};

constexpr std::int64_t kMi = std::int64_t{1} << 20U;
constexpr Amount kMost = std::numeric_limits<std::int64_t>::max();  // of one container

class RequestsTest : public ::testing::TestWithParam<Case> {};

TEST_P(RequestsTest, AreAddedUpAsUpstreamDoes) {
  base::Arena arena;
  const auto* const pod = FromText<api::core::Pod>(std::string("{") + GetParam().pod + "}", arena);
  const ClaimStatuses& claims = pod->status.node_allocatable_resource_claim_statuses;
  const Resources requests = RequestsOf(*pod, claims);
  const Resources nonzero = NonZeroRequestsOf(*pod, claims);
  EXPECT_EQ(requests.milli_cpu, GetParam().cpu);
  EXPECT_EQ(requests.memory, GetParam().memory);
  EXPECT_EQ(nonzero.milli_cpu, GetParam().nonzero_cpu);
  EXPECT_EQ(nonzero.memory, GetParam().nonzero_memory);
}

INSTANTIATE_TEST_SUITE_P(
    Pods,
    RequestsTest,
    ::testing::Values(
        Case{"Nothing", "'spec':{'containers':[{'name':'a'}]}", 0, 0, 100, 200 * kMi},
        Case{"TwoContainers",
             "'spec':{'containers':[{'name':'a','resources':{'requests':{'cpu':'1','memory':'1Mi'}}"
             "},{'name':'b','resources':{'requests':{'cpu':'250m'}}}]}",
             1250,
             kMi,
             1250,
             201 * kMi},
        Case{"ContainersBeyond64Bits",
             "'spec':{'containers':[{'name':'a','resources':{'requests':{'memory':'1e30'}}},{"
             "'name':'b','resources':{'requests':{'memory':'1e30','cpu':'1'}}}]}",
             1000,
             2 * kMost,
             1100,
             2 * kMost},
        Case{"OverheadOfContainersBeyond128Bits",
             "'spec':{'containers':[{'name':'a'}]},'status':{"
             "'nodeAllocatableResourceClaimStatuses':[{'resourceClaimName':'c','containers':['a',"
             "'b'],'overhead':[{'name':'memory','perPod':'1','perContainer':'1e30'}]}]}",
             0,
             kMost,
             100,
             200 * kMi + kMost},
        Case{"LargestInitContainerCounts",
             "'spec':{'initContainers':[{'name':'i','resources':{'requests':{'cpu':'3'}}},{'name':"
             "'j','resources':{'requests':{'memory':'9Mi'}}}],'containers':[{'name':'a','resources'"
             ":{'requests':{'cpu':'1','memory':'5Mi'}}}]}",
             3000,
             9 * kMi,
             3000,
             200 * kMi},
        Case{"SidecarsRunBesideWhatFollows",
             "'spec':{'initContainers':[{'name':'s','restartPolicy':'Always','resources':{"
             "'requests':{'cpu':'1','memory':'1Mi'}}},{'name':'i','resources':{'requests':{'cpu':"
             "'4','memory':'1Mi'}}}],'containers':[{'name':'a','resources':{'requests':{'cpu':'2',"
             "'memory':'1Mi'}}}]}",
             5000,
             2 * kMi,
             5000,
             2 * kMi},
        Case{"OverheadIsAdded",
             "'spec':{'overhead':{'cpu':'100m'},'containers':[{'name':'a','resources':{'requests':{"
             "'cpu':'1','memory':'1Mi'}}}]}",
             1100,
             kMi,
             1100,
             kMi},
        Case{"PodLevelReplacesTheSum",
             "'spec':{'resources':{'requests':{'cpu':'4'}},'containers':[{'name':'a','resources':{"
             "'requests':{'cpu':'1'}}},{'name':'b'}]}",
             4000,
             0,
             4000,
             400 * kMi},
        Case{"DevicesTakeTheirPart",
             "'spec':{'containers':[{'name':'a','resources':{'requests':{'cpu':'1','memory':'1Mi'}}"
             "}]},'status':{'nodeAllocatableResourceClaimStatuses':[{'resourceClaimName':'c',"
             "'containers':['a','b'],'mapping':[{'name':'cpu','quantity':'1500m'}],'overhead':[{"
             "'name':'memory','perPod':'4Mi','perContainer':'2Mi'}]}]}",
             2500,
             9 * kMi,
             2500,
             9 * kMi},
        Case{"AResizeCountsWithTheLargest",
             "'spec':{'containers':[{'name':'a','resources':{'requests':{'cpu':'1','memory':'5Mi'}}"
             "}]},'status':{'containerStatuses':[{'name':'a','allocatedResources':{'cpu':'2',"
             "'memory':'2Mi'},'resources':{'requests':{'cpu':'3','memory':'1Mi'}}}]}",
             3000,
             5 * kMi,
             3000,
             5 * kMi},
        Case{"AnInfeasibleResizeIsNotWaitedFor",
             "'spec':{'containers':[{'name':'a','resources':{'requests':{'cpu':'9','memory':'9Mi'}}"
             "}]},'status':{'conditions':[{'type':'PodResizePending','status':'True','reason':"
             "'Infeasible'}],'containerStatuses':[{'name':'a','allocatedResources':{'cpu':'2',"
             "'memory':'2Mi'}}]}",
             2000,
             2 * kMi,
             2000,
             2 * kMi}),
    [](const auto& info) { return info.param.name; });

TEST(ResourcesTest, ScalarsAreKeptByName) {
  Resources sum;
  sum.AddScalar("b/x", 2);
  sum.AddScalar("a/x", 1);
  sum.AddScalar("b/x", 3);
  EXPECT_EQ(sum.Scalar("b/x"), 5);
  EXPECT_EQ(sum.AmountOf("a/x"), 1);
  EXPECT_EQ(sum.Scalar("c/x"), 0);
  Resources other;
  other.AddScalar("b/x", 5);
  sum.Subtract(other);
  EXPECT_EQ(sum.Scalar("b/x"), 0);
}

}  // namespace
}  // namespace allot::placement
