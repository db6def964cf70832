#include "apiserver/errors.h"

#include <utility>

#include <fmt/format.h>

namespace allot::apiserver {
namespace {

using base::Reason;
using base::Status;
using base::StatusDetails;

StatusDetails DetailsOf(const api::KindInfo& info, std::string_view kind, std::string_view name) {
  StatusDetails details;
  details.name = name;
  details.group = info.group;
  details.kind = kind;
  return details;
}

}  // namespace

std::string QualifiedName(std::string_view word, std::string_view group) {
  return group.empty() ? std::string(word) : fmt::format("{}.{}", word, group);
}

Status NotFoundError(const api::KindInfo& info, std::string_view name) {
  return {Reason::kNotFound,
          fmt::format("{} \"{}\" not found", QualifiedName(info.resource, info.group), name),
          DetailsOf(info, info.resource, name)};
}

Status AlreadyExistsError(const api::KindInfo& info, std::string_view name) {
  return {Reason::kAlreadyExists,
          fmt::format("{} \"{}\" already exists", QualifiedName(info.resource, info.group), name),
          DetailsOf(info, info.resource, name)};
}

Status ConflictError(const api::KindInfo& info, std::string_view name, std::string_view why) {
  return {Reason::kConflict,
          fmt::format("Operation cannot be fulfilled on {} \"{}\": {}",
                      QualifiedName(info.resource, info.group),
                      name,
                      why),
          DetailsOf(info, info.resource, name)};
}

Status StaleError(const api::KindInfo& info, std::string_view name) {
  return ConflictError(info,
                       name,
                       "the object has been modified; please apply your changes to the latest "
                       "version and try again");
}

Status KindConflictError(const api::KindInfo& info, std::string_view name, std::string_view why) {
  return {Reason::kConflict,
          fmt::format("Operation cannot be fulfilled on {} \"{}\": {}",
                      QualifiedName(info.kind, info.group),
                      name,
                      why),
          DetailsOf(info, info.kind, name)};
}

Status ForbiddenError(const api::KindInfo& info, std::string_view name, std::string_view why) {
  const std::string qualified = QualifiedName(info.resource, info.group);
  std::string message = name.empty()
                            ? fmt::format("{} is forbidden: {}", qualified, why)
                            : fmt::format("{} \"{}\" is forbidden: {}", qualified, name, why);
  return {Reason::kForbidden, std::move(message), DetailsOf(info, info.resource, name)};
}

Status InvalidError(std::string_view kind,
                    std::string_view group,
                    std::string_view name,
                    std::vector<base::StatusCause> causes) {
  std::string text = fmt::format("{} \"{}\" is invalid: ", QualifiedName(kind, group), name);
  text += causes.size() > 1 ? "[" : "";
  // As upstream's aggregate, one text is said once.
  std::vector<std::string> said;
  for (const base::StatusCause& cause : causes) {
    std::string one = fmt::format("{}: {}", cause.field, cause.message);
    bool repeated = false;
    for (const std::string& before : said) {
      repeated = repeated || before == one;
    }
    if (!repeated) {
      text += (said.empty() ? "" : ", ") + one;
      said.push_back(std::move(one));
    }
  }
  text += causes.size() > 1 ? "]" : "";
  StatusDetails details;
  details.name = name;
  details.group = group;
  details.kind = kind;
  details.causes = std::move(causes);
  return {Reason::kInvalid, std::move(text), std::move(details)};
}

Status NoSuchResourceError() {
  return {Reason::kNotFound, "the server could not find the requested resource", StatusDetails()};
}

Status MethodNotAllowedError() {
  return {Reason::kMethodNotAllowed,
          "the server does not allow this method on the requested resource",
          StatusDetails()};
}

Status BadRequestError(std::string message) {
  return {Reason::kBadRequest, std::move(message)};
}

}  // namespace allot::apiserver
