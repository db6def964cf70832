// LeaderElector: one of several replicas acts, by a coordination Lease, with client-go's rules.
//
// Only the time on our own clock since the lease was last seen to change counts, never the times
// written in it, so clocks of different machines need not agree. The elector runs on its own Loop,
// so that a busy component cannot miss its renewals. Lease writes are durable before anybody acts
// on them. Thread safety: the loop's thread; is_leader from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>

#include "client/client.h"
#include "client/loop.h"
#include "telemetry/log.h"

namespace allot::client {

class LeaderElector {
 public:
  struct Options {
    std::string ns = "kube-system";
    std::string name;      ///< of the Lease: "kube-scheduler", "kube-controller-manager"
    std::string identity;  ///< HOSTNAME_UUID
    std::chrono::nanoseconds lease_duration = std::chrono::seconds(15);
    std::chrono::nanoseconds renew_deadline = std::chrono::seconds(10);
    std::chrono::nanoseconds retry_period = std::chrono::seconds(2);
    telemetry::Logger log{};
  };

  /// `started` is called once when this replica becomes the leader; `stopped` once when it could
  /// not renew in time: the component must end then (and be started again by its supervisor).
  /// REQUIRES: client and loop outlive the elector.
  LeaderElector(Client& client,
                Loop& loop,
                Options options,
                std::function<void()> started,
                std::function<void()> stopped);
  ~LeaderElector() { *alive_ = false; }
  LeaderElector(const LeaderElector&) = delete;
  LeaderElector& operator=(const LeaderElector&) = delete;

  /// Begins to compete.
  void Start() { Tick(); }
  /// Gives the lease up at once when we hold it, so that another replica need not wait.
  void Release();

  [[nodiscard]] bool is_leader() const { return leader_.load(std::memory_order_acquire); }
  /// The holder as last seen.
  [[nodiscard]] const std::string& holder() const { return holder_; }

 private:
  void Tick();
  /// kConflict: another replica holds the lease. Other errors: of the server.
  base::Result<void> TryAcquireOrRenew();
  base::Result<void> CreateLease();
  void Told(const base::Status& why);

  Client& client_;
  Loop& loop_;
  Options options_;
  std::function<void()> started_;
  std::function<void()> stopped_;
  std::atomic<bool> leader_{false};
  bool over_ = false;
  std::string told_;  // the holder, or the failure, that the log has last
  std::string holder_;
  Revision seen_revision_ = 0;
  base::MonoTime seen_at_{};
  base::MonoTime renewed_at_{};
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace allot::client
