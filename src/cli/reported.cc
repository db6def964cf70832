#include "cli/reported.h"

#include <string_view>

namespace allot::cli {
namespace {

using text::Value;

struct Reported {
  std::string_view reason;  // of the event
  std::string_view part;    // of its message; empty: any
  std::string_view cause;
  std::string_view hint;
};

// The first that matches an event names its cause.
constexpr Reported kReported[] = {
    {"FailedResourceClaimCreation",
     "exceeded quota",
     "QuotaRefused",
     "delete claims that count against the quota, or have it raised"},
    {"FailedResourceClaimCreation",
     "",
     "ClaimNotCreated",
     "correct the template; the controller tries again"},
    {"FailedPrepareDynamicResources",
     "",
     "PrepareFailed",
     "look at the driver on the pod's node: its log, and whether it runs"},
};

std::string_view TimeOf(const Value& event) {
  for (const char* const field : {"lastTimestamp", "eventTime", "firstTimestamp"}) {
    if (const std::string_view text = event.StringAt({field}); !text.empty()) {
      return text;
    }
  }
  return {};
}

bool Tells(const Value& event, const Reported& entry) {
  return event.StringAt({"reason"}) == entry.reason &&
         event.StringAt({"message"}).find(entry.part) != std::string_view::npos;
}

}  // namespace

std::string ReportedText(const Value& events) {
  const Value* const items = events.is_object() ? events.Find("items") : nullptr;
  if (items == nullptr || !items->is_array()) {
    return {};
  }
  std::string out;
  std::string_view told;  // one line a reason, for its latest event
  for (const Reported& entry : kReported) {
    const Value* latest = nullptr;
    for (const Value& event : items->items()) {
      if (event.StringAt({"reason"}) == entry.reason &&
          (latest == nullptr || TimeOf(*latest) <= TimeOf(event))) {
        latest = &event;
      }
    }
    if (latest == nullptr || told == entry.reason || !Tells(*latest, entry)) {
      continue;
    }
    told = entry.reason;
    out += out.empty() ? "\nReported by others:\n" : "";
    out += "  " + std::string(entry.cause) +
           "\n    for example: " + std::string(latest->StringAt({"message"})) +
           "\n    what helps:  " + std::string(entry.hint) + "\n";
  }
  return out;
}

}  // namespace allot::cli
