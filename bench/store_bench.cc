// What a durable write costs: the log alone, the whole store, publishing alone, and a restart.
//
// Usage: store_bench [DIRECTORY [SECONDS]].  The directory should lie on the disk in question; each
// row runs SECONDS (default 1). CPU is that of the thread that writes.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/random.h"
#include "store/local_store.h"
#include "telemetry/metrics.h"
#include "testing/counting_sink.h"

namespace allot::bench {
namespace {

using store::Revision;
using Seconds = std::chrono::duration<double>;

double Now() {
  return Seconds(base::SystemClock().Monotonic().time_since_epoch()).count();
}

// Fails the run: a benchmark of a broken store is worth nothing.
template <typename T, typename E>
T Must(std::expected<T, E> result) {
  if (!result) {
    std::fputs("store_bench: a call failed\n", stderr);
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) {
    return *std::move(result);
  }
}

double Share(std::vector<double>& sorted, double share) {
  return sorted.empty()
             ? 0
             : sorted[std::min(
                   sorted.size() - 1,
                   static_cast<std::size_t>(share * static_cast<double>(sorted.size())))];
}

std::unique_ptr<store::Log> FreshLog(const std::string& directory) {
  std::filesystem::remove_all(directory);
  return Must(store::OpenSqliteLog({.directory = directory}));
}

// Updates of recent keys, `batch` rows a commit; with `compacting`, as many old rows go in chunks
// of 256.
void LogRow(const std::string& directory,
            double seconds,
            std::size_t batch,
            std::size_t bytes,
            bool compacting) {
  const auto log = FreshLog(directory);
  const std::string value(bytes, 'v');
  std::vector<std::string> keys;
  for (int i = 0; i < 20'000; ++i) {
    keys.push_back(fmt::format("/registry/pods/default/pod-{:08}", i));
  }
  std::vector<store::LogRow> rows(batch);
  std::vector<Revision> dead;
  std::vector<double> stalls;
  Revision revision = 0;
  Revision deleted = 0;
  const auto cpu = base::ThreadCpuTime();
  const double begin = Now();
  double at = begin;
  while (at - begin < seconds) {
    for (store::LogRow& row : rows) {
      ++revision;
      row = {.revision = revision,
             .created = 1,
             .key = keys[static_cast<std::size_t>(revision) % keys.size()],
             .value = value};
    }
    Must(log->Append(rows));
    Must(log->Maintain(false));
    if (compacting && revision - deleted > 30'000) {
      dead.clear();
      while (dead.size() < 256) {
        dead.push_back(++deleted);
      }
      Must(log->Compact(deleted, dead));
    }
    const double now = Now();
    stalls.push_back(now - at);
    at = now;
  }
  const double used = Seconds(base::ThreadCpuTime() - cpu).count();
  std::ranges::sort(stalls);
  const auto count = static_cast<double>(revision);
  fmt::print("{:<12} {:>5} {:>6} {:>10.0f} {:>8.2f} {:>9.0f} {:>9.0f} {:>9.0f}\n",
             compacting ? "log+compact" : "log",
             batch,
             bytes,
             count / (at - begin),
             used / count * 1e6,
             Share(stalls, 0.5) * 1e6,
             Share(stalls, 0.999) * 1e6,
             stalls.back() * 1e6);
}

// One thread sequences `batch` writes and waits for all of them, over `keys` keys.
void StoreRow(std::string_view name,
              std::unique_ptr<store::Log> log,
              double seconds,
              std::size_t batch,
              std::size_t key_count) {
  telemetry::Registry metrics;
  store::LocalOptions options;
  options.metrics = &metrics;
  auto store = Must(store::OpenLocal(std::move(log), std::move(options)));
  const store::ResourceId pods = Must(store->AddResource("pods"));
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < key_count; ++i) {
    keys.push_back(fmt::format("default/pod-{:08}", i));
  }
  const std::string bytes(800, 'v');
  base::Random random(1);
  testing::CountingSink sink;
  std::uint64_t written = 0;
  const auto write = [&](std::size_t key) {
    Must(store->Commit({.key = {pods, keys[key]}, .value = store::Value::Copy(bytes)}, &sink, 0));
    ++written;
  };
  for (std::size_t i = 0; i < key_count; ++i) {
    write(i);
    if (i % 1024 == 1023) {
      sink.Await(written);
    }
  }
  sink.Await(written);
  const std::uint64_t first = written;
  const double writer = metrics.ThreadCpuSeconds("writer");
  const auto cpu = base::ThreadCpuTime();
  const double begin = Now();
  double at = begin;
  std::vector<double> latencies;
  while (at - begin < seconds) {
    for (std::size_t i = 0; i < batch; ++i) {
      write(random.Below(key_count));
    }
    sink.Await(written);
    const double now = Now();
    latencies.push_back(now - at);
    at = now;
  }
  const auto count = static_cast<double>(written - first);
  std::ranges::sort(latencies);
  fmt::print("{:<12} {:>5} {:>6} {:>10.0f} {:>8.2f} {:>9.0f} {:>9.0f} {:>9.0f}   caller {:.2f}\n",
             name,
             batch,
             bytes.size(),
             count / (at - begin),
             (metrics.ThreadCpuSeconds("writer") - writer) / count * 1e6,
             Share(latencies, 0.5) * 1e6,
             Share(latencies, 0.999) * 1e6,
             latencies.back() * 1e6,
             Seconds(base::ThreadCpuTime() - cpu).count() / count * 1e6);
}

void Restart(const std::string& directory, std::uint64_t keys) {
  {
    auto store = Must(store::OpenLocal(FreshLog(directory), {}));
    const store::ResourceId pods = Must(store->AddResource("pods"));
    testing::CountingSink sink;
    for (std::uint64_t i = 0; i < keys; ++i) {
      const std::string key = fmt::format("default/pod-{:08}", i * 7919 % keys);
      Must(store->Commit(
          {.key = {pods, key}, .value = store::Value::Copy(std::string(900, 'v'))}, &sink, 0));
      if (i % 4096 == 4095) {
        sink.Await(i + 1);
      }
    }
    sink.Await(keys);
  }
  const auto cpu = base::ThreadCpuTime();
  const double begin = Now();
  auto store = Must(store::OpenLocal(Must(store::OpenSqliteLog({.directory = directory})), {}));
  const double scanned = Now();
  const store::ResourceId pods = Must(store->AddResource("pods"));
  const double ready = Now();
  fmt::print(
      "restart: {} keys of 900 B: scan {:.3f} s, trees and index {:.3f} s, CPU {:.3f} s, "
      "{} in the tree\n",
      keys,
      scanned - begin,
      ready - scanned,
      Seconds(base::ThreadCpuTime() - cpu).count(),
      store->TakeSnapshot(pods).size());
}

int Main(int argc, char** argv) {
  const std::string directory = std::string(argc > 1 ? argv[1] : ".") + "/store_bench.data";
  const double seconds = argc > 2 ? std::atof(argv[2]) : 1;
  fmt::print("{:<12} {:>5} {:>6} {:>10} {:>8} {:>9} {:>9} {:>9}\n",
             "what",
             "batch",
             "bytes",
             "records/s",
             "cpu us",
             "p50 us",
             "p99.9 us",
             "max us");
  const std::string part = argc > 3 ? argv[3] : "";
  const auto wanted = [&part](std::string_view name) {
    return part.empty() || part == name;
  };
  for (const std::size_t batch : {1U, 8U, 64U, 256U}) {
    if (wanted("log")) {
      for (const std::size_t bytes : {500U, 800U, 2000U}) {
        LogRow(directory, seconds, batch, bytes, /*compacting=*/false);
      }
      LogRow(directory, seconds, batch, 800, /*compacting=*/true);
    }
    if (wanted("store")) {
      StoreRow("store", FreshLog(directory), seconds, batch, 20'000);
    }
    if (wanted("publish")) {
      StoreRow("publish", store::MakeMemoryLog(), seconds, batch, 100'000);
    }
  }
  if (wanted("restart")) {
    Restart(directory, 200'000);
  }
  std::filesystem::remove_all(directory);
  return 0;
}

}  // namespace
}  // namespace allot::bench

int main(int argc, char** argv) {
  return allot::bench::Main(argc, argv);
}
