#include "base/change_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace allot::base {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

TEST(ChangeLogTest, EachReaderSeesWhatIsNewToIt) {
  ChangeLog<int> log;
  std::uint64_t early = 0;
  EXPECT_THAT(log.Since(early), Optional(IsEmpty()));
  log.Add(1);
  std::uint64_t late = log.end();
  log.Add(2);
  EXPECT_THAT(log.After(early), Optional(ElementsAre(1, 2)));
  EXPECT_THAT(log.Since(early), Optional(ElementsAre(1, 2)));
  EXPECT_THAT(log.Since(early), Optional(IsEmpty()));
  EXPECT_THAT(log.Since(late), Optional(ElementsAre(2)));
}

TEST(ChangeLogTest, FullLogTellsOnlyThoseWhoMissedSomething) {
  ChangeLog<int> log(2);
  log.Add(1);
  log.Add(2);
  std::uint64_t behind = 1;
  std::uint64_t current = log.end();
  log.Add(3);
  EXPECT_EQ(log.size(), 1U);
  EXPECT_EQ(log.Since(behind), std::nullopt);
  EXPECT_THAT(log.Since(behind), Optional(IsEmpty()));
  EXPECT_THAT(log.Since(current), Optional(ElementsAre(3)));
}

TEST(ChangeLogTest, EverythingIsToldOnceToEveryReader) {
  ChangeLog<int> log;
  log.Add(1);
  std::uint64_t current = log.end();
  std::uint64_t behind = 0;
  log.AddEverything();
  log.Add(2);
  EXPECT_EQ(log.Since(current), std::nullopt);
  EXPECT_EQ(log.Since(behind), std::nullopt);
  log.Add(3);
  EXPECT_THAT(log.Since(current), Optional(ElementsAre(3)));
}

TEST(ChangeLogTest, CursorOfAnotherLogIsNotTrusted) {
  const ChangeLog<int> log;
  std::uint64_t foreign = 7;
  EXPECT_EQ(log.Since(foreign), std::nullopt);
  EXPECT_EQ(foreign, 0U);
}

}  // namespace
}  // namespace allot::base
