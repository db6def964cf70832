// EvaluationLimits: how long one attempt may go on evaluating expressions.
// Thread safety: a value; `stop` may be set by any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>

namespace allot::inventory {

struct EvaluationLimits {
  /// What an attempt may cost. Unit: CEL cost, as cel::Evaluator::spent counts it.
  std::uint64_t cost = std::numeric_limits<std::uint64_t>::max();
  /// Asked when the cost is used up; true: as much again. Null: never.
  std::function<bool()> more{};
  /// Set: nothing more is evaluated. Null: never. Lifetime: outlives who evaluates.
  const std::atomic<bool>* stop = nullptr;
};

}  // namespace allot::inventory
