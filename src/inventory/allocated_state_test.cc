#include "inventory/allocated_state.h"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace allot::inventory {
namespace {

ClaimUse Use(std::vector<std::uint32_t> devices, bool shared = false) {
  ClaimUse use;
  use.name = "claim";
  for (const std::uint32_t id : devices) {
    DeviceUse device;
    device.device = DeviceId{id};
    device.shared = shared;
    if (shared) {
      device.consumed.push_back({"mem", quantity::Quantity::FromInt(3)});
    }
    use.devices.push_back(std::move(device));
  }
  return use;
}

TEST(AllocatedStateTest, DroppedHandleGivesBack) {
  AllocatedState state;
  {
    const auto handle = state.Commit(Use({1, 70, 5000}));
    EXPECT_TRUE(state.IsExclusive(DeviceId{70}));
    EXPECT_EQ(state.held_count(), 3U);
  }
  EXPECT_FALSE(state.IsHeld(DeviceId{70}));
  EXPECT_FALSE(state.IsHeld(DeviceId{5000}));
  EXPECT_EQ(state.held_count(), 0U);
}

TEST(AllocatedStateTest, TwiceTakenIsFreeAfterBothAreGone) {
  AllocatedState state;
  auto first = state.Commit(Use({7}));
  auto second = state.Commit(Use({7}));
  first.GiveBack();
  EXPECT_TRUE(state.IsExclusive(DeviceId{7}));
  second.GiveBack();
  EXPECT_FALSE(state.IsExclusive(DeviceId{7}));
}

TEST(AllocatedStateTest, SharesAddUp) {
  AllocatedState state;
  const auto first = state.Commit(Use({7}, true));
  auto second = state.Commit(Use({7}, true));
  EXPECT_TRUE(state.IsShared(DeviceId{7}));
  EXPECT_FALSE(state.IsExclusive(DeviceId{7}));
  EXPECT_EQ(state.Consumed(DeviceId{7}, "mem"), quantity::Quantity::FromInt(6));
  EXPECT_EQ(state.Consumed(DeviceId{7}, "other"), quantity::Quantity::FromInt(0));
  EXPECT_EQ(state.Holders(DeviceId{7}).size(), 2U);
  second.GiveBack();
  EXPECT_EQ(state.Consumed(DeviceId{7}, "mem"), quantity::Quantity::FromInt(3));
}

TEST(AllocatedStateTest, SharesAddUpToTheEndOf128Bits) {
  const quantity::Quantity most = *quantity::ParseQuantity("1e30");
  AllocatedState state;
  ClaimUse large = Use({7}, true);
  large.devices.front().consumed.front().amount = most;
  const auto first = state.Commit(Use({7}, true));
  auto second = state.Commit(large);
  auto third = state.Commit(large);
  EXPECT_EQ(state.Consumed(DeviceId{7}, "mem"), most);
  second.GiveBack();
  EXPECT_EQ(state.Consumed(DeviceId{7}, "mem"), most);
  third.GiveBack();
  EXPECT_EQ(state.Consumed(DeviceId{7}, "mem"), quantity::Quantity::FromInt(3));
}

TEST(AllocatedStateTest, ForksAreIndependent) {
  AllocatedState state;
  auto mine = state.Commit(Use({1, 2}));
  AllocatedState fork = state.Fork();
  const auto theirs = fork.Commit(Use({3}));
  EXPECT_FALSE(state.IsHeld(DeviceId{3}));
  EXPECT_TRUE(fork.IsHeld(DeviceId{1}));
  mine.GiveBack();
  EXPECT_FALSE(state.IsHeld(DeviceId{1}));
  EXPECT_TRUE(fork.IsHeld(DeviceId{1}));
}

TEST(AllocatedStateTest, ChangesAreLogged) {
  AllocatedState state;
  std::uint64_t cursor = 0;
  auto handle = state.Commit(Use({4, 9}));
  const auto taken = state.changes().Since(cursor);
  ASSERT_TRUE(taken.has_value());
  ASSERT_EQ(taken->size(), 2U);
  EXPECT_EQ((*taken)[1].device, DeviceId{9});
  EXPECT_FALSE((*taken)[1].given_back);
  handle.GiveBack();
  const auto given = state.changes().Since(cursor);
  ASSERT_TRUE(given.has_value());
  ASSERT_EQ(given->size(), 2U);
  EXPECT_TRUE((*given)[0].given_back);
}

}  // namespace
}  // namespace allot::inventory
