// The server's side of HTTP/2 on nghttp2: frames in, frames out; bodies are sent from the streams'
// queues without a copy in between.
#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "net/h2_session.h"
#include "net/server_connection.h"
#include "net/server_stream.h"

namespace allot::net {

namespace {

// As the API server of Kubernetes: 256 KiB a stream, and a connection's worth of them.
constexpr std::uint32_t kStreamWindow = 256 * 1024;
constexpr std::size_t kMaxDiscarded = 64U << 20U;
constexpr std::size_t kFieldOverhead = 32;  // what RFC 9113 6.5.2 counts a field for

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
  bool headed = false;    // the headers are complete
  bool received = false;  // the request is complete
  bool refused = false;   // answered by net; what still comes of the request is thrown away
  bool deferred = false;  // nghttp2 waits for resume
  base::MonoTime last_input;

 private:
  void Begin(int status, const HeaderList& headers, std::int64_t content_length) override;
  void OutputReady() override;
  void Reset() override;
};

class H2Server final : public ServerProtocol, public H2Session {
 public:
  explicit H2Server(ServerConnection& connection);

  void OnData(std::string_view data) override;
  bool OnEof() override { return false; }
  void Produce(std::string& out, std::size_t budget) override;
  [[nodiscard]] bool WantsRead() const override { return !failed_; }
  [[nodiscard]] bool Finished() const override;
  [[nodiscard]] bool Idle() const override { return streams_.empty(); }
  [[nodiscard]] bool CheckTime(base::MonoTime now) override;
  void GoAway() override;
  void Detach() override;

  [[nodiscard]] std::vector<nghttp2_nv>& scratch() { return scratch_; }
  [[nodiscard]] ServerHost& host() { return connection_.host(); }
  void MarkDirty() { connection_.MarkDirty(); }

 private:
  int OnBeginHeaders(const nghttp2_frame& frame) override;
  int OnHeader(const nghttp2_frame& frame, std::string_view name, std::string_view value) override;
  int OnFrame(const nghttp2_frame& frame) override;
  int OnBody(std::int32_t id, std::string_view piece) override;
  int OnStreamClose(std::int32_t id, std::uint32_t error) override;
  bool TakeBody(void* source, std::size_t size, std::string& out) override;

  [[nodiscard]] H2Stream* Find(std::int32_t id) const {
    return static_cast<H2Stream*>(nghttp2_session_get_stream_user_data(session(), id));
  }
  void HeadersDone(H2Stream& stream, bool end);
  void RequestDone(H2Stream& stream);
  void Refuse(H2Stream& stream, int status, std::string_view message);

  ServerConnection& connection_;
  const ServerLimits& limits_;
  std::vector<std::shared_ptr<H2Stream>> streams_;
  std::vector<nghttp2_nv> scratch_;
  bool failed_ = false;
  bool draining_ = false;
  bool detached_ = false;
};

std::array<nghttp2_settings_entry, 3> SettingsOf(const ServerLimits& limits) {
  return {{
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits.streams_per_connection},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(limits.header_bytes)},
  }};
}

std::int32_t WindowOf(const ServerLimits& limits) {
  const std::uint64_t window =
      std::uint64_t{kStreamWindow} * std::max<std::uint32_t>(limits.streams_per_connection, 1);
  return static_cast<std::int32_t>(std::min<std::uint64_t>(window, 0x7FFFFFFF));
}

H2Server::H2Server(ServerConnection& connection)
    : H2Session(Side::kServer,
                SettingsOf(connection.host().options().limits),
                WindowOf(connection.host().options().limits)),
      connection_(connection),
      limits_(connection.host().options().limits) {}

void H2Server::OnData(std::string_view data) {
  if (failed_ || detached_) {
    return;
  }
  if (Receive(data) != 0 || nghttp2_session_want_read(session()) == 0) {
    host().work().protocol_errors.fetch_add(1, std::memory_order_relaxed);
    failed_ = true;  // nghttp2 has queued the GOAWAY, where one makes sense
  }
}

void H2Server::Produce(std::string& out, std::size_t budget) {
  if (!detached_ && !SendInto(out, budget)) {
    failed_ = true;
  }
}

bool H2Server::Finished() const {
  return failed_ || (draining_ && streams_.empty()) ||
         (nghttp2_session_want_read(session()) == 0 && nghttp2_session_want_write(session()) == 0);
}

int H2Server::OnBeginHeaders(const nghttp2_frame& frame) {
  if (frame.hd.type != NGHTTP2_HEADERS || frame.headers.cat != NGHTTP2_HCAT_REQUEST) {
    return 0;
  }
  if (draining_) {  // above the GOAWAY's last stream: the client repeats it elsewhere
    nghttp2_submit_rst_stream(
        session(), NGHTTP2_FLAG_NONE, frame.hd.stream_id, NGHTTP2_REFUSED_STREAM);
    return 0;
  }
  auto stream = std::make_shared<H2Stream>(connection_, *this, frame.hd.stream_id);
  stream->index = streams_.size();
  stream->last_input = host().loop().now();
  stream->request->connection = connection_.info();
  nghttp2_session_set_stream_user_data(session(), frame.hd.stream_id, stream.get());
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
  stream.headed = true;
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
    Refuse(stream, 413, BodyTooLarge(limits_.body_bytes));
    return;
  }
  request.body.reserve(static_cast<std::size_t>(size));
  if (HasToken(request.headers.Get("expect"), "100-continue")) {
    const nghttp2_nv status = H2Field(":status", "100");
    nghttp2_submit_headers(session(), NGHTTP2_FLAG_NONE, stream.id, nullptr, &status, 1, nullptr);
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
      nghttp2_submit_rst_stream(session(), NGHTTP2_FLAG_NONE, id, NGHTTP2_NO_ERROR);
    }
    return 0;
  }
  std::string& body = stream->request->body;
  if (piece.size() > limits_.body_bytes - body.size()) {
    Refuse(*stream, 413, BodyTooLarge(limits_.body_bytes));
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

int H2Server::OnStreamClose(std::int32_t id, std::uint32_t /*error*/) {
  H2Stream* const found = Find(id);
  if (found == nullptr) {
    return 0;
  }
  nghttp2_session_set_stream_user_data(session(), id, nullptr);
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

bool H2Server::TakeBody(void* source, std::size_t size, std::string& out) {
  H2Stream& stream = *static_cast<H2Stream*>(source);
  if (size > stream.queued_bytes()) {
    return false;  // detached meanwhile
  }
  stream.TakeOutput(size, out);
  return true;
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
    if (!stream->headed && now - stream->last_input > limits_.header_timeout) {
      return false;  // nothing else can come on the connection before the rest of the headers
    }
    const bool slow_request = !stream->received && now - stream->last_input > limits_.body_timeout;
    const bool stalled =
        stream->queued_bytes() > 0 && now - stream->last_progress() > limits_.stall_timeout;
    if (slow_request || stalled) {
      host().work().timeouts.fetch_add(1, std::memory_order_relaxed);
      nghttp2_submit_rst_stream(session(), NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_CANCEL);
      connection_.MarkDirty();
    }
  }
  return true;
}

void H2Server::GoAway() {
  if (!draining_ && !detached_) {
    draining_ = true;
    nghttp2_submit_goaway(session(),
                          NGHTTP2_FLAG_NONE,
                          nghttp2_session_get_last_proc_stream_id(session()),
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
    nghttp2_session_set_stream_user_data(session(), stream->id, nullptr);
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
  fields.push_back(H2Field(":status", {status_text.data(), 3}));
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
    fields.push_back(H2Field(field.name, value));
  }
  if (content_length >= 0 && status != 204 && status != 304) {
    const auto end =
        std::to_chars(length_text.data(), length_text.data() + length_text.size(), content_length);
    fields.push_back(
        H2Field("content-length",
                {length_text.data(), static_cast<std::size_t>(end.ptr - length_text.data())}));
  }
  fields.push_back(H2Field("date", server.host().date()));
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

std::unique_ptr<ServerProtocol> MakeH2Server(ServerConnection& connection) {
  return std::make_unique<H2Server>(connection);
}

}  // namespace allot::net
