#include "cel/plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "cel/operations.h"

namespace allot::cel {
namespace {

bool IsConversion(std::string_view function) {
  constexpr std::array<std::string_view, 10> kNames = {
      "bool", "bytes", "double", "dyn", "duration", "int", "string", "timestamp", "type", "uint"};
  return std::ranges::find(kNames, function) != kNames.end();
}

bool IsConstant(const Step* step) {
  return step->kind == StepKind::kConstant;
}

bool IsKeyKind(const Value& value) {
  switch (value.kind) {
    case ValueKind::kBool:
    case ValueKind::kInt:
    case ValueKind::kUint:
    case ValueKind::kDouble:
    case ValueKind::kString: return true;
    default: return false;
  }
}

class Planner {
 public:
  Planner(const Env& env, const CheckedTree& tree, Plan& plan)
      : env_(env), tree_(tree), plan_(plan), context_(plan.context()) {}

  Step* Make(const Expr* expr) {
    if (!error_.empty()) {
      return Constant(expr->id, Value::Null());
    }
    switch (expr->kind) {
      case ExprKind::kLiteral: return Constant(expr->id, Persist(LiteralValue(*expr->literal)));
      case ExprKind::kIdent: return MakeIdent(expr);
      case ExprKind::kSelect: return MakeSelect(expr);
      case ExprKind::kCall: return MakeCall(expr);
      case ExprKind::kList: return MakeList(expr);
      case ExprKind::kMap: return MakeMap(expr);
      case ExprKind::kStruct: return MakeMessage(expr);
      case ExprKind::kComprehension: return MakeLoop(expr);
      default: return Fail(expr->id, "unsupported expr");
    }
  }
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  Step* Constant(std::uint32_t id, Value value) {
    Step* const step = plan_.NewStep(StepKind::kConstant, id);
    step->constant = value;
    return step;
  }
  Step* Fail(std::uint32_t id, std::string error) {
    if (error_.empty()) {
      error_ = std::move(error);
    }
    return Constant(id, Value::Null());
  }
  Value Persist(Value value) {
    return value.Is(ValueKind::kString) || value.Is(ValueKind::kBytes) || value.Is(ValueKind::kType)
               ? context_.Text(value.kind, value.text())
               : value;
  }
  std::string_view Name(std::string_view name) { return context_.arena().Copy(name); }

  Step* PathStep(Path* path) {
    Step* const step = plan_.NewStep(StepKind::kPath, 0);
    step->path = path;
    return step;
  }

  Step* MakeIdent(const Expr* expr) {
    const Reference& reference = tree_.ReferenceOf(expr);
    switch (reference.kind) {
      case Reference::Kind::kType:
        return Constant(expr->id, Persist(Value::Text(ValueKind::kType, reference.type->name)));
      case Reference::Kind::kDeclaredType:
        return Fail(expr->id, fmt::format("reference to undefined type: {}", reference.name));
      case Reference::Kind::kConstant: return Constant(expr->id, Value::Int(0));
      default: break;
    }
    // Whatever has the type of a type is taken for the name of one, variables included.
    if (const Type* const type = tree_.TypeOf(expr);
        type != nullptr && type->kind == TypeKind::kType) {
      if (const Type* const named = FindTypeName(env_, expr->name); named != nullptr) {
        return Constant(expr->id, Persist(Value::Text(ValueKind::kType, named->name)));
      }
      return Fail(expr->id, fmt::format("reference to undefined type: {}", expr->name));
    }
    Path* const path = plan_.NewPath(Path::Kind::kVariable, expr->id);
    path->name = Name(expr->name);
    path->global = reference.global;
    return PathStep(path);
  }

  // A step as a path to be extended: itself when it is one, else the result of the step.
  Step* AsPath(Step* step) {
    if (step->kind == StepKind::kPath) {
      return step;
    }
    Path* const path = plan_.NewPath(
        Path::Kind::kRelative, step->kind == StepKind::kPath ? step->path->ObservedId() : step->id);
    path->operand = step;
    return PathStep(path);
  }

  // Adds a qualifier to a path; a conditional one passes it to both sides.
  static void AddQualifier(Path* path, const Qualifier& qualifier) {
    if (path->kind == Path::Kind::kConditional) {
      AddQualifier(path->truthy, qualifier);
      AddQualifier(path->falsy, qualifier);
      return;
    }
    path->qualifiers.push_back(qualifier);
  }

  Step* MakeSelect(const Expr* expr) {
    Step* const step = AsPath(Make(expr->target));
    Qualifier qualifier;
    qualifier.id = expr->id;
    qualifier.key = context_.String(expr->name);
    qualifier.test_only = expr->test_only;
    AddQualifier(step->path, qualifier);
    step->test_only = step->test_only || expr->test_only;
    return step;
  }

  Step* MakeIndex(const Expr* expr, Step* operand, Step* index, bool optional) {
    Step* const step = AsPath(operand);
    Qualifier qualifier;
    qualifier.id = expr->id;
    qualifier.optional = optional;
    if (IsConstant(index)) {
      if (!IsKeyKind(index->constant)) {
        return Fail(expr->id,
                    fmt::format("invalid qualifier type: {}", GoTypeName(index->constant)));
      }
      qualifier.key = index->constant;
    } else if (index->kind == StepKind::kPath) {
      qualifier.kind = Qualifier::Kind::kPath;
      qualifier.path = index->path;
    } else {
      qualifier.kind = Qualifier::Kind::kStep;
      qualifier.step = index;
    }
    AddQualifier(step->path, qualifier);
    return step;
  }

  Step* MakeConditional(const Expr* expr, std::vector<Step*>& args) {
    Path* const path = plan_.NewPath(Path::Kind::kConditional, expr->id);
    path->operand = args[0];
    const auto branch = [&](Step* step) {
      if (step->kind == StepKind::kPath) {
        return step->path;
      }
      Path* const relative = plan_.NewPath(Path::Kind::kRelative, step->id);
      relative->operand = step;
      return relative;
    };
    path->truthy = branch(args[1]);
    path->falsy = branch(args[2]);
    return PathStep(path);
  }

  Step* MakeCall(const Expr* expr) {
    std::vector<Step*> args;
    if (expr->member) {
      args.push_back(Make(expr->target));
    }
    for (const Expr* arg : expr->args) {
      args.push_back(Make(arg));
    }
    if (!error_.empty()) {
      return Constant(expr->id, Value::Null());
    }
    if (expr->name == op::kConditional) {
      return MakeConditional(expr, args);
    }
    if (expr->name == op::kIndex) {
      return MakeIndex(expr, args[0], args[1], /*optional=*/false);
    }
    if (expr->name == op::kOptIndex || expr->name == op::kOptSelect) {
      return MakeIndex(expr, args[0], args[1], /*optional=*/true);
    }
    Step* const step = plan_.NewStep(CallKind(expr), expr->id);
    step->args.assign(args.begin(), args.end());
    const Reference& reference = tree_.ReferenceOf(expr);
    step->function =
        reference.function != nullptr ? reference.function : ResolveFunction(env_, expr->name);
    if (step->function == nullptr) {
      return Fail(expr->id, fmt::format("no such overload: {}", expr->name));
    }
    if (reference.overloads.size() == 1) {
      step->overload = reference.overloads[0];
    }
    return step->kind == StepKind::kCall ? FinishCall(expr, step) : step;
  }

  static StepKind CallKind(const Expr* expr) {
    if (expr->name == op::kAnd) {
      return StepKind::kAnd;
    }
    if (expr->name == op::kOr) {
      return StepKind::kOr;
    }
    if (expr->name == op::kEquals) {
      return StepKind::kEqual;
    }
    if (expr->name == op::kNotEquals) {
      return StepKind::kNotEqual;
    }
    const std::size_t args = expr->args.size() + (expr->member ? 1 : 0);
    if (args == 2 && expr->name == "or") {
      return StepKind::kOptionalOr;
    }
    if (args == 2 && expr->name == "orValue") {
      return StepKind::kOptionalOrValue;
    }
    return StepKind::kCall;
  }

  Step* FinishCall(const Expr* expr, Step* step) {
    step->arity = CallArity(*step);
    const Function& function = *step->function;
    if (step->overload != nullptr && step->overload->id == "in_list") {
      return FoldMembership(step);
    }
    if (IsConversion(function.name) && step->args.size() == 1 && IsConstant(step->args[0])) {
      return FoldConversion(expr, step);
    }
    const bool pattern =
        function.name == "matches" || function.name == "find" || function.name == "findAll";
    if (pattern && step->args.size() > 1 && IsConstant(step->args[1]) &&
        step->args[1]->constant.Is(ValueKind::kString)) {
      auto regex = Regex::Compile(step->args[1]->constant.text(), regexes_);
      if (!regex) {
        return Fail(expr->id, regex.error().message());
      }
      step->regex = *std::move(regex);
      step->arity = Arity::kVariadic;
    }
    return step;
  }

  // How the implementation found for the call is bound.
  [[nodiscard]] Arity CallArity(const Step& step) const {
    const Arity by_count = step.args.empty()       ? Arity::kVariadic
                           : step.args.size() == 1 ? Arity::kUnary
                           : step.args.size() == 2 ? Arity::kBinary
                                                   : Arity::kVariadic;
    if (step.overload != nullptr && step.overload->fn != nullptr) {
      return step.overload->arity;
    }
    if (step.function->singleton != nullptr) {
      return step.function->singleton_arity;
    }
    const auto bound =
        std::ranges::count_if(step.function->overloads, [&](const Overload& overload) {
          return (overload.library & env_.libraries) != 0 && overload.fn != nullptr;
        });
    return bound > 1 ? Arity::kVariadic : by_count;
  }

  Step* FoldConversion(const Expr* expr, Step* step) {
    const Value args[] = {step->args[0]->constant};
    Value out;
    const Function& function = *step->function;
    if (function.singleton != nullptr) {
      out = function.singleton(context_, args);
    } else if (step->overload != nullptr && step->overload->fn != nullptr) {
      out = MatchesRuntimeType(step->overload->params[0], args[0])
                ? step->overload->fn(context_, args)
                : NoSuchOverloadFor(context_, function.name, args);
    } else {
      out = Dispatch(context_, function, env_.libraries, args);
    }
    return out.IsError() ? Fail(expr->id, std::string(out.text())) : Constant(expr->id, out);
  }

  // x in [constants]: a set where all elements are simple, with numbers of all kinds they equal.
  Step* FoldMembership(Step* step) {
    const Step* const list = step->args[1];
    if (!IsConstant(list) || !list->constant.Is(ValueKind::kList)) {
      return step;
    }
    const ListRep& items = *list->constant.list;
    if (items.size == 0) {
      return Constant(step->id, Value::Bool(false));
    }
    MapRep* const set = context_.NewMap(items.size);
    const Value yes = Value::Bool(true);
    for (const Value& item : items.values()) {
      switch (item.kind) {
        case ValueKind::kBool:
        case ValueKind::kString: break;
        case ValueKind::kInt:
          context_.Put(*set, Value::Double(static_cast<double>(item.integer)), yes);
          if (item.integer >= 0) {
            context_.Put(*set, Value::Uint(item.uinteger), yes);
          }
          break;
        case ValueKind::kUint:
          context_.Put(*set, Value::Double(static_cast<double>(item.uinteger)), yes);
          if (item.uinteger >> 63 == 0) {
            context_.Put(*set, Value::Int(item.integer), yes);
          }
          break;
        case ValueKind::kDouble:
          if (const auto integer = LosslessInt(item.number)) {
            context_.Put(*set, Value::Int(*integer), yes);
          }
          if (const auto uinteger = LosslessUint(item.number)) {
            context_.Put(*set, Value::Uint(*uinteger), yes);
          }
          break;
        default: return step;
      }
      context_.Put(*set, item, yes);
    }
    step->kind = StepKind::kSetMembership;
    step->set = set;
    return step;
  }

  Step* MakeList(const Expr* expr) {
    Step* const step = plan_.NewStep(StepKind::kList, expr->id);
    bool constant = true;
    for (const ListElement& element : expr->elements) {
      const Step* const value = Make(element.value);
      constant = constant && IsConstant(value);
      step->args.push_back(value);
      step->optionals.push_back(element.optional);
    }
    if (!constant || !error_.empty()) {
      return step;
    }
    ListRep* const list = context_.NewList(step->args.size());
    for (std::size_t i = 0; i < step->args.size(); ++i) {
      if (step->optionals[i]) {
        return Constant(expr->id,
                        context_.Error(fmt::format(
                            "cannot initialize optional list element from non-optional value {}",
                            GoText(step->args[i]->constant))));
      }
      context_.Append(*list, step->args[i]->constant);
    }
    return Constant(expr->id, context_.ListValue(list));
  }

  Step* MakeMap(const Expr* expr) {
    Step* const step = plan_.NewStep(StepKind::kMap, expr->id);
    bool constant = true;
    for (const Entry& entry : expr->entries) {
      for (const Expr* part : {entry.key, entry.value}) {
        const Step* const value = Make(part);
        constant = constant && IsConstant(value);
        step->args.push_back(value);
      }
      step->optionals.push_back(entry.optional);
    }
    if (!constant || !error_.empty()) {
      return step;
    }
    MapRep* const map = context_.NewMap(step->optionals.size());
    for (std::size_t i = 0; i < step->optionals.size(); ++i) {
      const Value& key = step->args[2 * i]->constant;
      const Value& value = step->args[2 * i + 1]->constant;
      if (step->optionals[i]) {
        return Constant(expr->id,
                        context_.Error(fmt::format(
                            "cannot initialize optional entry '{}' from non-optional value {}",
                            GoText(key),
                            GoText(value))));
      }
      if (!Hashable(key)) {
        return Fail(expr->id,
                    fmt::format("internal error: runtime error: hash of unhashable type {}",
                                GoTypeName(key)));
      }
      context_.Put(*map, key, value);
    }
    return Constant(expr->id, context_.Map(map));
  }

  Step* MakeMessage(const Expr* expr) {
    Step* const step = plan_.NewStep(StepKind::kMessage, expr->id);
    step->message = Name(expr->name);
    for (const Entry& field : expr->entries) {
      step->args.push_back(Make(field.value));
      step->fields.push_back(Name(field.field));
      step->optionals.push_back(field.optional);
    }
    return step;
  }

  Step* MakeLoop(const Expr* expr) {
    const Comprehension& loop = *expr->loop;
    Step* const step = plan_.NewStep(StepKind::kLoop, expr->id);
    step->loop = std::make_unique<LoopPlan>();
    LoopPlan& plan = *step->loop;
    plan.init = Make(loop.init);
    plan.range = Make(loop.range);
    plan.condition = Make(loop.condition);
    plan.step = Make(loop.step);
    plan.result = Make(loop.result);
    plan.accumulator = Name(loop.accumulator);
    plan.variable = Name(loop.variable);
    plan.variable2 = Name(loop.variable2);
    return step;
  }

  const Env& env_;
  const CheckedTree& tree_;
  Plan& plan_;
  Context& context_;
  RegexBudget regexes_;
  std::string error_;
};

}  // namespace

std::uint32_t Path::ObservedId() const {
  if (kind == Kind::kConditional) {
    const std::uint32_t one = truthy->ObservedId();
    return one == falsy->ObservedId() ? one : id;
  }
  return qualifiers.empty() ? id : qualifiers.back().id;
}

Step* Plan::NewStep(StepKind kind, std::uint32_t id) {
  Step& step = steps_.emplace_back();
  step.kind = kind;
  step.id = id;
  return &step;
}

Path* Plan::NewPath(Path::Kind kind, std::uint32_t id) {
  Path& path = paths_.emplace_back();
  path.kind = kind;
  path.id = id;
  return &path;
}

Value LiteralValue(const Literal& literal) {
  switch (literal.kind) {
    case LiteralKind::kNull: return Value::Null();
    case LiteralKind::kBool: return Value::Bool(literal.boolean);
    case LiteralKind::kInt: return Value::Int(literal.integer);
    case LiteralKind::kUint: return Value::Uint(literal.uinteger);
    case LiteralKind::kDouble: return Value::Double(literal.number);
    case LiteralKind::kString: return Value::String(literal.text);
    case LiteralKind::kBytes: return Value::Text(ValueKind::kBytes, literal.text);
  }
  return Value::Null();
}

bool MakePlan(const Env& env, const CheckedTree& tree, Plan& plan, std::string& error) {
  Planner planner(env, tree, plan);
  plan.libraries = env.libraries;
  plan.root = planner.Make(tree.root);
  error = planner.error();
  return error.empty();
}

}  // namespace allot::cel
