#include "store/tree.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "base/random.h"
#include "store/entry_maker.h"
#include "store/snapshot.h"

namespace allot::store {
namespace {

using Model = std::map<std::string, Revision>;

class TreeTest : public ::testing::Test {
 protected:
  base::Ref<const Entry> Make(std::string_view key, Revision revision) {
    return base::Ref<const Entry>::Adopt(
        EntryMaker::Make(*entries_, {ResourceId{}, key}, {.revision = revision}));
  }
  static Model Read(const Snapshot& snapshot) {
    Model read;
    for (Cursor at = snapshot.Seek(""); at.valid(); at.Next()) {
      read.emplace_hint(read.end(), std::string(at->key()), at->revision());
    }
    return read;
  }
  static void ExpectEqual(const Snapshot& snapshot, const Model& model) {
    ASSERT_EQ(snapshot.size(), model.size());
    ASSERT_EQ(Read(snapshot), model);
  }

  Pool::Owner entries_ = Pool::Make();
  Pool::Owner nodes_ = Pool::Make();
};

TEST_F(TreeTest, EmptyTree) {
  TreeEditor editor(*nodes_, nullptr);
  editor.Erase("x");
  const Snapshot snapshot(editor.Finish(), 1);
  EXPECT_EQ(snapshot.size(), 0U);
  EXPECT_EQ(snapshot.Find("x"), nullptr);
  EXPECT_FALSE(snapshot.Seek("").valid());
  EXPECT_EQ(snapshot.Count("", ""), 0U);
}

TEST_F(TreeTest, RisingKeysFillTheNodes) {
  TreeEditor editor(*nodes_, nullptr);
  Model model;
  for (int i = 0; i < 5000; ++i) {
    std::string key = std::to_string(100'000 + i);
    editor.Put(*Make(key, i));
    model[key] = i;
  }
  ExpectEqual(Snapshot(editor.Finish(), 1), model);
}

// Random edits in batches against a map; every old snapshot must stay what it was.
TEST_F(TreeTest, RandomEditsAgainstAMap) {
  for (const std::uint64_t keys : {10U, 300U, 6000U}) {
    base::Random random(keys);
    base::Ref<const TreeNode> root;
    Model model;
    std::vector<std::pair<Snapshot, Model>> kept;
    Revision revision = 0;
    // The share of deletions swings, so that the tree grows and shrinks to nothing again.
    for (int round = 0; round < 60; ++round) {
      TreeEditor editor(*nodes_, root);
      const std::uint64_t deletions = round % 20 < 10 ? 2 : 8;
      for (std::uint64_t i = 0; i < keys / 2; ++i) {
        const std::string key = "ns/" + std::to_string(random.Below(keys));
        if (random.Below(10) < deletions) {
          editor.Erase(key);
          model.erase(key);
        } else {
          editor.Put(*Make(key, ++revision));
          model[key] = revision;
        }
      }
      root = editor.Finish();
      ExpectEqual(Snapshot(root, revision), model);
      if (round % 7 == 0) {
        kept.emplace_back(Snapshot(root, revision), model);
      }
      for (int i = 0; i < 20; ++i) {
        const std::string from = "ns/" + std::to_string(random.Below(keys));
        const std::string to = "ns/" + std::to_string(random.Below(keys));
        const Snapshot snapshot(root, revision);
        const auto lower = model.lower_bound(from);
        const auto upper = model.lower_bound(to);
        EXPECT_EQ(snapshot.Count(from, to),
                  from < to ? static_cast<std::size_t>(std::distance(lower, upper)) : 0U);
        const Cursor at = snapshot.Seek(from);
        ASSERT_EQ(at.valid(), lower != model.end());
        if (at.valid()) {
          EXPECT_EQ(at->key(), lower->first);
        }
        const Entry* const found = snapshot.Find(from);
        ASSERT_EQ(found != nullptr, model.contains(from));
      }
    }
    for (const auto& [snapshot, then] : kept) {
      ExpectEqual(snapshot, then);
    }
    TreeEditor editor(*nodes_, root);
    for (const auto& [key, at] : model) {
      editor.Erase(key);
    }
    EXPECT_FALSE(editor.Finish());
  }
}

TEST(PrefixEndTest, Cases) {
  EXPECT_EQ(PrefixEnd("a/"), "a0");
  EXPECT_EQ(PrefixEnd("a\xff"), "b");
  EXPECT_EQ(PrefixEnd("\xff\xff"), "");
  EXPECT_EQ(PrefixEnd(""), "");
}

}  // namespace
}  // namespace allot::store
