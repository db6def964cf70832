#include "allot/signals.h"

#include <csignal>
#include <ctime>

namespace allot {
namespace {

sigset_t EndSignals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGINT);
  ::sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

void BlockEndSignals() {
  const sigset_t set = EndSignals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

bool WaitForEnd(const std::function<bool()>& ended) {
  const sigset_t set = EndSignals();
  constexpr timespec kStep{.tv_sec = 0, .tv_nsec = 250'000'000};
  while (!ended()) {
    if (::sigtimedwait(&set, nullptr, &kStep) > 0) {
      return true;
    }
  }
  return false;
}

}  // namespace allot
