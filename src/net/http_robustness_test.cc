// Peers that misbehave: halves, silence, rubbish, floods, readers that stop reading.
#include <future>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gmock/gmock.h>

#include "net/socket.h"
#include "net/testing.h"

namespace allot::net {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kGet = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

void Hello(std::unique_ptr<Request> request, std::shared_ptr<ResponseWriter> writer) {
  writer->Send(200, {}, Bytes("hello " + request->path));
}

/// A blocking plain socket to the server.
class Peer {
 public:
  explicit Peer(TestServer& server) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const auto address = ParseAddress("127.0.0.1", server.server().port());
    connected_ =
        ::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address->storage), address->size) ==
        0;
    timeval limit{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  }

  [[nodiscard]] bool connected() const { return connected_; }
  bool Send(std::string_view text) {
    return ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(text.size());
  }
  void HalfClose() { ::shutdown(fd_.get(), SHUT_WR); }
  /// Reads until the text has `marker` or the server closes.
  std::string ReadUntil(std::string_view marker) {
    while (got_.find(marker) == std::string::npos) {
      char buffer[16384];
      const ssize_t count = ::recv(fd_.get(), buffer, sizeof(buffer), 0);
      if (count <= 0) {
        closed_ = count == 0 || errno == ECONNRESET;
        break;
      }
      got_.append(buffer, static_cast<std::size_t>(count));
    }
    return got_;
  }
  std::string ReadAll() { return ReadUntil("no such text \x01"); }
  /// Whether the server closed (rather than our patience ended).
  [[nodiscard]] bool closed() const { return closed_; }

 private:
  Fd fd_;
  bool connected_ = false;
  bool closed_ = false;
  std::string got_;
};

ServerLimits Short() {
  return {.handshake_timeout = milliseconds(50),
          .header_timeout = milliseconds(50),
          .body_timeout = milliseconds(50),
          .idle_timeout = milliseconds(50),
          .stall_timeout = milliseconds(50)};
}

TEST(RobustnessTest, HalfSentRequestsAreGivenUp) {
  TestServer server(/*tls=*/false, Hello, Short());
  for (const char* half :
       {"",
        "GET",
        "GET / HTTP/1.1\r\nHos",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n"}) {
    SCOPED_TRACE(half);
    Peer peer(server);
    ASSERT_TRUE(peer.Send(half));
    peer.ReadAll();
    EXPECT_TRUE(peer.closed());
  }
  EXPECT_GE(server.server().counters().timeouts.load(), 6U);
}

TEST(RobustnessTest, HalfAHeadersFrameEndsTheConnection) {
  TestServer server(/*tls=*/false, Hello, Short());
  Peer peer(server);
  // HEADERS of 32 bytes on stream 1, of which one comes: no other frame can follow before the rest.
  ASSERT_TRUE(peer.Send(std::string(kPreface) + std::string("\0\0\0\4\0\0\0\0\0", 9) +
                        std::string("\0\0\x20\1\4\0\0\0\1\x82", 10)));
  peer.ReadAll();
  EXPECT_TRUE(peer.closed());
  EXPECT_EQ(server.server().counters().timeouts.load(), 1U);
}

TEST(RobustnessTest, IdleConnectionsAreClosed) {
  TestServer server(/*tls=*/false, Hello, Short());
  Peer h1(server);
  ASSERT_TRUE(h1.Send(kGet));
  EXPECT_THAT(h1.ReadAll(), HasSubstr("hello /"));
  EXPECT_TRUE(h1.closed());
  Peer h2(server);
  ASSERT_TRUE(h2.Send(std::string(kPreface) + std::string("\0\0\0\4\0\0\0\0\0", 9)));
  h2.ReadAll();
  EXPECT_TRUE(h2.closed());
  Peer tls_less(server);
  tls_less.ReadAll();
  EXPECT_TRUE(tls_less.closed());
}

TEST(RobustnessTest, SilentTlsHandshakeIsGivenUp) {
  TestServer server(/*tls=*/true, Hello, Short());
  Peer silent(server);
  silent.ReadAll();
  EXPECT_TRUE(silent.closed());
  Peer half(server);
  ASSERT_TRUE(half.Send("\x16\x03\x01\x02"));
  half.ReadAll();
  EXPECT_TRUE(half.closed());
}

TEST(RobustnessTest, RubbishInsteadOfTls) {
  TestServer server(/*tls=*/true, Hello);
  Peer rubbish(server);
  ASSERT_TRUE(rubbish.Send(std::string(1000, '\xff')));
  rubbish.ReadAll();
  EXPECT_TRUE(rubbish.closed());
  Peer plain(server);
  ASSERT_TRUE(plain.Send(kGet));
  EXPECT_THAT(plain.ReadAll(), HasSubstr("This port speaks HTTPS"));
  const auto client = server.NewClient(/*http2=*/true);
  EXPECT_EQ(client->FetchBlocking({})->status, 200);
  EXPECT_GE(server.server().counters().handshake_errors.load(), 2U);
}

TEST(RobustnessTest, RefusedRequestsAreAnsweredAndTheConnectionCloses) {
  TestServer server(/*tls=*/false, Hello, ServerLimits{.body_bytes = 100, .header_bytes = 1000});
  struct Case {
    const char* name;
    std::string text;
    const char* status;
  };
  const Case cases[] = {
      {"rubbish", "rubbish\r\n\r\n", "400"},
      {"no host", "GET / HTTP/1.1\r\n\r\n", "400"},
      {"bad escape", "GET /%g HTTP/1.1\r\nHost: a\r\n\r\n", "400"},
      {"version", "GET / HTTP/4.2\r\nHost: a\r\n\r\n", "505"},
      {"connect", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", "405"},
      {"headers", "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(2000, 'x') + "\r\n\r\n", "431"},
      {"endless headers", "GET / HTTP/1.1\r\nX: " + std::string(50'000, 'x'), "431"},
      {"length", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 101\r\n\r\n", "413"},
      {"chunks",
       "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nfff\r\n" +
           std::string(200, 'x'),
       "413"},
      {"expectation",
       "POST / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\nContent-Length: 1\r\n\r\nx",
       "417"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Peer peer(server);
    ASSERT_TRUE(peer.Send(c.text));
    const std::string answer = peer.ReadAll();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 " + std::string(c.status)));
    EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
    EXPECT_TRUE(peer.closed());
  }
}

TEST(RobustnessTest, ContinueIsSentWhenAskedFor) {
  TestServer server(/*tls=*/false, Hello);
  Peer peer(server);
  ASSERT_TRUE(peer.Send(
      "POST /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"));
  EXPECT_EQ(peer.ReadUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  ASSERT_TRUE(peer.Send("ab"));
  EXPECT_THAT(peer.ReadUntil("hello"), HasSubstr("200 OK"));
}

TEST(RobustnessTest, PipelinedRequestsAreAnsweredInOrder) {
  std::vector<std::shared_ptr<ResponseWriter>> kept;
  std::promise<void> first;
  TestServer server(/*tls=*/false,
                    [&](std::unique_ptr<Request> request, std::shared_ptr<ResponseWriter> writer) {
                      if (request->path == "/0") {
                        kept.push_back(std::move(writer));
                        first.set_value();
                        return;
                      }
                      writer->Send(200, {}, Bytes(request->path + ";"));
                    });
  Peer peer(server);
  std::string text;
  for (int i = 0; i < 5000; ++i) {  // more than the server holds back at once
    text += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: a\r\n\r\n";
  }
  text += "GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  auto sent = std::async(std::launch::async, [&] { return peer.Send(text); });
  first.get_future().wait();
  server.Run([&] {
    kept.front()->Send(200, {}, Bytes::Static("/0;"));
    kept.clear();
  });
  const std::string answers = peer.ReadUntil("/last;");
  EXPECT_TRUE(sent.get());
  std::size_t at = 0;
  for (int i = 0; i < 5000; ++i) {
    const std::size_t found = answers.find("/" + std::to_string(i) + ";", at);
    ASSERT_NE(found, std::string::npos) << i;
    at = found;
  }
}

TEST(RobustnessTest, AHalfClosedClientGetsItsAnswer) {
  TestServer server(
      /*tls=*/false, [](std::unique_ptr<Request>, std::shared_ptr<ResponseWriter> writer) {
        Loop& loop = writer->loop();
        loop.After(milliseconds(5),
                   [held = std::move(writer)] { held->Send(200, {}, Bytes::Static("answer")); });
      });
  Peer peer(server);
  ASSERT_TRUE(peer.Send(kGet));
  peer.HalfClose();
  EXPECT_THAT(peer.ReadAll(), HasSubstr("answer"));
}

TEST(RobustnessTest, Http10WithoutChunks) {
  TestServer server(/*tls=*/false,
                    [](std::unique_ptr<Request>, std::shared_ptr<ResponseWriter> writer) {
                      writer->SendHeaders(200, {});
                      writer->Write(Bytes::Static("one"));
                      writer->Write(Bytes::Static("two"));
                      writer->End();
                    });
  Peer peer(server);
  ASSERT_TRUE(peer.Send("GET / HTTP/1.0\r\n\r\n"));
  const std::string answer = peer.ReadAll();
  EXPECT_THAT(answer, HasSubstr("\r\n\r\nonetwo"));
  EXPECT_THAT(answer, Not(HasSubstr("chunked")));
  EXPECT_TRUE(peer.closed());
}

TEST(RobustnessTest, HeaderValuesCannotSplitTheAnswer) {
  TestServer server(/*tls=*/false,
                    [](std::unique_ptr<Request>, std::shared_ptr<ResponseWriter> writer) {
                      writer->Send(200, {{"x-a", "1\r\nx-b: 2"}}, {});
                    });
  Peer peer(server);
  ASSERT_TRUE(peer.Send(kGet));
  EXPECT_THAT(peer.ReadUntil("\r\n\r\n"), HasSubstr("X-A: 1  x-b: 2\r\n"));
}

TEST(RobustnessTest, BadHttp2Frames) {
  TestServer server(/*tls=*/false, Hello);
  const std::string settings("\0\0\0\4\0\0\0\0\0", 9);
  const std::string preface = std::string(kPreface) + settings;
  struct Case {
    const char* name;
    std::string text;
  };
  const Case cases[] = {
      {"settings of a wrong size", std::string(kPreface) + std::string("\0\0\1\4\0\0\0\0\0x", 10)},
      {"no settings", std::string(kPreface) + std::string("\0\0\0\1\0\0\0\0\1", 9)},
      {"huge frame", preface + std::string("\xff\xff\xff\0\0\0\0\0\1", 9)},
      {"data on stream 0", preface + std::string("\0\0\1\0\0\0\0\0\0x", 10)},
      {"rubbish header block", preface + std::string("\0\0\3\1\5\0\0\0\1\xff\xff\xff", 12)},
      {"even stream", preface + std::string("\0\0\1\1\5\0\0\0\2\x82", 10)},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Peer peer(server);
    ASSERT_TRUE(peer.Send(c.text));
    peer.ReadAll();
    EXPECT_TRUE(peer.closed());
  }
  const auto client = server.NewClient(/*http2=*/true);
  EXPECT_EQ(client->FetchBlocking({})->status, 200);
}

TEST(RobustnessTest, AStalledReaderHoldsLittleAndNobodyElseUp) {
  std::size_t most = 0;
  TestServer server(
      /*tls=*/false, [&](std::unique_ptr<Request> request, std::shared_ptr<ResponseWriter> writer) {
        if (request->path != "/watch") {
          writer->Send(200, {}, {});
          return;
        }
        writer->SendHeaders(200, {});
        struct Feed {
          static void Go(const std::shared_ptr<ResponseWriter>& out, std::size_t& highest) {
            if (out->queued_bytes() > ResponseWriter::kMaxQueuedBytes) {
              out->Abort();
              return;
            }
            out->Write(Bytes(std::string(10'000, 'x')));
            highest = std::max(highest, out->queued_bytes());
            out->loop().Post([out, &highest] { Go(out, highest); });
          }
        };
        Feed::Go(writer, most);
      });
  Peer stalled(server);
  ASSERT_TRUE(stalled.Send("GET /watch HTTP/1.1\r\nHost: a\r\n\r\n"));
  const auto client = server.NewClient(/*http2=*/false);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(client->FetchBlocking({})->status, 200);
  }
  stalled.ReadAll();
  EXPECT_TRUE(stalled.closed());
  server.Run([] {});
  EXPECT_LE(most, ResponseWriter::kMaxQueuedBytes + 10'000);
}

TEST(RobustnessTest, AStalledAnswerIsGivenUp) {
  TestServer server(
      /*tls=*/false,
      [](std::unique_ptr<Request>, std::shared_ptr<ResponseWriter> writer) {
        writer->Send(200, {}, Bytes(std::string(64 << 20, 'x')));
      },
      Short());
  Peer peer(server);
  ASSERT_TRUE(peer.Send(kGet));
  while (server.server().counters().timeouts.load() == 0) {
    server.Run([] {});
  }
  server.Run([] {});
  EXPECT_EQ(server.server().counters().open_connections.load(), 0U);
}

TEST(RobustnessTest, TheConnectionLimitTakesTheLongestIdle) {
  TestServer server(/*tls=*/false, Hello, ServerLimits{.connections = 8});
  std::vector<std::unique_ptr<Peer>> peers;
  for (int i = 0; i < 50; ++i) {
    peers.push_back(std::make_unique<Peer>(server));
    ASSERT_TRUE(peers.back()->Send(kGet));
    EXPECT_THAT(peers.back()->ReadUntil("hello"), HasSubstr("hello"));
  }
  EXPECT_LE(server.server().counters().open_connections.load(), 8U);
}

TEST(RobustnessTest, RunningOutOfDescriptorsIsSurvived) {
  TestServer server(/*tls=*/false, Hello);
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &old), 0);
  const Fd probe(::dup(0));
  const rlimit low{.rlim_cur = static_cast<rlim_t>(probe.get()) + 20, .rlim_max = old.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  std::vector<std::unique_ptr<Peer>> peers;
  for (int i = 0; i < 30; ++i) {
    auto peer = std::make_unique<Peer>(server);
    if (peer->connected()) {
      peers.push_back(std::move(peer));
    }
  }
  while (server.server().counters().refused.load() == 0) {
    server.Run([] {});
  }
  peers.clear();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &old), 0);
  const auto client = server.NewClient(/*http2=*/false);
  const auto response = client->FetchBlocking({});
  ASSERT_TRUE(response) << response.error().ToString();
  EXPECT_EQ(response->status, 200);
}

}  // namespace
}  // namespace allot::net
