#include "client/http_client.h"

#include <future>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/core/v1.gen.h"
#include "client/resources.h"
#include "client/typed.h"
#include "net/testing.h"
#include "schema/codec.h"

namespace allot::client {
namespace {

using api::core::ConfigMap;
using api::core::Pod;
using ::testing::HasSubstr;

constexpr std::string_view kMap =
    R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"n","resourceVersion":"7"},"data":{"k":"v"}})";

/// An API server that answers with what the test put in and keeps what it was asked.
class ScriptedServer {
 public:
  struct Answer {
    int status = 200;
    std::string body;
    std::string type = "application/json";
    std::string retry_after;
  };
  struct Asked {
    std::string method;
    std::string target;
    std::string accept;
    std::string content_type;
    std::string body;
    std::string token;
  };

  ScriptedServer()
      : server_(/*tls=*/true,
                [this](std::unique_ptr<net::Request> request,
                       std::shared_ptr<net::ResponseWriter> writer) {
                  Handle(*request, std::move(writer));
                }) {}

  ClientConfig Config() {
    ClientConfig config;
    config.server = "https://" + server_.server().address();
    config.ca_pem = server_.ca().certificate_pem;
    config.token = "secret";
    return config;
  }
  std::unique_ptr<HttpClient> Client(Format format = Format::kJson) {
    auto client = HttpClient::Create(Config(),
                                     "test/1",
                                     {.format = format,
                                      .timeout = std::chrono::seconds(20),
                                      .longest_wait = std::chrono::milliseconds(10)});
    EXPECT_TRUE(client) << client.error().ToString();
    return std::move(*client);
  }
  void Say(Answer answer) {
    const std::lock_guard lock(mutex_);
    answers_.push_back(std::move(answer));
  }
  Asked Last() {
    const std::lock_guard lock(mutex_);
    return asked_.back();
  }
  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return asked_.size();
  }
  void Push(const std::string& text) {
    server_.Run([&] { watch_->Write(net::Bytes::Copy(text)); });
  }
  void EndWatch() {
    server_.Run([&] { std::exchange(watch_, nullptr)->End(); });
  }
  bool WatchAlive() {
    bool alive = false;
    server_.Run([&] { alive = watch_ != nullptr && watch_->alive(); });
    return alive;
  }
  ~ScriptedServer() {
    server_.Run([&] { watch_.reset(); });
  }

 private:
  void Handle(const net::Request& request, std::shared_ptr<net::ResponseWriter> writer) {
    const std::lock_guard lock(mutex_);
    asked_.push_back({.method = request.method,
                      .target = request.target,
                      .accept = std::string(request.headers.Get("accept")),
                      .content_type = std::string(request.headers.Get("content-type")),
                      .body = request.body,
                      .token = std::string(request.headers.Get("authorization"))});
    if (request.query.Get("watch") == "true" && answers_.empty()) {
      writer->SendHeaders(200, {{"content-type", "application/json"}});
      watch_ = std::move(writer);
      return;
    }
    Answer answer{.status = 500, .body = "nothing scripted"};
    if (!answers_.empty()) {
      answer = answers_.front();
      answers_.erase(answers_.begin());
    }
    net::HeaderList headers = {{"content-type", answer.type}};
    if (!answer.retry_after.empty()) {
      headers.Add("retry-after", answer.retry_after);
    }
    writer->Send(answer.status, headers, net::Bytes(answer.body));
  }

  std::mutex mutex_;
  std::vector<Answer> answers_;
  std::vector<Asked> asked_;
  std::shared_ptr<net::ResponseWriter> watch_;
  net::TestServer server_;  // last: its thread uses the others
};

TEST(HttpClientTest, GetInBothForms) {
  ScriptedServer server;
  const auto client = server.Client(Format::kProtobuf);
  server.Say({.body = std::string(kMap)});
  auto got = Get<ConfigMap>(*client, "n", "a");
  ASSERT_TRUE(got) << got.error().ToString();
  EXPECT_EQ(got->revision(), 7);
  EXPECT_EQ(server.Last().method, "GET");
  EXPECT_EQ(server.Last().target, "/api/v1/namespaces/n/configmaps/a");
  EXPECT_EQ(server.Last().accept, "application/vnd.kubernetes.protobuf,application/json");
  EXPECT_EQ(server.Last().token, "Bearer secret");

  const std::string bytes =
      EncodeBody(api::Desc<ConfigMap>(), got->view.get(), 8, Format::kProtobuf);
  server.Say({.body = bytes, .type = std::string(kProtobufType)});
  got = Get<ConfigMap>(*client, "n", "a");
  ASSERT_TRUE(got) << got.error().ToString();
  EXPECT_EQ(got->revision(), 8);
  EXPECT_EQ((*got)->data.size(), 1U);
}

TEST(HttpClientTest, WritesSayWhatIsAsked) {
  ScriptedServer server;
  const auto client = server.Client();
  schema::Draft<ConfigMap> draft;
  draft->metadata.name = "a";
  draft->metadata.namespace_ = "n";

  server.Say({.status = 201, .body = std::string(kMap)});
  bool durable = false;
  WriteOptions options{.dry_run = true, .field_manager = "me"};
  options.on_durable = [&](const base::Result<void>& result) {
    durable = result.has_value();
  };
  ASSERT_TRUE(Create(*client, draft, options));
  EXPECT_TRUE(durable);
  EXPECT_EQ(server.Last().method, "POST");
  EXPECT_EQ(server.Last().target, "/api/v1/namespaces/n/configmaps?fieldManager=me&dryRun=All");
  EXPECT_EQ(server.Last().content_type, "application/json");
  EXPECT_THAT(server.Last().body, HasSubstr(R"("kind":"ConfigMap")"));

  server.Say({.body = std::string(kMap)});
  ASSERT_TRUE(UpdateStatus(*client, draft, {.preconditions = {.revision = 12}}));
  EXPECT_EQ(server.Last().method, "PUT");
  EXPECT_EQ(server.Last().target, "/api/v1/namespaces/n/configmaps/a/status");
  EXPECT_THAT(server.Last().body, HasSubstr(R"("resourceVersion":"12")"));

  server.Say({.body = std::string(kMap)});
  ASSERT_TRUE(Patch<ConfigMap>(
      *client, "n", "a", PatchType::kApply, "{}", "", {.force = true, .field_manager = "me"}));
  EXPECT_EQ(server.Last().method, "PATCH");
  EXPECT_EQ(server.Last().target, "/api/v1/namespaces/n/configmaps/a?fieldManager=me&force=true");
  EXPECT_EQ(server.Last().content_type, "application/apply-patch+yaml");

  server.Say({.body = R"({"kind":"Status","apiVersion":"v1","status":"Success"})"});
  ASSERT_TRUE(Delete<ConfigMap>(*client,
                                "n",
                                "a",
                                {.dry_run = true,
                                 .preconditions = {.uid = "u", .revision = 7},
                                 .propagation = Propagation::kForeground,
                                 .grace_period_seconds = 0}));
  EXPECT_EQ(server.Last().method, "DELETE");
  EXPECT_EQ(server.Last().target, "/api/v1/namespaces/n/configmaps/a");
  for (const char* part : {R"("gracePeriodSeconds":0)",
                           R"("propagationPolicy":"Foreground")",
                           R"("uid":"u")",
                           R"("resourceVersion":"7")",
                           R"("dryRun":["All"])",
                           R"("kind":"DeleteOptions")"}) {
    EXPECT_THAT(server.Last().body, HasSubstr(part));
  }
}

TEST(HttpClientTest, ListQuery) {
  ScriptedServer server;
  const auto client = server.Client();
  server.Say({.body = R"({"kind":"PodList","metadata":{"resourceVersion":"5"},"items":[]})"});
  const auto list =
      List<Pod>(*client,
                "",
                {.label_selector = "a=b,c", .field_selector = "x!=y", .limit = 5, .revision = 3});
  ASSERT_TRUE(list) << list.error().ToString();
  EXPECT_EQ(list->revision, 5);
  EXPECT_EQ(
      server.Last().target,
      "/api/v1/pods?labelSelector=a%3Db%2Cc&fieldSelector=x%21%3Dy&limit=5&resourceVersion=3");
}

TEST(HttpClientTest, ErrorsAreTheServersOwn) {
  ScriptedServer server;
  const auto client = server.Client();
  server.Say({.status = 404,
              .body = R"({"kind":"Status","message":"gone","reason":"NotFound","code":404})"});
  const auto got = Get<ConfigMap>(*client, "n", "a");
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().reason(), base::Reason::kNotFound);
  EXPECT_EQ(got.error().message(), "gone");
}

TEST(HttpClientTest, TooManyRequestsAreRepeated) {
  ScriptedServer server;
  const auto client = server.Client();
  for (int i = 0; i < 2; ++i) {
    server.Say({.status = 429, .body = "busy", .retry_after = "1"});
  }
  server.Say({.body = std::string(kMap)});
  EXPECT_TRUE(Get<ConfigMap>(*client, "n", "a"));
  EXPECT_EQ(server.count(), 3U);
  for (int i = 0; i < 5; ++i) {
    server.Say({.status = 429, .body = "busy"});
  }
  EXPECT_EQ(Get<ConfigMap>(*client, "n", "a").error().code(), 429);
}

/// A sink whose calls a test waits for.
class Sink final : public WatchSink {
 public:
  void OnEvents(const WatchBatch& batch) override {
    const std::lock_guard lock(mutex_);
    for (const WatchEvent& event : *batch) {
      seen_ += std::to_string(event.revision) + " ";
    }
    changed_.notify_all();
  }
  void OnClosed(const base::Status& why) override {
    const std::lock_guard lock(mutex_);
    seen_ += base::ReasonText(why.reason());
    changed_.notify_all();
  }
  bool WaitFor(const std::string& text) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return seen_ == text; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string seen_;
};

std::string Event(int revision) {
  return R"({"type":"ADDED","object":{"kind":"ConfigMap","metadata":{"name":"a","resourceVersion":")" +
         std::to_string(revision) + "\"}}}\n";
}

TEST(HttpClientTest, WatchUntilTheServerEndsIt) {
  ScriptedServer server;
  const auto client = server.Client();
  Sink sink;
  const auto handle = client->Watch(ResourceOf<ConfigMap>(), "n", {.after = 4}, sink);
  ASSERT_TRUE(handle) << handle.error().ToString();
  EXPECT_EQ(server.Last().target,
            "/api/v1/namespaces/n/configmaps?watch=true&resourceVersion=4&allowWatchBookmarks=true"
            "&timeoutSeconds=476");
  server.Push(Event(5) + Event(6).substr(0, 20));
  EXPECT_TRUE(sink.WaitFor("5 "));
  server.Push(Event(6).substr(20));
  EXPECT_TRUE(sink.WaitFor("5 6 "));
  server.EndWatch();
  EXPECT_TRUE(sink.WaitFor("5 6 Timeout"));
}

TEST(HttpClientTest, ExpiredWatchesSaySo) {
  ScriptedServer server;
  const auto client = server.Client();
  Sink sink;
  const std::string expired =
      R"({"kind":"Status","message":"too old","reason":"Expired","code":410})";
  {
    const auto handle = client->Watch(ResourceOf<ConfigMap>(), "", {.after = 4}, sink);
    ASSERT_TRUE(handle);
    server.Push(R"({"type":"ERROR","object":)" + expired + "}\n" + Event(9));
    EXPECT_TRUE(sink.WaitFor("Expired"));
  }
  server.Say({.status = 410, .body = expired});
  const auto refused = client->Watch(ResourceOf<ConfigMap>(), "", {.after = 4}, sink);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason(), base::Reason::kExpired);
}

TEST(HttpClientTest, AnEndedHandleIsHeardOfByTheServer) {
  ScriptedServer server;
  const auto client = server.Client();
  Sink sink;
  {
    const auto handle = client->Watch(ResourceOf<ConfigMap>(), "", {}, sink);
    ASSERT_TRUE(handle);
    EXPECT_TRUE(server.WatchAlive());
  }
  while (server.WatchAlive()) {
  }
  EXPECT_TRUE(sink.WaitFor(""));
}

TEST(HttpClientTest, AServerThatHangsCostsTheTimeoutOnly) {
  std::vector<std::shared_ptr<net::ResponseWriter>> kept;
  net::TestServer server(
      /*tls=*/true,
      [&kept](std::unique_ptr<net::Request>, std::shared_ptr<net::ResponseWriter> writer) {
        kept.push_back(std::move(writer));
      });
  ClientConfig config;
  config.server = "https://" + server.server().address();
  config.ca_pem = server.ca().certificate_pem;
  const auto client =
      HttpClient::Create(config, "test/1", {.timeout = std::chrono::milliseconds(200)});
  ASSERT_TRUE(client);
  EXPECT_FALSE(Get<ConfigMap>(**client, "n", "a"));
  server.Run([&kept] { kept.clear(); });
}

TEST(HttpClientTest, AServerThatIsNotThere) {
  ClientConfig config;
  config.server = "http://127.0.0.1:1";
  const auto client = HttpClient::Create(config, "test/1");
  ASSERT_TRUE(client);
  const auto got = Get<ConfigMap>(**client, "n", "a");
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().reason(), base::Reason::kServiceUnavailable);
  EXPECT_THAT(got.error().message(), HasSubstr("http://127.0.0.1:1"));
  Sink sink;
  EXPECT_FALSE((*client)->Watch(ResourceOf<ConfigMap>(), "", {}, sink));
  config.server = "127.0.0.1";
  EXPECT_FALSE(HttpClient::Create(config, "test/1"));
}

}  // namespace
}  // namespace allot::client
