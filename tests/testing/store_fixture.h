// What the store's contract tests stand on: a disk that is opened again and again, texts for what a
// store shows, and the fixture with a store that has two resources.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "store/local_store.h"
#include "store/store.h"
#include "testing/gate_log.h"

namespace allot::testing {

using base::Reason;
using store::Ack;
using store::Event;
using store::kAbsent;
using store::kAny;
using store::Op;
using store::ResourceId;
using store::Revision;
using store::Snapshot;
using store::Value;

/// One place where a log's rows lie; opened again and again, one log at a time.
class StoreDisk {
 public:
  virtual ~StoreDisk() = default;
  virtual std::unique_ptr<store::Log> Open() = 0;
};

struct StoreDiskKind {
  std::string name;
  std::function<std::unique_ptr<StoreDisk>()> make;
};

inline std::vector<std::string> Keys(const Snapshot& snapshot) {
  std::vector<std::string> keys;
  for (store::Cursor at = snapshot.Seek(""); at.valid(); at.Next()) {
    keys.emplace_back(at->key());
  }
  return keys;
}

/// "key@revision=value", in order.
inline std::vector<std::string> Describe(const Snapshot& snapshot) {
  std::vector<std::string> all;
  for (store::Cursor at = snapshot.Seek(""); at.valid(); at.Next()) {
    all.push_back(fmt::format("{}@{}={}", at->key(), at->revision(), at->value().bytes()));
  }
  return all;
}

/// "A key@revision=value<previous", kinds A, M, D.
inline std::vector<std::string> Describe(const std::vector<Event>& events) {
  std::vector<std::string> all;
  for (const Event& event : events) {
    all.push_back(fmt::format("{} {}@{}={}<{}",
                              "AMD"[static_cast<int>(event.kind())],
                              event.entry->key(),
                              event.entry->revision(),
                              event.entry->value().bytes(),
                              event.previous ? event.previous->value().bytes() : "-"));
  }
  return all;
}

class RecordingSink final : public store::CommitSink {
 public:
  void OnCommitted(std::span<const store::CommitOutcome> outcomes) override {
    const std::lock_guard lock(mutex_);
    ++calls_;
    for (const auto& outcome : outcomes) {
      tokens_.push_back(outcome.token);
      errors_.push_back(outcome.error != nullptr ? outcome.error->message() : "");
    }
    condition_.notify_all();
  }
  void Await(std::size_t count) {
    std::unique_lock lock(mutex_);
    condition_.wait(lock, [&] { return tokens_.size() >= count; });
  }
  [[nodiscard]] std::vector<std::uint64_t> tokens() const {
    const std::lock_guard lock(mutex_);
    return tokens_;
  }
  [[nodiscard]] std::vector<std::string> errors() const {
    const std::lock_guard lock(mutex_);
    return errors_;
  }
  [[nodiscard]] int calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable condition_;
  std::vector<std::uint64_t> tokens_;
  std::vector<std::string> errors_;
  int calls_ = 0;
};

class StoreContract : public ::testing::TestWithParam<StoreDiskKind> {
 protected:
  void SetUp() override {
    disk_ = GetParam().make();
    Open();
  }
  void Open() {
    store_.reset();
    options_.clock = &clock_;
    options_.probe_interval = std::chrono::milliseconds(5);
    gate_ = std::make_shared<LogGate>();
    auto opened = store::OpenLocal(std::make_unique<GateLog>(disk_->Open(), gate_), options_);
    ASSERT_TRUE(opened.has_value()) << opened.error().ToString();
    store_ = *std::move(opened);
    pods_ = *store_->AddResource("pods");
    nodes_ = *store_->AddResource("nodes");
  }
  Op Put(std::string_view key, std::string_view value, Revision expected = kAny) {
    return {.key = {pods_, key}, .value = Value::Copy(value), .expected = expected};
  }
  Op Remove(std::string_view key, Revision expected = kAny) {
    return {.key = {pods_, key}, .expected = expected, .remove = true};
  }
  Revision Must(Op op, Ack ack = Ack::kDurable) {
    const auto entry = store_->CommitAndWait(std::move(op), ack);
    EXPECT_TRUE(entry.has_value()) << entry.error().ToString();
    return entry ? (*entry)->revision() : 0;
  }
  Reason Refused(Op op) {
    const auto entry = store_->CommitAndWait(std::move(op));
    return entry ? Reason::kUnknown : entry.error().reason();
  }
  std::vector<Event> Events(Revision after) {
    std::vector<Event> events;
    EXPECT_TRUE(store_->EventsSince(pods_, after, events, 1'000'000).has_value());
    return events;
  }
  // A write through the writer thread: what was asked of it before is done afterwards.
  void Settle() {
    Must({.key = {nodes_, "settle"}, .value = Value::Copy("x")});
    Must({.key = {nodes_, "settle"}, .value = Value::Copy("x")});
  }

  // What the writer thread does by itself in the background; a hang ends by the time-out of the
  // test.
  template <typename Condition>
  static void Await(Condition condition) {
    while (!condition()) {
      std::this_thread::yield();
    }
  }

  base::FakeClock clock_;
  store::LocalOptions options_;
  std::unique_ptr<StoreDisk> disk_;
  std::shared_ptr<LogGate> gate_;
  std::unique_ptr<store::Store> store_;
  ResourceId pods_{};
  ResourceId nodes_{};
};

}  // namespace allot::testing
