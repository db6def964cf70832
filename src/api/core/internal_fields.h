// The order and spelling of fields in Kubernetes' unversioned core types. Module-private.
// Thread safety: constant data.
#pragma once

#include <string_view>

namespace allot::api::core {

/// "Volumes,DNSPolicy,...,DeprecatedServiceAccount=serviceAccount" of a type of a pod spec; empty
/// for types that are the same everywhere.
[[nodiscard]] std::string_view InternalFields(std::string_view type);

}  // namespace allot::api::core
