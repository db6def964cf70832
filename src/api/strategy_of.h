// Makes a Strategy's type-erased functions of typed ones. Module-private.
#pragma once

#include <cstddef>

#include "api/desc.h"
#include "api/disabled_fields.h"
#include "api/strategy.h"
#include "base/arena.h"
#include "schema/codec.h"
#include "schema/object.h"

namespace allot::api {

template <typename T, void (*kFunction)(const StrategyContext&, T&, schema::Editor)>
void Erased(const StrategyContext& context, void* root, base::Arena& arena) {
  kFunction(context, *static_cast<T*>(root), schema::Editor(arena));
}
template <typename T, void (*kFunction)(const StrategyContext&, T&, const T&, schema::Editor)>
void Erased(const StrategyContext& context, void* next, const void* old, base::Arena& arena) {
  kFunction(context, *static_cast<T*>(next), *static_cast<const T*>(old), schema::Editor(arena));
}
template <typename T, void (*kFunction)(const StrategyContext&, const T&, Report&)>
void Erased(const StrategyContext& context, const void* root, FieldErrors& errors) {
  Report report;
  kFunction(context, *static_cast<const T*>(root), report);
  errors.Append(std::move(report.hand));
  errors.Append(std::move(report.declared));
}
template <typename T, void (*kFunction)(const StrategyContext&, const T&, const T&, Report&)>
void Erased(const StrategyContext& context,
            const void* next,
            const void* old,
            FieldErrors& errors) {
  Report report;
  kFunction(context, *static_cast<const T*>(next), *static_cast<const T*>(old), report);
  errors.Append(std::move(report.hand));
  errors.Append(std::move(report.declared));
}

/// Clears fields of `next` whose gate is off and which `old` (null on create) does not use.
template <typename T>
void DropDisabled(const StrategyContext& context, T& next, const T* old, schema::Editor editor) {
  if (context.disabled != nullptr) {
    context.disabled->Drop(Desc<T>(), &next, old, editor.arena());
  }
}

/// Whether two structs mean the same.
template <typename T>
bool Same(const T& a, const T& b) {
  return schema::SemanticEqual(Desc<T>(), &a, &b);
}
/// The same for lists of structs.
template <typename T>
bool SameList(const schema::List<T>& a, const schema::List<T>& b) {
  if (a.size() != b.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!Same(a[i], b[i])) {
      return false;
    }
  }
  return true;
}

}  // namespace allot::api
