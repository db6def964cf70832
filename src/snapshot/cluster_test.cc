#include "snapshot/cluster.h"

#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace allot::snapshot {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

struct BadCase {
  std::string_view name;
  std::string_view text;
  std::string_view error;
};

class BadClusterTest : public ::testing::TestWithParam<BadCase> {};

TEST_P(BadClusterTest, NamesThePlace) {
  Cluster cluster;
  const auto added = cluster.Add(GetParam().text, "f");
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().message(), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    All,
    BadClusterTest,
    ::testing::Values(
        BadCase{"NoObject", "---\n7\n", "f, document 1: not an object"},
        BadCase{"NoKind", "apiVersion: v1\n", "f, document 1: kind or apiVersion is missing"},
        BadCase{"SecondDocument",
                "apiVersion: v1\nkind: Node\n---\nkind: Node\n",
                "f, document 2: kind or apiVersion is missing"},
        BadCase{"ItemOfAList",
                R"({"kind":"List","apiVersion":"v1","items":[{"kind":"Pod"}]})",
                "f, document 1, item 1: kind or apiVersion is missing"},
        BadCase{"UnknownVersion",
                R"({"kind":"DeviceClass","apiVersion":"resource.k8s.io/v9"})",
                "f, document 1: version v9 of resource.k8s.io is not known"},
        BadCase{"WrongType",
                R"({"kind":"Pod","apiVersion":"v1","spec":{"nodeName":1}})",
                "f, document 1: json: cannot unmarshal number into Go struct field "
                "PodSpec.spec.nodeName of type string"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(ClusterTest, TakesAnyMixOfDocumentsAndLists) {
  Cluster cluster;
  ASSERT_TRUE(cluster.Add(R"(
apiVersion: v1
kind: Node
metadata: {name: n1}
---
# nothing but a comment
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Pod, metadata: {name: p, namespace: a}}
- {apiVersion: v1, kind: Secret, metadata: {name: s, namespace: a}}
- {apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: c}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimList
items:
- metadata: {name: claim, namespace: a}
  spec: {devices: {requests: [{name: r, exactly: {deviceClassName: c}}]}}
)",
                          "f"));
  EXPECT_THAT(cluster.nodes, SizeIs(1));
  EXPECT_THAT(cluster.pods, SizeIs(1));
  EXPECT_THAT(cluster.classes, SizeIs(1));
  ASSERT_THAT(cluster.claims, SizeIs(1));
  EXPECT_THAT(cluster.ignored, ElementsAre(Pair("Secret", 1)));
  // As the API server would have filled it in.
  EXPECT_EQ(cluster.claims[0]->spec.devices.requests[0].exactly->count, 1);
}

TEST(ClusterTest, TheLaterOfTwoCounts) {
  Cluster cluster;
  const auto add = [&cluster](std::string_view ns, std::string_view uid) {
    const std::string text = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p",)"
                             R"("namespace":")" +
                             std::string(ns) + R"(","uid":")" + std::string(uid) + R"("}})";
    ASSERT_TRUE(cluster.Add(text, "f"));
  };
  add("a", "1");
  add("b", "2");
  add("a", "3");
  ASSERT_THAT(cluster.pods, SizeIs(2));
  EXPECT_EQ(cluster.pods[0]->metadata.uid, "3");
  EXPECT_EQ(cluster.pods[1]->metadata.uid, "2");
}

TEST(ClusterTest, OlderVersionsBecomeV1) {
  Cluster cluster;
  ASSERT_TRUE(cluster.Add(R"(
apiVersion: resource.k8s.io/v1beta1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: x
  nodeName: n1
  pool: {name: p, generation: 1, resourceSliceCount: 1}
  devices: [{name: d, basic: {attributes: {a: {int: 1}}}}]
---
apiVersion: resource.k8s.io/v1beta1
kind: ResourceClaim
metadata: {name: c, namespace: a}
spec: {devices: {requests: [{name: r, deviceClassName: x, count: 2}]}}
---
apiVersion: resource.k8s.io/v1beta1
kind: ResourceClaimTemplate
metadata: {name: t, namespace: a}
spec: {spec: {devices: {requests: [{name: r, deviceClassName: x}]}}}
---
apiVersion: resource.k8s.io/v1beta2
kind: DeviceClass
metadata: {name: x}
)",
                          "f"));
  ASSERT_THAT(cluster.slices, SizeIs(1));
  EXPECT_THAT(cluster.slices[0]->spec.devices[0].attributes, SizeIs(1));
  ASSERT_THAT(cluster.claims, SizeIs(1));
  const auto& request = cluster.claims[0]->spec.devices.requests[0];
  ASSERT_NE(request.exactly, nullptr);
  EXPECT_EQ(request.exactly->device_class_name, "x");
  EXPECT_EQ(request.exactly->count, 2);
  ASSERT_THAT(cluster.templates, SizeIs(1));
  EXPECT_NE(cluster.templates[0]->spec.spec.devices.requests[0].exactly, nullptr);
  EXPECT_THAT(cluster.classes, SizeIs(1));
}

TEST(ClusterTest, AMovedClusterKeepsItsObjects) {
  Cluster cluster;
  ASSERT_TRUE(cluster.Add(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}})", "f"));
  const Cluster moved = std::move(cluster);
  ASSERT_THAT(moved.nodes, SizeIs(1));
  EXPECT_EQ(moved.nodes[0]->metadata.name, "n");
}

}  // namespace
}  // namespace allot::snapshot
