// Compiles the steps of a plan to nodes over slots, and bounds what they can cost.
#include <algorithm>
#include <array>
#include <optional>

#include "cel/ast.h"
#include "cel/slot_functions.h"
#include "cel/slot_scopes.h"
#include "cel/slots.h"

namespace allot::cel {
namespace {

constexpr std::size_t kMaxNodes = 512;
constexpr std::uint64_t kUnbounded = ~std::uint64_t{0} >> 1;

}  // namespace

class SlotBuilder {
 public:
  explicit SlotBuilder(Plan& plan) : plan_(plan) {}

  using Index = std::optional<std::uint16_t>;

  Index Make(const Step& step, const Scope* scope) {
    switch (step.kind) {
      case StepKind::kConstant: return Constant(step.constant);
      case StepKind::kPath: return MakePath(*step.path, scope);
      case StepKind::kAnd: return MakeNode(SlotOp::kAnd, step, scope);
      case StepKind::kOr: return MakeNode(SlotOp::kOr, step, scope);
      case StepKind::kEqual: return Charged(kScan, MakeNode(SlotOp::kEqual, step, scope));
      case StepKind::kNotEqual: return Charged(kScan, MakeNode(SlotOp::kNotEqual, step, scope));
      case StepKind::kOptionalOr: return MakeNode(SlotOp::kOptionalOr, step, scope);
      case StepKind::kOptionalOrValue: return MakeNode(SlotOp::kOptionalOrValue, step, scope);
      case StepKind::kSetMembership: return MakeNode(SlotOp::kInSet, step, scope, 1);
      case StepKind::kCall: return MakeCall(step, scope);
      case StepKind::kList: return MakeList(step, scope);
      case StepKind::kLoop: return MakeLoop(step, scope);
      case StepKind::kMap:
      case StepKind::kMessage: return std::nullopt;
    }
    return std::nullopt;
  }

  std::unique_ptr<SlotPlan> Take() {
    out_->cost_bound_ = cost_;
    out_->libraries_ = plan_.libraries;
    return std::move(out_);
  }
  [[nodiscard]] std::uint64_t cost() const { return cost_; }

 private:
  void Charge(std::uint64_t cost) {
    cost_ = cost > kUnbounded / factor_ || cost_ > kUnbounded - cost * factor_
                ? kUnbounded
                : cost_ + cost * factor_;
  }
  Index Charged(std::uint64_t cost, Index index) {
    Charge(cost);
    return index;
  }

  Index Add(const SlotPlan::Node& node) {
    if (out_->nodes_.size() >= kMaxNodes) {
      return std::nullopt;
    }
    // No step costs more by itself than two, calls aside.
    Charge(2);
    out_->nodes_.push_back(node);
    return static_cast<std::uint16_t>(out_->nodes_.size() - 1);
  }

  Index Constant(const Value& value) {
    if (value.Is(ValueKind::kOptional) || !SlotPlan::Fits(value)) {
      return std::nullopt;
    }
    SlotPlan::Node node;
    node.constant = value;
    return Add(node);
  }

  Index MakeNode(SlotOp op,
                 const Step& step,
                 const Scope* scope,
                 std::size_t arity = ~std::size_t{0}) {
    std::vector<std::uint16_t> operands;
    for (std::size_t i = 0; i < std::min(arity, step.args.size()); ++i) {
      const Index operand = Make(*step.args[i], scope);
      if (!operand) {
        return std::nullopt;
      }
      operands.push_back(*operand);
    }
    return Link(op, &step, operands);
  }

  Index Link(SlotOp op, const Step* step, std::span<const std::uint16_t> operands) {
    SlotPlan::Node node;
    node.op = op;
    node.step = step;
    LinkOperands(node, operands);
    return Add(node);
  }

  void LinkOperands(SlotPlan::Node& node, std::span<const std::uint16_t> operands) {
    node.first = static_cast<std::uint16_t>(out_->operands_.size());
    node.count = static_cast<std::uint16_t>(operands.size());
    out_->operands_.insert(out_->operands_.end(), operands.begin(), operands.end());
  }

  Index MakeCall(const Step& step, const Scope* scope) {
    const std::string_view name = step.function->name;
    if ((name == "quantity" || name == "semver") && step.args.size() == 1 &&
        step.args[0]->kind == StepKind::kConstant && step.overload != nullptr) {
      return MakeParsed(step);
    }
    if (name == op::kIn && step.args.size() == 2 && step.args[1]->kind == StepKind::kPath) {
      if (const Index presence = MakePresence(step, scope)) {
        return presence;
      }
    }
    const SlotFunction* const function = FindSlotFunction(name);
    if (function == nullptr || step.args.size() > 3) {
      return std::nullopt;
    }
    if (step.regex != nullptr && name == "matches") {
      Charge(MatchBound(step.args[1]->constant.size));
      return MakeNode(SlotOp::kMatches, step, scope, 1);
    }
    Charge(step.regex != nullptr ? MatchBound(step.args[1]->constant.size) : function->cost);
    if (name == op::kNot) {
      return MakeNode(SlotOp::kNot, step, scope);
    }
    return MakeNode(step.args.size() == 2 ? function->op : SlotOp::kCall, step, scope);
  }

  // quantity("40Gi"), semver("1.0.0"): parsed once. A text that does not parse is an error when it
  // is evaluated.
  Index MakeParsed(const Step& step) {
    const Value args[] = {step.args[0]->constant};
    if (!args[0].Is(ValueKind::kString)) {
      return std::nullopt;
    }
    Charge(args[0].size / 10 + 1);
    return Constant(step.overload->fn(plan_.context(), args));
  }

  Index MakeList(const Step& step, const Scope* scope) {
    if (step.args.size() > SlotPlan::kMaxList || std::ranges::count(step.optionals, true) > 0) {
      return std::nullopt;
    }
    Charge(10);
    return MakeNode(SlotOp::kList, step, scope);
  }

  // Which of the maps of the device a chain begins with; nothing when it is another chain.
  static std::optional<bool> IsCapacity(const Chain& chain) {
    if (chain.root != Chain::Root::kDevice || chain.qualifiers.empty()) {
      return std::nullopt;
    }
    for (std::size_t i = 0; i < std::min<std::size_t>(3, chain.qualifiers.size()); ++i) {
      if (!HasName(*chain.qualifiers[i])) {
        return std::nullopt;
      }
    }
    const std::string_view map = chain.qualifiers[0]->key.text();
    if (chain.qualifiers[0]->optional || (map != "attributes" && map != "capacity")) {
      return std::nullopt;
    }
    return map == "capacity";
  }

  static bool HasName(const Qualifier& qualifier) {
    return qualifier.kind == Qualifier::Kind::kConstant && qualifier.key.Is(ValueKind::kString);
  }

  // "name" in device.attributes["domain"], "domain" in device.attributes.
  Index MakePresence(const Step& step, const Scope* scope) {
    Chain chain;
    if (step.args[1]->test_only || !Flatten(*step.args[1]->path, scope, chain)) {
      return std::nullopt;
    }
    const std::optional<bool> capacity = IsCapacity(chain);
    if (!capacity || step.args[0]->kind != StepKind::kConstant ||
        !step.args[0]->constant.Is(ValueKind::kString)) {
      return std::nullopt;
    }
    const std::string_view key = step.args[0]->constant.text();
    if (chain.qualifiers.size() == 1) {
      return Slot(
          SlotOp::kSlot,
          {*capacity ? SlotKey::Kind::kCapacityDomain : SlotKey::Kind::kAttributeDomain, key, {}});
    }
    if (chain.qualifiers.size() == 2 && !chain.qualifiers[1]->optional) {
      return Slot(SlotOp::kHas,
                  {*capacity ? SlotKey::Kind::kCapacity : SlotKey::Kind::kAttribute,
                   chain.qualifiers[1]->key.text(),
                   key});
    }
    return std::nullopt;
  }

  Index Slot(SlotOp op, const SlotKey& key) {
    auto& slots = out_->slots_;
    auto at = std::ranges::find(slots, key);
    if (at == slots.end()) {
      if (slots.size() >= SlotPlan::kMaxSlots) {
        return std::nullopt;
      }
      slots.push_back(key);
      at = slots.end() - 1;
    }
    SlotPlan::Node node;
    node.op = op;
    node.slot = static_cast<std::uint16_t>(at - slots.begin());
    Charge(8);  // the variable and its qualifiers
    return Add(node);
  }

  Index MakeConditional(const Path& path, const Scope* scope) {
    const Index condition = Make(*path.operand, scope);
    const Index truthy = condition ? MakePath(*path.truthy, scope) : std::nullopt;
    const Index falsy = truthy ? MakePath(*path.falsy, scope) : std::nullopt;
    if (!falsy) {
      return std::nullopt;
    }
    const std::uint16_t operands[] = {*condition, *truthy, *falsy};
    return Link(SlotOp::kConditional, nullptr, operands);
  }

  Index MakePath(const Path& path, const Scope* scope) {
    if (path.kind == Path::Kind::kConditional) {
      return path.qualifiers.empty() ? MakeConditional(path, scope) : std::nullopt;
    }
    Chain chain;
    if (!Flatten(path, scope, chain)) {
      return std::nullopt;
    }
    const bool test_only = !chain.qualifiers.empty() && chain.qualifiers.back()->test_only;
    for (std::size_t i = 0; i + 1 < chain.qualifiers.size(); ++i) {
      if (chain.qualifiers[i]->test_only) {
        return std::nullopt;
      }
    }
    if (chain.root == Chain::Root::kDevice) {
      return MakeDevicePath(chain, test_only);
    }
    Index base;
    if (chain.root == Chain::Root::kLocal) {
      SlotPlan::Node node;
      node.op = SlotOp::kLocal;
      node.slot = chain.local;
      base = Add(node);
    } else {
      base = Make(*chain.step, chain.scope);
    }
    return MakeIndexes(base, std::span(chain.qualifiers));
  }

  Index MakeDevicePath(const Chain& chain, bool test_only) {
    const auto& qualifiers = chain.qualifiers;
    if (qualifiers.size() == 1 && !test_only && HasName(*qualifiers[0]) &&
        !qualifiers[0]->optional) {
      const std::string_view field = qualifiers[0]->key.text();
      if (field == "driver") {
        return Slot(SlotOp::kSlot, {SlotKey::Kind::kDriver, {}, {}});
      }
      if (field == "allowMultipleAllocations") {
        return Slot(SlotOp::kSlot, {SlotKey::Kind::kMultiple, {}, {}});
      }
      return std::nullopt;
    }
    const std::optional<bool> capacity = IsCapacity(chain);
    if (!capacity || qualifiers.size() < 3) {
      return std::nullopt;
    }
    const bool more = qualifiers.size() > 3;
    const bool optional = qualifiers[2]->optional;
    if ((qualifiers[1]->optional && !optional) || (optional && (test_only || more)) ||
        (test_only && more)) {
      return std::nullopt;
    }
    const Index slot = Slot(test_only  ? SlotOp::kHas
                            : optional ? SlotOp::kOptionalSlot
                                       : SlotOp::kSlot,
                            {*capacity ? SlotKey::Kind::kCapacity : SlotKey::Kind::kAttribute,
                             qualifiers[1]->key.text(),
                             qualifiers[2]->key.text()});
    return MakeIndexes(slot, std::span(qualifiers).subspan(3));
  }

  // Plain indexes with constant keys.
  Index MakeIndexes(Index base, std::span<const Qualifier* const> qualifiers) {
    for (const Qualifier* const qualifier : qualifiers) {
      if (!base || qualifier->kind != Qualifier::Kind::kConstant || qualifier->optional ||
          qualifier->test_only) {
        return std::nullopt;
      }
      SlotPlan::Node node;
      node.op = SlotOp::kIndex;
      node.constant = qualifier->key;
      LinkOperands(node, std::span(&*base, 1));
      base = Add(node);
    }
    return base;
  }

  Index MakeLoop(const Step& step, const Scope* scope) {
    const LoopPlan& loop = *step.loop;
    Charge(32);
    const Step& range = *loop.range;
    if (range.kind == StepKind::kConstant && range.constant.Is(ValueKind::kList) &&
        range.constant.list->size == 0) {
      // cel.bind: the name stands for its expression wherever it is used.
      const Scope inner{scope, loop.accumulator, {}, {}, 0, loop.init};
      return Make(*loop.result, &inner);
    }
    const std::optional<Quantifier> quantifier = AsQuantifier(loop);
    const Index list = quantifier ? Make(range, scope) : std::nullopt;
    if (!list || next_local_ + 2U > SlotPlan::kMaxLocals ||
        factor_ > kUnbounded / SlotPlan::kMaxList) {
      return std::nullopt;
    }
    const Scope inner{scope, loop.accumulator, loop.variable, loop.variable2, next_local_, nullptr};
    next_local_ += 2;
    factor_ *= SlotPlan::kMaxList;
    Charge(16);  // what the loop does itself each time
    std::vector<std::uint16_t> parts;
    for (const Step* const part : quantifier->predicate) {
      if (const Index index = Make(*part, &inner)) {
        parts.push_back(*index);
      }
    }
    const Index body =
        parts.size() != quantifier->predicate.size() ? std::nullopt
        : parts.size() == 1
            ? Index(parts[0])
            : Link(quantifier->op == SlotOp::kAll ? SlotOp::kAnd : SlotOp::kOr, nullptr, parts);
    factor_ /= SlotPlan::kMaxList;
    next_local_ -= 2;
    if (!body) {
      return std::nullopt;
    }
    SlotPlan::Node node;
    node.op = quantifier->op;
    node.two_variables = !loop.variable2.empty();
    node.slot = inner.local;
    const std::uint16_t operands[] = {*list, *body};
    LinkOperands(node, operands);
    return Add(node);
  }

  Plan& plan_;
  std::unique_ptr<SlotPlan> out_ = std::make_unique<SlotPlan>();
  std::uint64_t cost_ = 0;
  std::uint64_t factor_ = 1;  // how often what is being built may run
  std::uint16_t next_local_ = 0;
};

std::unique_ptr<const SlotPlan> SlotPlan::Make(Plan& plan, std::uint64_t cost_limit) {
  SlotBuilder builder(plan);
  if (!builder.Make(*plan.root, nullptr) || builder.cost() > cost_limit) {
    return nullptr;
  }
  return builder.Take();
}

}  // namespace allot::cel
