#include "node/pod_sim.h"

#include <algorithm>

#include "quantity/time.h"

namespace allot::node {
namespace {

using api::core::ContainerStatus;
using api::core::Pod;
using std::chrono::seconds;

constexpr seconds kFirstBackoff{10};
constexpr seconds kMostBackoff{300};

/// As metav1.Time: without the fraction.
quantity::Time WholeSeconds(base::WallTime at) {
  return quantity::ToTime(std::chrono::floor<seconds>(at));
}

base::WallTime FromTime(const quantity::Time& time) {
  return base::WallTime(seconds(time.seconds) + std::chrono::nanoseconds(time.nanos));
}

const ContainerStatus* FindStatus(const schema::List<ContainerStatus>& list,
                                  std::string_view name) {
  const auto* const at = std::find_if(
      list.begin(), list.end(), [name](const ContainerStatus& s) { return s.name == name; });
  return at == list.end() ? nullptr : at;
}

}  // namespace

PodSim::PodSim(const Pod& pod, Place place, base::WallTime now)
    : uid_(pod.metadata.uid),
      restart_policy_(pod.spec.restart_policy),
      place_(std::move(place)),
      started_(now) {
  for (const auto& container : pod.spec.init_containers) {
    const bool sidecar =
        container.restart_policy != nullptr && *container.restart_policy == "Always";
    ContainerRun run = RunOfContainer(pod, container);
    if (!sidecar && !run.duration) {
      run.duration =
          std::chrono::milliseconds(0);  // an unknown program that initialises: it ends at once
    }
    containers_.push_back({.name = std::string(container.name),
                           .image = std::string(container.image),
                           .role = sidecar ? Role::kSidecar : Role::kInit,
                           .run = run});
  }
  for (const auto& container : pod.spec.containers) {
    containers_.push_back({.name = std::string(container.name),
                           .image = std::string(container.image),
                           .role = Role::kMain,
                           .run = RunOfContainer(pod, container)});
  }
  if (pod.status.phase == "Running" && pod.status.start_time != nullptr) {
    Restore(pod);
  }
  Advance(now);
}

void PodSim::Restore(const Pod& pod) {
  started_ = FromTime(*pod.status.start_time);
  if (!pod.status.pod_ip.empty()) {
    place_.pod_ip = pod.status.pod_ip;
  }
  for (Container& container : containers_) {
    const auto& list = container.role == Role::kMain ? pod.status.container_statuses
                                                     : pod.status.init_container_statuses;
    const ContainerStatus* const status = FindStatus(list, container.name);
    if (status == nullptr) {
      continue;
    }
    if (status->state.running != nullptr) {
      Start(container, FromTime(status->state.running->started_at));
    } else if (status->state.terminated != nullptr) {
      Start(container, FromTime(status->state.terminated->started_at));
      container.change = FromTime(status->state.terminated->finished_at);
      container.run.exit_code = status->state.terminated->exit_code;
      container.run.duration = std::chrono::milliseconds(0);
      End(container);
    } else if (status->last_state.terminated != nullptr) {
      Start(container, FromTime(status->last_state.terminated->started_at));
      container.change = FromTime(status->last_state.terminated->finished_at);
      container.restarts = status->restart_count;
      End(container);
    }
    container.restarts = status->restart_count;
  }
}

void PodSim::Start(Container& container, base::WallTime at) {
  container.state = State::kRunning;
  container.backing_off = false;
  container.started = at;
  container.change = at + container.run.duration.value_or(std::chrono::milliseconds(0));
  container.id =
      "allot-sim://" + uid_ + "-" + container.name + "-" + std::to_string(container.restarts);
}

bool PodSim::Restarts(const Container& container) const {
  if (container.role == Role::kSidecar) {
    return true;
  }
  if (container.role == Role::kInit) {
    return container.run.exit_code != 0 && restart_policy_ != "Never";
  }
  return restart_policy_ == "Always" ||
         (restart_policy_ == "OnFailure" && container.run.exit_code != 0);
}

void PodSim::End(Container& container) {
  container.state = State::kEnded;
  container.ended = container.change;
  if (Restarts(container)) {
    container.backing_off = true;
    const auto doubled = kFirstBackoff * (std::int64_t{1} << std::min(container.restarts, 5));
    container.change = container.ended + std::min<seconds>(doubled, kMostBackoff);
  }
}

bool PodSim::InitDone() const {
  return std::all_of(containers_.begin(), containers_.end(), [](const Container& container) {
    return container.role == Role::kMain ||
           (container.role == Role::kSidecar && container.state == State::kRunning) ||
           (container.role == Role::kInit && container.state == State::kEnded &&
            container.run.exit_code == 0);
  });
}

bool PodSim::StartNext(base::WallTime now) {
  bool changed = false;
  for (Container& container : containers_) {
    if (container.role == Role::kMain) {
      if (container.state == State::kWaiting && InitDone()) {
        Start(container, now);
        changed = true;
      }
      continue;
    }
    if (container.state == State::kWaiting) {
      Start(container, now);
      changed = true;
    }
    const bool passed = container.role == Role::kSidecar
                            ? container.state == State::kRunning
                            : container.state == State::kEnded && container.run.exit_code == 0;
    if (!passed) {
      break;  // the next one waits for this one
    }
  }
  return changed;
}

bool PodSim::Advance(base::WallTime now) {
  bool changed = false;
  for (bool again = true; again;) {
    again = StartNext(now);
    for (Container& container : containers_) {
      if (container.state == State::kRunning && container.run.duration && container.change <= now) {
        End(container);
        again = true;
      } else if (container.backing_off && container.change <= now) {
        ++container.restarts;
        Start(container, now);
        again = container.run.duration.has_value() && container.change <= now ? again : true;
        changed = true;
      }
    }
    changed |= again;
  }
  return changed;
}

std::optional<base::WallTime> PodSim::NextChange() const {
  std::optional<base::WallTime> next;
  for (const Container& container : containers_) {
    const bool due =
        (container.state == State::kRunning && container.run.duration) || container.backing_off;
    if (due && (!next || container.change < *next)) {
      next = container.change;
    }
  }
  return next;
}

std::string_view PodSim::Phase() const {
  bool failed = false;
  for (const Container& container : containers_) {
    if (container.role == Role::kInit && container.state == State::kEnded &&
        !container.backing_off && container.run.exit_code != 0) {
      return "Failed";
    }
    if (container.role != Role::kMain) {
      continue;
    }
    if (container.state == State::kWaiting) {
      return "Pending";
    }
    if (container.state == State::kRunning || container.backing_off) {
      return "Running";
    }
    failed |= container.run.exit_code != 0;
  }
  return failed ? "Failed" : "Succeeded";
}

void PodSim::FillContainer(schema::Draft<Pod>& draft,
                           const Container& container,
                           ContainerStatus& out) const {
  out.name = draft.Copy(container.name);
  out.image = draft.Copy(container.image);
  out.image_id = out.image;
  out.container_id = draft.Copy(container.id);
  out.restart_count = container.restarts;
  const bool running = container.state == State::kRunning;
  out.ready = running || (container.role == Role::kInit && container.state == State::kEnded &&
                          !container.backing_off && container.run.exit_code == 0);
  draft.Set(out.started, running);
  const auto fill_end = [&](api::core::ContainerState& state) {
    auto& terminated = draft.Mutable(state.terminated);
    terminated.exit_code = container.run.exit_code;
    terminated.reason = container.run.exit_code == 0 ? "Completed" : "Error";
    terminated.started_at = WholeSeconds(container.started);
    terminated.finished_at = WholeSeconds(container.ended);
    terminated.container_id = out.container_id;
  };
  if (running) {
    draft.Mutable(out.state.running).started_at = WholeSeconds(container.started);
  } else if (container.backing_off) {
    auto& waiting = draft.Mutable(out.state.waiting);
    waiting.reason = "CrashLoopBackOff";
    waiting.message = draft.Copy("back-off restarting container " + container.name);
    fill_end(out.last_state);
  } else if (container.state == State::kEnded) {
    fill_end(out.state);
  } else {
    draft.Mutable(out.state.waiting).reason = "PodInitializing";
    out.container_id = {};
  }
}

void PodSim::Fill(schema::Draft<Pod>& draft, base::WallTime now) const {
  auto& status = draft->status;
  const std::string_view phase = Phase();
  status.phase = phase;
  status.host_ip = draft.Copy(place_.host_ip);
  status.host_ips = {};
  draft.MutableList(status.host_ips, 1)[0].ip = status.host_ip;
  status.pod_ip = draft.Copy(place_.pod_ip);
  status.pod_ips = {};
  draft.MutableList(status.pod_ips, 1)[0].ip = status.pod_ip;
  draft.Set(status.start_time, WholeSeconds(started_));
  const auto count = [this](bool main) {
    return static_cast<std::size_t>(
        std::count_if(containers_.begin(), containers_.end(), [main](const Container& c) {
          return (c.role == Role::kMain) == main;
        }));
  };
  status.container_statuses = {};
  status.init_container_statuses = {};
  ContainerStatus* main = draft.MutableList(status.container_statuses, count(/*main=*/true));
  ContainerStatus* init = draft.MutableList(status.init_container_statuses, count(/*main=*/false));
  if (count(/*main=*/false) == 0) {
    status.init_container_statuses = {};
  }
  bool all_ready = true;
  for (const Container& container : containers_) {
    ContainerStatus& out = container.role == Role::kMain ? *main++ : *init++;
    FillContainer(draft, container, out);
    all_ready &= out.ready || container.role == Role::kInit;
  }
  const bool ended = Ended();
  const auto set = [&](std::string_view type, bool value, std::string_view reason) {
    auto& list = status.conditions;
    const auto* const found =
        std::find_if(list.begin(), list.end(), [type](const api::core::PodCondition& c) {
          return c.type == type;
        });
    const auto at = static_cast<std::size_t>(found - list.begin());
    const bool is_new = found == list.end();
    auto& condition = draft.MutableList(list, is_new ? 1 : 0)[at];
    const std::string_view text = value ? "True" : "False";
    if (is_new || condition.status != text) {
      condition.last_transition_time = WholeSeconds(now);
    }
    condition.type = type;
    condition.status = text;
    condition.reason = value ? std::string_view() : reason;
    condition.message = {};
    condition.observed_generation = draft->metadata.generation;
  };
  const std::string_view not_ready =
      ended ? (phase == "Failed" ? "PodFailed" : "PodCompleted") : "ContainersNotReady";
  set("PodReadyToStartContainers", !ended, "");
  set("Initialized", InitDone(), "ContainersNotInitialized");
  set("Ready", all_ready && !ended, not_ready);
  set("ContainersReady", all_ready && !ended, not_ready);
  status.observed_generation = draft->metadata.generation;
}

}  // namespace allot::node
