// The functions the slot tier calls, and what a call of each may cost.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "cel/slots.h"

namespace allot::cel {

/// Scanning a text that fits, as the exact interpreter charges it: 0.1 a byte.
inline constexpr std::uint64_t kScan = SlotPlan::kMaxText / 10 + 1;

/// Matching a text that fits with a pattern, which counts 0.25 a byte.
[[nodiscard]] constexpr std::uint64_t MatchBound(std::size_t pattern) {
  return kScan * (pattern / 4 + 1);
}

struct SlotFunction {
  std::string_view name;
  /// The most a call costs over values that fit.
  std::uint64_t cost = 1;
  /// The operation with two operands that does the same; kCall: there is none.
  SlotOp op = SlotOp::kCall;
};

/// Null: the tier does not call it. All others are pure functions of their arguments.
[[nodiscard]] const SlotFunction* FindSlotFunction(std::string_view name);

}  // namespace allot::cel
