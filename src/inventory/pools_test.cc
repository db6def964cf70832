#include "inventory/pools.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inventory/objects_test.h"
#include "inventory/selector_cache.h"

namespace allot::inventory {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;
using ::testing::SizeIs;

// What node n1 sees: pools as "p complete: a b", "p incomplete 1/2", "p invalid: why", or an error.
std::string Seen(Inventory& inventory, const NodeRef& node) {
  const NodeViewPtr view = inventory.ViewFor(node);
  std::string out = view->error;
  for (const PoolViewPtr& pool : view->pools) {
    out += (out.empty() ? "" : "; ") + std::string(pool->pool);
    if (pool->state == PoolState::kIncomplete) {
      out += " incomplete " + std::to_string(pool->observed_slices) + "/" +
             std::to_string(pool->wanted_slices);
    } else if (pool->state == PoolState::kInvalid) {
      out += " invalid: " + pool->invalid_reason;
    } else {
      out += " complete:";
      for (const SlicePtr& slice : pool->slices) {
        for (const Device& device : slice->devices) {
          out += " " + std::string(device.spec->name);
        }
      }
    }
  }
  return out;
}

std::string Devices(const std::string& names) {
  std::string out = "'devices':[";
  for (const char name : names) {
    out += (out.back() == '[' ? "" : ",") + std::string("{'name':'") + name + "'}";
  }
  return out + "]";
}

constexpr const char* kSet = "'sharedCounters':[{'name':'g','counters':{'m':{'value':'4'}}}]";

std::string Consumer(const std::string& name, const std::string& set, const std::string& counter) {
  return "'devices':[{'name':'" + name + "','consumesCounters':[{'counterSet':'" + set +
         "','counters':{'" + counter + "':{'value':'1'}}}]}]";
}

struct Case {
  const char* name;
  std::vector<SliceText> slices;
  const char* seen;
  bool partitionable = true;
  bool groups = false;
};

class PoolsTest : public ::testing::TestWithParam<Case> {};

TEST_P(PoolsTest, AreJudgedAsUpstreamDoes) {
  base::Arena arena;
  Features features;
  features.partitionable_devices = GetParam().partitionable;
  features.compatibility_groups = GetParam().groups;
  const auto* const node =
      FromText<api::core::Node>("{'metadata':{'name':'n1','labels':{'zone':'a'}}}", arena);
  // The order in which slices arrive does not matter.
  for (const bool backwards : {false, true}) {
    Inventory inventory(features);
    std::vector<SliceText> slices = GetParam().slices;
    if (backwards) {
      std::reverse(slices.begin(), slices.end());
    }
    for (const SliceText& slice : slices) {
      Publish(inventory, slice, arena);
    }
    EXPECT_EQ(Seen(inventory, MakeNodeRef(*node)), GetParam().seen);
  }
}

const std::string kElsewhere = "'nodeName':'n2'";
const std::string kEverywhere = "'allNodes':true";

INSTANTIATE_TEST_SUITE_P(
    Pools,
    PoolsTest,
    ::testing::Values(
        Case{"Nothing", {}, ""},
        Case{"One", {{"a", 1, 1, "'nodeName':'n1'", Devices("xy")}}, "p complete: x y"},
        Case{"SlicesInNameOrder",
             {{"b", 1, 2, "'nodeName':'n1'", Devices("z")},
              {"a", 1, 2, "'nodeName':'n1'", Devices("xy")}},
             "p complete: x y z"},
        Case{"OneMissing", {{"a", 1, 2, "'nodeName':'n1'", Devices("x")}}, "p incomplete 1/2"},
        Case{"OneTooMany",
             {{"a", 1, 1, "'nodeName':'n1'", Devices("x")},
              {"b", 1, 1, "'nodeName':'n1'", Devices("y")}},
             "p incomplete 2/1"},
        Case{"CompletedByAnotherNode",
             {{"a", 1, 2, "'nodeName':'n1'", Devices("x")}, {"b", 1, 2, kElsewhere, Devices("y")}},
             "p complete: x"},
        Case{"OldGenerationIsDropped",
             {{"a", 1, 1, "'nodeName':'n1'", Devices("x")},
              {"b", 2, 1, "'nodeName':'n1'", Devices("y")}},
             "p complete: y"},
        Case{"NewGenerationElsewhereIsNotSeen",
             {{"a", 1, 1, "'nodeName':'n1'", Devices("x")}, {"b", 2, 1, kElsewhere, Devices("y")}},
             "p complete: x"},
        Case{"NewGenerationElsewhereEndsAnIncompleteOne",
             {{"a", 1, 2, "'nodeName':'n1'", Devices("x")}, {"b", 2, 2, kElsewhere, Devices("y")}},
             ""},
        Case{"DuplicateDevice",
             {{"a", 1, 2, "'nodeName':'n1'", Devices("x")},
              {"b", 1, 2, "'nodeName':'n1'", Devices("x")}},
             "p invalid: duplicate device name x"},
        Case{"DuplicateOnAnotherNodeIsNone",
             {{"a", 1, 2, "'nodeName':'n1'", Devices("x")}, {"b", 1, 2, kElsewhere, Devices("x")}},
             "p complete: x"},
        Case{"CountersKnown",
             {{"a", 1, 2, "'nodeName':'n1'", kSet},
              {"b", 1, 2, "'nodeName':'n1'", Consumer("x", "g", "m")}},
             "p complete: x"},
        Case{"CounterSetUnknown",
             {{"a", 1, 2, "'nodeName':'n1'", kSet},
              {"b", 1, 2, "'nodeName':'n1'", Consumer("x", "h", "m")}},
             "p invalid: counter set h not found"},
        Case{"CounterUnknown",
             {{"a", 1, 2, "'nodeName':'n1'", kSet},
              {"b", 1, 2, "'nodeName':'n1'", Consumer("x", "g", "n")}},
             "p invalid: counter n not found in counter set g"},
        Case{"CounterSetTwice",
             {{"a", 1, 2, "'nodeName':'n1'", kSet}, {"b", 1, 2, "'nodeName':'n1'", kSet}},
             "p invalid: duplicate counter set name g"},
        Case{"CounterSlicesAreDroppedWithoutPartitions",
             {{"a", 1, 2, "'nodeName':'n1'", kSet},
              {"b", 1, 2, "'nodeName':'n1'", Consumer("x", "g", "m")}},
             "p complete: x",
             false},
        Case{"GroupsWithoutTheGateMakeThePoolIncomplete",
             {{"a", 1, 2, "'nodeName':'n1'", kSet},
              {"b",
               1,
               2,
               "'nodeName':'n1'",
               "'devices':[{'name':'x','consumesCounters':[{'counterSet':'g','counters':{'m':{"
               "'value':'1'}},'compatibilityGroups':['q']}]}]"}},
             "p incomplete 1/2"},
        Case{"AllNodes", {{"a", 1, 1, kEverywhere, Devices("x")}}, "p complete: x"},
        Case{"SelectorMatches",
             {{"a",
               1,
               1,
               "'nodeSelector':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'zone',"
               "'operator':'In','values':['a','b']}]}]}",
               Devices("x")}},
             "p complete: x"},
        Case{"SelectorDoesNot",
             {{"a",
               1,
               1,
               "'nodeSelector':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'zone',"
               "'operator':'DoesNotExist'}]}]}",
               Devices("x")}},
             ""},
        Case{"PerDevice",
             {{"a",
               1,
               1,
               "'perDeviceNodeSelection':true",
               "'devices':[{'name':'x','nodeName':'n2'},{'name':'y','nodeName':'n1'}]"}},
             "p complete: x y"},
        Case{"PerDeviceElsewhere",
             {{"a",
               1,
               1,
               "'perDeviceNodeSelection':true",
               "'devices':[{'name':'x','nodeName':'n2'}]"}},
             ""},
        Case{"NoRuleIsNoNode", {{"a", 1, 1, "'allNodes':false", Devices("x")}}, ""}),
    [](const auto& info) { return info.param.name; });

TEST(InventoryTest, ViewsFollowEvents) {
  base::Arena arena;
  Inventory inventory;
  const auto* const n1 = FromText<api::core::Node>("{'metadata':{'name':'n1'}}", arena);
  const NodeRef ref = MakeNodeRef(*n1);
  EXPECT_EQ(Seen(inventory, ref), "");
  Publish(inventory, {"a", 1, 2, "'nodeName':'n1'", Devices("x")}, arena);
  EXPECT_EQ(Seen(inventory, ref), "p incomplete 1/2");
  Publish(inventory, {"b", 1, 2, kElsewhere, Devices("y")}, arena);
  EXPECT_EQ(Seen(inventory, ref), "p complete: x");
  inventory.DeleteSlice("b");
  EXPECT_EQ(Seen(inventory, ref), "p incomplete 1/2");
  inventory.DeleteSlice("a");
  EXPECT_EQ(Seen(inventory, ref), "");
}

TEST(InventoryTest, ANameGivenTwiceComesAndGoes) {
  base::Arena arena;
  Inventory inventory;
  const auto* const n1 = FromText<api::core::Node>("{'metadata':{'name':'n1'}}", arena);
  const NodeRef ref = MakeNodeRef(*n1);
  const auto publish = [&](const char* name, int generation, const char* devices) {
    Publish(inventory, {name, generation, 2, "'nodeName':'n1'", Devices(devices)}, arena);
    return Seen(inventory, ref);
  };
  publish("a", 1, "xy");
  EXPECT_EQ(publish("b", 1, "z"), "p complete: x y z");
  EXPECT_EQ(publish("b", 1, "zx"), "p invalid: duplicate device name x");
  EXPECT_EQ(publish("a", 1, "y"), "p complete: y z x");
  EXPECT_EQ(publish("a", 1, "yy"), "p invalid: duplicate device name y");
  EXPECT_EQ(publish("a", 1, "y"), "p complete: y z x");
  // The same names in another generation are other devices' successors, not duplicates.
  publish("c", 2, "y");
  EXPECT_EQ(publish("d", 2, "zx"), "p complete: y z x");
  inventory.DeleteSlice("c");
  inventory.DeleteSlice("d");
  EXPECT_EQ(Seen(inventory, ref), "p complete: y z x");
  // Those that still publish the devices are their publishers again.
  const auto publisher = [&](const char* device) {
    DevicePlace place = DevicePlace::kHere;
    const Device* const found = inventory.FindDevice({"x", "p", device}, &ref, place);
    return found != nullptr ? std::string(found->slice->name) : "none";
  };
  EXPECT_EQ(publisher("y") + publisher("z") + publisher("x"), "abb");
  for (const char* const device : {"x", "y", "z"}) {
    EXPECT_EQ(inventory.NodeSeeing(inventory.InternDevice("x", "p", device)),
              inventory.KnowNode("n1"))
        << device;
  }
  // The newest generation comes first; where nobody is left there is none.
  publish("c", 3, "x");
  publish("d", 4, "x");
  publish("e", 5, "x");
  inventory.DeleteSlice("e");
  EXPECT_EQ(publisher("x"), "d");
  inventory.DeleteSlice("d");
  inventory.DeleteSlice("c");
  inventory.DeleteSlice("b");
  EXPECT_EQ(publisher("x"), "none");
  EXPECT_EQ(inventory.NodeSeeing(inventory.InternDevice("x", "p", "x")), kNoNode);
}

TEST(InventoryTest, AnUnchangedLayoutKeepsItsIndices) {
  base::Arena arena;
  Inventory inventory;
  Publish(inventory, {"a", 1, 1, "'nodeName':'n1'", Devices("xy")}, arena);
  const DeviceIndex first = inventory.Slices().front()->first;
  const std::uint32_t bound = inventory.index_bound();
  for (int i = 2; i < 6; ++i) {
    Publish(inventory, {"a", i, 1, "'nodeName':'n1'", Devices("xy")}, arena);
    EXPECT_EQ(inventory.Slices().front()->first, first);
  }
  EXPECT_EQ(inventory.index_bound(), bound);
  Publish(inventory, {"a", 9, 1, "'nodeName':'n1'", Devices("xyz")}, arena);
  EXPECT_EQ(inventory.index_bound(), bound + 3);
}

TEST(InventoryTest, OnlyNodesThatMayNoticeAreTold) {
  base::Arena arena;
  Inventory inventory;
  std::uint64_t cursor = 0;
  Publish(inventory, {"a", 1, 1, "'nodeName':'n1'", Devices("x")}, arena);
  const NodeIndex n1 = inventory.KnowNode("n1");
  EXPECT_THAT(inventory.node_changes().Since(cursor), Optional(ElementsAre(n1)));
  const DeviceId x = inventory.InternDevice("x", "p", "x");
  EXPECT_EQ(inventory.NodeSeeing(x), n1);
  // A second node's slice in the pool: its devices may share counters with the first.
  Publish(inventory, {"b", 1, 2, kElsewhere, Devices("y")}, arena);
  EXPECT_THAT(inventory.node_changes().Since(cursor), Optional(SizeIs(2)));
  EXPECT_EQ(inventory.NodeSeeing(x), kAnyNode);
  EXPECT_EQ(inventory.NodeSeeing(inventory.InternDevice("x", "p", "y")), kAnyNode);
  Publish(inventory, {"c", 1, 1, kEverywhere, Devices("z")}, arena);
  EXPECT_FALSE(inventory.node_changes().Since(cursor).has_value());
  // Nobody notices a device that nobody publishes.
  EXPECT_EQ(inventory.NodeSeeing(inventory.InternDevice("x", "q", "w")), kNoNode);
  // They are all of one node again.
  inventory.DeleteSlice("c");
  inventory.DeleteSlice("b");
  EXPECT_EQ(inventory.NodeSeeing(x), n1);
  inventory.DeleteSlice("a");
  EXPECT_EQ(inventory.NodeSeeing(x), kNoNode);
}

TEST(InventoryTest, DevicesAreFoundForTheNodesThatHaveThem) {
  base::Arena arena;
  Inventory inventory;
  Publish(inventory,
          {"a",
           1,
           1,
           "'perDeviceNodeSelection':true",
           "'devices':[{'name':'x','nodeName':'n1'},{'name':'y','allNodes':true}]"},
          arena);
  const auto* const other = FromText<api::core::Node>("{'metadata':{'name':'n2'}}", arena);
  const NodeRef n2 = MakeNodeRef(*other);
  DevicePlace place{};
  EXPECT_NE(inventory.FindDevice({"x", "p", "x"}, nullptr, place), nullptr);
  EXPECT_EQ(inventory.FindDevice({"x", "p", "x"}, &n2, place), nullptr);
  EXPECT_EQ(place, DevicePlace::kOtherNode);
  EXPECT_NE(inventory.FindDevice({"x", "p", "y"}, &n2, place), nullptr);
  EXPECT_EQ(place, DevicePlace::kHere);
  EXPECT_EQ(inventory.FindDevice({"x", "p", "z"}, &n2, place), nullptr);
  EXPECT_EQ(place, DevicePlace::kNotPublished);
}

TEST(InventoryTest, WhatComesAndGoesLeavesNothingBehind) {
  Inventory inventory;
  SelectorCache cache(inventory);
  const std::string_view is_new[] = {"device.attributes['x'].new"};
  const SelectorSetPtr set = cache.Intern(is_new);
  std::uint64_t cursor = inventory.recycled().end();
  NodeViewPtr first;
  for (int i = 0; i < 10'000; ++i) {
    base::Arena arena;
    const std::string name = "n" + std::to_string(i);
    const auto* const node =
        FromText<api::core::Node>("{'metadata':{'name':'" + name + "'}}", arena);
    const NodeRef ref = MakeNodeRef(*node);
    // The same index, whose verdict changes with every publication.
    std::uint32_t passed = 0;
    for (int generation = 1; generation <= 8; ++generation) {
      auto* const slice = FromText<api::resource::ResourceSlice>(
          "{'metadata':{'name':'s'},'spec':{'driver':'x','pool':{'name':'p-" + name +
              "','generation':" + std::to_string(generation) +
              ",'resourceSliceCount':1},'nodeName':'" + name +
              "','devices':[{'name':'d','attributes':{'new':{'bool':" +
              (generation % 2 == 0 ? "true" : "false") + "}}}]}}",
          arena);
      inventory.UpsertSlice(*slice);
      if (i % 1000 == 0) {
        cache.Sync(*set);
        SelectorFailure failure;
        passed += cache.Test(*set, inventory.Slices().front()->devices[0], failure) ==
                          SelectorCache::Match::kYes
                      ? 1
                      : 0;
      }
    }
    EXPECT_EQ(passed, i % 1000 == 0 ? 4U : 0U);
    const NodeViewPtr view = inventory.ViewFor(ref);
    ASSERT_EQ(view->pools.size(), 1U);
    first = first == nullptr ? view : first;
    inventory.DeleteSlice("s");
    EXPECT_TRUE(inventory.ViewFor(ref)->pools.empty());
    inventory.NodeGone(name);
  }
  // A node that is only named by a slice, and one that is only asked for.
  base::Arena arena;
  Publish(inventory, {"a", 1, 1, "'nodeName':'ghost'", ""}, arena);
  inventory.DeleteSlice("a");
  const auto* const asked = FromText<api::core::Node>("{'metadata':{'name':'asked'}}", arena);
  EXPECT_TRUE(inventory.ViewFor(MakeNodeRef(*asked))->pools.empty());
  inventory.NodeGone("asked");
  const Inventory::Sizes sizes = inventory.sizes();
  EXPECT_EQ(sizes.nodes, 0U);
  EXPECT_EQ(sizes.pools, 0U);
  EXPECT_LE(inventory.recycled().size(), base::ChangeLog<IndexRange>::kLimit);
  EXPECT_LE(inventory.node_changes().size(), base::ChangeLog<NodeIndex>::kLimit);
  // 80,001 ranges later the cache is told to forget all.
  EXPECT_FALSE(inventory.recycled().Since(cursor).has_value());
  // What was handed out still has its names.
  EXPECT_EQ(first->pools.front()->pool, "p-n0");
}

TEST(InventoryTest, TheLatestClassServesAResourceName) {
  base::Arena arena;
  Inventory inventory;
  const auto add =
      [&](const std::string& name, const std::string& created, const std::string& res) {
        inventory.UpsertClass(*FromText<api::resource::DeviceClass>(
            "{'metadata':{'name':'" + name + "','creationTimestamp':'" + created +
                "'},'spec':{'extendedResourceName':'" + res + "'}}",
            arena));
      };
  const auto serving = [&](std::string_view resource) {
    const ClassPtr found = inventory.FindClassOfExtendedResource(resource);
    return found != nullptr ? std::string(found->name) : "";
  };
  add("b", "2026-01-01T00:00:00Z", "e.com/g");
  add("c", "2026-01-02T00:00:00Z", "e.com/g");
  add("a", "2026-01-02T00:00:00Z", "e.com/g");
  EXPECT_EQ(serving("e.com/g"), "a");  // the latest; of equals the first by name
  EXPECT_EQ(serving("deviceclass.resource.kubernetes.io/b"), "b");
  inventory.DeleteClass("a");
  EXPECT_EQ(serving("e.com/g"), "c");
  add("c", "2026-01-02T00:00:00Z", "e.com/other");
  EXPECT_EQ(serving("e.com/g"), "b");
  EXPECT_EQ(serving("e.com/other"), "c");
  EXPECT_EQ(serving("e.com/none"), "");
}

}  // namespace
}  // namespace allot::inventory
