// DeviceClass and DeviceTaintRule.
#include <array>
#include <string>

#include <fmt/format.h>

#include "api/resource/rules.h"
#include "api/resource/strategies.h"
#include "api/strategy_of.h"

namespace allot::api::resource {
namespace {

using schema::Editor;
using schema::Str;

// --- DeviceClass ---

void PrepareClassForCreate(const StrategyContext& context, DeviceClass& object, Editor editor) {
  object.metadata.generation = 1;
  DropDisabled<DeviceClass>(context, object, nullptr, editor);
}

void PrepareClassForUpdate(const StrategyContext& context,
                           DeviceClass& next,
                           const DeviceClass& old,
                           Editor editor) {
  DropDisabled(context, next, &old, editor);
  next.metadata.generation =
      Same(next.spec, old.spec) ? old.metadata.generation : old.metadata.generation + 1;
}

void ValidateExtendedResourceName(Str name, const Path& path, FieldErrors& errors) {
  if (name.find('/') == Str::npos) {
    errors.Invalid(
        path, name, "a name must be a domain-prefixed path, such as 'example.com/my-prop'");
  } else if (name.find("kubernetes.io/") != Str::npos) {
    errors.Invalid(path, name, "must not have \"kubernetes.io/\" domain");
  }
  if (name.starts_with("requests.")) {
    errors.Invalid(path, name, "must not have \"requests.\" prefix");
  }
  errors.InvalidAll(path, name, QualifiedNameProblems(fmt::format("requests.{}", name)));
}

void ValidateClassSpec(const StrategyContext& context,
                       const DeviceClassSpec& spec,
                       const DeviceClassSpec* old,
                       Report& report) {
  const Path path("spec");
  const CelContext cel = {.gates = context.gates,
                          .stored = old != nullptr && SameList(spec.selectors, old->selectors)};
  ValidateSelectors(spec.selectors, cel, path.Child("selectors"), report);
  const bool stored = old != nullptr && SameList(spec.config, old->config);
  const Path configs = path.Child("config");
  if (!TooMany(spec.config.size(), kMaxConfigs, configs, report.declared)) {
    for (std::size_t i = 0; i < spec.config.size(); ++i) {
      ValidateConfiguration(spec.config[i].device_configuration, stored, configs.Index(i), report);
    }
  }
  if (spec.extended_resource_name != nullptr) {
    ValidateExtendedResourceName(
        *spec.extended_resource_name, path.Child("extendedResourceName"), report.declared);
  }
}

/// The name is checked by a declared rule, a generateName not at all.
void ValidateClassMeta(const DeviceClass& object, Report& report) {
  const Path path("metadata");
  meta::ObjectMeta rest = object.metadata;
  rest.generate_name = {};
  if (!rest.name.empty()) {
    rest.name = "good";
    report.declared.InvalidAll(path.Child("name"),
                               object.metadata.name,
                               DnsSubdomainProblems(object.metadata.name, LengthUnit::kBytes));
  }
  ValidateObjectMeta(rest, Scope::kCluster, NameRule::kDnsSubdomain, path, report.hand);
}

void ValidateClassCreate(const StrategyContext& context,
                         const DeviceClass& object,
                         Report& report) {
  ValidateClassMeta(object, report);
  ValidateClassSpec(context, object.spec, nullptr, report);
}

void ValidateClassUpdate(const StrategyContext& context,
                         const DeviceClass& next,
                         const DeviceClass& old,
                         Report& report) {
  ValidateClassMeta(next, report);
  ValidateObjectMetaUpdate(next.metadata, old.metadata, Path("metadata"), report.hand);
  ValidateClassSpec(context, next.spec, &old.spec, report);
}

constexpr std::array<UpdateRules, 1> kClassUpdates = {{
    {"", &Erased<DeviceClass, PrepareClassForUpdate>, &Erased<DeviceClass, ValidateClassUpdate>},
}};

// --- DeviceTaintRule ---

quantity::Time InSeconds(quantity::Time time) {
  time.nanos = 0;
  return time;
}

void DefaultRule(const StrategyContext& context, DeviceTaintRule& rule, Editor editor) {
  if (rule.spec.taint.time_added == nullptr) {
    editor.Set(rule.spec.taint.time_added, InSeconds(context.now));
  }
}

void PrepareRuleForCreate(const StrategyContext& context, DeviceTaintRule& rule, Editor editor) {
  rule.status = {};
  rule.metadata.generation = 1;
  DropDisabled<DeviceTaintRule>(context, rule, nullptr, editor);
}

bool SameTime(const quantity::Time* a, const quantity::Time* b) {
  return a == nullptr || b == nullptr ? a == b : *a == *b;
}

void PrepareRuleForUpdate(const StrategyContext& context,
                          DeviceTaintRule& next,
                          const DeviceTaintRule& old,
                          Editor editor) {
  next.status = old.status;
  DropDisabled(context, next, &old, editor);
  // The time says since when the effect is what it is, unless the client chose another.
  if (next.spec.taint.effect != old.spec.taint.effect &&
      SameTime(next.spec.taint.time_added, old.spec.taint.time_added)) {
    editor.Set(next.spec.taint.time_added, InSeconds(context.now));
  }
  next.metadata.generation =
      Same(next.spec, old.spec) ? old.metadata.generation : old.metadata.generation + 1;
}

void PrepareRuleForStatusUpdate(const StrategyContext&,
                                DeviceTaintRule& next,
                                const DeviceTaintRule& old,
                                Editor /*editor*/) {
  next.spec = old.spec;
  KeepObjectMeta(next.metadata, old.metadata);
}

void ValidateRuleSpec(const DeviceTaintRuleSpec& spec,
                      const DeviceTaintRuleSpec* old,
                      Report& report) {
  const Path path("spec");
  const Path selector = path.Child("deviceSelector");
  if (const DeviceTaintSelector* const filter = spec.device_selector; filter != nullptr) {
    if (filter->driver != nullptr) {
      ValidateDriverName(*filter->driver, selector.Child("driver"), report.hand);
    }
    if (filter->pool != nullptr) {
      ValidatePoolName(*filter->pool, selector.Child("pool"), report.hand);
    }
    if (filter->device != nullptr) {
      ValidateDnsLabel(*filter->device, selector.Child("device"), report.hand);
    }
  }
  ValidateTaint(spec.taint, old != nullptr ? &old->taint : nullptr, path.Child("taint"), report);
}

void ValidateRuleCreate(const StrategyContext&, const DeviceTaintRule& rule, Report& report) {
  ValidateObjectMeta(
      rule.metadata, Scope::kCluster, NameRule::kDnsSubdomain, Path("metadata"), report.hand);
  ValidateRuleSpec(rule.spec, nullptr, report);
}

void ValidateRuleUpdate(const StrategyContext&,
                        const DeviceTaintRule& next,
                        const DeviceTaintRule& old,
                        Report& report) {
  ValidateObjectMetaUpdate(next.metadata, old.metadata, Path("metadata"), report.hand);
  ValidateRuleSpec(next.spec, &old.spec, report);
}

void ValidateRuleStatusUpdate(const StrategyContext&,
                              const DeviceTaintRule& next,
                              const DeviceTaintRule& old,
                              Report& report) {
  ValidateObjectMetaUpdate(next.metadata, old.metadata, Path("metadata"), report.hand);
  const Path status("status");
  const Path conditions = status.Child("conditions");
  ValidateConditions(next.status.conditions, conditions, report.hand);
  if (next.status.conditions.size() > kMaxConditions) {
    report.hand.TooMany(conditions, next.status.conditions.size(), kMaxConditions);
  }
}

constexpr std::array<UpdateRules, 2> kRuleUpdates = {{
    {"",
     &Erased<DeviceTaintRule, PrepareRuleForUpdate>,
     &Erased<DeviceTaintRule, ValidateRuleUpdate>},
    {"status",
     &Erased<DeviceTaintRule, PrepareRuleForStatusUpdate>,
     &Erased<DeviceTaintRule, ValidateRuleStatusUpdate>},
}};

}  // namespace

const Strategy kDeviceClassStrategy = {
    .type = &kDeviceClassDesc,
    .scope = Scope::kCluster,
    .answers_deleted_object = true,
    .has_generation = true,
    .metadata_offset = offsetof(DeviceClass, metadata),
    .prepare_for_create = &Erased<DeviceClass, PrepareClassForCreate>,
    .validate_create = &Erased<DeviceClass, ValidateClassCreate>,
    .updates = kClassUpdates,
};

const Strategy kDeviceTaintRuleStrategy = {
    .type = &kDeviceTaintRuleDesc,
    .scope = Scope::kCluster,
    .allow_unconditional_update = false,
    .has_generation = true,
    .metadata_offset = offsetof(DeviceTaintRule, metadata),
    .apply_defaults = &Erased<DeviceTaintRule, DefaultRule>,
    .prepare_for_create = &Erased<DeviceTaintRule, PrepareRuleForCreate>,
    .validate_create = &Erased<DeviceTaintRule, ValidateRuleCreate>,
    .updates = kRuleUpdates,
};

}  // namespace allot::api::resource
