#include "base/clock.h"

#include <pthread.h>
#include <time.h>

namespace allot::base {
namespace {

class RealClock final : public Clock {
 public:
  [[nodiscard]] WallTime Now() const override { return std::chrono::system_clock::now(); }
  [[nodiscard]] MonoTime Monotonic() const override { return std::chrono::steady_clock::now(); }
};

}  // namespace

const Clock& SystemClock() {
  static const RealClock clock;
  return clock;
}

WallTime FakeClock::Now() const {
  const std::lock_guard lock(mutex_);
  return now_;
}

MonoTime FakeClock::Monotonic() const {
  const std::lock_guard lock(mutex_);
  return MonoTime(now_.time_since_epoch());
}

void FakeClock::Advance(std::chrono::nanoseconds by) {
  const std::lock_guard lock(mutex_);
  now_ += by;
}

std::chrono::nanoseconds ThreadCpuTime() {
  return ReadCpuClock(CLOCK_THREAD_CPUTIME_ID);
}

ThreadCpuClock ThisThreadCpuClock() {
  clockid_t clock{};
  return ::pthread_getcpuclockid(::pthread_self(), &clock) == 0 ? clock : CLOCK_THREAD_CPUTIME_ID;
}

std::chrono::nanoseconds ReadCpuClock(ThreadCpuClock clock) {
  timespec time{};
  if (::clock_gettime(clock, &time) != 0) {
    return {};
  }
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::chrono::nanoseconds ProcessCpuTime() {
  return ReadCpuClock(CLOCK_PROCESS_CPUTIME_ID);
}

}  // namespace allot::base
