#include "client/rest.h"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "client/connection_options.h"
#include "net/http_client.h"
#include "net/loop.h"
#include "text/json.h"
#include "text/value.h"

namespace allot::client {
namespace {

/// The text of a Warning header: `299 - "text"`.
std::string WarningText(std::string_view value) {
  const std::size_t open = value.find('"');
  const std::size_t close = value.rfind('"');
  if (open == std::string_view::npos || close <= open) {
    return std::string(value);
  }
  std::string text;
  for (std::size_t i = open + 1; i < close; ++i) {
    if (value[i] == '\\' && i + 1 < close) {
      ++i;
    }
    text += value[i];
  }
  return text;
}

net::ClientRequest ToNet(const RestRequest& request) {
  net::ClientRequest out;
  out.method = request.method;
  out.target = request.target;
  out.headers.Add("accept", request.accept);
  if (!request.content_type.empty()) {
    out.headers.Add("content-type", request.content_type);
  }
  out.body = net::Bytes::Copy(request.body);
  out.timeout = request.timeout;
  return out;
}

/// What a streaming call and the loop's callbacks share.
struct StreamState {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::string pending;  // bytes not handed out yet
  int status = 0;
  bool ended = false;
  base::Result<void> outcome;
};

class NetRestClient final : public RestClient {
 public:
  NetRestClient(ClientConfig config) : config_(std::move(config)), thread_("rest-client") {}
  ~NetRestClient() override {
    http_.reset();
    thread_.StopAndJoin();
  }
  NetRestClient(const NetRestClient&) = delete;
  NetRestClient& operator=(const NetRestClient&) = delete;

  base::Result<void> Open(std::string_view user_agent) {
    ALLOT_ASSIGN_OR_RETURN(
        http_, net::HttpClient::Create(thread_.loop(), ConnectionOptions(config_, user_agent)));
    return {};
  }

  base::Result<RestResponse> Send(const RestRequest& request) override {
    ALLOT_ASSIGN_OR_RETURN(net::ClientResponse answer, http_->FetchBlocking(ToNet(request)));
    if (answer.status >= 400) {
      return base::Error(StatusFromBody(answer.status, answer.body));
    }
    RestResponse response{.status = answer.status,
                          .content_type = std::string(answer.headers.Get("content-type")),
                          .body = std::move(answer.body),
                          .warnings = {}};
    for (std::size_t i = 0; i < answer.headers.size(); ++i) {
      if (answer.headers[i].name == "warning") {
        response.warnings.push_back(WarningText(answer.headers[i].value));
      }
    }
    return response;
  }

  base::Result<void> Stream(const RestRequest& request,
                            const std::function<bool(std::string_view line)>& on_line,
                            const std::stop_token& stop) override {
    const auto state = std::make_shared<StreamState>();
    const net::HttpClient::CallId call = http_->Do(ToNet(request), CallbacksOf(state));
    std::string buffer;
    bool wanted = true;
    while (wanted) {
      {
        std::unique_lock lock(state->mutex);
        state->changed.wait(lock, stop, [&] { return state->ended || !state->pending.empty(); });
        if (stop.stop_requested() || (state->ended && state->pending.empty())) {
          break;
        }
        buffer += std::exchange(state->pending, {});
        if (state->status >= 400) {
          continue;  // an error answer: collect it whole
        }
      }
      std::size_t begin = 0;
      for (std::size_t end = 0; wanted && (end = buffer.find('\n', begin)) != std::string::npos;
           begin = end + 1) {
        wanted = on_line(std::string_view(buffer).substr(begin, end - begin));
      }
      buffer.erase(0, begin);
    }
    const std::lock_guard lock(state->mutex);
    if (!state->ended) {
      http_->Cancel(call);
      return {};
    }
    if (state->status >= 400) {
      return base::Error(StatusFromBody(state->status, buffer));
    }
    return state->outcome;
  }

  [[nodiscard]] const ClientConfig& config() const override { return config_; }

 private:
  static net::ClientCallbacks CallbacksOf(const std::shared_ptr<StreamState>& state) {
    net::ClientCallbacks callbacks;
    callbacks.on_headers = [state](int status, const net::HeaderList&) {
      const std::lock_guard lock(state->mutex);
      state->status = status;
    };
    callbacks.on_data = [state](std::string_view data) {
      const std::lock_guard lock(state->mutex);
      state->pending += data;
      state->changed.notify_all();
    };
    callbacks.on_end = [state](base::Result<void> outcome) {
      const std::lock_guard lock(state->mutex);
      state->ended = true;
      state->outcome = std::move(outcome);
      state->changed.notify_all();
    };
    return callbacks;
  }

  ClientConfig config_;
  net::LoopThread thread_;
  std::unique_ptr<net::HttpClient> http_;
};

}  // namespace

base::Result<std::unique_ptr<RestClient>> RestClient::Create(const ClientConfig& config,
                                                             std::string_view user_agent) {
  auto client = std::make_unique<NetRestClient>(config);
  ALLOT_RETURN_IF_ERROR(client->Open(user_agent));
  return client;
}

base::Status StatusFromBody(int code, std::string_view body) {
  const auto parsed = text::ParseJson(body);
  if (!parsed || parsed->StringAt({"kind"}) != "Status") {
    const std::string text(body.substr(0, 1000));
    base::Status status(
        code == 401   ? base::Reason::kUnauthorized
        : code == 403 ? base::Reason::kForbidden
        : code == 404 ? base::Reason::kNotFound
                      : base::Reason::kUnknown,
        "the server answered " + std::to_string(code) + (text.empty() ? "" : ": " + text));
    status.set_code(code);
    return status;
  }
  base::Status status(base::ReasonFromText(parsed->StringAt({"reason"})),
                      std::string(parsed->StringAt({"message"})));
  const text::Value* const said = parsed->Find("code");
  status.set_code(said != nullptr && said->AsInt() >= 400 ? static_cast<int>(said->AsInt()) : code);
  const text::Value* const details = parsed->Find("details");
  if (details == nullptr) {
    return status;
  }
  base::StatusDetails& out = status.mutable_details();
  out.name = details->StringAt({"name"});
  out.group = details->StringAt({"group"});
  out.kind = details->StringAt({"kind"});
  out.uid = details->StringAt({"uid"});
  if (const text::Value* const seconds = details->Find("retryAfterSeconds"); seconds != nullptr) {
    out.retry_after_seconds = static_cast<std::int32_t>(seconds->AsInt());
  }
  if (const text::Value* const causes = details->Find("causes"); causes != nullptr) {
    for (const text::Value& cause : causes->items()) {
      out.causes.push_back({.reason = std::string(cause.StringAt({"reason"})),
                            .message = std::string(cause.StringAt({"message"})),
                            .field = std::string(cause.StringAt({"field"}))});
    }
  }
  return status;
}

std::string EscapeUrl(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4U];
      out += kHex[byte & 15U];
    }
  }
  return out;
}

}  // namespace allot::client
