#include "client/event_recorder.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "api/core/v1.gen.h"
#include "api/events/v1.gen.h"
#include "client/typed.h"
#include "text/json.h"

namespace allot::client {
namespace {

using std::chrono::seconds;

constexpr std::size_t kCacheEntries = 4096;
constexpr std::size_t kMaxNote = 1024;
constexpr std::size_t kCombineFrom = 10;  // different messages in the interval
constexpr seconds kCombineInterval{600};
constexpr double kSpamBurst = 25;
constexpr double kSpamPerSecond = 1.0 / 300;
constexpr seconds kSeriesEnds{360};
constexpr int kMaxTries = 12;

std::string_view TypeText(EventSeverity severity) {
  return severity == EventSeverity::kNormal ? "Normal" : "Warning";
}

std::string Cut(std::string_view message) {
  if (message.size() <= kMaxNote) {
    return std::string(message);
  }
  constexpr std::string_view kSuffix = " ...";
  return std::string(message.substr(0, kMaxNote - kSuffix.size())) + std::string(kSuffix);
}

void Append(std::string& key, std::string_view part) {
  key.append(part);
  key.push_back('\0');
}

template <typename Reference, typename Copy>
Reference Refer(const EventSubject& about, const Copy& copy) {
  Reference reference;
  reference.api_version = copy(about.api_version);
  reference.kind = copy(about.kind);
  reference.namespace_ = copy(about.ns);
  reference.name = copy(about.name);
  reference.uid = copy(about.uid);
  if (about.revision != 0) {
    reference.resource_version = copy(std::to_string(about.revision));
  }
  return reference;
}

bool Retriable(const base::Status& status) {
  return status.reason() == base::Reason::kServiceUnavailable ||
         status.reason() == base::Reason::kTimeout ||
         status.reason() == base::Reason::kTooManyRequests;
}

}  // namespace

template <typename V>
V& EventRecorder::Cache<V>::At(const std::string& key) {
  const auto [it, inserted] = values.try_emplace(key);
  if (inserted) {
    order.push_back(key);
    while (order.size() > kCacheEntries) {
      values.erase(order.front());
      order.pop_front();
    }
  }
  return values.at(key);
}

EventRecorder::EventRecorder(Client& client, Loop& loop, Options options)
    : client_(client), loop_(loop), options_(std::move(options)) {
  instance_ = options_.api == EventApi::kEventsV1 ? options_.component + "-" + options_.host : "";
  loop_.OnTurn([this] { return Flush(); });
  if (!client_.is_local()) {
    writer_ = std::thread([this] { Background(); });
  }
}

EventRecorder::~EventRecorder() {
  outbox_.Stop();
  if (writer_.joinable()) {
    writer_.join();
  }
}

void EventRecorder::Record(const EventSubject& about,
                           EventSeverity severity,
                           std::string_view reason,
                           std::string_view action,
                           std::string_view message) {
  ++stats_.recorded;
  Entry entry;
  entry.about = about;
  entry.severity = severity;
  entry.reason = reason;
  entry.action = action;
  entry.message = Cut(message);
  const base::WallTime now = loop_.clock().Now();
  entry.first = entry.last = quantity::ToTime(now);
  // Names carry the time in nanoseconds; two events of one object must differ.
  last_stamp_ = std::max(last_stamp_ + 1, now.time_since_epoch().count());
  entry.event_name = fmt::format("{}.{:x}", about.name, last_stamp_);
  if (options_.api == EventApi::kEventsV1) {
    RecordSeries(std::move(entry));
  } else {
    RecordCount(std::move(entry));
  }
}

std::string EventRecorder::KeyOf(const Entry& entry) const {
  std::string key;
  for (const std::string_view part : {std::string_view(entry.about.kind),
                                      std::string_view(entry.about.ns),
                                      std::string_view(entry.about.name),
                                      std::string_view(entry.about.uid),
                                      std::string_view(entry.about.api_version),
                                      TypeText(entry.severity),
                                      std::string_view(entry.reason),
                                      std::string_view(entry.action)}) {
    Append(key, part);
  }
  return key;
}

void EventRecorder::RecordSeries(Entry entry) {
  std::string key = KeyOf(entry);
  Append(key, std::to_string(entry.about.revision));
  Entry& known = entries_.At(key);
  const bool over = known.last.set && entry.last.seconds - known.last.seconds > kSeriesEnds.count();
  if (known.event_name.empty() || over) {
    known = std::move(entry);
    Enqueue(known, /*patch=*/false);
    return;
  }
  ++known.count;
  known.last = entry.last;
  if (known.count == 2) {
    Enqueue(known, /*patch=*/true);  // later repeats are counted and not written one by one
  }
}

bool EventRecorder::Spam(const std::string& key) {
  Bucket& bucket = buckets_.At(key);
  const base::MonoTime now = loop_.Now();
  if (bucket.last == base::MonoTime()) {
    bucket.tokens = kSpamBurst;
  } else {
    const double passed = std::chrono::duration<double>(now - bucket.last).count();
    bucket.tokens = std::min(kSpamBurst, bucket.tokens + passed * kSpamPerSecond);
  }
  bucket.last = now;
  if (bucket.tokens < 1) {
    return true;
  }
  bucket.tokens -= 1;
  return false;
}

void EventRecorder::RecordCount(Entry entry) {
  const std::string group = KeyOf(entry);
  std::string key = group;
  Similar& similar = similar_.At(group);
  const base::MonoTime now = loop_.Now();
  if (now - similar.last > kCombineInterval) {
    similar.messages.clear();
  }
  similar.last = now;
  similar.messages.insert(entry.message);
  if (similar.messages.size() < kCombineFrom) {
    Append(key, entry.message);
  } else {
    similar.messages.erase(similar.messages.begin());
    entry.message = Cut("(combined from similar events): " + entry.message);
  }
  Entry& known = entries_.At(key);
  const bool repeat = !known.event_name.empty();
  if (repeat) {
    ++known.count;
    known.last = entry.last;
    known.message = std::move(entry.message);
  } else {
    known = std::move(entry);
  }
  std::string spam;
  Append(spam, known.about.uid);
  Append(spam, known.about.kind);
  Append(spam, TypeText(known.severity));
  if (Spam(spam)) {
    ++stats_.dropped;
    return;
  }
  Enqueue(known, repeat);
}

void EventRecorder::Enqueue(const Entry& entry, bool patch) {
  pending_.push_back({.entry = entry, .patch = patch});
}

bool EventRecorder::Flush() {
  if (pending_.empty()) {
    return false;
  }
  std::vector<Job> jobs = std::exchange(pending_, {});
  if (writer_.joinable()) {
    outbox_.PostAll(std::move(jobs));
    return false;
  }
  for (Job& job : jobs) {
    Write(job);
  }
  return false;
}

void EventRecorder::Background() {
  std::vector<Job> jobs;
  while (outbox_.Wait(jobs)) {
    for (Job& job : jobs) {
      Write(job);
    }
  }
}

void EventRecorder::Write(Job& job) {
  base::Result<void> result = job.patch ? Patch(job.entry) : Create(job.entry);
  if (!result && job.patch && result.error().reason() == base::Reason::kNotFound) {
    result = Create(job.entry);
  }
  // Nobody waits for an event: what cannot be delivered after some tries is let go.
  if (!result && Retriable(result.error()) && ++job.tries < kMaxTries && writer_.joinable()) {
    outbox_.Post(std::move(job));
  }
}

base::Result<void> EventRecorder::Create(const Entry& entry) {
  const std::string_view ns = entry.about.ns.empty() ? "default" : std::string_view(entry.about.ns);
  const WriteOptions write{.ack = Ack::kSequenced};
  if (options_.api == EventApi::kEventsV1) {
    schema::Draft<api::events::Event> draft;
    const auto copy = [&draft](std::string_view text) {
      return draft.Copy(text);
    };
    draft->metadata.name = copy(entry.event_name);
    draft->metadata.namespace_ = copy(ns);
    draft->event_time = entry.first;
    draft->reporting_controller = copy(options_.component);
    draft->reporting_instance = copy(instance_);
    draft->action = copy(entry.action);
    draft->reason = copy(entry.reason);
    draft->note = copy(entry.message);
    draft->type = TypeText(entry.severity);
    draft->regarding = Refer<api::core::ObjectReference>(entry.about, copy);
    if (entry.count > 1) {
      draft->series = draft.arena().New<api::events::EventSeries>(entry.count, entry.last);
    }
    ALLOT_RETURN_IF_ERROR(client::Create(client_, draft, write));
    ++stats_.created;
    return {};
  }
  schema::Draft<api::core::Event> draft;
  const auto copy = [&draft](std::string_view text) {
    return draft.Copy(text);
  };
  draft->metadata.name = copy(entry.event_name);
  draft->metadata.namespace_ = copy(ns);
  draft->involved_object = Refer<api::core::ObjectReference>(entry.about, copy);
  draft->reason = copy(entry.reason);
  draft->message = copy(entry.message);
  draft->source.component = copy(options_.component);
  draft->reporting_component = draft->source.component;
  draft->first_timestamp = entry.first;
  draft->last_timestamp = entry.last;
  draft->count = entry.count;
  draft->type = TypeText(entry.severity);
  ALLOT_RETURN_IF_ERROR(client::Create(client_, draft, write));
  ++stats_.created;
  return {};
}

base::Result<void> EventRecorder::Patch(const Entry& entry) {
  const std::string_view ns = entry.about.ns.empty() ? "default" : std::string_view(entry.about.ns);
  const WriteOptions write{.ack = Ack::kSequenced};
  ++stats_.patched;
  if (options_.api == EventApi::kEventsV1) {
    const std::string patch = fmt::format(R"({{"series":{{"count":{},"lastObservedTime":"{}"}}}})",
                                          entry.count,
                                          quantity::FormatMicroTime(entry.last));
    ALLOT_RETURN_IF_ERROR(client::Patch<api::events::Event>(
        client_, ns, entry.event_name, PatchType::kStrategicMerge, patch, "", write));
    return {};
  }
  std::string patch = fmt::format(R"({{"count":{},"lastTimestamp":"{}","message":)",
                                  entry.count,
                                  quantity::FormatTime(entry.last));
  text::AppendJsonString(entry.message, patch);
  patch.push_back('}');
  ALLOT_RETURN_IF_ERROR(client::Patch<api::core::Event>(
      client_, ns, entry.event_name, PatchType::kStrategicMerge, patch, "", write));
  return {};
}

}  // namespace allot::client
