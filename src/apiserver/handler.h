// Handler: takes requests from the port through authentication, authorization and routing to what
// answers them.
// Thread safety: loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "apiserver/authn.h"
#include "apiserver/commit_desk.h"
#include "apiserver/exchange.h"
#include "apiserver/registry.h"
#include "apiserver/request_options.h"
#include "apiserver/watch_hub.h"
#include "base/random.h"
#include "net/http.h"
#include "net/loop.h"
#include "telemetry/log.h"
#include "telemetry/metrics.h"

namespace allot::apiserver {

class Discovery;
class OpenApi;
class ServiceTokens;

/// What a handler works with. REQUIRES: everything outlives the handler.
struct HandlerParts {
  Registry& registry;
  WatchHub& hub;
  net::Loop& loop;
  const Authenticator& authenticator;
  const ServiceTokens& service_tokens;
  const Authorizer& authorizer;
  const Discovery& discovery;
  const OpenApi& openapi;
  base::Random& random;
  telemetry::Registry& metrics;
  telemetry::Logger logger;
  std::string version_json;  ///< the body of /version
  /// Requests (watches aside) open at one time; more get 429.
  std::size_t max_inflight = 20000;
};

class Handler {
 public:
  explicit Handler(HandlerParts parts);
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;

  void Handle(std::unique_ptr<net::Request> request, std::shared_ptr<net::ResponseWriter> writer);
  /// From here on /readyz fails and new watches are refused.
  void BeginShutdown() { stopping_ = true; }

 private:
  base::Result<void> Authenticate(Exchange& exchange) const;
  void Route(const ExchangeRef& exchange);
  void RoutePage(const ExchangeRef& exchange);
  void RouteResource(const ExchangeRef& exchange);
  void Health(const ExchangeRef& exchange, std::string_view page, std::string_view check);
  base::Result<void> Authorize(const Exchange& exchange) const;

  // Reading (handler_read.cc).
  void Get(const ExchangeRef& exchange);
  void List(const ExchangeRef& exchange);
  void Watch(const ExchangeRef& exchange, const ReadOptions& options);
  void ListAt(const ExchangeRef& exchange, const ReadOptions& options);
  /// Calls `then` when the revision asked for is durable; answers 504 when it does not come.
  void AtRevision(const ExchangeRef& exchange, std::uint64_t revision, std::function<void()> then);

  // Writing (handler_write.cc).
  void Create(const ExchangeRef& exchange);
  void CreateAttempt(const ExchangeRef& exchange,
                     const ChangeOptions& options,
                     AnyDraft draft,
                     int attempt);
  void CreateSubresource(const ExchangeRef& exchange);
  void Bind(const ExchangeRef& exchange, std::string pod);
  void Update(const ExchangeRef& exchange);
  void Patch(const ExchangeRef& exchange);
  /// Reads the body of a create or update into the stored type.
  base::Result<AnyDraft> ReadObject(Exchange& exchange, FieldValidation validation);
  /// The same for a subresource that has a kind of its own.
  base::Result<AnyDraft> ReadSubresource(Exchange& exchange, FieldValidation validation);
  WriteContext ContextOf(Exchange& exchange, const ChangeOptions& options);
  /// Answers with the object once it is durable.
  void AnswerWritten(const ExchangeRef& exchange, base::Result<Written> written, int code);
  /// Answers with `body` once it is durable.
  void AnswerLater(const ExchangeRef& exchange,
                   const Written& written,
                   std::uint64_t token,
                   int code,
                   std::string body);
  // Deleting (handler_delete.cc).
  void Delete(const ExchangeRef& exchange);
  void DeleteCollection(const ExchangeRef& exchange);
  void Evict(const ExchangeRef& exchange);
  void EvictPod(const ExchangeRef& exchange, const ChangeOptions& options, Deletion deletion);
  base::Result<Deletion> ReadDeletion(Exchange& exchange, bool& dry_run);

  // Tokens of service accounts (token_request.cc).
  void RequestToken(const ExchangeRef& exchange);
  base::Result<void> FillToken(const RequestPath& path, AnyDraft& draft);

  /// Reviews (reviews.cc): kinds that are only asked, never stored. False when it is not one.
  bool Review(const ExchangeRef& exchange);

  void Finish(const Exchange& exchange);

  /// As NegotiateAnswer, remembering what few distinct headers clients send.
  base::Result<MediaChoice> Negotiate(std::string_view accept, bool watch);
  /// Settles the form of the answer, also that of an error.
  base::Result<void> ChooseForm(Exchange& exchange);

  /// A series of the request metrics: resource, verb (a constant text), code.
  using SeriesKey = std::tuple<const Resource*, const char*, int>;

  HandlerParts parts_;
  CommitDesk desk_;
  std::map<SeriesKey, telemetry::Counter*> counters_;
  std::map<const char*, telemetry::Histogram*> histograms_;
  std::unordered_map<std::string, MediaChoice> negotiated_[2];
  std::size_t inflight_ = 0;
  bool stopping_ = false;
  std::uint64_t last_token_ = 0;
};

}  // namespace allot::apiserver
