// The client's side of HTTP/2 on nghttp2: many calls on one connection.
#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "net/client_connection.h"
#include "net/h2_session.h"

namespace allot::net {

namespace {

constexpr std::uint32_t kStreamWindow = 4U << 20U;
constexpr std::int32_t kConnectionWindow = 64 << 20;
constexpr std::uint32_t kStreamsBeforeSettings = 100;

class H2Client final : public ClientProtocol, public H2Session {
 public:
  explicit H2Client(ClientConnection& connection);

  [[nodiscard]] bool CanTake() const override;
  void Start(const CallPtr& call) override;
  void Cancel(const CallPtr& call) override;
  [[nodiscard]] bool OnData(std::string_view data, std::string& cause) override;
  void OnEof() override {}
  void Produce(std::string& out, std::size_t budget) override;
  [[nodiscard]] bool Finished() const override {
    return failed_ || (draining_ && calls_.empty()) || nghttp2_session_want_read(session()) == 0;
  }
  [[nodiscard]] std::size_t open_calls() const override { return calls_.size(); }
  bool Ping() override;
  void Detach(const std::string& cause) override;

 private:
  int OnHeader(const nghttp2_frame& frame, std::string_view name, std::string_view value) override;
  int OnFrame(const nghttp2_frame& frame) override;
  int OnBody(std::int32_t id, std::string_view piece) override;
  int OnStreamClose(std::int32_t id, std::uint32_t error) override;
  bool TakeBody(void* source, std::size_t size, std::string& out) override;

  struct Open {
    CallPtr call;
    std::size_t index = 0;
  };
  [[nodiscard]] Open* Find(std::int32_t id) const {
    return static_cast<Open*>(nghttp2_session_get_stream_user_data(session(), id));
  }
  CallPtr Take(Open* open);

  ClientConnection& connection_;
  std::vector<std::unique_ptr<Open>> calls_;
  std::vector<nghttp2_nv> fields_;
  bool settings_seen_ = false;
  bool draining_ = false;
  bool failed_ = false;
};

constexpr std::array<nghttp2_settings_entry, 2> kSettings = {
    {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0}, {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow}}};

H2Client::H2Client(ClientConnection& connection)
    : H2Session(Side::kClient, kSettings, kConnectionWindow), connection_(connection) {}

bool H2Client::CanTake() const {
  if (failed_ || draining_ || nghttp2_session_check_request_allowed(session()) == 0) {
    return false;
  }
  const std::uint32_t limit =
      settings_seen_
          ? nghttp2_session_get_remote_settings(session(), NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
          : kStreamsBeforeSettings;
  return calls_.size() < limit;
}

void H2Client::Start(const CallPtr& call) {
  ClientHost& host = connection_.host();
  const ClientRequest& request = call->request;
  const std::string path = host.prefix() + request.target;
  fields_.clear();
  fields_.push_back(H2Field(":method", request.method));
  fields_.push_back(H2Field(":scheme", host.https() ? "https" : "http"));
  fields_.push_back(H2Field(":authority", host.authority()));
  fields_.push_back(H2Field(":path", path));
  for (const HeaderList* list : {&host.options().headers, &request.headers}) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      const HeaderList::Field field = (*list)[i];
      fields_.push_back(H2Field(field.name, field.value));
    }
  }
  std::string token = host.BearerToken();
  if (!token.empty()) {
    token.insert(0, "Bearer ");
    fields_.push_back(H2Field("authorization", token));
  }
  std::array<char, 24> length{};
  if (!request.body.empty()) {
    const auto end =
        std::to_chars(length.data(), length.data() + length.size(), request.body.size());
    fields_.push_back(H2Field("content-length",
                              {length.data(), static_cast<std::size_t>(end.ptr - length.data())}));
  }
  auto open = std::make_unique<Open>();
  open->call = call;
  open->index = calls_.size();
  nghttp2_data_provider provider{};
  provider.source.ptr = call.get();
  provider.read_callback = [](nghttp2_session*,
                              std::int32_t,
                              std::uint8_t*,
                              std::size_t size,
                              std::uint32_t* flags,
                              nghttp2_data_source* source,
                              void*) -> ssize_t {
    const Call& sending = *static_cast<const Call*>(source->ptr);
    const std::size_t rest = sending.request.body.size() - sending.body_sent;
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (rest <= size) {
      *flags |= NGHTTP2_DATA_FLAG_EOF;
    }
    return static_cast<ssize_t>(std::min(rest, size));
  };
  const std::int32_t id = nghttp2_submit_request(session(),
                                                 nullptr,
                                                 fields_.data(),
                                                 fields_.size(),
                                                 request.body.empty() ? nullptr : &provider,
                                                 open.get());
  if (id < 0) {
    draining_ = true;  // stream numbers used up: another connection takes over
    host.Retry(call, nghttp2_strerror(id));
    return;
  }
  call->stream_id = id;
  calls_.push_back(std::move(open));
  connection_.MarkDirty();
}

CallPtr H2Client::Take(Open* open) {
  CallPtr call = std::move(open->call);
  const std::size_t index = open->index;
  calls_.back()->index = index;
  std::swap(calls_[index], calls_.back());
  calls_.pop_back();
  return call;
}

void H2Client::Cancel(const CallPtr& call) {
  for (const auto& open : calls_) {
    if (open->call == call) {
      // The stream's close callback takes the call off the list.
      nghttp2_submit_rst_stream(session(), NGHTTP2_FLAG_NONE, call->stream_id, NGHTTP2_CANCEL);
      connection_.MarkDirty();
      return;
    }
  }
}

bool H2Client::OnData(std::string_view data, std::string& cause) {
  if (const int error = Receive(data); error != 0) {
    cause = std::string("HTTP/2: ") + nghttp2_strerror(error);
    failed_ = true;
    return false;
  }
  if (nghttp2_session_want_read(session()) == 0 && nghttp2_session_want_write(session()) == 0) {
    cause = "the server ended the HTTP/2 connection";
    return false;
  }
  return true;
}

void H2Client::Produce(std::string& out, std::size_t budget) {
  failed_ = !SendInto(out, budget) || failed_;
}

bool H2Client::TakeBody(void* source, std::size_t size, std::string& out) {
  Call& call = *static_cast<Call*>(source);
  out.append(call.request.body.view().substr(call.body_sent, size));
  call.body_sent += size;
  return true;
}

int H2Client::OnHeader(const nghttp2_frame& frame, std::string_view name, std::string_view value) {
  Open* const open = Find(frame.hd.stream_id);
  if (frame.hd.type != NGHTTP2_HEADERS || open == nullptr || open->call->headers_delivered) {
    return 0;  // trailers
  }
  Call& call = *open->call;
  if (name == ":status") {
    call.status = 0;
    std::from_chars(value.data(), value.data() + value.size(), call.status);
    call.headers.Clear();
  } else {
    call.headers.Add(name, value);
  }
  return 0;
}

int H2Client::OnFrame(const nghttp2_frame& frame) {
  if (frame.hd.type == NGHTTP2_SETTINGS) {
    settings_seen_ = true;
  } else if (frame.hd.type == NGHTTP2_GOAWAY) {
    draining_ = true;
  } else if (frame.hd.type == NGHTTP2_HEADERS || frame.hd.type == NGHTTP2_DATA) {
    Open* const open = Find(frame.hd.stream_id);
    if (open == nullptr) {
      return 0;
    }
    const CallPtr call = open->call;
    if ((frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
      call->complete = true;
    }
    if (frame.hd.type == NGHTTP2_HEADERS && !call->headers_delivered && call->status >= 200) {
      call->DeliverHeaders();
    }
  }
  return 0;
}

int H2Client::OnBody(std::int32_t id, std::string_view piece) {
  if (Open* const open = Find(id); open != nullptr) {
    const CallPtr call = open->call;
    call->DeliverData(piece);
  }
  return 0;
}

int H2Client::OnStreamClose(std::int32_t id, std::uint32_t error) {
  Open* const open = Find(id);
  if (open == nullptr) {
    return 0;
  }
  nghttp2_session_set_stream_user_data(session(), id, nullptr);
  const CallPtr call = Take(open);
  ClientHost& host = connection_.host();
  if (call->complete && call->headers_delivered) {
    host.Finish(call, {});
  } else if (error == NGHTTP2_REFUSED_STREAM) {
    host.Retry(call, "the server refused the stream");
  } else {
    host.Finish(
        call,
        base::Error(base::Reason::kServiceUnavailable,
                    std::string("the server reset the stream: ") + nghttp2_http2_strerror(error)));
  }
  connection_.MarkReused();
  return 0;
}

bool H2Client::Ping() {
  return nghttp2_submit_ping(session(), NGHTTP2_FLAG_NONE, nullptr) == 0;
}

void H2Client::Detach(const std::string& cause) {
  failed_ = true;
  std::vector<std::unique_ptr<Open>> calls;
  calls.swap(calls_);
  for (const auto& open : calls) {
    const CallPtr& call = open->call;
    nghttp2_session_set_stream_user_data(session(), call->stream_id, nullptr);
    const bool safe = call->request.method == "GET" || call->request.method == "HEAD";
    if (safe && !call->headers_delivered && connection_.reused()) {
      connection_.host().Retry(call, cause);
      continue;
    }
    connection_.host().Finish(call, base::Error(base::Reason::kServiceUnavailable, cause));
  }
}

}  // namespace

std::unique_ptr<ClientProtocol> MakeH2Client(ClientConnection& connection) {
  return std::make_unique<H2Client>(connection);
}

}  // namespace allot::net
