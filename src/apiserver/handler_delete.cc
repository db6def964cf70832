// Handler: delete, deletecollection and eviction.
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "api/core/v1.gen.h"
#include "api/policy/v1.gen.h"
#include "apiserver/body.h"
#include "apiserver/edit.h"
#include "apiserver/errors.h"
#include "apiserver/handler.h"
#include "apiserver/list_stream.h"

namespace allot::apiserver {
namespace {

namespace core = api::core;
using api::meta::DeleteOptions;
using base::Reason;
using base::Result;
using base::Status;
using base::StatusCause;

Result<void> CheckDeleteOptions(const DeleteOptions& options) {
  std::vector<StatusCause> causes;
  if (options.propagation_policy != nullptr) {
    const std::string_view policy = *options.propagation_policy;
    if (options.orphan_dependents != nullptr) {
      causes.push_back({"FieldValueInvalid",
                        fmt::format("Invalid value: \"{}\": orphanDependents and "
                                    "deletionPropagation cannot be both set",
                                    policy),
                        "propagationPolicy"});
    }
    if (policy != "Background" && policy != "Foreground" && policy != "Orphan") {
      causes.push_back({"FieldValueNotSupported",
                        fmt::format("Unsupported value: \"{}\": supported values: \"Foreground\", "
                                    "\"Background\", \"Orphan\", \"nil\"",
                                    policy),
                        "propagationPolicy"});
    }
  }
  if (options.dry_run.size() != 0 && (options.dry_run.size() > 1 || options.dry_run[0] != "All")) {
    std::string list;
    bool bad = false;
    for (const schema::Str value : options.dry_run) {
      list += fmt::format("{}\"{}\"", list.empty() ? "" : ",", value);
      bad = bad || value != "All";
    }
    if (bad) {
      causes.push_back({"FieldValueNotSupported",
                        fmt::format("Unsupported value: [{}]: supported values: \"All\"", list),
                        "dryRun"});
    }
  }
  if (!causes.empty()) {
    return base::Error(InvalidError("DeleteOptions", "meta.k8s.io", "", std::move(causes)));
  }
  return {};
}

Deletion ToDeletion(const DeleteOptions& options) {
  Deletion out;
  if (options.grace_period_seconds != nullptr) {
    out.grace_seconds = *options.grace_period_seconds;
  }
  if (options.preconditions != nullptr) {
    if (options.preconditions->uid != nullptr) {
      out.uid = std::string(*options.preconditions->uid);
    }
    if (options.preconditions->resource_version != nullptr) {
      out.resource_version = std::string(*options.preconditions->resource_version);
    }
  }
  if (options.propagation_policy != nullptr) {
    out.propagation = *options.propagation_policy;
  } else if (options.orphan_dependents != nullptr) {
    out.propagation = *options.orphan_dependents ? "Orphan" : "Background";
  }
  return out;
}

/// What a request without a body says in its query.
Result<void> OptionsOfQuery(const net::QueryParameters& query, AnyDraft& draft) {
  auto& options = draft.As<DeleteOptions>();
  base::Arena& arena = draft.arena();
  if (const std::string_view grace = query.Get("gracePeriodSeconds"); !grace.empty()) {
    std::int64_t seconds = 0;
    const auto [at, error] = std::from_chars(grace.data(), grace.data() + grace.size(), seconds);
    if (error != std::errc() || at != grace.data() + grace.size()) {
      return base::Error(
          BadRequestError(fmt::format("strconv.ParseInt: parsing \"{}\": invalid syntax", grace)));
    }
    SetValue(arena, options.grace_period_seconds, seconds);
  }
  if (const auto policy = query.Find("propagationPolicy")) {
    SetValue(arena, options.propagation_policy, draft.Copy(*policy));
  }
  if (query.Find("orphanDependents")) {
    SetValue(arena, options.orphan_dependents, QueryBool(query, "orphanDependents"));
  }
  for (const auto& [key, value] : query.all()) {
    if (key == "dryRun") {
      Append(arena, options.dry_run, draft.Copy(value));
    }
  }
  return {};
}

/// Marks a pod as about to be evicted, and checks what the deletion requires of it.
Result<AnyDraft> WithDisruption(const Resource& pods,
                                const AnyView& old,
                                store::Revision revision,
                                const Deletion& deletion,
                                quantity::Time now) {
  AnyDraft next(*pods.info->type, old);
  auto& pod = next.As<core::Pod>();
  ALLOT_RETURN_IF_ERROR(CheckPreconditions(*pods.info, pod.metadata, revision, deletion));
  core::PodCondition condition;
  condition.type = "DisruptionTarget";
  condition.status = "True";
  condition.reason = "EvictionByEvictionAPI";
  condition.message = "Eviction API: evicting";
  condition.last_transition_time = now;
  core::PodCondition* const items = MutableList(next.arena(), pod.status.conditions);
  for (std::size_t i = 0; i < pod.status.conditions.size(); ++i) {
    if (items[i].type == condition.type) {
      if (items[i].status == condition.status) {
        condition.last_transition_time = items[i].last_transition_time;
      }
      items[i] = condition;
      return next;
    }
  }
  Append(next.arena(), pod.status.conditions, condition);
  return next;
}

}  // namespace

Result<Deletion> Handler::ReadDeletion(Exchange& exchange, bool& dry_run) {
  AnyDraft draft(api::Desc<DeleteOptions>());
  if (exchange.request->body.empty()) {
    ALLOT_RETURN_IF_ERROR(OptionsOfQuery(exchange.request->query, draft));
  } else {
    // A body says everything; the query is not looked at.
    ALLOT_ASSIGN_OR_RETURN(const Format format,
                           NegotiateBody(exchange.request->headers.Get("content-type")));
    // The kind may be written with any version of any group, as clients do.
    std::vector<std::string> ignored;
    const BodyKind kind{draft.type(), "DeleteOptions", "", "", {}, /*bare_errors=*/true};
    ALLOT_ASSIGN_OR_RETURN(
        draft,
        DecodeBody(
            kind, std::move(exchange.request->body), format, FieldValidation::kIgnore, ignored));
  }
  const auto& options = draft.As<DeleteOptions>();
  ALLOT_RETURN_IF_ERROR(CheckDeleteOptions(options));
  dry_run = !options.dry_run.empty();
  return ToDeletion(options);
}

void Handler::Evict(const ExchangeRef& exchange) {
  const Result<ChangeOptions> options =
      ReadChangeOptions(exchange->request->query, OptionsKind::kCreate);
  if (!options) {
    exchange->SendError(options.error());
    return;
  }
  const Result<AnyDraft> body = ReadSubresource(*exchange, options->validation);
  if (!body) {
    exchange->SendError(body.error());
    return;
  }
  const auto& eviction = *static_cast<const api::policy::Eviction*>(body->root());
  if (eviction.metadata.name != exchange->path.name) {
    exchange->SendError(BadRequestError("name in URL does not match name in Eviction object"));
    return;
  }
  const DeleteOptions none;
  const DeleteOptions& wanted =
      eviction.delete_options != nullptr ? *eviction.delete_options : none;
  if (const Result<void> good = CheckDeleteOptions(wanted); !good) {
    exchange->SendError(good.error());
    return;
  }
  ChangeOptions change = *options;
  change.dry_run = change.dry_run || !wanted.dry_run.empty();
  EvictPod(exchange, change, ToDeletion(wanted));
}

void Handler::EvictPod(const ExchangeRef& exchange,
                       const ChangeOptions& options,
                       Deletion deletion) {
  const Resource& pods = *exchange->resource;
  const RequestPath& path = exchange->path;
  Registry& registry = parts_.registry;
  if (!options.dry_run) {
    const quantity::Time now = NowSeconds(registry.clock());
    const Result<Written> marked =
        registry.Update(ContextOf(*exchange, options),
                        pods,
                        path.name_space,
                        path.name,
                        "status",
                        /*unconditional=*/true,
                        [&](const AnyView& old, store::Revision revision) -> Result<AnyDraft> {
                          if (old == nullptr) {
                            return base::Error(NotFoundError(*pods.info, path.name));
                          }
                          return WithDisruption(pods, old, revision, deletion, now);
                        });
    if (!marked) {
      exchange->SendError(marked.error());
      return;
    }
    deletion.resource_version.reset();  // it named the state before the condition
  }
  Result<Written> written =
      registry.Delete(ContextOf(*exchange, options), pods, path.name_space, path.name, deletion);
  if (!written) {
    exchange->SendError(written.error());
    return;
  }
  MediaChoice plain = exchange->choice;
  plain.shape = Shape::kObject;
  AnswerLater(exchange, *written, last_token_, 201, EncodeSuccess(nullptr, 201, plain));
}

void Handler::Delete(const ExchangeRef& exchange) {
  ChangeOptions options;
  const Result<Deletion> deletion = ReadDeletion(*exchange, options.dry_run);
  if (!deletion) {
    exchange->SendError(deletion.error());
    return;
  }
  const Resource& resource = *exchange->resource;
  const WriteContext context = ContextOf(*exchange, options);
  Result<Written> written = parts_.registry.Delete(
      context, resource, exchange->path.name_space, exchange->path.name, *deletion);
  if (!written || !written->removed || resource.strategy->answers_deleted_object) {
    AnswerWritten(exchange, std::move(written), 200);
    return;
  }
  const api::meta::ObjectMeta& metadata = MetadataOf(resource.stored_type(), written->view.get());
  base::StatusDetails details;
  details.name = metadata.name;
  details.group = resource.info->group;
  details.kind = resource.info->resource;
  details.uid = metadata.uid;
  MediaChoice plain = exchange->choice;
  plain.shape = Shape::kObject;
  AnswerLater(exchange, *written, last_token_, 200, EncodeSuccess(&details, 0, plain));
}

void Handler::DeleteCollection(const ExchangeRef& exchange) {
  ChangeOptions options;
  const Result<Deletion> deletion = ReadDeletion(*exchange, options.dry_run);
  Result<ReadOptions> read = ReadListOptions(exchange->request->query);
  if (!deletion || !read) {
    exchange->SendError(!deletion ? deletion.error() : read.error());
    return;
  }
  const Resource& resource = *exchange->resource;
  Result<Filter> filter =
      Filter::Make(resource, exchange->path.name_space, read->labels, read->fields);
  if (!filter) {
    exchange->SendError(filter.error());
    return;
  }
  ListPlan plan;
  plan.filter = *std::move(filter);
  plan.snapshot = parts_.registry.store().TakeSnapshot(resource.store_id);
  plan.now = NowSeconds(parts_.registry.clock()).seconds;
  std::string next;
  const auto entries = SelectEntries(plan, next);
  Written last;
  last.revision = plan.snapshot.revision();
  std::uint64_t token = 0;
  for (const auto& entry : entries) {
    const auto* const object = entry->value().As<schema::Object>();
    const WriteContext context = ContextOf(*exchange, options);
    Result<Written> written =
        parts_.registry.Delete(context, resource, object->namespace_(), object->name(), *deletion);
    if (!written && written.error().reason() == Reason::kNotFound) {
      continue;
    }
    if (!written) {
      exchange->SendError(written.error());
      return;
    }
    if (written->pending) {
      last = *std::move(written);  // outcomes come in order: the last one speaks for all
      token = last_token_;
    }
  }
  auto answer = [exchange, plan = std::move(plan)]() mutable {
    AnswerList(exchange, std::move(plan));
  };
  if (last.pending) {
    desk_.Expect(token, [exchange, answer = std::move(answer)](const Status* error) mutable {
      if (error != nullptr) {
        exchange->SendError(*error);
      } else {
        answer();
      }
    });
  } else {
    answer();
  }
}

}  // namespace allot::apiserver
