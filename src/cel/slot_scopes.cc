#include "cel/slot_scopes.h"

#include "cel/ast.h"

namespace allot::cel {
namespace {

bool IsBool(const Step* step, bool value) {
  return step->kind == StepKind::kConstant && step->constant.Is(ValueKind::kBool) &&
         step->constant.boolean == value;
}

bool IsInt(const Step* step, std::int64_t value) {
  return step->kind == StepKind::kConstant && step->constant.Is(ValueKind::kInt) &&
         step->constant.integer == value;
}

bool IsAccumulator(const Path& path, const LoopPlan& loop) {
  return path.kind == Path::Kind::kVariable && path.name == loop.accumulator &&
         path.qualifiers.empty();
}

bool IsAccumulator(const Step* step, const LoopPlan& loop) {
  return step->kind == StepKind::kPath && IsAccumulator(*step->path, loop);
}

bool IsCallOf(const Step* step, std::string_view name, std::size_t args) {
  return step->kind == StepKind::kCall && step->function->name == name && step->args.size() == args;
}

}  // namespace

bool Flatten(const Path& path, const Scope* scope, Chain& out) {
  if (path.kind == Path::Kind::kConditional) {
    return false;
  }
  bool found = false;
  if (path.kind == Path::Kind::kRelative) {
    out.root = Chain::Root::kStep;
    out.step = path.operand;
    out.scope = scope;
    found = true;
  }
  for (; !found && !path.global && scope != nullptr; scope = scope->parent) {
    if (path.name == scope->accumulator) {
      if (scope->bound == nullptr) {
        return false;
      }
      const Step& bound = *scope->bound;
      if (bound.kind == StepKind::kPath && !bound.test_only &&
          bound.path->kind != Path::Kind::kConditional) {
        if (!Flatten(*bound.path, scope->parent, out)) {
          return false;
        }
      } else {
        out.root = Chain::Root::kStep;
        out.step = &bound;
        out.scope = scope->parent;
      }
      found = true;
    } else if (!scope->variable.empty() &&
               (path.name == scope->variable || path.name == scope->variable2)) {
      out.root = Chain::Root::kLocal;
      out.local = static_cast<std::uint16_t>(scope->local + (path.name == scope->variable ? 0 : 1));
      found = true;
    }
  }
  if (!found) {
    if (path.name != "device") {
      return false;
    }
    out.root = Chain::Root::kDevice;
  }
  for (const Qualifier& qualifier : path.qualifiers) {
    out.qualifiers.push_back(&qualifier);
  }
  return true;
}

std::optional<Quantifier> AsQuantifier(const LoopPlan& loop) {
  if (IsBool(loop.init, true) || IsBool(loop.init, false)) {
    const bool all = loop.init->constant.boolean;
    if (!IsCallOf(loop.condition, op::kNotStrictlyFalse, 1) || !IsAccumulator(loop.result, loop) ||
        loop.step->kind != (all ? StepKind::kAnd : StepKind::kOr) || loop.step->args.size() < 2 ||
        !IsAccumulator(loop.step->args[0], loop)) {
      return std::nullopt;
    }
    const Step* const goes_on = loop.condition->args[0];
    if (all ? !IsAccumulator(goes_on, loop)
            : !IsCallOf(goes_on, op::kNot, 1) || !IsAccumulator(goes_on->args[0], loop)) {
      return std::nullopt;
    }
    return Quantifier{all ? SlotOp::kAll : SlotOp::kExists, std::span(loop.step->args).subspan(1)};
  }
  if (!IsInt(loop.init, 0) || !IsBool(loop.condition, true) ||
      loop.result->kind != StepKind::kEqual || !IsAccumulator(loop.result->args[0], loop) ||
      !IsInt(loop.result->args[1], 1) || loop.step->kind != StepKind::kPath ||
      loop.step->path->kind != Path::Kind::kConditional) {
    return std::nullopt;
  }
  const Path& step = *loop.step->path;
  if (step.truthy->kind != Path::Kind::kRelative || !step.truthy->qualifiers.empty() ||
      !IsCallOf(step.truthy->operand, op::kAdd, 2) ||
      !IsAccumulator(step.truthy->operand->args[0], loop) ||
      !IsInt(step.truthy->operand->args[1], 1) || !IsAccumulator(*step.falsy, loop)) {
    return std::nullopt;
  }
  return Quantifier{SlotOp::kExistsOne, std::span(&step.operand, 1)};
}

}  // namespace allot::cel
