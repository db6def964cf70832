// Sets, the list functions of cel-go's version 3 and those of Kubernetes.
#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "cel/functions.h"
#include "cel/library/libraries.h"
#include "cel/operations.h"

namespace allot::cel {
namespace {

bool ListHas(Context& context, const ListRep& list, const Value& element) {
  return std::ranges::any_of(
      list.values(), [&](const Value& item) { return EqualTo(context, element, item).IsTrue(); });
}

Value SetsContains(Context& context, Args args) {
  for (const Value& element : args[1].list->values()) {
    if (!ListHas(context, *args[0].list, element)) {
      return Value::Bool(false);
    }
  }
  return Value::Bool(true);
}

Value SetsEquivalent(Context& context, Args args) {
  const Value swapped[] = {args[1], args[0]};
  return Value::Bool(SetsContains(context, args).boolean && SetsContains(context, swapped).boolean);
}

Value SetsIntersects(Context& context, Args args) {
  return Value::Bool(std::ranges::any_of(args[0].list->values(), [&](const Value& item) {
    return ListHas(context, *args[1].list, item);
  }));
}

Value Slice(Context& context, Args args) {
  const ListRep& list = *args[0].list;
  const std::int64_t start = args[1].integer;
  const std::int64_t end = args[2].integer;
  const auto fail = [&](std::string_view why) {
    return context.Error(fmt::format("cannot slice({}, {}), {}", start, end, why));
  };
  if (start < 0 || end < 0) {
    return fail("negative indexes not supported");
  }
  if (start > end) {
    return fail("start index must be less than or equal to end index");
  }
  if (static_cast<std::int64_t>(list.size) < end) {
    return fail(fmt::format("list is length {}", list.size));
  }
  return context.List(list.values().subspan(static_cast<std::size_t>(start),
                                            static_cast<std::size_t>(end - start)));
}

void FlattenInto(Context& context, ListRep& out, const ListRep& list, std::int64_t depth) {
  for (const Value& item : list.values()) {
    if (!context.Work(1) || context.exhausted()) {
      return;
    }
    if (item.Is(ValueKind::kList) && depth > 0) {
      FlattenInto(context, out, *item.list, depth - 1);
    } else {
      context.Append(out, item);
    }
  }
}

Value Flatten(Context& context, Args args) {
  const bool has_depth = args.size() > 1;
  if (!args[0].Is(ValueKind::kList) || (has_depth && !args[1].Is(ValueKind::kInt))) {
    const auto name = [](const Value& value) -> std::string {
      switch (value.kind) {
        case ValueKind::kType: return "type";
        case ValueKind::kMap: return "map(dyn, dyn)";
        case ValueKind::kList: return "list(dyn)";
        case ValueKind::kOptional: return "optional_type(dyn)";
        default: return std::string(TypeName(value));
      }
    };
    return context.Error(
        has_depth ? fmt::format("no such overload: {}.flatten({})", name(args[0]), name(args[1]))
                  : fmt::format("no such overload: {}.flatten()", name(args[0])));
  }
  const std::int64_t depth = has_depth ? args[1].integer : 1;
  if (depth < 0) {
    return Value::Error("level must be non-negative");
  }
  ListRep* const out = context.NewList(args[0].list->size);
  FlattenInto(context, *out, *args[0].list, depth);
  return context.ListValue(out);
}

bool IsComparable(const Value& value) {
  return (Traits(value) & kComparer) != 0;
}

// Sorts the items by their keys; a mix of key types is an error that ends up in `error`.
Value SortByKeys(Context& context, const ListRep& items, const ListRep& keys) {
  if (items.size != keys.size) {
    return context.Error(
        fmt::format("@sortByAssociatedKeys() expected a list of the same size as the associated "
                    "keys list, but got {} and {} elements respectively",
                    items.size,
                    keys.size));
  }
  if (items.size == 0) {
    return context.List({});
  }
  if (!IsComparable(keys.items[0])) {
    return Value::Error("list elements must be comparable");
  }
  std::vector<std::size_t> order(items.size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  // A single key is never looked at; two or more are compared, each with its type.
  const bool mixed = items.size > 1 && std::ranges::any_of(keys.values(), [&](const Value& key) {
                       return key.kind != keys.items[0].kind;
                     });
  if (mixed) {
    return Value::Error("list elements must have the same type");
  }
  const bool nans = std::ranges::any_of(keys.values(), [](const Value& key) {
    return key.Is(ValueKind::kDouble) && key.number != key.number;
  });
  if (nans) {
    // NaN has no order: every comparison with it says "not less". Insertion keeps that well
    // defined.
    for (std::size_t i = 1; i < order.size(); ++i) {
      for (std::size_t j = i; j > 0; --j) {
        const Value less = Compare(keys.items[order[j]], keys.items[order[j - 1]]);
        if (less.IsError() || less.integer >= 0) {
          break;
        }
        std::swap(order[j], order[j - 1]);
      }
    }
  } else {
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
      const std::int64_t less = Compare(keys.items[a], keys.items[b]).integer;
      return less != 0 ? less < 0 : a < b;
    });
  }
  ListRep* const out = context.NewList(items.size);
  for (const std::size_t index : order) {
    context.Append(*out, items.items[index]);
  }
  return context.ListValue(out);
}

Value Sort(Context& context, Args args) {
  return args[0].list->size == 0 ? args[0] : SortByKeys(context, *args[0].list, *args[0].list);
}

Value SortByAssociatedKeys(Context& context, Args args) {
  if (!args[1].Is(ValueKind::kList)) {
    return context.Panic(fmt::format(
        "interface conversion: {} is not traits.Lister: missing method Add", GoTypeName(args[1])));
  }
  return SortByKeys(context, *args[0].list, *args[1].list);
}

Value Range(Context& context, Args args) {
  const std::int64_t count = args[0].integer;
  constexpr std::int64_t kMax = 1'000'000;
  if (count < 0) {
    return context.Error(fmt::format("lists.range: size must be non-negative, got {}", count));
  }
  if (count > kMax) {
    return context.Error(
        fmt::format("lists.range: size {} exceeds maximum allowed ({})", count, kMax));
  }
  ListRep* const out = context.NewList(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    context.Append(*out, Value::Int(i));
  }
  return context.ListValue(out);
}

Value Reverse(Context& context, Args args) {
  ListRep* const out = context.NewList(args[0].list->size);
  for (std::size_t i = args[0].list->size; i-- > 0;) {
    context.Append(*out, args[0].list->items[i]);
  }
  return context.ListValue(out);
}

Value Distinct(Context& context, Args args) {
  ListRep* const out = context.NewList(args[0].list->size);
  for (const Value& item : args[0].list->values()) {
    const bool seen = std::ranges::any_of(
        out->values(), [&](const Value& other) { return EqualTo(context, item, other).IsTrue(); });
    if (!seen) {
      context.Append(*out, item);
    }
    if (context.exhausted()) {
      break;
    }
  }
  return context.ListValue(out);
}

Value IsSorted(Context& /*context*/, Args args) {
  const ListRep& list = *args[0].list;
  for (std::size_t i = 0; i < list.size; ++i) {
    if (!IsComparable(list.items[i])) {
      return MaybeNoSuchOverload(list.items[i]);
    }
    if (i > 0) {
      const Value order = Compare(list.items[i - 1], list.items[i]);
      if (!order.IsError() && order.integer > 0) {
        return Value::Bool(false);
      }
    }
  }
  return Value::Bool(true);
}

template <int Wanted>
Value Extreme(Context& /*context*/, Args args) {
  const ListRep& list = *args[0].list;
  if (list.size == 0) {
    return Value::Error(Wanted > 0 ? "min called on empty list" : "max called on empty list");
  }
  const Value* best = nullptr;
  for (const Value& item : list.values()) {
    if (!IsComparable(item)) {
      return MaybeNoSuchOverload(item);
    }
    if (best == nullptr) {
      best = &item;
      continue;
    }
    const Value order = Compare(*best, item);
    if (!order.IsError() && order.integer == Wanted) {
      best = &item;
    }
  }
  return *best;
}

Value SumFrom(Context& context, Value sum, Args args) {
  const Function* const add = Registry::Get().Find("_+_", kLibStandard);
  for (const Value& item : args[0].list->values()) {
    if ((Traits(item) & kAdder) == 0) {
      return MaybeNoSuchOverload(item);
    }
    const Value operands[] = {sum, item};
    sum = add->singleton(context, operands);
    if (sum.IsError() || (Traits(sum) & kAdder) == 0) {
      return sum;
    }
  }
  return sum;
}

Value SumInt(Context& context, Args args) {
  return SumFrom(context, Value::Int(0), args);
}
Value SumUint(Context& context, Args args) {
  return SumFrom(context, Value::Uint(0), args);
}
Value SumDouble(Context& context, Args args) {
  return SumFrom(context, Value::Double(0), args);
}
Value SumDuration(Context& context, Args args) {
  return SumFrom(context, Value::Duration(0), args);
}

Value IndexOf(Context& context, Args args) {
  const ListRep& list = *args[0].list;
  for (std::size_t i = 0; i < list.size; ++i) {
    if (EqualTo(context, list.items[i], args[1]).IsTrue()) {
      return Value::Int(static_cast<std::int64_t>(i));
    }
  }
  return Value::Int(-1);
}

Value LastIndexOf(Context& context, Args args) {
  const ListRep& list = *args[0].list;
  for (std::size_t i = list.size; i-- > 0;) {
    if (EqualTo(context, list.items[i], args[1]).IsTrue()) {
      return Value::Int(static_cast<std::int64_t>(i));
    }
  }
  return Value::Int(-1);
}

Value Includes(Context& context, Args args) {
  if (!args[0].Is(ValueKind::kList)) {
    return Value::Bool(EqualTo(context, args[0], args[1]).IsTrue());
  }
  return Value::Bool(std::ranges::any_of(args[0].list->values(), [&](const Value& item) {
    return EqualTo(context, item, args[1]).IsTrue();
  }));
}

struct Named {
  std::string_view name;
  const Type* type;
};

void RegisterLists(Registry& registry) {
  using namespace types;
  Declare d(registry, kLibLists);
  const Type* const list = d.List(d.types().Param("T", 0));
  const Declare::Options output{.cost = CostRule::kListOutput};
  d.Member("slice", "list_slice", {list, &kInt, &kInt}, list, Slice, output);
  const Declare::Options flatten{.cost = CostRule::kListFlatten};
  d.Member("flatten", "list_flatten", {d.List(list)}, list, Flatten, flatten);
  d.Member("flatten", "list_flatten_int", {d.List(&kDyn), &kInt}, d.List(&kDyn), Flatten, flatten);
  d.NoTypeGuards("flatten");
  for (const Type* type :
       {&kInt, &kUint, &kDouble, &kBool, &kDuration, &kTimestamp, &kString, &kBytes}) {
    d.Member("sort",
             d.Keep(fmt::format("list_{}_sort", type->name)),
             {d.List(type)},
             d.List(type),
             nullptr,
             {.arity = Arity::kUnary, .cost = CostRule::kListSelfCompare});
    d.Member("@sortByAssociatedKeys",
             d.Keep(fmt::format("list_{}_sortByAssociatedKeys", type->name)),
             {list, d.List(type)},
             list,
             nullptr,
             {.arity = Arity::kBinary, .cost = CostRule::kListSortBy});
  }
  constexpr std::uint32_t kLister = kAdder | kContainer | kIndexer | kIterable | kSizer;
  d.Singleton("sort", Arity::kUnary, kLister, Sort);
  d.Singleton("@sortByAssociatedKeys", Arity::kBinary, kLister, SortByAssociatedKeys);
  d.Global("lists.range", "lists_range", {&kInt}, d.List(&kInt), Range, output);
  d.Member("reverse", "list_reverse", {list}, list, Reverse, output);
  d.Member(
      "distinct", "list_distinct", {list}, list, Distinct, {.cost = CostRule::kListSelfCompare});
}

void RegisterKubernetesLists(Registry& registry) {
  using namespace types;
  Declare d(registry, kLibKubernetes);
  const Named kComparable[] = {{"int", &kInt},
                               {"uint", &kUint},
                               {"double", &kDouble},
                               {"bool", &kBool},
                               {"duration", &kDuration},
                               {"timestamp", &kTimestamp},
                               {"string", &kString},
                               {"bytes", &kBytes}};
  for (const auto& [name, type] : kComparable) {
    const Type* const list = d.List(type);
    d.Member(
        "isSorted", d.Keep(fmt::format("list_{}_is_sorted_bool", name)), {list}, &kBool, IsSorted);
    d.Member("max", d.Keep(fmt::format("list_{0}_max_{0}", name)), {list}, type, Extreme<-1>);
    d.Member("min", d.Keep(fmt::format("list_{0}_min_{0}", name)), {list}, type, Extreme<1>);
  }
  d.Member("sum", "list_int_sum_int", {d.List(&kInt)}, &kInt, SumInt);
  d.Member("sum", "list_uint_sum_uint", {d.List(&kUint)}, &kUint, SumUint);
  d.Member("sum", "list_double_sum_double", {d.List(&kDouble)}, &kDouble, SumDouble);
  d.Member("sum", "list_duration_sum_duration", {d.List(&kDuration)}, &kDuration, SumDuration);
  const Type* const a = d.A();
  d.Member("indexOf", "list_a_index_of_int", {d.List(a), a}, &kInt, IndexOf);
  d.Member("lastIndexOf", "list_a_last_index_of_int", {d.List(a), a}, &kInt, LastIndexOf);
  Declare includes(registry, kLibIncludes);
  includes.Member("includes", "list_includes_dyn_dyn", {&kDyn, &kDyn}, &kBool, Includes);
  for (const std::string_view name :
       {"isSorted", "sum", "max", "min", "indexOf", "lastIndexOf", "includes"}) {
    d.Cost(name, NamedCost::kTraverseFirst);
  }
}

}  // namespace

void RegisterSetsAndLists(Registry& registry) {
  Declare d(registry, kLibSets);
  const Type* const list = d.List(d.types().Param("T", 0));
  const Declare::Options once{.cost = CostRule::kSets};
  d.Global(
      "sets.contains", "list_sets_contains_list", {list, list}, &types::kBool, SetsContains, once);
  d.Global("sets.equivalent",
           "list_sets_equivalent_list",
           {list, list},
           &types::kBool,
           SetsEquivalent,
           {.cost = CostRule::kSetsTwice});
  d.Global("sets.intersects",
           "list_sets_intersects_list",
           {list, list},
           &types::kBool,
           SetsIntersects,
           once);
  RegisterLists(registry);
  RegisterKubernetesLists(registry);
}

}  // namespace allot::cel
