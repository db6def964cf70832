// The type checker: types and references for every node of a tree. Thread safety: one thread per
// check.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "cel/ast.h"
#include "cel/environment.h"
#include "cel/errors.h"
#include "cel/functions.h"
#include "cel/types.h"

namespace allot::cel {

/// What a node refers to.
struct Reference {
  enum class Kind : std::uint8_t {
    kNone,
    kVariable,
    kType,
    kDeclaredType,  ///< a type only the checker knows
    kConstant,      ///< an enum value; they are all 0
    kFunction,
  } kind = Kind::kNone;
  /// kVariable: the global one, although a local of the same name is in scope.
  bool global = false;
  /// kVariable, kType: the full name; kFunction: the resolved name.
  std::string_view name;
  const Type* type = nullptr;  ///< kType: the type itself
  const Function* function = nullptr;
  std::span<const Overload* const> overloads;
};

/// A tree with its types and references, both by node id.
struct CheckedTree {
  Expr* root = nullptr;
  std::vector<const Type*> types;
  std::vector<Reference> references;

  [[nodiscard]] const Type* TypeOf(const Expr* expr) const { return types[expr->id]; }
  [[nodiscard]] const Reference& ReferenceOf(const Expr* expr) const {
    return references[expr->id];
  }
};

/// Checks a tree, rewriting qualified names and namespaced calls in it. Reports errors; the answer
/// is of use only when there are none.
[[nodiscard]] CheckedTree Check(const Env& env, Expr* root, ExprFactory& factory, Errors& errors);

/// Kubernetes' checks of a checked tree: literals of durations, timestamps and patterns, mixed
/// literals, formats.
void Validate(const Env& env, const CheckedTree& tree, Errors& errors);

/// The function a call of that name means in the environment; null: none. `name` becomes the
/// resolved one.
[[nodiscard]] const Function* ResolveFunction(const Env& env, std::string_view name);

}  // namespace allot::cel
