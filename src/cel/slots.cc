#include "cel/slots.h"

#include <algorithm>
#include <array>

#include "cel/operations.h"

namespace allot::cel {
namespace {

// Ends an evaluation over slots: the exact interpreter has to say. It travels as a panic does.
constexpr Value Ask() {
  Value out = Value::Error("ask");
  out.panic = true;
  return out;
}

Truth TruthOf(const Value& value) {
  if (value.Is(ValueKind::kBool)) {
    return value.boolean ? Truth::kTrue : Truth::kFalse;
  }
  return value.IsError() && value.panic ? Truth::kAsk : Truth::kError;
}

constexpr Truth TruthOf(bool value) {
  return value ? Truth::kTrue : Truth::kFalse;
}

Value ValueOf(Truth truth) {
  switch (truth) {
    case Truth::kFalse:
    case Truth::kTrue: return Value::Bool(truth == Truth::kTrue);
    case Truth::kError: return NoSuchOverload();
    case Truth::kAsk: break;
  }
  return Ask();
}

template <typename T>
constexpr int Order(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

// Both fast; without memory where the exponents are near.
int OrderQuantities(const quantity::ExactQuantity& a, const quantity::ExactQuantity& b) {
  constexpr int kNear = 18;
  const int apart = a.exponent() - b.exponent();
  if (apart == 0) {
    return Order(a.value(), b.value());
  }
  if (apart > kNear || apart < -kNear) {
    return quantity::ExactQuantity::Compare(a, b);
  }
  __extension__ using Wide = __int128;
  Wide left = a.value();
  Wide right = b.value();
  for (int i = 0; i < apart; ++i) {
    left *= 10;
  }
  for (int i = 0; i < -apart; ++i) {
    right *= 10;
  }
  return Order(left, right);
}

bool SameText(const Value& a, const Value& b) {
  return a.size == b.size && std::char_traits<char>::compare(a.data, b.data, a.size) == 0;
}

// One evaluation.
class SlotRun {
 public:
  SlotRun(const SlotPlan& plan, Context& scratch, const Value* slots)
      : plan_(plan), scratch_(scratch), slots_(slots) {
    scratch_.BeginWork();
  }
  SlotRun(const SlotRun&) = delete;
  SlotRun& operator=(const SlotRun&) = delete;
  ~SlotRun() {
    if (used_memory_) {
      scratch_.Reset();
    }
  }

  using Node = SlotPlan::Node;
  Truth Test(const Node& node);
  Value Eval(const Node& node);

 private:
  // An operand without copying it where it stands somewhere already.
  const Value& Get(const Node& node, std::size_t i, Value& room) {
    const Node& operand = plan_.Operand(node, i);
    switch (operand.op) {
      case SlotOp::kSlot: return slots_[operand.slot];
      case SlotOp::kConstant: return operand.constant;
      case SlotOp::kLocal: return locals_[operand.slot];
      default: room = Eval(operand); return room;
    }
  }
  Truth TestLogic(const Node& node);
  Truth TestEqual(const Node& node);
  Truth TestOrder(const Node& node);
  Truth TestText(const Node& node);
  Truth TestMember(const Node& node, std::size_t list_at);
  Truth TestInSet(const Node& node);
  Truth TestMatches(const Node& node);
  Truth TestLoop(const Node& node);
  bool CompareObjects(const Node& node, Value& failure, int& order);
  Value EvalOptional(const Node& node);
  Value EvalIndex(const Node& node);
  Value EvalList(const Node& node);
  Value EvalCall(const Node& node);
  Value CallWith(const Node& node, std::span<const Value> args);

  const SlotPlan& plan_;
  Context& scratch_;
  const Value* slots_;
  bool used_memory_ = false;
  // Written before they are read: only the body of a loop reads them.
  union {
    std::array<Value, SlotPlan::kMaxLocals> locals_;
  };
};

Truth SlotRun::Test(const Node& node) {
  switch (node.op) {
    case SlotOp::kHas: return TruthOf(!slots_[node.slot].IsError());
    case SlotOp::kAnd:
    case SlotOp::kOr: return TestLogic(node);
    case SlotOp::kNot: {
      const Truth truth = Test(plan_.Operand(node, 0));
      return truth == Truth::kFalse ? Truth::kTrue : truth == Truth::kTrue ? Truth::kFalse : truth;
    }
    case SlotOp::kConditional: {
      const Truth condition = Test(plan_.Operand(node, 0));
      return condition == Truth::kTrue    ? Test(plan_.Operand(node, 1))
             : condition == Truth::kFalse ? Test(plan_.Operand(node, 2))
                                          : condition;
    }
    case SlotOp::kEqual:
    case SlotOp::kNotEqual: return TestEqual(node);
    case SlotOp::kLess:
    case SlotOp::kLessEqual:
    case SlotOp::kGreater:
    case SlotOp::kGreaterEqual: return TestOrder(node);
    case SlotOp::kIsGreaterThan:
    case SlotOp::kIsLessThan: {
      Value failure;
      int order = 0;
      if (!CompareObjects(node, failure, order)) {
        return TruthOf(failure);
      }
      return TruthOf(node.op == SlotOp::kIsGreaterThan ? order > 0 : order < 0);
    }
    case SlotOp::kStartsWith:
    case SlotOp::kEndsWith:
    case SlotOp::kContains: return TestText(node);
    case SlotOp::kMatches: return TestMatches(node);
    case SlotOp::kInSet: return TestInSet(node);
    case SlotOp::kIncludes: return TestMember(node, 0);
    case SlotOp::kInList: return TestMember(node, 1);
    case SlotOp::kAll:
    case SlotOp::kExists:
    case SlotOp::kExistsOne: return TestLoop(node);
    case SlotOp::kSlot: return TruthOf(slots_[node.slot]);
    default: return TruthOf(Eval(node));
  }
}

Truth SlotRun::TestLogic(const Node& node) {
  const bool all = node.op == SlotOp::kAnd;
  const Truth decides = all ? Truth::kFalse : Truth::kTrue;
  Truth out = all ? Truth::kTrue : Truth::kFalse;
  for (std::size_t i = 0; i < node.count; ++i) {
    const Truth truth = Test(plan_.Operand(node, i));
    if (truth == decides || truth == Truth::kAsk) {
      return truth;
    }
    out = all ? std::min(out, truth) : std::max(out, truth);
  }
  return out;
}

Truth SlotRun::TestEqual(const Node& node) {
  Value left_room;
  Value right_room;
  const Value& left = Get(node, 0, left_room);
  const Value& right = Get(node, 1, right_room);
  const bool negated = node.op == SlotOp::kNotEqual;
  if (left.Is(ValueKind::kString) && right.Is(ValueKind::kString)) {
    return TruthOf(SameText(left, right) != negated);
  }
  if (left.IsError() || right.IsError()) {
    // Both sides are evaluated, so that either of them may have to be asked for.
    return std::max(left.IsError() ? TruthOf(left) : Truth::kError,
                    right.IsError() ? TruthOf(right) : Truth::kError);
  }
  const Value equal = Equal(scratch_, left, right);
  if (scratch_.exhausted()) {
    return Truth::kAsk;
  }
  return negated ? TruthOf(!equal.IsTrue()) : TruthOf(equal);
}

Truth SlotRun::TestOrder(const Node& node) {
  Value left_room;
  Value right_room;
  const Value& left = Get(node, 0, left_room);
  const Value& right = Get(node, 1, right_room);
  if (left.IsError() || right.IsError()) {
    return std::max(left.IsError() ? TruthOf(left) : Truth::kError,
                    right.IsError() ? TruthOf(right) : Truth::kError);
  }
  int order = 0;
  if (left.Is(ValueKind::kInt) && right.Is(ValueKind::kInt)) {
    order = Order(left.integer, right.integer);
  } else if (left.Is(ValueKind::kString) && right.Is(ValueKind::kString)) {
    order = Order(left.text(), right.text());
  } else {
    const Value args[] = {left, right};
    return TruthOf(CallWith(node, args));
  }
  switch (node.op) {
    case SlotOp::kLess: return TruthOf(order < 0);
    case SlotOp::kLessEqual: return TruthOf(order <= 0);
    case SlotOp::kGreater: return TruthOf(order > 0);
    default: return TruthOf(order >= 0);
  }
}

// False: `failure` says why there is no order. Only values of one kind have one.
bool SlotRun::CompareObjects(const Node& node, Value& failure, int& order) {
  Value left_room;
  Value right_room;
  const Value& left = Get(node, 0, left_room);
  const Value& right = Get(node, 1, right_room);
  if (left.Is(ValueKind::kQuantity) && right.Is(ValueKind::kQuantity)) {
    order = OrderQuantities(left.quantity->value, right.quantity->value);
    return true;
  }
  if (left.Is(ValueKind::kSemver) && right.Is(ValueKind::kSemver)) {
    order = quantity::CompareSemver(*left.semver, *right.semver);
    return true;
  }
  const bool ask = (left.IsError() && left.panic) || (right.IsError() && right.panic);
  failure = ask ? Ask() : NoSuchOverload();
  return false;
}

Truth SlotRun::TestText(const Node& node) {
  Value left_room;
  Value right_room;
  const Value& left = Get(node, 0, left_room);
  const Value& right = Get(node, 1, right_room);
  if (!left.Is(ValueKind::kString) || !right.Is(ValueKind::kString)) {
    const Value args[] = {left, right};
    return TruthOf(CallWith(node, args));
  }
  switch (node.op) {
    case SlotOp::kStartsWith: return TruthOf(left.text().starts_with(right.text()));
    case SlotOp::kEndsWith: return TruthOf(left.text().ends_with(right.text()));
    default: return TruthOf(left.text().contains(right.text()));
  }
}

Truth SlotRun::TestMatches(const Node& node) {
  Value room;
  const Value& value = Get(node, 0, room);
  return value.Is(ValueKind::kString) || value.Is(ValueKind::kType)
             ? TruthOf(node.step->regex->Matches(value.text()))
             : TruthOf(MaybeNoSuchOverload(value));
}

Truth SlotRun::TestInSet(const Node& node) {
  Value room;
  const Value& value = Get(node, 0, room);
  return value.IsError()    ? TruthOf(value)
         : !Hashable(value) ? Truth::kAsk
                            : TruthOf(SetHolds(*node.step->set, value));
}

Truth SlotRun::TestMember(const Node& node, std::size_t list_at) {
  Value list_room;
  Value element_room;
  const Value& list = Get(node, list_at, list_room);
  const Value& element = Get(node, 1 - list_at, element_room);
  const bool simple = element.Is(ValueKind::kString) || element.Is(ValueKind::kInt);
  if (simple && list.Is(ValueKind::kList)) {
    bool alike = true;
    for (const Value& item : list.list->values()) {
      if (item.kind != element.kind) {
        alike = false;
        break;
      }
      if (item.Is(ValueKind::kInt) ? item.integer == element.integer : SameText(item, element)) {
        return Truth::kTrue;
      }
    }
    if (alike) {
      return Truth::kFalse;
    }
  }
  const Value args[] = {list_at == 0 ? list : element, list_at == 0 ? element : list};
  return TruthOf(CallWith(node, args));
}

Truth SlotRun::TestLoop(const Node& node) {
  Value room;
  const Value& range = Get(node, 0, room);
  if (!range.Is(ValueKind::kList)) {
    return range.Is(ValueKind::kMap) ? Truth::kAsk : TruthOf(MaybeNoSuchOverload(range));
  }
  const Node& body = plan_.Operand(node, 1);
  const ListRep& list = *range.list;
  Truth all = Truth::kTrue;
  Truth any = Truth::kFalse;
  std::int64_t count = 0;
  bool failed = false;
  for (std::size_t i = 0; i < list.size; ++i) {
    locals_[node.slot] =
        node.two_variables ? Value::Int(static_cast<std::int64_t>(i)) : list.items[i];
    locals_[node.slot + 1U] = list.items[i];
    const Truth truth = Test(body);
    if (truth == Truth::kAsk) {
      return truth;
    }
    all = std::min(all, truth);
    any = std::max(any, truth);
    failed = failed || truth == Truth::kError;
    count += truth == Truth::kTrue ? 1 : 0;
    if ((node.op == SlotOp::kAll && all == Truth::kFalse) ||
        (node.op == SlotOp::kExists && any == Truth::kTrue)) {
      break;
    }
  }
  return node.op == SlotOp::kAll      ? all
         : node.op == SlotOp::kExists ? any
         : failed                     ? Truth::kError
                                      : TruthOf(count == 1);
}

Value SlotRun::Eval(const Node& node) {
  switch (node.op) {
    case SlotOp::kConstant: return node.constant;
    case SlotOp::kSlot: return slots_[node.slot];
    case SlotOp::kLocal: return locals_[node.slot];
    case SlotOp::kOptionalSlot: {
      Value out;
      out.kind = ValueKind::kOptional;
      out.optional = slots_[node.slot].IsError() ? nullptr : &slots_[node.slot];
      return out;
    }
    case SlotOp::kConditional: {
      const Truth condition = Test(plan_.Operand(node, 0));
      return condition == Truth::kTrue    ? Eval(plan_.Operand(node, 1))
             : condition == Truth::kFalse ? Eval(plan_.Operand(node, 2))
                                          : ValueOf(condition);
    }
    case SlotOp::kOptionalOr:
    case SlotOp::kOptionalOrValue: return EvalOptional(node);
    case SlotOp::kIndex: return EvalIndex(node);
    case SlotOp::kList: return EvalList(node);
    case SlotOp::kCompareTo: {
      Value failure;
      int order = 0;
      return CompareObjects(node, failure, order) ? Value::Int(order) : failure;
    }
    case SlotOp::kCall: return EvalCall(node);
    default: return ValueOf(Test(node));
  }
}

Value SlotRun::EvalOptional(const Node& node) {
  Value room;
  const Value& left = Get(node, 0, room);
  if (!left.Is(ValueKind::kOptional)) {
    return MaybeNoSuchOverload(left);
  }
  if (left.optional == nullptr) {
    return Eval(plan_.Operand(node, 1));
  }
  return node.op == SlotOp::kOptionalOr ? left : *left.optional;
}

Value SlotRun::EvalIndex(const Node& node) {
  Value room;
  const Value& list = Get(node, 0, room);
  if (!list.Is(ValueKind::kList)) {
    return list.Is(ValueKind::kMap) || list.Is(ValueKind::kOptional) ? Ask()
                                                                     : MaybeNoSuchOverload(list);
  }
  const auto index = ListIndex(node.constant);
  if (!index || *index < 0 || static_cast<std::uint64_t>(*index) >= list.list->size) {
    return Value::Error("index");
  }
  return list.list->items[*index];
}

Value SlotRun::EvalList(const Node& node) {
  used_memory_ = true;
  ListRep* const list = scratch_.NewList(node.count);
  for (std::size_t i = 0; i < node.count; ++i) {
    const Value value = Eval(plan_.Operand(node, i));
    if (value.IsError()) {
      return value;
    }
    if (value.Is(ValueKind::kList)) {
      return Ask();
    }
    scratch_.Append(*list, value);
  }
  return scratch_.ListValue(list);
}

Value SlotRun::EvalCall(const Node& node) {
  std::array<Value, 3> args;
  for (std::size_t i = 0; i < node.count; ++i) {
    args[i] = Eval(plan_.Operand(node, i));
    if (args[i].IsError() && (args[i].panic || node.step->arity == Arity::kVariadic)) {
      return args[i];
    }
  }
  return CallWith(node, std::span(args).first(node.count));
}

Value SlotRun::CallWith(const Node& node, std::span<const Value> args) {
  for (const Value& arg : args) {
    if (arg.IsError() && arg.panic) {
      return arg;
    }
  }
  for (const Value& arg : args) {
    if (arg.IsError()) {
      return arg;
    }
  }
  used_memory_ = true;
  const Value out = Call(scratch_, plan_.libraries(), *node.step, args);
  if (scratch_.exhausted()) {
    return Ask();
  }
  return out.IsError() || SlotPlan::Fits(out) ? out : Ask();
}

}  // namespace

bool SlotPlan::Fits(const Value& value) {
  switch (value.kind) {
    case ValueKind::kString:
    case ValueKind::kBytes: return value.size <= kMaxText;
    case ValueKind::kQuantity: return value.quantity->value.fast();
    case ValueKind::kList:
      return value.list->size <= kMaxList &&
             std::ranges::all_of(value.list->values(), [](const Value& item) {
               return !item.Is(ValueKind::kList) && Fits(item);
             });
    case ValueKind::kMap:
    case ValueKind::kUrl: return false;
    case ValueKind::kOptional: return value.optional == nullptr || Fits(*value.optional);
    default: return true;
  }
}

Truth SlotPlan::Test(const Node& node, Context& scratch, const Value* slots) const {
  return SlotRun(*this, scratch, slots).Test(node);
}

Truth SlotPlan::Run(Context& scratch, const Value* slots) const {
  SlotRun run(*this, scratch, slots);
  const Node& node = root();
  if (node.op > SlotOp::kCall) {
    return run.Test(node);
  }
  // An optional may hold a bool; how it is unwrapped is not this tier's business.
  const Value value = run.Eval(node);
  return value.Is(ValueKind::kOptional) ? Truth::kAsk : TruthOf(value);
}

}  // namespace allot::cel
