// Operators and the standard functions on strings and collections.
#include <limits>

#include <fmt/format.h>

#include "cel/ast.h"
#include "cel/functions.h"
#include "cel/library/libraries.h"
#include "cel/operations.h"
#include "cel/regex.h"

namespace allot::cel {
namespace {

constexpr std::string_view kOverflow = "integer overflow";
constexpr std::string_view kUintOverflow = "unsigned integer overflow";
constexpr std::int64_t kMinUnix = -62'135'596'800;
constexpr std::int64_t kMaxUnix = 253'402'300'799;
constexpr std::int64_t kSecond = 1'000'000'000;

template <typename Op>
Value CheckedInt(std::int64_t a, std::int64_t b, Op op) {
  std::int64_t out = 0;
  return op(a, b, &out) ? Value::Error(kOverflow) : Value::Int(out);
}

template <typename Op>
Value CheckedUint(std::uint64_t a, std::uint64_t b, Op op) {
  std::uint64_t out = 0;
  return op(a, b, &out) ? Value::Error(kUintOverflow) : Value::Uint(out);
}

constexpr auto kAddOp = [](auto a, auto b, auto* out) {
  return __builtin_add_overflow(a, b, out);
};
constexpr auto kSubOp = [](auto a, auto b, auto* out) {
  return __builtin_sub_overflow(a, b, out);
};
constexpr auto kMulOp = [](auto a, auto b, auto* out) {
  return __builtin_mul_overflow(a, b, out);
};

Value AddToTime(Context& context, const quantity::OffsetTime& time, std::int64_t nanos) {
  std::int64_t seconds = time.seconds + nanos / kSecond;
  std::int64_t rest = time.nanos + nanos % kSecond;
  if (rest < 0) {
    rest += kSecond;
    --seconds;
  } else if (rest >= kSecond) {
    rest -= kSecond;
    ++seconds;
  }
  if (seconds < kMinUnix || seconds > kMaxUnix) {
    return Value::Error("timestamp overflow");
  }
  return context.Timestamp({seconds, static_cast<std::int32_t>(rest), time.offset});
}

Value Concat(Context& context, const Value& a, const Value& b) {
  const std::size_t size = std::size_t{a.size} + b.size;
  std::string joined;
  joined.reserve(std::min<std::size_t>(size, std::size_t{1} << 27));
  joined += a.text();
  joined += b.text();
  return context.Text(a.kind, joined);
}

Value AddLists(Context& context, const Value& a, const Value& b) {
  if (a.list->growing) {
    // The accumulator of a loop is extended in place; a list added to itself is copied first.
    const std::size_t count = b.list->size;
    for (std::size_t i = 0; i < count; ++i) {
      context.Append(*a.list, b.list->items[i]);
    }
    return context.exhausted() ? context.ListValue(a.list) : a;
  }
  if (a.list->size == 0) {
    return b;
  }
  if (b.list->size == 0) {
    return a;
  }
  ListRep* const out = context.NewList(a.list->size + b.list->size);
  for (const ListRep* part : {a.list, b.list}) {
    for (const Value& item : part->values()) {
      context.Append(*out, item);
    }
  }
  out->concatenated = true;
  return context.ListValue(out);
}

Value Add(Context& context, Args args) {
  const Value& a = args[0];
  const Value& b = args[1];
  if (a.Is(ValueKind::kTimestamp) || a.Is(ValueKind::kDuration)) {
    if (a.Is(ValueKind::kDuration) && b.Is(ValueKind::kDuration)) {
      const Value sum = CheckedInt(a.integer, b.integer, kAddOp);
      return sum.IsError() ? sum : Value::Duration(sum.integer);
    }
    if (a.Is(ValueKind::kDuration) && b.Is(ValueKind::kTimestamp)) {
      return AddToTime(context, *b.time, a.integer);
    }
    return b.Is(ValueKind::kDuration) ? AddToTime(context, *a.time, b.integer)
                                      : MaybeNoSuchOverload(b);
  }
  if (a.kind != b.kind) {
    return MaybeNoSuchOverload(b);
  }
  switch (a.kind) {
    case ValueKind::kInt: return CheckedInt(a.integer, b.integer, kAddOp);
    case ValueKind::kUint: return CheckedUint(a.uinteger, b.uinteger, kAddOp);
    case ValueKind::kDouble: return Value::Double(a.number + b.number);
    case ValueKind::kString:
    case ValueKind::kBytes: return Concat(context, a, b);
    case ValueKind::kList: return AddLists(context, a, b);
    default: return NoSuchOverload();
  }
}

Value SubtractTimes(const quantity::OffsetTime& a, const quantity::OffsetTime& b) {
  std::int64_t nanos = 0;
  if (__builtin_mul_overflow(a.seconds - b.seconds, kSecond, &nanos) ||
      __builtin_add_overflow(nanos, std::int64_t{a.nanos} - b.nanos, &nanos)) {
    return Value::Error(kOverflow);
  }
  return Value::Duration(nanos);
}

Value Subtract(Context& context, Args args) {
  const Value& a = args[0];
  const Value& b = args[1];
  if (a.Is(ValueKind::kTimestamp)) {
    if (b.Is(ValueKind::kTimestamp)) {
      return SubtractTimes(*a.time, *b.time);
    }
    if (!b.Is(ValueKind::kDuration)) {
      return MaybeNoSuchOverload(b);
    }
    return b.integer == std::numeric_limits<std::int64_t>::min()
               ? Value::Error(kOverflow)
               : AddToTime(context, *a.time, -b.integer);
  }
  if (a.kind != b.kind) {
    return MaybeNoSuchOverload(b);
  }
  switch (a.kind) {
    case ValueKind::kInt: return CheckedInt(a.integer, b.integer, kSubOp);
    case ValueKind::kUint: return CheckedUint(a.uinteger, b.uinteger, kSubOp);
    case ValueKind::kDouble: return Value::Double(a.number - b.number);
    case ValueKind::kDuration: {
      const Value out = CheckedInt(a.integer, b.integer, kSubOp);
      return out.IsError() ? out : Value::Duration(out.integer);
    }
    default: return NoSuchOverload();
  }
}

Value Multiply(Context& /*context*/, Args args) {
  const Value& a = args[0];
  const Value& b = args[1];
  if (a.kind != b.kind) {
    return MaybeNoSuchOverload(b);
  }
  switch (a.kind) {
    case ValueKind::kInt: return CheckedInt(a.integer, b.integer, kMulOp);
    case ValueKind::kUint: return CheckedUint(a.uinteger, b.uinteger, kMulOp);
    default: return Value::Double(a.number * b.number);
  }
}

bool IsMinByMinusOne(const Value& a, const Value& b) {
  return a.integer == std::numeric_limits<std::int64_t>::min() && b.integer == -1;
}

Value Divide(Context& /*context*/, Args args) {
  const Value& a = args[0];
  const Value& b = args[1];
  if (a.kind != b.kind) {
    return MaybeNoSuchOverload(b);
  }
  if (a.Is(ValueKind::kDouble)) {
    return Value::Double(a.number / b.number);
  }
  if (b.uinteger == 0) {
    return Value::Error("division by zero");
  }
  if (a.Is(ValueKind::kUint)) {
    return Value::Uint(a.uinteger / b.uinteger);
  }
  return IsMinByMinusOne(a, b) ? Value::Error(kOverflow) : Value::Int(a.integer / b.integer);
}

Value Modulo(Context& /*context*/, Args args) {
  const Value& a = args[0];
  const Value& b = args[1];
  if (a.kind != b.kind) {
    return MaybeNoSuchOverload(b);
  }
  if (b.uinteger == 0) {
    return Value::Error("modulus by zero");
  }
  if (a.Is(ValueKind::kUint)) {
    return Value::Uint(a.uinteger % b.uinteger);
  }
  return IsMinByMinusOne(a, b) ? Value::Error(kOverflow) : Value::Int(a.integer % b.integer);
}

Value Negate(Context& /*context*/, Args args) {
  const Value& a = args[0];
  switch (a.kind) {
    case ValueKind::kInt: return CheckedInt(0, a.integer, kSubOp);
    case ValueKind::kDouble: return Value::Double(-a.number);
    case ValueKind::kDuration: {
      const Value out = CheckedInt(0, a.integer, kSubOp);
      return out.IsError() ? out : Value::Duration(out.integer);
    }
    default: return MaybeNoSuchOverload(a);
  }
}

Value Not(Context& /*context*/, Args args) {
  return args[0].Is(ValueKind::kBool) ? Value::Bool(!args[0].boolean)
                                      : MaybeNoSuchOverload(args[0]);
}

Value NotStrictlyFalse(Context& /*context*/, Args args) {
  return args[0].Is(ValueKind::kBool) ? args[0] : Value::Bool(true);
}

template <bool (*Test)(std::int64_t)>
Value Relation(Context& /*context*/, Args args) {
  const Value order = Compare(args[0], args[1]);
  return order.IsError() ? order : Value::Bool(Test(order.integer));
}

bool IsLess(std::int64_t order) {
  return order < 0;
}
bool IsLessEquals(std::int64_t order) {
  return order <= 0;
}
bool IsGreater(std::int64_t order) {
  return order > 0;
}
bool IsGreaterEquals(std::int64_t order) {
  return order >= 0;
}

Value In(Context& context, Args args) {
  const Value& element = args[0];
  const Value& container = args[1];
  if (container.Is(ValueKind::kMap)) {
    if (!container.map->native && container.map->size > 0 && !Hashable(element)) {
      return context.Panic(
          fmt::format("runtime error: hash of unhashable type {}", GoTypeName(element)));
    }
    return Value::Bool(FindExact(*container.map, element) != nullptr);
  }
  if (!container.Is(ValueKind::kList)) {
    return MaybeNoSuchOverload(container);
  }
  for (const Value& item : container.list->values()) {
    if (EqualTo(context, element, item).IsTrue()) {
      return Value::Bool(true);
    }
  }
  return Value::Bool(false);
}

Value Size(Context& /*context*/, Args args) {
  return Value::Int(SizeOf(args[0]).value_or(0));
}

Value Contains(Context& /*context*/, Args args) {
  for (const Value& arg : args) {
    if (!arg.Is(ValueKind::kString)) {
      return MaybeNoSuchOverload(arg);
    }
  }
  return Value::Bool(args[0].text().contains(args[1].text()));
}

Value StartsWith(Context& /*context*/, Args args) {
  for (const Value& arg : args) {
    if (!arg.Is(ValueKind::kString)) {
      return MaybeNoSuchOverload(arg);
    }
  }
  return Value::Bool(args[0].text().starts_with(args[1].text()));
}

Value EndsWith(Context& /*context*/, Args args) {
  for (const Value& arg : args) {
    if (!arg.Is(ValueKind::kString)) {
      return MaybeNoSuchOverload(arg);
    }
  }
  return Value::Bool(args[0].text().ends_with(args[1].text()));
}

Value Matches(Context& context, Args args) {
  if (!args[1].Is(ValueKind::kString)) {
    return MaybeNoSuchOverload(args[1]);
  }
  const auto regex = Regex::Compile(args[1].text(), context.regexes());
  return regex ? Value::Bool((*regex)->Matches(args[0].text()))
               : context.Error(regex.error().message());
}

void DeclareRelation(Declare& declare, std::string_view name, std::string_view id) {
  struct Operand {
    std::string_view suffix;
    const Type* type;
  };
  const Operand kInt{"int64", &types::kInt};
  const Operand kUint{"uint64", &types::kUint};
  const Operand kDouble{"double", &types::kDouble};
  const auto add =
      [&](const Operand& a, const Operand* b = nullptr, CostRule cost = CostRule::kOne) {
        std::string text = std::string(id) + "_" + std::string(a.suffix);
        if (b != nullptr) {
          text += "_" + std::string(b->suffix);
        }
        declare.Global(name,
                       declare.Keep(text),
                       {a.type, b != nullptr ? b->type : a.type},
                       &types::kBool,
                       nullptr,
                       {.arity = Arity::kBinary, .cost = cost});
      };
  add({"bool", &types::kBool});
  add(kInt);
  add(kInt, &kDouble);
  add(kInt, &kUint);
  add(kUint);
  add(kUint, &kDouble);
  add(kUint, &kInt);
  add(kDouble);
  add(kDouble, &kInt);
  add(kDouble, &kUint);
  add({"string", &types::kString}, nullptr, CostRule::kCompareSizes);
  add({"bytes", &types::kBytes}, nullptr, CostRule::kCompareSizes);
  add({"timestamp", &types::kTimestamp});
  add({"duration", &types::kDuration});
}

void DeclareArithmetic(Declare& declare) {
  using namespace types;
  const Type* const list = declare.List(declare.A());
  const Declare::Options strings{.cost = CostRule::kAddStrings};
  declare.Global(op::kAdd, "add_bytes", {&kBytes, &kBytes}, &kBytes, nullptr, strings);
  declare.Global(op::kAdd, "add_double", {&kDouble, &kDouble}, &kDouble, nullptr);
  declare.Global(op::kAdd, "add_duration_duration", {&kDuration, &kDuration}, &kDuration, nullptr);
  declare.Global(
      op::kAdd, "add_duration_timestamp", {&kDuration, &kTimestamp}, &kTimestamp, nullptr);
  declare.Global(
      op::kAdd, "add_timestamp_duration", {&kTimestamp, &kDuration}, &kTimestamp, nullptr);
  declare.Global(op::kAdd, "add_int64", {&kInt, &kInt}, &kInt, nullptr);
  declare.Global(op::kAdd, "add_list", {list, list}, list, nullptr);
  declare.Global(op::kAdd, "add_string", {&kString, &kString}, &kString, nullptr, strings);
  declare.Global(op::kAdd, "add_uint64", {&kUint, &kUint}, &kUint, nullptr);
  declare.Singleton(op::kAdd, Arity::kBinary, kAdder, Add);
  declare.Global(op::kDivide, "divide_double", {&kDouble, &kDouble}, &kDouble, nullptr);
  declare.Global(op::kDivide, "divide_int64", {&kInt, &kInt}, &kInt, nullptr);
  declare.Global(op::kDivide, "divide_uint64", {&kUint, &kUint}, &kUint, nullptr);
  declare.Singleton(op::kDivide, Arity::kBinary, kDivider, Divide);
  declare.Global(op::kModulo, "modulo_int64", {&kInt, &kInt}, &kInt, nullptr);
  declare.Global(op::kModulo, "modulo_uint64", {&kUint, &kUint}, &kUint, nullptr);
  declare.Singleton(op::kModulo, Arity::kBinary, kModder, Modulo);
  declare.Global(op::kMultiply, "multiply_double", {&kDouble, &kDouble}, &kDouble, nullptr);
  declare.Global(op::kMultiply, "multiply_int64", {&kInt, &kInt}, &kInt, nullptr);
  declare.Global(op::kMultiply, "multiply_uint64", {&kUint, &kUint}, &kUint, nullptr);
  declare.Singleton(op::kMultiply, Arity::kBinary, kMultiplier, Multiply);
  declare.Global(op::kNegate, "negate_double", {&kDouble}, &kDouble, nullptr);
  declare.Global(op::kNegate, "negate_int64", {&kInt}, &kInt, nullptr);
  declare.Singleton(op::kNegate, Arity::kUnary, kNegator, Negate);
  declare.Global(op::kSubtract, "subtract_double", {&kDouble, &kDouble}, &kDouble, nullptr);
  declare.Global(
      op::kSubtract, "subtract_duration_duration", {&kDuration, &kDuration}, &kDuration, nullptr);
  declare.Global(op::kSubtract, "subtract_int64", {&kInt, &kInt}, &kInt, nullptr);
  declare.Global(op::kSubtract,
                 "subtract_timestamp_duration",
                 {&kTimestamp, &kDuration},
                 &kTimestamp,
                 nullptr);
  declare.Global(op::kSubtract,
                 "subtract_timestamp_timestamp",
                 {&kTimestamp, &kTimestamp},
                 &kDuration,
                 nullptr);
  declare.Global(op::kSubtract, "subtract_uint64", {&kUint, &kUint}, &kUint, nullptr);
  declare.Singleton(op::kSubtract, Arity::kBinary, kSubtractor, Subtract);
}

void DeclareLogic(Declare& declare) {
  const Type* const a = declare.A();
  declare.Global(op::kConditional, "conditional", {&types::kBool, a, a}, a, nullptr);
  declare.Global(op::kAnd, "logical_and", {&types::kBool, &types::kBool}, &types::kBool, nullptr);
  declare.Global(op::kOr, "logical_or", {&types::kBool, &types::kBool}, &types::kBool, nullptr);
  declare.Global(op::kNot, "logical_not", {&types::kBool}, &types::kBool, nullptr);
  declare.Singleton(op::kNot, Arity::kUnary, 0, Not);
  declare.Global(op::kNotStrictlyFalse,
                 "not_strictly_false",
                 {&types::kBool},
                 &types::kBool,
                 NotStrictlyFalse,
                 {.non_strict = true});
  const Declare::Options sizes{.cost = CostRule::kCompareSizes};
  declare.Global(op::kEquals, "equals", {a, a}, &types::kBool, nullptr, sizes);
  declare.Global(op::kNotEquals, "not_equals", {a, a}, &types::kBool, nullptr, sizes);
  declare.Cost(op::kEquals, NamedCost::kEquals);
}

void DeclareCollections(Declare& declare) {
  using namespace types;
  const Type* const a = declare.A();
  const Type* const b = declare.B();
  const Type* const list = declare.List(a);
  const Type* const map = declare.Map(a, b);
  declare.Global(op::kIndex, "index_list", {list, &kInt}, a, nullptr);
  declare.Global(op::kIndex, "index_map", {map, a}, b, nullptr);
  declare.Global(op::kIn, "in_list", {a, list}, &kBool, nullptr, {.cost = CostRule::kInList});
  declare.Global(op::kIn, "in_map", {a, map}, &kBool, nullptr);
  declare.Singleton(op::kIn, Arity::kBinary, 0, In);
  declare.Global("size", "size_bytes", {&kBytes}, &kInt, nullptr);
  declare.Member("size", "bytes_size", {&kBytes}, &kInt, nullptr);
  declare.Global("size", "size_list", {list}, &kInt, nullptr);
  declare.Member("size", "list_size", {list}, &kInt, nullptr);
  declare.Global("size", "size_map", {map}, &kInt, nullptr);
  declare.Member("size", "map_size", {map}, &kInt, nullptr);
  declare.Global("size", "size_string", {&kString}, &kInt, nullptr);
  declare.Member("size", "string_size", {&kString}, &kInt, nullptr);
  declare.Singleton("size", Arity::kUnary, kSizer, Size);
  declare.Member("contains",
                 "contains_string",
                 {&kString, &kString},
                 &kBool,
                 Contains,
                 {.cost = CostRule::kContains});
  declare.NoTypeGuards("contains");
  const Declare::Options second{.cost = CostRule::kSecondString};
  declare.Member("endsWith", "ends_with_string", {&kString, &kString}, &kBool, EndsWith, second);
  declare.NoTypeGuards("endsWith");
  declare.Member(
      "startsWith", "starts_with_string", {&kString, &kString}, &kBool, StartsWith, second);
  declare.NoTypeGuards("startsWith");
  const Declare::Options matches{.cost = CostRule::kMatches};
  declare.Global("matches", "matches", {&kString, &kString}, &kBool, nullptr, matches);
  declare.Member("matches", "matches_string", {&kString, &kString}, &kBool, nullptr, matches);
  declare.Singleton("matches", Arity::kBinary, kMatcher, Matches);
}

}  // namespace

void RegisterStandard(Registry& registry) {
  Declare declare(registry, kLibStandard);
  DeclareLogic(declare);
  DeclareArithmetic(declare);
  DeclareRelation(declare, op::kLess, "less");
  declare.Singleton(op::kLess, Arity::kBinary, kComparer, Relation<IsLess>);
  DeclareRelation(declare, op::kLessEquals, "less_equals");
  declare.Singleton(op::kLessEquals, Arity::kBinary, kComparer, Relation<IsLessEquals>);
  DeclareRelation(declare, op::kGreater, "greater");
  declare.Singleton(op::kGreater, Arity::kBinary, kComparer, Relation<IsGreater>);
  DeclareRelation(declare, op::kGreaterEquals, "greater_equals");
  declare.Singleton(op::kGreaterEquals, Arity::kBinary, kComparer, Relation<IsGreaterEquals>);
  DeclareCollections(declare);
}

}  // namespace allot::cel
