#include "net/http_client.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "net/client_connection.h"
#include "net/gzip.h"

namespace allot::net {

namespace {

using base::Error;
using base::Reason;
using base::Result;

constexpr std::size_t kReadBuffer = 64 * 1024;
constexpr std::chrono::seconds kCheckInterval{1};

struct ServerUrl {
  std::string text;  // "https://host:port"
  std::string authority;
  std::string host;  // without brackets
  std::uint16_t port = 0;
  std::string prefix;  // without a slash at the end
  bool https = true;
};

Result<ServerUrl> ParseUrl(const std::string& text) {
  const auto bad = [&text](std::string_view why) {
    return Error(Reason::kBadRequest, "server \"" + text + "\": " + std::string(why));
  };
  ServerUrl url;
  std::string_view rest = text;
  const std::size_t scheme = rest.find("://");
  if (scheme == std::string_view::npos) {
    return bad("the URL must begin with https:// or http://");
  }
  if (const std::string_view name = rest.substr(0, scheme); name != "https" && name != "http") {
    return bad("the URL must begin with https:// or http://");
  }
  url.https = rest.substr(0, scheme) == "https";
  rest.remove_prefix(scheme + 3);
  const std::size_t slash = rest.find('/');
  url.prefix = slash == std::string_view::npos ? "" : rest.substr(slash);
  while (!url.prefix.empty() && url.prefix.back() == '/') {
    url.prefix.pop_back();
  }
  std::string_view authority = rest.substr(0, slash);
  if (authority.find_first_of("?#@ ") != std::string_view::npos ||
      url.prefix.find_first_of("?# ") != std::string::npos) {
    return bad("only host, port and path are allowed");
  }
  url.authority = authority;
  std::string_view port;
  if (!authority.empty() && authority.front() == '[') {
    const std::size_t end = authority.find(']');
    if (end == std::string_view::npos) {
      return bad("the bracket is not closed");
    }
    url.host = authority.substr(1, end - 1);
    authority.remove_prefix(end + 1);
    if (!authority.empty() && authority.front() != ':') {
      return bad("malformed port");
    }
    port = authority.empty() ? "" : authority.substr(1);
  } else {
    const std::size_t colon = authority.find(':');
    url.host = authority.substr(0, colon);
    port = colon == std::string_view::npos ? "" : authority.substr(colon + 1);
  }
  if (url.host.empty()) {
    return bad("no host");
  }
  url.port = url.https ? 443 : 80;
  if (!port.empty()) {
    const auto parsed = std::from_chars(port.data(), port.data() + port.size(), url.port);
    if (parsed.ec != std::errc() || parsed.ptr != port.data() + port.size() || url.port == 0) {
      return bad("malformed port");
    }
  }
  url.text = std::string(url.https ? "https://" : "http://") + url.authority;
  return url;
}

/// Everything that lives on the loop thread; tasks and callbacks in flight keep it alive.
class Core final : public ClientHost, public std::enable_shared_from_this<Core> {
 public:
  Core(Loop& loop, HttpClientOptions options, ServerUrl url, std::shared_ptr<const TlsContext> tls)
      : loop_(loop),
        options_(std::move(options)),
        url_(std::move(url)),
        tls_(std::move(tls)),
        read_buffer_(kReadBuffer, '\0') {}

  // ClientHost
  [[nodiscard]] Loop& loop() override { return loop_; }
  [[nodiscard]] const HttpClientOptions& options() const override { return options_; }
  [[nodiscard]] const std::string& authority() const override { return url_.authority; }
  [[nodiscard]] bool https() const override { return url_.https; }
  [[nodiscard]] const std::string& prefix() const override { return url_.prefix; }
  [[nodiscard]] std::string& read_buffer() override { return read_buffer_; }
  [[nodiscard]] std::string& write_buffer() override { return write_buffer_; }
  [[nodiscard]] std::string BearerToken() const override {
    return options_.bearer_token ? options_.bearer_token() : std::string();
  }
  void Ready(ClientConnection& connection) override;
  void Finish(const CallPtr& call, Result<void> outcome) override;
  void Retry(const CallPtr& call, const std::string& cause) override;
  void Closed(ClientConnection& connection, const std::string& cause, bool was_open) override;

  void Start(const CallPtr& call);
  void Cancel(HttpClient::CallId id);
  void Shutdown();

  [[nodiscard]] const std::string& url() const { return url_.text; }
  [[nodiscard]] std::uint64_t connections_made() const { return made_.load(); }
  [[nodiscard]] HttpClient::CallId NextId() { return next_id_.fetch_add(1); }

 private:
  void Pump();
  void Connect();
  void ConnectTo(std::vector<SocketAddress> addresses);
  void FailQueued(const std::string& cause);
  void Check();
  [[nodiscard]] bool AnyOpen() const;

  Loop& loop_;
  HttpClientOptions options_;
  ServerUrl url_;
  std::shared_ptr<const TlsContext> tls_;
  std::string read_buffer_;
  std::string write_buffer_;
  std::vector<std::shared_ptr<ClientConnection>> connections_;
  std::size_t resolving_ = 0;
  std::deque<CallPtr> queue_;
  std::unordered_map<HttpClient::CallId, CallPtr> calls_;
  std::atomic<HttpClient::CallId> next_id_{1};
  std::atomic<std::uint64_t> made_{0};
  Loop::TimerId check_timer_ = 0;
  bool http1_ = false;  // the server speaks no HTTP/2: more connections help
  bool stopped_ = false;
  bool pumping_ = false;
};

void Core::Start(const CallPtr& call) {
  if (stopped_) {
    if (call->callbacks.on_end) {
      call->callbacks.on_end(Error(Reason::kServiceUnavailable, url_.text + ": client closed"));
    }
    return;
  }
  calls_.emplace(call->id, call);
  if (call->request.timeout.count() > 0) {
    call->timer = loop_.After(call->request.timeout, [self = weak_from_this(), call] {
      if (const auto core = self.lock(); core != nullptr && !call->done) {
        call->timer = 0;
        if (call->connection != nullptr) {
          call->connection->protocol().Cancel(call);
        }
        core->Finish(call, Error(Reason::kTimeout, "timed out waiting for the answer"));
      }
    });
  }
  queue_.push_back(call);
  Pump();
}

void Core::Pump() {
  if (pumping_ || stopped_) {
    return;
  }
  pumping_ = true;
  while (!queue_.empty()) {
    if (queue_.front()->done) {
      queue_.pop_front();
      continue;
    }
    const auto free = std::find_if(
        connections_.begin(), connections_.end(), [](const auto& item) { return item->CanTake(); });
    if (free == connections_.end()) {
      break;
    }
    const CallPtr call = queue_.front();
    queue_.pop_front();
    call->connection = free->get();
    (*free)->protocol().Start(call);
  }
  pumping_ = false;
  const auto connecting =
      resolving_ + static_cast<std::size_t>(std::count_if(
                       connections_.begin(), connections_.end(), [](const auto& item) {
                         return item->connecting();
                       }));
  // HTTP/2 (or not known yet): one new connection serves all who wait.
  std::size_t wanted = http1_ ? queue_.size() : std::min<std::size_t>(queue_.size(), 1);
  for (std::size_t i = connecting;
       i < wanted && connections_.size() + resolving_ < options_.max_connections;
       ++i) {
    Connect();
  }
}

void Core::Connect() {
  if (auto numeric = ParseAddress(url_.host, url_.port); numeric) {
    ConnectTo({*numeric});
    return;
  }
  // DNS blocks: it gets a thread of its own, which holds nothing but a way to answer.
  ++resolving_;
  std::thread([handle = loop_.handle(),
               self = weak_from_this(),
               host = url_.host,
               port = url_.port] {
    auto addresses = ResolveHost(host, port);
    handle.Post([self, found = std::move(addresses)]() mutable {
      const auto core = self.lock();
      if (core == nullptr || core->stopped_) {
        return;
      }
      --core->resolving_;
      if (found) {
        core->ConnectTo(std::move(*found));
      } else if (!core->AnyOpen()) {
        core->FailQueued(found.error().message());
      }
    });
  }).detach();
}

void Core::ConnectTo(std::vector<SocketAddress> addresses) {
  made_.fetch_add(1);
  auto connection =
      std::make_shared<ClientConnection>(*this, std::move(addresses), tls_, url_.host);
  connections_.push_back(connection);
  if (check_timer_ == 0) {
    Check();
  }
  // Later: a connection that fails at once calls back into what is on the stack now.
  loop_.Post([connection, self = shared_from_this()] {
    if (!self->stopped_) {
      connection->Start();
    }
  });
}

void Core::Check() {
  const auto connections = connections_;
  for (const auto& connection : connections) {
    connection->CheckTime(loop_.clock().Monotonic());
  }
  if (stopped_ || connections_.empty()) {
    check_timer_ = 0;
    return;
  }
  const auto interval = std::clamp<std::chrono::nanoseconds>(
      std::min(options_.connect_timeout, options_.ping_timeout) / 4,
      std::chrono::milliseconds(5),
      kCheckInterval);
  check_timer_ = loop_.After(interval, [self = weak_from_this()] {
    if (const auto core = self.lock(); core != nullptr) {
      core->Check();
    }
  });
}

void Core::Ready(ClientConnection& connection) {
  http1_ = !connection.http2();
  Pump();
  if (http1_ && connection.CanTake()) {
    const auto idle = std::count_if(
        connections_.begin(), connections_.end(), [](const auto& item) { return item->CanTake(); });
    if (static_cast<std::size_t>(idle) > options_.idle_connections) {
      connection.Close("connection closed");
    }
  }
}

void Core::Finish(const CallPtr& call, Result<void> outcome) {
  if (call->done) {
    return;
  }
  const auto self = shared_from_this();  // the caller may drop the client in its callback
  call->done = true;
  loop_.Cancel(std::exchange(call->timer, 0));
  calls_.erase(call->id);
  if (call->callbacks.on_end) {
    if (!outcome) {
      outcome.error().Prepend(url_.text + ": ");
    }
    call->callbacks.on_end(std::move(outcome));
  }
  call->callbacks = {};
}

void Core::Retry(const CallPtr& call, const std::string& cause) {
  if (call->done) {
    return;
  }
  if (call->retried || stopped_) {
    Finish(call, Error(Reason::kServiceUnavailable, cause));
    return;
  }
  call->retried = true;
  call->connection = nullptr;
  call->body_sent = 0;
  call->stream_id = 0;
  queue_.push_back(call);
  loop_.Post([self = shared_from_this()] { self->Pump(); });
}

bool Core::AnyOpen() const {
  return resolving_ > 0 ||
         std::any_of(connections_.begin(), connections_.end(), [](const auto& item) {
           return item->open() || item->connecting();
         });
}

void Core::Closed(ClientConnection& connection, const std::string& cause, bool was_open) {
  for (const auto& [id, call] : calls_) {
    if (call->connection == &connection) {
      call->connection = nullptr;
    }
  }
  const auto found =
      std::find_if(connections_.begin(), connections_.end(), [&connection](const auto& item) {
        return item.get() == &connection;
      });
  if (found != connections_.end()) {
    loop_.DestroyLater(*found);
    loop_.DestroyLater(shared_from_this());  // not before the connection, which refers to it
    connections_.erase(found);
  }
  if (stopped_) {
    return;
  }
  if (!was_open && !AnyOpen()) {
    FailQueued(cause);
    return;
  }
  if (!queue_.empty()) {
    loop_.Post([self = shared_from_this()] { self->Pump(); });
  }
}

void Core::FailQueued(const std::string& cause) {
  std::deque<CallPtr> queue;
  queue.swap(queue_);
  for (const CallPtr& call : queue) {
    Finish(call, Error(Reason::kServiceUnavailable, cause));
  }
}

void Core::Cancel(HttpClient::CallId id) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) {
    return;
  }
  const CallPtr call = found->second;
  call->done = true;
  call->callbacks = {};
  loop_.Cancel(std::exchange(call->timer, 0));
  calls_.erase(found);
  if (call->connection != nullptr) {
    call->connection->protocol().Cancel(call);
  }
}

void Core::Shutdown() {
  const auto self = shared_from_this();
  stopped_ = true;
  loop_.Cancel(std::exchange(check_timer_, 0));
  const auto connections = connections_;
  for (const auto& connection : connections) {
    connection->Close("client closed");
  }
  FailQueued("client closed");
}

/// Lets one thread wait for an answer that another one gives.
template <typename T>
class Waiter {
 public:
  void Set(T value) {
    // Under the lock: the waiting thread may destroy this as soon as it sees the value.
    const std::lock_guard lock(mutex_);
    value_ = std::move(value);
    condition_.notify_one();
  }
  T Wait() {
    std::unique_lock lock(mutex_);
    condition_.wait(lock, [this] { return value_.has_value(); });
    return std::move(*value_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  std::optional<T> value_;
};

class HttpClientImpl final : public HttpClient {
 public:
  explicit HttpClientImpl(std::shared_ptr<Core> core) : core_(std::move(core)) {}
  HttpClientImpl(const HttpClientImpl&) = delete;
  HttpClientImpl& operator=(const HttpClientImpl&) = delete;
  ~HttpClientImpl() override;

  CallId Do(ClientRequest request, ClientCallbacks callbacks) override;
  void Cancel(CallId call) override;
  void Fetch(ClientRequest request,
             std::function<void(Result<ClientResponse>)> done,
             std::size_t limit) override;
  [[nodiscard]] Result<ClientResponse> FetchBlocking(ClientRequest request,
                                                     std::size_t limit) override;
  [[nodiscard]] const std::string& server() const override { return core_->url(); }
  [[nodiscard]] std::uint64_t connections_made() const override {
    return core_->connections_made();
  }
  [[nodiscard]] Loop& loop() const override { return core_->loop(); }

 private:
  std::shared_ptr<Core> core_;
  std::atomic<bool> used_{false};  // never used: nothing of it is on the loop, which may not run
};

HttpClientImpl::~HttpClientImpl() {
  if (!used_.load() || core_->loop().OnLoopThread()) {
    core_->Shutdown();
    return;
  }
  Waiter<bool> waiter;
  if (core_->loop().Post([core = core_, &waiter] {
        core->Shutdown();
        waiter.Set(true);
      })) {
    waiter.Wait();
  } else {
    core_->Shutdown();  // the loop has stopped: nobody else is there
  }
}

HttpClient::CallId HttpClientImpl::Do(ClientRequest request, ClientCallbacks callbacks) {
  auto call = std::make_shared<Call>();
  call->id = core_->NextId();
  call->request = std::move(request);
  call->callbacks = std::move(callbacks);
  const CallId id = call->id;
  used_.store(true);
  if (core_->loop().OnLoopThread()) {
    core_->Start(call);
  } else if (!core_->loop().Post([core = core_, call] { core->Start(call); })) {
    call->callbacks.on_end(
        Error(Reason::kServiceUnavailable, core_->url() + ": the client's loop has stopped"));
  }
  return id;
}

void HttpClientImpl::Cancel(CallId call) {
  if (core_->loop().OnLoopThread()) {
    core_->Cancel(call);
  } else {
    core_->loop().Post([core = core_, call] { core->Cancel(call); });
  }
}

void HttpClientImpl::Fetch(ClientRequest request,
                           std::function<void(Result<ClientResponse>)> done,
                           std::size_t limit) {
  struct State {
    ClientResponse response;
    bool too_large = false;
  };
  const auto state = std::make_shared<State>();
  ClientCallbacks callbacks;
  callbacks.on_headers = [state](int status, const HeaderList& headers) {
    state->response.status = status;
    state->response.headers = headers;
  };
  callbacks.on_data = [state, limit](std::string_view data) {
    if (state->too_large || data.size() > limit - state->response.body.size()) {
      state->too_large = true;
      return;
    }
    state->response.body.append(data);
  };
  callbacks.on_end = [state, limit, finish = std::move(done)](Result<void> outcome) {
    if (!outcome) {
      finish(Error(std::move(outcome).error()));
      return;
    }
    if (state->too_large) {
      finish(Error(Reason::kRequestEntityTooLarge, "the answer is too large"));
      return;
    }
    if (HasToken(state->response.headers.Get("content-encoding"), "gzip")) {
      auto text = Gunzip(state->response.body, limit);
      if (!text) {
        finish(Error(std::move(text).error()));
        return;
      }
      state->response.body = std::move(*text);
    }
    finish(std::move(state->response));
  };
  Do(std::move(request), std::move(callbacks));
}

Result<ClientResponse> HttpClientImpl::FetchBlocking(ClientRequest request, std::size_t limit) {
  Waiter<Result<ClientResponse>> waiter;
  Fetch(
      std::move(request),
      [&waiter](Result<ClientResponse> response) { waiter.Set(std::move(response)); },
      limit);
  return waiter.Wait();
}

}  // namespace

Result<std::unique_ptr<HttpClient>> HttpClient::Create(Loop& loop, HttpClientOptions options) {
  ALLOT_ASSIGN_OR_RETURN(ServerUrl url, ParseUrl(options.server));
  std::shared_ptr<const TlsContext> tls;
  if (url.https) {
    if (!options.http2) {
      options.tls.alpn = {"http/1.1"};
    }
    ALLOT_ASSIGN_OR_RETURN(tls, TlsContext::Client(options.tls));
  }
  auto core = std::make_shared<Core>(loop, std::move(options), std::move(url), std::move(tls));
  return std::make_unique<HttpClientImpl>(std::move(core));
}

}  // namespace allot::net
