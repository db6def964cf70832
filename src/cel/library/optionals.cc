// Optional values, and the helper of the map-building macros.
#include <fmt/format.h>

#include "cel/ast.h"
#include "cel/functions.h"
#include "cel/library/libraries.h"
#include "cel/operations.h"

namespace allot::cel {
namespace {

bool IsZero(const Value& value) {
  switch (value.kind) {
    case ValueKind::kNull: return true;
    case ValueKind::kBool: return !value.boolean;
    case ValueKind::kInt:
    case ValueKind::kDuration: return value.integer == 0;
    case ValueKind::kUint: return value.uinteger == 0;
    case ValueKind::kDouble: return value.number == 0;
    case ValueKind::kString:
    case ValueKind::kBytes: return value.size == 0;
    case ValueKind::kList: return value.list->size == 0;
    case ValueKind::kMap: return value.map->size == 0;
    case ValueKind::kTimestamp:
      return value.time->seconds == -62'135'596'800 && value.time->nanos == 0;
    default: return false;
  }
}

Value Of(Context& context, Args args) {
  return context.Optional(args[0]);
}
Value OfNonZero(Context& context, Args args) {
  return IsZero(args[0]) ? context.None() : context.Optional(args[0]);
}
Value None(Context& context, Args /*args*/) {
  return context.None();
}
Value HasValue(Context& /*context*/, Args args) {
  return Value::Bool(args[0].optional != nullptr);
}
Value ValueOf(Context& /*context*/, Args args) {
  return args[0].optional == nullptr ? Value::Error("optional.none() dereference")
                                     : *args[0].optional;
}
Value First(Context& context, Args args) {
  const ListRep& list = *args[0].list;
  return list.size == 0 ? context.None() : context.Optional(list.items[0]);
}
Value Last(Context& context, Args args) {
  const ListRep& list = *args[0].list;
  return list.size == 0 ? context.None() : context.Optional(list.items[list.size - 1]);
}

Value Unwrap(Context& context, Args args) {
  ListRep* const out = context.NewList(args[0].list->size);
  for (const Value& item : args[0].list->values()) {
    if (!item.Is(ValueKind::kOptional)) {
      return context.Error(fmt::format("value {} is not optional", GoText(item)));
    }
    if (item.optional != nullptr) {
      context.Append(*out, *item.optional);
    }
  }
  return context.ListValue(out);
}

Value InsertInto(Context& context, const Value& map, const Value& key, const Value& value) {
  if (!Hashable(key)) {
    return context.Panic(fmt::format("runtime error: hash of unhashable type {}", GoTypeName(key)));
  }
  if (FindExact(*map.map, key) != nullptr) {
    return context.Error(fmt::format("insert failed: key {} already exists", GoText(key)));
  }
  if (map.map->growing) {
    context.Put(*map.map, key, value);
    return map;
  }
  MapRep* const copy = context.NewMap(map.map->size + 1);
  for (const MapEntry& entry : map.map->values()) {
    context.Put(*copy, entry.key, entry.value);
  }
  context.Put(*copy, key, value);
  return context.Map(copy);
}

Value InsertKey(Context& context, Args args) {
  return InsertInto(context, args[0], args[1], args[2]);
}

Value InsertMap(Context& context, Args args) {
  Value out = args[0];
  for (const MapEntry& entry : args[1].map->values()) {
    out = InsertInto(context, out, entry.key, entry.value);
    if (out.IsError()) {
      break;
    }
  }
  return out;
}

}  // namespace

void RegisterOptionals(Registry& registry) {
  using namespace types;
  Declare d(registry, kLibOptionals);
  // V first: what an overload does not use is not numbered.
  const Type* const k = d.types().Param("K", 1);
  const Type* const v = d.types().Param("V", 0);
  const Type* const optional = d.types().Optional(v);
  const Type* const list = d.List(v);
  const Type* const map = d.Map(k, v);
  const Type* const optional_list = d.types().Optional(list);
  const Type* const optional_map = d.types().Optional(map);
  d.Global("optional.of", "optional_of", {v}, optional, Of);
  d.Global("optional.ofNonZeroValue", "optional_ofNonZeroValue", {v}, optional, OfNonZero);
  d.Global("optional.none", "optional_none", {}, optional, None);
  d.Member("value", "optional_value", {optional}, v, ValueOf);
  d.Member("hasValue", "optional_hasValue", {optional}, &kBool, HasValue);
  d.Member("or", "optional_or_optional", {optional, optional}, optional, nullptr);
  d.Member("orValue", "optional_orValue_value", {optional, v}, v, nullptr);
  d.Global(op::kOptSelect, "select_optional_field", {&kDyn, &kString}, optional, nullptr);
  d.Global(op::kOptIndex, "list_optindex_optional_int", {list, &kInt}, optional, nullptr);
  d.Global(op::kOptIndex,
           "optional_list_optindex_optional_int",
           {optional_list, &kInt},
           optional,
           nullptr);
  d.Global(op::kOptIndex, "map_optindex_optional_value", {map, k}, optional, nullptr);
  d.Global(
      op::kOptIndex, "optional_map_optindex_optional_value", {optional_map, k}, optional, nullptr);
  d.Global(op::kIndex, "optional_list_index_int", {optional_list, &kInt}, optional, nullptr);
  d.Global(op::kIndex, "optional_map_index_value", {optional_map, k}, optional, nullptr);
  d.Member("last", "list_last", {list}, optional, Last);
  d.Member("first", "list_first", {list}, optional, First);
  const Type* const optionals = d.List(optional);
  d.Global("optional.unwrap", "optional_unwrap", {optionals}, list, Unwrap);
  d.Member("unwrapOpt", "optional_unwrapOpt", {optionals}, list, Unwrap);

  Declare two(registry, kLibTwoVariables);
  const Type* const insert_map = two.Map(two.types().Param("K", 0), two.types().Param("V", 1));
  two.Global(op::kMapInsert,
             "@mapInsert_map_key_value",
             {insert_map, two.types().Param("K", 0), two.types().Param("V", 1)},
             insert_map,
             InsertKey);
  two.Global(op::kMapInsert, "@mapInsert_map_map", {insert_map, insert_map}, insert_map, InsertMap);
}

}  // namespace allot::cel
