// Server and client together over the loopback: one contract for HTTP/2 and HTTP/1.1, with and
// without TLS.
#include "net/http_server.h"

#include <atomic>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <sys/socket.h>

#include <gmock/gmock.h>

#include "net/certificates.h"
#include "net/http_client.h"
#include "net/testing.h"

namespace allot::net {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::StartsWith;

struct Mode {
  const char* name;
  bool tls;
  bool http2;
};

class ContractTest : public testing::TestWithParam<Mode> {
 protected:
  TestServer& Start(Handler handler, const ServerLimits& limits = {}) {
    server_ = std::make_unique<TestServer>(GetParam().tls, std::move(handler), limits);
    return *server_;
  }
  HttpClient& Client() {
    if (client_ == nullptr) {
      client_ = server_->NewClient(GetParam().http2);
    }
    return *client_;
  }
  ClientResponse Fetch(ClientRequest request) {
    auto response = Client().FetchBlocking(std::move(request));
    EXPECT_TRUE(response) << response.error().ToString();
    return response ? std::move(*response) : ClientResponse{};
  }

  std::unique_ptr<TestServer> server_;
  std::unique_ptr<HttpClient> client_;
};

TEST_P(ContractTest, RequestArrivesWhole) {
  Start([](std::unique_ptr<Request> request, std::shared_ptr<ResponseWriter> writer) {
    std::string text = request->method + " " + request->path + " " + request->raw_query + " " +
                       std::string(request->query.Get("a")) + " " +
                       std::string(request->headers.Get("x-test")) + " " + request->body + " " +
                       (request->connection->tls ? "tls" : "plain") + " " +
                       (request->connection->protocol == Protocol::kHttp2 ? "2" : "1.1");
    writer->Send(201, {{"content-type", "text/plain"}, {"x-answer", "yes"}}, Bytes(text));
  });
  ClientRequest request{.method = "POST",
                        .target = "/a%20b/c?a=1%202",
                        .headers = {{"x-test", "here"}},
                        .body = Bytes::Static("the body"),
                        .timeout = {}};
  const ClientResponse response = Fetch(std::move(request));
  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(response.headers.Get("x-answer"), "yes");
  EXPECT_EQ(response.body,
            std::string("POST /a b/c a=1%202 1 2 here the body ") +
                (GetParam().tls ? "tls" : "plain") + (GetParam().http2 ? " 2" : " 1.1"));
}

TEST_P(ContractTest, BodiesOfAllSizesBothWays) {
  Start([](std::unique_ptr<Request> request, std::shared_ptr<ResponseWriter> writer) {
    writer->Send(200, {}, Bytes(std::move(request->body)));
  });
  for (const std::size_t size :
       {0UL, 1UL, 16'383UL, 16'384UL, 65'536UL, 1'000'000UL, 3'145'728UL}) {
    std::string body(size, '\0');
    for (std::size_t i = 0; i < size; ++i) {
      body[i] = static_cast<char>(i * 31 + i / 251);
    }
    ClientRequest request;
    request.method = "PUT";
    request.body = Bytes::Copy(body);
    const ClientResponse response = Fetch(std::move(request));
    EXPECT_EQ(response.status, 200);
    EXPECT_TRUE(response.body == body) << size;
  }
  EXPECT_EQ(Client().connections_made(), 1U);
}

TEST_P(ContractTest, TooLargeBodyIs413) {
  Start([](std::unique_ptr<Request>,
           std::shared_ptr<ResponseWriter> writer) { writer->Send(200, {}, {}); },
        ServerLimits{.body_bytes = 1000});
  ClientRequest request;
  request.method = "POST";
  request.body = Bytes(std::string(1001, 'x'));
  EXPECT_EQ(Fetch(std::move(request)).status, 413);
  EXPECT_EQ(Fetch({}).status, 200);
}

TEST_P(ContractTest, TooLargeHeadersAre431) {
  Start([](std::unique_ptr<Request>,
           std::shared_ptr<ResponseWriter> writer) { writer->Send(200, {}, {}); },
        ServerLimits{.header_bytes = 2000});
  ClientRequest request;
  request.headers.Add("x-large", std::string(3000, 'x'));
  EXPECT_EQ(Fetch(std::move(request)).status, 431);
}

TEST_P(ContractTest, BrokenEscapeInThePathIs400) {
  Start([](std::unique_ptr<Request>, std::shared_ptr<ResponseWriter> writer) {
    writer->Send(200, {}, {});
  });
  for (const char* target : {"/a%zz", "/a%", "/%00"}) {
    ClientRequest request;
    request.target = target;
    EXPECT_EQ(Fetch(std::move(request)).status, 400) << target;
  }
}

TEST_P(ContractTest, HeadAndNoContentHaveNoBody) {
  Start([](std::unique_ptr<Request> request, std::shared_ptr<ResponseWriter> writer) {
    writer->Send(request->path == "/none" ? 204 : 200, {}, Bytes::Static("text"));
  });
  ClientRequest head;
  head.method = "HEAD";
  const ClientResponse response = Fetch(std::move(head));
  EXPECT_EQ(response.headers.Get("content-length"), "4");
  EXPECT_EQ(response.body, "");
  ClientRequest none;
  none.target = "/none";
  EXPECT_EQ(Fetch(std::move(none)).status, 204);
  EXPECT_EQ(Fetch({}).body, "text");
}

TEST_P(ContractTest, AnsweredFromAnotherThread) {
  std::vector<std::thread> threads;
  std::mutex mutex;
  Start([&](std::unique_ptr<Request>, std::shared_ptr<ResponseWriter> writer) {
    const std::lock_guard lock(mutex);
    threads.emplace_back([writer = std::move(writer)]() mutable {
      Loop& loop = writer->loop();
      loop.Post([held = std::move(writer)] { held->Send(200, {}, Bytes::Static("late")); });
    });
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(Fetch({}).body, "late");
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST_P(ContractTest, DroppedUnansweredIs500) {
  Start([](std::unique_ptr<Request> request, std::shared_ptr<ResponseWriter> writer) {
    if (request->path == "/elsewhere") {
      std::thread([held = std::move(writer)]() mutable { held.reset(); }).join();
    }
  });
  EXPECT_EQ(Fetch({}).status, 500);
  ClientRequest request;
  request.target = "/elsewhere";
  EXPECT_EQ(Fetch(std::move(request)).status, 500);
}

TEST_P(ContractTest, StreamedPiecesArriveAsTheyAreWritten) {
  std::promise<std::shared_ptr<ResponseWriter>> opened;
  Start([&](std::unique_ptr<Request>, std::shared_ptr<ResponseWriter> writer) {
    writer->SendHeaders(200, {{"content-type", "application/json"}});
    opened.set_value(writer);
  });
  Collector collector;
  Client().Do({}, collector.Callbacks());
  const auto writer = opened.get_future().get();
  EXPECT_EQ(collector.WaitForStatus(), 200);
  std::string expected;
  for (const char* piece : {"one\n", "two\n", "three\n"}) {
    server_->Run([&] { writer->Write(Bytes::Static(piece)); });
    expected += piece;
    EXPECT_EQ(collector.WaitForBody(expected.size()), expected);
  }
  server_->Run([&] { writer->End(); });
  EXPECT_TRUE(collector.WaitForEnd());
}

TEST_P(ContractTest, TheServerHearsThatTheClientHasGone) {
  std::promise<void> closed;
  std::shared_ptr<ResponseWriter> kept;
  Start([&](std::unique_ptr<Request>, std::shared_ptr<ResponseWriter> writer) {
    writer->SendHeaders(200, {});
    writer->OnClose([&] { closed.set_value(); });
    kept = writer;
  });
  Collector collector;
  const HttpClient::CallId call = Client().Do({}, collector.Callbacks());
  EXPECT_EQ(collector.WaitForStatus(), 200);
  Client().Cancel(call);
  EXPECT_EQ(closed.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
  server_->Run([&] {
    EXPECT_FALSE(kept->alive());
    kept->Write(Bytes::Static("nobody reads this"));
    kept->End();
    kept.reset();
  });
}

TEST_P(ContractTest, AbortIsAnErrorForTheClient) {
  Start([](std::unique_ptr<Request>, std::shared_ptr<ResponseWriter> writer) {
    writer->SendHeaders(200, {});
    writer->Write(Bytes::Static("half"));
    writer->OnWritable(0, [writer] { writer->Abort(); });
  });
  const auto response = Client().FetchBlocking({});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().reason(), base::Reason::kServiceUnavailable);
  EXPECT_THAT(response.error().message(), StartsWith(Client().server() + ": "));
}

TEST_P(ContractTest, BackPressureHoldsAListToItsLimit) {
  constexpr std::size_t kPiece = 128 * 1024;
  constexpr std::size_t kPieces = 200;  // 25 MiB
  struct Pump : std::enable_shared_from_this<Pump> {
    void Go() {
      while (sent < kPieces && writer->queued_bytes() < ResponseWriter::kMaxQueuedBytes) {
        writer->Write(Bytes(std::string(kPiece, static_cast<char>('a' + sent % 26))));
        ++sent;
        most = std::max(most, writer->queued_bytes());
      }
      if (sent == kPieces) {
        writer->End();
        return;
      }
      writer->OnWritable(kPiece, [self = shared_from_this()] { self->Go(); });
    }
    std::shared_ptr<ResponseWriter> writer;
    std::size_t sent = 0;
    std::size_t most = 0;
  };
  const auto pump = std::make_shared<Pump>();
  Start([pump](std::unique_ptr<Request>, std::shared_ptr<ResponseWriter> writer) {
    writer->SendHeaders(200, {});
    pump->writer = std::move(writer);
    pump->Go();
  });
  const ClientResponse response = Fetch({});
  EXPECT_EQ(response.body.size(), kPiece * kPieces);
  bool right = true;
  for (std::size_t i = 0; i < response.body.size(); i += 4096) {
    right = right && response.body[i] == static_cast<char>('a' + i / kPiece % 26);
  }
  EXPECT_TRUE(right);
  EXPECT_LE(pump->most, ResponseWriter::kMaxQueuedBytes + kPiece);
  server_->Run([&] { pump->writer.reset(); });
}

TEST_P(ContractTest, ManyAtOnce) {
  Start([](std::unique_ptr<Request> request, std::shared_ptr<ResponseWriter> writer) {
    writer->Send(200, {}, Bytes(std::move(request->target)));
  });
  constexpr int kCalls = 500;
  std::atomic<int> right{0};
  std::promise<void> all;
  std::atomic<int> open{kCalls};
  for (int i = 0; i < kCalls; ++i) {
    ClientRequest request;
    request.target = "/" + std::to_string(i);
    Client().Fetch(std::move(request), [&, i](base::Result<ClientResponse> response) {
      right += response && response->body == "/" + std::to_string(i) ? 1 : 0;
      if (--open == 0) {
        all.set_value();
      }
    });
  }
  all.get_future().wait();
  EXPECT_EQ(right.load(), kCalls);
  if (GetParam().http2) {
    EXPECT_LE(Client().connections_made(), 5U);  // 100 streams each
  }
}

TEST_P(ContractTest, TimeoutOfTheClient) {
  std::vector<std::shared_ptr<ResponseWriter>> kept;
  Start([&](std::unique_ptr<Request> request, std::shared_ptr<ResponseWriter> writer) {
    if (request->path == "/never") {
      kept.push_back(std::move(writer));
      return;
    }
    writer->Send(200, {}, {});
  });
  ClientRequest request;
  request.target = "/never";
  request.timeout = milliseconds(30);
  const auto response = Client().FetchBlocking(std::move(request));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().reason(), base::Reason::kTimeout);
  EXPECT_EQ(Fetch({}).status, 200);
  server_->Run([&] { kept.clear(); });
}

TEST_P(ContractTest, ConnectsAgainAfterTheServerRestarted) {
  const auto handler = [](std::unique_ptr<Request>, std::shared_ptr<ResponseWriter> writer) {
    writer->Send(200, {}, {});
  };
  Start(handler);
  EXPECT_EQ(Fetch({}).status, 200);
  server_->Restart(handler);
  EXPECT_EQ(Fetch({}).status, 200);
  EXPECT_EQ(Client().connections_made(), 2U);
}

TEST_P(ContractTest, ShutdownFinishesWhatIsOpen) {
  std::promise<std::shared_ptr<ResponseWriter>> opened;
  Start([&](std::unique_ptr<Request>, std::shared_ptr<ResponseWriter> writer) {
    opened.set_value(std::move(writer));
  });
  auto answer = std::async(std::launch::async, [&] { return Client().FetchBlocking({}); });
  auto writer = opened.get_future().get();
  std::promise<void> done;
  server_->Run(
      [&] { server_->server().Shutdown(std::chrono::seconds(10), [&] { done.set_value(); }); });
  server_->Run([&] { writer->Send(200, {}, Bytes::Static("finished")); });
  writer.reset();
  const auto response = answer.get();
  ASSERT_TRUE(response) << response.error().ToString();
  EXPECT_EQ(response->body, "finished");
  EXPECT_EQ(done.get_future().wait_for(std::chrono::seconds(5)), std::future_status::ready);
  EXPECT_FALSE(Client().FetchBlocking({}));
}

TEST_P(ContractTest, ShutdownEndsAWatchAfterTheGrace) {
  std::shared_ptr<ResponseWriter> kept;
  Start([&](std::unique_ptr<Request>, std::shared_ptr<ResponseWriter> writer) {
    writer->SendHeaders(200, {});
    kept = std::move(writer);
  });
  Collector collector;
  Client().Do({}, collector.Callbacks());
  EXPECT_EQ(collector.WaitForStatus(), 200);
  std::promise<void> done;
  server_->Run([&] { server_->server().Shutdown(milliseconds(20), [&] { done.set_value(); }); });
  EXPECT_EQ(done.get_future().wait_for(std::chrono::seconds(5)), std::future_status::ready);
  EXPECT_FALSE(collector.WaitForEnd());
  server_->Run([&] { kept.reset(); });
}

INSTANTIATE_TEST_SUITE_P(Modes,
                         ContractTest,
                         testing::Values(Mode{"h2_tls", true, true},
                                         Mode{"h1_tls", true, false},
                                         Mode{"h2_plain", false, true},
                                         Mode{"h1_plain", false, false}),
                         [](const auto& info) { return info.param.name; });

TEST(IdentityTest, TheCertificateOfTheClient) {
  TestServer server(/*tls=*/true,
                    [](std::unique_ptr<Request> request, std::shared_ptr<ResponseWriter> writer) {
                      const auto& peer = request->connection->peer;
                      std::string text = "nobody";
                      if (peer) {
                        text = peer->common_name + (peer->verified ? " verified" : " unknown");
                        for (const std::string& organization : peer->organizations) {
                          text += " " + organization;
                        }
                      }
                      writer->Send(200, {}, Bytes(text));
                    });
  const auto now = base::SystemClock().Now();
  const auto foreign = CreateCa("foreign", now);
  const std::vector<std::string> groups = {"system:masters", "dev"};
  struct Case {
    const char* name;
    base::Result<KeyPair> pair;
    const char* expected;
  };
  const Case cases[] = {
      {"none", KeyPair{}, "nobody"},
      {"ours",
       CreateClientCertificate(server.ca(), "jane", groups, now),
       "jane verified system:masters dev"},
      {"foreign CA",
       CreateClientCertificate(*foreign, "jane", groups, now),
       "jane unknown system:masters dev"},
      {"self-signed", CreateCa("jane", now), "jane unknown"},
      {"expired",
       CreateClientCertificate(
           server.ca(), "jane", {}, now - std::chrono::hours(24), std::chrono::hours(1)),
       "jane unknown"},
      {"not yet valid",
       CreateClientCertificate(server.ca(), "jane", {}, now + std::chrono::hours(24)),
       "jane unknown"},
      {"a server's certificate",
       CreateServerCertificate(server.ca(), {"jane"}, now),
       "jane unknown"},
  };
  for (const Case& c : cases) {
    for (const bool http2 : {true, false}) {
      SCOPED_TRACE(c.name);
      ASSERT_TRUE(c.pair) << c.pair.error().ToString();
      const auto client = server.NewClient(http2, *c.pair);
      const auto response = client->FetchBlocking({});
      ASSERT_TRUE(response) << response.error().ToString();
      EXPECT_EQ(response->body, c.expected);
    }
  }
}

TEST(ClientTest, TheServersCertificateIsChecked) {
  TestServer server(/*tls=*/true,
                    [](std::unique_ptr<Request>, std::shared_ptr<ResponseWriter> writer) {
                      writer->Send(200, {}, {});
                    });
  const auto foreign = CreateCa("foreign", base::SystemClock().Now());
  LoopThread thread("client");
  const auto fetch = [&](TlsClientConfig tls, const std::string& host) {
    HttpClientOptions options;
    options.server = "https://" + host + ":" + std::to_string(server.server().port());
    options.tls = std::move(tls);
    const auto client = HttpClient::Create(thread.loop(), std::move(options));
    const auto response = (*client)->FetchBlocking({});
    return response ? std::string("fine") : response.error().message();
  };
  const std::string ca = server.ca().certificate_pem;
  EXPECT_EQ(fetch({.ca_pem = ca}, "127.0.0.1"), "fine");
  EXPECT_EQ(fetch({.ca_pem = ca}, "localhost"), "fine");
  EXPECT_EQ(fetch({.ca_pem = ca, .server_name = "kubernetes"}, "127.0.0.1"), "fine");
  EXPECT_THAT(fetch({.ca_pem = ca, .server_name = "example.com"}, "127.0.0.1"),
              HasSubstr("hostname mismatch"));
  EXPECT_THAT(fetch({.ca_pem = foreign->certificate_pem}, "127.0.0.1"),
              HasSubstr("certificate of the server"));
  EXPECT_THAT(fetch({}, "127.0.0.1"), HasSubstr("certificate of the server"));
  EXPECT_EQ(fetch({.ca_pem = foreign->certificate_pem, .insecure_skip_verify = true}, "127.0.0.1"),
            "fine");
}

TEST(ClientTest, BadOptionsAreNamed) {
  Loop loop;
  const auto message = [&](const std::string& url, TlsClientConfig tls = {}) {
    HttpClientOptions options;
    options.server = url;
    options.tls = std::move(tls);
    const auto client = HttpClient::Create(loop, std::move(options));
    return client ? std::string("fine") : client.error().message();
  };
  EXPECT_EQ(message("https://[::1]:6443/prefix/"), "fine");
  EXPECT_EQ(message("http://a"), "fine");
  for (const char* url : {"",
                          "host:1",
                          "ftp://a",
                          "https://",
                          "https://a:0",
                          "https://a:x",
                          "https://a:70000",
                          "https://u@a",
                          "https://a?x",
                          "https://[::1"}) {
    EXPECT_THAT(message(url), HasSubstr("server \"" + std::string(url) + "\"")) << url;
  }
  EXPECT_THAT(message("https://a", {.ca_pem = "x"}), HasSubstr("CA"));
  EXPECT_THAT(message("https://a", {.certificate_pem = "x"}), HasSubstr("certificate"));
}

TEST(ClientTest, RefusedConnectionIsAnError) {
  LoopThread thread("client");
  HttpClientOptions options;
  options.server = "http://127.0.0.1:1";
  const auto client = HttpClient::Create(thread.loop(), std::move(options));
  const auto response = (*client)->FetchBlocking({});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().message(), "http://127.0.0.1:1: cannot connect: Connection refused");
}

TEST(ClientTest, TokenIsAskedForEachRequest) {
  TestServer server(/*tls=*/true,
                    [](std::unique_ptr<Request> request, std::shared_ptr<ResponseWriter> writer) {
                      writer->Send(200, {}, Bytes::Copy(request->headers.Get("authorization")));
                    });
  for (const bool http2 : {true, false}) {
    int asked = 0;
    const auto client = server.NewClient(http2, {}, [&](HttpClientOptions& options) {
      options.bearer_token = [&asked] {
        return "token-" + std::to_string(++asked);
      };
    });
    EXPECT_EQ(client->FetchBlocking({})->body, "Bearer token-1");
    EXPECT_EQ(client->FetchBlocking({})->body, "Bearer token-2");
  }
}

}  // namespace
}  // namespace allot::net
