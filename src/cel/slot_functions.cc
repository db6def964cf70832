#include "cel/slot_functions.h"

#include <algorithm>
#include <array>

#include "cel/ast.h"

namespace allot::cel {
namespace {

constexpr std::uint64_t kTraverseList = SlotPlan::kMaxList * kScan;
constexpr std::uint64_t kSets = 1 + 2 * SlotPlan::kMaxList * SlotPlan::kMaxList;

constexpr std::array kFunctions = {
    SlotFunction{"startsWith", kScan, SlotOp::kStartsWith},
    SlotFunction{"endsWith", kScan, SlotOp::kEndsWith},
    SlotFunction{"contains", kScan* kScan, SlotOp::kContains},
    SlotFunction{"matches", MatchBound(SlotPlan::kMaxText)},
    SlotFunction{"find", MatchBound(SlotPlan::kMaxText)},
    SlotFunction{"size", 1},
    SlotFunction{op::kIn, SlotPlan::kMaxList, SlotOp::kInList},
    SlotFunction{"isGreaterThan", 1, SlotOp::kIsGreaterThan},
    SlotFunction{"isLessThan", 1, SlotOp::kIsLessThan},
    SlotFunction{"compareTo", 1, SlotOp::kCompareTo},
    SlotFunction{"major", 1},
    SlotFunction{"minor", 1},
    SlotFunction{"patch", 1},
    SlotFunction{"asInteger", 1},
    SlotFunction{"asApproximateFloat", 1},
    SlotFunction{"isInteger", 1},
    SlotFunction{"sign", 1},
    SlotFunction{"add", 1},
    SlotFunction{"sub", 1},
    SlotFunction{"includes", kTraverseList, SlotOp::kIncludes},
    SlotFunction{"isSorted", kTraverseList},
    SlotFunction{"sum", kTraverseList},
    SlotFunction{"min", kTraverseList},
    SlotFunction{"max", kTraverseList},
    SlotFunction{"indexOf", kTraverseList},
    SlotFunction{"lastIndexOf", kTraverseList},
    SlotFunction{"sets.contains", kSets},
    SlotFunction{"sets.intersects", kSets},
    SlotFunction{"sets.equivalent", kSets},
    SlotFunction{"quantity", kScan},
    SlotFunction{"isQuantity", kScan},
    SlotFunction{"semver", kScan},
    SlotFunction{"isSemver", kScan},
    SlotFunction{"lowerAscii", kScan},
    SlotFunction{"upperAscii", kScan},
    SlotFunction{"trim", kScan},
    SlotFunction{"substring", kScan},
    SlotFunction{"charAt", 1},
    SlotFunction{"replace", 2 * kScan},
    SlotFunction{"split", 2 * kScan},
    SlotFunction{"type", 1},
    SlotFunction{"dyn", 1},
    SlotFunction{"bool", kScan},
    SlotFunction{"int", kScan},
    SlotFunction{"uint", kScan},
    SlotFunction{"double", kScan},
    SlotFunction{"string", kScan},
    SlotFunction{"hasValue", 1},
    SlotFunction{"value", 1},
    SlotFunction{"optional.of", 1},
    SlotFunction{"optional.none", 1},
    SlotFunction{op::kAdd, 2 * kScan},
    SlotFunction{op::kSubtract, 1},
    SlotFunction{op::kMultiply, 1},
    SlotFunction{op::kDivide, 1},
    SlotFunction{op::kModulo, 1},
    SlotFunction{op::kNegate, 1},
    SlotFunction{op::kNot, 1},
    SlotFunction{op::kLess, kScan, SlotOp::kLess},
    SlotFunction{op::kLessEquals, kScan, SlotOp::kLessEqual},
    SlotFunction{op::kGreater, kScan, SlotOp::kGreater},
    SlotFunction{op::kGreaterEquals, kScan, SlotOp::kGreaterEqual},
};

}  // namespace

const SlotFunction* FindSlotFunction(std::string_view name) {
  const auto* const at = std::ranges::find(kFunctions, name, &SlotFunction::name);
  return at == kFunctions.end() ? nullptr : at;
}

}  // namespace allot::cel
