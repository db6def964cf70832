// Handler: create, update, patch, delete and the subresources that are posted to.
#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "api/core/v1.gen.h"
#include "apiserver/body.h"
#include "apiserver/errors.h"
#include "apiserver/handler.h"
#include "apiserver/list_stream.h"
#include "apiserver/patch.h"
#include "text/json.h"

namespace allot::apiserver {
namespace {

using base::Reason;
using base::Result;
using base::Status;

/// The default service account of a new namespace is made by a controller: a pod that comes before
/// it waits a little, as upstream's admission does.
constexpr int kAccountAttempts = 50;
constexpr std::chrono::milliseconds kAccountWait{20};
constexpr std::chrono::seconds kNoOpWait{30};

bool WaitsForAccount(const Status& status) {
  return status.reason() == Reason::kForbidden &&
         status.message().find("error looking up service account") != std::string::npos;
}

/// A draft in the served type as one in the stored type.
AnyDraft ToStored(const Resource& resource, AnyDraft served) {
  if (resource.conversion == nullptr) {
    return served;
  }
  AnyDraft stored(*resource.conversion->stored, nullptr, served.Freeze());
  resource.conversion->to_stored(served.root(), stored);
  return stored;
}

Status NameMismatch(std::string_view body, std::string_view url) {
  return BadRequestError(fmt::format(
      "the name of the object ({}) does not match the name on the URL ({})", body, url));
}

/// The body of an update must name what the URL names.
Result<void> CheckIdentity(const RequestPath& path,
                           const api::KindInfo& info,
                           const api::meta::ObjectMeta& metadata) {
  if (metadata.name.empty()) {
    return base::Error(BadRequestError(fmt::format(
        "the name of the object ({} based on URL) was undeterminable: name must be provided",
        path.name)));
  }
  if (metadata.name != path.name) {
    return base::Error(NameMismatch(metadata.name, path.name));
  }
  if (info.namespaced && !metadata.namespace_.empty() && metadata.namespace_ != path.name_space) {
    return base::Error(BadRequestError(
        "the namespace of the provided object does not match the namespace sent on the request"));
  }
  return {};
}

}  // namespace

WriteContext Handler::ContextOf(Exchange& exchange, const ChangeOptions& options) {
  last_token_ = desk_.NextToken();
  return {.user = exchange.user,
          .warnings = &exchange.warnings,
          .dry_run = options.dry_run,
          .manager = options.field_manager.empty() ? exchange.Agent()
                                                   : std::string_view(options.field_manager),
          .sink = &desk_,
          .token = last_token_};
}

Result<AnyDraft> Handler::ReadObject(Exchange& exchange, FieldValidation validation) {
  ALLOT_ASSIGN_OR_RETURN(const Format format,
                         NegotiateBody(exchange.request->headers.Get("content-type")));
  std::vector<std::string> found;
  Result<AnyDraft> draft = DecodeBody(BodyKindOf(*exchange.resource->info),
                                      std::move(exchange.request->body),
                                      format,
                                      validation,
                                      found);
  for (std::string& text : found) {
    exchange.Warn(std::move(text));
  }
  return draft;
}

void Handler::AnswerLater(const ExchangeRef& exchange,
                          const Written& written,
                          std::uint64_t token,
                          int code,
                          std::string body) {
  if (written.pending) {
    desk_.Expect(token, [exchange, code, body = std::move(body)](const Status* error) mutable {
      if (error != nullptr) {
        exchange->SendError(*error);
      } else {
        exchange->SendEncoded(code, std::move(body));
      }
    });
    return;
  }
  // What was read may be a state that is not on disk yet.
  parts_.hub.WhenDurable(
      written.revision, kNoOpWait, [exchange, code, body = std::move(body)](bool reached) mutable {
        if (reached) {
          exchange->SendEncoded(code, std::move(body));
        } else {
          exchange->SendError({Reason::kTimeout, "the write timed out"});
        }
      });
}

void Handler::AnswerWritten(const ExchangeRef& exchange, Result<Written> written, int code) {
  if (!written) {
    exchange->SendError(written.error());
    return;
  }
  std::string body;
  const bool plain = exchange->choice.shape == Shape::kObject && !exchange->choice.pretty &&
                     exchange->choice.format != Format::kYaml;
  if (plain && written->entry && !written->removed) {
    // The same bytes serve the watchers of this format.
    if (const auto shared =
            SharedWire(*exchange->resource, *written->entry, exchange->choice.format)) {
      body = *shared;
      if (exchange->choice.format == Format::kJson) {
        body += '\n';
      }
    }
  }
  if (body.empty()) {
    const Shown shown{exchange->resource, written->view, written->revision};
    body = EncodeObject(
        shown, exchange->choice, exchange->include, NowSeconds(parts_.registry.clock()).seconds);
  }
  AnswerLater(exchange, *written, last_token_, code, std::move(body));
}

void Handler::Create(const ExchangeRef& exchange) {
  if (!exchange->path.subresource.empty()) {
    CreateSubresource(exchange);
    return;
  }
  const Result<ChangeOptions> options =
      ReadChangeOptions(exchange->request->query, OptionsKind::kCreate);
  if (!options) {
    exchange->SendError(options.error());
    return;
  }
  if (exchange->resource->strategy == nullptr) {
    if (exchange->resource->info->resource == "bindings") {
      Bind(exchange, {});
    } else if (!Review(exchange)) {
      exchange->SendError(NoSuchResourceError());
    }
    return;
  }
  Result<AnyDraft> draft = ReadObject(*exchange, options->validation);
  if (!draft) {
    exchange->SendError(draft.error());
    return;
  }
  CreateAttempt(exchange, *options, ToStored(*exchange->resource, *std::move(draft)), 1);
}

void Handler::CreateAttempt(const ExchangeRef& exchange,
                            const ChangeOptions& options,
                            AnyDraft draft,
                            int attempt) {
  const bool pod = exchange->resource->info->type == &api::Desc<api::core::Pod>();
  AnyDraft again;
  if (pod) {
    again = draft;
    draft = AnyDraft(again.type(), again.Freeze());
  }
  const WriteContext context = ContextOf(*exchange, options);
  Result<Written> written = parts_.registry.Create(
      context, *exchange->resource, exchange->path.name_space, std::move(draft));
  if (!written && pod && attempt < kAccountAttempts && WaitsForAccount(written.error())) {
    parts_.loop.After(kAccountWait, [this, exchange, options, again, attempt] {
      CreateAttempt(exchange, options, again, attempt + 1);
    });
    return;
  }
  AnswerWritten(exchange, std::move(written), 201);
}

void Handler::CreateSubresource(const ExchangeRef& exchange) {
  if (exchange->path.subresource == "binding") {
    Bind(exchange, exchange->path.name);
  } else if (exchange->path.subresource == "eviction") {
    Evict(exchange);
  } else {
    exchange->SendError(NoSuchResourceError());
  }
}

void Handler::Bind(const ExchangeRef& exchange, std::string pod) {
  const Result<ChangeOptions> options =
      ReadChangeOptions(exchange->request->query, OptionsKind::kCreate);
  const Result<Format> format = NegotiateBody(exchange->request->headers.Get("content-type"));
  if (!options || !format) {
    exchange->SendError(!options ? options.error() : format.error());
    return;
  }
  const BodyKind kind{api::Desc<api::core::Binding>(), "Binding", "v1", "v1"};
  std::vector<std::string> found;
  Result<AnyDraft> draft =
      DecodeBody(kind, std::move(exchange->request->body), *format, options->validation, found);
  if (!draft) {
    exchange->SendError(draft.error());
    return;
  }
  for (std::string& text : found) {
    exchange->Warn(std::move(text));
  }
  const auto& binding = draft->As<api::core::Binding>();
  if (pod.empty()) {
    pod = binding.metadata.name;
  } else if (!binding.metadata.name.empty() && binding.metadata.name != pod) {
    exchange->SendError(
        BadRequestError(fmt::format("name in URL does not match name in Binding object")));
    return;
  }
  const WriteContext context = ContextOf(*exchange, *options);
  Result<Written> written = parts_.registry.Bind(context, exchange->path.name_space, pod, binding);
  if (!written) {
    exchange->SendError(written.error());
    return;
  }
  AnswerLater(exchange, *written, last_token_, 201, EncodeSuccess(nullptr, 201, exchange->choice));
}

void Handler::Evict(const ExchangeRef& exchange) {
  bool dry_run = false;
  // An Eviction carries its DeleteOptions; without disruption budgets it is a delete.
  Result<Deletion> deletion = Deletion{};
  const Result<text::Value> body = exchange->request->body.empty()
                                       ? Result<text::Value>(text::Value())
                                       : text::ParseJson(exchange->request->body);
  if (!body) {
    exchange->SendError(BadRequestError(body.error().message()));
    return;
  }
  if (const text::Value* const grace = body->FindPath({"deleteOptions", "gracePeriodSeconds"})) {
    deletion->grace_seconds = grace->AsInt();
  }
  if (const text::Value* const uid = body->FindPath({"deleteOptions", "preconditions", "uid"})) {
    deletion->uid = std::string(uid->AsString());
  }
  ChangeOptions options;
  options.dry_run = dry_run || exchange->request->query.Get("dryRun") == "All";
  const WriteContext context = ContextOf(*exchange, options);
  Result<Written> written = parts_.registry.Delete(
      context, *exchange->resource, exchange->path.name_space, exchange->path.name, *deletion);
  if (!written) {
    exchange->SendError(written.error());
    return;
  }
  AnswerLater(exchange, *written, last_token_, 201, EncodeSuccess(nullptr, 201, exchange->choice));
}

void Handler::Update(const ExchangeRef& exchange) {
  const Result<ChangeOptions> options =
      ReadChangeOptions(exchange->request->query, OptionsKind::kUpdate);
  if (!options) {
    exchange->SendError(options.error());
    return;
  }
  const Resource& resource = *exchange->resource;
  Result<AnyDraft> read = ReadObject(*exchange, options->validation);
  if (!read) {
    exchange->SendError(read.error());
    return;
  }
  const AnyDraft draft = ToStored(resource, *std::move(read));
  const RequestPath& path = exchange->path;
  const api::meta::ObjectMeta& metadata = MetadataOf(draft.type(), draft.root());
  if (const Result<void> same = CheckIdentity(path, *resource.info, metadata); !same) {
    exchange->SendError(same.error());
    return;
  }
  const WriteContext context = ContextOf(*exchange, *options);
  Result<Written> written =
      parts_.registry.Update(context,
                             resource,
                             path.name_space,
                             path.name,
                             path.subresource,
                             /*unconditional=*/false,
                             [&](const AnyView&, store::Revision) -> Result<AnyDraft> {
                               return AnyDraft(draft.type(), draft.Freeze());
                             });
  const int code = written && written->created ? 201 : 200;
  AnswerWritten(exchange, std::move(written), code);
}

void Handler::Patch(const ExchangeRef& exchange) {
  const std::string_view content_type = exchange->request->headers.Get("content-type");
  const Result<PatchKind> kind = PatchKindOf(content_type);
  if (!kind) {
    exchange->SendError(kind.error());
    return;
  }
  const Result<ChangeOptions> options =
      ReadChangeOptions(exchange->request->query, OptionsKind::kPatch);
  if (!options) {
    exchange->SendError(options.error());
    return;
  }
  const Resource& resource = *exchange->resource;
  const RequestPath& path = exchange->path;
  const WriteContext context = ContextOf(*exchange, *options);
  std::vector<std::string> found;
  Result<Written> written = parts_.registry.Update(
      context,
      resource,
      path.name_space,
      path.name,
      path.subresource,
      /*unconditional=*/true,
      [&](const AnyView& old, store::Revision revision) -> Result<AnyDraft> {
        found.clear();
        if (old == nullptr) {
          return base::Error(NotFoundError(*resource.info, path.name));
        }
        ALLOT_ASSIGN_OR_RETURN(AnyDraft next,
                               ApplyPatch(*kind,
                                          exchange->request->body,
                                          resource,
                                          old,
                                          revision,
                                          options->validation,
                                          found));
        const api::meta::ObjectMeta& metadata = MetadataOf(next.type(), next.root());
        ALLOT_RETURN_IF_ERROR(CheckIdentity(path, *resource.info, metadata));
        return next;
      });
  for (std::string& text : found) {
    exchange->Warn(std::move(text));
  }
  AnswerWritten(exchange, std::move(written), 200);
}

Result<Deletion> Handler::ReadDeletion(Exchange& exchange, bool& dry_run) {
  Deletion out;
  const net::QueryParameters& query = exchange.request->query;
  AnyDraft draft(api::Desc<api::meta::DeleteOptions>());
  if (!exchange.request->body.empty()) {
    ALLOT_ASSIGN_OR_RETURN(const Format format,
                           NegotiateBody(exchange.request->headers.Get("content-type")));
    // The kind may be written with any version of any group, as clients do.
    std::vector<std::string> ignored;
    const BodyKind kind{draft.type(), "DeleteOptions", "", ""};
    ALLOT_ASSIGN_OR_RETURN(
        draft,
        DecodeBody(
            kind, std::move(exchange.request->body), format, FieldValidation::kIgnore, ignored));
  }
  const auto& options = draft.As<api::meta::DeleteOptions>();
  if (options.grace_period_seconds != nullptr) {
    out.grace_seconds = *options.grace_period_seconds;
  } else if (const std::string_view grace = query.Get("gracePeriodSeconds"); !grace.empty()) {
    std::int64_t seconds = 0;
    const auto [at, error] = std::from_chars(grace.data(), grace.data() + grace.size(), seconds);
    if (error != std::errc() || at != grace.data() + grace.size()) {
      return base::Error(
          BadRequestError(fmt::format("strconv.ParseInt: parsing \"{}\": invalid syntax", grace)));
    }
    out.grace_seconds = seconds;
  }
  if (options.preconditions != nullptr) {
    if (options.preconditions->uid != nullptr) {
      out.uid = std::string(*options.preconditions->uid);
    }
    if (options.preconditions->resource_version != nullptr) {
      out.resource_version = std::string(*options.preconditions->resource_version);
    }
  }
  out.propagation = options.propagation_policy != nullptr ? *options.propagation_policy
                                                          : query.Get("propagationPolicy");
  if (options.orphan_dependents != nullptr && out.propagation.empty()) {
    out.propagation = *options.orphan_dependents ? "Orphan" : "Background";
  }
  dry_run = !options.dry_run.empty() || query.Find("dryRun").has_value();
  std::vector<base::StatusCause> causes;
  if (!out.propagation.empty() && out.propagation != "Background" &&
      out.propagation != "Foreground" && out.propagation != "Orphan") {
    causes.push_back({"FieldValueNotSupported",
                      fmt::format("Unsupported value: \"{}\": supported values: \"Background\", "
                                  "\"Foreground\", \"Orphan\", \"nil\"",
                                  out.propagation),
                      "propagationPolicy"});
  }
  for (const schema::Str value : options.dry_run) {
    if (value != "All") {
      causes.push_back(
          {"FieldValueNotSupported",
           fmt::format("Unsupported value: [\"{}\"]: supported values: \"All\"", value),
           "dryRun"});
    }
  }
  if (!causes.empty()) {
    return base::Error(InvalidError("DeleteOptions", "meta.k8s.io", "", std::move(causes)));
  }
  return out;
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
