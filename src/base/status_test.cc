#include "base/status.h"

#include <gtest/gtest.h>

#include "base/arena.h"
#include "base/mailbox.h"
#include "base/random.h"

namespace allot::base {
namespace {

Result<int> Half(int x) {
  if (x % 2 != 0) {
    return Error(Reason::kInvalid, "odd");
  }
  return x / 2;
}

Result<int> Quarter(int x) {
  ALLOT_ASSIGN_OR_RETURN(const int half, Half(x));
  return Half(half);
}

TEST(StatusTest, EveryReasonSurvivesItsText) {
  for (int i = 1; i <= static_cast<int>(Reason::kServiceUnavailable); ++i) {
    const auto reason = static_cast<Reason>(i);
    EXPECT_EQ(ReasonFromText(ReasonText(reason)), reason);
  }
}

TEST(StatusTest, ErrorsTravelThroughTheMacros) {
  EXPECT_EQ(Quarter(8).value(), 2);
  ASSERT_FALSE(Quarter(6).has_value());
  EXPECT_EQ(Quarter(6).error().code(), 422);
  EXPECT_EQ(Quarter(6).error().ToString(), "Invalid: odd");
}

TEST(StatusTest, CopiesAreDeep) {
  Status a(Reason::kConflict, "x");
  a.mutable_details().name = "n";
  Status b = a;
  b.mutable_details().name = "m";
  EXPECT_EQ(a.details()->name, "n");
  EXPECT_FALSE(a == b);
}

TEST(ArenaTest, KeepsWhatIsPutInAcrossBlocks) {
  Arena arena(64);
  std::vector<std::string_view> texts;
  for (int i = 0; i < 1000; ++i) {
    texts.push_back(arena.Copy(std::to_string(i)));
  }
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(texts[static_cast<std::size_t>(i)], std::to_string(i));
  }
  auto* const aligned = arena.New<long double>();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(aligned) % alignof(long double), 0U);
}

TEST(MailboxTest, WakesOncePerTurnToNonEmptyAndNeverLosesTheStop) {
  int woken = 0;
  Mailbox<int> mailbox([&woken] { ++woken; });
  mailbox.Post(1);
  mailbox.Post(2);
  mailbox.PostAll({3, 4});
  EXPECT_EQ(woken, 1);
  std::vector<int> out;
  EXPECT_TRUE(mailbox.Drain(out));
  EXPECT_EQ(out, (std::vector<int>{1, 2, 3, 4}));
  mailbox.Post(5);
  mailbox.Stop();
  EXPECT_TRUE(mailbox.Wait(out));
  EXPECT_FALSE(mailbox.Wait(out));
  EXPECT_FALSE(mailbox.Post(6));
}

TEST(RandomTest, SameSeedSameNames) {
  Random a(7);
  Random b(7);
  EXPECT_EQ(a.Uuid(), b.Uuid());
  EXPECT_EQ(a.NameSuffix(), b.NameSuffix());
  EXPECT_EQ(a.Uuid()[14], '4');
}

}  // namespace
}  // namespace allot::base
