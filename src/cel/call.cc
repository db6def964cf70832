// Calling a function from a step: which overload, which guards.
#include <fmt/format.h>

#include "cel/plan.h"

namespace allot::cel {
namespace {

Value CallRegex(Context& context, const Step& step, std::span<const Value> args) {
  if (!args[0].Is(ValueKind::kString) && !args[0].Is(ValueKind::kType)) {
    return NoSuchOverload();
  }
  const std::string_view text = args[0].text();
  if (step.function->name == "matches") {
    return Value::Bool(step.regex->Matches(text));
  }
  if (step.function->name == "find") {
    return Value::String(step.regex->Find(text));
  }
  if (args.size() > 2 && !args[2].Is(ValueKind::kInt)) {
    return NoSuchOverload();
  }
  ListRep* const list = context.NewList(4);
  list->go_type = "[]string";
  for (const std::string_view match :
       step.regex->FindAll(text, args.size() > 2 ? args[2].integer : -1)) {
    context.Append(*list, Value::String(match));
  }
  return context.ListValue(list);
}

}  // namespace

Value Call(Context& context,
           std::uint32_t libraries,
           const Step& step,
           std::span<const Value> args) {
  if (step.regex != nullptr) {
    return CallRegex(context, step, args);
  }
  const Function& function = *step.function;
  if (function.singleton != nullptr) {
    const std::uint32_t traits = args.empty() ? 0 : Traits(args[0]);
    if (function.trait == 0 || (traits & function.trait) == function.trait) {
      return function.singleton(context, args);
    }
    return (traits & kReceiver) != 0
               ? NoSuchOverload()
               : context.Error(fmt::format("no such overload: {}", function.name));
  }
  if (step.overload == nullptr || step.overload->fn == nullptr) {
    return Dispatch(context, function, libraries, args);
  }
  const Overload& overload = *step.overload;
  for (std::size_t i = 0; i < args.size() && function.type_guards; ++i) {
    if (!(overload.non_strict && args[i].IsError()) &&
        !MatchesRuntimeType(overload.params[i], args[i])) {
      return NoSuchOverloadFor(context, function.name, args);
    }
  }
  return overload.fn(context, args);
}

}  // namespace allot::cel
