// find() and findAll() of the Kubernetes regex library.
#include "cel/regex.h"

#include "cel/functions.h"
#include "cel/library/libraries.h"

namespace allot::cel {
namespace {

Value Find(Context& context, Args args) {
  const auto regex = Regex::Compile(args[1].text(), context.regexes());
  return regex ? Value::String((*regex)->Find(args[0].text()))
               : context.Error("Illegal regex: " + regex.error().message());
}

Value FindAll(Context& context, Args args) {
  const auto regex = Regex::Compile(args[1].text(), context.regexes());
  if (!regex) {
    return context.Error("Illegal regex: " + regex.error().message());
  }
  ListRep* const list = context.NewList(4);
  list->go_type = "[]string";
  const std::int64_t limit = args.size() > 2 ? args[2].integer : -1;
  for (const std::string_view match : (*regex)->FindAll(args[0].text(), limit)) {
    context.Append(*list, Value::String(match));
  }
  return context.ListValue(list);
}

}  // namespace

void RegisterRegex(Registry& registry) {
  using namespace types;
  Declare declare(registry, kLibKubernetes);
  const Type* const list = declare.List(&kString);
  declare.Member("find", "string_find_string", {&kString, &kString}, &kString, Find);
  declare.Member("findAll", "string_find_all_string", {&kString, &kString}, list, FindAll);
  declare.Member(
      "findAll", "string_find_all_string_int", {&kString, &kString, &kInt}, list, FindAll);
  declare.Cost("find", NamedCost::kFind);
  declare.Cost("findAll", NamedCost::kFind);
}

}  // namespace allot::cel
