// ComponentThread: one component of the control plane on its own thread and loop.
// Thread safety: made, started and stopped by one thread.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "client/loop.h"
#include "telemetry/metrics.h"

namespace allot {

class ComponentThread {
 public:
  ComponentThread(std::string name, const base::Clock& clock)
      : name_(std::move(name)), loop_(clock) {}
  ~ComponentThread() { Stop(); }
  ComponentThread(const ComponentThread&) = delete;
  ComponentThread& operator=(const ComponentThread&) = delete;

  [[nodiscard]] client::Loop& loop() { return loop_; }

  /// Runs `start` and then the loop, both on the new thread; `end` runs there before the thread
  /// ends.
  void Start(telemetry::Registry& metrics, std::function<void()> start, std::function<void()> end);
  /// Ends the loop and waits for the thread; idempotent.
  void Stop();

 private:
  std::string name_;
  client::Loop loop_;
  std::jthread thread_;
};

}  // namespace allot
