#include "telemetry/metrics.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include <pthread.h>

#include <fmt/format.h>

#include "base/check.h"

namespace allot::telemetry {
namespace {

constexpr std::string_view kThreadCpu = "allot_thread_cpu_seconds_total";

void AppendEscaped(std::string& out, std::string_view text, bool quotes) {
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && quotes) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
}

// "{a="1",b="2"}", or nothing without labels; also the key of a series.
std::string LabelText(const Labels& labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    text += text.empty() ? "{" : ",";
    text += name;
    text += "=\"";
    AppendEscaped(text, value, /*quotes=*/true);
    text += '"';
  }
  if (!text.empty()) {
    text += '}';
  }
  return text;
}

std::string NumberText(double value) {
  if (std::isnan(value)) {
    return "NaN";
  }
  if (std::isinf(value)) {
    return value > 0 ? "+Inf" : "-Inf";
  }
  if (value == std::floor(value) && std::abs(value) < 1e15) {
    return fmt::format("{}", static_cast<std::int64_t>(value));
  }
  return fmt::format("{}", value);
}

// The labels of one bucket line: those of the series and le.
std::string BucketLabels(std::string_view label_text, double bound) {
  std::string text(label_text.empty() ? "{" : label_text.substr(0, label_text.size() - 1));
  text += label_text.empty() ? "le=\"" : ",le=\"";
  text += NumberText(bound);
  text += "\"}";
  return text;
}

void ExposeHistogram(std::string& out,
                     std::string_view name,
                     std::string_view labels,
                     const Histogram& histogram) {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i <= histogram.bounds().size(); ++i) {
    total += histogram.bucket(i);
    const double bound = i < histogram.bounds().size() ? histogram.bounds()[i]
                                                       : std::numeric_limits<double>::infinity();
    fmt::format_to(
        std::back_inserter(out), "{}_bucket{} {}\n", name, BucketLabels(labels, bound), total);
  }
  fmt::format_to(
      std::back_inserter(out), "{}_sum{} {}\n", name, labels, NumberText(histogram.sum()));
  fmt::format_to(std::back_inserter(out), "{}_count{} {}\n", name, labels, total);
}

void ExposeHead(std::string& out,
                std::string_view name,
                std::string_view help,
                std::string_view type) {
  fmt::format_to(std::back_inserter(out), "# HELP {} ", name);
  AppendEscaped(out, help, /*quotes=*/false);
  fmt::format_to(std::back_inserter(out), "\n# TYPE {} {}\n", name, type);
}

}  // namespace

Histogram::Histogram(std::vector<double> bounds)
    : bounds_(std::move(bounds)),
      buckets_(std::make_unique<std::atomic<std::uint64_t>[]>(bounds_.size() + 1)) {
  ALLOT_CHECK(std::ranges::is_sorted(bounds_, std::less_equal<>()));
}

void Histogram::Observe(double value) {
  const auto bucket = std::ranges::lower_bound(bounds_, value) - bounds_.begin();
  buckets_[static_cast<std::size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

std::uint64_t Histogram::count() const {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i <= bounds_.size(); ++i) {
    total += bucket(i);
  }
  return total;
}

double Histogram::Quantile(double q) const {
  const std::uint64_t all = count();
  if (all == 0) {
    return 0;
  }
  const double wanted = q * static_cast<double>(all);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < bounds_.size(); ++i) {
    seen += bucket(i);
    if (static_cast<double>(seen) >= wanted) {
      return bounds_[i];
    }
  }
  return std::numeric_limits<double>::infinity();
}

std::vector<double> ExponentialBounds(double first, double factor, int count) {
  std::vector<double> bounds;
  for (int i = 0; i < count; ++i, first *= factor) {
    bounds.push_back(first);
  }
  return bounds;
}

struct Registry::Series {
  Counter counter;
  Gauge gauge;
  std::unique_ptr<Histogram> histogram;
  std::function<double()> read;

  [[nodiscard]] double Value(Type type) const {
    if (read) {
      return read();
    }
    switch (type) {
      case Type::kCounter: return static_cast<double>(counter.value());
      case Type::kGauge: return gauge.value();
      case Type::kHistogram: return static_cast<double>(histogram->count());
    }
    return 0;
  }
};

struct Registry::Family {
  std::string help;
  Type type = Type::kCounter;
  std::map<std::string, std::unique_ptr<Series>, std::less<>> series;  // by label text
};

Registry::Registry() = default;
Registry::~Registry() = default;

Registry::Series& Registry::SeriesOf(std::string_view name,
                                     std::string_view help,
                                     Type type,
                                     const Labels& labels) {
  auto family = families_.find(name);
  if (family == families_.end()) {
    family = families_.try_emplace(std::string(name)).first;
    family->second.help = help;
    family->second.type = type;
  }
  ALLOT_CHECK(family->second.type == type);
  std::unique_ptr<Series>& series = family->second.series[LabelText(labels)];
  if (series == nullptr) {
    series = std::make_unique<Series>();
  }
  return *series;
}

Counter& Registry::GetCounter(std::string_view name, std::string_view help, const Labels& labels) {
  const std::lock_guard lock(mutex_);
  return SeriesOf(name, help, Type::kCounter, labels).counter;
}

Gauge& Registry::GetGauge(std::string_view name, std::string_view help, const Labels& labels) {
  const std::lock_guard lock(mutex_);
  return SeriesOf(name, help, Type::kGauge, labels).gauge;
}

Histogram& Registry::GetHistogram(std::string_view name,
                                  std::string_view help,
                                  const std::vector<double>& bounds,
                                  const Labels& labels) {
  const std::lock_guard lock(mutex_);
  Series& series = SeriesOf(name, help, Type::kHistogram, labels);
  if (series.histogram == nullptr) {
    series.histogram = std::make_unique<Histogram>(bounds);
  }
  return *series.histogram;
}

void Registry::SetFunction(std::string_view name,
                           std::string_view help,
                           const Labels& labels,
                           std::function<double()> read,
                           bool rises) {
  const std::lock_guard lock(mutex_);
  SeriesOf(name, help, rises ? Type::kCounter : Type::kGauge, labels).read = std::move(read);
}

void Registry::Remove(std::string_view name, const Labels& labels) {
  const std::lock_guard lock(mutex_);
  const auto family = families_.find(name);
  if (family == families_.end()) {
    return;
  }
  family->second.series.erase(LabelText(labels));
  if (family->second.series.empty()) {
    families_.erase(family);
  }
}

double Registry::Value(std::string_view name, const Labels& labels) const {
  const std::lock_guard lock(mutex_);
  const auto family = families_.find(name);
  if (family == families_.end()) {
    return 0;
  }
  const auto series = family->second.series.find(LabelText(labels));
  return series == family->second.series.end() ? 0 : series->second->Value(family->second.type);
}

double Registry::ThreadCpu::Seconds() const {
  std::chrono::nanoseconds total = ended;
  for (const base::ThreadCpuClock clock : running) {
    total += base::ReadCpuClock(clock);
  }
  return std::chrono::duration<double>(total).count();
}

double Registry::ThreadCpuSeconds(std::string_view thread) const {
  const std::lock_guard lock(mutex_);
  const auto found = threads_.find(thread);
  return found == threads_.end() ? 0 : found->second.Seconds();
}

void Registry::ExposeThreads(std::string& out) const {
  if (threads_.empty()) {
    return;
  }
  ExposeHead(out, kThreadCpu, "CPU time used by each thread or group of equal threads.", "counter");
  for (const auto& [thread, cpu] : threads_) {
    fmt::format_to(std::back_inserter(out),
                   "{}{} {}\n",
                   kThreadCpu,
                   LabelText({{"thread", thread}}),
                   NumberText(cpu.Seconds()));
  }
}

std::string Registry::Expose() const {
  constexpr std::string_view kTypes[] = {"counter", "gauge", "histogram"};
  std::string out;
  const std::lock_guard lock(mutex_);
  bool threads_done = false;
  for (const auto& [name, family] : families_) {
    if (!threads_done && name > kThreadCpu) {
      ExposeThreads(out);
      threads_done = true;
    }
    ExposeHead(out, name, family.help, kTypes[static_cast<std::size_t>(family.type)]);
    for (const auto& [labels, series] : family.series) {
      if (family.type == Type::kHistogram) {
        ExposeHistogram(out, name, labels, *series->histogram);
      } else {
        fmt::format_to(std::back_inserter(out),
                       "{}{} {}\n",
                       name,
                       labels,
                       NumberText(series->Value(family.type)));
      }
    }
  }
  if (!threads_done) {
    ExposeThreads(out);
  }
  return out;
}

ThreadCpuScope::ThreadCpuScope(Registry& registry, std::string thread)
    : registry_(registry), thread_(std::move(thread)), clock_(base::ThisThreadCpuClock()) {
  // The kernel keeps 15 characters; `top -H` then shows the same names as the page.
  ::pthread_setname_np(::pthread_self(), thread_.substr(0, 15).c_str());
  const std::lock_guard lock(registry_.mutex_);
  Registry::ThreadCpu& cpu = registry_.threads_[thread_];
  // What the thread used before the scope is left out, so that nested use never counts twice.
  cpu.ended -= base::ReadCpuClock(clock_);
  cpu.running.push_back(clock_);
}

ThreadCpuScope::~ThreadCpuScope() {
  const std::lock_guard lock(registry_.mutex_);
  Registry::ThreadCpu& cpu = registry_.threads_[thread_];
  cpu.ended += base::ReadCpuClock(clock_);
  std::erase(cpu.running, clock_);
}

}  // namespace allot::telemetry
