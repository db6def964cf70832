// Mistakes in a text of cluster objects, or in a line of an allocation problem: what is read all
// the same, and what is said.
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "snapshot/allocation_case.h"
#include "snapshot/cluster.h"

namespace allot::snapshot {
namespace {

struct Case {
  const char* name;
  std::string text;
  std::string read;      ///< "slices: NAMES; pods: NAMES", or the error
  std::string warnings;  ///< a line each
  bool in_folder = false;
};

class MistakesTest : public ::testing::TestWithParam<Case> {};

template <typename List>
std::string Names(const List& list) {
  std::string out;
  for (const auto* const object : list) {
    out += " " + std::string(object->metadata.name);
  }
  return out;
}

TEST_P(MistakesTest, IsReadAs) {
  Cluster cluster;
  cluster.skip_foreign = GetParam().in_folder;
  const auto added = cluster.Add(GetParam().text, "f");
  EXPECT_EQ(added ? fmt::format("slices:{}; pods:{}", Names(cluster.slices), Names(cluster.pods))
                  : added.error().message(),
            GetParam().read);
  EXPECT_EQ(fmt::format("{}", fmt::join(cluster.warnings, "\n")), GetParam().warnings);
}

const std::string kSlice = "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\n";

INSTANTIATE_TEST_SUITE_P(
    Texts,
    MistakesTest,
    ::testing::Values(
        Case{"UnknownField",
             "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: a}\nspec: {nodName: n}\n",
             "slices:; pods: p",
             "f, document 1, Pod a/p: unknown field \"spec.nodName\""},
        Case{
            "RepeatedKeyInYaml",
            "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  nodeName: a\n  nodeName: b\n",
            "slices:; pods: p",
            "f: line 6: key \"nodeName\" already set in map; the last one counts"},
        Case{"RepeatedKeyInJson",
             R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},)"
             R"("spec":{"nodeName":"a","nodeName":"b"}})",
             "slices:; pods: p",
             "f, document 1, Pod p: duplicate field \"spec.nodeName\""},
        Case{"GeneratedNamesAreTold",
             kSlice + "metadata: {generateName: s-}\n" + kSlice + "metadata: {generateName: s-}\n",
             "slices: s-1 s-2; pods:",
             ""},
        Case{"NamelessObjectsAreKept",
             kSlice + "spec: {driver: a}\n" + kSlice + "spec: {driver: b}\n",
             "slices: unnamed-1 unnamed-2; pods:",
             "f, document 1, ResourceSlice: neither metadata.name nor generateName is set\n"
             "f, document 2, ResourceSlice: neither metadata.name nor generateName is set"},
        Case{"Alpha",
             "apiVersion: resource.k8s.io/v1alpha3\nkind: ResourceSlice\nmetadata: {name: s}\n",
             "f, document 1: version v1alpha3 of resource.k8s.io is not known",
             ""},
        Case{"ValuesOfAChart", "replicas: 3\n", "f, document 1: kind or apiVersion is missing", ""},
        Case{"ValuesOfAChartInAFolder",
             "replicas: 3\n",
             "slices:; pods:",
             "f, document 1: kind or apiVersion is missing; left out",
             /*in_folder=*/true},
        Case{"ListsOfJson",
             R"({"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"p"}}]} )"
             R"({"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod",)"
             R"("metadata":{"name":"q"}}]})",
             "slices:; pods: p q",
             ""}),
    [](const auto& info) { return std::string(info.param.name); });

// Opaque parameters reach the driver as they were written, numbers beyond doubles among them.
TEST(MistakesTest, OpaqueParametersKeepTheirBytes) {
  const std::string parameters =
      R"({"a":18446744073709551615,"b":12345678901234567890123,"c":1000.0,"d":1.50,"e":-0.0,)"
      R"("f":0.1000000000000000055})";
  const std::string claim =
      R"({"metadata":{"name":"c"},"spec":{"devices":{"config":[{"opaque":{"driver":"d",)"
      R"("parameters":)" +
      parameters + "}}]}}}";
  const auto problem = ParseAllocationCase(R"({"node":{},"claims":[)" + claim + "]}");
  ASSERT_TRUE(problem) << problem.error().message();
  EXPECT_EQ(problem->claims[0]->spec.devices.config[0].device_configuration.opaque->parameters.text,
            parameters);
  Cluster cluster;
  const auto added = cluster.Add(
      R"({"kind":"ResourceClaimList","apiVersion":"resource.k8s.io/v1","items":[)" + claim + "]}",
      "f");
  ASSERT_TRUE(added) << added.error().message();
  EXPECT_EQ(cluster.claims[0]->spec.devices.config[0].device_configuration.opaque->parameters.text,
            parameters);
}

struct Line {
  const char* text;
  const char* error;
};

TEST(MistakenLineTest, SaysWhatIsWrong) {
  for (const Line& line : {
           Line{R"({"id":"x"})", "node is missing"},
           Line{R"({"node":{},"features":{"AdminAccess":"true"}})",
                "feature \"AdminAccess\" is neither true nor false"},
           Line{R"({"node":{},"features":{"Admin":true}})", "unknown feature \"Admin\""},
       }) {
    const auto problem = ParseAllocationCase(line.text);
    ASSERT_FALSE(problem) << line.text;
    EXPECT_EQ(problem.error().message(), line.error);
  }
}

}  // namespace
}  // namespace allot::snapshot
