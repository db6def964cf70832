#include "net/http_server.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "net/server_connection.h"

namespace allot::net {

namespace {

using base::Error;
using base::Reason;
using base::Result;

constexpr std::size_t kReadBuffer = 64 * 1024;
constexpr std::size_t kReservedDescriptors = 256;  // store, client connections, drivers
constexpr int kAcceptsPerTurn = 64;
constexpr std::size_t kEvictionSample = 64;
constexpr std::chrono::seconds kSweepInterval{1};

/// Raises the soft descriptor limit to the hard one (as Go programs do); returns the limit.
std::size_t RaiseDescriptorLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return 1024;
  }
  if (limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    ::getrlimit(RLIMIT_NOFILE, &limit);
  }
  return limit.rlim_cur == RLIM_INFINITY ? std::size_t{1} << 20U
                                         : static_cast<std::size_t>(limit.rlim_cur);
}

class ServerImpl final : public Server, public ServerHost, public FdHandler {
 public:
  ServerImpl(Loop& loop, ServerOptions options, Handler handler, Fd listener)
      : loop_(loop),
        options_(std::move(options)),
        handler_(std::move(handler)),
        listener_(std::move(listener)),
        spare_(OpenSpare()),
        address_(LocalAddress(listener_.get())),
        read_buffer_(kReadBuffer, '\0') {
    const std::size_t descriptors = RaiseDescriptorLimit();
    const std::size_t room = descriptors > 2 * kReservedDescriptors
                                 ? descriptors - kReservedDescriptors
                                 : descriptors / 2;
    max_connections_ = std::max<std::size_t>(std::min(options_.limits.connections, room), 1);
  }
  ~ServerImpl() override;

  [[nodiscard]] bool Start() {
    ScheduleSweep();
    return loop_.Watch(listener_.get(), Loop::kReadable, this);
  }

  // Server
  [[nodiscard]] std::uint16_t port() const override { return AddressPort(address_); }
  [[nodiscard]] std::string address() const override { return AddressText(address_); }
  void Shutdown(std::chrono::milliseconds grace, Task done) override;
  [[nodiscard]] const ServerCounters& counters() const override { return counters_; }

  // ServerHost
  [[nodiscard]] Loop& loop() override { return loop_; }
  [[nodiscard]] const ServerOptions& options() const override { return options_; }
  [[nodiscard]] ServerCounters& work() override { return counters_; }
  [[nodiscard]] std::string& read_buffer() override { return read_buffer_; }
  [[nodiscard]] std::string& write_buffer() override { return write_buffer_; }
  [[nodiscard]] std::string_view date() override;
  [[nodiscard]] bool draining() const override { return draining_; }
  void Dispatch(std::unique_ptr<Request> request, std::shared_ptr<ResponseWriter> writer) override;
  void Remove(ServerConnection* connection) override;
  void SendError(ResponseWriter& writer, int status, std::string_view message) override;

  // FdHandler: the listener
  void OnReady(std::uint32_t events) override;

 private:
  static Fd OpenSpare() { return Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }
  void RefuseOne();
  bool MakeRoom();
  void Sweep();
  void ScheduleSweep();
  void FinishShutdown();
  void CloseAll();

  Loop& loop_;
  ServerOptions options_;
  Handler handler_;
  Fd listener_;
  Fd spare_;  // given up to accept and close one connection when descriptors run out
  SocketAddress address_;
  std::string read_buffer_;
  std::string write_buffer_;
  std::size_t max_connections_ = 1;
  std::vector<std::shared_ptr<ServerConnection>> connections_;
  std::size_t eviction_cursor_ = 0;
  std::string date_;
  std::int64_t date_second_ = 0;
  base::MonoTime date_checked_;
  ServerCounters counters_;
  Loop::TimerId sweep_timer_ = 0;
  Loop::TimerId grace_timer_ = 0;
  bool draining_ = false;
  Task shutdown_done_;
};

ServerImpl::~ServerImpl() {
  loop_.Cancel(sweep_timer_);
  loop_.Cancel(grace_timer_);
  if (listener_) {
    loop_.Unwatch(listener_.get());
  }
  shutdown_done_ = nullptr;
  CloseAll();
}

void ServerImpl::CloseAll() {
  const auto connections = connections_;
  for (const auto& connection : connections) {
    connection->Close();
  }
}

std::string_view ServerImpl::date() {
  if (date_.empty() || loop_.now() - date_checked_ > std::chrono::milliseconds(200)) {
    date_checked_ = loop_.now();
    const std::time_t second =
        std::chrono::duration_cast<std::chrono::seconds>(loop_.clock().Now().time_since_epoch())
            .count();
    if (date_.empty() || second != date_second_) {
      date_second_ = second;
      std::tm parts{};
      ::gmtime_r(&second, &parts);
      char text[40] = "";
      date_.assign(text, std::strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &parts));
    }
  }
  return date_;
}

void ServerImpl::Dispatch(std::unique_ptr<Request> request,
                          std::shared_ptr<ResponseWriter> writer) {
  counters_.requests.fetch_add(1, std::memory_order_relaxed);
  handler_(std::move(request), std::move(writer));
}

void ServerImpl::SendError(ResponseWriter& writer, int status, std::string_view message) {
  const std::string body =
      options_.error_body ? options_.error_body(status, message)
                          : std::string(StatusText(status)) + ": " + std::string(message) + "\n";
  const bool json = !body.empty() && body.front() == '{';
  writer.Send(status,
              {{"content-type", json ? "application/json" : "text/plain; charset=utf-8"},
               {"x-content-type-options", "nosniff"}},
              Bytes(body));
}

void ServerImpl::OnReady(std::uint32_t /*events*/) {
  for (int i = 0; i < kAcceptsPerTurn; ++i) {
    SocketAddress peer;
    peer.size = sizeof(peer.storage);
    Fd fd(::accept4(listener_.get(),
                    reinterpret_cast<sockaddr*>(&peer.storage),
                    &peer.size,
                    SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) {
      if (errno == EMFILE || errno == ENFILE) {
        RefuseOne();
        continue;
      }
      if (errno == ECONNABORTED || errno == EINTR) {
        continue;
      }
      return;
    }
    counters_.accepted.fetch_add(1, std::memory_order_relaxed);
    if (connections_.size() >= max_connections_ && !MakeRoom()) {
      counters_.refused.fetch_add(1, std::memory_order_relaxed);
      continue;  // Fd closes it
    }
    auto connection =
        std::make_shared<ServerConnection>(*this, std::move(fd), AddressText(peer), options_.tls);
    connection->index = connections_.size();
    connections_.push_back(connection);
    counters_.open_connections.store(connections_.size(), std::memory_order_relaxed);
    if (!connection->Start()) {
      connection->Close();
    }
  }
}

/// Out of descriptors: takes one connection off the queue with the spare descriptor and closes it,
/// so that the peer is told and the loop does not spin; and closes an idle connection, so that the
/// next one gets in.
void ServerImpl::RefuseOne() {
  MakeRoom();
  spare_.Reset();
  {
    const Fd refused(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    counters_.refused.fetch_add(1, std::memory_order_relaxed);
  }
  spare_ = OpenSpare();
}

/// Closes the longest idle one of a sample of connections; false when none of them is idle.
bool ServerImpl::MakeRoom() {
  ServerConnection* oldest = nullptr;
  const std::size_t sample = std::min(kEvictionSample, connections_.size());
  for (std::size_t i = 0; i < sample; ++i) {
    eviction_cursor_ = (eviction_cursor_ + 1) % connections_.size();
    ServerConnection* const candidate = connections_[eviction_cursor_].get();
    if (candidate->idle() &&
        (oldest == nullptr || candidate->idle_since() < oldest->idle_since())) {
      oldest = candidate;
    }
  }
  if (oldest == nullptr) {
    return false;
  }
  oldest->Close();
  return true;
}

void ServerImpl::Remove(ServerConnection* connection) {
  if (connection->index >= connections_.size() ||
      connections_[connection->index].get() != connection) {
    return;
  }
  const std::size_t index = connection->index;
  loop_.DestroyLater(connections_[index]);
  connections_.back()->index = index;
  std::swap(connections_[index], connections_.back());
  connections_.pop_back();
  counters_.open_connections.store(connections_.size(), std::memory_order_relaxed);
  if (draining_ && connections_.empty()) {
    FinishShutdown();
  }
}

void ServerImpl::ScheduleSweep() {
  const ServerLimits& limits = options_.limits;
  const auto shortest = std::min({limits.handshake_timeout,
                                  limits.header_timeout,
                                  limits.body_timeout,
                                  limits.idle_timeout,
                                  limits.stall_timeout});
  const auto interval = std::clamp<std::chrono::nanoseconds>(
      shortest / 4, std::chrono::milliseconds(5), kSweepInterval);
  sweep_timer_ = loop_.After(interval, [this] { Sweep(); });
}

void ServerImpl::Sweep() {
  // Backwards: a closed connection is replaced by the last one, which has been looked at.
  for (std::size_t i = connections_.size(); i-- > 0;) {
    if (i < connections_.size()) {
      const auto connection = connections_[i];
      connection->CheckTime(loop_.now());
    }
  }
  ScheduleSweep();
}

void ServerImpl::Shutdown(std::chrono::milliseconds grace, Task done) {
  draining_ = true;
  shutdown_done_ = std::move(done);
  if (listener_) {
    loop_.Unwatch(listener_.get());
    listener_.Reset();
  }
  if (connections_.empty()) {
    grace_timer_ = loop_.After(std::chrono::nanoseconds(0), [this] { FinishShutdown(); });
    return;
  }
  const auto connections = connections_;
  for (const auto& connection : connections) {
    connection->GoAway();
  }
  grace_timer_ = loop_.After(grace, [this] { CloseAll(); });
}

void ServerImpl::FinishShutdown() {
  loop_.Cancel(std::exchange(grace_timer_, 0));
  if (Task done = std::move(shutdown_done_); done) {
    shutdown_done_ = nullptr;
    loop_.Post(std::move(done));  // the owner may destroy the server in it
  }
}

}  // namespace

Result<std::unique_ptr<Server>> Server::Create(Loop& loop, ServerOptions options, Handler handler) {
  ALLOT_ASSIGN_OR_RETURN(const SocketAddress address, ParseAddress(options.address, options.port));
  ALLOT_ASSIGN_OR_RETURN(Fd listener, ListenTcp(address));
  auto server = std::make_unique<ServerImpl>(
      loop, std::move(options), std::move(handler), std::move(listener));
  if (!server->Start()) {
    return Error(Reason::kServiceUnavailable, "cannot watch the listening socket");
  }
  return server;
}

}  // namespace allot::net
