// Clock: the only source of time. Components take a Clock&; pure modules take a value.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>

namespace allot::base {

/// Wall time in nanoseconds since the Unix epoch (UTC).
using WallTime = std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds>;
/// Monotonic time, for intervals.
using MonoTime = std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>;

/// An interval as metrics and reports show it. Unit: seconds.
[[nodiscard]] constexpr double Seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual WallTime Now() const = 0;
  [[nodiscard]] virtual MonoTime Monotonic() const = 0;
};

/// The machine's clock. Thread safety: any thread. Lifetime: the process.
[[nodiscard]] const Clock& SystemClock();

/// A clock that moves only when told. Thread safety: any thread.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(WallTime start = WallTime(std::chrono::seconds(1'800'000'000)))
      : now_(start) {}
  [[nodiscard]] WallTime Now() const override;
  [[nodiscard]] MonoTime Monotonic() const override;
  void Advance(std::chrono::nanoseconds by);

 private:
  mutable std::mutex mutex_;
  WallTime now_;
};

/// CPU time used by the calling thread. Unit: nanoseconds.
[[nodiscard]] std::chrono::nanoseconds ThreadCpuTime();

/// Names the CPU clock of one thread, so that another thread can read it.
using ThreadCpuClock = int;
/// The CPU clock of the calling thread. Lifetime: as long as that thread runs.
[[nodiscard]] ThreadCpuClock ThisThreadCpuClock();
/// CPU time used by the thread of `clock`; zero when that thread has ended. Unit: nanoseconds.
[[nodiscard]] std::chrono::nanoseconds ReadCpuClock(ThreadCpuClock clock);
/// CPU time used by the whole process. Unit: nanoseconds.
[[nodiscard]] std::chrono::nanoseconds ProcessCpuTime();

}  // namespace allot::base
