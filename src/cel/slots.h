// SlotPlan: the fast tier. An expression that reads single attributes and capacities, compiled to
// read them from slots.
//
// It gives the verdict only; costs and error texts come from the exact interpreter. It takes
// expressions whose cost cannot reach the limit whatever the slots hold (cost_bound); for all
// others there is no SlotPlan. What it cannot decide at run time it leaves to the exact interpreter
// (Truth::kAsk). Thread safety: immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
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

/// A truth value in the order of CEL's logic: && is the least of its operands, || the greatest.
enum class Truth : std::uint8_t {
  kFalse,
  kError,
  kTrue,
  kAsk,  ///< only the exact interpreter knows
};

/// The verdict of a selector with this truth. REQUIRES: truth != kAsk.
[[nodiscard]] constexpr Verdict VerdictOf(Truth truth) {
  return truth == Truth::kFalse  ? Verdict::kFalse
         : truth == Truth::kTrue ? Verdict::kTrue
                                 : Verdict::kError;
}

enum class SlotOp : std::uint8_t {
  // Values.
  kConstant,
  kSlot,
  kOptionalSlot,
  kLocal,        ///< a variable of a loop
  kConditional,  ///< also a condition
  kOptionalOr,
  kOptionalOrValue,
  kIndex,  ///< a constant index into a list
  kList,
  kCompareTo,  ///< of quantities, of versions
  kCall,       ///< any other function
  // Conditions.
  kHas,
  kAnd,
  kOr,
  kNot,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kIsGreaterThan,
  kIsLessThan,
  kStartsWith,
  kEndsWith,
  kContains,
  kMatches,
  kInSet,
  kIncludes,  ///< the list first
  kInList,    ///< the element first
  kAll,
  kExists,
  kExistsOne,
};

class SlotPlan {
 public:
  struct Node {
    SlotOp op = SlotOp::kConstant;
    /// Loops: whether the body sees index and element.
    bool two_variables = false;
    std::uint16_t first = 0;  ///< of its operands
    std::uint16_t count = 0;
    std::uint16_t slot = 0;  ///< of a slot; the (first) variable of a loop
    const Step* step = nullptr;
    Value constant;
  };

  /// Null: the expression needs the exact interpreter. Lifetime: the plan outlives the slot plan.
  static std::unique_ptr<const SlotPlan> Make(Plan& plan, std::uint64_t cost_limit);

  [[nodiscard]] std::span<const SlotKey> slots() const { return slots_; }
  /// The truth of the expression. REQUIRES: every slot fits. Cost: 5 to 60 ns; no allocation but
  /// where a function makes a string or a list.
  [[nodiscard]] Truth Run(Context& scratch, const Value* slots) const;
  /// The same for one node of the plan.
  [[nodiscard]] Truth Test(const Node& node, Context& scratch, const Value* slots) const;

  /// No evaluation over slots that fit can cost more.
  [[nodiscard]] std::uint64_t cost_bound() const { return cost_bound_; }
  [[nodiscard]] const Node& root() const { return nodes_.back(); }
  [[nodiscard]] const Node& Operand(const Node& node, std::size_t i) const {
    return nodes_[operands_[node.first + i]];
  }
  [[nodiscard]] std::size_t IndexOf(const Node& node) const {
    return static_cast<std::size_t>(&node - nodes_.data());
  }
  [[nodiscard]] std::size_t node_count() const { return nodes_.size(); }
  [[nodiscard]] std::uint32_t libraries() const { return libraries_; }

  static constexpr std::size_t kMaxSlots = 16;
  static constexpr std::size_t kMaxLocals = 6;
  /// Unit: bytes.
  static constexpr std::uint32_t kMaxText = 256;
  static constexpr std::size_t kMaxList = 64;

  /// A slot without value.
  static constexpr Value Absent() { return Value::Error("absent"); }
  /// Whether a value may stand in a slot: no long text, no long list, no quantity that comparing
  /// changes. The bound of the cost rests on it.
  [[nodiscard]] static bool Fits(const Value& value);

 private:
  friend class SlotBuilder;

  std::vector<Node> nodes_;  // the root is the last one
  std::vector<std::uint16_t> operands_;
  std::vector<SlotKey> slots_;
  std::uint32_t libraries_ = 0;
  std::uint64_t cost_bound_ = 0;
};

/// The slots an expression without a slot plan reads, where it reads single attributes only. False:
/// its result may depend on everything a device has.
[[nodiscard]] bool SlotsRead(const Plan& plan, std::vector<SlotKey>& out);

}  // namespace allot::cel
