// The server behind an accepted socket: whatever bytes come, in HTTP/1 and HTTP/2, nothing breaks
// and nothing is left behind.  Byte 0 chooses how the handler answers and whether an HTTP/2 preface
// is put in front.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/socket.h>

#include "net/http_server.h"
#include "net/server_connection.h"

namespace {

using namespace allot::net;  // NOLINT: one file, one purpose

constexpr std::string_view kPreface("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33);

class FuzzHost final : public ServerHost {
 public:
  FuzzHost(Loop& loop, unsigned mode) : loop_(loop), mode_(mode), setup_(MakeH2Setup()) {
    options_.limits.body_bytes = 1000;
    options_.limits.header_bytes = 2000;
  }

  Loop& loop() override { return loop_; }
  const ServerOptions& options() const override { return options_; }
  ServerCounters& work() override { return counters_; }
  const H2Setup& h2_setup() const override { return *setup_; }
  std::string& read_buffer() override { return read_buffer_; }
  std::string& write_buffer() override { return write_buffer_; }
  std::string_view date() override { return "now"; }
  bool draining() const override { return false; }
  void Dispatch(std::unique_ptr<Request> request, std::shared_ptr<ResponseWriter> writer) override {
    switch (mode_ % 6) {
      case 0: writer->Send(200, {{"a", "b"}}, Bytes(std::move(request->body))); break;
      case 1:
        writer->SendHeaders(200, {});
        writer->Write(Bytes(std::string(100'000, 'x')));
        writer->End();
        break;
      case 2:
        writer->SendHeaders(200, {});
        kept_.push_back(std::move(writer));
        break;
      case 3: writer->Abort(); break;
      case 4: break;  // dropped
      default: kept_.push_back(std::move(writer)); break;
    }
  }
  void Remove(ServerConnection* /*connection*/) override {
    loop_.DestroyLater(std::move(connection));
  }
  void SendError(ResponseWriter& writer, int status, std::string_view message) override {
    writer.Send(status, {}, Bytes::Copy(message));
  }
  void AnswerKept() {
    for (auto& writer : std::exchange(kept_, {})) {
      writer->Write(Bytes::Static("late"));
      writer->Send(200, {}, Bytes::Static("late"));
    }
  }

  std::shared_ptr<ServerConnection> connection;

 private:
  Loop& loop_;
  unsigned mode_;
  ServerOptions options_;
  ServerCounters counters_;
  std::unique_ptr<H2Setup> setup_;
  std::string read_buffer_ = std::string(65536, '\0');
  std::string write_buffer_;
  std::vector<std::shared_ptr<ResponseWriter>> kept_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) {
    return 0;
  }
  const unsigned mode = data[0];
  std::string text = (mode & 0x80U) != 0 ? std::string(kPreface) : std::string();
  text.append(reinterpret_cast<const char*>(data) + 1, size - 1);
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) != 0) {
    std::abort();
  }
  Loop loop;
  {
    FuzzHost host(loop, mode & 0x0FU);
    Fd peer(pair[1]);
    host.connection = std::make_shared<ServerConnection>(host, Fd(pair[0]), "fuzz", nullptr);
    if (!host.connection->Start()) {
      std::abort();
    }
    const std::size_t half = text.size() / 2;
    for (const std::string_view part :
         {std::string_view(text).substr(0, half), std::string_view(text).substr(half)}) {
      [[maybe_unused]] const auto sent = ::send(peer.get(), part.data(), part.size(), MSG_NOSIGNAL);
      for (int turn = 0; turn < 3; ++turn) {
        loop.RunOnce(std::chrono::nanoseconds(0));
        char sink[65536];
        while (::recv(peer.get(), sink, sizeof(sink), 0) > 0) {
        }
      }
      host.AnswerKept();
    }
    peer.Reset();
    for (int turn = 0; turn < 4; ++turn) {
      loop.RunOnce(std::chrono::nanoseconds(0));
    }
    if (host.connection != nullptr) {
      const auto last = host.connection;
      last->Close();
      loop.RunOnce(std::chrono::nanoseconds(0));
    }
  }
  return 0;
}
