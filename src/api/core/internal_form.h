// The difference of two objects as Kubernetes tells it: a unified diff of its unversioned types as
// indented JSON. Module-private. Thread safety: stateless.
#pragma once

#include <string>

#include "schema/type_desc.h"

namespace allot::api::core {

/// Every field in the unversioned type's order and spelling, one blank a level.
[[nodiscard]] std::string InternalJson(const schema::TypeDesc& type, const void* root);

/// The unified diff from `before` to `after`, both of `type`.
[[nodiscard]] std::string InternalDiff(const schema::TypeDesc& type,
                                       const void* before,
                                       const void* after);

}  // namespace allot::api::core
