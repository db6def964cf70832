// Which devices the claims hold after what the server showed and what we wrote.
#include "scheduler/claim_cache.h"

#include <string>

#include <gtest/gtest.h>

#include "schema/codec.h"
#include "testing/component_fixture.h"

namespace allot::scheduler {
namespace {

using api::resource::AllocationResult;
using api::resource::ResourceClaim;
using client::EventType;

class ClaimCacheTest : public allot::testing::ComponentTest {
 protected:
  void SetUp() override { Add("u1"); }

  void Add(const std::string& uid) {
    api.Add<ResourceClaim>(R"({"metadata":{"name":"c","uid":")" + uid +
                           R"("},"spec":{"devices":{"requests":[{"name":"r","exactly":
        {"deviceClassName":"k","allocationMode":"ExactCount","count":1}}]}}})");
  }
  void Remove() { api.Remove(client::ResourceOf<ResourceClaim>(), "default", "c"); }

  /// Every letter is a device; a digit after it: so much of its memory.
  static std::string Allocation(const std::string& devices) {
    std::string list;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      list += list.empty() ? "" : ",";
      list += R"({"request":"r","driver":"d","pool":"p","device":")" + devices.substr(i, 1) + '"';
      if (i + 1 < devices.size() && devices[i + 1] >= '0' && devices[i + 1] <= '9') {
        ++i;
        list += R"(,"shareID":"s","consumedCapacity":{"memory":")" + devices.substr(i, 1) + "\"}";
      }
      list += "}";
    }
    return R"({"devices":{"results":[)" + list + "]}}";
  }
  void Change(const std::string& allocation) {
    api.Change(client::ResourceOf<ResourceClaim>(),
               "default",
               "c",
               R"({"status":{"allocation":)" + allocation + "}}");
  }
  /// What somebody else does; several steps may go by before the cache is shown anything.
  void Allocate(const std::string& devices) {
    Change("null");
    Change(Allocation(devices));
  }
  void Free() { Change("null"); }

  [[nodiscard]] client::Typed<ResourceClaim> Stored() {
    auto claim = client::Get<ResourceClaim>(client, "default", "c");
    EXPECT_TRUE(claim);
    return claim ? *std::move(claim) : client::Typed<ResourceClaim>{};
  }
  ClaimEffect Show() {
    const auto claim = Stored();
    return cache.Apply({EventType::kModified, {claim.object, client::ToAny(claim.view)}, {}});
  }
  void Assume(const std::string& devices) {
    auto* const allocation = arena.New<AllocationResult>();
    ASSERT_TRUE(schema::DecodeJson(
        api::Desc<AllocationResult>(), arena.Copy(Allocation(devices)), arena, allocation));
    cache.Assume(*cache.Current("default", "c"), *allocation);
  }
  [[nodiscard]] std::string Held() {
    std::string held;
    for (const char* device : {"a", "b", "e"}) {
      const inventory::DeviceId id = inventory.InternDevice("d", "p", device);
      if (allocated.IsHeld(id)) {
        const auto memory = allocated.Consumed(id, "memory").nanos / 1'000'000'000;
        held += device;
        held += memory != 0 ? std::to_string(static_cast<int>(memory)) : "";
      }
    }
    return held;
  }

  base::Arena arena;
  inventory::Inventory inventory;
  inventory::AllocatedState allocated;
  ClaimCache cache{inventory, allocated};
};

struct Step {
  const char* name;
  const char* before;
  const char* after;  ///< "": freed
  bool given_back;
};

class ClaimChangesTest : public ClaimCacheTest, public ::testing::WithParamInterface<Step> {};

TEST_P(ClaimChangesTest, HoldsWhatTheServerShows) {
  const Step& step = GetParam();
  if (*step.before != '\0') {
    Allocate(step.before);
  }
  EXPECT_FALSE(Show().given_back);
  ASSERT_EQ(Held(), step.before);
  if (*step.after != '\0') {
    Allocate(step.after);
  } else {
    Free();
  }
  const std::uint64_t version = allocated.version();
  EXPECT_EQ(Show().given_back, step.given_back);
  EXPECT_EQ(Held(), step.after);
  EXPECT_EQ(allocated.version() == version, std::string_view(step.before) == step.after);
  Free();
  EXPECT_EQ(Show().given_back, *step.after != '\0');
  EXPECT_EQ(Held(), "");
}

INSTANTIATE_TEST_SUITE_P(Changes,
                         ClaimChangesTest,
                         ::testing::Values(Step{"Allocated", "", "a", false},
                                           Step{"Freed", "a", "", true},
                                           Step{"Same", "ab", "ab", false},
                                           Step{"Elsewhere", "a", "b", true},
                                           Step{"More", "a", "ab", true},
                                           Step{"Fewer", "ab", "b", true},
                                           Step{"SameShare", "a2", "a2", false},
                                           Step{"OtherShare", "a2", "a3", true},
                                           Step{"WholeInsteadOfShare", "a2", "a", true}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_F(ClaimCacheTest, OurOwnAllocationIsTakenOnce) {
  Show();
  Assume("a");
  const std::uint64_t version = allocated.version();
  Allocate("a");
  EXPECT_FALSE(Show().given_back);
  EXPECT_EQ(allocated.version(), version);
  EXPECT_EQ(Held(), "a");
  EXPECT_FALSE(cache.Forget(*Stored())) << "the server has it";
  EXPECT_EQ(Held(), "a");
}

TEST_F(ClaimCacheTest, WhatAnotherSchedulerDidHolds) {
  Show();
  Assume("a");
  Allocate("b");
  EXPECT_TRUE(Show().given_back);
  EXPECT_FALSE(cache.InFlight("default", "c"));
  EXPECT_FALSE(cache.Forget(*Stored()));
  EXPECT_EQ(Held(), "b");
}

TEST_F(ClaimCacheTest, AFailedWriteGivesBack) {
  Show();
  Assume("a");
  EXPECT_TRUE(cache.Forget(*Stored()));
  EXPECT_EQ(Held(), "");
}

TEST_F(ClaimCacheTest, MadeAgainUnderItsNameItIsAnotherClaim) {
  Allocate("a");
  Show();
  const auto first = Stored();
  Remove();
  Add("u2");
  EXPECT_TRUE(Show().given_back);
  EXPECT_EQ(Held(), "");
  Assume("b");
  EXPECT_FALSE(cache.Forget(*first)) << "what failed for the first says nothing about the second";
  EXPECT_TRUE(cache.InFlight("default", "c"));
  EXPECT_EQ(Held(), "b");
}

}  // namespace
}  // namespace allot::scheduler
