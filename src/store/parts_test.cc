// Head index, event window, dead rows, values, directory lock.
#include <map>
#include <string>

#include <gmock/gmock.h>

#include "base/random.h"
#include "store/dead_rows.h"
#include "store/directory_lock.h"
#include "store/entry_maker.h"
#include "store/event_window.h"
#include "store/head_index.h"

namespace allot::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PartsTest : public ::testing::Test {
 protected:
  base::Ref<const Entry> Make(std::string_view key, Revision revision, std::uint16_t resource = 0) {
    return base::Ref<const Entry>::Adopt(
        EntryMaker::Make(*pool_,
                         {ResourceId{resource}, key},
                         {.value = Value::Copy("0123456789"), .revision = revision}));
  }
  Pool::Owner pool_ = Pool::Make();
};

TEST_F(PartsTest, HeadIndexAgainstAMap) {
  HeadIndex index;
  std::map<std::pair<std::uint16_t, std::string>, Revision> model;
  base::Random random(5);
  for (Revision revision = 1; revision < 60'000; ++revision) {
    const auto resource = static_cast<std::uint16_t>(random.Below(3));
    const std::string name = std::to_string(random.Below(2000));
    const Key key{ResourceId{resource}, name};
    const std::uint32_t hash = HashKey(key.resource, name);
    const auto known = model.find({resource, name});
    const Entry* const found = index.Find(key, hash);
    ASSERT_EQ(found != nullptr, known != model.end());
    if (found != nullptr) {
      ASSERT_EQ(found->revision(), known->second);
    }
    if (random.Below(3) == 0) {
      ASSERT_EQ(static_cast<bool>(index.Erase(key, hash)), known != model.end());
      model.erase({resource, name});
    } else {
      index.Put(Make(name, revision, resource));
      model[{resource, name}] = revision;
    }
    ASSERT_EQ(index.size(), model.size());
  }
}

TEST_F(PartsTest, EventWindowTrimsAndAges) {
  EventWindow window(10);
  std::vector<Event> out;
  std::vector<base::Ref<const Entry>> aged;
  for (Revision revision = 11; revision <= 210; ++revision) {
    window.Append({Make("a", revision), nullptr});
  }
  EXPECT_EQ(window.floor(), 10);
  EXPECT_EQ(window.After(10), 0U);
  EXPECT_EQ(window.After(205), 195U);
  EXPECT_EQ(window.After(500), 200U);
  window.Age(150, aged);
  EXPECT_EQ(aged.size(), 50U);
  window.Trim(1 << 20, 20, out);
  EXPECT_EQ(window.floor(), 20);
  window.Age(150, aged);
  EXPECT_EQ(aged.size(), 50U);
  window.Trim(0, 0, out);
  EXPECT_EQ(window.floor(), 210);
  EXPECT_EQ(window.size(), 0U);
  EXPECT_EQ(window.bytes(), 0U);
}

TEST_F(PartsTest, DeadRowsAreDueByTimeAndBytes) {
  DeadRows dead;
  const auto at = [](int seconds) {
    return base::MonoTime(std::chrono::seconds(seconds));
  };
  dead.Note(5, at(0));
  dead.Add(6, 1, 100);
  dead.Add(7, 2, 100);
  dead.Note(7, at(10));
  dead.Add(9, 3, 100);
  EXPECT_EQ(dead.Due(at(20), std::chrono::seconds(15), 1000), 5);
  EXPECT_EQ(dead.Due(at(30), std::chrono::seconds(15), 1000), 7);
  EXPECT_EQ(dead.Due(at(30), std::chrono::hours(1), 150), 7);
  EXPECT_EQ(dead.ready(), 0U);
  dead.Compact(7);
  EXPECT_EQ(dead.ready(), 2U);
  EXPECT_EQ(dead.Due(at(30), std::chrono::hours(1), 150), 7);
  std::vector<Revision> rows;
  dead.Oldest(10, rows);
  EXPECT_THAT(rows, ElementsAre(1, 2));
  dead.Drop(2);
  EXPECT_EQ(dead.bytes(), 100U);
  EXPECT_EQ(dead.size(), 1U);
}

class Stamped final : public base::RefCounted<Stamped> {
 public:
  ~Stamped() = default;
  [[nodiscard]] std::string_view body() const { return "body"; }
  void StampRevision(Revision revision) const { revision_ = revision; }
  mutable Revision revision_ = 0;
};

TEST_F(PartsTest, ValueSharesTheCallersObject) {
  const auto object = base::Ref<const Stamped>::Adopt(new Stamped());
  const Value value = Value::Of(object);
  const Value copy = value;
  EXPECT_EQ(copy.bytes(), "body");
  EXPECT_EQ(copy.As<Stamped>(), object.get());
  copy.Stamp(7);
  EXPECT_EQ(object->revision_, 7);
  EXPECT_EQ(Value::Copy("x").As<Stamped>(), nullptr);
  EXPECT_FALSE(Value());
  EXPECT_EQ(Value().bytes(), "");
  EXPECT_TRUE(Value::Copy(""));
}

TEST_F(PartsTest, BlocksOutliveThePoolsOwner) {
  const auto entry = Make("a", 1);
  pool_.reset();
  EXPECT_EQ(entry->key(), "a");
}

TEST(DirectoryLockTest, SecondOneNamesTheFirst) {
  const std::string path = ::testing::TempDir() + "allot-lock-test";
  {
    const auto first = DirectoryLock::Acquire(path);
    ASSERT_TRUE(first.has_value()) << first.error().ToString();
    const auto second = DirectoryLock::Acquire(path);
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error().reason(), base::Reason::kServiceUnavailable);
    EXPECT_THAT(second.error().message(), HasSubstr("is in use by process "));
  }
  EXPECT_TRUE(DirectoryLock::Acquire(path).has_value());
  EXPECT_THAT(DirectoryLock::Acquire("/proc/none").error().message(),
              HasSubstr("cannot make data directory /proc/none"));
}

}  // namespace
}  // namespace allot::store
