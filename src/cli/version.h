// The versions this program speaks of.
#pragma once

#include <string_view>

namespace allot::cli {

inline constexpr std::string_view kVersion = "0.1.0";
inline constexpr std::string_view kKubernetesVersion = "v1.37.2";

}  // namespace allot::cli
