#include "cel/functions.h"

#include <functional>

#include "cel/library/libraries.h"
#include "cel/operations.h"

namespace allot::cel {
namespace {

void CountTypeParams(const Type* type, std::uint8_t& count) {
  if (type->kind == TypeKind::kParam) {
    count = std::max(count, static_cast<std::uint8_t>(type->variable + 1));
  }
  for (const Type* param : type->parameters()) {
    CountTypeParams(param, count);
  }
}

}  // namespace

const Registry& Registry::Get() {
  static const Registry registry;
  return registry;
}

Registry::Registry() {
  functions_.reserve(256);
  index_.assign(1024, 0);
  RegisterStandard(*this);
  RegisterConversions(*this);
  RegisterTime(*this);
  RegisterOptionals(*this);
  RegisterKubernetes(*this);
  RegisterRegex(*this);
  RegisterStrings(*this);
  RegisterNetwork(*this);
  RegisterSetsAndLists(*this);
}

const Function* Registry::Find(std::string_view name, std::uint32_t libraries) const {
  for (std::size_t at = std::hash<std::string_view>()(name) & (index_.size() - 1); index_[at] != 0;
       at = (at + 1) & (index_.size() - 1)) {
    const Function& function = functions_[index_[at] - 1U];
    if (function.name != name) {
      continue;
    }
    for (const Overload& overload : function.overloads) {
      if ((overload.library & libraries) != 0) {
        return &function;
      }
    }
    return nullptr;
  }
  return nullptr;
}

Function& Registry::Mutable(std::string_view name) {
  std::size_t at = std::hash<std::string_view>()(name) & (index_.size() - 1);
  for (; index_[at] != 0; at = (at + 1) & (index_.size() - 1)) {
    if (functions_[index_[at] - 1U].name == name) {
      return functions_[index_[at] - 1U];
    }
  }
  Function& function = functions_.emplace_back();
  function.name = name;
  index_[at] = static_cast<std::uint16_t>(functions_.size());
  return function;
}

std::string_view Declare::Keep(std::string_view text) {
  return registry_.arena_.Copy(text);
}

void Declare::Add(std::string_view function,
                  std::string_view id,
                  bool member,
                  std::initializer_list<const Type*> params,
                  const Type* result,
                  Fn fn,
                  Options options) {
  Overload overload;
  overload.id = id;
  overload.library = library_;
  overload.member = member;
  overload.non_strict = options.non_strict;
  overload.cost = options.cost;
  overload.result = result;
  overload.fn = fn;
  for (const Type* param : params) {
    CountTypeParams(param, overload.type_params);
    overload.params[overload.param_count++] = param;
  }
  CountTypeParams(result, overload.type_params);
  overload.arity = options.arity;
  if (options.arity == Arity::kNone && fn != nullptr) {
    overload.arity = params.size() == 1   ? Arity::kUnary
                     : params.size() == 2 ? Arity::kBinary
                                          : Arity::kVariadic;
  }
  registry_.Mutable(function).overloads.push_back(overload);
}

void Declare::Global(std::string_view function,
                     std::string_view id,
                     std::initializer_list<const Type*> params,
                     const Type* result,
                     Fn fn,
                     Options options) {
  Add(function, id, /*member=*/false, params, result, fn, options);
}

void Declare::Member(std::string_view function,
                     std::string_view id,
                     std::initializer_list<const Type*> params,
                     const Type* result,
                     Fn fn,
                     Options options) {
  Add(function, id, /*member=*/true, params, result, fn, options);
}

void Declare::Singleton(std::string_view function, Arity arity, std::uint32_t trait, Fn fn) {
  Function& target = registry_.Mutable(function);
  target.singleton = fn;
  target.singleton_arity = arity;
  target.trait = trait;
}

void Declare::NoTypeGuards(std::string_view function) {
  registry_.Mutable(function).type_guards = false;
}

void Declare::Cost(std::string_view function, NamedCost cost) {
  registry_.Mutable(function).named_cost = cost;
}

bool MatchesRuntimeType(const Type* type, const Value& value) {
  if (value.IsError()) {
    return false;
  }
  if (type->IsDyn() || type->kind == TypeKind::kParam) {
    return true;
  }
  if (type->name != TypeName(value)) {
    return type->nullable && value.Is(ValueKind::kNull);
  }
  if (type->kind == TypeKind::kList) {
    return value.list->size == 0 || MatchesRuntimeType(type->params[0], value.list->items[0]);
  }
  if (type->kind == TypeKind::kMap) {
    return value.map->size == 0 ||
           (MatchesRuntimeType(type->params[0], value.map->entries[0].key) &&
            MatchesRuntimeType(type->params[1], value.map->entries[0].value));
  }
  return true;
}

Value NoSuchOverloadFor(Context& context, std::string_view function, Args args) {
  std::string text = "no such overload: ";
  text += function;
  text += '(';
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i].IsError()) {
      return args[i];
    }
    text += i > 0 ? ", " : "";
    text += TypeName(args[i]);
  }
  text += ')';
  return context.Error(text);
}

Value Dispatch(Context& context, const Function& function, std::uint32_t libraries, Args args) {
  for (const Overload& overload : function.overloads) {
    if ((overload.library & libraries) == 0 || overload.fn == nullptr ||
        overload.param_count != args.size()) {
      continue;
    }
    bool matches = true;
    for (std::size_t i = 0; matches && i < args.size(); ++i) {
      matches = overload.non_strict && args[i].IsError() ? true
                : args[i].IsError()
                    ? false
                    : !function.type_guards || MatchesRuntimeType(overload.params[i], args[i]);
    }
    if (matches) {
      return overload.fn(context, args);
    }
  }
  return NoSuchOverloadFor(context, function.name, args);
}

}  // namespace allot::cel
