#include "cel/slots.h"

#include <algorithm>
#include <array>

#include "cel/operations.h"

namespace allot::cel {
namespace {

// These bounds keep the cost of any such expression below the limit: a call costs at most that of
// matching a text of kMaxText with a pattern as long as the expression.
constexpr std::size_t kMaxExpression = 2048;
constexpr std::size_t kMaxNodes = 64;
constexpr std::uint32_t kMaxText = 256;

bool IsPlain(std::string_view function) {
  constexpr std::array<std::string_view, 20> kNames = {
      "startsWith", "endsWith",  "contains", "matches", "size",  "@in",       "isGreaterThan",
      "isLessThan", "compareTo", "major",    "minor",   "patch", "asInteger", "isInteger",
      "sign",       "includes",  "_<_",      "_<=_",    "_>_",   "_>=_"};
  return std::ranges::find(kNames, function) != kNames.end() || function == op::kNot;
}

}  // namespace

class SlotPlan::Builder {
 public:
  explicit Builder(Plan& plan) : plan_(plan) {}

  std::optional<std::uint16_t> Make(const Step& step) {
    switch (step.kind) {
      case StepKind::kConstant: return Constant(step.constant);
      case StepKind::kPath: return MakePath(*step.path);
      case StepKind::kAnd: return MakeNode(Op::kAnd, step);
      case StepKind::kOr: return MakeNode(Op::kOr, step);
      case StepKind::kEqual: return MakeNode(Op::kEqual, step);
      case StepKind::kNotEqual: return MakeNode(Op::kNotEqual, step);
      case StepKind::kOptionalOr: return MakeNode(Op::kOptionalOr, step);
      case StepKind::kOptionalOrValue: return MakeNode(Op::kOptionalOrValue, step);
      case StepKind::kSetMembership: return MakeNode(Op::kInSet, step, 1);
      case StepKind::kCall: return MakeCall(step);
      case StepKind::kList:
      case StepKind::kMap:
      case StepKind::kMessage:
      case StepKind::kLoop: return std::nullopt;
    }
    return std::nullopt;
  }

  std::unique_ptr<SlotPlan> Take() { return std::move(out_); }

 private:
  using Index = std::optional<std::uint16_t>;

  Index Add(Node node) {
    if (out_->nodes_.size() >= kMaxNodes) {
      return std::nullopt;
    }
    out_->nodes_.push_back(node);
    return static_cast<std::uint16_t>(out_->nodes_.size() - 1);
  }

  Index Constant(const Value& value) {
    if (value.Is(ValueKind::kList)) {
      for (const Value& item : value.list->values()) {
        if (!Fits(item)) {
          return std::nullopt;
        }
      }
    }
    if (value.Is(ValueKind::kMap) || value.Is(ValueKind::kOptional) || !Fits(value)) {
      return std::nullopt;
    }
    Node node;
    node.constant = value;
    return Add(node);
  }

  Index MakeNode(Op op, const Step& step, std::size_t arity = ~std::size_t{0}) {
    std::vector<std::uint16_t> operands;
    for (std::size_t i = 0; i < std::min(arity, step.args.size()); ++i) {
      const Index operand = Make(*step.args[i]);
      if (!operand) {
        return std::nullopt;
      }
      operands.push_back(*operand);
    }
    return Link(op, step, operands);
  }

  Index Link(Op op, const Step& step, std::span<const std::uint16_t> operands) {
    Node node;
    node.op = op;
    node.step = &step;
    node.first = static_cast<std::uint16_t>(out_->operands_.size());
    node.count = static_cast<std::uint16_t>(operands.size());
    out_->operands_.insert(out_->operands_.end(), operands.begin(), operands.end());
    return Add(node);
  }

  Index MakeCall(const Step& step) {
    const std::string_view name = step.function->name;
    if ((name == "quantity" || name == "semver") && step.args.size() == 1 &&
        step.args[0]->kind == StepKind::kConstant && step.overload != nullptr) {
      const Value args[] = {step.args[0]->constant};
      if (!args[0].Is(ValueKind::kString)) {
        return std::nullopt;
      }
      return Constant(step.overload->fn(plan_.context(), args));
    }
    if (name == op::kIn && step.args.size() == 2 && step.args[1]->kind == StepKind::kPath) {
      if (const Index presence = MakePresence(step)) {
        return presence;
      }
    }
    if (!IsPlain(name) || step.args.size() > 3) {
      return std::nullopt;
    }
    if (step.regex != nullptr) {
      return MakeNode(Op::kMatches, step, 1);
    }
    if (name == "matches") {
      return std::nullopt;
    }
    if (step.args.size() == 2 && name.size() <= 4 && name[0] == '_') {
      return MakeNode(name == op::kLess         ? Op::kLess
                      : name == op::kLessEquals ? Op::kLessEqual
                      : name == op::kGreater    ? Op::kGreater
                                                : Op::kGreaterEqual,
                      step);
    }
    if (name == op::kNot) {
      return MakeNode(Op::kNot, step);
    }
    return MakeNode(Op::kCall, step);
  }

  // Which of the maps of the device a path begins with; nothing when it is another path.
  static std::optional<bool> IsCapacity(const Path& path) {
    if (path.kind != Path::Kind::kVariable || path.name != "device" || path.qualifiers.empty()) {
      return std::nullopt;
    }
    for (const Qualifier& qualifier : path.qualifiers) {
      if (qualifier.kind != Qualifier::Kind::kConstant || !qualifier.key.Is(ValueKind::kString)) {
        return std::nullopt;
      }
    }
    const std::string_view map = path.qualifiers[0].key.text();
    if (path.qualifiers[0].optional || (map != "attributes" && map != "capacity")) {
      return std::nullopt;
    }
    return map == "capacity";
  }

  // "name" in device.attributes["domain"], "domain" in device.attributes.
  Index MakePresence(const Step& step) {
    const Path& path = *step.args[1]->path;
    const std::optional<bool> capacity = IsCapacity(path);
    if (!capacity || step.args[1]->test_only || step.args[0]->kind != StepKind::kConstant ||
        !step.args[0]->constant.Is(ValueKind::kString)) {
      return std::nullopt;
    }
    const std::string_view key = step.args[0]->constant.text();
    if (path.qualifiers.size() == 1) {
      return Slot(
          Op::kSlot,
          {*capacity ? SlotKey::Kind::kCapacityDomain : SlotKey::Kind::kAttributeDomain, key, {}});
    }
    if (path.qualifiers.size() == 2 && !path.qualifiers[1].optional) {
      return Slot(Op::kHas,
                  {*capacity ? SlotKey::Kind::kCapacity : SlotKey::Kind::kAttribute,
                   path.qualifiers[1].key.text(),
                   key});
    }
    return std::nullopt;
  }

  Index Slot(Op op, const SlotKey& key) {
    auto& slots = out_->slots_;
    auto at = std::ranges::find(slots, key);
    if (at == slots.end()) {
      if (slots.size() >= kMaxSlots) {
        return std::nullopt;
      }
      slots.push_back(key);
      at = slots.end() - 1;
    }
    Node node;
    node.op = op;
    node.slot = static_cast<std::uint16_t>(at - slots.begin());
    return Add(node);
  }

  Index MakePath(const Path& path) {
    const bool test_only = !path.qualifiers.empty() && path.qualifiers.back().test_only;
    if (path.kind == Path::Kind::kConditional) {
      return std::nullopt;  // the exact interpreter's
    }
    if (path.kind == Path::Kind::kRelative) {
      return path.qualifiers.empty() ? Make(*path.operand) : std::nullopt;
    }
    if (path.name == "device" && path.qualifiers.size() == 1 && !test_only &&
        path.qualifiers[0].kind == Qualifier::Kind::kConstant && !path.qualifiers[0].optional) {
      const std::string_view field =
          path.qualifiers[0].key.Is(ValueKind::kString) ? path.qualifiers[0].key.text() : "";
      if (field == "driver") {
        return Slot(Op::kSlot, {SlotKey::Kind::kDriver, {}, {}});
      }
      if (field == "allowMultipleAllocations") {
        return Slot(Op::kSlot, {SlotKey::Kind::kMultiple, {}, {}});
      }
      return std::nullopt;
    }
    const std::optional<bool> capacity = IsCapacity(path);
    if (!capacity || path.qualifiers.size() != 3) {
      return std::nullopt;
    }
    const bool optional = path.qualifiers[2].optional;
    if ((path.qualifiers[1].optional && !optional) || (test_only && optional)) {
      return std::nullopt;
    }
    return Slot(test_only  ? Op::kHas
                : optional ? Op::kOptionalSlot
                           : Op::kSlot,
                {*capacity ? SlotKey::Kind::kCapacity : SlotKey::Kind::kAttribute,
                 path.qualifiers[1].key.text(),
                 path.qualifiers[2].key.text()});
  }

  Plan& plan_;
  std::unique_ptr<SlotPlan> out_ = std::make_unique<SlotPlan>();
};

std::unique_ptr<const SlotPlan> SlotPlan::Make(Plan& plan,
                                               std::size_t expression_size,
                                               std::uint64_t cost_limit) {
  if (expression_size > kMaxExpression || cost_limit < kMaxCost) {
    return nullptr;
  }
  Builder builder(plan);
  if (!builder.Make(*plan.root)) {
    return nullptr;
  }
  std::unique_ptr<SlotPlan> out = builder.Take();
  out->libraries_ = plan.libraries;
  return out;
}

bool SlotPlan::Fits(const Value& value) {
  switch (value.kind) {
    case ValueKind::kString: return value.size <= kMaxText;
    case ValueKind::kQuantity: return value.quantity->value.fast();
    default: return true;
  }
}

std::optional<Verdict> SlotPlan::Run(Context& scratch, std::span<const Value> slots) const {
  for (const Value& slot : slots) {
    if (!Fits(slot)) {
      return std::nullopt;
    }
  }
  const Value value = Eval(nodes_.back(), scratch, slots);
  switch (value.kind) {
    case ValueKind::kBool: return value.boolean ? Verdict::kTrue : Verdict::kFalse;
    case ValueKind::kOptional: return std::nullopt;
    default: return Verdict::kError;
  }
}

Value SlotPlan::Eval(const Node& node, Context& scratch, std::span<const Value> slots) const {
  switch (node.op) {
    case Op::kConstant: return node.constant;
    case Op::kSlot: return slots[node.slot];
    case Op::kOptionalSlot: {
      Value out;
      out.kind = ValueKind::kOptional;
      out.optional = slots[node.slot].IsError() ? nullptr : &slots[node.slot];
      return out;
    }
    case Op::kHas: return Value::Bool(!slots[node.slot].IsError());
    case Op::kAnd: return EvalLogic(node, scratch, slots, /*decides=*/false);
    case Op::kOr: return EvalLogic(node, scratch, slots, /*decides=*/true);
    case Op::kNot: {
      const Value value = Eval(Operand(node, 0), scratch, slots);
      return value.Is(ValueKind::kBool) ? Value::Bool(!value.boolean) : MaybeNoSuchOverload(value);
    }
    case Op::kEqual:
    case Op::kNotEqual: {
      const Value left = Eval(Operand(node, 0), scratch, slots);
      const Value right = Eval(Operand(node, 1), scratch, slots);
      if (left.IsError() || right.IsError()) {
        return left.IsError() ? left : right;
      }
      if (left.Is(ValueKind::kString) && right.Is(ValueKind::kString)) {
        return Value::Bool((left.text() == right.text()) == (node.op == Op::kEqual));
      }
      const Value equal = Equal(left, right);
      return node.op == Op::kEqual ? equal : Value::Bool(!equal.IsTrue());
    }
    case Op::kLess:
    case Op::kLessEqual:
    case Op::kGreater:
    case Op::kGreaterEqual: return EvalCompare(node, scratch, slots);
    case Op::kOptionalOr:
    case Op::kOptionalOrValue: {
      const Value left = Eval(Operand(node, 0), scratch, slots);
      if (!left.Is(ValueKind::kOptional)) {
        return MaybeNoSuchOverload(left);
      }
      if (left.optional == nullptr) {
        return Eval(Operand(node, 1), scratch, slots);
      }
      return node.op == Op::kOptionalOr ? left : *left.optional;
    }
    case Op::kInSet: {
      const Value value = Eval(Operand(node, 0), scratch, slots);
      return value.IsError()    ? value
             : !Hashable(value) ? NoSuchOverload()
                                : Value::Bool(SetHolds(*node.step->set, value));
    }
    case Op::kMatches: {
      const Value value = Eval(Operand(node, 0), scratch, slots);
      return value.Is(ValueKind::kString) ? Value::Bool(node.step->regex->Matches(value.text()))
                                          : MaybeNoSuchOverload(value);
    }
    case Op::kCall: return EvalCall(node, scratch, slots);
  }
  return NoSuchOverload();
}

Value SlotPlan::EvalLogic(const Node& node,
                          Context& scratch,
                          std::span<const Value> slots,
                          bool decides) const {
  Value error;
  for (std::size_t i = 0; i < node.count; ++i) {
    const Value value = Eval(Operand(node, i), scratch, slots);
    if (!value.Is(ValueKind::kBool)) {
      error = MaybeNoSuchOverload(value);
    } else if (value.boolean == decides) {
      return value;
    }
  }
  return error.IsError() ? error : Value::Bool(!decides);
}

Value SlotPlan::EvalCompare(const Node& node,
                            Context& scratch,
                            std::span<const Value> slots) const {
  const Value args[] = {Eval(Operand(node, 0), scratch, slots),
                        Eval(Operand(node, 1), scratch, slots)};
  if (args[0].IsError() || args[1].IsError()) {
    return args[0].IsError() ? args[0] : args[1];
  }
  if (args[0].Is(ValueKind::kInt) && args[1].Is(ValueKind::kInt)) {
    const std::int64_t left = args[0].integer;
    const std::int64_t right = args[1].integer;
    switch (node.op) {
      case Op::kLess: return Value::Bool(left < right);
      case Op::kLessEqual: return Value::Bool(left <= right);
      case Op::kGreater: return Value::Bool(left > right);
      default: return Value::Bool(left >= right);
    }
  }
  return Call(scratch, libraries_, *node.step, args);
}

Value SlotPlan::EvalCall(const Node& node, Context& scratch, std::span<const Value> slots) const {
  std::array<Value, 3> args;
  for (std::size_t i = 0; i < node.count; ++i) {
    args[i] = Eval(Operand(node, i), scratch, slots);
    if (args[i].IsError()) {
      return args[i];
    }
  }
  return Call(scratch, libraries_, *node.step, std::span(args).first(node.count));
}

}  // namespace allot::cel
