// The server's side of HTTP/1.x: one request at a time, the next one parsed when its answer is
// complete.
#include <utility>

#include <fmt/format.h>

#include "net/h1_parser.h"
#include "net/server_connection.h"
#include "net/server_stream.h"

namespace allot::net {

namespace {

/// Bytes of further requests held while one is being answered.
constexpr std::size_t kMaxPipelined = 64 * 1024;

void AppendCanonical(std::string& out, std::string_view name) {
  bool upper = true;
  for (const char c : name) {
    out.push_back(upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
    upper = c == '-';
  }
}

void AppendHeader(std::string& out, std::string_view name, std::string_view value) {
  AppendCanonical(out, name);
  out += ": ";
  out += SafeHeaderValue(value);
  out += "\r\n";
}

class H1Server;

class H1Stream final : public ServerStream {
 public:
  H1Stream(ServerConnection& connection, H1Server& server)
      : ServerStream(connection), server_(server) {}

  using ServerStream::TakeOutput;

 private:
  void Begin(int status, const HeaderList& headers, std::int64_t content_length) override;
  void OutputReady() override { connection()->MarkDirty(); }
  void Reset() override { connection()->Close(); }

  H1Server& server_;
};

class H1Server final : public ServerProtocol {
 public:
  explicit H1Server(ServerConnection& connection)
      : connection_(connection),
        limits_(connection.host().options().limits),
        parser_(H1Parser::Kind::kRequest, limits_.header_bytes),
        message_since_(connection.host().loop().now()),
        last_input_(message_since_) {}
  H1Server(const H1Server&) = delete;
  H1Server& operator=(const H1Server&) = delete;
  ~H1Server() override { *alive_ = false; }

  void OnData(std::string_view data) override;
  bool OnEof() override;
  void Produce(std::string& out, std::size_t budget) override;
  [[nodiscard]] bool WantsRead() const override {
    return !finished_ && (stream_ == nullptr || input_.size() < kMaxPipelined);
  }
  [[nodiscard]] bool Finished() const override { return finished_; }
  [[nodiscard]] bool Idle() const override {
    return stream_ == nullptr && !parser_.in_message() && input_.empty();
  }
  [[nodiscard]] bool CheckTime(base::MonoTime now) override;
  void GoAway() override;
  void Detach() override;

  /// Writes the status line and headers of the current answer.
  void WriteHead(int status, const HeaderList& headers, std::int64_t content_length);

 private:
  void Process();
  /// Parses from `input` until a request is dispatched or bytes run out.
  void Parse(std::string_view& input);
  void BeginRequest();
  void AddBody(std::string_view piece);
  void EndRequest();
  void Refuse(int status, std::string_view message);
  void FinishAnswer();

  ServerConnection& connection_;
  const ServerLimits& limits_;
  H1Parser parser_;
  std::string input_;
  std::string head_out_;
  std::unique_ptr<Request> request_;
  std::shared_ptr<H1Stream> stream_;  // being answered
  bool chunked_ = false;
  bool keep_alive_ = true;
  bool http10_ = false;
  bool draining_ = false;
  bool finished_ = false;
  bool first_ = true;
  base::MonoTime message_since_;
  base::MonoTime last_input_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

void H1Stream::Begin(int status, const HeaderList& headers, std::int64_t content_length) {
  server_.WriteHead(status, headers, content_length);
  connection()->MarkDirty();
}

void H1Server::OnData(std::string_view data) {
  if (finished_) {
    return;
  }
  last_input_ = connection_.host().loop().now();
  if (stream_ == nullptr && !parser_.in_message() && input_.empty()) {
    message_since_ = last_input_;
  }
  if (input_.empty() && stream_ == nullptr) {
    Parse(data);
    input_.append(data);
    return;
  }
  input_.append(data);
  if (stream_ == nullptr) {
    Process();
  }
}

void H1Server::Process() {
  std::string_view rest = input_;
  Parse(rest);
  input_.erase(0, input_.size() - rest.size());
  if (input_.empty() && input_.capacity() > kMaxPipelined) {
    input_ = std::string();
  }
}

void H1Server::Parse(std::string_view& input) {
  while (stream_ == nullptr && !finished_) {
    std::string_view piece;
    switch (parser_.Next(input, piece)) {
      case H1Parser::Event::kNeedMore: return;
      case H1Parser::Event::kHead: BeginRequest(); break;
      case H1Parser::Event::kBody: AddBody(piece); break;
      case H1Parser::Event::kEnd: EndRequest(); break;
      case H1Parser::Event::kError:
        connection_.host().work().protocol_errors.fetch_add(1, std::memory_order_relaxed);
        http10_ = false;
        Refuse(parser_.error_status(), parser_.error_message());
        return;
    }
  }
}

void H1Server::BeginRequest() {
  first_ = false;
  last_input_ = connection_.host().loop().now();
  request_ = std::make_unique<Request>();
  request_->method = parser_.method();
  request_->headers = std::move(parser_.headers());
  request_->connection = connection_.info();
  keep_alive_ = parser_.keep_alive();
  http10_ = parser_.minor_version() == 0;
  if (request_->method == "CONNECT") {
    Refuse(405, "CONNECT is not supported");
    return;
  }
  if (!SplitTarget(parser_.target(), *request_)) {
    Refuse(400, "malformed request target");
    return;
  }
  if (!parser_.has_body()) {
    return;
  }
  if (parser_.content_length() != H1Parser::kUnknownLength &&
      parser_.content_length() > limits_.body_bytes) {
    Refuse(413, BodyTooLarge(limits_.body_bytes));
    return;
  }
  const std::string_view expect = request_->headers.Get("expect");
  if (expect.empty() || http10_) {
    return;
  }
  if (!HasToken(expect, "100-continue")) {
    Refuse(417, "unknown expectation");
    return;
  }
  head_out_ += "HTTP/1.1 100 Continue\r\n\r\n";
  connection_.MarkDirty();
}

void H1Server::AddBody(std::string_view piece) {
  std::string& body = request_->body;
  if (piece.size() > limits_.body_bytes - body.size()) {
    Refuse(413, BodyTooLarge(limits_.body_bytes));
    return;
  }
  if (body.empty() && parser_.content_length() != H1Parser::kUnknownLength) {
    body.reserve(static_cast<std::size_t>(parser_.content_length()));
  }
  body.append(piece);
}

void H1Server::EndRequest() {
  stream_ = std::make_shared<H1Stream>(connection_, *this);
  stream_->head_request = request_->method == "HEAD";
  auto request = std::move(request_);
  const auto writer = stream_->Handout();
  connection_.host().Dispatch(std::move(request), writer);
}

/// Answers in net's own words and closes: what follows on the wire cannot be trusted or is not
/// wanted.
void H1Server::Refuse(int status, std::string_view message) {
  keep_alive_ = false;
  const bool head = request_ != nullptr && request_->method == "HEAD";
  request_.reset();
  stream_ = std::make_shared<H1Stream>(connection_, *this);
  stream_->head_request = head;
  const auto held = stream_;
  connection_.host().SendError(*held, status, message);
}

void H1Server::WriteHead(int status, const HeaderList& headers, std::int64_t content_length) {
  const bool bodyless = status == 204 || status == 304;
  chunked_ = content_length < 0 && !http10_ && !bodyless;
  if (content_length < 0 && http10_) {
    keep_alive_ = false;  // the end of the connection is the end of the body
  }
  if (draining_) {
    keep_alive_ = false;
  }
  std::string& out = head_out_;
  fmt::format_to(std::back_inserter(out), "HTTP/1.1 {} {}\r\n", status, StatusText(status));
  for (std::size_t i = 0; i < headers.size(); ++i) {
    const HeaderList::Field field = headers[i];
    if (!IsConnectionHeader(field.name)) {
      AppendHeader(out, field.name, field.value);
    }
  }
  if (content_length >= 0 && !bodyless) {
    fmt::format_to(std::back_inserter(out), "Content-Length: {}\r\n", content_length);
  } else if (chunked_) {
    out += "Transfer-Encoding: chunked\r\n";
  }
  AppendHeader(out, "date", connection_.host().date());
  if (!keep_alive_) {
    out += "Connection: close\r\n";
  } else if (http10_) {
    out += "Connection: keep-alive\r\n";
  }
  out += "\r\n";
}

void H1Server::Produce(std::string& out, std::size_t budget) {
  if (!head_out_.empty()) {
    out += head_out_;
    head_out_.clear();
  }
  if (stream_ == nullptr || !stream_->started()) {
    return;
  }
  const bool chunks = chunked_ && !stream_->head_request;
  while (stream_->queued_bytes() > 0 && out.size() < budget) {
    const std::size_t size = std::min(stream_->queued_bytes(), budget - out.size());
    if (chunks) {
      fmt::format_to(std::back_inserter(out), "{:x}\r\n", size);
    }
    stream_->TakeOutput(size, out);
    if (chunks) {
      out += "\r\n";
    }
  }
  if (stream_->ended() && stream_->queued_bytes() == 0) {
    if (chunks) {
      out += "0\r\n\r\n";
    }
    FinishAnswer();
  }
}

void H1Server::FinishAnswer() {
  const bool was_full = input_.size() >= kMaxPipelined;
  const auto stream = std::move(stream_);
  stream_ = nullptr;
  stream->Detach();
  connection_.set_idle_since(connection_.host().loop().now());
  message_since_ = connection_.idle_since();
  if (!keep_alive_ || draining_) {
    finished_ = true;
    return;
  }
  if (!input_.empty()) {
    connection_.RunLater([this, alive = alive_] {
      if (*alive && stream_ == nullptr && !finished_) {
        Process();
      }
    });
  }
  if (was_full) {
    connection_.ResumeReading();
  }
}

bool H1Server::OnEof() {
  if (stream_ == nullptr || stream_->streaming()) {
    return false;
  }
  keep_alive_ = false;
  draining_ = true;  // the answer is already on its way: close after it
  return true;
}

bool H1Server::CheckTime(base::MonoTime now) {
  if (stream_ != nullptr || finished_) {
    return true;
  }
  if (request_ != nullptr) {
    return now - last_input_ <= limits_.body_timeout;
  }
  if (parser_.in_message() || first_) {
    return now - message_since_ <= limits_.header_timeout;
  }
  return now - connection_.idle_since() <= limits_.idle_timeout;
}

void H1Server::GoAway() {
  draining_ = true;
  finished_ = finished_ || Idle();
}

void H1Server::Detach() {
  if (const auto stream = std::move(stream_); stream != nullptr) {
    stream->Detach();
  }
  stream_ = nullptr;
  finished_ = true;
}

}  // namespace

std::unique_ptr<ServerProtocol> MakeH1Server(ServerConnection& connection) {
  return std::make_unique<H1Server>(connection);
}

}  // namespace allot::net
