// Whether a toleration covers a taint: one rule for the taints of nodes and of devices.
// Thread safety: stateless.
#pragma once

#include <string_view>

namespace allot::api {

/// `Toleration`: core::Toleration or resource::DeviceToleration.
template <typename Toleration>
[[nodiscard]] bool Tolerates(const Toleration& toleration,
                             std::string_view key,
                             std::string_view value,
                             std::string_view effect) {
  if (!toleration.effect.empty() && toleration.effect != effect) {
    return false;
  }
  if (!toleration.key.empty() && toleration.key != key) {
    return false;
  }
  if (toleration.operator_ == "Exists") {
    return true;
  }
  return (toleration.operator_.empty() || toleration.operator_ == "Equal") &&
         toleration.value == value;
}
/// As above, for a core::Taint or resource::DeviceTaint.
template <typename Toleration, typename Taint>
[[nodiscard]] bool Tolerates(const Toleration& toleration, const Taint& taint) {
  return Tolerates(toleration, taint.key, taint.value, taint.effect);
}

}  // namespace allot::api
