#include <array>

#include <fmt/format.h>

#include "cel/builder.h"

namespace allot::cel {
namespace {

constexpr std::string_view kOldAccumulator = "__result__";
constexpr std::string_view kUnused = "#unused";
constexpr std::string_view kSortInput = "@__sortBy_input__";
constexpr std::string_view kOverwrites = "iteration variable overwrites accumulator variable";

// What one expansion works with. Every new node stands at the place of the call.
struct Call {
  TreeBuilder& builder;
  std::uint32_t offset;
  Expr* target;
  std::span<Expr* const> args;

  [[nodiscard]] ExprFactory& make() const { return builder.factory(); }
  [[nodiscard]] Expr* Accumulator() const { return make().NewIdent(offset, kAccumulator); }
  [[nodiscard]] Expr* Operator(std::string_view name, std::initializer_list<Expr*> list) const {
    return make().NewCall(offset, name, list);
  }
  [[nodiscard]] Expr* Member(std::string_view name, Expr* on) const {
    return make().NewMemberCall(offset, name, on, {});
  }
  [[nodiscard]] Expr* List(std::initializer_list<ListElement> elements) const {
    return make().NewList(offset, std::span(elements.begin(), elements.size()));
  }
  [[nodiscard]] Expr* Fail(const Expr* at, std::string message) const {
    return builder.Error(at->offset, std::move(message));
  }
};

// The iteration variables of a macro: one or two.
struct Variables {
  std::string_view first;
  std::string_view second;
};

using Expander = Expr* (*)(const Call&);

Expr* ReadVariable(const Call& call, Variables& out, std::string_view not_a_name) {
  const Expr* const arg = call.args[0];
  if (arg->kind != ExprKind::kIdent) {
    return call.Fail(arg, std::string(not_a_name));
  }
  out.first = arg->name;
  if (out.first == kAccumulator || out.first == kOldAccumulator) {
    return call.Fail(arg, std::string(kOverwrites));
  }
  return nullptr;
}

Expr* ReadVariables(const Call& call, Variables& out) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (call.args[i]->kind != ExprKind::kIdent) {
      return call.Fail(call.args[i], "argument must be a simple name");
    }
  }
  out = {call.args[0]->name, call.args[1]->name};
  if (out.first == out.second) {
    return call.Fail(call.args[1], fmt::format("duplicate variable name: {}", out.first));
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string_view name = call.args[i]->name;
    if (name == kAccumulator || name == kOldAccumulator) {
      return call.Fail(call.args[i], std::string(kOverwrites));
    }
  }
  return nullptr;
}

struct LoopParts {
  Expr* init;
  Expr* condition;
  Expr* step;
  Expr* result;
};

Expr* Loop(const Call& call, const Variables& variables, const LoopParts& parts) {
  Comprehension loop;
  loop.range = call.target;
  loop.variable = variables.first;
  loop.variable2 = variables.second;
  loop.accumulator = kAccumulator;
  loop.init = parts.init;
  loop.condition = parts.condition;
  loop.step = parts.step;
  loop.result = parts.result;
  return call.make().NewLoop(call.offset, loop);
}

LoopParts AllParts(const Call& call, Expr* predicate) {
  Expr* const init = call.make().NewBool(call.offset, true);
  Expr* const condition = call.Operator(op::kNotStrictlyFalse, {call.Accumulator()});
  Expr* const step = call.Operator(op::kAnd, {call.Accumulator(), predicate});
  return {init, condition, step, call.Accumulator()};
}

LoopParts ExistsParts(const Call& call, Expr* predicate) {
  Expr* const init = call.make().NewBool(call.offset, false);
  Expr* const negated = call.Operator(op::kNot, {call.Accumulator()});
  Expr* const condition = call.Operator(op::kNotStrictlyFalse, {negated});
  Expr* const step = call.Operator(op::kOr, {call.Accumulator(), predicate});
  return {init, condition, step, call.Accumulator()};
}

LoopParts ExistsOneParts(const Call& call, Expr* predicate) {
  Expr* const init = call.make().NewInt(call.offset, 0);
  Expr* const condition = call.make().NewBool(call.offset, true);
  Expr* const more =
      call.Operator(op::kAdd, {call.Accumulator(), call.make().NewInt(call.offset, 1)});
  Expr* const step = call.Operator(op::kConditional, {predicate, more, call.Accumulator()});
  Expr* const result =
      call.Operator(op::kEquals, {call.Accumulator(), call.make().NewInt(call.offset, 1)});
  return {init, condition, step, result};
}

// Collecting loops: `step` extends the accumulator, `filter` (may be null) decides whether it does.
LoopParts Collect(const Call& call, Expr* init, Expr* filter, Expr* step) {
  Expr* const condition = call.make().NewBool(call.offset, true);
  if (filter != nullptr) {
    step = call.Operator(op::kConditional, {filter, step, call.Accumulator()});
  }
  return {init, condition, step, call.Accumulator()};
}

template <LoopParts (*Parts)(const Call&, Expr*)>
Expr* Quantifier(const Call& call) {
  Variables variables;
  if (Expr* const error = ReadVariable(call, variables, "argument must be a simple name")) {
    return error;
  }
  return Loop(call, variables, Parts(call, call.args[1]));
}

template <LoopParts (*Parts)(const Call&, Expr*)>
Expr* Quantifier2(const Call& call) {
  Variables variables;
  if (Expr* const error = ReadVariables(call, variables)) {
    return error;
  }
  return Loop(call, variables, Parts(call, call.args[2]));
}

Expr* Has(const Call& call) {
  const Expr* const arg = call.args[0];
  if (arg->kind != ExprKind::kSelect) {
    return call.Fail(arg, "invalid argument to has() macro");
  }
  Expr* const test = call.make().NewSelect(call.offset, arg->target, arg->name);
  test->test_only = true;
  return test;
}

Expr* MapOver(const Call& call, Expr* range) {
  Variables variables;
  if (Expr* const error = ReadVariable(call, variables, "argument is not an identifier")) {
    return error;
  }
  const bool filtered = call.args.size() == 3;
  Expr* const init = call.List({});
  Expr* const step =
      call.Operator(op::kAdd, {call.Accumulator(), call.List({{call.args[filtered ? 2 : 1]}})});
  Call on_range{call.builder, call.offset, range, call.args};
  return Loop(on_range, variables, Collect(call, init, filtered ? call.args[1] : nullptr, step));
}

Expr* Map(const Call& call) {
  return MapOver(call, call.target);
}

Expr* Filter(const Call& call) {
  Variables variables;
  if (Expr* const error = ReadVariable(call, variables, "argument is not an identifier")) {
    return error;
  }
  Expr* const init = call.List({});
  Expr* const step = call.Operator(op::kAdd, {call.Accumulator(), call.List({{call.args[0]}})});
  return Loop(call, variables, Collect(call, init, call.args[1], step));
}

// The last argument of a transform macro, with its filter when there are four.
struct Transform {
  Expr* filter;
  Expr* value;
};

Transform ReadTransform(const Call& call) {
  return call.args.size() == 4 ? Transform{call.args[2], call.args[3]}
                               : Transform{nullptr, call.args[2]};
}

Expr* TransformList(const Call& call) {
  Variables variables;
  if (Expr* const error = ReadVariables(call, variables)) {
    return error;
  }
  const auto [filter, value] = ReadTransform(call);
  Expr* const step = call.Operator(op::kAdd, {call.Accumulator(), call.List({{value}})});
  return Loop(call, variables, Collect(call, call.List({}), filter, step));
}

Expr* TransformMap(const Call& call) {
  Variables variables;
  if (Expr* const error = ReadVariables(call, variables)) {
    return error;
  }
  const auto [filter, value] = ReadTransform(call);
  Expr* const key = call.make().NewIdent(call.offset, variables.first);
  Expr* const step = call.Operator(op::kMapInsert, {call.Accumulator(), key, value});
  return Loop(call, variables, Collect(call, call.make().NewMap(call.offset, {}), filter, step));
}

Expr* TransformMapEntry(const Call& call) {
  Variables variables;
  if (Expr* const error = ReadVariables(call, variables)) {
    return error;
  }
  const auto [filter, value] = ReadTransform(call);
  Expr* const step = call.Operator(op::kMapInsert, {call.Accumulator(), value});
  return Loop(call, variables, Collect(call, call.make().NewMap(call.offset, {}), filter, step));
}

// A loop over nothing whose accumulator is a named value: how let-bindings are expressed.
Expr* Bind(const Call& call, std::string_view name, Expr* init, Expr* body) {
  Comprehension loop;
  loop.range = call.List({});
  loop.variable = kUnused;
  loop.accumulator = name;
  loop.init = init;
  loop.condition = call.make().NewBool(call.offset, false);
  loop.step = call.make().NewIdent(call.offset, name);
  loop.result = body;
  return call.make().NewLoop(call.offset, loop);
}

Expr* CelBind(const Call& call) {
  if (call.target->kind != ExprKind::kIdent || call.target->name != "cel") {
    return nullptr;
  }
  if (call.args[0]->kind != ExprKind::kIdent) {
    return call.Fail(call.args[0], "cel.bind() variable names must be simple identifiers");
  }
  return Bind(call, call.args[0]->name, call.args[1], call.args[2]);
}

Expr* OptionalMap(const Call& call, std::string_view macro, bool wrap) {
  if (call.args[0]->kind != ExprKind::kIdent) {
    return call.Fail(call.args[0],
                     fmt::format("{}() variable name must be a simple identifier", macro));
  }
  Expr* const has_value = call.Member("hasValue", call.target);
  Expr* const value = call.Member("value", call.make().Copy(call.target, call.offset));
  Expr* mapped = Bind(call, call.args[0]->name, value, call.args[1]);
  if (wrap) {
    mapped = call.Operator("optional.of", {mapped});
  }
  return call.Operator(op::kConditional, {has_value, mapped, call.Operator("optional.none", {})});
}

Expr* OptMap(const Call& call) {
  return OptionalMap(call, "optMap", /*wrap=*/true);
}
Expr* OptFlatMap(const Call& call) {
  return OptionalMap(call, "optFlatMap", /*wrap=*/false);
}

Expr* SortBy(const Call& call) {
  switch (call.target->kind) {
    case ExprKind::kList:
    case ExprKind::kSelect:
    case ExprKind::kIdent:
    case ExprKind::kComprehension:
    case ExprKind::kCall: break;
    default:
      return call.Fail(call.target,
                       "sortBy can only be applied to a list, identifier, comprehension, call or "
                       "select expression");
  }
  Expr* const input = call.make().NewIdent(call.offset, kSortInput);
  Expr* const keys = MapOver(call, input);
  if (keys->kind != ExprKind::kComprehension) {
    return keys;
  }
  Expr* const sorted = call.make().NewMemberCall(call.offset,
                                                 "@sortByAssociatedKeys",
                                                 call.make().NewIdent(call.offset, kSortInput),
                                                 std::span<Expr* const>(&keys, 1));
  return Bind(call, kSortInput, call.target, sorted);
}

enum class Set : std::uint8_t { kStandard, kOptionals, kTwoVariables, kBind, kSortBy, kExistsOne };

struct Macro {
  std::string_view name;
  std::size_t args;
  bool member;
  Set set;
  Expander expand;
};

constexpr std::array kMacros = {
    Macro{"has", 1, false, Set::kStandard, Has},
    Macro{"all", 2, true, Set::kStandard, Quantifier<AllParts>},
    Macro{"exists", 2, true, Set::kStandard, Quantifier<ExistsParts>},
    Macro{"exists_one", 2, true, Set::kStandard, Quantifier<ExistsOneParts>},
    Macro{"existsOne", 2, true, Set::kExistsOne, Quantifier<ExistsOneParts>},
    Macro{"map", 2, true, Set::kStandard, Map},
    Macro{"map", 3, true, Set::kStandard, Map},
    Macro{"filter", 2, true, Set::kStandard, Filter},
    Macro{"bind", 3, true, Set::kBind, CelBind},
    Macro{"optMap", 2, true, Set::kOptionals, OptMap},
    Macro{"optFlatMap", 2, true, Set::kOptionals, OptFlatMap},
    Macro{"all", 3, true, Set::kTwoVariables, Quantifier2<AllParts>},
    Macro{"exists", 3, true, Set::kTwoVariables, Quantifier2<ExistsParts>},
    Macro{"existsOne", 3, true, Set::kTwoVariables, Quantifier2<ExistsOneParts>},
    Macro{"exists_one", 3, true, Set::kTwoVariables, Quantifier2<ExistsOneParts>},
    Macro{"transformList", 3, true, Set::kTwoVariables, TransformList},
    Macro{"transformList", 4, true, Set::kTwoVariables, TransformList},
    Macro{"transformMap", 3, true, Set::kTwoVariables, TransformMap},
    Macro{"transformMap", 4, true, Set::kTwoVariables, TransformMap},
    Macro{"transformMapEntry", 3, true, Set::kTwoVariables, TransformMapEntry},
    Macro{"transformMapEntry", 4, true, Set::kTwoVariables, TransformMapEntry},
    Macro{"sortBy", 2, true, Set::kSortBy, SortBy},
};

bool Enabled(const MacroSet& macros, Set set) {
  switch (set) {
    case Set::kStandard: return true;
    case Set::kOptionals: return macros.optionals;
    case Set::kTwoVariables: return macros.two_variables;
    case Set::kBind: return macros.bind;
    case Set::kSortBy: return macros.sort_by;
    case Set::kExistsOne: return macros.exists_one_camel;
  }
  return false;
}

}  // namespace

Expr* ExpandMacro(TreeBuilder& builder,
                  std::uint32_t offset,
                  std::string_view function,
                  Expr* target,
                  std::span<Expr* const> args) {
  for (const Macro& macro : kMacros) {
    if (macro.args == args.size() && macro.member == (target != nullptr) &&
        macro.name == function && Enabled(builder.syntax().macros, macro.set)) {
      return macro.expand(Call{builder, offset, target, args});
    }
  }
  return nullptr;
}

}  // namespace allot::cel
