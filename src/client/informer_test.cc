#include "client/informer.h"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/core/v1.gen.h"
#include "base/clock.h"
#include "client/resources.h"
#include "testing/fake_api.h"

namespace allot::client {
namespace {

using api::core::ConfigMap;

class InformerTest : public ::testing::Test {
 protected:
  void Make() {
    informer.emplace(client, loop, ResourceOf<ConfigMap>());
    by_data = informer->AddIndex("data", [](const Item& item, std::vector<std::string>& keys) {
      const auto& map = *static_cast<const ConfigMap*>(item.view.get());
      for (const auto& entry : map.data) {
        keys.emplace_back(entry.value);
      }
    });
    informer->OnChanges([this](std::span<const Change> changes) {
      std::string batch;
      for (const Change& change : changes) {
        const char* const sign = change.type == EventType::kAdded      ? "+"
                                 : change.type == EventType::kModified ? "~"
                                                                       : "-";
        batch += sign + std::string(change.item.object->name());
      }
      batches.push_back(batch);
    });
  }
  void Put(const std::string& name, const std::string& value) {
    api.Add<ConfigMap>(R"({"metadata":{"name":")" + name + R"("},"data":{"k":")" + value + "\"}}");
  }

  base::FakeClock clock;
  Loop loop{clock};
  allot::testing::FakeApi api{clock};
  LocalClient client{api, {.user = "test", .groups = {}}};
  std::optional<Informer> informer;
  int by_data = 0;
  std::vector<std::string> batches;
};

TEST_F(InformerTest, AnObjectThatNamesAKeyTwiceIsIndexedOnceAndCanGo) {
  api.Add<ConfigMap>(R"({"metadata":{"name":"a"},"data":{"k":"x","l":"x"}})");
  Make();
  informer->Start();
  EXPECT_EQ(informer->ByIndex(by_data, "x").size(), 1U);
  api.Change(ResourceOf<ConfigMap>(), "default", "a", R"({"data":{"k":"z"}})");
  loop.RunUntilIdle();
  EXPECT_EQ(informer->ByIndex(by_data, "x").size(), 1U);
  EXPECT_EQ(informer->ByIndex(by_data, "z").size(), 1U);
}

TEST_F(InformerTest, ListsThenFollows) {
  Put("a", "x");
  Make();
  informer->Start();
  EXPECT_TRUE(informer->synced());
  EXPECT_EQ(batches, (std::vector<std::string>{"+a"}));
  Put("b", "y");
  api.Change(ResourceOf<ConfigMap>(), "default", "a", R"({"data":{"k":"z"}})");
  api.Remove(ResourceOf<ConfigMap>(), "default", "b");
  loop.RunUntilIdle();
  EXPECT_EQ(batches, (std::vector<std::string>{"+a", "+b", "~a", "-b"}));
  EXPECT_EQ(informer->size(), 1U);
  EXPECT_TRUE(informer->Find("default", "a"));
  EXPECT_FALSE(informer->Find("default", "b"));
}

TEST_F(InformerTest, ABatchIsDeliveredAsOne) {
  Make();
  informer->Start();
  api.Hold();
  Put("a", "x");
  Put("b", "x");
  loop.RunUntilIdle();
  EXPECT_TRUE(batches.empty()) << "nobody sees what is not durable";
  const std::uint64_t wakes = loop.wakes();
  api.Release();
  loop.RunUntilIdle();
  EXPECT_EQ(batches, (std::vector<std::string>{"+a+b"}));
  EXPECT_EQ(loop.wakes() - wakes, 1U);
  EXPECT_EQ(informer->decodes(), 0U) << "typed views come with local events";
}

TEST_F(InformerTest, IndexFollowsChanges) {
  Make();
  informer->Start();
  Put("a", "x");
  Put("b", "x");
  loop.RunUntilIdle();
  EXPECT_EQ(informer->ByIndex(by_data, "x").size(), 2U);
  api.Change(ResourceOf<ConfigMap>(), "default", "a", R"({"data":{"k":"y"}})");
  api.Remove(ResourceOf<ConfigMap>(), "default", "b");
  loop.RunUntilIdle();
  EXPECT_TRUE(informer->ByIndex(by_data, "x").empty());
  EXPECT_EQ(informer->ByIndex(by_data, "y").size(), 1U);
}

TEST_F(InformerTest, ListsAgainWhenTheServerForgot) {
  Put("a", "x");
  Put("b", "x");
  Make();
  informer->Start();
  batches.clear();
  api.CloseWatches(ResourceOf<ConfigMap>(), base::Reason::kExpired);
  loop.RunUntilIdle();
  informer->Stop();
  api.Remove(ResourceOf<ConfigMap>(), "default", "b");
  api.Change(ResourceOf<ConfigMap>(), "default", "a", R"({"data":{"k":"y"}})");
  Put("c", "x");
  informer->Start();
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0], "~a+c-b") << "the difference, once";
  EXPECT_EQ(informer->lists(), 2U);
}

TEST_F(InformerTest, AClosedWatchGoesOnFromTheLastRevision) {
  Make();
  informer->Start();
  Put("a", "x");
  loop.RunUntilIdle();
  api.CloseWatches(ResourceOf<ConfigMap>(), base::Reason::kServiceUnavailable);
  loop.RunUntilIdle();
  Put("b", "x");
  clock.Advance(std::chrono::seconds(1));
  loop.RunUntilIdle();
  EXPECT_EQ(informer->lists(), 1U);
  EXPECT_EQ(informer->size(), 2U);
}

TEST_F(InformerTest, AFailedListIsTriedAgain) {
  Put("a", "x");
  Make();
  class Broken final : public Client {
   public:
    explicit Broken(Client& to) : to_(to) {}
    base::Result<Item> Do(const Request& request) override { return to_.Do(request); }
    base::Result<ListAnswer> List(const Resource& resource,
                                  std::string_view ns,
                                  const ListOptions& options) override {
      if (failures > 0) {
        --failures;
        return base::Error(base::Reason::kServiceUnavailable, "not yet");
      }
      return to_.List(resource, ns, options);
    }
    base::Result<std::unique_ptr<WatchHandle>> Watch(const Resource& resource,
                                                     std::string_view ns,
                                                     const WatchOptions& options,
                                                     WatchSink& sink) override {
      return to_.Watch(resource, ns, options, sink);
    }
    [[nodiscard]] bool is_local() const override { return true; }
    int failures = 2;

   private:
    Client& to_;
  } broken(client);
  Informer other(broken, loop, ResourceOf<ConfigMap>());
  other.Start();
  EXPECT_FALSE(other.synced());
  EXPECT_FALSE(other.last_error().empty());
  for (int i = 0; i < 10; ++i) {
    clock.Advance(std::chrono::milliseconds(100));
    loop.RunUntilIdle();
  }
  EXPECT_TRUE(other.synced());
  EXPECT_EQ(other.size(), 1U);
}

}  // namespace
}  // namespace allot::client
