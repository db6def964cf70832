#include "client/http_client.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "api/meta/v1.gen.h"
#include "client/connection_options.h"
#include "net/http_client.h"
#include "net/loop.h"
#include "text/json.h"
#include "text/value.h"

namespace allot::client {
namespace {

using base::Error;
using base::Reason;
using base::Result;

constexpr int kMaxAttempts = 5;
constexpr std::int64_t kMinWatchSeconds = 300;  // as client-go: five to ten minutes
constexpr std::int64_t kWatchSpread = 300;

/// A target under construction: path segments and query, escaped.
class Target {
 public:
  Target(const Resource& resource,
         std::string_view ns,
         std::string_view name,
         std::string_view subresource) {
    text_ = resource.group.empty() ? "/api/" : "/apis/" + std::string(resource.group) + "/";
    text_ += resource.version;
    if (resource.namespaced && !ns.empty()) {
      Segment("namespaces");
      Segment(ns);
    }
    Segment(resource.plural);
    if (!name.empty()) {
      Segment(name);
    }
    if (!subresource.empty()) {
      Segment(subresource);
    }
  }
  void Query(std::string_view key, std::string_view value) {
    if (!value.empty()) {
      text_ += queried_ ? '&' : '?';
      queried_ = true;
      text_ += key;
      text_ += '=';
      text_ += net::PercentEncode(value);
    }
  }
  void Query(std::string_view key, std::int64_t value) {
    if (value != 0) {
      Query(key, std::to_string(value));
    }
  }
  [[nodiscard]] std::string Take() { return std::move(text_); }

 private:
  void Segment(std::string_view segment) {
    text_ += '/';
    text_ += net::PercentEncode(segment);
  }

  std::string text_;
  bool queried_ = false;
};

void AddListQuery(const ListOptions& options, Target& target) {
  target.Query("labelSelector", options.label_selector);
  target.Query("fieldSelector", options.field_selector);
  target.Query("limit", options.limit);
  target.Query("continue", options.continue_token);
  if (options.continue_token.empty()) {
    target.Query("resourceVersion", options.revision);
  }
}

void AddWriteQuery(const Request& request, Target& target) {
  target.Query("fieldManager", request.options.field_manager);
  if (request.options.dry_run && request.verb != Verb::kDelete &&
      request.verb != Verb::kDeleteCollection) {
    target.Query("dryRun", "All");
  }
  if (request.verb == Verb::kPatch && request.patch_type == PatchType::kApply) {
    target.Query("force", request.options.force ? "true" : "");
  }
}

std::string_view PatchContentType(PatchType type) {
  switch (type) {
    case PatchType::kJson: return "application/json-patch+json";
    case PatchType::kMerge: return "application/merge-patch+json";
    case PatchType::kStrategicMerge: return "application/strategic-merge-patch+json";
    case PatchType::kApply: return "application/apply-patch+yaml";
  }
  return "";
}

std::string_view PropagationText(Propagation propagation) {
  switch (propagation) {
    case Propagation::kDefault: return "";
    case Propagation::kBackground: return "Background";
    case Propagation::kForeground: return "Foreground";
    case Propagation::kOrphan: return "Orphan";
  }
  return "";
}

/// DeleteOptions as JSON; "" when there is nothing to say.
std::string DeleteBody(const WriteOptions& options) {
  text::Value body = text::Value::Object();
  if (options.grace_period_seconds) {
    body.Set("gracePeriodSeconds", text::Value(*options.grace_period_seconds));
  }
  if (const std::string_view policy = PropagationText(options.propagation); !policy.empty()) {
    body.Set("propagationPolicy", text::Value(policy));
  }
  if (!options.preconditions.uid.empty()) {
    body["preconditions"].Set("uid", text::Value(options.preconditions.uid));
  }
  if (options.preconditions.revision != 0) {
    body["preconditions"].Set("resourceVersion",
                              text::Value(std::to_string(options.preconditions.revision)));
  }
  if (options.dry_run) {
    body["dryRun"].Append(text::Value("All"));
  }
  if (body.members().empty()) {
    return "";
  }
  body.Set("kind", text::Value("DeleteOptions"));
  body.Set("apiVersion", text::Value("v1"));
  return text::ToJson(body);
}

std::string_view Method(Verb verb) {
  switch (verb) {
    case Verb::kGet: return "GET";
    case Verb::kCreate: return "POST";
    case Verb::kUpdate: return "PUT";
    case Verb::kPatch: return "PATCH";
    case Verb::kDelete:
    case Verb::kDeleteCollection: return "DELETE";
  }
  return "";
}

/// What the answer is to be made of: the object, or its metadata where we know no more of the type.
std::string ShapeOf(const schema::TypeDesc& type, bool list) {
  if (&type != &api::Desc<api::meta::PartialObjectMetadata>()) {
    return "";
  }
  return list ? ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
              : ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
}

std::string AcceptOf(Format format, const schema::TypeDesc& type, bool list) {
  const std::string shape = ShapeOf(type, list);
  const std::string json = std::string(kJsonType) + shape;
  return format == Format::kProtobuf ? std::string(kProtobufType) + shape + "," + json : json;
}

net::ClientRequest ToNet(const Request& request, const HttpClientOptions& options) {
  net::ClientRequest out;
  out.method = Method(request.verb);
  out.timeout = options.timeout;
  out.headers.Add("accept", AcceptOf(options.format, *request.resource->type, /*list=*/false));
  Target target(*request.resource, request.ns, request.name, request.subresource);
  AddWriteQuery(request, target);
  switch (request.verb) {
    case Verb::kGet: break;
    case Verb::kCreate:
    case Verb::kUpdate: {
      const schema::TypeDesc& type =
          request.body_type != nullptr ? *request.body_type : *request.resource->type;
      const Revision revision =
          request.verb == Verb::kUpdate ? request.options.preconditions.revision : 0;
      out.headers.Add("content-type",
                      options.format == Format::kProtobuf ? kProtobufType : kJsonType);
      out.body = net::Bytes(EncodeBody(type, request.body.get(), revision, options.format));
      break;
    }
    case Verb::kPatch:
      out.headers.Add("content-type", PatchContentType(request.patch_type));
      out.body = net::Bytes::Copy(request.patch);
      break;
    case Verb::kDeleteCollection: AddListQuery(request.selector, target); [[fallthrough]];
    case Verb::kDelete:
      if (std::string body = DeleteBody(request.options); !body.empty()) {
        out.headers.Add("content-type", kJsonType);
        out.body = net::Bytes(std::move(body));
      }
      break;
  }
  out.target = target.Take();
  return out;
}

/// What a watch's callbacks and its handle share.
struct WatchState {
  WatchState(const schema::TypeDesc& type, WatchSink& receiver) : type(type), sink(&receiver) {}

  void OnHeaders(int code, const net::HeaderList& headers) {
    const std::lock_guard lock(mutex);
    status = code;
    if (code == 200) {
      splitter = std::make_unique<WatchSplitter>(type, FormatOf(headers.Get("content-type")));
    }
    changed.notify_all();
  }
  void OnData(std::string_view data) {
    const std::lock_guard lock(mutex);
    if (splitter == nullptr) {
      error_body.append(data.substr(0, kMaxErrorBody - std::min(kMaxErrorBody, error_body.size())));
      return;
    }
    if (sink == nullptr) {
      return;
    }
    auto events = std::make_shared<std::vector<WatchEvent>>();
    const auto fed = splitter->Feed(data, *events);
    if (!events->empty()) {
      sink->OnEvents(events);
    }
    if (!fed) {
      std::exchange(sink, nullptr)->OnClosed(fed.error());
    }
  }
  void OnEnd(Result<void> result) {
    const std::lock_guard lock(mutex);
    ended = true;
    outcome = std::move(result);
    if (splitter != nullptr && sink != nullptr) {
      const base::Status why =
          outcome ? base::Status(Reason::kTimeout, "the server ended the watch") : outcome.error();
      std::exchange(sink, nullptr)->OnClosed(why);
    }
    changed.notify_all();
  }

  static constexpr std::size_t kMaxErrorBody = 1U << 20U;

  const schema::TypeDesc& type;
  std::mutex mutex;  // held over calls of the sink, so that taking it away waits for them
  std::condition_variable changed;
  WatchSink* sink;
  std::unique_ptr<WatchSplitter> splitter;  // once the watch is accepted
  int status = 0;
  std::string error_body;
  bool ended = false;
  Result<void> outcome;
};

class HttpWatch final : public WatchHandle {
 public:
  HttpWatch(net::HttpClient& http, net::HttpClient::CallId call, std::shared_ptr<WatchState> state)
      : http_(http), call_(call), state_(std::move(state)) {}
  HttpWatch(const HttpWatch&) = delete;
  HttpWatch& operator=(const HttpWatch&) = delete;
  ~HttpWatch() override {
    {
      const std::lock_guard lock(state_->mutex);
      state_->sink = nullptr;
    }
    http_.Cancel(call_);
  }

 private:
  net::HttpClient& http_;
  net::HttpClient::CallId call_;
  std::shared_ptr<WatchState> state_;
};

}  // namespace

HttpClient::HttpClient(const HttpClientOptions& options,
                       std::unique_ptr<net::LoopThread> thread,
                       std::unique_ptr<net::HttpClient> http)
    : options_(options), thread_(std::move(thread)), http_(std::move(http)) {}

HttpClient::~HttpClient() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  stopped_changed_.notify_all();
  http_.reset();
  thread_.reset();
}

Result<std::unique_ptr<HttpClient>> HttpClient::Create(const ClientConfig& config,
                                                       std::string_view user_agent,
                                                       const HttpClientOptions& options) {
  auto thread = std::make_unique<net::LoopThread>("api-client");
  ALLOT_ASSIGN_OR_RETURN(
      auto http, net::HttpClient::Create(thread->loop(), ConnectionOptions(config, user_agent)));
  return std::unique_ptr<HttpClient>(new HttpClient(options, std::move(thread), std::move(http)));
}

bool HttpClient::WaitFor(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return !stopped_changed_.wait_for(lock, time, [this] { return stopped_; });
}

Result<net::ClientResponse> HttpClient::Send(const net::ClientRequest& request) {
  for (int attempt = 1;; ++attempt) {
    ALLOT_ASSIGN_OR_RETURN(net::ClientResponse response, http_->FetchBlocking(request));
    if (response.status < 400) {
      return response;
    }
    if (response.status == 429 && attempt < kMaxAttempts) {
      const std::string_view text = response.headers.Get("retry-after");
      std::int64_t seconds = 1;
      std::from_chars(text.data(), text.data() + text.size(), seconds);
      const auto wait = std::clamp<std::chrono::milliseconds>(
          std::chrono::seconds(std::clamp<std::int64_t>(seconds, 0, 3600)),
          std::chrono::milliseconds(10),
          options_.longest_wait);
      if (WaitFor(wait)) {
        continue;
      }
    }
    return Error(DecodeStatus(response.status, response.body));
  }
}

Result<Item> HttpClient::Do(const Request& request) {
  ALLOT_ASSIGN_OR_RETURN(const net::ClientResponse response, Send(ToNet(request, options_)));
  Item item;
  if (request.verb != Verb::kDeleteCollection) {
    // The answer of a subresource with a body of its own (pods/binding) is a Status or that body.
    const bool other_body =
        request.body_type != nullptr && request.body_type != request.resource->type;
    if (!other_body && !response.body.empty()) {
      ALLOT_ASSIGN_OR_RETURN(item,
                             DecodeItem(*request.resource->type,
                                        response.body,
                                        FormatOf(response.headers.Get("content-type"))));
    }
  }
  if (request.options.on_durable) {
    request.options.on_durable({});
  }
  return item;
}

Result<ListAnswer> HttpClient::List(const Resource& resource,
                                    std::string_view ns,
                                    const ListOptions& options) {
  Target target(resource, ns, "", "");
  AddListQuery(options, target);
  net::ClientRequest request;
  request.target = target.Take();
  request.timeout = options_.timeout;
  request.headers.Add("accept", AcceptOf(options_.format, *resource.type, /*list=*/true));
  ALLOT_ASSIGN_OR_RETURN(const net::ClientResponse response, Send(request));
  return DecodeList(*resource.type, response.body, FormatOf(response.headers.Get("content-type")));
}

Result<std::vector<ServedResource>> HttpClient::Served() {
  std::vector<ServedResource> out;
  for (const std::string_view page : {"/api", "/apis"}) {
    net::ClientRequest request;
    request.target = page;
    request.timeout = options_.timeout;
    request.headers.Add("accept", kDiscoveryType);
    ALLOT_ASSIGN_OR_RETURN(const net::ClientResponse response, Send(request));
    ALLOT_RETURN_IF_ERROR(catalog_.Read(response.body, out));
  }
  return out;
}

Result<std::unique_ptr<WatchHandle>> HttpClient::Watch(const Resource& resource,
                                                       std::string_view ns,
                                                       const WatchOptions& options,
                                                       WatchSink& sink) {
  Target target(resource, ns, "", "");
  target.Query("watch", "true");
  target.Query("labelSelector", options.label_selector);
  target.Query("fieldSelector", options.field_selector);
  target.Query("resourceVersion", options.after);
  target.Query("allowWatchBookmarks", options.bookmarks ? "true" : "");
  target.Query("timeoutSeconds", kMinWatchSeconds + (options.after * 7919) % kWatchSpread);
  net::ClientRequest request;
  request.target = target.Take();
  const std::string shape = ShapeOf(*resource.type, /*list=*/false);
  const std::string json = std::string(kJsonType) + shape;
  request.headers.Add("accept",
                      options_.format == Format::kProtobuf
                          ? std::string(kProtobufType) + shape + ";stream=watch," + json
                          : json);
  const auto state = std::make_shared<WatchState>(*resource.type, sink);
  net::ClientCallbacks callbacks;
  callbacks.on_headers = [state](int code, const net::HeaderList& headers) {
    state->OnHeaders(code, headers);
  };
  callbacks.on_data = [state](std::string_view data) {
    state->OnData(data);
  };
  callbacks.on_end = [state](Result<void> outcome) {
    state->OnEnd(std::move(outcome));
  };
  auto handle = std::make_unique<HttpWatch>(
      *http_, http_->Do(std::move(request), std::move(callbacks)), state);
  std::unique_lock lock(state->mutex);
  const bool answered = state->changed.wait_for(
      lock, options_.timeout, [&] { return state->status == 200 || state->ended; });
  if (state->status == 200) {
    return handle;
  }
  base::Status error(Reason::kTimeout, "the server did not answer the watch");
  if (answered) {
    error = state->status != 0 ? DecodeStatus(state->status, state->error_body)
                               : state->outcome.error();
  }
  lock.unlock();  // the handle takes it to end the call
  return Error(std::move(error));
}

}  // namespace allot::client
