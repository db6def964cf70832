// Handler: the way in: identity, permission, route. Reading is in handler_read.cc, writing in
// handler_write.cc.
#include "apiserver/handler.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "apiserver/discovery.h"
#include "apiserver/errors.h"
#include "apiserver/openapi.h"

namespace allot::apiserver {
namespace {

using base::Reason;
using base::Result;

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

/// What the request does to its resource; nullopt for methods that do nothing.
std::optional<Verb> VerbOf(const net::Request& request, const RequestPath& path) {
  const bool named = !path.name.empty();
  const std::string& method = request.method;
  if (method == "GET" || method == "HEAD") {
    if (named) {
      return Verb::kGet;
    }
    return QueryBool(request.query, "watch") ? Verb::kWatch : Verb::kList;
  }
  if (method == "POST") {
    return Verb::kCreate;
  }
  if (method == "PUT") {
    return Verb::kUpdate;
  }
  if (method == "PATCH") {
    return Verb::kPatch;
  }
  if (method == "DELETE") {
    return named ? Verb::kDelete : Verb::kDeleteCollection;
  }
  return std::nullopt;
}

/// Whether the scope of the path (in a namespace, named) suits the resource and the verb.
Result<void> CheckScope(const api::KindInfo& info, const RequestPath& path, Verb verb) {
  const bool in_namespace = !path.name_space.empty() && info.resource != "namespaces";
  if (in_namespace && !info.namespaced) {
    return base::Error(NoSuchResourceError());
  }
  if (info.namespaced && !in_namespace) {
    if (!path.name.empty()) {
      return base::Error(NoSuchResourceError());
    }
    if (verb != Verb::kList && verb != Verb::kWatch) {
      return base::Error(MethodNotAllowedError());
    }
  }
  return {};
}

Result<IncludeObject> ReadInclude(const net::QueryParameters& query) {
  const std::string_view text = query.Get("includeObject");
  if (text.empty() || text == "Metadata") {
    return IncludeObject::kMetadata;
  }
  if (text == "Object") {
    return IncludeObject::kObject;
  }
  if (text == "None") {
    return IncludeObject::kNone;
  }
  return base::Error(BadRequestError(
      fmt::format("Unable to convert to Table as requested: includeObject: Invalid value: \"{}\": "
                  "must be 'Metadata', 'Object', 'None', or empty",
                  text)));
}

/// The server's own type as error texts print it.
std::string GoTypeName(const Resource& resource, bool list) {
  const api::KindInfo* const stored = api::FindType(resource.stored_type());
  const api::KindInfo& info = stored != nullptr ? *stored : *resource.info;
  const std::string_view package =
      info.group.empty() ? std::string_view("core") : info.group.substr(0, info.group.find('.'));
  return fmt::format("*{}.{}{}", package, info.kind, list ? "List" : "");
}

/// Metadata of one object cannot be made of a list, nor the other way round.
Result<void> CheckShape(const MediaChoice& choice, const Resource& resource, Verb verb) {
  const bool list = verb == Verb::kList || verb == Verb::kDeleteCollection;
  if (list && choice.shape == Shape::kPartial) {
    return base::Error(
        Reason::kNotAcceptable,
        fmt::format("you requested PartialObjectMetadata, but the requested object is a list ({})",
                    GoTypeName(resource, /*list=*/true)));
  }
  if (!list && verb != Verb::kWatch && choice.shape == Shape::kPartialList) {
    return base::Error(
        Reason::kNotAcceptable,
        fmt::format("you requested PartialObjectMetadataList, but the requested object is not a "
                    "list ({})",
                    GoTypeName(resource, /*list=*/false)));
  }
  return {};
}

bool AgentLikesPretty(std::string_view agent) {
  return agent.starts_with("curl") || agent.starts_with("Wget") || agent.starts_with("Mozilla/5.0");
}

/// What a web server says of a path it does not know.
void SendNoPage(Exchange& exchange) {
  exchange.Send(404, "text/plain; charset=utf-8", "404 page not found\n");
}

/// kubectl only wants the old document to be there, in protobuf: an empty one is a document of no
/// paths. Who asks for JSON wants to read it, and is told that there is none.
void SendOldOpenApi(Exchange& exchange) {
  if (NamesOldOpenApi(exchange.request->headers.Get("accept"))) {
    exchange.Send(200, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf", "");
  } else {
    exchange.Send(406, "text/plain; charset=utf-8", "");
  }
}

constexpr double kLatencyBounds[] = {
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30};

/// Whether what the path names is there and takes the verb.
Result<void> CheckVerb(const api::KindInfo& info, const Exchange& exchange) {
  const RequestPath& path = exchange.path;
  const api::SubresourceInfo* sub = nullptr;
  if (!path.subresource.empty()) {
    sub = info.FindSubresource(path.subresource);
    if (sub == nullptr) {
      return base::Error(NoSuchResourceError());
    }
  }
  ALLOT_RETURN_IF_ERROR(CheckScope(info, path, exchange.verb));
  const bool listed = sub == nullptr
                          ? info.HasVerb(exchange.verb_text)
                          : std::ranges::find(sub->verbs, exchange.verb_text) != sub->verbs.end();
  const bool post_to_name =
      exchange.verb == Verb::kCreate && !path.name.empty() && path.subresource.empty();
  const bool needs_name =
      (exchange.verb == Verb::kUpdate || exchange.verb == Verb::kPatch) && path.name.empty();
  if (!listed || post_to_name || needs_name) {
    return base::Error(MethodNotAllowedError());
  }
  return {};
}

}  // namespace

Handler::Handler(HandlerParts parts) : parts_(std::move(parts)), desk_(parts_.loop) {}

void Handler::Handle(std::unique_ptr<net::Request> request,
                     std::shared_ptr<net::ResponseWriter> writer) {
  auto exchange = std::make_shared<Exchange>(std::move(request), std::move(writer));
  exchange->started = parts_.loop.now();
  exchange->path = ParsePath(exchange->request->path);
  exchange->choice.pretty = QueryBool(exchange->request->query, "pretty") ||
                            (!exchange->request->query.Find("pretty") &&
                             AgentLikesPretty(exchange->request->headers.Get("user-agent")));
  if (inflight_ >= parts_.max_inflight) {
    exchange->SendError({Reason::kTooManyRequests, "Too many requests, please try again later."});
    return;
  }
  ++inflight_;
  exchange->finished = [this](const Exchange& ended) {
    Finish(ended);
  };
  if (const Result<void> known = Authenticate(*exchange); !known) {
    exchange->SendError(known.error());
    return;
  }
  Route(exchange);
}

void Handler::Finish(const Exchange& exchange) {
  --inflight_;
  const char* const verb = exchange.verb_text.empty() ? "" : exchange.verb_text.data();
  telemetry::Counter*& counter = counters_[{exchange.resource, verb, exchange.code}];
  if (counter == nullptr) {
    const api::KindInfo* const info =
        exchange.resource != nullptr ? exchange.resource->info : nullptr;
    counter = &parts_.metrics.GetCounter(
        "apiserver_request_total",
        "Requests answered.",
        {{"code", fmt::format("{}", exchange.code)},
         {"group", std::string(info != nullptr ? info->group : std::string_view())},
         {"resource", std::string(info != nullptr ? info->resource : std::string_view())},
         {"verb", verb}});
  }
  counter->Add();
  if (exchange.verb == Verb::kWatch) {
    return;
  }
  telemetry::Histogram*& histogram = histograms_[verb];
  if (histogram == nullptr) {
    histogram = &parts_.metrics.GetHistogram(
        "apiserver_request_duration_seconds",
        "Time from request to answer.",
        std::vector<double>(std::begin(kLatencyBounds), std::end(kLatencyBounds)),
        {{"verb", verb}});
  }
  histogram->Observe(
      std::chrono::duration<double>(parts_.loop.clock().Monotonic() - exchange.started).count());
}

Result<MediaChoice> Handler::Negotiate(std::string_view accept, bool watch) {
  constexpr std::size_t kMostRemembered = 256;
  auto& known = negotiated_[watch ? 1 : 0];
  std::string key(accept);
  if (const auto found = known.find(key); found != known.end()) {
    return found->second;
  }
  ALLOT_ASSIGN_OR_RETURN(const MediaChoice choice,
                         NegotiateAnswer(accept, {.yaml = !watch, .shapes = true}));
  if (known.size() < kMostRemembered) {
    known.emplace(std::move(key), choice);
  }
  return choice;
}

Result<void> Handler::Authenticate(Exchange& exchange) const {
  ALLOT_ASSIGN_OR_RETURN(exchange.user, parts_.authenticator.Authenticate(*exchange.request));
  if (!WantsImpersonation(*exchange.request)) {
    return {};
  }
  ALLOT_ASSIGN_OR_RETURN(User wanted, ImpersonatedUser(*exchange.request));
  const AccessRequest ask{.verb = "impersonate",
                          .path = {},
                          .group = {},
                          .resource = "users",
                          .subresource = {},
                          .name_space = {},
                          .name = wanted.name,
                          .resource_request = true};
  ALLOT_RETURN_IF_ERROR(parts_.authorizer.Check(exchange.user, ask));
  exchange.user = std::move(wanted);
  return {};
}

Result<void> Handler::Authorize(const Exchange& exchange) const {
  const RequestPath& path = exchange.path;
  const AccessRequest ask{.verb = exchange.verb_text,
                          .path = exchange.request->path,
                          .group = path.group,
                          .resource = path.resource,
                          .subresource = path.subresource,
                          .name_space = path.name_space,
                          .name = path.name,
                          .resource_request = path.resource_request};
  return parts_.authorizer.Check(exchange.user, ask);
}

void Handler::Route(const ExchangeRef& exchange) {
  const std::optional<Verb> verb = VerbOf(*exchange->request, exchange->path);
  std::string lower;
  if (exchange->path.resource_request && verb) {
    exchange->verb = *verb;
    exchange->verb_text = VerbText(*verb);
  } else {
    // The texts of methods are few; others are told apart by nobody.
    static constexpr std::string_view kMethods[] = {
        "get", "head", "post", "put", "patch", "delete", "options"};
    lower = Lower(exchange->request->method);
    for (const std::string_view method : kMethods) {
      if (lower == method) {
        exchange->verb_text = method;
      }
    }
  }
  if (const Result<void> allowed = Authorize(*exchange); !allowed) {
    exchange->SendError(allowed.error());
    return;
  }
  if (!exchange->path.resource_request) {
    RoutePage(exchange);
  } else if (!verb) {
    exchange->SendError(MethodNotAllowedError());
  } else {
    RouteResource(exchange);
  }
}

void Handler::RoutePage(const ExchangeRef& exchange) {
  std::string_view path = exchange->request->path;
  if (path.size() > 1 && path.ends_with('/')) {
    path.remove_suffix(1);
  }
  for (const std::string_view page : {"/healthz", "/livez", "/readyz"}) {
    if (path == page || (path.starts_with(page) && path[page.size()] == '/')) {
      Health(exchange, page, path.size() > page.size() ? path.substr(page.size() + 1) : "");
      return;
    }
  }
  if (exchange->request->method != "GET" && exchange->request->method != "HEAD") {
    exchange->SendError(MethodNotAllowedError());
    return;
  }
  if (path == "/version") {
    exchange->Send(200, "application/json", parts_.version_json);
  } else if (path == "/metrics") {
    exchange->Send(200, "text/plain; version=0.0.4; charset=utf-8", parts_.metrics.Expose());
  } else if (path == "/openapi/v2") {
    SendOldOpenApi(*exchange);
  } else if (path.starts_with("/openapi/v3")) {
    parts_.openapi.Serve(*exchange, path);
  } else if (!parts_.discovery.Serve(*exchange, path)) {
    SendNoPage(*exchange);
  }
}

void Handler::Health(const ExchangeRef& exchange, std::string_view page, std::string_view check) {
  const bool ready = !stopping_ || page != "/readyz";
  const bool store = !parts_.registry.store().stats().out_of_space || page != "/readyz";
  struct Check {
    std::string_view name;
    bool good;
  };
  const Check checks[] = {{"ping", true}, {"log", true}, {"store", store}, {"shutdown", ready}};
  std::string text;
  bool good = true;
  bool known = check.empty();
  for (const Check& one : checks) {
    if (!check.empty() && one.name != check) {
      continue;
    }
    known = true;
    good = good && one.good;
    text += one.good ? fmt::format("[+]{} ok\n", one.name)
                     : fmt::format("[-]{} failed: reason withheld\n", one.name);
  }
  if (!known) {
    SendNoPage(*exchange);
    return;
  }
  const bool verbose = exchange->request->query.Find("verbose").has_value();
  if (good && !verbose) {
    exchange->Send(200, "text/plain; charset=utf-8", "ok");
    return;
  }
  text += fmt::format("{} check {}\n", page.substr(1), good ? "passed" : "failed");
  exchange->Send(good ? 200 : 500, "text/plain; charset=utf-8", std::move(text));
}

Result<void> Handler::ChooseForm(Exchange& exchange) {
  const std::string_view accept = exchange.request->headers.Get("accept");
  Result<MediaChoice> choice = Negotiate(accept, exchange.verb == Verb::kWatch);
  if (!choice) {
    // An error is no stream: it takes any form the client can read.
    if (const Result<MediaChoice> plain = Negotiate(accept, /*watch=*/false)) {
      exchange.choice.format = plain->format;
    }
    return base::Error(choice.error());
  }
  choice->pretty = choice->pretty || exchange.choice.pretty;
  exchange.choice = *choice;
  if (Result<void> fits = CheckShape(*choice, *exchange.resource, exchange.verb); !fits) {
    exchange.choice.shape = Shape::kObject;
    return fits;
  }
  if (choice->shape == Shape::kTable) {
    ALLOT_ASSIGN_OR_RETURN(exchange.include, ReadInclude(exchange.request->query));
  }
  return {};
}

void Handler::RouteResource(const ExchangeRef& exchange) {
  const RequestPath& path = exchange->path;
  const ResourceSet& resources = parts_.registry.resources();
  const Resource* const resource = resources.Find(path.group, path.version, path.resource);
  if (resource == nullptr && !resources.HasGroup(path.group)) {
    SendNoPage(*exchange);
    return;
  }
  if (resource == nullptr || !path.rest.empty()) {
    exchange->SendError(NoSuchResourceError());
    return;
  }
  exchange->resource = resource;
  if (const Result<void> fits = CheckVerb(*resource->info, *exchange); !fits) {
    exchange->SendError(fits.error());
    return;
  }
  if (const Result<void> chosen = ChooseForm(*exchange); !chosen) {
    exchange->SendError(chosen.error());
    return;
  }
  switch (exchange->verb) {
    case Verb::kGet: Get(exchange); return;
    case Verb::kList:
    case Verb::kWatch: List(exchange); return;
    case Verb::kCreate: Create(exchange); return;
    case Verb::kUpdate: Update(exchange); return;
    case Verb::kPatch: Patch(exchange); return;
    case Verb::kDelete: Delete(exchange); return;
    case Verb::kDeleteCollection: DeleteCollection(exchange); return;
  }
}

}  // namespace allot::apiserver
