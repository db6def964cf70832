// What names and loops mean to the slot tier. Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cel/plan.h"
#include "cel/slots.h"

namespace allot::cel {

/// What names mean inside a loop or a cel.bind.
struct Scope {
  const Scope* parent = nullptr;
  std::string_view accumulator;
  std::string_view variable;
  std::string_view variable2;
  std::uint16_t local = 0;
  const Step* bound = nullptr;  ///< the value of the accumulator, in the scope of the parent
};

/// A path with the names of cel.bind replaced by what they stand for.
struct Chain {
  enum class Root : std::uint8_t { kDevice, kLocal, kStep } root = Root::kDevice;
  std::uint16_t local = 0;
  const Step* step = nullptr;
  const Scope* scope = nullptr;  ///< of the step
  std::vector<const Qualifier*> qualifiers;
};

/// False: the path is a choice, or begins with a name of another kind.
[[nodiscard]] bool Flatten(const Path& path, const Scope* scope, Chain& out);

/// What an exists, all or existsOne tests of each element; the loop's step is more than that.
struct Quantifier {
  SlotOp op = SlotOp::kAll;
  std::span<const Step* const> predicate;  ///< all of them, with the logic of the loop
};

/// Nothing: the loop is another one.
[[nodiscard]] std::optional<Quantifier> AsQuantifier(const LoopPlan& loop);

}  // namespace allot::cel
