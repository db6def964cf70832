// Watch = list + events, for many writers and watchers at once (invariants 2 and 4), and the work
// counters of a write (invariant 11).
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/mailbox.h"
#include "base/random.h"
#include "store/local_store.h"
#include "testing/counting_sink.h"
#include "testing/heap_counter.h"
#include "testing/temp_dir.h"

namespace allot::testing {
namespace {

using store::Event;
using store::Op;
using store::ResourceId;
using store::Revision;
using store::Value;

using State = std::map<std::string, std::pair<Revision, std::string>>;

State ReadState(const store::Snapshot& snapshot) {
  State state;
  for (store::Cursor at = snapshot.Seek(""); at.valid(); at.Next()) {
    state.emplace_hint(state.end(),
                       std::string(at->key()),
                       std::pair(at->revision(), std::string(at->value().bytes())));
  }
  return state;
}

// What a watcher may rely on: each event follows from the state before it.
void Apply(State& state, const Event& event, Revision& last) {
  const store::Entry& entry = *event.entry;
  ASSERT_GT(entry.revision(), last);
  last = entry.revision();
  const std::string key(entry.key());
  const auto known = state.find(key);
  ASSERT_EQ(event.previous.get() != nullptr, known != state.end()) << key;
  if (event.previous) {
    ASSERT_EQ(event.previous->revision(), known->second.first);
    ASSERT_EQ(event.previous->value().bytes(), known->second.second);
  }
  if (entry.deleted()) {
    state.erase(known);
  } else {
    state[key] = {entry.revision(), std::string(entry.value().bytes())};
  }
}

struct Harness {
  explicit Harness(std::unique_ptr<store::Log> log, store::LocalOptions options = {}) {
    store = *store::OpenLocal(std::move(log), std::move(options));
    pods = *store->AddResource("pods");
    other = *store->AddResource("other");
  }
  std::unique_ptr<store::Store> store;
  ResourceId pods{};
  ResourceId other{};
};

// Random creates, conditional updates and deletions; every fourth write only sequenced.
void Write(Harness& harness, std::uint64_t seed, int count) {
  base::Random random(seed);
  for (int i = 0; i < count; ++i) {
    const std::string key = fmt::format("ns{}/{}", random.Below(3), random.Below(30));
    const ResourceId resource = random.Below(4) == 0 ? harness.other : harness.pods;
    const auto head = harness.store->ReadHead({resource, key});
    Op op{.key = {resource, key}, .value = Value::Copy(fmt::format("{}-{}", seed, i))};
    op.expected = head ? head->revision() : store::kAbsent;
    op.remove = head && random.Below(3) == 0;
    const auto ack = random.Below(4) == 0 ? store::Ack::kSequenced : store::Ack::kDurable;
    const auto done = harness.store->CommitAndWait(std::move(op), ack);
    if (done && ack == store::Ack::kDurable) {
      EXPECT_GE(harness.store->durable(), (*done)->revision());
    }
  }
}

// Lists, follows, and now and then starts over: at every moment the followed state must equal a
// list at the same revision.
void Watch(Harness& harness, std::uint64_t seed, const std::atomic<bool>& stop) {
  base::Random random(seed);
  base::Mailbox<int> mailbox;
  const auto subscription = harness.store->Subscribe(
      {harness.pods}, [&mailbox](const store::Published&) { mailbox.Post(0); });
  std::vector<int> woken;
  std::vector<Event> events;
  while (!stop) {
    store::Snapshot snapshot = harness.store->TakeSnapshot(harness.pods);
    State state = ReadState(snapshot);
    Revision at = snapshot.revision();
    Revision last = at;
    for (std::uint64_t turn = random.Below(200); turn > 0 && !stop; --turn) {
      events.clear();
      const auto through =
          harness.store->EventsSince(harness.pods, at, events, 1 + random.Below(20));
      if (!through) {
        ASSERT_EQ(through.error().reason(), base::Reason::kExpired);
        break;
      }
      ASSERT_GE(*through, at);
      for (const Event& event : events) {
        ASSERT_NO_FATAL_FAILURE(Apply(state, event, last));
        ASSERT_LE(last, *through);
      }
      at = *through;
      ASSERT_LE(at, harness.store->durable());
      if (random.Below(10) == 0) {
        const auto exact = harness.store->SnapshotAt(harness.pods, at);
        if (exact) {
          ASSERT_EQ(ReadState(*exact), state);
        }
      }
      if (events.empty()) {
        mailbox.Wait(woken, std::chrono::milliseconds(20));
      }
    }
  }
}

void RunModel(std::unique_ptr<store::Log> log, store::LocalOptions options, int writes) {
  Harness harness(std::move(log), std::move(options));
  std::atomic<bool> stop{false};
  std::vector<std::thread> watchers;
  std::vector<std::thread> writers;
  for (std::uint64_t i = 0; i < 3; ++i) {
    watchers.emplace_back([&harness, &stop, i] { Watch(harness, 100 + i, stop); });
  }
  for (std::uint64_t i = 0; i < 3; ++i) {
    writers.emplace_back([&harness, i, writes] { Write(harness, i, writes); });
  }
  for (std::thread& writer : writers) {
    writer.join();
  }
  stop = true;
  for (std::thread& watcher : watchers) {
    watcher.join();
  }
  harness.store->Stop();
  EXPECT_EQ(harness.store->durable(), harness.store->stats().head);
  EXPECT_EQ(harness.store->stats().writes, static_cast<std::uint64_t>(harness.store->stats().head));
}

TEST(StoreModel, WatchIsListAndEventsOverMemory) {
  RunModel(store::MakeMemoryLog(), {}, 6000);
}

TEST(StoreModel, WatchIsListAndEventsOverSqlite) {
  const TempDir directory;
  RunModel(*store::OpenSqliteLog({.directory = directory.path()}), {}, 1500);
}

TEST(StoreModel, WatchIsListAndEventsWithSmallWindowAndCompaction) {
  RunModel(store::MakeMemoryLog(),
           {.dead_bytes = 20'000, .window_bytes = 30'000, .compact_chunk = 16},
           4000);
}

// Compare and set from many threads: no increment is lost, none is seen twice.
TEST(StoreModel, ConditionalWritesNeverLoseOne) {
  Harness harness(store::MakeMemoryLog());
  const store::Key key{harness.pods, "counter"};
  ASSERT_TRUE(harness.store->CommitAndWait({.key = key, .value = Value::Copy("0")}));
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&harness, key] {
      for (int done = 0; done < 500;) {
        const auto head = harness.store->ReadHead(key);
        const int next = std::stoi(std::string(head->value().bytes())) + 1;
        done += harness.store->CommitAndWait({.key = key,
                                              .value = Value::Copy(std::to_string(next)),
                                              .expected = head->revision()},
                                             store::Ack::kSequenced)
                    ? 1
                    : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(harness.store->ReadHead(key)->value().bytes(), "1500");
}

// Invariant 11: once warm, a write takes nothing from the heap.
TEST(StoreModel, WarmStoreAllocatesNothing) {
#ifdef ALLOT_TEST_SANITIZED
  GTEST_SKIP() << "sanitizers allocate by themselves";
#endif
  // Compaction on, small bounds: a steady state is reached quickly.
  Harness harness(store::MakeMemoryLog(),
                  {.dead_bytes = 50'000, .window_bytes = 100'000, .window_attachments = 64});
  CountingSink sink;
  std::vector<std::string> keys;
  for (int i = 0; i < 500; ++i) {
    keys.push_back(fmt::format("namespace/name-{}", i));
  }
  const Value value = Value::Copy(std::string(300, 'v'));
  std::uint64_t written = 0;
  const auto write = [&](int rounds) {
    for (int i = 0; i < rounds; ++i) {
      for (int batch = 0; batch < 16; ++batch, ++written) {
        ASSERT_TRUE(harness.store->Commit(
            {.key = {harness.pods, keys[written % keys.size()]}, .value = value}, &sink, 0));
      }
      sink.Await(written);
    }
  };
  write(2000);
  const std::uint64_t before = HeapAllocations();
  write(1000);
  // A vector that still grows now and then; nothing a write.
  EXPECT_LT(HeapAllocations() - before, 16U);
}

}  // namespace
}  // namespace allot::testing
