// Type variables and their bindings: assignability with unification, as cel-go's checker has it.
// Thread safety: one thread per check.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "cel/types.h"

namespace allot::cel {

class Unifier {
 public:
  explicit Unifier(TypeFactory& types) : types_(types) {}

  [[nodiscard]] const Type* NewVariable();
  /// Numbers `count` variables that nobody will use.
  void SkipVariables(std::size_t count) { bindings_.resize(bindings_.size() + count); }
  /// Whether a value of type `from` may stand where `to` is wanted; binds variables when so, and
  /// only then.
  [[nodiscard]] bool IsAssignable(const Type* from, const Type* to);
  [[nodiscard]] bool IsAssignableList(std::span<const Type* const> from,
                                      std::span<const Type* const> to);
  /// Replaces bound variables; free ones become dyn when asked.
  [[nodiscard]] const Type* Substitute(const Type* type, bool free_to_dyn);
  /// Replaces the parameters of a declaration by the given variables.
  [[nodiscard]] const Type* Instantiate(const Type* type, std::span<const Type* const> variables);
  [[nodiscard]] static const Type* MostGeneral(const Type* a, const Type* b);

 private:
  [[nodiscard]] const Type* Binding(const Type* type) const;
  void Bind(const Type* variable, const Type* type);
  [[nodiscard]] bool Assignable(const Type* from, const Type* to);
  [[nodiscard]] bool AssignableParams(const Type* from, const Type* to);
  struct Substitution {
    bool valid;
    bool bound;
  };
  [[nodiscard]] Substitution Substitutes(const Type* type, const Type* variable);
  [[nodiscard]] bool NotReferencedIn(const Type* variable, const Type* within) const;

  TypeFactory& types_;
  std::vector<const Type*> bindings_;
  std::vector<std::pair<std::uint32_t, const Type*>> trail_;
};

}  // namespace allot::cel
