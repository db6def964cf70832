// The store against power loss, full disks, failing syncs and kill -9.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/random.h"
#include "store/local_store.h"
#include "testing/fault_vfs.h"
#include "testing/temp_dir.h"

namespace allot::testing {
namespace {

using store::Op;
using store::Revision;
using store::Value;

// One sequenced write as the test remembers it; a deletion has no value.
struct Known {
  std::string key;
  std::optional<std::string> value;
};
using History = std::map<Revision, Known>;

std::unique_ptr<store::Store> OpenOver(const std::string& directory,
                                       const std::string& vfs,
                                       store::LocalOptions options = {}) {
  auto log =
      store::OpenSqliteLog({.directory = directory, .vfs = vfs, .wal_checkpoint_bytes = 200 << 10});
  EXPECT_TRUE(log.has_value()) << log.error().ToString();
  auto opened = store::OpenLocal(*std::move(log), std::move(options));
  EXPECT_TRUE(opened.has_value()) << opened.error().ToString();
  return *std::move(opened);
}

class AckSink final : public store::CommitSink {
 public:
  void OnCommitted(std::span<const store::CommitOutcome> outcomes) override {
    for (const auto& outcome : outcomes) {
      if (outcome.error == nullptr) {
        acked_.store(outcome.entry->revision());
      } else {
        failed_.fetch_add(1);
      }
    }
  }
  [[nodiscard]] Revision acked() const { return acked_.load(); }
  [[nodiscard]] int failed() const { return failed_.load(); }

 private:
  std::atomic<Revision> acked_{0};
  std::atomic<int> failed_{0};
};

// What the reopened store must show: the effect of all writes up to its durable revision, which is
// at least the last acknowledged one (invariants 1 and 3).
void ExpectPrefix(store::Store& reopened, const History& history, Revision acked) {
  ASSERT_GE(reopened.durable(), acked);
  std::map<std::string, std::string> state;
  for (const auto& [revision, write] : history) {
    if (revision > reopened.durable()) {
      break;
    }
    if (write.value) {
      state[write.key] = *write.value;
    } else {
      state.erase(write.key);
    }
  }
  std::map<std::string, std::string> read;
  const store::Snapshot snapshot = reopened.TakeSnapshot(*reopened.AddResource("pods"));
  for (store::Cursor at = snapshot.Seek(""); at.valid(); at.Next()) {
    read[std::string(at->key())] = at->value().bytes();
  }
  EXPECT_EQ(read, state);
}

// Commits random writes; `history` knows every one that was sequenced.
class Load {
 public:
  Load(store::Store& store, History& history, std::uint64_t seed)
      : store_(store), pods_(*store.AddResource("pods")), history_(history), random_(seed) {}

  void Write(store::CommitSink* sink) {
    const std::string key = fmt::format("ns/{}", random_.Below(20));
    const bool remove = random_.Below(5) == 0 && store_.ReadHead({pods_, key});
    std::string value = fmt::format("{}-{}", random_.Next(), std::string(random_.Below(3000), 'v'));
    const auto entry = store_.Commit(
        {.key = {pods_, key}, .value = remove ? Value() : Value::Copy(value), .remove = remove},
        sink,
        0);
    if (entry) {
      history_[(*entry)->revision()] = {key,
                                        remove ? std::nullopt : std::optional(std::move(value))};
    }
  }

 private:
  store::Store& store_;
  store::ResourceId pods_;
  History& history_;
  base::Random random_;
};

// Waits until the last write is durable, or failed for want of space.
void AwaitDurable(const store::Store& store) {
  while (store.durable() < store.stats().head && !store.stats().out_of_space) {
    ::sched_yield();
  }
}

// Power loss at every sync point of a random run, which compacts beyond `dead_bytes`, `chunk` rows
// at a time, so that those commits are crash points as well.
void RunSyncPoints(std::uint64_t dead_bytes, std::uint32_t chunk, int batches) {
  struct Image {
    std::unique_ptr<FaultDisk> disk;
    Revision acked = 0;
  };
  FaultDisk disk;
  const TempDir directory;
  AckSink sink;
  std::vector<Image> images;
  base::Random random(11);
  History history;
  bool record = false;
  disk.on_sync = [&](bool after) {
    if (!record) {
      return;
    }
    for (const auto crash :
         {FaultDisk::Crash::kDropUnsynced, FaultDisk::Crash::kKeepSome, FaultDisk::Crash::kTear}) {
      if (!after || crash == FaultDisk::Crash::kDropUnsynced) {
        images.push_back({disk.CrashImage(crash, random), sink.acked()});
      }
    }
  };
  {
    auto store =
        OpenOver(directory.path(), disk.vfs(), {.dead_bytes = dead_bytes, .compact_chunk = chunk});
    Load load(*store, history, 3);
    AwaitDurable(*store);
    record = true;
    for (int batch = 0; batch < batches; ++batch) {
      for (int i = 0; i < batch % 7 + 1; ++i) {
        load.Write(&sink);
      }
      AwaitDurable(*store);
    }
    store->Stop();
    record = false;
  }
  EXPECT_GT(images.size(), 3U * static_cast<unsigned>(batches));
  for (const Image& image : images) {
    const TempDir other;
    // The VFS knows files by their path: the image is opened under the one it was written with.
    auto reopened = OpenOver(directory.path(), image.disk->vfs());
    ExpectPrefix(*reopened, history, image.acked);
    const auto pods = *reopened->AddResource("pods");
    const auto next = reopened->CommitAndWait({.key = {pods, "after"}, .value = Value::Copy("x")});
    ASSERT_TRUE(next.has_value());
    EXPECT_GT((*next)->revision(), image.acked);
  }
}

TEST(StoreCrash, EverySyncPointKeepsAllThatWasAcknowledged) {
  RunSyncPoints(50'000, 8, 60);
}

// A deletion's row must not go before the row it deleted: the object would come back.
TEST(StoreCrash, CompactionInterruptedAnywhereBringsNothingBack) {
  RunSyncPoints(0, 1, 25);
}

TEST(StoreCrash, FullDiskRefusesWritesKeepsReadsAndRecovers) {
  FaultDisk disk;
  const TempDir directory;
  History history;
  AckSink sink;
  store::LocalOptions options;
  options.probe_interval = std::chrono::milliseconds(2);
  auto store = OpenOver(directory.path(), disk.vfs(), options);
  Load load(*store, history, 5);
  disk.space = 3 << 20;
  while (!store->stats().out_of_space) {
    load.Write(&sink);
    AwaitDurable(*store);
  }
  EXPECT_GT(sink.failed(), 0);
  const Revision durable = store->durable();
  std::erase_if(history, [durable](const auto& write) { return write.first > durable; });
  ExpectPrefix(*store, history, sink.acked());
  const auto refused =
      store->CommitAndWait({.key = {*store->AddResource("pods"), "x"}, .value = Value::Copy("x")});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message(), "etcdserver: mvcc: database space exceeded");
  disk.space.reset();
  while (store->stats().out_of_space) {
    ::sched_yield();
  }
  for (int i = 0; i < 50; ++i) {
    load.Write(&sink);
  }
  AwaitDurable(*store);
  store.reset();
  auto reopened = OpenOver(directory.path(), disk.vfs());
  ExpectPrefix(*reopened, history, sink.acked());
}

TEST(StoreCrash, FailedSyncEndsWriting) {
  FaultDisk disk;
  const TempDir directory;
  std::string heard;
  store::LocalOptions options;
  options.on_fatal = [&heard](const base::Status& status) {
    heard = status.message();
  };
  auto store = OpenOver(directory.path(), disk.vfs(), options);
  const auto pods = *store->AddResource("pods");
  const Op write{.key = {pods, "a"}, .value = Value::Copy("1")};
  ASSERT_TRUE(store->CommitAndWait(write).has_value());
  disk.fail_next_sync = true;
  EXPECT_FALSE(store->CommitAndWait(write).has_value());
  EXPECT_THAT(heard, ::testing::HasSubstr("commit"));
  EXPECT_FALSE(store->CommitAndWait(write).has_value());
  EXPECT_EQ(store->TakeSnapshot(pods).Find("a")->revision(), 1);
}

TEST(StoreCrash, WriteAheadLogIsReusedInPlace) {
  FaultDisk disk;
  const TempDir directory;
  History history;
  auto store = OpenOver(directory.path(), disk.vfs());
  Load load(*store, history, 7);
  for (int i = 0; i < 400; ++i) {
    load.Write(nullptr);
    AwaitDurable(*store);
  }
  const std::uint64_t before = disk.extended();
  const std::uint64_t syncs = disk.syncs();
  for (int i = 0; i < 100; ++i) {
    load.Write(nullptr);
    AwaitDurable(*store);
  }
  // Only the main file still grows, by about the rows' own size at each checkpoint.
  EXPECT_LT(disk.extended() - before, 600'000U);
  EXPECT_LT(disk.syncs() - syncs, 130U);
}

// The sqlite3 tool on a live store must not stop it, and the log must shrink to its place again
// afterwards.
TEST(StoreCrash, ForeignReaderOnlyDelaysCheckpoints) {
  const TempDir directory;
  std::vector<std::string> lines;
  telemetry::LogOptions log_options;
  log_options.sink = [&lines](std::string_view line) {
    lines.emplace_back(line);
  };
  auto log = store::OpenSqliteLog({.directory = directory.path(),
                                   .logger = *telemetry::Logger::Make(log_options),
                                   .wal_checkpoint_bytes = 100 << 10});
  ASSERT_TRUE(log.has_value());
  Revision revision = 0;
  const auto append = [&](int times) {
    const std::string value(5000, 'v');
    for (int i = 0; i < times; ++i) {
      const store::LogRow row{.revision = ++revision, .created = 1, .key = "k", .value = value};
      ASSERT_TRUE((*log)->Append(std::span(&row, 1)).has_value());
      ASSERT_TRUE((*log)->Maintain(false).has_value());
    }
  };
  append(1);
  sqlite3* reader = nullptr;
  ASSERT_EQ(sqlite3_open((directory.path() + "/allot.db").c_str(), &reader), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM log", nullptr, nullptr, nullptr),
            SQLITE_OK);
  append(100);
  EXPECT_EQ((*log)->size().checkpoints, 0U);
  EXPECT_THAT(lines, ::testing::ElementsAre(::testing::HasSubstr("another program reads")));
  sqlite3_close(reader);
  append(50);
  EXPECT_GT((*log)->size().checkpoints, 0U);
  EXPECT_LT((*log)->size().wal_bytes, 200U << 10);
}

TEST(StoreCrash, DamagedAndForeignFilesAreNamed) {
  const TempDir directory;
  const std::string path = directory.path() + "/allot.db";
  const auto write_file = [&path](const std::string& content) {
    std::FILE* const file = std::fopen(path.c_str(), "we");
    ASSERT_NE(file, nullptr);
    std::fwrite(content.data(), 1, content.size(), file);
    std::fclose(file);
  };
  write_file(std::string(20'000, 'x'));
  auto log = store::OpenSqliteLog({.directory = directory.path()});
  ASSERT_FALSE(log.has_value());
  EXPECT_THAT(log.error().message(), ::testing::HasSubstr(path));
  EXPECT_THAT(log.error().message(), ::testing::HasSubstr("not a database"));
  write_file("");
  EXPECT_TRUE(store::OpenSqliteLog({.directory = directory.path()}).has_value());
}

// The child writes without end, saying on a pipe what was acknowledged, until it is killed.
[[noreturn]] void ChildWrites(const std::string& directory, int out) {
  auto log = store::OpenSqliteLog({.directory = directory, .wal_checkpoint_bytes = 200 << 10});
  auto store = store::OpenLocal(*std::move(log), {.dead_bytes = 100'000, .compact_chunk = 16});
  const auto pods = *(*store)->AddResource("pods");
  class PipeSink final : public store::CommitSink {
   public:
    explicit PipeSink(int to) : to_(to) {}
    void OnCommitted(std::span<const store::CommitOutcome> outcomes) override {
      for (const auto& outcome : outcomes) {
        const std::int64_t line[2] = {outcome.entry->revision(),
                                      static_cast<std::int64_t>(outcome.token)};
        if (::write(to_, line, sizeof line) != sizeof line) {
          ::_exit(1);
        }
      }
    }

   private:
    int to_;
  } sink(out);
  for (std::uint64_t i = 0;; ++i) {
    const std::string key = fmt::format("ns/{}", i % 50);
    const auto entry =
        (*store)->Commit({.key = {pods, key}, .value = Value::Copy(std::to_string(i))}, &sink, i);
    if (!entry || (i % 16 == 0 && (*store)->stats().queued > 64)) {
      AwaitDurable(**store);
    }
  }
}

TEST(StoreCrash, KillNineLosesNothingAcknowledged) {
  const TempDir directory;
  base::Random random(13);
  Revision last_durable = 0;
  for (int round = 0; round < 12; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::close(ends[0]);
      ChildWrites(directory.path(), ends[1]);
    }
    ::close(ends[1]);
    std::map<Revision, std::int64_t> acked;
    const std::uint64_t enough = 50 + random.Below(2000);
    std::int64_t line[2];
    while (::read(ends[0], line, sizeof line) == sizeof line) {
      acked[line[0]] = line[1];
      if (acked.size() == enough) {
        ::kill(child, SIGKILL);  // what is still in the pipe was acknowledged as well
      }
    }
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";
    ASSERT_GE(acked.size(), enough);
    auto store = OpenOver(directory.path(), "");
    const auto pods = *store->AddResource("pods");
    EXPECT_GE(store->durable(), acked.rbegin()->first);
    EXPECT_GT(acked.begin()->first, last_durable);
    last_durable = store->durable();
    const store::Snapshot snapshot = store->TakeSnapshot(pods);
    for (auto write = acked.rbegin(); write != acked.rend(); ++write) {
      const store::Entry* const entry = snapshot.Find(fmt::format("ns/{}", write->second % 50));
      ASSERT_NE(entry, nullptr);
      ASSERT_GE(entry->revision(), write->first);
      if (entry->revision() == write->first) {
        ASSERT_EQ(entry->value().bytes(), std::to_string(write->second));
      }
    }
  }
}

}  // namespace
}  // namespace allot::testing
