// Quantities, semantic versions, URLs, named formats, and the declarations of the authorizer
// library.
#include <fmt/format.h>

#include "cel/functions.h"
#include "cel/library/libraries.h"
#include "cel/named_format.h"
#include "cel/net.h"
#include "cel/operations.h"

namespace allot::cel {
namespace {

using quantity::ExactQuantity;

Value ParseQuantity(Context& context, Args args) {
  auto parsed = ExactQuantity::Parse(args[0].text());
  if (!parsed) {
    return context.Error(parsed.error().message());
  }
  const bool keep = parsed->keeps_text();
  return context.Quantity(
      *std::move(parsed), /*computed=*/false, keep ? args[0].text() : std::string_view());
}

Value IsQuantity(Context& /*context*/, Args args) {
  return Value::Bool(ExactQuantity::Parse(args[0].text()).has_value());
}

Value Sign(Context& /*context*/, Args args) {
  return Value::Int(args[0].quantity->value.Sign());
}

// Compares and, like upstream, leaves a fast left side slow when the right one is slow.
int CompareQuantities(Args args) {
  ExactQuantity& left = args[0].quantity->value;
  const ExactQuantity& right = args[1].quantity->value;
  const int order = ExactQuantity::Compare(left, right);
  if (left.fast() && !right.fast()) {
    left = left.Slowed();
  }
  return order;
}

Value QuantityGreater(Context& /*context*/, Args args) {
  return Value::Bool(CompareQuantities(args) > 0);
}
Value QuantityLess(Context& /*context*/, Args args) {
  return Value::Bool(CompareQuantities(args) < 0);
}
Value QuantityCompare(Context& /*context*/, Args args) {
  return Value::Int(CompareQuantities(args));
}
Value AsFloat(Context& /*context*/, Args args) {
  return Value::Double(args[0].quantity->value.AsApproximateDouble());
}
Value AsInteger(Context& /*context*/, Args args) {
  const auto value = args[0].quantity->value.AsInt64();
  return value ? Value::Int(*value) : Value::Error("cannot convert value to integer");
}
Value IsInteger(Context& /*context*/, Args args) {
  return Value::Bool(args[0].quantity->value.AsInt64().has_value());
}

ExactQuantity Operand(const Value& value) {
  return value.Is(ValueKind::kInt)
             ? ExactQuantity(value.integer, 0, quantity::Format::kDecimalExponent)
             : value.quantity->value;
}
Value AddQuantity(Context& context, Args args) {
  return context.Quantity(ExactQuantity::Add(args[0].quantity->value, Operand(args[1])), true);
}
Value SubQuantity(Context& context, Args args) {
  return context.Quantity(ExactQuantity::Subtract(args[0].quantity->value, Operand(args[1])), true);
}

void RegisterQuantity(Declare& d) {
  using namespace types;
  d.Global("quantity", "string_to_quantity", {&kString}, &kQuantity, ParseQuantity);
  d.Global("isQuantity", "is_quantity_string", {&kString}, &kBool, IsQuantity);
  d.Global("sign", "quantity_sign", {&kQuantity}, &kInt, Sign);
  d.Member("isGreaterThan",
           "quantity_is_greater_than",
           {&kQuantity, &kQuantity},
           &kBool,
           QuantityGreater);
  d.Member("isLessThan", "quantity_is_less_than", {&kQuantity, &kQuantity}, &kBool, QuantityLess);
  d.Member("compareTo", "quantity_compare_to", {&kQuantity, &kQuantity}, &kInt, QuantityCompare);
  d.Member("asApproximateFloat", "quantity_get_float", {&kQuantity}, &kDouble, AsFloat);
  d.Member("asInteger", "quantity_get_int", {&kQuantity}, &kInt, AsInteger);
  d.Member("isInteger", "quantity_is_integer", {&kQuantity}, &kBool, IsInteger);
  d.Member("add", "quantity_add", {&kQuantity, &kQuantity}, &kQuantity, AddQuantity);
  d.Member("add", "quantity_add_int", {&kQuantity, &kInt}, &kQuantity, AddQuantity);
  d.Member("sub", "quantity_sub", {&kQuantity, &kQuantity}, &kQuantity, SubQuantity);
  d.Member("sub", "quantity_sub_int", {&kQuantity, &kInt}, &kQuantity, SubQuantity);
  for (const std::string_view name : {"sign",
                                      "isGreaterThan",
                                      "isLessThan",
                                      "compareTo",
                                      "asInteger",
                                      "isInteger",
                                      "asApproximateFloat",
                                      "add",
                                      "sub"}) {
    d.Cost(name, NamedCost::kOne);
  }
  d.Cost("quantity", NamedCost::kScanFirst);
  d.Cost("isQuantity", NamedCost::kScanFirst);
}

base::Result<quantity::Semver> ReadSemver(Context& context, Args args) {
  std::string_view text = args[0].text();
  if (args.size() > 1 && args[1].boolean) {
    ALLOT_ASSIGN_OR_RETURN(const std::string normal, quantity::NormalizeSemver(text));
    text = context.arena().Copy(normal);
  }
  return quantity::ParseSemver(text);
}

Value ParseSemver(Context& context, Args args) {
  const auto parsed = ReadSemver(context, args);
  return parsed ? context.Semver(*parsed) : context.Error(parsed.error().message());
}
Value IsSemver(Context& context, Args args) {
  return Value::Bool(ReadSemver(context, args).has_value());
}
int CompareVersions(Args args) {
  return quantity::CompareSemver(*args[0].semver, *args[1].semver);
}
Value SemverGreater(Context& /*context*/, Args args) {
  return Value::Bool(CompareVersions(args) > 0);
}
Value SemverLess(Context& /*context*/, Args args) {
  return Value::Bool(CompareVersions(args) < 0);
}
Value SemverCompare(Context& /*context*/, Args args) {
  return Value::Int(CompareVersions(args));
}
Value Major(Context& /*context*/, Args args) {
  return Value::Int(static_cast<std::int64_t>(args[0].semver->major_number));
}
Value Minor(Context& /*context*/, Args args) {
  return Value::Int(static_cast<std::int64_t>(args[0].semver->minor_number));
}
Value Patch(Context& /*context*/, Args args) {
  return Value::Int(static_cast<std::int64_t>(args[0].semver->patch_number));
}

void RegisterSemver(Declare& d) {
  using namespace types;
  d.Global("semver", "string_to_semver", {&kString}, &kSemver, ParseSemver);
  d.Global("semver", "string_bool_to_semver", {&kString, &kBool}, &kSemver, ParseSemver);
  d.Global("isSemver", "is_semver_string", {&kString}, &kBool, IsSemver);
  d.Global("isSemver", "is_semver_string_bool", {&kString, &kBool}, &kBool, IsSemver);
  d.Member("isGreaterThan", "semver_is_greater_than", {&kSemver, &kSemver}, &kBool, SemverGreater);
  d.Member("isLessThan", "semver_is_less_than", {&kSemver, &kSemver}, &kBool, SemverLess);
  d.Member("compareTo", "semver_compare_to", {&kSemver, &kSemver}, &kInt, SemverCompare);
  d.Member("major", "semver_major", {&kSemver}, &kInt, Major);
  d.Member("minor", "semver_minor", {&kSemver}, &kInt, Minor);
  d.Member("patch", "semver_patch", {&kSemver}, &kInt, Patch);
  for (const std::string_view name : {"major", "minor", "patch"}) {
    d.Cost(name, NamedCost::kOne);
  }
  d.Cost("semver", NamedCost::kScanFirst);
  d.Cost("isSemver", NamedCost::kScanFirst);
}

Value MakeUrl(Context& context, Args args) {
  auto parsed = ParseUrl(args[0].text());
  if (!parsed) {
    return context.Error("URL parse error during conversion from string: " +
                         parsed.error().message());
  }
  UrlRep* const rep = context.arena().New<UrlRep>();
  rep->url = context.Keep(*std::move(parsed));
  Value out;
  out.kind = ValueKind::kUrl;
  out.url = rep;
  return out;
}

Value IsUrl(Context& /*context*/, Args args) {
  return Value::Bool(ParseRequestUri(args[0].text()).has_value());
}
Value Scheme(Context& context, Args args) {
  return context.String(args[0].url->url->scheme);
}
Value Host(Context& context, Args args) {
  return context.String(args[0].url->url->host);
}
Value Hostname(Context& context, Args args) {
  return context.String(args[0].url->url->Hostname());
}
Value Port(Context& context, Args args) {
  return context.String(args[0].url->url->Port());
}
Value EscapedPath(Context& context, Args args) {
  return context.String(args[0].url->url->EscapedPath());
}
Value Query(Context& context, Args args) {
  const auto query = args[0].url->url->Query();
  MapRep* const map = context.NewMap(query.size());
  for (const auto& [key, values] : query) {
    context.Put(*map, context.String(key), context.ListOfStrings(values));
  }
  return context.Map(map);
}

void RegisterUrl(Declare& d) {
  using namespace types;
  d.Global("url", "string_to_url", {&kString}, &kUrl, MakeUrl);
  d.Member("getScheme", "url_get_scheme", {&kUrl}, &kString, Scheme);
  d.Member("getHost", "url_get_host", {&kUrl}, &kString, Host);
  d.Member("getHostname", "url_get_hostname", {&kUrl}, &kString, Hostname);
  d.Member("getPort", "url_get_port", {&kUrl}, &kString, Port);
  d.Member("getEscapedPath", "url_get_escaped_path", {&kUrl}, &kString, EscapedPath);
  d.Member("getQuery", "url_get_query", {&kUrl}, d.Map(&kString, d.List(&kString)), Query);
  d.Global("isURL", "is_url_string", {&kString}, &kBool, IsUrl);
  for (const std::string_view name :
       {"getScheme", "getHost", "getHostname", "getPort", "getEscapedPath", "getQuery"}) {
    d.Cost(name, NamedCost::kOne);
  }
  d.Cost("url", NamedCost::kScanFirst);
}

Value FormatValue(const FormatRep& format) {
  Value out;
  out.kind = ValueKind::kFormat;
  out.format = &format;
  return out;
}

template <std::size_t Index>
Value NamedFormat(Context& /*context*/, Args /*args*/) {
  return FormatValue(NamedFormats()[Index]);
}

Value FormatByName(Context& context, Args args) {
  for (const FormatRep& format : NamedFormats()) {
    if (format.key == args[0].text()) {
      return context.Optional(FormatValue(format));
    }
  }
  return context.None();
}

Value Validate(Context& context, Args args) {
  const std::vector<std::string> messages = args[0].format->validate(args[1].text());
  return messages.empty() ? context.None() : context.Optional(context.ListOfStrings(messages));
}

template <std::size_t... Index>
void RegisterNamed(Declare& d, std::index_sequence<Index...> /*indexes*/) {
  (
      [&] {
        const std::string_view name = d.Keep("format." + std::string(NamedFormats()[Index].key));
        d.Global(name, name, {}, &types::kFormat, NamedFormat<Index>);
      }(),
      ...);
}

void RegisterFormat(Declare& d) {
  using namespace types;
  d.Member("validate",
           "format-validate",
           {&kFormat, &kString},
           d.types().Optional(d.List(&kString)),
           Validate);
  d.Global("format.named", "format-named", {&kString}, d.types().Optional(&kFormat), FormatByName);
  RegisterNamed(d, std::make_index_sequence<13>());
  d.Cost("validate", NamedCost::kValidate);
  d.Cost("format.named", NamedCost::kOne);
}

// Never called with a value of its type: device expressions have no authorizer.
Value Unreachable(Context& /*context*/, Args /*args*/) {
  return NoSuchOverload();
}

void RegisterAuthorizer(Declare& d) {
  using namespace types;
  const Type* const authorizer = d.types().Struct("kubernetes.authorization.Authorizer");
  const Type* const path = d.types().Struct("kubernetes.authorization.PathCheck");
  const Type* const group = d.types().Struct("kubernetes.authorization.GroupCheck");
  const Type* const resource = d.types().Struct("kubernetes.authorization.ResourceCheck");
  const Type* const decision = d.types().Struct("kubernetes.authorization.Decision");
  const auto add = [&](std::string_view name,
                       std::string_view id,
                       std::initializer_list<const Type*> params,
                       const Type* result,
                       NamedCost cost) {
    d.Member(name, id, params, result, Unreachable);
    d.Cost(name, cost);
  };
  add("path", "authorizer_path", {authorizer, &kString}, path, NamedCost::kOne);
  add("group", "authorizer_group", {authorizer, &kString}, group, NamedCost::kOne);
  add("serviceAccount",
      "authorizer_serviceaccount",
      {authorizer, &kString, &kString},
      authorizer,
      NamedCost::kOne);
  add("resource", "groupcheck_resource", {group, &kString}, resource, NamedCost::kOne);
  add("subresource", "resourcecheck_subresource", {resource, &kString}, resource, NamedCost::kOne);
  add("namespace", "resourcecheck_namespace", {resource, &kString}, resource, NamedCost::kOne);
  add("name", "resourcecheck_name", {resource, &kString}, resource, NamedCost::kOne);
  add("check", "pathcheck_check", {path, &kString}, decision, NamedCost::kCheck);
  add("check", "resourcecheck_check", {resource, &kString}, decision, NamedCost::kCheck);
  add("errored", "decision_errored", {decision}, &kBool, NamedCost::kOne);
  add("error", "decision_error", {decision}, &kString, NamedCost::kOne);
  add("allowed", "decision_allowed", {decision}, &kBool, NamedCost::kOne);
  add("reason", "decision_reason", {decision}, &kString, NamedCost::kOne);
  add("fieldSelector",
      "authorizer_fieldselector",
      {resource, &kString},
      resource,
      NamedCost::kSelector);
  add("labelSelector",
      "authorizer_labelselector",
      {resource, &kString},
      resource,
      NamedCost::kSelector);
}

}  // namespace

void RegisterKubernetes(Registry& registry) {
  Declare declare(registry, kLibKubernetes);
  RegisterUrl(declare);
  RegisterQuantity(declare);
  RegisterSemver(declare);
  RegisterFormat(declare);
  RegisterAuthorizer(declare);
}

}  // namespace allot::cel
