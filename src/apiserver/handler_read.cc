// Handler: get, list and watch.
#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "apiserver/continue_token.h"
#include "apiserver/errors.h"
#include "apiserver/handler.h"
#include "apiserver/list_stream.h"

namespace allot::apiserver {
namespace {

using base::Reason;
using base::Result;
using base::Status;

constexpr std::chrono::milliseconds kRevisionWait{3000};
/// A watch without its own time-out ends after 30 to 60 minutes.
constexpr std::int64_t kWatchMinSeconds = 1800;

Status TooLarge(std::uint64_t asked, store::Revision current) {
  base::StatusDetails details;
  details.causes.push_back(
      {"ResourceVersionTooLarge", "Too large resource version", std::string()});
  details.retry_after_seconds = 1;
  return {Reason::kTimeout,
          fmt::format("Timeout: Too large resource version: {}, current: {}", asked, current),
          std::move(details)};
}

constexpr std::string_view kExpiredToken =
    "The provided continue parameter is too old to display a consistent list result. You can start "
    "a new list without the continue parameter, or use the continue token in this response to "
    "retrieve the remainder of the results. Continuing with the provided token results in an "
    "inconsistent list - objects that were created, modified, or deleted between the time the "
    "first chunk was returned and now may show up in the list.";

std::int64_t NowUnix(const base::Clock& clock) {
  return NowSeconds(clock).seconds;
}

/// A 410 whose metadata carries a token to go on with, not from the same moment.
void SendExpiredToken(Exchange& exchange, const ContinueToken& token) {
  const Status status(Reason::kExpired, std::string(kExpiredToken));
  std::string body = StatusJson(status);
  const std::string fresh = ContinueToken{-1, token.start}.Encode();
  constexpr std::string_view kEmpty = R"("metadata":{})";
  const std::size_t at = body.find(kEmpty);
  if (exchange.choice.format != Format::kProtobuf && at != std::string::npos) {
    body.replace(at, kEmpty.size(), fmt::format(R"("metadata":{{"continue":"{}"}})", fresh));
    exchange.code = 410;
    exchange.Send(410, "application/json", body + "\n");
    return;
  }
  exchange.SendError(status);
}

}  // namespace

void Handler::AtRevision(const ExchangeRef& exchange,
                         std::uint64_t revision,
                         std::function<void()> then) {
  const auto wanted = static_cast<store::Revision>(std::min<std::uint64_t>(
      revision, static_cast<std::uint64_t>(std::numeric_limits<store::Revision>::max())));
  parts_.hub.WhenDurable(
      wanted, kRevisionWait, [this, exchange, revision, then = std::move(then)](bool reached) {
        if (reached) {
          then();
        } else {
          exchange->SendError(TooLarge(revision, parts_.registry.store().durable()));
        }
      });
}

void Handler::Get(const ExchangeRef& exchange) {
  const std::string_view text = exchange->request->query.Get("resourceVersion");
  std::uint64_t revision = 0;
  if (!text.empty()) {
    const Result<std::uint64_t> parsed = ParseRevision(text);
    if (!parsed) {
      exchange->SendError(parsed.error());
      return;
    }
    revision = *parsed;
  }
  AtRevision(exchange, revision, [this, exchange] {
    const RequestPath& path = exchange->path;
    const auto entry = parts_.registry.Get(*exchange->resource, path.name_space, path.name);
    if (!entry) {
      exchange->SendError(NotFoundError(*exchange->resource->info, path.name));
      return;
    }
    Result<AnyView> view = ViewOf(*entry);
    if (!view) {
      exchange->SendError(view.error());
      return;
    }
    const Shown shown{exchange->resource, *std::move(view), entry->revision()};
    exchange->SendEncoded(
        200,
        EncodeObject(shown, exchange->choice, exchange->include, NowUnix(parts_.registry.clock())));
  });
}

void Handler::List(const ExchangeRef& exchange) {
  Result<ReadOptions> options = ReadListOptions(exchange->request->query);
  if (!options) {
    exchange->SendError(options.error());
    return;
  }
  if (exchange->verb == Verb::kWatch) {
    Watch(exchange, *options);
    return;
  }
  const std::uint64_t revision = options->revision.value_or(0);
  AtRevision(exchange, revision, [this, exchange, options = *std::move(options)] {
    ListAt(exchange, options);
  });
}

void Handler::ListAt(const ExchangeRef& exchange, const ReadOptions& options) {
  const Resource& resource = *exchange->resource;
  store::Store& store = parts_.registry.store();
  Result<Filter> filter =
      Filter::Make(resource, exchange->path.name_space, options.labels, options.fields);
  if (!filter) {
    exchange->SendError(filter.error());
    return;
  }
  ListPlan plan;
  plan.filter = *std::move(filter);
  plan.limit = options.revision == 0 ? 0 : std::max<std::int64_t>(options.limit, 0);
  plan.count_rest = plan.filter.ByNamespaceOnly();
  plan.now = NowUnix(parts_.registry.clock());
  store::Revision exact = 0;
  if (!options.continue_token.empty()) {
    const Result<ContinueToken> token = ContinueToken::Decode(options.continue_token);
    if (!token) {
      exchange->SendError(token.error());
      return;
    }
    plan.start = token->start;
    exact = std::max<store::Revision>(token->revision, 0);
    if (exact > 0) {
      Result<store::Snapshot> at = store.SnapshotAt(resource.store_id, exact);
      if (!at) {
        SendExpiredToken(*exchange, *token);
        return;
      }
      plan.snapshot = *std::move(at);
    }
  } else if (options.revision.value_or(0) > 0 &&
             (options.match == VersionMatch::kExact ||
              (options.match == VersionMatch::kUnset && options.limit > 0))) {
    exact = static_cast<store::Revision>(*options.revision);
    Result<store::Snapshot> at = store.SnapshotAt(resource.store_id, exact);
    if (!at) {
      exchange->SendError(
          {Reason::kExpired, "The resourceVersion for the provided list is too old."});
      return;
    }
    plan.snapshot = *std::move(at);
  }
  if (exact == 0) {
    plan.snapshot = store.TakeSnapshot(resource.store_id);
  }
  if (plan.limit > 0) {
    store.KeepSnapshot(resource.store_id, plan.snapshot);
  }
  AnswerList(exchange, std::move(plan));
}

void Handler::Watch(const ExchangeRef& exchange, const ReadOptions& options) {
  if (stopping_) {
    exchange->SendError({Reason::kServiceUnavailable, "the server is shutting down"});
    return;
  }
  const Resource& resource = *exchange->resource;
  Result<Filter> filter =
      Filter::Make(resource, exchange->path.name_space, options.labels, options.fields);
  if (!filter) {
    exchange->SendError(filter.error());
    return;
  }
  WatchRequest request;
  request.resource = &resource;
  request.filter = *std::move(filter);
  request.filter_key =
      fmt::format("{}\n{}\n{}", exchange->path.name_space, options.label_text, options.field_text);
  request.choice = exchange->choice;
  request.include = exchange->include;
  const bool initial = options.send_initial_events.value_or(false);
  if (!initial && options.revision.value_or(0) > 0) {
    request.after = static_cast<store::Revision>(*options.revision);
  } else if (options.send_initial_events && !initial) {
    request.after = parts_.registry.store().durable();
  }
  request.bookmarks = options.bookmarks;
  request.initial_bookmark = initial && options.bookmarks;
  // A watch from the newest state is served as one with initial events, as upstream does.
  request.mark_first_bookmark = !options.revision && !options.send_initial_events;
  request.timeout = options.timeout && options.timeout->count() > 0
                        ? *options.timeout
                        : std::chrono::seconds(kWatchMinSeconds +
                                               static_cast<std::int64_t>(parts_.random.Below(
                                                   static_cast<std::uint64_t>(kWatchMinSeconds))));
  const net::HeaderList headers =
      exchange->Headers(exchange->choice.format == Format::kProtobuf
                            ? "application/vnd.kubernetes.protobuf;stream=watch"
                            : "application/json");
  exchange->code = 200;
  const auto begin = [this, exchange, headers](WatchRequest& ready) {
    // The exchange ends here: a watch is counted by the hub, not by the door.
    parts_.hub.Add(std::move(ready), std::move(exchange->writer), headers);
  };
  if (initial && options.revision.value_or(0) > 0) {
    AtRevision(exchange, *options.revision, [begin, request = std::move(request)]() mutable {
      begin(request);
    });
    return;
  }
  begin(request);
}

}  // namespace allot::apiserver
