// EventRecorder: Kubernetes Events about objects, correlated as upstream's recorders do.
//
// Two APIs: components that upstream moved to events.k8s.io (the scheduler) turn repeats into a
// series on the first event; the others (controllers) write core/v1 events, count repeats, combine
// many similar ones and limit how many one object may get. Recording never blocks the caller: a
// local client writes at the end of the loop's turn, other clients write from a thread of the
// recorder. Thread safety: the loop's thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/mailbox.h"
#include "client/client.h"
#include "client/loop.h"

namespace allot::client {

enum class EventApi : std::uint8_t { kEventsV1, kCoreV1 };
enum class EventSeverity : std::uint8_t { kNormal, kWarning };

/// The object an event is about.
struct EventSubject {
  std::string api_version;
  std::string kind;
  std::string ns;
  std::string name;
  std::string uid;
  Revision revision = 0;
};

class EventRecorder {
 public:
  struct Options {
    EventApi api = EventApi::kEventsV1;
    std::string component;  ///< reportingController or source.component
    std::string host{};     ///< reportingInstance is component-host; source.host stays empty
  };
  /// Work counters: events asked for, and the writes they became.
  struct Stats {
    std::atomic<std::uint64_t> recorded = 0;
    std::atomic<std::uint64_t> created = 0;
    std::atomic<std::uint64_t> patched = 0;
    std::atomic<std::uint64_t> dropped = 0;
  };

  /// REQUIRES: client and loop outlive the recorder; made before the loop runs.
  EventRecorder(Client& client, Loop& loop, Options options);
  ~EventRecorder();
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  /// `action` is for EventApi::kEventsV1 alone. The message is cut to the API's 1024 bytes.
  void Record(const EventSubject& about,
              EventSeverity severity,
              std::string_view reason,
              std::string_view action,
              std::string_view message);

  [[nodiscard]] const Stats& stats() const { return stats_; }

 private:
  /// One event on the server as we know it, and the write that is due for it.
  struct Entry {
    EventSubject about;
    EventSeverity severity = EventSeverity::kNormal;
    std::string reason;
    std::string action;
    std::string message;
    std::string event_name;
    quantity::Time first;
    quantity::Time last;
    std::int32_t count = 1;
  };
  struct Similar {
    std::unordered_set<std::string> messages;
    base::MonoTime last;
  };
  struct Bucket {
    double tokens = 0;
    base::MonoTime last;
  };
  struct Job {
    Entry entry;
    bool patch = false;
    int tries = 0;
  };
  /// A map that forgets its oldest keys.
  template <typename V>
  struct Cache {
    std::unordered_map<std::string, V> values;
    std::deque<std::string> order;
    V& At(const std::string& key);
  };

  void RecordSeries(Entry entry);
  void RecordCount(Entry entry);
  [[nodiscard]] bool Spam(const std::string& key);
  void Enqueue(const Entry& entry, bool patch);
  bool Flush();
  void Background();
  void Write(Job& job);
  base::Result<void> Create(const Entry& entry);
  base::Result<void> Patch(const Entry& entry);
  [[nodiscard]] std::string KeyOf(const Entry& entry) const;

  Client& client_;
  Loop& loop_;
  Options options_;
  std::string instance_;
  std::int64_t last_stamp_ = 0;
  Cache<Entry> entries_;
  Cache<Similar> similar_;
  Cache<Bucket> buckets_;
  std::vector<Job> pending_;
  base::Mailbox<Job> outbox_;
  Stats stats_;
  std::thread writer_;
};

}  // namespace allot::client
