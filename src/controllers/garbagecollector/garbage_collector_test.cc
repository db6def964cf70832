#include "controllers/garbagecollector/garbage_collector.h"

#include <string>

#include <gtest/gtest.h>

#include "api/core/v1.gen.h"
#include "api/meta/v1.gen.h"
#include "testing/component_fixture.h"

namespace allot::controllers {
namespace {

using api::core::ConfigMap;
using api::core::Pod;

class GarbageCollectorTest : public allot::testing::ComponentTest {
 protected:
  void Start() {
    collector = std::make_unique<GarbageCollector>(context);
    context.StartInformers();
    Run();
  }
  void Owner(const std::string& name, const std::string& finalizers = "") {
    api.Add<Pod>(R"({"metadata":{"name":")" + name + R"(","uid":"uid-)" + name +
                 R"(","finalizers":[)" + finalizers + "]}}");
  }
  void Dependent(const std::string& name,
                 const std::vector<std::string>& owners,
                 const std::string& more = "") {
    std::string list;
    for (const std::string& owner : owners) {
      list += (list.empty() ? "" : ",");
      list += R"({"apiVersion":"v1","kind":"Pod","name":")" + owner + R"(","uid":"uid-)" + owner +
              "\"" + more + "}";
    }
    api.Add<ConfigMap>(R"({"metadata":{"name":")" + name + R"(","uid":"uid-)" + name +
                       R"(","ownerReferences":[)" + list + "]}}");
  }
  bool Exists(const std::string& name) {
    return static_cast<bool>(api.Get<ConfigMap>("default", name));
  }
  void Delete(const std::string& name, client::Propagation propagation) {
    ASSERT_TRUE(
        client::Delete<Pod>(client, "default", name, {.propagation = propagation}).has_value());
    Run();
  }

  Context context{client, loop, metrics, log};
  std::unique_ptr<GarbageCollector> collector;
};

TEST_F(GarbageCollectorTest, DependentsFollowTheirOwner) {
  Owner("o");
  Dependent("d", {"o"});
  Start();
  EXPECT_TRUE(Exists("d"));
  Delete("o", client::Propagation::kBackground);
  EXPECT_FALSE(Exists("d"));
  EXPECT_EQ(collector->live_gets(), 0U) << "the owner's end was seen";
  EXPECT_EQ(collector->owned(), 0U);
}

TEST_F(GarbageCollectorTest, OneLivingOwnerIsEnoughAndTheDeadOneIsForgotten) {
  Owner("a");
  Owner("b");
  Dependent("d", {"a", "b"});
  Start();
  Delete("a", client::Propagation::kBackground);
  ASSERT_TRUE(Exists("d"));
  const auto map = api.Get<ConfigMap>("default", "d");
  ASSERT_EQ(map->metadata.owner_references.size(), 1U);
  EXPECT_EQ(map->metadata.owner_references[0].name, "b");
  Delete("b", client::Propagation::kBackground);
  EXPECT_FALSE(Exists("d"));
}

TEST_F(GarbageCollectorTest, AnOwnerThatNeverWasTakesItsDependent) {
  Start();
  Dependent("d", {"nobody"});
  Run();
  EXPECT_FALSE(Exists("d"));
  EXPECT_EQ(collector->live_gets(), 1U) << "only the server knows for certain";
}

TEST_F(GarbageCollectorTest, OwnersOfUnknownKindsCountAsLiving) {
  Start();
  api.Add<ConfigMap>(R"({"metadata":{"name":"d","ownerReferences":[{"apiVersion":"x.example.com/v1",
      "kind":"Thing","name":"t","uid":"1"}]}})");
  Run();
  EXPECT_TRUE(Exists("d"));
}

TEST_F(GarbageCollectorTest, OrphanDeletionLeavesDependents) {
  Owner("o");
  Dependent("d", {"o"});
  Start();
  Delete("o", client::Propagation::kOrphan);
  EXPECT_FALSE(api.Get<Pod>("default", "o"));
  ASSERT_TRUE(Exists("d"));
  EXPECT_TRUE(api.Get<ConfigMap>("default", "d")->metadata.owner_references.empty());
}

TEST_F(GarbageCollectorTest, ForegroundDeletionWaitsForBlockingDependents) {
  Owner("o");
  Dependent("d", {"o"}, R"(,"blockOwnerDeletion":true)");
  api.Change(client::ResourceOf<ConfigMap>(),
             "default",
             "d",
             R"({"metadata":{"finalizers":["example.com/hold"]}})");
  Start();
  Delete("o", client::Propagation::kForeground);
  EXPECT_TRUE(api.Get<Pod>("default", "o")) << "its dependent is still there";
  EXPECT_NE(api.Get<ConfigMap>("default", "d")->metadata.deletion_timestamp, nullptr);
  ASSERT_TRUE(
      client::Patch<ConfigMap>(
          client, "default", "d", client::PatchType::kMerge, R"({"metadata":{"finalizers":null}})")
          .has_value());
  Run();
  EXPECT_FALSE(Exists("d"));
  EXPECT_FALSE(api.Get<Pod>("default", "o"));
}

/// A server with kinds of others, which come and go.
class ForeignServer final : public client::Client {
 public:
  explicit ForeignServer(client::Client& api) : api_(api) {}
  base::Result<client::Item> Do(const client::Request& request) override {
    return api_.Do(request);
  }
  base::Result<client::ListAnswer> List(const client::Resource& resource,
                                        std::string_view ns,
                                        const client::ListOptions& options) override {
    if (broken && resource.kind == "Thing") {
      return base::Error(base::Reason::kInternalError, "conversion webhook failed");
    }
    return api_.List(resource, ns, options);
  }
  base::Result<std::unique_ptr<client::WatchHandle>> Watch(const client::Resource& resource,
                                                           std::string_view ns,
                                                           const client::WatchOptions& options,
                                                           client::WatchSink& sink) override {
    return api_.Watch(resource, ns, options, sink);
  }
  base::Result<std::vector<client::ServedResource>> Served() override {
    auto all = *Client::Served();
    if (has_things) {
      all.push_back({.resource = &things});
    }
    return all;
  }
  [[nodiscard]] bool is_local() const override { return false; }

  client::Resource things{
      "example.com", "v1", "things", "Thing", true, &api::Desc<api::meta::PartialObjectMetadata>()};
  bool has_things = true;
  bool broken = false;

 private:
  client::Client& api_;
};

class ForeignKindsTest : public allot::testing::ComponentTest {
 protected:
  void Start() {
    collector = std::make_unique<GarbageCollector>(context);
    context.StartInformers();
    Run();
  }
  void Thing(const std::string& name) {
    api.Add(server.things, R"({"metadata":{"name":")" + name + R"(","uid":"uid-)" + name + "\"}}");
  }
  void MapOf(const std::string& thing) {
    api.Add<ConfigMap>(R"({"metadata":{"name":"of-)" + thing +
                       R"(","ownerReferences":[{"apiVersion":"example.com/v1","kind":"Thing",
                       "name":")" +
                       thing + R"(","uid":"uid-)" + thing + "\"}]}}");
  }
  bool Exists(const std::string& name) {
    return static_cast<bool>(api.Get<ConfigMap>("default", name));
  }

  ForeignServer server{client};
  Context context{server, loop, metrics, log};
  std::unique_ptr<GarbageCollector> collector;
};

TEST_F(ForeignKindsTest, TakePartByTheirMetadata) {
  Thing("t");
  MapOf("t");
  MapOf("nobody");
  Start();
  EXPECT_TRUE(Exists("of-t"));
  EXPECT_FALSE(Exists("of-nobody"));
  api.Remove(server.things, "default", "t");
  Run();
  EXPECT_FALSE(Exists("of-t"));
}

TEST_F(ForeignKindsTest, AreSeenWhenTheyCome) {
  server.has_things = false;
  MapOf("t");
  Start();
  EXPECT_TRUE(Exists("of-t")) << "an unknown kind is no reason to delete";
  server.has_things = true;
  Thing("t");
  Pass(std::chrono::seconds(31));
  api.Remove(server.things, "default", "t");
  Run();
  EXPECT_FALSE(Exists("of-t"));
}

TEST_F(ForeignKindsTest, AKindThatWentIsNoReasonToDelete) {
  Thing("t");
  Start();
  server.has_things = false;
  Pass(std::chrono::seconds(31));
  MapOf("t");
  MapOf("nobody");
  Run();
  EXPECT_TRUE(Exists("of-t"));
  EXPECT_TRUE(Exists("of-nobody"));
}

TEST_F(ForeignKindsTest, AKindThatCannotBeListedHoldsEndingsForAWhileOnly) {
  server.broken = true;
  api.Add<ConfigMap>(R"({"metadata":{"name":"d","ownerReferences":[{"apiVersion":"v1",
      "kind":"Pod","name":"none","uid":"uid-none"}]}})");
  api.Add<Pod>(R"({"metadata":{"name":"o","uid":"uid-o"}})");
  Start();
  EXPECT_FALSE(Exists("d")) << "what needs no list of it goes on";
  ASSERT_TRUE(
      client::Delete<Pod>(client, "default", "o", {.propagation = client::Propagation::kForeground})
          .has_value());
  Pass(std::chrono::seconds(20));
  EXPECT_TRUE(api.Get<Pod>("default", "o")) << "a Thing may depend on it";
  Pass(std::chrono::seconds(12));
  EXPECT_FALSE(api.Get<Pod>("default", "o"));
}

}  // namespace
}  // namespace allot::controllers
