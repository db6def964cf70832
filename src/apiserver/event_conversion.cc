// events.k8s.io/v1 Event as the core/v1 Event it is stored as, and back.
#include "api/core/v1.gen.h"
#include "api/events/v1.gen.h"
#include "apiserver/resources.h"

namespace allot::apiserver {
namespace {

void ToStored(const void* from, AnyDraft& to) {
  const auto& event = *static_cast<const api::events::Event*>(from);
  auto& out = to.As<api::core::Event>();
  out.metadata = event.metadata;
  out.involved_object = event.regarding;
  out.reason = event.reason;
  out.message = event.note;
  out.source = event.deprecated_source;
  out.first_timestamp = event.deprecated_first_timestamp;
  out.last_timestamp = event.deprecated_last_timestamp;
  out.count = event.deprecated_count;
  out.type = event.type;
  out.event_time = event.event_time;
  if (event.series != nullptr) {
    out.series = to.arena().New<api::core::EventSeries>(event.series->count,
                                                        event.series->last_observed_time);
  }
  out.action = event.action;
  out.related = event.related;
  out.reporting_component = event.reporting_controller;
  out.reporting_instance = event.reporting_instance;
}

void FromStored(const void* from, AnyDraft& to) {
  const auto& event = *static_cast<const api::core::Event*>(from);
  auto& out = to.As<api::events::Event>();
  out.metadata = event.metadata;
  out.regarding = event.involved_object;
  out.reason = event.reason;
  out.note = event.message;
  out.deprecated_source = event.source;
  out.deprecated_first_timestamp = event.first_timestamp;
  out.deprecated_last_timestamp = event.last_timestamp;
  out.deprecated_count = event.count;
  out.type = event.type;
  out.event_time = event.event_time;
  if (event.series != nullptr) {
    out.series = to.arena().New<api::events::EventSeries>(event.series->count,
                                                          event.series->last_observed_time);
  }
  out.action = event.action;
  out.related = event.related;
  out.reporting_controller = event.reporting_component;
  out.reporting_instance = event.reporting_instance;
}

}  // namespace

const Conversion& EventConversion() {
  static constexpr Conversion kConversion = {&api::core::kEventDesc, ToStored, FromStored};
  return kConversion;
}

}  // namespace allot::apiserver
