#include "drivers/sim/fleet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drivers/sim/sim_driver.h"
#include "schema/codec.h"

namespace allot::drivers::sim {
namespace {

using testing::HasSubstr;

TEST(ProfileTest, EveryEmbeddedProfileMakesDistinctDevices) {
  for (const EmbeddedProfile& embedded : EmbeddedProfiles()) {
    const auto profile = FindProfile(embedded.name);
    ASSERT_TRUE(profile) << profile.error().message();
    EXPECT_EQ(profile->name, embedded.name) << "file name and profile name agree";
    SimDriver driver(profile->driver);
    driver.AddDevices("n", *profile, 20);
    const auto slices = driver.Discover("n");
    ASSERT_EQ(slices.size(), 1U);
    std::set<std::string_view> names;
    for (const auto& device : slices[0]->spec.devices) {
      names.insert(device.name);
      EXPECT_EQ(device.attributes.size(), profile->attributes.size());
      EXPECT_EQ(device.capacity.size(), profile->capacity.size());
    }
    EXPECT_EQ(names.size(), 20U);
  }
}

TEST(FleetTest, ManyDevicesAreSpreadOverSlicesOfOnePool) {
  const auto fleet =
      ParseFleet("nodes: [{name: node, devices: [{profile: example, count: 300}]}]", "f");
  ASSERT_TRUE(fleet);
  const auto drivers = MakeDrivers(*fleet);
  ASSERT_EQ(drivers.size(), 1U);
  const auto slices = drivers[0]->Discover("node");
  ASSERT_EQ(slices.size(), 3U);
  EXPECT_EQ(slices[2]->spec.devices.size(), 44U);
  EXPECT_EQ(slices[0]->spec.pool.resource_slice_count, 3);
}

TEST(FleetTest, DevicesAreTheSameAtEveryStart) {
  const auto fleet =
      ParseFleet("nodes: [{name: 'n-{index}', count: 2, devices: [{profile: h100}]}]", "f");
  ASSERT_TRUE(fleet);
  const auto a = MakeDrivers(*fleet)[0]->Discover("n-1");
  const auto b = MakeDrivers(*fleet)[0]->Discover("n-1");
  const auto other = MakeDrivers(*fleet)[0]->Discover("n-0");
  EXPECT_TRUE(schema::SemanticEqual(api::Desc<api::resource::ResourceSlice>(), &*a[0], &*b[0]));
  EXPECT_NE(*a[0]->spec.devices[0].attributes.Find("uuid")->string,
            *other[0]->spec.devices[0].attributes.Find("uuid")->string);
}

struct BadFleet {
  const char* yaml;
  const char* message;
};

TEST(FleetTest, ErrorsNameThePathWhatWasFoundAndWhatWasExpected) {
  const BadFleet kCases[] = {
      {"nodes: 3", "f: fleet.nodes: found 3, expected a list"},
      {"node: []", "f: fleet: unknown field \"node\", expected one of: nodes"},
      {"nodes: [{count: 2}]", "f: fleet.nodes[0].name: missing"},
      {"nodes: [{name: a, count: 2}]", "expected a name with {index}"},
      {"nodes: [{name: a, count: -1}]",
       "f: fleet.nodes[0].count: found -1, expected a whole number from 0 to"},
      {"nodes: [{name: a, capacity: {cpu: x}}]",
       "f: fleet.nodes[0].capacity.cpu: found \"x\", expected a quantity"},
      {"nodes: [{name: a, devices: [{profile: h200}]}]",
       "f: fleet.nodes[0].devices[0].profile: device profile \"h200\" not found, there are: "},
      {"nodes: [{name: a, taints: [{key: k, effect: Never}]}]",
       "f: fleet.nodes[0].taints[0].effect: found \"Never\", expected NoSchedule"},
      {"nodes: [{name: a}, {name: a}]", "\"a\" is used twice"},
      {"nodes: [\n  {name: a", "f: "},
  };
  for (const BadFleet& bad : kCases) {
    const auto fleet = ParseFleet(bad.yaml, "f");
    ASSERT_FALSE(fleet) << bad.yaml;
    EXPECT_THAT(fleet.error().message(), HasSubstr(bad.message));
  }
}

}  // namespace
}  // namespace allot::drivers::sim
