// The server's side of HTTP/2 on nghttp2: frames in, frames out; bodies are sent from the streams'
// queues without a copy in between.
#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nghttp2/nghttp2.h>

#include "base/check.h"
#include "net/server_connection.h"
#include "net/server_stream.h"

namespace allot::net {

namespace {

// As the API server of Kubernetes: 256 KiB a stream, and a connection's worth of them.
constexpr std::uint32_t kStreamWindow = 256 * 1024;
constexpr std::uint64_t kResetBurst = 2000;  // cancelled watches are normal; floods are not
constexpr std::uint64_t kResetRate = 200;
constexpr std::size_t kMaxDiscarded = 64U << 20U;
constexpr std::size_t kFrameHeader = 9;
constexpr std::size_t kFieldOverhead = 32;  // what RFC 9113 6.5.2 counts a field for

/// What upstream says to a body above its limit.
std::string TooLarge(std::size_t limit) {
  return fmt::format("Request entity too large: limit is {}", limit);
}

class H2Server;

class H2Stream final : public ServerStream {
 public:
  H2Stream(ServerConnection& connection, H2Server& owner, std::int32_t stream_id)
      : ServerStream(connection), server(owner), id(stream_id) {}

  ssize_t Read(std::size_t length, std::uint32_t* flags);
  using ServerStream::connection;
  using ServerStream::TakeOutput;

  H2Server& server;
  const std::int32_t id;
  std::size_t index = 0;  // in the server's list
  std::unique_ptr<Request> request = std::make_unique<Request>();
  std::size_t header_bytes = 0;
  std::size_t discarded = 0;
  bool received = false;  // the request is complete
  bool refused = false;   // answered by net; what still comes of the request is thrown away
  bool deferred = false;  // nghttp2 waits for resume
  base::MonoTime last_input;

 private:
  void Begin(int status, const HeaderList& headers, std::int64_t content_length) override;
  void OutputReady() override;
  void Reset() override;
};

class Setup final : public H2Setup {
 public:
  Setup();
  Setup(const Setup&) = delete;
  Setup& operator=(const Setup&) = delete;
  ~Setup() override {
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
  }

  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_option* option = nullptr;
};

class H2Server final : public ServerProtocol {
 public:
  explicit H2Server(ServerConnection& connection);
  H2Server(const H2Server&) = delete;
  H2Server& operator=(const H2Server&) = delete;
  ~H2Server() override { nghttp2_session_del(session_); }

  void OnData(std::string_view data) override;
  bool OnEof() override { return false; }
  void Produce(std::string& out, std::size_t budget) override;
  [[nodiscard]] bool WantsRead() const override { return !failed_; }
  [[nodiscard]] bool Finished() const override;
  [[nodiscard]] bool Idle() const override { return streams_.empty(); }
  [[nodiscard]] bool CheckTime(base::MonoTime now) override;
  void GoAway() override;
  void Detach() override;

  // Called by nghttp2 through Setup's callbacks.
  int OnBeginHeaders(const nghttp2_frame& frame);
  int OnHeader(const nghttp2_frame& frame, std::string_view name, std::string_view value);
  int OnFrame(const nghttp2_frame& frame);
  int OnBody(std::int32_t id, std::string_view piece);
  int OnStreamClose(std::int32_t id);
  ssize_t Append(std::string_view bytes);
  int AppendBody(H2Stream& stream, const std::uint8_t* header, std::size_t size);

  [[nodiscard]] nghttp2_session* session() const { return session_; }
  [[nodiscard]] std::vector<nghttp2_nv>& scratch() { return scratch_; }
  [[nodiscard]] ServerHost& host() { return connection_.host(); }
  void MarkDirty() { connection_.MarkDirty(); }

 private:
  [[nodiscard]] H2Stream* Find(std::int32_t id) const {
    return static_cast<H2Stream*>(nghttp2_session_get_stream_user_data(session_, id));
  }
  void HeadersDone(H2Stream& stream, bool end);
  void RequestDone(H2Stream& stream);
  void Refuse(H2Stream& stream, int status, std::string_view message);

  ServerConnection& connection_;
  const ServerLimits& limits_;
  nghttp2_session* session_ = nullptr;
  std::vector<std::shared_ptr<H2Stream>> streams_;
  std::vector<nghttp2_nv> scratch_;
  std::string* out_ = nullptr;  // only inside Produce
  std::size_t budget_ = 0;
  bool failed_ = false;
  bool draining_ = false;
  bool detached_ = false;
};

H2Server* Self(void* user) {
  return static_cast<H2Server*>(user);
}

std::string_view View(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

nghttp2_nv Field(std::string_view name, std::string_view value) {
  // nghttp2 copies both; its interface lacks the const.
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));  // NOLINT
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

Setup::Setup() {
  ALLOT_CHECK(nghttp2_session_callbacks_new(&callbacks) == 0);
  ALLOT_CHECK(nghttp2_option_new(&option) == 0);
  nghttp2_option_set_stream_reset_rate_limit(option, kResetBurst, kResetRate);
  nghttp2_option_set_no_closed_streams(option, 1);
  nghttp2_session_callbacks_set_on_begin_headers_callback(
      callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        return Self(user)->OnBeginHeaders(*frame);
      });
  nghttp2_session_callbacks_set_on_header_callback(
      callbacks,
      [](nghttp2_session*,
         const nghttp2_frame* frame,
         const std::uint8_t* name,
         std::size_t name_size,
         const std::uint8_t* value,
         std::size_t value_size,
         std::uint8_t,
         void* user) {
        return Self(user)->OnHeader(*frame, View(name, name_size), View(value, value_size));
      });
  nghttp2_session_callbacks_set_on_frame_recv_callback(
      callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        return Self(user)->OnFrame(*frame);
      });
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
      callbacks,
      [](nghttp2_session*,
         std::uint8_t,
         std::int32_t id,
         const std::uint8_t* data,
         std::size_t size,
         void* user) { return Self(user)->OnBody(id, View(data, size)); });
  nghttp2_session_callbacks_set_on_stream_close_callback(
      callbacks, [](nghttp2_session*, std::int32_t id, std::uint32_t, void* user) {
        return Self(user)->OnStreamClose(id);
      });
  nghttp2_session_callbacks_set_send_callback(
      callbacks, [](nghttp2_session*, const std::uint8_t* data, std::size_t size, int, void* user) {
        return Self(user)->Append(View(data, size));
      });
  nghttp2_session_callbacks_set_send_data_callback(
      callbacks,
      [](nghttp2_session*,
         nghttp2_frame*,
         const std::uint8_t* header,
         std::size_t size,
         nghttp2_data_source* source,
         void* user) {
        return Self(user)->AppendBody(*static_cast<H2Stream*>(source->ptr), header, size);
      });
}

H2Server::H2Server(ServerConnection& connection)
    : connection_(connection), limits_(connection.host().options().limits) {
  const auto& setup = static_cast<const Setup&>(connection.host().h2_setup());
  ALLOT_CHECK(nghttp2_session_server_new2(&session_, setup.callbacks, this, setup.option) == 0);
  const std::array<nghttp2_settings_entry, 3> settings = {{
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits_.streams_per_connection},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(limits_.header_bytes)},
  }};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  const std::uint64_t window =
      std::uint64_t{kStreamWindow} * std::max<std::uint32_t>(limits_.streams_per_connection, 1);
  nghttp2_session_set_local_window_size(
      session_,
      NGHTTP2_FLAG_NONE,
      0,
      static_cast<std::int32_t>(std::min<std::uint64_t>(window, 0x7FFFFFFF)));
}

void H2Server::OnData(std::string_view data) {
  if (failed_ || detached_) {
    return;
  }
  const ssize_t used = nghttp2_session_mem_recv(
      session_, reinterpret_cast<const std::uint8_t*>(data.data()), data.size());
  if (used < 0 || nghttp2_session_want_read(session_) == 0) {
    host().work().protocol_errors.fetch_add(1, std::memory_order_relaxed);
    failed_ = true;  // nghttp2 has queued the GOAWAY, where one makes sense
  }
}

void H2Server::Produce(std::string& out, std::size_t budget) {
  if (detached_) {
    return;
  }
  out_ = &out;
  budget_ = budget;
  if (nghttp2_session_send(session_) != 0) {
    failed_ = true;
  }
  out_ = nullptr;
}

bool H2Server::Finished() const {
  return failed_ || (draining_ && streams_.empty()) ||
         (nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0);
}

int H2Server::OnBeginHeaders(const nghttp2_frame& frame) {
  if (frame.hd.type != NGHTTP2_HEADERS || frame.headers.cat != NGHTTP2_HCAT_REQUEST) {
    return 0;
  }
  if (draining_) {  // above the GOAWAY's last stream: the client repeats it elsewhere
    nghttp2_submit_rst_stream(
        session_, NGHTTP2_FLAG_NONE, frame.hd.stream_id, NGHTTP2_REFUSED_STREAM);
    return 0;
  }
  auto stream = std::make_shared<H2Stream>(connection_, *this, frame.hd.stream_id);
  stream->index = streams_.size();
  stream->last_input = host().loop().now();
  stream->request->connection = connection_.info();
  nghttp2_session_set_stream_user_data(session_, frame.hd.stream_id, stream.get());
  streams_.push_back(std::move(stream));
  return 0;
}

int H2Server::OnHeader(const nghttp2_frame& frame, std::string_view name, std::string_view value) {
  H2Stream* const stream = Find(frame.hd.stream_id);
  if (stream == nullptr || frame.headers.cat != NGHTTP2_HCAT_REQUEST) {
    return 0;  // trailers say nothing to us
  }
  stream->header_bytes += name.size() + value.size() + kFieldOverhead;
  if (stream->header_bytes > limits_.header_bytes) {
    return 0;
  }
  Request& request = *stream->request;
  if (name == ":method") {
    request.method = value;
  } else if (name == ":path") {
    request.target = value;
  } else if (name == ":authority") {
    request.headers.Add("host", value);
  } else if (name.front() != ':') {
    request.headers.Add(name, value);
  }
  return 0;
}

int H2Server::OnFrame(const nghttp2_frame& frame) {
  if (frame.hd.type != NGHTTP2_HEADERS && frame.hd.type != NGHTTP2_DATA) {
    return 0;
  }
  H2Stream* const stream = Find(frame.hd.stream_id);
  if (stream == nullptr) {
    return 0;
  }
  const bool end = (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  stream->received = stream->received || end;
  if (frame.hd.type == NGHTTP2_HEADERS && frame.headers.cat == NGHTTP2_HCAT_REQUEST) {
    HeadersDone(*stream, end);
  } else if (end) {
    RequestDone(*stream);
  }
  return 0;
}

void H2Server::HeadersDone(H2Stream& stream, bool end) {
  Request& request = *stream.request;
  stream.head_request = request.method == "HEAD";
  if (stream.header_bytes > limits_.header_bytes) {
    Refuse(stream, 431, "the headers are too large");
    return;
  }
  if (request.method == "CONNECT") {
    Refuse(stream, 405, "CONNECT is not supported");
    return;
  }
  const std::string target = std::move(request.target);
  if (!SplitTarget(target, request)) {
    Refuse(stream, 400, "malformed request target");
    return;
  }
  if (end) {
    RequestDone(stream);
    return;
  }
  const std::string_view length = request.headers.Get("content-length");
  std::uint64_t size = 0;
  std::from_chars(length.data(), length.data() + length.size(), size);
  if (size > limits_.body_bytes) {
    Refuse(stream, 413, TooLarge(limits_.body_bytes));
    return;
  }
  request.body.reserve(static_cast<std::size_t>(size));
  if (HasToken(request.headers.Get("expect"), "100-continue")) {
    const nghttp2_nv status = Field(":status", "100");
    nghttp2_submit_headers(session_, NGHTTP2_FLAG_NONE, stream.id, nullptr, &status, 1, nullptr);
  }
}

int H2Server::OnBody(std::int32_t id, std::string_view piece) {
  H2Stream* const stream = Find(id);
  if (stream == nullptr || (stream->request == nullptr && !stream->refused)) {
    return 0;
  }
  stream->last_input = host().loop().now();
  if (stream->refused) {
    // Swallowed for a while: some clients lose the answer when the stream is reset under their
    // upload.
    stream->discarded += piece.size();
    if (stream->discarded > kMaxDiscarded) {
      nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_NO_ERROR);
    }
    return 0;
  }
  std::string& body = stream->request->body;
  if (piece.size() > limits_.body_bytes - body.size()) {
    Refuse(*stream, 413, TooLarge(limits_.body_bytes));
    return 0;
  }
  body.append(piece);
  return 0;
}

void H2Server::RequestDone(H2Stream& stream) {
  if (stream.refused || stream.request == nullptr) {
    return;
  }
  const auto held = stream.shared_from_this();  // the handler may break the stream off
  host().Dispatch(std::move(stream.request), stream.Handout());
}

void H2Server::Refuse(H2Stream& stream, int status, std::string_view message) {
  stream.refused = true;
  stream.request.reset();
  host().SendError(stream, status, message);
}

int H2Server::OnStreamClose(std::int32_t id) {
  H2Stream* const found = Find(id);
  if (found == nullptr) {
    return 0;
  }
  nghttp2_session_set_stream_user_data(session_, id, nullptr);
  const std::shared_ptr<H2Stream> stream = streams_[found->index];
  streams_.back()->index = stream->index;
  std::swap(streams_[stream->index], streams_.back());
  streams_.pop_back();
  if (streams_.empty()) {
    connection_.set_idle_since(host().loop().now());
  }
  // The owner's close task may call anything: run it when nghttp2 is off the stack.
  if (Task task = stream->TakeCloseTask(); task) {
    connection_.RunLater(std::move(task));
  }
  return 0;
}

ssize_t H2Server::Append(std::string_view bytes) {
  if (out_->size() >= budget_) {
    return NGHTTP2_ERR_WOULDBLOCK;
  }
  out_->append(bytes);
  return static_cast<ssize_t>(bytes.size());
}

int H2Server::AppendBody(H2Stream& stream, const std::uint8_t* header, std::size_t size) {
  if (out_->size() >= budget_) {
    return NGHTTP2_ERR_WOULDBLOCK;
  }
  if (size > stream.queued_bytes()) {
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;  // detached meanwhile
  }
  out_->append(View(header, kFrameHeader));
  stream.TakeOutput(size, *out_);
  return 0;
}

bool H2Server::CheckTime(base::MonoTime now) {
  if (streams_.empty()) {
    if (now - connection_.idle_since() > limits_.idle_timeout) {
      GoAway();
      connection_.MarkDirty();
    }
    return true;
  }
  for (const auto& stream : streams_) {
    const bool slow_request = !stream->received && now - stream->last_input > limits_.body_timeout;
    const bool stalled =
        stream->queued_bytes() > 0 && now - stream->last_progress() > limits_.stall_timeout;
    if (slow_request || stalled) {
      host().work().timeouts.fetch_add(1, std::memory_order_relaxed);
      nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_CANCEL);
      connection_.MarkDirty();
    }
  }
  return true;
}

void H2Server::GoAway() {
  if (!draining_ && !detached_) {
    draining_ = true;
    nghttp2_submit_goaway(session_,
                          NGHTTP2_FLAG_NONE,
                          nghttp2_session_get_last_proc_stream_id(session_),
                          NGHTTP2_NO_ERROR,
                          nullptr,
                          0);
  }
}

void H2Server::Detach() {
  detached_ = true;
  failed_ = true;
  std::vector<std::shared_ptr<H2Stream>> streams;
  streams.swap(streams_);
  for (const auto& stream : streams) {
    nghttp2_session_set_stream_user_data(session_, stream->id, nullptr);
    stream->Detach();
  }
}

ssize_t H2Stream::Read(std::size_t length, std::uint32_t* flags) {
  const std::size_t size = std::min(length, queued_bytes());
  if (size == 0 && !ended()) {
    deferred = true;
    return NGHTTP2_ERR_DEFERRED;
  }
  *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
  if (ended() && size == queued_bytes()) {
    *flags |= NGHTTP2_DATA_FLAG_EOF;
  }
  return static_cast<ssize_t>(size);
}

void H2Stream::Begin(int status, const HeaderList& headers, std::int64_t content_length) {
  std::vector<nghttp2_nv>& fields = server.scratch();
  fields.clear();
  std::array<char, 24> length_text{};
  std::array<char, 4> status_text{};
  std::to_chars(status_text.data(), status_text.data() + 3, status);
  fields.push_back(Field(":status", {status_text.data(), 3}));
  std::vector<std::string> cleaned;
  cleaned.reserve(headers.size());
  for (std::size_t i = 0; i < headers.size(); ++i) {
    const HeaderList::Field field = headers[i];
    if (IsConnectionHeader(field.name)) {
      continue;
    }
    std::string_view value = field.value;
    if (value.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos) {
      value = cleaned.emplace_back(SafeHeaderValue(value));
    }
    fields.push_back(Field(field.name, value));
  }
  if (content_length >= 0 && status != 204 && status != 304) {
    const auto end =
        std::to_chars(length_text.data(), length_text.data() + length_text.size(), content_length);
    fields.push_back(
        Field("content-length",
              {length_text.data(), static_cast<std::size_t>(end.ptr - length_text.data())}));
  }
  fields.push_back(Field("date", server.host().date()));
  nghttp2_data_provider provider{};
  provider.source.ptr = this;
  provider.read_callback = [](nghttp2_session*,
                              std::int32_t,
                              std::uint8_t*,
                              std::size_t length,
                              std::uint32_t* flags,
                              nghttp2_data_source* source,
                              void*) {
    return static_cast<H2Stream*>(source->ptr)->Read(length, flags);
  };
  const bool empty = ended() && queued_bytes() == 0;
  deferred = false;
  nghttp2_submit_response(
      server.session(), id, fields.data(), fields.size(), empty ? nullptr : &provider);
  server.MarkDirty();
}

void H2Stream::OutputReady() {
  if (deferred) {
    deferred = false;
    nghttp2_session_resume_data(server.session(), id);
  }
  server.MarkDirty();
}

void H2Stream::Reset() {
  nghttp2_submit_rst_stream(server.session(), NGHTTP2_FLAG_NONE, id, NGHTTP2_INTERNAL_ERROR);
  server.MarkDirty();
}

}  // namespace

std::unique_ptr<H2Setup> MakeH2Setup() {
  return std::make_unique<Setup>();
}

std::unique_ptr<ServerProtocol> MakeH2Server(ServerConnection& connection) {
  return std::make_unique<H2Server>(connection);
}

}  // namespace allot::net
