// Registry: the metrics of one process (or of one in-process component under test) and their
// Prometheus text form.
//
// A component asks once for its Counter, Gauge or Histogram and keeps the reference: updating one
// is a single atomic operation. There is no global registry; main makes one and hands it down.
// Thread safety: everything here from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace allot::telemetry {

/// Label names and values, in the order they are printed.
using Labels = std::vector<std::pair<std::string, std::string>>;

/// A count that only rises.
class Counter {
 public:
  void Add(std::uint64_t by = 1) { value_.fetch_add(by, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// A value that goes up and down.
class Gauge {
 public:
  void Set(double value) { value_.store(value, std::memory_order_relaxed); }
  void Add(double by) { value_.fetch_add(by, std::memory_order_relaxed); }
  [[nodiscard]] double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

/// Observations counted by upper bound.
class Histogram {
 public:
  /// REQUIRES: `bounds` rise strictly; the bucket up to infinity is added by itself.
  explicit Histogram(std::vector<double> bounds);
  /// Cost: a binary search and three atomic additions.
  void Observe(double value);
  [[nodiscard]] std::uint64_t count() const;
  [[nodiscard]] double sum() const { return sum_.load(std::memory_order_relaxed); }
  /// The smallest bound that at least the share `q` of the observations do not pass; infinity when
  /// they pass all bounds, 0 when there are none.
  [[nodiscard]] double Quantile(double q) const;
  [[nodiscard]] const std::vector<double>& bounds() const { return bounds_; }
  /// Observations in bucket `i` alone (not cumulative); i == bounds().size() is the last.
  [[nodiscard]] std::uint64_t bucket(std::size_t i) const {
    return buckets_[i].load(std::memory_order_relaxed);
  }

 private:
  std::vector<double> bounds_;
  std::unique_ptr<std::atomic<std::uint64_t>[]> buckets_;
  std::atomic<double> sum_{0};
};

/// `count` bounds starting at `first`, each `factor` times the one before.
[[nodiscard]] std::vector<double> ExponentialBounds(double first, double factor, int count);

class Registry;

/// Counts the CPU time of the thread that made it as `allot_thread_cpu_seconds_total{thread=NAME}`
/// until destroyed in that thread; the total stays on the page after that.
class ThreadCpuScope {
 public:
  ThreadCpuScope(Registry& registry, std::string thread);
  ThreadCpuScope(const ThreadCpuScope&) = delete;
  ThreadCpuScope& operator=(const ThreadCpuScope&) = delete;
  ~ThreadCpuScope();

 private:
  Registry& registry_;
  std::string thread_;
  base::ThreadCpuClock clock_;
};

class Registry {
 public:
  Registry();
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  /// The counter of this name and these labels, made at first need. Lifetime: the registry.
  /// REQUIRES: one name has one type. Cost: a lock and a look-up; keep the reference.
  Counter& GetCounter(std::string_view name, std::string_view help, const Labels& labels = {});
  Gauge& GetGauge(std::string_view name, std::string_view help, const Labels& labels = {});
  Histogram& GetHistogram(std::string_view name,
                          std::string_view help,
                          const std::vector<double>& bounds,
                          const Labels& labels = {});

  /// A gauge (or with `rises` a counter) whose value is computed when the page is made. `read` runs
  /// in the thread that asks for the page and must not call the registry.
  /// Lifetime: until Remove(name, labels): whoever registers a function that reads itself removes
  /// it.
  void SetFunction(std::string_view name,
                   std::string_view help,
                   const Labels& labels,
                   std::function<double()> read,
                   bool rises = false);
  void Remove(std::string_view name, const Labels& labels);

  /// The value of one series; 0 when it does not exist. Histograms give their count. For tests.
  [[nodiscard]] double Value(std::string_view name, const Labels& labels = {}) const;
  /// CPU time of the named thread so far. Unit: seconds.
  [[nodiscard]] double ThreadCpuSeconds(std::string_view thread) const;

  /// The page in Prometheus text format 0.0.4, families sorted by name.
  [[nodiscard]] std::string Expose() const;

 private:
  friend class ThreadCpuScope;
  enum class Type : std::uint8_t { kCounter, kGauge, kHistogram };
  struct Series;
  struct Family;
  struct ThreadCpu {
    std::chrono::nanoseconds ended{0};
    std::vector<base::ThreadCpuClock> running;
    [[nodiscard]] double Seconds() const;
  };
  Series& SeriesOf(std::string_view name, std::string_view help, Type type, const Labels& labels);
  void ExposeThreads(std::string& out) const;

  mutable std::mutex mutex_;
  std::map<std::string, Family, std::less<>> families_;
  std::map<std::string, ThreadCpu, std::less<>> threads_;
};

/// Adds process_cpu_seconds_total, process_resident_memory_bytes, process_open_fds and
/// process_start_time_seconds.
void RegisterProcessMetrics(Registry& registry, const base::Clock& clock);

}  // namespace allot::telemetry
