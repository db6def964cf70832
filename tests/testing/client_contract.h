// The contract of client::Client: one suite over every implementation, on a real API server.
//
// A test file includes this, says how a client of a running server is made, and instantiates:
//   INSTANTIATE_TEST_SUITE_P(Clients, ClientContract, ::testing::Values(ClientKind{...}), ...).
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "api/core/v1.gen.h"
#include "apiserver/server.h"
#include "base/clock.h"
#include "client/informer.h"
#include "client/loop.h"
#include "client/typed.h"
#include "store/store.h"

namespace allot::testing {

using api::core::ConfigMap;
using api::core::Namespace;
using base::Reason;
using client::EventType;
using client::PatchType;
using client::Revision;
using client::Typed;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

struct ClientKind {
  std::string name;
  std::function<std::unique_ptr<client::Client>(apiserver::Server&)> make;
};

/// Keeps what a watch says: "A name=value", kinds A, M, D, B for bookmark, and the reason it ended.
class WatchLog final : public client::WatchSink {
 public:
  void OnEvents(const client::WatchBatch& batch) override {
    const std::lock_guard lock(mutex_);
    for (const client::WatchEvent& event : *batch) {
      ordered_ &= event.revision >= last_ || event.type == EventType::kAdded;
      last_ = std::max(last_, event.revision);
      if (event.type == EventType::kBookmark) {
        bookmarks_.push_back(event.revision);
        empty_bookmarks_ &= event.item.object == nullptr && event.item.view == nullptr;
        continue;
      }
      const auto view = client::ViewOf<ConfigMap>(event.item);
      const schema::Str* const value = view ? (*view)->data.Find("k") : nullptr;
      seen_.push_back(fmt::format("{} {}={}",
                                  "AMD"[static_cast<int>(event.type)],
                                  event.item.object->name(),
                                  value != nullptr ? *value : "-"));
    }
    changed_.notify_all();
  }
  void OnClosed(const base::Status& why) override {
    const std::lock_guard lock(mutex_);
    closed_ = why.reason();
    changed_.notify_all();
  }
  /// All object events once there are `count`, or what there is after a long wait.
  std::vector<std::string> Await(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20), [&] { return seen_.size() >= count; });
    return seen_;
  }
  Reason AwaitClosed() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20), [&] { return closed_ != Reason::kUnknown; });
    return closed_;
  }
  std::vector<Revision> bookmarks() {
    const std::lock_guard lock(mutex_);
    return bookmarks_;
  }
  bool sound() {
    const std::lock_guard lock(mutex_);
    return ordered_ && empty_bookmarks_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> seen_;
  std::vector<Revision> bookmarks_;
  Revision last_ = 0;
  bool ordered_ = true;
  bool empty_bookmarks_ = true;
  Reason closed_ = Reason::kUnknown;
};

class ClientContract : public ::testing::TestWithParam<ClientKind> {
 protected:
  void SetUp() override {
    auto started = apiserver::Server::Start({.port = 0, .clock = &clock_});
    ASSERT_TRUE(started.has_value()) << started.error().ToString();
    server_ = *std::move(started);
    client_ = GetParam().make(*server_);
    ASSERT_NE(client_, nullptr);
  }
  void TearDown() override {
    client_.reset();
    server_->Stop();
  }

  static schema::Draft<ConfigMap> Map(std::string_view name,
                                      std::string_view value = "1",
                                      std::string_view color = "red",
                                      std::string_view ns = "default") {
    schema::Draft<ConfigMap> draft;
    draft->metadata.name = draft.Copy(name);
    draft->metadata.namespace_ = draft.Copy(ns);
    draft.Put(draft->metadata.labels, "color", draft.Copy(color));
    draft.Put(draft->data, "k", draft.Copy(value));
    return draft;
  }
  Typed<ConfigMap> Make(std::string_view name,
                        std::string_view value = "1",
                        std::string_view color = "red",
                        std::string_view ns = "default") {
    auto draft = Map(name, value, color, ns);
    auto made = client::Create(*client_, draft);
    EXPECT_TRUE(made.has_value()) << made.error().ToString();
    return made ? *std::move(made) : Typed<ConfigMap>();
  }
  base::Result<Typed<ConfigMap>> Set(std::string_view name,
                                     std::string_view value,
                                     Revision seen = 0,
                                     std::string_view color = "red") {
    auto draft = Map(name, value, color);
    return client::Update(*client_, draft, {.preconditions = {.revision = seen}});
  }
  base::Result<Typed<ConfigMap>> Patch(std::string_view name,
                                       PatchType type,
                                       std::string_view patch,
                                       const client::WriteOptions& options = {}) {
    return client::Patch<ConfigMap>(*client_, "default", name, type, patch, "", options);
  }
  std::string Value(std::string_view name) {
    const auto got = client::Get<ConfigMap>(*client_, "default", name);
    return got && (*got)->data.Find("k") != nullptr ? std::string(*(*got)->data.Find("k")) : "";
  }
  std::vector<std::string> Names(const client::ListOptions& options, std::string_view ns = "") {
    const auto list = client::List<ConfigMap>(*client_, ns, options);
    EXPECT_TRUE(list.has_value()) << list.error().ToString();
    std::vector<std::string> names;
    if (list) {
      for (const auto& item : list->items) {
        names.emplace_back(item->metadata.name);
      }
    }
    return names;
  }
  std::unique_ptr<client::WatchHandle> Watch(WatchLog& log, const client::WatchOptions& options) {
    auto watch = client_->Watch(client::ResourceOf<ConfigMap>(), "default", options, log);
    EXPECT_TRUE(watch.has_value()) << watch.error().ToString();
    return watch ? *std::move(watch) : nullptr;
  }
  /// Until `done`, or for a long time.
  static void Await(const std::function<bool()>& done) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!done() && std::chrono::steady_clock::now() < until) {
      std::this_thread::yield();
    }
  }
  template <typename T>
  static std::string Refusal(const base::Result<T>& result) {
    return result ? "none" : std::string(base::ReasonText(result.error().reason()));
  }
  template <typename T>
  static std::string Message(const base::Result<T>& result) {
    return result ? "none" : result.error().message();
  }

  base::FakeClock clock_{base::SystemClock().Now()};  // certificates are made by it
  std::unique_ptr<apiserver::Server> server_;
  std::unique_ptr<client::Client> client_;
};

TEST_P(ClientContract, CreateAndGetAnswerWithTheStoredObject) {
  const auto made = Make("a");
  EXPECT_FALSE(made->metadata.uid.empty());
  EXPECT_GT(made.revision(), 0);
  EXPECT_EQ(made.object->name(), "a");
  EXPECT_EQ(made->metadata.namespace_, "default");
  EXPECT_EQ(made.object->uid(), made->metadata.uid);
  const auto got = client::Get<ConfigMap>(*client_, "default", "a");
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->revision(), made.revision());
  EXPECT_EQ((*got)->metadata.uid, made->metadata.uid);
  EXPECT_EQ(Value("a"), "1");
}

TEST_P(ClientContract, RefusalsHaveOneReasonAndOneText) {
  Make("a");
  auto again = Map("a");
  const auto twice = client::Create(*client_, again);
  EXPECT_EQ(Refusal(twice), "AlreadyExists");
  EXPECT_EQ(Message(twice), "configmaps \"a\" already exists");
  auto lost = Map("a", "1", "red", "nowhere");
  const auto nowhere = client::Create(*client_, lost);
  EXPECT_EQ(Refusal(nowhere), "NotFound");
  EXPECT_EQ(Message(nowhere), "namespaces \"nowhere\" not found");
  auto bad = Map("No Name");
  const auto invalid = client::Create(*client_, bad);
  EXPECT_EQ(Refusal(invalid), "Invalid");
  EXPECT_THAT(Message(invalid), ::testing::StartsWith("ConfigMap \"No Name\" is invalid: "));
  ASSERT_FALSE(invalid.has_value());
  EXPECT_EQ(invalid.error().code(), 422);
  const auto none = client::Get<ConfigMap>(*client_, "default", "none");
  EXPECT_EQ(Refusal(none), "NotFound");
  EXPECT_EQ(Message(none), "configmaps \"none\" not found");
  EXPECT_EQ(Message(client::Delete<ConfigMap>(*client_, "default", "none")),
            "configmaps \"none\" not found");
  EXPECT_EQ(Refusal(Patch("none", PatchType::kMerge, "{}")), "NotFound");
  EXPECT_EQ(Refusal(Set("none", "1")), "NotFound");
}

TEST_P(ClientContract, UpdateAsksForTheVersionSeen) {
  const auto made = Make("a");
  const auto changed = Set("a", "2", made.revision());
  ASSERT_TRUE(changed.has_value()) << changed.error().ToString();
  EXPECT_GT(changed->revision(), made.revision());
  EXPECT_EQ((*changed)->metadata.uid, made->metadata.uid);
  const auto stale = Set("a", "3", made.revision());
  EXPECT_EQ(Refusal(stale), "Conflict");
  EXPECT_EQ(Message(stale),
            "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; "
            "please apply your changes to the latest version and try again");
  EXPECT_TRUE(Set("a", "4").has_value()) << "without a version the newest is replaced";
  EXPECT_EQ(Value("a"), "4");
  const auto same = Set("a", "4");
  ASSERT_TRUE(same.has_value());
  EXPECT_EQ(same->revision(), client::Get<ConfigMap>(*client_, "default", "a")->revision());
}

TEST_P(ClientContract, PatchesOfEveryType) {
  const auto made = Make("a");
  struct Case {
    PatchType type;
    const char* patch;
    const char* value;
  };
  for (const Case& c :
       {Case{PatchType::kMerge, R"({"data":{"k":"2"}})", "2"},
        Case{PatchType::kStrategicMerge, R"({"data":{"k":"3"}})", "3"},
        Case{PatchType::kJson, R"([{"op":"replace","path":"/data/k","value":"4"}])", "4"}}) {
    const auto patched = Patch("a", c.type, c.patch);
    ASSERT_TRUE(patched.has_value()) << c.patch << patched.error().ToString();
    EXPECT_EQ(*(*patched)->data.Find("k"), c.value);
    EXPECT_EQ(Value("a"), c.value);
  }
  EXPECT_EQ(Refusal(Patch("a", PatchType::kMerge, "{")), "BadRequest");
  EXPECT_EQ(Refusal(Patch("a", PatchType::kApply, "{}", {.field_manager = "me"})),
            "UnsupportedMediaType");
  EXPECT_EQ(Refusal(Patch("a", PatchType::kJson, R"([{"op":"remove","path":"/no"}])")), "Invalid");
  EXPECT_EQ(Refusal(Patch("a",
                          PatchType::kMerge,
                          fmt::format(R"({{"metadata":{{"resourceVersion":"{}"}},"data":{{}}}})",
                                      made.revision()))),
            "Conflict");
}

TEST_P(ClientContract, DryRunsChangeNothing) {
  Make("a");
  auto other = Map("b");
  EXPECT_TRUE(client::Create(*client_, other, {.dry_run = true}).has_value());
  const auto patched = Patch("a", PatchType::kMerge, R"({"data":{"k":"2"}})", {.dry_run = true});
  ASSERT_TRUE(patched.has_value());
  EXPECT_EQ(*(*patched)->data.Find("k"), "2");
  EXPECT_TRUE(client::Delete<ConfigMap>(*client_, "default", "a", {.dry_run = true}).has_value());
  EXPECT_THAT(Names({}, "default"), ElementsAre("a"));
  EXPECT_EQ(Value("a"), "1");
}

TEST_P(ClientContract, DeleteAsksForUidAndVersion) {
  const auto made = Make("a");
  const auto remove = [&](std::string_view uid, Revision revision) {
    return client::Delete<ConfigMap>(
        *client_, "default", "a", {.preconditions = {.uid = uid, .revision = revision}});
  };
  EXPECT_EQ(Refusal(remove("another", 0)), "Conflict");
  EXPECT_EQ(Refusal(remove("", made.revision() - 1)), "Conflict");
  EXPECT_TRUE(remove(made->metadata.uid, made.revision()).has_value());
  EXPECT_EQ(Refusal(remove("", 0)), "NotFound");
}

TEST_P(ClientContract, DeleteCollectionTakesWhatIsSelected) {
  Make("a");
  Make("b", "1", "blue");
  Make("c");
  client::Request request;
  request.verb = client::Verb::kDeleteCollection;
  request.resource = &client::ResourceOf<ConfigMap>();
  request.ns = "default";
  request.selector.label_selector = "color=red";
  ASSERT_TRUE(client_->Do(request).has_value());
  EXPECT_THAT(Names({}, "default"), ElementsAre("b"));
}

TEST_P(ClientContract, ListsSelect) {
  Make("a");
  Make("b", "1", "blue");
  Make("c", "1", "green");
  Make("a", "1", "blue", "kube-system");
  EXPECT_THAT(Names({}, "default"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Names({.label_selector = "color=blue"}), ElementsAre("b", "a"));
  EXPECT_THAT(Names({.label_selector = "color in (red,green)"}, "default"), ElementsAre("a", "c"));
  EXPECT_THAT(Names({.field_selector = "metadata.name=a"}), ElementsAre("a", "a"));
  EXPECT_THAT(Names({.field_selector = "metadata.name!=a,metadata.namespace=default"}),
              ElementsAre("b", "c"));
  EXPECT_EQ(Refusal(client::List<ConfigMap>(*client_, "", {.label_selector = "a in ("})),
            "BadRequest");
  EXPECT_EQ(Refusal(client::List<ConfigMap>(*client_, "", {.field_selector = "data.k=1"})),
            "BadRequest");
}

TEST_P(ClientContract, WatchesRefuseWhatListsRefuse) {
  WatchLog log;
  for (const client::WatchOptions& options : {client::WatchOptions{.label_selector = "a in ("},
                                              client::WatchOptions{.field_selector = "data.k=1"}}) {
    EXPECT_EQ(Refusal(client_->Watch(client::ResourceOf<ConfigMap>(), "default", options, log)),
              "BadRequest");
  }
}

TEST_P(ClientContract, PagesAreOfOneRevision) {
  for (int i = 0; i < 5; ++i) {
    Make(fmt::format("m{}", i));
  }
  std::vector<std::string> names;
  std::string token;
  Revision revision = 0;
  do {
    const auto page =
        client::List<ConfigMap>(*client_, "default", {.limit = 2, .continue_token = token});
    ASSERT_TRUE(page.has_value()) << page.error().ToString();
    EXPECT_LE(page->items.size(), 2U);
    EXPECT_TRUE(revision == 0 || page->revision == revision);
    revision = page->revision;
    token = page->continue_token;
    for (const auto& item : page->items) {
      names.emplace_back(item->metadata.name);
    }
    Make(fmt::format("m0-{}", names.size()));  // not part of what is being read
    ASSERT_TRUE(client::Delete<ConfigMap>(*client_, "default", names.back()).has_value());
  } while (!token.empty());
  EXPECT_THAT(names, ElementsAre("m0", "m1", "m2", "m3", "m4"));
  EXPECT_EQ(Refusal(client::List<ConfigMap>(*client_, "", {.continue_token = "nonsense"})),
            "BadRequest");
}

TEST_P(ClientContract, WatchesGoOnFromARevision) {
  Make("a");
  const Revision after = Make("b").revision();
  ASSERT_TRUE(Set("a", "2").has_value());
  WatchLog log;
  const auto watch = Watch(log, {.after = after});
  Make("c");
  Make("far", "1", "red", "kube-system");
  ASSERT_TRUE(client::Delete<ConfigMap>(*client_, "default", "a").has_value());
  EXPECT_THAT(log.Await(3), ElementsAre("M a=2", "A c=1", "D a=2"));
  EXPECT_TRUE(log.sound());
}

TEST_P(ClientContract, WatchesBeginWithTheStateWhenAsked) {
  Make("a");
  Make("b");
  WatchLog log;
  const auto watch = Watch(log, {});
  EXPECT_THAT(log.Await(2), UnorderedElementsAre("A a=1", "A b=1"));
  ASSERT_TRUE(Set("b", "2").has_value());
  EXPECT_EQ(log.Await(3).back(), "M b=2");
  EXPECT_TRUE(log.sound());
}

TEST_P(ClientContract, SelectedObjectsComeAndGo) {
  const Revision after = Make("a", "1", "blue").revision();
  WatchLog log;
  const auto watch = Watch(log, {.label_selector = "color=red", .after = after});
  ASSERT_TRUE(Set("a", "2", 0, "red").has_value());
  ASSERT_TRUE(Set("a", "3", 0, "red").has_value());
  ASSERT_TRUE(Set("a", "4", 0, "blue").has_value());
  ASSERT_TRUE(Set("a", "5", 0, "blue").has_value());
  Make("z");
  const std::vector<std::string> seen = log.Await(4);
  ASSERT_EQ(seen.size(), 4U);
  EXPECT_EQ(seen[0], "A a=2");
  EXPECT_EQ(seen[1], "M a=3");
  EXPECT_EQ(seen[2], "D a=3");
  EXPECT_EQ(seen[3], "A z=1");
}

TEST_P(ClientContract, BookmarksTellHowFarAWatchIs) {
  const Revision made = Make("a").revision();
  WatchLog log;
  WatchLog plain;
  const auto watch = Watch(log, {});
  const auto without = Watch(plain, {.bookmarks = false});
  log.Await(1);
  plain.Await(1);
  Await([&] {
    clock_.Advance(std::chrono::seconds(2));
    Value("a");  // a turn of the server
    return !log.bookmarks().empty();
  });
  ASSERT_FALSE(log.bookmarks().empty());
  EXPECT_GE(log.bookmarks().front(), made);
  EXPECT_TRUE(plain.bookmarks().empty());
  EXPECT_TRUE(log.sound());
}

TEST_P(ClientContract, ForgottenRevisionsAreExpired) {
  const Revision old = Make("a").revision();
  Make("b");
  const auto page = client::List<ConfigMap>(*client_, "default", {.limit = 1});
  ASSERT_TRUE(page.has_value());
  ASSERT_FALSE(page->continue_token.empty());
  ASSERT_TRUE(Set("a", "2").has_value());
  const Revision now = Set("a", "3")->revision();
  server_->store().Compact(static_cast<store::Revision>(now));
  WatchLog log;
  Await([&] {  // compaction is the work of another thread
    return server_->store().stats().compacted >= static_cast<store::Revision>(now);
  });
  auto watch = client_->Watch(client::ResourceOf<ConfigMap>(), "default", {.after = old}, log);
  EXPECT_EQ(watch ? log.AwaitClosed() : watch.error().reason(), Reason::kExpired);
  EXPECT_EQ(Refusal(client::List<ConfigMap>(
                *client_, "default", {.limit = 1, .continue_token = page->continue_token})),
            "Expired");
  WatchLog fresh;
  const auto good = Watch(fresh, {.after = now});
  Make("c");
  EXPECT_THAT(fresh.Await(1), ElementsAre("A c=1"));
}

TEST_P(ClientContract, SequencedWritesSayWhenTheyAreDurable) {
  std::mutex mutex;
  std::condition_variable changed;
  int calls = 0;
  bool good = true;
  client::WriteOptions options{.ack = client::Ack::kSequenced};
  options.on_durable = [&](const base::Result<void>& result) {
    const std::lock_guard lock(mutex);
    ++calls;
    good &= result.has_value();
    changed.notify_all();
  };
  auto draft = Map("a");
  const auto made = client::Create(*client_, draft, options);
  ASSERT_TRUE(made.has_value());
  auto next = Map("a", "2");
  options.preconditions.revision = made->revision();
  ASSERT_TRUE(client::Update(*client_, next, options).has_value()) << "the next link of the chain";
  std::unique_lock lock(mutex);
  EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(20), [&] { return calls == 2; }));
  EXPECT_TRUE(good);
  lock.unlock();
  EXPECT_EQ(Value("a"), "2");
}

TEST_P(ClientContract, InformersHandOutBatchesWithViews) {
  Make("a");
  Make("b");
  Make("far", "1", "red", "kube-system");
  client::Loop loop(base::SystemClock());
  client::Informer informer(*client_, loop, client::ResourceOf<ConfigMap>(), {.ns = "default"});
  std::vector<std::string> seen;
  int batches = 0;
  bool views = true;
  informer.OnChanges([&](std::span<const client::Change> changes) {
    ++batches;
    for (const client::Change& change : changes) {
      views &= change.item.view != nullptr;
      seen.push_back(fmt::format("{}{} {}",
                                 "AMD"[static_cast<int>(change.type)],
                                 change.old ? "<" : "",
                                 change.item.object->name()));
    }
  });
  informer.Start();
  loop.RunUntilIdle();
  EXPECT_TRUE(informer.synced());
  EXPECT_THAT(seen, UnorderedElementsAre("A a", "A b"));
  EXPECT_EQ(batches, 1) << "the state at the start is one batch";
  seen.clear();
  ASSERT_TRUE(Set("a", "2").has_value());
  Make("c");
  ASSERT_TRUE(client::Delete<ConfigMap>(*client_, "default", "b").has_value());
  Await([&] {
    loop.RunUntilIdle();
    return seen.size() >= 3;
  });
  EXPECT_THAT(seen, ElementsAre("M< a", "A c", "D< b"));
  EXPECT_TRUE(views);
  EXPECT_LE(batches, 4);
  EXPECT_EQ(informer.lists(), 1U);
  EXPECT_EQ(informer.size(), 2U);
  EXPECT_FALSE(informer.Find("default", "b"));
  informer.Stop();
}

}  // namespace allot::testing
