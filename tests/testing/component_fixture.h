// ComponentTest: a fake API, a fake clock and a loop, for tests of components.
#pragma once

#include <chrono>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "client/backend.h"
#include "client/loop.h"
#include "telemetry/log.h"
#include "telemetry/metrics.h"
#include "testing/fake_api.h"

namespace allot::testing {

class ComponentTest : public ::testing::Test {
 protected:
  void Run() { loop.RunUntilIdle(); }
  /// Lets time go by in steps of 100 ms.
  void Pass(std::chrono::milliseconds time) {
    for (auto passed = std::chrono::milliseconds(0); passed < time;
         passed += std::chrono::milliseconds(100)) {
      clock.Advance(std::chrono::milliseconds(100));
      Run();
    }
  }

  base::FakeClock clock;
  client::Loop loop{clock};
  FakeApi api{clock};
  client::LocalClient client{api, {.user = "test", .groups = {}}};
  telemetry::Registry metrics;
  telemetry::Logger log;
};

}  // namespace allot::testing
