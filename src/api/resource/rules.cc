#include "api/resource/rules.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include <fmt/format.h>

#include "api/go_value.h"
#include "api/names.h"
#include "cel/cel.h"

namespace allot::api::resource {

using schema::List;
using schema::Str;

namespace {

constexpr std::string_view kReferenceDetail =
    "must be the name of a request in the claim or the name of a request and a subrequest "
    "separated by '/'";
constexpr std::array<std::string_view, 3> kTaintEffects = {"NoExecute", "NoSchedule", "None"};
constexpr std::array<std::string_view, 2> kTolerationOperators = {"Equal", "Exists"};
constexpr std::array<std::string_view, 3> kSkippable = {
    "*", "NodePrepareResources", "NodeUnprepareResources"};

template <std::size_t N>
bool In(const std::array<std::string_view, N>& values, Str value) {
  return std::ranges::find(values, value) != values.end();
}

/// Calls `use(part, index)` for each part between slashes.
template <typename Use>
void ForEachSegment(Str text, Use use) {
  std::size_t at = 0;
  for (std::size_t index = 0;; ++index) {
    const auto slash = text.find('/', at);
    use(text.substr(at, slash == Str::npos ? slash : slash - at), index);
    if (slash == Str::npos) {
      return;
    }
    at = slash + 1;
  }
}

void ValidateIdentifier(Str text, const Path& path, FieldErrors& errors) {
  if (text.size() > kMaxIdentifier) {
    errors.TooLong(path, kMaxIdentifier);
  }
  errors.InvalidAll(path, text, CIdentifierProblems(text));
}

}  // namespace

void ValidateDriverName(Str name, const Path& path, FieldErrors& errors) {
  if (name.empty()) {
    errors.Required(path);
    return;
  }
  if (name.size() > kMaxDomain) {
    errors.TooLong(path, kMaxDomain);
  }
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  });
  errors.InvalidAll(path, name, DnsSubdomainProblems(lower));
}

void ValidateDriverNameDeclared(Str name, const Path& path, FieldErrors& errors) {
  if (name.empty()) {
    errors.Required(path);
    return;
  }
  errors.InvalidAll(path, name, DnsSubdomainCaselessProblems(name));
  if (name.size() > kMaxDomain) {
    errors.TooLong(path, kMaxDomain, "characters");
  }
}

void ValidatePoolName(Str name, const Path& path, FieldErrors& errors) {
  if (name.empty()) {
    errors.Required(path);
    return;
  }
  if (name.size() > kMaxPoolName) {
    errors.TooLong(path, kMaxPoolName);
  }
  ForEachSegment(name, [&](Str part, std::size_t) {
    errors.InvalidAll(path, part, DnsSubdomainProblems(part));
  });
}

void ValidatePoolNameDeclared(Str name, const Path& path, FieldErrors& errors) {
  if (name.empty()) {
    errors.Required(path);
    return;
  }
  if (name.size() > kMaxPoolName) {
    errors.TooLong(path, kMaxPoolName);
  }
  ForEachSegment(name, [&](Str part, std::size_t index) {
    if (part.empty()) {
      errors.Invalid(path, name, fmt::format("segment {}: must not be empty", index));
      return;
    }
    for (const std::string& problem : DnsSubdomainProblems(part, LengthUnit::kBytes)) {
      errors.Invalid(path, part, fmt::format("segment {}: {}", index, problem));
    }
  });
}

void ValidateDnsLabel(Str name, const Path& path, FieldErrors& errors) {
  errors.InvalidAll(path, name, DnsLabelProblems(name));
}

void ValidateLabelValue(Str value, const Path& path, FieldErrors& errors) {
  errors.InvalidAll(path, value, LabelValueProblems(value));
}

void ValidateQualifiedName(Str name, const Path& path, FieldErrors& errors) {
  const auto slash = name.find('/');
  if (slash == Str::npos) {
    ValidateIdentifier(name, path, errors);
    return;
  }
  const Str domain = name.substr(0, slash);
  const Str identifier = name.substr(slash + 1);
  if (identifier.find('/') != Str::npos) {
    return;  // Kubernetes takes names with more slashes as they are
  }
  if (domain.empty()) {
    errors.Invalid(path, "", "the domain must not be empty");
  } else {
    ValidateDriverName(domain, path, errors);
  }
  if (identifier.empty()) {
    errors.Invalid(path, "", "the name must not be empty");
  } else {
    ValidateIdentifier(identifier, path, errors);
  }
}

void ValidateFullyQualifiedName(Str name, const Path& path, FieldErrors& errors) {
  const auto slash = name.find('/');
  if (slash == Str::npos) {
    ValidateIdentifier(name, path, errors);
    errors.Invalid(
        path, name, "a fully qualified name must be a domain and a name separated by a slash");
    return;
  }
  const Str domain = name.substr(0, slash);
  const Str identifier = name.substr(slash + 1);
  if (identifier.find('/') != Str::npos) {
    return;
  }
  if (domain.empty()) {
    errors.Invalid(path, "", "prefix must not be empty");
  } else {
    if (domain.size() > kMaxDomain) {
      errors.TooLong(path, kMaxDomain);
    }
    for (const std::string& problem : DnsSubdomainProblems(domain, LengthUnit::kBytes)) {
      errors.Invalid(path, domain, "prefix: " + problem);
    }
  }
  if (identifier.empty()) {
    errors.Invalid(path, "", "name must not be empty");
  } else {
    ValidateIdentifier(identifier, path, errors);
  }
}

void ValidateCelExpression(
    Str expression, CelUse use, const CelContext& context, const Path& path, FieldErrors& errors) {
  if (context.stored) {
    return;
  }
  if (expression.size() > cel::kMaxExpressionLength) {
    errors.TooLong(path, cel::kMaxExpressionLength);
    return;
  }
  cel::CompileOptions options;
  options.environment = cel::Environment::kNew;
  options.gates = {.consumable_capacity = context.gates.Enabled(Gate::kDRAConsumableCapacity),
                   .list_type_attributes = context.gates.Enabled(Gate::kDRAListTypeAttributes)};
  options.purpose =
      use == CelUse::kSelector ? cel::Purpose::kSelector : cel::Purpose::kDerivedAttribute;
  const auto program = cel::Compile(expression, options);
  if (!program) {
    if (program.error().reason() == base::Reason::kInvalid) {
      errors.Invalid(path, expression, program.error().message());
    } else {
      errors.Internal(path, program.error().message());
    }
    return;
  }
  const std::uint64_t cost = (*program)->max_cost();
  if (cost > cel::kMaxCost) {
    errors.Forbidden(path, "too complex, exceeds cost limit");
  }
  if (context.derived_cost != nullptr && use == CelUse::kDerivedAttribute) {
    *context.derived_cost += std::min(cost, UINT64_MAX - *context.derived_cost);
  }
}

void ValidateSelectors(const List<DeviceSelector>& selectors,
                       const CelContext& context,
                       const Path& path,
                       Report& report) {
  if (TooMany(selectors.size(), kMaxSelectors, path, report.declared)) {
    return;
  }
  for (std::size_t i = 0; i < selectors.size(); ++i) {
    const Path selector = path.Index(i);
    const Path cel = selector.Child("cel");
    if (selectors[i].cel == nullptr) {
      report.hand.Required(cel);
    } else {
      ValidateCelExpression(selectors[i].cel->expression,
                            CelUse::kSelector,
                            context,
                            cel.Child("expression"),
                            report.hand);
    }
  }
}

void ValidateRawObject(const schema::RawJson& raw,
                       std::size_t max,
                       bool stored,
                       const Path& path,
                       FieldErrors& errors) {
  if (raw.text.empty() || raw.text == "null") {
    errors.Required(path);
  } else if (!stored && raw.text.size() > max) {
    errors.TooLong(path, max);
  } else if (!raw.text.starts_with('{')) {
    errors.Invalid(path, "<value omitted>", "must be a valid JSON object");
  }
}

void ValidateConfiguration(const DeviceConfiguration& config,
                           bool stored,
                           const Path& path,
                           Report& report) {
  const Path opaque = path.Child("opaque");
  if (config.opaque == nullptr) {
    report.hand.Required(opaque);
    return;
  }
  ValidateDriverNameDeclared(config.opaque->driver, opaque.Child("driver"), report.declared);
  ValidateRawObject(
      config.opaque->parameters, kMaxParameters, stored, opaque.Child("parameters"), report.hand);
}

void ValidateTaint(const DeviceTaint& taint,
                   const DeviceTaint* old,
                   const Path& path,
                   Report& report) {
  report.hand.InvalidAll(path.Child("key"), taint.key, QualifiedNameProblems(taint.key));
  if (!taint.value.empty()) {
    ValidateLabelValue(taint.value, path.Child("value"), report.hand);
  }
  if (old != nullptr && old->effect == taint.effect) {
    return;
  }
  if (taint.effect.empty()) {
    report.declared.Required(path.Child("effect"));
  } else if (!In(kTaintEffects, taint.effect)) {
    report.declared.NotSupported(path.Child("effect"), taint.effect, kTaintEffects);
  }
}

void ValidateToleration(const DeviceToleration& toleration, const Path& path, Report& report) {
  if (!toleration.key.empty()) {
    report.declared.InvalidAll(
        path.Child("key"), toleration.key, QualifiedNameProblems(toleration.key));
  }
  if (toleration.operator_ == "Exists") {
    if (!toleration.value.empty()) {
      report.hand.Invalid(
          path.Child("value"), toleration.value, "must be empty for operator `Exists`");
    }
  } else if (toleration.operator_ == "Equal") {
    ValidateLabelValue(toleration.value, path.Child("value"), report.hand);
  } else if (toleration.operator_.empty()) {
    report.declared.Required(path.Child("operator"));
  } else {
    report.declared.NotSupported(
        path.Child("operator"), toleration.operator_, kTolerationOperators);
  }
  if (!toleration.effect.empty() && !In(kTaintEffects, toleration.effect)) {
    report.declared.NotSupported(path.Child("effect"), toleration.effect, kTaintEffects);
  }
}

namespace {

void ValidateConditionNames(const List<Str>& names, const Path& path, Report& report) {
  if (TooMany(names.size(), kMaxBindingConditions, path, report.declared)) {
    return;
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    report.hand.InvalidAll(path.Index(i), names[i], QualifiedNameProblems(names[i]));
  }
}

}  // namespace

void ValidateBindingConditions(const List<Str>& conditions,
                               const List<Str>& failures,
                               const Path& path,
                               Report& report) {
  const Path conditions_path = path.Child("bindingConditions");
  const Path failures_path = path.Child("bindingFailureConditions");
  ValidateConditionNames(conditions, conditions_path, report);
  ValidateConditionNames(failures, failures_path, report);
  std::set<Str> seen;
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    if (!seen.insert(conditions[i]).second) {
      report.hand.Duplicate(conditions_path.Index(i), conditions[i]);
    }
  }
  std::set<Str> seen_failures;
  for (std::size_t i = 0; i < failures.size(); ++i) {
    if (!seen_failures.insert(failures[i]).second) {
      report.hand.Duplicate(failures_path.Index(i), failures[i]);
    }
    if (seen.contains(failures[i])) {
      report.hand.Invalid(failures_path.Index(i),
                          failures[i],
                          "bindingFailureConditions must not overlap with bindingConditions");
    }
  }
  if (conditions.empty() && !failures.empty()) {
    report.hand.Invalid(conditions_path,
                        GoTexts(conditions),
                        "bindingConditions are required to use bindingFailureConditions");
  }
  if (failures.empty() && !conditions.empty()) {
    report.hand.Invalid(failures_path,
                        GoTexts(failures),
                        "bindingFailureConditions are required to use bindingConditions");
  }
}

void ValidateSkipNodeOperations(const List<Str>& operations, const Path& path, Report& report) {
  std::set<Str> set(operations.begin(), operations.end());
  if (set.contains("NodePrepareResources") && !set.contains("NodeUnprepareResources") &&
      !set.contains("*")) {
    report.hand.Invalid(
        path,
        GoTexts(operations),
        "NodePrepareResources cannot be skipped unless NodeUnprepareResources is also skipped");
  }
  std::set<Str> seen;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (!seen.insert(operations[i]).second) {
      report.declared.Duplicate(path.Index(i), operations[i]);
    }
  }
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (!In(kSkippable, operations[i])) {
      report.declared.NotSupported(path.Index(i), operations[i], kSkippable);
    }
  }
}

RequestNames::RequestNames(const DeviceClaim& claim) {
  for (const DeviceRequest& request : claim.requests) {
    names_.emplace(request.name);
    for (const DeviceSubRequest& sub : request.first_available) {
      names_.insert(fmt::format("{}/{}", request.name, sub.name));
    }
  }
}

bool RequestNames::Has(Str reference) const {
  return names_.contains(std::string(reference));
}

void ValidateRequestReference(Str reference,
                              const RequestNames& names,
                              const Path& path,
                              FieldErrors& errors) {
  if (std::ranges::count(reference, '/') > 1) {
    errors.Invalid(path, reference, kReferenceDetail);
    return;
  }
  ForEachSegment(reference, [&](Str part, std::size_t) { ValidateDnsLabel(part, path, errors); });
  if (!names.Has(reference)) {
    errors.Invalid(path, reference, kReferenceDetail);
  }
}

void ValidateRequestReferences(const List<Str>& references,
                               const RequestNames& names,
                               const Path& path,
                               Report& report) {
  if (TooMany(references.size(), kMaxRequests, path, report.declared)) {
    return;
  }
  std::set<Str> seen;
  for (std::size_t i = 0; i < references.size(); ++i) {
    ValidateRequestReference(references[i], names, path.Index(i), report.hand);
    if (!seen.insert(references[i]).second) {
      report.declared.Duplicate(path.Index(i), references[i]);
    }
  }
}

void DefaultTaints(const quantity::Time& now, List<DeviceTaint>& taints, schema::Editor editor) {
  const bool complete = std::ranges::all_of(
      taints, [](const DeviceTaint& taint) { return taint.time_added != nullptr; });
  if (complete) {
    return;
  }
  quantity::Time seconds = now;
  seconds.nanos = 0;
  DeviceTaint* const items = editor.MutableList(taints);
  for (std::size_t i = 0; i < taints.size(); ++i) {
    if (items[i].time_added == nullptr) {
      editor.Set(items[i].time_added, seconds);
    }
  }
}

}  // namespace allot::api::resource
