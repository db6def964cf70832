// Events of core/v1: loose rules for the old form, those of events.k8s.io for events with a time of
// their own.
#include <array>
#include <string>

#include <fmt/format.h>

#include "api/core/strategies.h"
#include "api/go_value.h"
#include "api/names.h"
#include "api/strategy_of.h"

namespace allot::api::core {

using schema::Editor;
using schema::Str;

namespace {

constexpr std::size_t kMaxReason = 128;
constexpr std::size_t kMaxAction = 128;
constexpr std::size_t kMaxInstance = 128;
constexpr std::size_t kMaxMessage = 1024;

void ValidateText(Str text, std::size_t max, const Path& path, FieldErrors& errors) {
  if (text.empty()) {
    errors.Required(path);
  } else if (text.size() > max) {
    errors.Invalid(path, "", fmt::format("can have at most {} characters", max));
  }
}

/// How strict the rules are follows from the group a request came through.
bool IsStrict(const StrategyContext& context) {
  return context.request_group == "events.k8s.io";
}

void ValidateEvent(const StrategyContext& context, const Event& event, FieldErrors& errors) {
  constexpr std::string_view kDiffers = "does not match event.namespace";
  const Path involved("involvedObject");
  const Path ns = involved.Child("namespace");
  const Str own = event.metadata.namespace_;
  const Str of = event.involved_object.namespace_;
  if (!event.event_time.set) {
    const bool matches = of.empty() ? own.empty() || own == "default" : own == of;
    if (!matches) {
      errors.Invalid(ns, of, kDiffers);
    }
    return;
  }
  if (of.empty() && own != "default" && own != "kube-system") {
    errors.Invalid(ns, of, kDiffers);
  }
  const Path controller(IsStrict(context) ? "reportingController" : "reportingComponent");
  if (event.reporting_component.empty()) {
    errors.Required(controller);
  }
  errors.InvalidAll(
      controller, event.reporting_component, QualifiedNameProblems(event.reporting_component));
  ValidateText(event.reporting_instance, kMaxInstance, Path("reportingInstance"), errors);
  ValidateText(event.action, kMaxAction, Path("action"), errors);
  ValidateText(event.reason, kMaxReason, Path("reason"), errors);
  if (event.message.size() > kMaxMessage) {
    errors.Invalid(Path("message"), "", fmt::format("can have at most {} characters", kMaxMessage));
  }
}

void ValidateSeries(const EventSeries* series, FieldErrors& errors) {
  if (series == nullptr) {
    return;
  }
  if (series->count < 2) {
    errors.Invalid(Path("series.count"), "", "should be at least 2");
  }
  if (!series->last_observed_time.set) {
    errors.Required(Path("series.lastObservedTime"));
  }
}

/// The fields that events of events.k8s.io must have, and the old ones they may not.
void ValidateStrictCreate(const Event& event, FieldErrors& errors) {
  ValidateSeries(event.series, errors);
  if (!event.event_time.set) {
    errors.Required(Path("eventTime"));
  }
  if (event.type != "Normal" && event.type != "Warning") {
    errors.Invalid(Path("type"), "", fmt::format("has invalid value: {}", event.type));
  }
  const auto unset = [&](bool set, std::string_view name) {
    if (set) {
      errors.Invalid(Path(name), "", "needs to be unset");
    }
  };
  unset(event.first_timestamp.set, "firstTimestamp");
  unset(event.last_timestamp.set, "lastTimestamp");
  unset(event.count != 0, "count");
  unset(!event.source.component.empty() || !event.source.host.empty(), "source");
}

void ValidateCreate(const StrategyContext& context, const Event& event, Report& report) {
  const NameRule rule = IsStrict(context) ? NameRule::kDnsSubdomain : NameRule::kPathSegment;
  ValidateEvent(context, event, report.hand);
  ValidateObjectMeta(
      event.metadata, Scope::kNamespaced, rule, Path("metadata"), report.hand, FinalizerRule::kAny);
  if (IsStrict(context)) {
    ValidateStrictCreate(event, report.hand);
  }
}

void PrepareForUpdate(const StrategyContext&, Event&, const Event&, Editor) {}

void ValidateStrictUpdate(const Event& next, const Event& old, FieldErrors& errors) {
  constexpr std::string_view kImmutable = "field is immutable";
  ValidateSeries(next.series, errors);
  const auto same_text = [&](Str a, Str b, std::string_view name) {
    if (a != b) {
      errors.Invalid(Path(name), a, kImmutable);
    }
  };
  if (!Same(next.involved_object, old.involved_object)) {
    errors.Invalid(Path("involvedObject"),
                   GoValue(Desc<ObjectReference>(), &next.involved_object),
                   kImmutable);
  }
  same_text(next.reason, old.reason, "reason");
  same_text(next.message, old.message, "message");
  same_text(next.type, old.type, "type");
  if (next.event_time.seconds != old.event_time.seconds ||
      next.event_time.nanos / 1000 != old.event_time.nanos / 1000) {
    errors.Invalid(Path("eventTime"), quantity::FormatMicroTime(next.event_time), kImmutable);
  }
  same_text(next.action, old.action, "action");
  same_text(next.reporting_component, old.reporting_component, "reportingController");
  same_text(next.reporting_instance, old.reporting_instance, "reportingInstance");
}

void ValidateUpdate(const StrategyContext& context,
                    const Event& next,
                    const Event& old,
                    Report& report) {
  ValidateEvent(context, next, report.hand);
  ValidateObjectMetaUpdate(
      next.metadata, old.metadata, Path("metadata"), report.hand, FinalizerRule::kAny);
  if (IsStrict(context)) {
    ValidateStrictUpdate(next, old, report.hand);
  }
}

constexpr std::array<UpdateRules, 1> kUpdates = {{
    {"", &Erased<Event, PrepareForUpdate>, &Erased<Event, ValidateUpdate>},
}};

}  // namespace

const Strategy kEventStrategy = {
    .type = &kEventDesc,
    .name_rule = NameRule::kPathSegment,
    .allow_create_on_update = true,
    .metadata_offset = offsetof(Event, metadata),
    .validate_create = &Erased<Event, ValidateCreate>,
    .updates = kUpdates,
};

}  // namespace allot::api::core
