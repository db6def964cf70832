#include "client/leader_elector.h"

#include <memory>
#include <string>

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
        LeaderElector::Options{.name = "kube-scheduler", .identity = identity},
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
  schema::View<Lease> TheLease() { return api.Get<Lease>("kube-system", "kube-scheduler"); }

  base::FakeClock clock;
  Loop loop{clock};
  allot::testing::FakeApi api{clock};
  LocalClient client{api, {.user = "test", .groups = {}}};
  std::vector<std::unique_ptr<Replica>> replicas;
};

TEST_F(ElectionTest, OneLeadsTheOtherWaits) {
  Replica& a = Join("a");
  Replica& b = Join("b");
  EXPECT_TRUE(a.elector->is_leader());
  Pass(60);
  EXPECT_FALSE(b.elector->is_leader());
  EXPECT_EQ(a.started, 1);
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
}

}  // namespace
}  // namespace allot::client
