// Feature gates: the switches of Kubernetes 1.37 with their stage and default (schemas/gates.yaml),
// and GateSet, what one server has on. Thread safety: values; a published GateSet is never changed.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "api/gates.gen.h"
#include "base/status.h"

namespace allot::api {

enum class GateStage : std::uint8_t { kAlpha, kBeta, kStable, kDeprecated };

struct GateInfo {
  std::string_view name;
  GateStage stage = GateStage::kAlpha;
  bool on = false;                            // in a stock server
  bool locked = false;                        // may not be set to anything but the default
  std::span<const std::string_view> needs{};  // gates that must be on when this one is
};

/// Every gate, indexed by Gate.
[[nodiscard]] std::span<const GateInfo> Gates();
/// "ALPHA", "BETA", "" or "DEPRECATED", as kubernetes_feature_enabled labels them.
[[nodiscard]] std::string_view StageText(GateStage stage);

class GateSet {
 public:
  /// The defaults of a stock server.
  GateSet();

  /// Cost: one bit test.
  [[nodiscard]] bool Enabled(Gate gate) const { return on_[static_cast<std::size_t>(gate)]; }
  /// The gate of this name; false for an unknown one.
  [[nodiscard]] bool Enabled(std::string_view name) const;
  /// Without any check, for tests and profiles.
  void Set(Gate gate, bool on) { on_[static_cast<std::size_t>(gate)] = on; }

  /// Applies the text of --feature-gates: `A=true,B=false,AllAlpha=true,AllBeta=true` on top of the
  /// defaults. Special gates set what no part of the text names itself.
  /// Errors: kInvalid with upstream's text (unrecognized, locked, missing or bad value, a needed
  /// gate off); nothing is changed then.
  [[nodiscard]] base::Result<void> Parse(std::string_view text);

 private:
  std::bitset<kGateCount> on_;
};

}  // namespace allot::api
