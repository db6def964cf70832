// The client's side of HTTP/1.1: one call at a time.
#include <utility>

#include <fmt/format.h>

#include "net/client_connection.h"
#include "net/h1_parser.h"

namespace allot::net {

namespace {

constexpr std::size_t kHeaderLimit = 1U << 20U;

bool IsIdempotent(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "OPTIONS";
}

class H1Client final : public ClientProtocol {
 public:
  explicit H1Client(ClientConnection& connection)
      : connection_(connection), parser_(H1Parser::Kind::kResponse, kHeaderLimit) {}

  [[nodiscard]] bool CanTake() const override { return call_ == nullptr && !finished_; }
  void Start(const CallPtr& call) override;
  void Cancel(const CallPtr& call) override;
  [[nodiscard]] bool OnData(std::string_view data, std::string& cause) override;
  void OnEof() override;
  void Produce(std::string& out, std::size_t budget) override;
  [[nodiscard]] bool Finished() const override { return finished_ && call_ == nullptr; }
  [[nodiscard]] std::size_t open_calls() const override { return call_ == nullptr ? 0 : 1; }
  bool Ping() override { return false; }
  void Detach(const std::string& cause) override;

 private:
  void FinishCall();

  ClientConnection& connection_;
  H1Parser parser_;
  CallPtr call_;
  std::string head_out_;
  std::string input_;
  bool got_bytes_ = false;  // of the current answer
  bool finished_ = false;
};

void H1Client::Start(const CallPtr& call) {
  call_ = call;
  got_bytes_ = false;
  ClientHost& host = connection_.host();
  const ClientRequest& request = call->request;
  std::string& out = head_out_;
  fmt::format_to(std::back_inserter(out),
                 "{} {}{} HTTP/1.1\r\nHost: {}\r\n",
                 request.method,
                 host.prefix(),
                 request.target,
                 host.authority());
  for (const HeaderList* list : {&host.options().headers, &request.headers}) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      const HeaderList::Field field = (*list)[i];
      fmt::format_to(std::back_inserter(out), "{}: {}\r\n", field.name, field.value);
    }
  }
  if (const std::string token = host.BearerToken(); !token.empty()) {
    fmt::format_to(std::back_inserter(out), "Authorization: Bearer {}\r\n", token);
  }
  if (!request.body.empty() || !IsIdempotent(request.method)) {
    fmt::format_to(std::back_inserter(out), "Content-Length: {}\r\n", request.body.size());
  }
  out += "\r\n";
  if (request.method == "HEAD") {
    parser_.ExpectNoBody();
  }
  connection_.MarkDirty();
}

void H1Client::Cancel(const CallPtr& call) {
  if (call_ == call) {
    call_ = nullptr;
    connection_.Close("cancelled");
  }
}

void H1Client::Produce(std::string& out, std::size_t budget) {
  out += head_out_;
  head_out_.clear();
  if (call_ != nullptr && call_->body_sent < call_->request.body.size() && out.size() < budget) {
    const std::string_view rest = call_->request.body.view().substr(call_->body_sent);
    const std::string_view piece = rest.substr(0, budget - out.size());
    out += piece;
    call_->body_sent += piece.size();
  }
}

bool H1Client::OnData(std::string_view data, std::string& cause) {
  if (call_ == nullptr) {
    cause = "the server sent bytes nobody asked for";
    return false;
  }
  got_bytes_ = true;
  std::string_view input = data;
  if (!input_.empty()) {
    input_.append(data);
    input = input_;
  }
  while (call_ != nullptr) {
    std::string_view piece;
    const H1Parser::Event event = parser_.Next(input, piece);
    if (event == H1Parser::Event::kNeedMore) {
      break;
    }
    if (event == H1Parser::Event::kError) {
      cause = "malformed answer: " + parser_.error_message();
      return false;
    }
    const bool interim = parser_.status() < 200;
    if (event == H1Parser::Event::kHead && !interim) {
      call_->status = parser_.status();
      call_->headers = std::move(parser_.headers());
      const CallPtr call = call_;
      call->DeliverHeaders();
    } else if (event == H1Parser::Event::kBody) {
      const CallPtr call = call_;
      call->DeliverData(piece);
    } else if (event == H1Parser::Event::kEnd && !interim) {
      FinishCall();
    }
  }
  std::string rest(input);
  input_.swap(rest);
  if (finished_ && call_ == nullptr) {
    cause = "connection closed";
    return false;
  }
  return true;
}

void H1Client::FinishCall() {
  // A body not sent to its end (the server answered early) leaves the connection unusable.
  finished_ = !parser_.keep_alive() || call_->body_sent < call_->request.body.size();
  connection_.MarkReused();
  const CallPtr call = std::exchange(call_, nullptr);
  call->complete = true;
  connection_.host().Finish(call, {});
}

void H1Client::OnEof() {
  if (call_ != nullptr && parser_.in_message() && parser_.AtEof() == H1Parser::Event::kEnd) {
    FinishCall();
  }
}

void H1Client::Detach(const std::string& cause) {
  finished_ = true;
  const CallPtr call = std::exchange(call_, nullptr);
  if (call == nullptr) {
    return;
  }
  const bool safe = IsIdempotent(call->request.method) || call->body_sent == 0;
  if (!got_bytes_ && connection_.reused() && safe) {
    connection_.host().Retry(call, cause);  // it had idled too long for the server
    return;
  }
  connection_.host().Finish(call, base::Error(base::Reason::kServiceUnavailable, cause));
}

}  // namespace

std::unique_ptr<ClientProtocol> MakeH1Client(ClientConnection& connection) {
  return std::make_unique<H1Client>(connection);
}

}  // namespace allot::net
