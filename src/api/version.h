// The Kubernetes release whose API and behaviour this code follows.
#pragma once

#include <string_view>

namespace allot::api {

inline constexpr std::string_view kKubernetesVersion = "v1.37.2";
inline constexpr std::string_view kKubernetesMinor = "37";
/// The oldest release a server of this one may run beside.
inline constexpr std::string_view kOldestCompatibleMinor = "36";

}  // namespace allot::api
