// What does a request cost in net alone?  Server and client of this project in one process, each on
// its own loop thread, TLS over the loopback; prints requests a second and the CPU time of both
// threads a request.
//
//   http_bench [requests]         echo of a 400 byte body, by connections x requests at once
#include <atomic>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/clock.h"
#include "net/certificates.h"
#include "net/http_client.h"
#include "net/http_server.h"

namespace allot {
namespace {

template <typename F>
auto RunOn(net::Loop& loop, F task) {
  std::promise<decltype(task())> result;
  loop.Post([&] { result.set_value(task()); });
  return result.get_future().get();
}

struct Load {
  std::vector<std::unique_ptr<net::HttpClient>> clients;
  int left_to_start = 0;
  int left_to_finish = 0;
  int failed = 0;
  std::promise<void> done;

  void Next(net::HttpClient& client) {
    if (left_to_start == 0) {
      return;
    }
    --left_to_start;
    net::ClientRequest request;
    request.method = "POST";
    request.target = "/apis/resource.k8s.io/v1/namespaces/bench/resourceclaims";
    request.headers.Add("content-type", "application/vnd.kubernetes.protobuf");
    request.body = body;
    client.Fetch(std::move(request), [this, &client](base::Result<net::ClientResponse> response) {
      failed += response && response->status == 201 ? 0 : 1;
      if (--left_to_finish == 0) {
        done.set_value();
      }
      Next(client);
    });
  }

  net::Bytes body{std::string(400, 'x')};
};

int Main(int requests) {
  const auto now = base::SystemClock().Now();
  const auto ca = net::CreateCa("bench", now);
  const auto pair = net::CreateServerCertificate(*ca, {"127.0.0.1"}, now);
  const auto tls = net::TlsContext::Server({.certificate_pem = pair->certificate_pem,
                                            .key_pem = pair->key_pem,
                                            .client_ca_pem = ca->certificate_pem});
  net::LoopThread server_thread("server");
  net::LoopThread client_thread("client");
  net::Loop& server_loop = server_thread.loop();
  net::Loop& client_loop = client_thread.loop();
  auto server = RunOn(server_loop, [&] {
    net::ServerOptions options;
    options.tls = *tls;
    return *net::Server::Create(
        server_loop,
        options,
        [](std::unique_ptr<net::Request> request, std::shared_ptr<net::ResponseWriter> writer) {
          writer->Send(201,
                       {{"content-type", "application/vnd.kubernetes.protobuf"}},
                       net::Bytes(std::move(request->body)));
        });
  });
  fmt::print("{:>4} {:>11} {:>7} {:>10} {:>14} {:>14} {:>8}\n",
             "",
             "connections",
             "at once",
             "req/s",
             "server us/req",
             "client us/req",
             "failed");
  struct Shape {
    bool http2;
    int connections;
    int streams;
  };
  for (const Shape shape : {Shape{true, 1, 1},
                            Shape{true, 32, 1},
                            Shape{true, 64, 1},
                            Shape{true, 8, 16},
                            Shape{false, 32, 1}}) {
    Load load;
    for (int i = 0; i < shape.connections; ++i) {
      net::HttpClientOptions options;
      options.server = "https://" + server->address();
      options.tls.ca_pem = ca->certificate_pem;
      options.http2 = shape.http2;
      options.max_connections = 1;
      load.clients.push_back(std::move(*net::HttpClient::Create(client_loop, options)));
    }
    for (auto& client : load.clients) {
      if (!client->FetchBlocking({})) {
        return 1;
      }
    }
    load.left_to_start = load.left_to_finish = requests;
    const auto server_before = RunOn(server_loop, base::ThreadCpuTime);
    const auto client_before = RunOn(client_loop, base::ThreadCpuTime);
    const auto begin = base::SystemClock().Monotonic();
    client_loop.Post([&] {
      for (int stream = 0; stream < shape.streams; ++stream) {
        for (auto& client : load.clients) {
          load.Next(*client);
        }
      }
    });
    load.done.get_future().wait();
    const auto wall = base::SystemClock().Monotonic() - begin;
    const auto per_request = [&](std::chrono::nanoseconds used) {
      return static_cast<double>(used.count()) / 1000 / requests;
    };
    fmt::print("{:>4} {:>11} {:>7} {:>10.0f} {:>14.2f} {:>14.2f} {:>8}\n",
               shape.http2 ? "h2" : "h1",
               shape.connections,
               shape.streams,
               requests / std::chrono::duration<double>(wall).count(),
               per_request(RunOn(server_loop, base::ThreadCpuTime) - server_before),
               per_request(RunOn(client_loop, base::ThreadCpuTime) - client_before),
               load.failed);
  }
  RunOn(server_loop, [&] {
    server.reset();
    return true;
  });
  return 0;
}

}  // namespace
}  // namespace allot

int main(int argc, char** argv) {
  return allot::Main(argc > 1 ? std::atoi(argv[1]) : 200'000);
}
