// Handler: create, update, patch and bindings. Deleting is in handler_delete.cc.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/core/v1.gen.h"
#include "apiserver/body.h"
#include "apiserver/errors.h"
#include "apiserver/handler.h"
#include "apiserver/patch.h"

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

/// The body of a binding names its pod, which the URL may name as well.
Result<void> CheckBindingNames(const RequestPath& path, const api::meta::ObjectMeta& metadata) {
  if (!metadata.namespace_.empty() && metadata.namespace_ != path.name_space) {
    return base::Error(BadRequestError(
        "the namespace of the provided object does not match the namespace sent on the request"));
  }
  if (path.name.empty() && metadata.name.empty()) {
    return base::Error(BadRequestError("Name parameter required."));
  }
  if (!path.name.empty() && !metadata.name.empty() && metadata.name != path.name) {
    return base::Error(BadRequestError("name in URL does not match name in Binding object"));
  }
  return {};
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

Result<AnyDraft> Handler::ReadSubresource(Exchange& exchange, FieldValidation validation) {
  const api::SubresourceInfo* const info =
      exchange.resource->info->FindSubresource(exchange.path.subresource);
  if (info == nullptr) {
    return base::Error(NoSuchResourceError());
  }
  ALLOT_ASSIGN_OR_RETURN(const Format format,
                         NegotiateBody(exchange.request->headers.Get("content-type")));
  std::vector<std::string> found;
  Result<AnyDraft> draft =
      DecodeBody(BodyKindOf(*info), std::move(exchange.request->body), format, validation, found);
  for (std::string& text : found) {
    exchange.Warn(std::move(text));
  }
  if (draft) {
    const api::meta::ObjectMeta& metadata = MetadataOf(draft->type(), draft->root());
    if (!metadata.namespace_.empty() && metadata.namespace_ != exchange.path.name_space) {
      return base::Error(BadRequestError(
          "the namespace of the provided object does not match the namespace sent on the request"));
    }
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
  } else if (exchange->path.subresource == "token") {
    RequestToken(exchange);
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
  if (const Result<void> fits = CheckBindingNames(exchange->path, binding.metadata); !fits) {
    exchange->SendError(fits.error());
    return;
  }
  if (pod.empty()) {
    pod = binding.metadata.name;
  }
  const WriteContext context = ContextOf(*exchange, *options);
  Result<Written> written = parts_.registry.Bind(context, exchange->path.name_space, pod, binding);
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

}  // namespace allot::apiserver
