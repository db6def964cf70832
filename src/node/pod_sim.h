// PodSim: one simulated pod as a state machine of its containers, and the status it shows.
//
// Pure: time comes in as a value.  Init containers run one after the other; sidecars (restartPolicy
// Always) stay; then all containers run, end, and restart as the pod's restartPolicy says, with the
// kubelet's back-off (10 s doubling to 300 s).  Thread safety: one thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/v1.gen.h"
#include "base/clock.h"
#include "node/workload.h"
#include "schema/object.h"

namespace allot::node {

class PodSim {
 public:
  /// Where the pod runs and what it is called there.
  struct Place {
    std::string host_ip;
    std::string pod_ip;
  };

  /// Starts the pod at `now`, or takes up what its status says it was doing (after a restart of the
  /// agent).
  PodSim(const api::core::Pod& pod, Place place, base::WallTime now);

  /// Lets time pass; returns whether the status has changed.
  bool Advance(base::WallTime now);
  /// When Advance has something to do next; unset = never by itself.
  [[nodiscard]] std::optional<base::WallTime> NextChange() const;
  /// "Pending", "Running", "Succeeded" or "Failed".
  [[nodiscard]] std::string_view Phase() const;
  [[nodiscard]] bool Ended() const { return Phase() == "Succeeded" || Phase() == "Failed"; }
  /// Puts phase, addresses, conditions and container statuses into the draft.
  void Fill(schema::Draft<api::core::Pod>& draft, base::WallTime now) const;

 private:
  enum class State : std::uint8_t { kWaiting, kRunning, kEnded };
  enum class Role : std::uint8_t { kInit, kSidecar, kMain };
  struct Container {
    std::string name;
    std::string image;
    Role role = Role::kMain;
    ContainerRun run{};
    State state = State::kWaiting;
    bool backing_off = false;
    base::WallTime started{};
    base::WallTime ended{};
    base::WallTime change{};  // kRunning with a duration: its end; backing off: the restart
    std::int32_t restarts = 0;
    std::string id{};
  };

  void Restore(const api::core::Pod& pod);
  void Start(Container& container, base::WallTime at);
  void End(Container& container);
  [[nodiscard]] bool Restarts(const Container& container) const;
  [[nodiscard]] bool InitDone() const;
  bool StartNext(base::WallTime now);
  void FillContainer(schema::Draft<api::core::Pod>& draft,
                     const Container& container,
                     api::core::ContainerStatus& out) const;

  std::string uid_;
  std::string restart_policy_;
  Place place_;
  base::WallTime started_;
  std::vector<Container> containers_;  // init containers and sidecars first, in order
};

}  // namespace allot::node
