// Older shapes of resource.k8s.io objects, brought into that of v1 while they are still free trees.
// Thread safety: pure functions.
#pragma once

#include <string_view>

#include "text/value.h"

namespace allot::snapshot {

/// Rewrites `object` of `version` (v1beta1, v1beta2, v1) into the v1 shape. False: the version is
/// unknown.
[[nodiscard]] bool ToV1(std::string_view version, text::Value& object);

}  // namespace allot::snapshot
