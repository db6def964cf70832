// The Status values of the API with upstream's exact messages and details.
// Thread safety: free functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/registry.h"
#include "base/status.h"

namespace allot::apiserver {

/// "resourceclaims.resource.k8s.io", or "pods" in core.
[[nodiscard]] std::string QualifiedName(std::string_view word, std::string_view group);

[[nodiscard]] base::Status NotFoundError(const api::KindInfo& info, std::string_view name);
[[nodiscard]] base::Status AlreadyExistsError(const api::KindInfo& info, std::string_view name);
/// `Operation cannot be fulfilled on <plural> "<name>": <why>`.
[[nodiscard]] base::Status ConflictError(const api::KindInfo& info,
                                         std::string_view name,
                                         std::string_view why);
/// The conflict of a stale resourceVersion.
[[nodiscard]] base::Status StaleError(const api::KindInfo& info, std::string_view name);
/// As ConflictError but naming the Kind: failed preconditions of a delete.
[[nodiscard]] base::Status KindConflictError(const api::KindInfo& info,
                                             std::string_view name,
                                             std::string_view why);
[[nodiscard]] base::Status ForbiddenError(const api::KindInfo& info,
                                          std::string_view name,
                                          std::string_view why);
/// `<Kind>.<group> "<name>" is invalid: ...` from field errors.
/// A cause's message is the part after its field.
[[nodiscard]] base::Status InvalidError(std::string_view kind,
                                        std::string_view group,
                                        std::string_view name,
                                        std::vector<base::StatusCause> causes);
/// 404 of a path that names nothing served.
[[nodiscard]] base::Status NoSuchResourceError();
[[nodiscard]] base::Status MethodNotAllowedError();
[[nodiscard]] base::Status BadRequestError(std::string message);

}  // namespace allot::apiserver
