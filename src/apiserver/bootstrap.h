// What every cluster has from the start: its four namespaces.
// Thread safety: free functions.
#pragma once

#include "apiserver/registry.h"
#include "base/status.h"

namespace allot::apiserver {

/// Creates what is missing and waits until it is durable. Errors: of the store.
[[nodiscard]] base::Result<void> Bootstrap(Registry& registry);

}  // namespace allot::apiserver
