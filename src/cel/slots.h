// SlotPlan: the fast tier. An expression that reads single attributes and capacities, compiled to
// read them from slots.
//
// It gives the verdict only; costs and error texts come from the exact interpreter. It takes
// expressions whose cost cannot reach the limit, without loops and without building strings; for
// all others there is no SlotPlan. Thread safety: immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cel/cel.h"
#include "cel/context.h"
#include "cel/functions.h"
#include "cel/plan.h"
#include "cel/value.h"

namespace allot::cel {

/// What a slot holds. The value of an absent attribute or capacity is an error value.
struct SlotKey {
  enum class Kind : std::uint8_t {
    kDriver,
    kMultiple,  ///< allowMultipleAllocations
    kAttribute,
    kCapacity,
    kAttributeDomain,  ///< bool: is there an attribute in the domain
    kCapacityDomain,
  } kind = Kind::kDriver;
  std::string_view domain;
  std::string_view name;

  friend bool operator==(const SlotKey&, const SlotKey&) = default;
};

class SlotPlan {
 public:
  /// Null: the expression needs the exact interpreter. Lifetime: the plan outlives the slot plan.
  static std::unique_ptr<const SlotPlan> Make(Plan& plan,
                                              std::size_t expression_size,
                                              std::uint64_t cost_limit);

  [[nodiscard]] std::span<const SlotKey> slots() const { return slots_; }
  /// The verdict; nothing when these values need the exact interpreter. Cost: 10 to 60 ns, no
  /// allocation.
  [[nodiscard]] std::optional<Verdict> Run(Context& scratch, std::span<const Value> slots) const;

  static constexpr std::size_t kMaxSlots = 16;
  /// A slot without value.
  static constexpr Value Absent() { return Value::Error("absent"); }
  /// Whether a value may stand in a slot: no long text, no quantity that comparing changes.
  [[nodiscard]] static bool Fits(const Value& value);

 private:
  enum class Op : std::uint8_t {
    kConstant,
    kSlot,
    kOptionalSlot,
    kHas,
    kAnd,
    kOr,
    kEqual,
    kNotEqual,
    kLess,
    kLessEqual,
    kGreater,
    kGreaterEqual,
    kNot,
    kOptionalOr,
    kOptionalOrValue,
    kInSet,
    kMatches,
    kCall,
  };
  struct Node {
    Op op = Op::kConstant;
    std::uint16_t first = 0;  // into operands_
    std::uint16_t count = 0;
    std::uint16_t slot = 0;
    const Step* step = nullptr;
    Value constant;
  };
  class Builder;

  Value Eval(const Node& node, Context& scratch, std::span<const Value> slots) const;
  Value EvalLogic(const Node& node,
                  Context& scratch,
                  std::span<const Value> slots,
                  bool decides) const;
  Value EvalCall(const Node& node, Context& scratch, std::span<const Value> slots) const;
  Value EvalCompare(const Node& node, Context& scratch, std::span<const Value> slots) const;
  [[nodiscard]] const Node& Operand(const Node& node, std::size_t i) const {
    return nodes_[operands_[node.first + i]];
  }

  std::vector<Node> nodes_;  // the root is the last one
  std::vector<std::uint16_t> operands_;
  std::vector<SlotKey> slots_;
  std::uint32_t libraries_ = 0;
};

}  // namespace allot::cel
