#include "cli/watch_until.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/targets.h"
#include "quantity/time.h"
#include "text/json.h"

namespace allot::cli {
namespace {

using std::chrono::seconds;
using text::Value;

constexpr seconds kWeek{7 * 24 * 3600};

}  // namespace

base::Result<void> WatchUntil(Connection& connection,
                              const ApiResource& resource,
                              const std::string& ns,
                              const std::string& name,
                              std::chrono::nanoseconds timeout,
                              const std::function<bool(const Value* object)>& holds) {
  const std::string fields = "metadata.name=" + name;
  const auto timed_out = [&] {
    return base::Error(
        base::Reason::kTimeout,
        "timed out waiting for the condition on " + resource.FullName() + "/" + name);
  };
  while (true) {
    ALLOT_ASSIGN_OR_RETURN(
        const Value list,
        connection.GetJson(resource.Path(ns) + Query({{"fieldSelector", fields}})));
    const Value* const items = list.Find("items");
    const bool exists = items != nullptr && !items->items().empty();
    if (holds(exists ? &items->items()[0] : nullptr)) {
      return {};
    }
    client::RestRequest request;
    const auto wait = timeout.count() == 0 ? std::chrono::nanoseconds(kWeek) : timeout;
    const auto whole = std::max<std::int64_t>(1, std::chrono::ceil<seconds>(wait).count());
    request.target =
        resource.Path(ns) +
        Query({{"watch", "true"},
               {"resourceVersion", std::string(list.StringAt({"metadata", "resourceVersion"}))},
               {"fieldSelector", fields},
               {"timeoutSeconds", std::to_string(whole)}});
    request.timeout =
        std::chrono::duration_cast<std::chrono::milliseconds>(wait) + std::chrono::milliseconds(50);
    bool done = false;
    bool expired = false;
    const auto streamed = connection.rest().Stream(
        request,
        [&](std::string_view line) {
          const auto event = text::ParseJson(line);
          const Value* const object = event ? event->Find("object") : nullptr;
          const std::string_view type = event ? event->StringAt({"type"}) : std::string_view();
          if (object == nullptr || type == "BOOKMARK") {
            return true;
          }
          expired = type == "ERROR";
          done = !expired && holds(type == "DELETED" ? nullptr : object);
          return !done && !expired;
        },
        std::stop_token());
    if (done) {
      return {};
    }
    if (expired) {
      continue;  // the history is gone: look again
    }
    if (!streamed && streamed.error().reason() != base::Reason::kTimeout) {
      return base::Error(streamed.error());
    }
    return timed_out();
  }
}

base::Result<std::chrono::nanoseconds> ParseTimeout(std::string_view text) {
  std::string full(text);
  if (!full.empty() && full.find_first_not_of("-0123456789") == std::string::npos) {
    full += "s";
  }
  const auto parsed = quantity::ParseDuration(full);
  if (!parsed) {
    return base::Error(
        base::Reason::kInvalid,
        "--timeout: found \"" + std::string(text) + "\", expected a duration such as 30s or 5m");
  }
  return *parsed < 0 ? std::chrono::nanoseconds(kWeek) : std::chrono::nanoseconds(*parsed);
}

}  // namespace allot::cli
