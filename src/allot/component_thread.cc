#include "allot/component_thread.h"

#include <pthread.h>

namespace allot {

void ComponentThread::Start(telemetry::Registry& metrics,
                            std::function<void()> start,
                            std::function<void()> end) {
  thread_ = std::jthread([this, &metrics, start = std::move(start), end = std::move(end)](
                             const std::stop_token& stop) {
    ::pthread_setname_np(::pthread_self(), name_.substr(0, 15).c_str());
    const telemetry::ThreadCpuScope cpu(metrics, name_);
    start();
    loop_.Run(stop);
    end();
  });
}

void ComponentThread::Stop() {
  if (thread_.joinable()) {
    thread_.request_stop();
    loop_.Post([] {});  // a turn, so that the loop sees the stop at once
    thread_.join();
  }
}

}  // namespace allot
