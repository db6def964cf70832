// The keys of the claim controller's queue: pods and claims share it. Module-private.
// Thread safety: stateless.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace allot::controllers {

inline constexpr std::string_view kPodPrefix = "pod:";
inline constexpr std::string_view kClaimPrefix = "claim:";

[[nodiscard]] inline std::string PrefixedKey(std::string_view prefix,
                                             std::string_view ns,
                                             std::string_view name) {
  return fmt::format("{}{}/{}", prefix, ns, name);
}

}  // namespace allot::controllers
