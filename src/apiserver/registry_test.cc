// Tests of the write path over a memory store: what is stored, refused and removed, and what local
// watchers see of it.
#include "apiserver/registry.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/core/v1.gen.h"
#include "api/resource/v1.gen.h"
#include "apiserver/bootstrap.h"
#include "apiserver/edit.h"
#include "apiserver/local_backend.h"
#include "client/resources.h"
#include "store/local_store.h"

namespace allot::apiserver {
namespace {

namespace core = api::core;
using base::Reason;

class RegistryTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = store::OpenLocal(store::MakeMemoryLog(), {});
    ASSERT_TRUE(opened.has_value());
    store_ = *std::move(opened);
    auto resources = ResourceSet::Make(*store_, gates_, RuntimeConfig());
    ASSERT_TRUE(resources.has_value());
    resources_ = std::make_unique<ResourceSet>(*std::move(resources));
    registry_ = std::make_unique<Registry>(*store_, *resources_, gates_, clock_, random_);
    ASSERT_TRUE(Bootstrap(*registry_).has_value());
    backend_ = std::make_unique<LocalBackend>(*registry_, authorizer_);
  }
  void TearDown() override {
    backend_->Stop();
    store_->Stop();
  }

  [[nodiscard]] const Resource& Find(std::string_view plural,
                                     std::string_view group = "",
                                     std::string_view version = "v1") const {
    const Resource* const found = resources_->Find(group, version, plural);
    EXPECT_NE(found, nullptr);
    return *found;
  }
  [[nodiscard]] WriteContext Context() { return {.user = user_, .warnings = &warnings_}; }

  AnyDraft ConfigMap(std::string_view name) {
    AnyDraft draft(api::Desc<core::ConfigMap>());
    draft.As<core::ConfigMap>().metadata.name = draft.Copy(name);
    return draft;
  }
  AnyDraft Pod(std::string_view name) {
    AnyDraft draft(api::Desc<core::Pod>());
    auto& pod = draft.As<core::Pod>();
    pod.metadata.name = draft.Copy(name);
    core::Container container;
    container.name = "main";
    container.image = "registry.invalid/app";
    Append(draft.arena(), pod.spec.containers, container);
    SetValue(draft.arena(), pod.spec.automount_service_account_token, false);
    return draft;
  }
  void MakeAccount() {
    AnyDraft draft(api::Desc<core::ServiceAccount>());
    draft.As<core::ServiceAccount>().metadata.name = "default";
    ASSERT_TRUE(registry_->Create(Context(), Find("serviceaccounts"), "default", std::move(draft))
                    .has_value());
  }

  api::GateSet gates_;
  base::FakeClock clock_;
  base::Random random_{1};
  User user_{"tester", "", {std::string(kMastersGroup)}, {}};
  std::vector<std::string> warnings_;
  Authorizer authorizer_{{"component"}};
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<ResourceSet> resources_;
  std::unique_ptr<Registry> registry_;
  std::unique_ptr<LocalBackend> backend_;
};

template <typename T>
const T& ViewAs(const Written& written) {
  return *static_cast<const T*>(written.view.get());
}

TEST_F(RegistryTest, CreateFillsMetadataAndRefusesASecond) {
  const Resource& maps = Find("configmaps");
  const auto first = registry_->Create(Context(), maps, "default", ConfigMap("a"));
  ASSERT_TRUE(first.has_value()) << first.error().message();
  const auto& map = ViewAs<core::ConfigMap>(*first);
  EXPECT_FALSE(map.metadata.uid.empty());
  EXPECT_EQ(map.metadata.namespace_, "default");
  EXPECT_TRUE(map.metadata.creation_timestamp.set);
  EXPECT_EQ(first->entry->revision(), first->revision);

  const auto second = registry_->Create(Context(), maps, "default", ConfigMap("a"));
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().message(), "configmaps \"a\" already exists");
  const auto lost = registry_->Create(Context(), maps, "nowhere", ConfigMap("a"));
  ASSERT_FALSE(lost.has_value());
  EXPECT_EQ(lost.error().message(), "namespaces \"nowhere\" not found");
}

TEST_F(RegistryTest, DryRunStoresNothing) {
  WriteContext context = Context();
  context.dry_run = true;
  const Resource& maps = Find("configmaps");
  ASSERT_TRUE(registry_->Create(context, maps, "default", ConfigMap("a")).has_value());
  EXPECT_FALSE(store_->ReadHead({maps.store_id, "default/a"}));
}

TEST_F(RegistryTest, PodsMayNameAnyRuntimeClass) {
  MakeAccount();
  AnyDraft draft = Pod("p");
  draft.As<core::Pod>().spec.runtime_class_name =
      draft.arena().New<schema::Str>(schema::Str("nvidia"));
  const auto created = registry_->Create(Context(), Find("pods"), "default", std::move(draft));
  ASSERT_TRUE(created.has_value()) << created.error().message();
  const auto& spec = ViewAs<core::Pod>(*created).spec;
  EXPECT_EQ(*spec.runtime_class_name, "nvidia");
  EXPECT_TRUE(spec.overhead.empty());
}

TEST_F(RegistryTest, ObjectsHaveTheSizeLimitOfEtcd) {
  MakeAccount();
  const Resource& pods = Find("pods");
  const auto create = [&](std::string_view name, std::size_t size, bool dry_run) {
    AnyDraft draft = Pod(name);
    core::Container container;
    container.name = "large";
    container.image = "registry.invalid/app";
    Append(draft.arena(), container.args, schema::Str(draft.Copy(std::string(size, 'x'))));
    Append(draft.arena(), draft.As<core::Pod>().spec.containers, container);
    WriteContext context = Context();
    context.dry_run = dry_run;
    return registry_->Create(context, pods, "default", std::move(draft));
  };
  EXPECT_TRUE(create("small", 1'570'000, false).has_value());
  EXPECT_TRUE(create("dry", 1'600'000, true).has_value());  // nothing is stored
  const auto large = create("large", 1'600'000, false);
  ASSERT_FALSE(large.has_value());
  EXPECT_EQ(large.error().reason(), Reason::kUnknown);
  EXPECT_EQ(base::ReasonCode(large.error().reason()), 500);
  EXPECT_EQ(large.error().message(), "etcdserver: request is too large");
}

TEST_F(RegistryTest, UpdateConflictsAndNoChange) {
  const Resource& maps = Find("configmaps");
  const auto created = registry_->Create(Context(), maps, "default", ConfigMap("a"));
  ASSERT_TRUE(created.has_value());
  const auto put = [&](std::string_view value, std::string_view revision) {
    return registry_->Update(Context(),
                             maps,
                             "default",
                             "a",
                             "",
                             /*unconditional=*/false,
                             [&](const AnyView&, store::Revision) -> base::Result<AnyDraft> {
                               AnyDraft draft = ConfigMap("a");
                               auto& map = draft.As<core::ConfigMap>();
                               map.metadata.resource_version = draft.Copy(revision);
                               Put(draft.arena(), map.data, schema::Str("k"), draft.Copy(value));
                               return draft;
                             });
  };
  const auto changed = put("1", "");
  ASSERT_TRUE(changed.has_value()) << changed.error().message();
  EXPECT_GT(changed->revision, created->revision);
  const auto same = put("1", "");
  ASSERT_TRUE(same.has_value());
  EXPECT_FALSE(same->pending);
  EXPECT_EQ(same->revision, changed->revision);
  const auto stale = put("2", std::to_string(created->revision));
  ASSERT_FALSE(stale.has_value());
  EXPECT_EQ(stale.error().reason(), Reason::kConflict);
  EXPECT_TRUE(
      stale.error().message().starts_with("Operation cannot be fulfilled on configmaps \"a\""));
}

TEST_F(RegistryTest, FinalizersHoldADeletion) {
  const Resource& maps = Find("configmaps");
  AnyDraft draft = ConfigMap("a");
  Append(draft.arena(),
         draft.As<core::ConfigMap>().metadata.finalizers,
         schema::Str("example.com/hold"));
  ASSERT_TRUE(registry_->Create(Context(), maps, "default", std::move(draft)).has_value());
  const auto marked = registry_->Delete(Context(), maps, "default", "a", {});
  ASSERT_TRUE(marked.has_value());
  EXPECT_FALSE(marked->removed);
  EXPECT_NE(ViewAs<core::ConfigMap>(*marked).metadata.deletion_timestamp, nullptr);
  const auto released =
      registry_->Update(Context(),
                        maps,
                        "default",
                        "a",
                        "",
                        /*unconditional=*/true,
                        [&](const AnyView& old, store::Revision) -> base::Result<AnyDraft> {
                          AnyDraft next(api::Desc<core::ConfigMap>(), old);
                          next.As<core::ConfigMap>().metadata.resource_version = {};
                          next.As<core::ConfigMap>().metadata.finalizers = {};
                          return next;
                        });
  ASSERT_TRUE(released.has_value()) << released.error().message();
  EXPECT_TRUE(released->removed);
  EXPECT_FALSE(store_->ReadHead({maps.store_id, "default/a"}));
}

TEST_F(RegistryTest, DeletePreconditions) {
  const Resource& maps = Find("configmaps");
  ASSERT_TRUE(registry_->Create(Context(), maps, "default", ConfigMap("a")).has_value());
  Deletion deletion;
  deletion.uid = "other";
  const auto refused = registry_->Delete(Context(), maps, "default", "a", deletion);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().reason(), Reason::kConflict);
  EXPECT_EQ(registry_->Delete(Context(), maps, "default", "none", {}).error().message(),
            "configmaps \"none\" not found");
}

TEST_F(RegistryTest, BoundPodsGoGracefully) {
  MakeAccount();
  const Resource& pods = Find("pods");
  ASSERT_TRUE(registry_->Create(Context(), pods, "default", Pod("waiting")).has_value());
  const auto at_once = registry_->Delete(Context(), pods, "default", "waiting", {});
  ASSERT_TRUE(at_once.has_value());
  EXPECT_TRUE(at_once->removed);

  ASSERT_TRUE(registry_->Create(Context(), pods, "default", Pod("bound")).has_value());
  core::Binding binding;
  binding.metadata.name = "bound";
  binding.target.kind = "Node";
  binding.target.name = "n1";
  const auto bound = registry_->Bind(Context(), "default", "bound", binding);
  ASSERT_TRUE(bound.has_value()) << bound.error().message();
  EXPECT_EQ(ViewAs<core::Pod>(*bound).spec.node_name, "n1");
  const auto again = registry_->Bind(Context(), "default", "bound", binding);
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(
      again.error().message(),
      "Operation cannot be fulfilled on pods/binding \"bound\": pod bound is already assigned "
      "to node \"n1\"");
  const auto marked = registry_->Delete(Context(), pods, "default", "bound", {});
  ASSERT_TRUE(marked.has_value());
  EXPECT_FALSE(marked->removed);
  EXPECT_EQ(*ViewAs<core::Pod>(*marked).metadata.deletion_grace_period_seconds, 30);
  Deletion now;
  now.grace_seconds = 0;
  const auto removed = registry_->Delete(Context(), pods, "default", "bound", now);
  ASSERT_TRUE(removed.has_value());
  EXPECT_TRUE(removed->removed);
}

TEST_F(RegistryTest, PodsGetTheirPriorityTolerationsAndAccount) {
  const auto without = registry_->Create(Context(), Find("pods"), "default", Pod("p"));
  ASSERT_FALSE(without.has_value());
  EXPECT_EQ(without.error().reason(), Reason::kForbidden);
  MakeAccount();
  const auto created = registry_->Create(Context(), Find("pods"), "default", Pod("p"));
  ASSERT_TRUE(created.has_value()) << created.error().message();
  const auto& pod = ViewAs<core::Pod>(*created);
  EXPECT_EQ(pod.spec.service_account_name, "default");
  EXPECT_EQ(*pod.spec.priority, 0);
  EXPECT_EQ(pod.spec.tolerations.size(), 2U);
}

class CollectingSink final : public client::WatchSink {
 public:
  void OnEvents(const client::WatchBatch& batch) override {
    const std::lock_guard lock(mutex_);
    events_.insert(events_.end(), batch->begin(), batch->end());
  }
  void OnClosed(const base::Status&) override {}
  std::vector<client::WatchEvent> Take() {
    const std::lock_guard lock(mutex_);
    return events_;
  }

 private:
  std::mutex mutex_;
  std::vector<client::WatchEvent> events_;
};

TEST_F(RegistryTest, LocalClientsWriteAndWatch) {
  const client::Identity identity{"component", {}};
  CollectingSink sink;
  const auto& resource = client::ResourceOf<core::ConfigMap>();
  auto handle = backend_->Watch(identity, resource, "default", {}, sink);
  ASSERT_TRUE(handle.has_value());
  schema::Draft<core::ConfigMap> draft;
  draft->metadata.name = "local";
  const auto view = draft.Freeze();
  client::Request request;
  request.verb = client::Verb::kCreate;
  request.resource = &resource;
  request.ns = "default";
  request.body = AnyView(view.arena(), view.get());
  const auto item = backend_->Do(identity, request);  // durable, so its event has been delivered
  ASSERT_TRUE(item.has_value()) << item.error().message();
  EXPECT_EQ(item->object->name(), "local");
  EXPECT_GT(item->object->revision(), 0);
  const auto events = sink.Take();
  ASSERT_GE(events.size(), 1U);
  EXPECT_EQ(events.back().type, client::EventType::kAdded);
  EXPECT_EQ(events.back().item.object, item->object);
  EXPECT_NE(events.back().item.view, nullptr);

  const auto stranger = backend_->Do({"stranger", {}}, request);
  ASSERT_FALSE(stranger.has_value());
  EXPECT_EQ(stranger.error().reason(), Reason::kForbidden);
}

}  // namespace
}  // namespace allot::apiserver
