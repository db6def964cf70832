// What stands behind a Program: tree, plan, types and the text they all point into.
// Thread safety: immutable once compiled.
#pragma once

#include <cstdint>
#include <string>

#include "base/arena.h"
#include "cel/cel.h"
#include "cel/checker.h"
#include "cel/environment.h"
#include "cel/plan.h"
#include "cel/slots.h"

namespace allot::cel {

struct Program::Impl {
  std::string expression;
  base::Arena arena{2048};
  const Env* env = nullptr;
  CheckedTree tree;
  Plan plan;
  std::unique_ptr<const SlotPlan> slots;  ///< null: only the exact interpreter can evaluate it
  std::string type;
  std::uint64_t max_cost = ~std::uint64_t{0};
  CompileOptions options;
};

/// Compiles in any environment, checking the result type only when the purpose says so.
/// `error_reason` tells invalid expressions from what upstream calls internal errors.
[[nodiscard]] Compilation CompileIn(const Env& env,
                                    std::string_view expression,
                                    const CompileOptions& options,
                                    base::Reason& error_reason);

}  // namespace allot::cel
