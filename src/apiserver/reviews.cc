// Handler: reviews: questions about identity and permission that are answered and not stored.
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/authentication/v1.gen.h"
#include "api/authorization/v1.gen.h"
#include "api/go_value.h"
#include "apiserver/body.h"
#include "apiserver/edit.h"
#include "apiserver/errors.h"
#include "apiserver/handler.h"

namespace allot::apiserver {
namespace {

namespace authentication = api::authentication;
namespace authorization = api::authorization;

/// Copies a user into an answer.
void FillUser(AnyDraft& draft, const User& user, authentication::UserInfo& out) {
  out.username = draft.Copy(user.name);
  out.uid = draft.Copy(user.uid);
  for (const std::string& group : user.groups) {
    Append(draft.arena(), out.groups, draft.Copy(group));
  }
  for (const auto& [key, values] : user.extra) {
    schema::List<schema::Str> copies;
    for (const std::string& value : values) {
      Append(draft.arena(), copies, draft.Copy(value));
    }
    Put(draft.arena(), out.extra, draft.Copy(key), copies);
  }
}

AccessRequest AskOf(const authorization::ResourceAttributes* resource,
                    const authorization::NonResourceAttributes* page) {
  AccessRequest ask;
  if (resource != nullptr) {
    ask.resource_request = true;
    ask.verb = resource->verb;
    ask.group = resource->group;
    ask.resource = resource->resource;
    ask.subresource = resource->subresource;
    ask.name_space = resource->namespace_;
    ask.name = resource->name;
  } else if (page != nullptr) {
    ask.verb = page->verb;
    ask.path = page->path;
  }
  return ask;
}

User UserOf(const authorization::SubjectAccessReviewSpec& spec) {
  User user;
  user.name = spec.user;
  user.uid = spec.uid;
  for (const schema::Str group : spec.groups) {
    user.groups.emplace_back(group);
  }
  return user;
}

/// `*` in everything for those who may do anything.
void FillRules(AnyDraft& draft, bool all, authorization::SubjectRulesReviewStatus& out) {
  base::Arena& arena = draft.arena();
  const schema::Str any = "*";
  if (all) {
    authorization::ResourceRule rule;
    Append(arena, rule.verbs, any);
    Append(arena, rule.api_groups, any);
    Append(arena, rule.resources, any);
    Append(arena, out.resource_rules, rule);
    authorization::NonResourceRule page;
    Append(arena, page.verbs, any);
    Append(arena, page.non_resource_urls, any);
    Append(arena, out.non_resource_rules, page);
    return;
  }
  authorization::NonResourceRule health;
  Append(arena, health.verbs, schema::Str("get"));
  for (const schema::Str path : {"/healthz", "/livez", "/readyz", "/version"}) {
    Append(arena, health.non_resource_urls, path);
  }
  Append(arena, out.non_resource_rules, health);
}

/// Upstream names no kind in these errors.
template <typename Spec>
void CheckTarget(const Spec& spec, std::vector<base::StatusCause>& causes) {
  const bool resource = spec.resource_attributes != nullptr;
  const bool page = spec.non_resource_attributes != nullptr;
  if (resource == page) {
    const std::string found = page ? api::GoValue(api::Desc<authorization::NonResourceAttributes>(),
                                                  spec.non_resource_attributes)
                                         .text()
                                   : std::string("null");
    causes.push_back({"FieldValueInvalid",
                      fmt::format("Invalid value: {}: exactly one of nonResourceAttributes or "
                                  "resourceAttributes must be specified",
                                  found),
                      "spec"});
  }
}

void CheckSubject(const authorization::SubjectAccessReviewSpec& spec,
                  std::vector<base::StatusCause>& causes) {
  if (spec.user.empty() && spec.groups.empty()) {
    causes.push_back({"FieldValueInvalid",
                      "Invalid value: \"\": at least one of user or group must be specified",
                      "spec.user"});
  }
}

void CheckLocal(const authorization::LocalSubjectAccessReview& review,
                std::vector<base::StatusCause>& causes) {
  const auto* const resource = review.spec.resource_attributes;
  if (resource != nullptr && resource->namespace_ != review.metadata.namespace_) {
    causes.push_back(
        {"FieldValueInvalid",
         fmt::format("Invalid value: \"{}\": must match metadata.namespace", resource->namespace_),
         "spec.resourceAttributes.namespace"});
  }
}

/// What a review must say to be answered. Errors: kInvalid, kBadRequest.
base::Result<void> CheckReview(const AnyDraft& draft) {
  const schema::TypeDesc& type = draft.type();
  std::vector<base::StatusCause> causes;
  if (&type == &api::Desc<authentication::TokenReview>()) {
    if (static_cast<const authentication::TokenReview*>(draft.root())->spec.token.empty()) {
      return base::Error(BadRequestError("token is required for TokenReview in authentication"));
    }
  } else if (&type == &api::Desc<authorization::SelfSubjectAccessReview>()) {
    CheckTarget(static_cast<const authorization::SelfSubjectAccessReview*>(draft.root())->spec,
                causes);
  } else if (&type == &api::Desc<authorization::SubjectAccessReview>()) {
    const auto& review = *static_cast<const authorization::SubjectAccessReview*>(draft.root());
    CheckTarget(review.spec, causes);
    CheckSubject(review.spec, causes);
  } else if (&type == &api::Desc<authorization::LocalSubjectAccessReview>()) {
    const auto& review = *static_cast<const authorization::LocalSubjectAccessReview*>(draft.root());
    CheckTarget(review.spec, causes);
    CheckSubject(review.spec, causes);
    CheckLocal(review, causes);
  }
  if (!causes.empty()) {
    return base::Error(InvalidError("", "authorization.k8s.io", "", std::move(causes)));
  }
  return {};
}

}  // namespace

bool Handler::Review(const ExchangeRef& exchange) {
  base::Result<AnyDraft> read = ReadObject(*exchange, FieldValidation::kWarn);
  if (!read) {
    exchange->SendError(read.error());
    return true;
  }
  AnyDraft& draft = *read;
  if (const base::Result<void> good = CheckReview(draft); !good) {
    exchange->SendError(good.error());
    return true;
  }
  draft.SetTypeMeta(exchange->resource->info->kind, exchange->resource->info->api_version);
  const schema::TypeDesc& type = draft.type();
  const Authorizer& door = parts_.authorizer;
  if (&type == &api::Desc<authentication::SelfSubjectReview>()) {
    FillUser(draft, exchange->user, draft.As<authentication::SelfSubjectReview>().status.user_info);
  } else if (&type == &api::Desc<authentication::TokenReview>()) {
    auto& review = draft.As<authentication::TokenReview>();
    if (const std::optional<User> user = parts_.authenticator.FindToken(review.spec.token)) {
      review.status.authenticated = true;
      FillUser(draft, *user, review.status.user);
    } else {
      review.status.error = "the token is not known";
    }
  } else if (&type == &api::Desc<authorization::SelfSubjectAccessReview>()) {
    auto& review = draft.As<authorization::SelfSubjectAccessReview>();
    review.status.allowed =
        door.Allowed(exchange->user,
                     AskOf(review.spec.resource_attributes, review.spec.non_resource_attributes));
  } else if (&type == &api::Desc<authorization::SubjectAccessReview>()) {
    auto& review = draft.As<authorization::SubjectAccessReview>();
    review.status.allowed =
        door.Allowed(UserOf(review.spec),
                     AskOf(review.spec.resource_attributes, review.spec.non_resource_attributes));
  } else if (&type == &api::Desc<authorization::LocalSubjectAccessReview>()) {
    auto& review = draft.As<authorization::LocalSubjectAccessReview>();
    review.status.allowed =
        door.Allowed(UserOf(review.spec),
                     AskOf(review.spec.resource_attributes, review.spec.non_resource_attributes));
  } else if (&type == &api::Desc<authorization::SelfSubjectRulesReview>()) {
    const AccessRequest anything{.verb = "*",
                                 .path = {},
                                 .group = "*",
                                 .resource = "*",
                                 .subresource = {},
                                 .name_space = {},
                                 .name = {},
                                 .resource_request = true};
    FillRules(draft,
              door.Allowed(exchange->user, anything),
              draft.As<authorization::SelfSubjectRulesReview>().status);
  } else {
    return false;
  }
  const Shown shown{exchange->resource, draft.Freeze(), 0};
  MediaChoice plain = exchange->choice;
  plain.shape = Shape::kObject;
  exchange->SendEncoded(201, EncodeObject(shown, plain, IncludeObject::kMetadata, 0));
  return true;
}

}  // namespace allot::apiserver
