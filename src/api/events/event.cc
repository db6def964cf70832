// Events of events.k8s.io/v1: every field that is needed must be there, the deprecated ones must
// not.
#include <array>
#include <string>

#include <fmt/format.h>

#include "api/events/v1.gen.h"
#include "api/names.h"
#include "api/strategies.h"
#include "api/strategy_of.h"

namespace allot::api::events {

using schema::Editor;
using schema::Str;

namespace {

constexpr std::size_t kMaxText = 128;
constexpr std::size_t kMaxNote = 1024;

void ValidateText(Str text, const Path& path, FieldErrors& errors) {
  if (text.empty()) {
    errors.Required(path);
  } else if (text.size() > kMaxText) {
    errors.Invalid(path, "", fmt::format("can have at most {} characters", kMaxText));
  }
}

void ValidateCommon(const Event& event, FieldErrors& errors) {
  const Path regarding("involvedObject");
  const Str ns = event.metadata.namespace_;
  if (event.regarding.namespace_.empty() && ns != "default" && ns != "kube-system") {
    errors.Invalid(regarding.Child("namespace"), "", "does not match event.namespace");
  }
  const Path controller("reportingController");
  if (event.reporting_controller.empty()) {
    errors.Required(controller);
  }
  errors.InvalidAll(
      controller, event.reporting_controller, QualifiedNameProblems(event.reporting_controller));
  ValidateText(event.reporting_instance, Path("reportingInstance"), errors);
  ValidateText(event.action, Path("action"), errors);
  ValidateText(event.reason, Path("reason"), errors);
  if (event.note.size() > kMaxNote) {
    errors.Invalid(Path("message"), "", fmt::format("can have at most {} characters", kMaxNote));
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

void ValidateCreate(const StrategyContext&, const Event& event, Report& report) {
  FieldErrors& errors = report.hand;
  ValidateCommon(event, errors);
  ValidateObjectMeta(
      event.metadata, Scope::kNamespaced, NameRule::kDnsSubdomain, Path("metadata"), errors);
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
  unset(event.deprecated_first_timestamp.set, "firstTimestamp");
  unset(event.deprecated_last_timestamp.set, "lastTimestamp");
  unset(event.deprecated_count != 0, "count");
  unset(!event.deprecated_source.component.empty() || !event.deprecated_source.host.empty(),
        "source");
}

void PrepareForUpdate(const StrategyContext&, Event&, const Event&, Editor) {}

void ValidateUpdate(const StrategyContext&, const Event& next, const Event& old, Report& report) {
  FieldErrors& errors = report.hand;
  ValidateCommon(next, errors);
  ValidateObjectMetaUpdate(next.metadata, old.metadata, Path("metadata"), errors);
  ValidateSeries(next.series, errors);
  const auto same_text = [&](Str a, Str b, std::string_view name) {
    if (a != b) {
      errors.Invalid(Path(name), a, "field is immutable");
    }
  };
  if (!Same(next.regarding, old.regarding)) {
    errors.Invalid(Path("involvedObject"),
                   BadValue::Json(Desc<core::ObjectReference>(), &next.regarding),
                   "field is immutable");
  }
  same_text(next.reason, old.reason, "reason");
  same_text(next.note, old.note, "message");
  same_text(next.type, old.type, "type");
  same_text(next.action, old.action, "action");
  same_text(next.reporting_controller, old.reporting_controller, "reportingController");
  same_text(next.reporting_instance, old.reporting_instance, "reportingInstance");
}

constexpr std::array<UpdateRules, 1> kUpdates = {{
    {"", &Erased<Event, PrepareForUpdate>, &Erased<Event, ValidateUpdate>},
}};

}  // namespace

const Strategy kEventStrategy = {
    .type = &kEventDesc,
    .allow_create_on_update = true,
    .metadata_offset = offsetof(Event, metadata),
    .validate_create = &Erased<Event, ValidateCreate>,
    .updates = kUpdates,
};

}  // namespace allot::api::events
