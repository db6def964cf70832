// Events of core/v1: loose rules for the old form, those of events.k8s.io for events with a time of
// their own.
#include <array>
#include <string>

#include <fmt/format.h>

#include "api/core/strategies.h"
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

void ValidateEvent(const Event& event, FieldErrors& errors) {
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
  const Path controller("reportingComponent");
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

void ValidateCreate(const StrategyContext&, const Event& event, Report& report) {
  ValidateObjectMeta(
      event.metadata, Scope::kNamespaced, NameRule::kPathSegment, Path("metadata"), report.hand);
  ValidateEvent(event, report.hand);
}

void PrepareForUpdate(const StrategyContext&, Event&, const Event&, Editor) {}

void ValidateUpdate(const StrategyContext&, const Event& next, const Event& old, Report& report) {
  ValidateObjectMetaUpdate(next.metadata, old.metadata, Path("metadata"), report.hand);
  ValidateEvent(next, report.hand);
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
