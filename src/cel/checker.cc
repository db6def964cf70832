#include "cel/checker.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "cel/messages.h"
#include "cel/unify.h"

namespace allot::cel {
namespace {

// The names a name may have in a container, longest first.
template <typename F>
auto ForCandidates(std::string_view container, std::string_view name, F lookup)
    -> decltype(lookup(name)) {
  if (name.starts_with('.')) {
    return lookup(name.substr(1));
  }
  for (std::string_view prefix = container; !prefix.empty();) {
    const std::string candidate = fmt::format("{}.{}", prefix, name);
    if (auto found = lookup(std::string_view(candidate)); found) {
      return found;
    }
    const std::size_t dot = prefix.rfind('.');
    prefix = dot == std::string_view::npos ? std::string_view() : prefix.substr(0, dot);
  }
  return lookup(name);
}

// The dotted name an expression spells, if it is one.
std::optional<std::string> QualifiedName(const Expr* expr) {
  if (expr->kind == ExprKind::kIdent) {
    return std::string(expr->name);
  }
  if (expr->kind == ExprKind::kSelect && !expr->test_only) {
    if (auto prefix = QualifiedName(expr->target)) {
      return *prefix + "." + std::string(expr->name);
    }
  }
  return std::nullopt;
}

struct Resolved {
  std::string_view name;
  const Type* type = nullptr;
  Reference::Kind kind = Reference::Kind::kVariable;
  bool shadowed = false;
  explicit operator bool() const { return type != nullptr; }
};

class Checker {
 public:
  Checker(const Env& env, ExprFactory& factory, Errors& errors)
      : env_(env), factory_(factory), errors_(errors), types_(factory.arena()), unify_(types_) {}

  CheckedTree Run(Expr* root) {
    tree_.root = root;
    tree_.types.assign(factory_.id_count(), nullptr);
    tree_.references.resize(factory_.id_count());
    CheckExpr(root);
    for (const Type*& type : tree_.types) {
      if (type != nullptr) {
        type = unify_.Substitute(type, /*free_to_dyn=*/true);
      }
    }
    if (types_.overflowed()) {
      Report(root,
             fmt::format("a type of more than {} parts is too large", TypeFactory::kMaxParts));
    }
    return std::move(tree_);
  }

 private:
  void ReportAt(std::uint32_t offset, std::string message) {
    errors_.Report(offset, std::move(message));
  }
  void Report(const Expr* at, std::string message) { ReportAt(at->offset, std::move(message)); }
  void Mismatch(const Expr* at, const Type* expected, const Type* actual) {
    Report(
        at,
        fmt::format("expected type '{}' but found '{}'", FormatType(expected), FormatType(actual)));
  }
  void Undeclared(const Expr* at, std::string_view name) {
    Report(at,
           fmt::format("undeclared reference to '{}' (in container '{}')", name, env_.container));
  }
  void SetType(const Expr* expr, const Type* type) {
    if (tree_.types[expr->id] == nullptr) {
      tree_.types[expr->id] = type;
    }
  }
  [[nodiscard]] const Type* GetType(const Expr* expr) { return tree_.types[expr->id]; }

  void CheckExpr(Expr* expr) {
    switch (expr->kind) {
      case ExprKind::kLiteral: SetType(expr, LiteralType(*expr->literal)); break;
      case ExprKind::kIdent: CheckIdent(expr); break;
      case ExprKind::kSelect: CheckSelect(expr); break;
      case ExprKind::kCall: CheckCall(expr); break;
      case ExprKind::kList: CheckList(expr); break;
      case ExprKind::kMap: CheckMap(expr); break;
      case ExprKind::kStruct: CheckStruct(expr); break;
      case ExprKind::kComprehension: CheckLoop(expr); break;
      case ExprKind::kUnspecified: SetType(expr, &types::kError); break;
    }
  }

  static const Type* LiteralType(const Literal& literal) {
    switch (literal.kind) {
      case LiteralKind::kNull: return &types::kNull;
      case LiteralKind::kBool: return &types::kBool;
      case LiteralKind::kInt: return &types::kInt;
      case LiteralKind::kUint: return &types::kUint;
      case LiteralKind::kDouble: return &types::kDouble;
      case LiteralKind::kString: return &types::kString;
      case LiteralKind::kBytes: return &types::kBytes;
    }
    return &types::kError;
  }

  [[nodiscard]] const Type* FindLocal(std::string_view name) const {
    if (name.starts_with('.')) {
      name.remove_prefix(1);
    }
    for (std::size_t i = locals_.size(); i-- > 0;) {
      if (locals_[i].name == name) {
        return locals_[i].type;
      }
    }
    return nullptr;
  }

  Resolved FindGlobal(std::string_view name) {
    for (const Variable& variable : env_.variables) {
      if (variable.name == name) {
        return {variable.name, variable.type};
      }
    }
    if (const Type* const type = FindTypeName(env_, name); type != nullptr) {
      return {factory_.arena().Copy(name), types_.TypeOf(type), Reference::Kind::kType};
    }
    if (const Type* const type = FindDeclaredType(env_, name); type != nullptr) {
      return {factory_.arena().Copy(name), types_.TypeOf(type), Reference::Kind::kDeclaredType};
    }
    if (name == "google.protobuf.NullValue.NULL_VALUE") {
      return {factory_.arena().Copy(name), &types::kInt, Reference::Kind::kConstant};
    }
    return {};
  }

  Resolved ResolveSimple(std::string_view name) {
    const Type* const local = FindLocal(name);
    if (local != nullptr && !name.starts_with('.')) {
      return {name, local};
    }
    Resolved found =
        ForCandidates(env_.container, name, [&](std::string_view n) { return FindGlobal(n); });
    found.shadowed = local != nullptr;
    return found;
  }

  void Refer(Expr* expr, const Resolved& resolved) {
    SetType(expr, resolved.type);
    Reference& reference = tree_.references[expr->id];
    reference.kind = resolved.kind;
    reference.global = resolved.shadowed;
    reference.name = resolved.name;
    reference.type = resolved.kind == Reference::Kind::kType ? resolved.type->params[0] : nullptr;
    expr->kind = ExprKind::kIdent;
    expr->name = resolved.name;
  }

  void CheckIdent(Expr* expr) {
    if (const Resolved resolved = ResolveSimple(expr->name)) {
      Refer(expr, resolved);
      return;
    }
    SetType(expr, &types::kError);
    Undeclared(expr, expr->name);
  }

  void CheckSelect(Expr* expr) {
    if (const auto qualified = QualifiedName(expr)) {
      // The first identifier decides whether the whole may be a global name.
      const Expr* first = expr;
      while (first->kind == ExprKind::kSelect) {
        first = first->target;
      }
      const Type* const local = FindLocal(first->name);
      if (local == nullptr || first->name.starts_with('.')) {
        Resolved found = ForCandidates(
            env_.container, *qualified, [&](std::string_view n) { return FindGlobal(n); });
        if (found) {
          found.shadowed = local != nullptr;
          Refer(expr, found);
          return;
        }
      }
    }
    const Type* type = CheckField(expr, expr->target, expr->name, /*optional=*/false);
    if (expr->test_only) {
      type = &types::kBool;
    }
    SetType(expr, unify_.Substitute(type, false));
  }

  const Type* CheckField(Expr* expr, Expr* operand, std::string_view field, bool optional) {
    CheckExpr(operand);
    const Type* target = unify_.Substitute(GetType(operand), false);
    const bool was_optional = target->IsOptional();
    if (was_optional) {
      target = target->params[0];
    }
    const Type* result = &types::kError;
    switch (target->kind) {
      case TypeKind::kMap: result = target->params[1]; break;
      case TypeKind::kStruct: result = FieldType(expr, target, field); break;
      case TypeKind::kParam:
        static_cast<void>(unify_.IsAssignable(&types::kDyn, target));
        result = &types::kDyn;
        break;
      default:
        if (!target->IsDyn() && !target->IsError()) {
          Report(expr,
                 fmt::format("type '{}' does not support field selection", FormatType(target)));
        }
        result = &types::kDyn;
    }
    return was_optional || optional ? types_.Optional(result) : result;
  }

  const Type* FieldType(const Expr* expr, const Type* target, std::string_view field) {
    const Type* type = nullptr;
    if (target == env_.device) {
      type = DeviceField(field);
    } else if (FindMessage(target->name) == nullptr) {
      Report(expr, fmt::format("unexpected failed resolution of '{}'", target->name));
      return &types::kError;
    }
    if (type == nullptr) {
      Report(expr, fmt::format("undefined field '{}'", field));
      type = &types::kError;
    }
    return type;
  }

  [[nodiscard]] const Type* DeviceField(std::string_view field) const {
    for (const Variable& known : env_.device_fields) {
      if (known.name == field) {
        return known.type;
      }
    }
    return nullptr;
  }

  void CheckOptionalSelect(Expr* expr) {
    const Expr* const field = expr->args[1];
    const Type* const type = CheckField(expr, expr->args[0], field->literal->text, true);
    SetType(expr, unify_.Substitute(type, false));
    const Function* const function = Registry::Get().Find(op::kOptSelect, env_.libraries);
    SetFunction(expr, function, {&function->overloads[0]});
  }

  void SetFunction(const Expr* expr,
                   const Function* function,
                   std::initializer_list<const Overload*> overloads) {
    SetFunction(expr, function, std::span(overloads.begin(), overloads.size()));
  }
  void SetFunction(const Expr* expr,
                   const Function* function,
                   std::span<const Overload* const> overloads) {
    Reference& reference = tree_.references[expr->id];
    reference.kind = Reference::Kind::kFunction;
    reference.name = function->name;
    reference.function = function;
    reference.overloads = factory_.CopySpan(overloads);
  }

  void CheckCall(Expr* expr) {
    if (expr->name == op::kOptSelect) {
      CheckOptionalSelect(expr);
      return;
    }
    for (Expr* arg : expr->args) {
      CheckExpr(arg);
    }
    if (!expr->member) {
      const Function* const function = ResolveFunction(env_, expr->name);
      if (function == nullptr) {
        Undeclared(expr, expr->name);
        SetType(expr, &types::kError);
        return;
      }
      expr->name = function->name;
      ResolveOverload(expr, function);
      return;
    }
    if (const auto prefix = QualifiedName(expr->target)) {
      const std::string name = *prefix + "." + std::string(expr->name);
      if (const Function* const function = ResolveFunction(env_, name); function != nullptr) {
        expr->name = function->name;
        expr->member = false;
        expr->target = nullptr;
        ResolveOverload(expr, function);
        return;
      }
    }
    CheckExpr(expr->target);
    const Function* const function = ResolveFunction(env_, expr->name);
    if (function == nullptr) {
      SetType(expr, &types::kError);
      Undeclared(expr, expr->name);
      return;
    }
    ResolveOverload(expr, function);
  }

  void ResolveLogic(Expr* expr, const Function* function) {
    bool failed = false;
    for (const Expr* arg : expr->args) {
      if (!unify_.IsAssignable(GetType(arg), &types::kBool)) {
        Mismatch(arg, &types::kBool, GetType(arg));
        failed = true;
      }
    }
    SetType(expr, failed ? &types::kError : &types::kBool);
    SetFunction(expr, function, {&function->overloads[0]});
  }

  // The declared types of an overload with its parameters replaced by fresh variables.
  void InstantiateOverload(const Overload& overload,
                           std::array<const Type*, 4>& params,
                           const Type*& result) {
    result = overload.result;
    params = overload.params;
    if (overload.type_params == 0) {
      return;
    }
    std::array<const Type*, 4> variables = {};
    for (std::size_t i = 0; i < overload.type_params; ++i) {
      variables[i] = unify_.NewVariable();
    }
    const auto fresh = std::span(variables).first(overload.type_params);
    for (std::size_t i = 0; i < overload.param_count; ++i) {
      params[i] = unify_.Instantiate(params[i], fresh);
    }
    result = unify_.Instantiate(result, fresh);
  }

  void ResolveOverload(Expr* expr, const Function* function) {
    if (function->name == op::kAnd || function->name == op::kOr) {
      ResolveLogic(expr, function);
      return;
    }
    arg_types_.clear();
    if (expr->member) {
      arg_types_.push_back(GetType(expr->target));
    }
    for (const Expr* arg : expr->args) {
      arg_types_.push_back(GetType(arg));
    }
    const Type* result = nullptr;
    candidates_.clear();
    for (const Overload& overload : function->overloads) {
      if ((overload.library & env_.libraries) == 0 || overload.member != expr->member) {
        continue;
      }
      if (overload.param_count != arg_types_.size()) {
        // Error texts show the numbers of type variables, and these are used up here, too.
        unify_.SkipVariables(overload.type_params);
        continue;
      }
      std::array<const Type*, 4> params = {};
      const Type* declared = nullptr;
      InstantiateOverload(overload, params, declared);
      if (!unify_.IsAssignableList(arg_types_, std::span(params).first(overload.param_count))) {
        continue;
      }
      candidates_.push_back(&overload);
      const Type* const found = unify_.Substitute(declared, false);
      if (result == nullptr) {
        result = found;
      } else if (!result->IsDyn() && !IsExactType(found, result)) {
        result = &types::kDyn;
      }
    }
    if (result == nullptr) {
      NoMatch(expr, function->name);
      SetType(expr, &types::kError);
      return;
    }
    SetType(expr, result);
    SetFunction(expr, function, candidates_);
  }

  void NoMatch(const Expr* expr, std::string_view name) {
    std::string signature;
    std::size_t first = 0;
    if (expr->member) {
      signature = FormatType(unify_.Substitute(arg_types_[0], true)) + ".";
      first = 1;
    }
    signature += "(";
    for (std::size_t i = first; i < arg_types_.size(); ++i) {
      signature += i > first ? ", " : "";
      signature += FormatType(unify_.Substitute(arg_types_[i], true));
    }
    signature += ")";
    Report(expr,
           fmt::format("found no matching overload for '{}' applied to '{}'", name, signature));
  }

  const Type* Join(const Type* previous, const Type* current) {
    if (previous == nullptr) {
      return current;
    }
    if (unify_.IsAssignable(previous, current)) {
      return Unifier::MostGeneral(previous, current);
    }
    return &types::kDyn;
  }

  // The type inside an optional element; reports when it is none.
  const Type* Unwrap(const Expr* at, const Type* type) {
    if (type->IsOptional()) {
      return type->params[0];
    }
    if (!type->IsDyn()) {
      Mismatch(at, types_.Optional(type), type);
    }
    return type;
  }

  void CheckList(Expr* expr) {
    const Type* joined = nullptr;
    for (const ListElement& element : expr->elements) {
      CheckExpr(element.value);
      const Type* type = GetType(element.value);
      if (element.optional) {
        type = Unwrap(element.value, type);
      }
      joined = Join(joined, type);
    }
    SetType(expr, types_.List(joined == nullptr ? unify_.NewVariable() : joined));
  }

  void CheckMap(Expr* expr) {
    const Type* key = nullptr;
    const Type* value = nullptr;
    for (const Entry& entry : expr->entries) {
      CheckExpr(entry.key);
      key = Join(key, GetType(entry.key));
      CheckExpr(entry.value);
      const Type* type = GetType(entry.value);
      if (entry.optional) {
        type = Unwrap(entry.value, type);
      }
      value = Join(value, type);
    }
    if (key == nullptr) {
      key = unify_.NewVariable();
      value = unify_.NewVariable();
    }
    SetType(expr, types_.Map(key, value));
  }

  // The type that the name of a message literal means: the types of values first.
  Resolved FindMessageType(std::string_view name) {
    const Type* type = FindTypeName(env_, name);
    if (type == nullptr) {
      type = FindDeclaredType(env_, name);
    }
    return type == nullptr ? Resolved{} : Resolved{factory_.arena().Copy(name), type};
  }

  void CheckStruct(Expr* expr) {
    const Resolved found = ForCandidates(
        env_.container, expr->name, [&](std::string_view n) { return FindMessageType(n); });
    if (!found) {
      Undeclared(expr, expr->name);
      SetType(expr, &types::kError);
      return;
    }
    expr->name = found.name;
    Reference& reference = tree_.references[expr->id];
    reference.kind = Reference::Kind::kDeclaredType;
    reference.name = found.name;
    const MessageType* const message = WellKnownMessage(found.type);
    const bool valid = message != nullptr || found.type->kind == TypeKind::kNull ||
                       found.type->kind == TypeKind::kStruct;
    if (!valid) {
      Report(expr, fmt::format("'{}' is not a message type", found.type->name));
    }
    SetType(expr, valid ? found.type : &types::kError);
    for (const Entry& field : expr->entries) {
      CheckExpr(field.value);
      CheckMessageField(found, message, field);
    }
  }

  // The scalars Kubernetes declares, as types without fields.
  static bool IsDeclaredScalar(TypeKind kind) {
    return kind == TypeKind::kBool || kind == TypeKind::kBytes || kind == TypeKind::kDouble ||
           kind == TypeKind::kInt || kind == TypeKind::kString || kind == TypeKind::kUint;
  }

  void CheckMessageField(const Resolved& found, const MessageType* message, const Entry& field) {
    const Type* declared = nullptr;
    if (message != nullptr) {
      const MessageField* const known = message->Find(field.field);
      declared = known == nullptr ? nullptr : known->type;
    } else if (found.type == env_.device) {
      declared = DeviceField(field.field);
    } else if (found.type->kind == TypeKind::kMap) {
      declared = &types::kDyn;  // to Kubernetes the fields of a map are its values
    } else if (!IsDeclaredScalar(found.type->kind)) {
      const bool null = found.type->kind == TypeKind::kNull;
      ReportAt(field.offset,
               fmt::format("unexpected failed resolution of '{}'",
                           null ? "google.protobuf.NullValue" : found.name));
      declared = &types::kError;
    }
    if (declared == nullptr) {
      ReportAt(field.offset, fmt::format("undefined field '{}'", field.field));
      declared = &types::kError;
    }
    const Type* const type =
        field.optional ? Unwrap(field.value, GetType(field.value)) : GetType(field.value);
    if (!unify_.IsAssignable(declared, type)) {
      ReportAt(field.offset,
               fmt::format("expected type of field '{}' is '{}' but provided type is '{}'",
                           field.field,
                           FormatType(declared),
                           FormatType(type)));
    }
  }

  void CheckLoop(Expr* expr) {
    const Comprehension& loop = *expr->loop;
    CheckExpr(loop.range);
    CheckExpr(loop.init);
    const Type* const range = unify_.Substitute(GetType(loop.range), false);
    const Type* const accumulator = GetType(loop.init);
    locals_.push_back({loop.accumulator, accumulator});
    const bool two = !loop.variable2.empty();
    const Type* first = &types::kDyn;
    const Type* second = &types::kDyn;
    switch (range->kind) {
      case TypeKind::kList:
        first = two ? &types::kInt : range->params[0];
        second = range->params[0];
        break;
      case TypeKind::kMap:
        first = range->params[0];
        second = range->params[1];
        break;
      case TypeKind::kDyn:
      case TypeKind::kError:
      case TypeKind::kParam: static_cast<void>(unify_.IsAssignable(&types::kDyn, range)); break;
      default:
        Report(loop.range,
               fmt::format("expression of type '{}' cannot be range of a comprehension (must be "
                           "list, map, or dynamic)",
                           FormatType(range)));
        first = &types::kError;
        second = &types::kError;
    }
    const std::size_t scope = locals_.size();
    locals_.push_back({loop.variable, first});
    if (two) {
      locals_.push_back({loop.variable2, second});
    }
    CheckExpr(loop.condition);
    AssertType(loop.condition, &types::kBool);
    CheckExpr(loop.step);
    AssertType(loop.step, accumulator);
    locals_.resize(scope);
    CheckExpr(loop.result);
    locals_.resize(scope - 1);
    SetType(expr, unify_.Substitute(GetType(loop.result), false));
  }

  void AssertType(const Expr* expr, const Type* type) {
    if (!unify_.IsAssignable(type, GetType(expr))) {
      Mismatch(expr, type, GetType(expr));
    }
  }

  const Env& env_;
  ExprFactory& factory_;
  Errors& errors_;
  TypeFactory types_;
  Unifier unify_;
  CheckedTree tree_;
  std::vector<Variable> locals_;
  std::vector<const Type*> arg_types_;
  std::vector<const Overload*> candidates_;
};

}  // namespace

const Function* ResolveFunction(const Env& env, std::string_view name) {
  return ForCandidates(env.container, name, [&](std::string_view candidate) {
    return Registry::Get().Find(candidate, env.libraries);
  });
}

CheckedTree Check(const Env& env, Expr* root, ExprFactory& factory, Errors& errors) {
  return Checker(env, factory, errors).Run(root);
}

}  // namespace allot::cel
