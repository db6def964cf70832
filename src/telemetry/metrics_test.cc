#include "telemetry/metrics.h"

#include <thread>

#include <gmock/gmock.h>

namespace allot::telemetry {
namespace {

using ::testing::HasSubstr;

TEST(MetricsTest, PageShowsFamiliesSortedWithHelpAndType) {
  Registry registry;
  registry.GetGauge("b_gauge", "A gauge.").Set(1.5);
  registry.GetCounter("a_total", "Count \\ of\nthings.", {{"verb", "get \"x\"\n"}}).Add(3);
  registry.GetCounter("a_total", "", {{"verb", "put"}}).Add();
  EXPECT_EQ(registry.Expose(),
            "# HELP a_total Count \\\\ of\\nthings.\n"
            "# TYPE a_total counter\n"
            "a_total{verb=\"get \\\"x\\\"\\n\"} 3\n"
            "a_total{verb=\"put\"} 1\n"
            "# HELP b_gauge A gauge.\n"
            "# TYPE b_gauge gauge\n"
            "b_gauge 1.5\n");
}

TEST(MetricsTest, SameNameAndLabelsAreOneSeries) {
  Registry registry;
  Counter& first = registry.GetCounter("a_total", "", {{"k", "v"}});
  EXPECT_EQ(&first, &registry.GetCounter("a_total", "", {{"k", "v"}}));
  first.Add(2);
  EXPECT_EQ(registry.Value("a_total", {{"k", "v"}}), 2);
  EXPECT_EQ(registry.Value("a_total", {{"k", "w"}}), 0);
}

TEST(MetricsTest, HistogramIsCumulativeOnThePage) {
  Registry registry;
  Histogram& histogram = registry.GetHistogram("h", "H.", {0.5, 1, 2}, {{"a", "b"}});
  for (const double value : {0.5, 0.6, 1.5, 7.0}) {
    histogram.Observe(value);
  }
  EXPECT_THAT(registry.Expose(),
              HasSubstr("h_bucket{a=\"b\",le=\"0.5\"} 1\n"
                        "h_bucket{a=\"b\",le=\"1\"} 2\n"
                        "h_bucket{a=\"b\",le=\"2\"} 3\n"
                        "h_bucket{a=\"b\",le=\"+Inf\"} 4\n"
                        "h_sum{a=\"b\"} 9.6\n"
                        "h_count{a=\"b\"} 4\n"));
  EXPECT_EQ(histogram.Quantile(0.5), 1);
  EXPECT_EQ(histogram.Quantile(0.75), 2);
}

TEST(MetricsTest, FunctionsAreReadWhenThePageIsMadeAndCanBeRemoved) {
  Registry registry;
  double value = 1;
  registry.SetFunction("f", "F.", {}, [&value] { return value; });
  value = 42;
  EXPECT_THAT(registry.Expose(), HasSubstr("# TYPE f gauge\nf 42\n"));
  registry.Remove("f", {});
  EXPECT_EQ(registry.Expose(), "");
}

TEST(MetricsTest, ThreadCpuStaysAfterTheThreadEnded) {
  Registry registry;
  std::thread([&registry] {
    const ThreadCpuScope scope(registry, "worker");
    volatile std::uint64_t sum = 0;
    while (registry.ThreadCpuSeconds("worker") < 0.002) {
      sum = sum + 1;
    }
  }).join();
  const double used = registry.ThreadCpuSeconds("worker");
  EXPECT_GE(used, 0.002);
  EXPECT_EQ(registry.ThreadCpuSeconds("worker"), used);
  EXPECT_THAT(registry.Expose(), HasSubstr("allot_thread_cpu_seconds_total{thread=\"worker\"} 0."));
}

TEST(MetricsTest, ProcessMetrics) {
  Registry registry;
  const base::FakeClock clock(base::WallTime(std::chrono::seconds(5)));
  RegisterProcessMetrics(registry, clock);
  EXPECT_GT(registry.Value("process_resident_memory_bytes"), 100'000);
  EXPECT_GT(registry.Value("process_open_fds"), 2);
  EXPECT_EQ(registry.Value("process_start_time_seconds"), 5);
}

}  // namespace
}  // namespace allot::telemetry
