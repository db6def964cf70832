#include "client/leader_elector.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/coordination/v1.gen.h"
#include "base/clock.h"
#include "testing/fake_api.h"

namespace allot::client {
namespace {

using api::coordination::Lease;
using std::chrono::seconds;

class ElectionTest : public ::testing::Test {
 protected:
  struct Replica {
    int started = 0;
    int stopped = 0;
    std::unique_ptr<LeaderElector> elector;
  };
  Replica& Join(const std::string& identity) {
    Replica& replica = *replicas.emplace_back(std::make_unique<Replica>());
    replica.elector = std::make_unique<LeaderElector>(
        client,
        loop,
        LeaderElector::Options{.name = "kube-scheduler", .identity = identity, .log = Log()},
        [&replica] { ++replica.started; },
        [&replica] { ++replica.stopped; });
    replica.elector->Start();
    return replica;
  }
  void Pass(int total) {
    for (int i = 0; i < total; ++i) {
      clock.Advance(seconds(1));
      loop.RunUntilIdle();
    }
  }
  telemetry::Logger Log() {
    return *telemetry::Logger::Make({.sink = [this](std::string_view line) {
      lines.emplace_back(line);
    }});
  }
  /// How many lines of the log contain a text.
  [[nodiscard]] std::ptrdiff_t Lines(std::string_view text) const {
    return std::ranges::count_if(lines,
                                 [&](const std::string& line) { return line.contains(text); });
  }
  schema::View<Lease> TheLease() { return api.Get<Lease>("kube-system", "kube-scheduler"); }

  base::FakeClock clock;
  Loop loop{clock};
  allot::testing::FakeApi api{clock};
  LocalClient client{api, {.user = "test", .groups = {}}};
  std::vector<std::string> lines;
  std::vector<std::unique_ptr<Replica>> replicas;
};

TEST_F(ElectionTest, OneLeadsTheOtherWaits) {
  Replica& a = Join("a");
  Replica& b = Join("b");
  EXPECT_TRUE(a.elector->is_leader());
  Pass(60);
  EXPECT_FALSE(b.elector->is_leader());
  EXPECT_EQ(a.started, 1);
  EXPECT_EQ(Lines("became the leader"), 1);
  EXPECT_EQ(Lines("is not the leader"), 1) << "once, not every two seconds";
  EXPECT_EQ(*TheLease()->spec.holder_identity, "a");
  EXPECT_EQ(*TheLease()->spec.lease_duration_seconds, 15);
  EXPECT_EQ(*TheLease()->spec.lease_transitions, 0);
}

TEST_F(ElectionTest, TheOtherTakesOverWhenTheLeaseRunsOut) {
  Replica& a = Join("a");
  Replica& b = Join("b");
  a.elector.reset();  // dies without a word
  Pass(14);
  EXPECT_FALSE(b.elector->is_leader());
  Pass(4);
  EXPECT_TRUE(b.elector->is_leader());
  EXPECT_EQ(*TheLease()->spec.lease_transitions, 1);
}

TEST_F(ElectionTest, AReleasedLeaseIsTakenAtOnce) {
  Replica& a = Join("a");
  Replica& b = Join("b");
  a.elector->Release();
  Pass(3);
  EXPECT_TRUE(b.elector->is_leader());
  EXPECT_EQ(Lines("gives the lease up"), 1);
}

TEST_F(ElectionTest, ALeaderThatCannotRenewStops) {
  Replica& a = Join("a");
  api.FailWith([](const Request&) -> base::Result<void> {
    return base::Error(base::Reason::kServiceUnavailable, "gone");
  });
  Pass(8);
  EXPECT_TRUE(a.elector->is_leader());
  Pass(4);
  EXPECT_FALSE(a.elector->is_leader());
  EXPECT_EQ(a.stopped, 1);
  EXPECT_EQ(Lines("cannot renew the lease"), 1);
  EXPECT_EQ(Lines("lost the lease"), 1);
}

}  // namespace
}  // namespace allot::client
