// Handler: serviceaccounts/NAME/token, which makes a token instead of storing anything.
#include <utility>

#include <fmt/format.h>

#include "api/authentication/v1.gen.h"
#include "apiserver/edit.h"
#include "apiserver/errors.h"
#include "apiserver/handler.h"
#include "apiserver/service_tokens.h"
#include "schema/codec.h"

namespace allot::apiserver {
namespace {

namespace authentication = api::authentication;
using base::Reason;
using base::Result;

constexpr std::string_view kGroup = "authentication.k8s.io";
constexpr std::int64_t kDefaultSeconds = 3600;
constexpr std::int64_t kLeastSeconds = 600;
constexpr std::int64_t kMostSeconds = std::int64_t{1} << 32U;

std::unexpected<base::Status> InvalidRequest(std::string_view name,
                                             std::string_view field,
                                             std::string message) {
  return base::Error(InvalidError("TokenRequest",
                                  kGroup,
                                  name,
                                  {{"FieldValueInvalid", std::move(message), std::string(field)}}));
}

Result<void> CheckName(const RequestPath& path, const api::meta::ObjectMeta& metadata) {
  if (!metadata.name.empty() && metadata.name != path.name) {
    return InvalidRequest(
        path.name,
        "metadata.name",
        fmt::format("Invalid value: \"{}\": must match the service account name if specified",
                    metadata.name));
  }
  return {};
}

Result<void> CheckLifetime(std::int64_t seconds) {
  if (seconds >= kLeastSeconds && seconds <= kMostSeconds) {
    return {};
  }
  return InvalidRequest(
      "",
      "spec.expirationSeconds",
      fmt::format("Invalid value: {}: may not specify a duration {}",
                  seconds,
                  seconds < kLeastSeconds ? "less than 10 minutes" : "larger than 2^32 seconds"));
}

/// The resource of an object a token can be bound to; null for other kinds.
const Resource* BoundResource(const ResourceSet& resources,
                              const authentication::BoundObjectReference& ref) {
  if (ref.api_version != "v1" && !ref.api_version.empty()) {
    return nullptr;
  }
  const std::string_view plural = ref.kind == "Pod"      ? "pods"
                                  : ref.kind == "Secret" ? "secrets"
                                  : ref.kind == "Node"   ? "nodes"
                                                         : "";
  return plural.empty() ? nullptr : resources.Find("", "v1", plural);
}

Result<void> Bind(const Registry& registry,
                  std::string_view ns,
                  const authentication::BoundObjectReference& ref,
                  TokenClaims& claims) {
  const Resource* const resource = BoundResource(registry.resources(), ref);
  if (resource == nullptr) {
    const std::size_t slash = ref.api_version.find('/');
    const bool core = slash == schema::Str::npos;
    return base::Error(
        BadRequestError(fmt::format("cannot bind token to object of type {}/{}, Kind={}",
                                    core ? schema::Str() : ref.api_version.substr(0, slash),
                                    core ? ref.api_version : ref.api_version.substr(slash + 1),
                                    ref.kind)));
  }
  const auto entry = registry.Get(*resource, resource->info->namespaced ? ns : "", ref.name);
  if (!entry) {
    return base::Error(NotFoundError(*resource->info, ref.name));
  }
  const std::string uid(ObjectOf(*entry)->uid());
  if (!ref.uid.empty() && ref.uid != uid) {
    return base::Error(KindConflictError(
        *resource->info,
        ref.name,
        fmt::format("the UID in the bound object reference ({}) does not match the UID in record. "
                    "The object might have been deleted and then recreated",
                    ref.uid)));
  }
  claims.bound_kind = ref.kind;
  claims.bound = {std::string(ref.name), uid};
  return {};
}

std::string Encoded(const AnyDraft& draft, const MediaChoice& choice) {
  const schema::TypeDesc& type = draft.type();
  std::string out;
  if (choice.format == Format::kProtobuf) {
    std::string raw;
    schema::EncodeProtobuf(type, draft.root(), raw);
    schema::EncodeEnvelope(
        {.api_version = "authentication.k8s.io/v1", .kind = "TokenRequest", .raw = raw}, out);
    return out;
  }
  schema::EncodeJson(type, draft.root(), out);
  return FinishJson(std::move(out), choice);
}

}  // namespace

Result<void> Handler::FillToken(const RequestPath& path, AnyDraft& draft) {
  auto& request = draft.As<authentication::TokenRequest>();
  const Registry& registry = parts_.registry;
  ALLOT_RETURN_IF_ERROR(CheckName(path, request.metadata));
  const Resource* const accounts = registry.resources().Find("", "v1", "serviceaccounts");
  const auto account = registry.Get(*accounts, path.name_space, path.name);
  if (!account) {
    return base::Error(NotFoundError(*accounts->info, path.name));
  }
  base::Arena& arena = draft.arena();
  draft.SetTypeMeta("TokenRequest", "authentication.k8s.io/v1");
  request.metadata.name = draft.Copy(path.name);
  request.metadata.namespace_ = draft.Copy(path.name_space);
  request.metadata.uid = draft.Copy(ObjectOf(*account)->uid());
  request.metadata.creation_timestamp = NowSeconds(registry.clock());
  if (request.spec.expiration_seconds == nullptr) {
    SetValue(arena, request.spec.expiration_seconds, kDefaultSeconds);
  }
  ALLOT_RETURN_IF_ERROR(CheckLifetime(*request.spec.expiration_seconds));
  if (request.spec.audiences.empty()) {
    Append(arena, request.spec.audiences, schema::Str(kTokenAudience));
  }
  TokenClaims claims;
  for (const schema::Str audience : request.spec.audiences) {
    claims.audiences.emplace_back(audience);
  }
  claims.ns = path.name_space;
  claims.account = {path.name, std::string(request.metadata.uid)};
  claims.id = parts_.random.Uuid();
  claims.issued_at = request.metadata.creation_timestamp.seconds;
  claims.expires_at = claims.issued_at + *request.spec.expiration_seconds;
  if (request.spec.bound_object_ref != nullptr) {
    ALLOT_RETURN_IF_ERROR(
        apiserver::Bind(registry, path.name_space, *request.spec.bound_object_ref, claims));
  }
  ALLOT_ASSIGN_OR_RETURN(std::string token, parts_.service_tokens.Issue(claims));
  request.status = {};
  request.status.token = draft.Copy(token);
  request.status.expiration_timestamp = {claims.expires_at, 0, true};
  return {};
}

void Handler::RequestToken(const ExchangeRef& exchange) {
  const Result<ChangeOptions> options =
      ReadChangeOptions(exchange->request->query, OptionsKind::kCreate);
  if (!options) {
    exchange->SendError(options.error());
    return;
  }
  Result<AnyDraft> draft = ReadSubresource(*exchange, options->validation);
  if (!draft) {
    exchange->SendError(draft.error());
    return;
  }
  if (const Result<void> made = FillToken(exchange->path, *draft); !made) {
    exchange->SendError(made.error());
    return;
  }
  exchange->SendEncoded(201, Encoded(*draft, exchange->choice));
}

}  // namespace allot::apiserver
