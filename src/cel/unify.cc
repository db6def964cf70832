#include "cel/unify.h"

#include <array>

namespace allot::cel {
namespace {

bool IsEqualOrLessSpecific(const Type* a, const Type* b) {
  if (a->IsDyn() || a->kind == TypeKind::kParam) {
    return true;
  }
  if (b->IsDyn() || b->kind == TypeKind::kParam || a->kind != b->kind) {
    return false;
  }
  switch (a->kind) {
    case TypeKind::kOpaque:
      if (a->name != b->name || a->param_count != b->param_count) {
        return false;
      }
      [[fallthrough]];
    case TypeKind::kList:
    case TypeKind::kMap:
      for (std::size_t i = 0; i < a->param_count; ++i) {
        if (!IsEqualOrLessSpecific(a->params[i], b->params[i])) {
          return false;
        }
      }
      return true;
    case TypeKind::kType: return true;
    default: return IsExactType(a, b);
  }
}

bool IsNullable(const Type* type) {
  switch (type->kind) {
    case TypeKind::kOpaque:
    case TypeKind::kStruct:
    case TypeKind::kAny:
    case TypeKind::kDuration:
    case TypeKind::kTimestamp:
    case TypeKind::kNull:
    case TypeKind::kDyn: return true;
    default: return type->nullable;
  }
}

// The type with each of its parameters replaced; itself when none changes.
template <typename Replace>
const Type* Rebuild(TypeFactory& types, const Type* type, Replace replace) {
  std::array<const Type*, 2> params = {};
  bool changed = false;
  for (std::size_t i = 0; i < type->param_count; ++i) {
    params[i] = replace(type->params[i]);
    changed = changed || params[i] != type->params[i];
  }
  if (!changed) {
    return type;
  }
  switch (type->kind) {
    case TypeKind::kList: return types.List(params[0]);
    case TypeKind::kMap: return types.Map(params[0], params[1]);
    case TypeKind::kType: return types.TypeOf(params[0]);
    default: return types.Opaque(type->name, std::span(params).first(type->param_count));
  }
}

}  // namespace

const Type* Unifier::NewVariable() {
  bindings_.push_back(nullptr);
  return types_.Fresh(static_cast<std::uint32_t>(bindings_.size() - 1));
}

const Type* Unifier::Binding(const Type* type) const {
  return type->kind == TypeKind::kParam && type->fresh ? bindings_[type->variable] : nullptr;
}

void Unifier::Bind(const Type* variable, const Type* type) {
  if (!variable->fresh) {
    return;
  }
  trail_.emplace_back(variable->variable, bindings_[variable->variable]);
  bindings_[variable->variable] = type;
}

bool Unifier::IsAssignable(const Type* from, const Type* to) {
  return IsAssignableList(std::span(&from, 1), std::span(&to, 1));
}

bool Unifier::IsAssignableList(std::span<const Type* const> from, std::span<const Type* const> to) {
  if (from.size() != to.size()) {
    return false;
  }
  trail_.clear();
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!Assignable(from[i], to[i])) {
      while (!trail_.empty()) {
        bindings_[trail_.back().first] = trail_.back().second;
        trail_.pop_back();
      }
      return false;
    }
  }
  return true;
}

bool Unifier::AssignableParams(const Type* from, const Type* to) {
  if (from->param_count != to->param_count) {
    return false;
  }
  for (std::size_t i = 0; i < from->param_count; ++i) {
    if (!Assignable(from->params[i], to->params[i])) {
      return false;
    }
  }
  return true;
}

bool Unifier::Assignable(const Type* from, const Type* to) {
  if (from == to && from->param_count == 0) {
    return true;
  }
  if (to->kind == TypeKind::kParam) {
    const auto [valid, bound] = Substitutes(from, to);
    if (valid || bound) {
      return valid;
    }
  }
  if (from->kind == TypeKind::kParam) {
    return Substitutes(to, from).valid;
  }
  if (from->IsDyn() || from->IsError() || to->IsDyn() || to->IsError()) {
    return true;
  }
  if (from->kind == TypeKind::kNull) {
    return IsNullable(to);
  }
  if (to->kind == TypeKind::kNull) {
    return IsNullable(from);
  }
  switch (from->kind) {
    case TypeKind::kType: return to->kind == TypeKind::kType;
    case TypeKind::kOpaque:
    case TypeKind::kList:
    case TypeKind::kMap:
      return from->kind == to->kind && from->name == to->name && AssignableParams(from, to);
    default: return from->kind == to->kind && from->name == to->name;
  }
}

Unifier::Substitution Unifier::Substitutes(const Type* type, const Type* variable) {
  if (type->kind == variable->kind && IsExactType(type, variable)) {
    return {true, true};
  }
  if (const Type* const bound = Binding(variable); bound != nullptr) {
    if (type->kind == bound->kind && IsExactType(type, bound)) {
      return {true, true};
    }
    if (Assignable(type, bound)) {
      const Type* const general = MostGeneral(type, bound);
      if (NotReferencedIn(variable, general)) {
        Bind(variable, general);
      }
      return {true, true};
    }
    return {false, true};
  }
  if (NotReferencedIn(variable, type)) {
    Bind(variable, type);
    return {true, false};
  }
  return {false, false};
}

bool Unifier::NotReferencedIn(const Type* variable, const Type* within) const {
  if (IsExactType(variable, within)) {
    return false;
  }
  if (within->kind == TypeKind::kParam) {
    const Type* const bound = Binding(within);
    return bound == nullptr || NotReferencedIn(variable, bound);
  }
  for (const Type* param : within->parameters()) {
    if (!NotReferencedIn(variable, param)) {
      return false;
    }
  }
  return true;
}

const Type* Unifier::MostGeneral(const Type* a, const Type* b) {
  return IsEqualOrLessSpecific(a, b) ? a : b;
}

const Type* Unifier::Substitute(const Type* type, bool free_to_dyn) {
  if (const Type* const bound = Binding(type); bound != nullptr) {
    return Substitute(bound, free_to_dyn);
  }
  if (type->kind == TypeKind::kParam) {
    return free_to_dyn ? &types::kDyn : type;
  }
  return Rebuild(types_, type, [&](const Type* param) { return Substitute(param, free_to_dyn); });
}

const Type* Unifier::Instantiate(const Type* type, std::span<const Type* const> variables) {
  if (type->kind == TypeKind::kParam && !type->fresh) {
    return type->variable < variables.size() ? variables[type->variable] : type;
  }
  return Rebuild(types_, type, [&](const Type* param) { return Instantiate(param, variables); });
}

}  // namespace allot::cel
