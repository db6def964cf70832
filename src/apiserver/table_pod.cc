// Printer of Pod: the status column's reasoning is a table of its own.
#include <algorithm>
#include <cstddef>
#include <string>

#include <fmt/format.h>

#include "api/core/v1.gen.h"
#include "apiserver/table.h"

namespace allot::apiserver {
namespace {

namespace core = api::core;

constexpr Column kPod[] = {
    {"Name", "string", "name", "Name of the object, unique within its namespace.", 0},
    {"Ready", "string", "", "Containers that are ready, of all.", 0},
    {"Status", "string", "", "What the pod is doing.", 0},
    {"Restarts", "string", "", "How often its containers were restarted.", 0},
    {"Age", "string", "", "Time since the object was created.", 0},
    {"IP", "string", "", "Address of the pod.", 1},
    {"Node", "string", "", "The node it is bound to.", 1},
    {"Nominated Node", "string", "", "The node it waits for.", 1},
    {"Readiness Gates", "string", "", "Further conditions that must be true, of all.", 1},
};

/// What the Ready, Status and Restarts columns are made of.
struct PodSummary {
  std::string reason;
  std::size_t total = 0;
  int ready = 0;
  std::int64_t restarts = 0;
  quantity::Time last_restart;
};

bool HasCondition(const core::Pod& pod, std::string_view type) {
  return std::ranges::any_of(pod.status.conditions, [&](const core::PodCondition& condition) {
    return condition.type == type && condition.status == "True";
  });
}

std::string ExitText(const core::ContainerStateTerminated& ended) {
  return ended.signal != 0 ? fmt::format("Signal:{}", ended.signal)
                           : fmt::format("ExitCode:{}", ended.exit_code);
}

void NoteRestart(const core::ContainerStatus& status, std::int64_t& count, quantity::Time& last) {
  count += status.restart_count;
  if (status.last_state.terminated != nullptr) {
    const quantity::Time& finished = status.last_state.terminated->finished_at;
    if (!last.set || last.seconds < finished.seconds) {
      last = finished;
    }
  }
}

bool IsRestartable(const core::Pod& pod, std::string_view name) {
  return std::ranges::any_of(pod.spec.init_containers, [&](const core::Container& container) {
    return container.name == name && container.restart_policy != nullptr &&
           *container.restart_policy == "Always";
  });
}

/// The reason an init container gives, empty when it is done or serves.
std::string InitReason(const core::ContainerStatus& status, std::size_t index, std::size_t count) {
  const core::ContainerStateTerminated* const ended = status.state.terminated;
  if (ended != nullptr) {
    return "Init:" + (ended->reason.empty() ? ExitText(*ended) : std::string(ended->reason));
  }
  const core::ContainerStateWaiting* const waiting = status.state.waiting;
  if (waiting != nullptr && !waiting->reason.empty() && waiting->reason != "PodInitializing") {
    return fmt::format("Init:{}", waiting->reason);
  }
  return fmt::format("Init:{}/{}", index, count);
}

/// Walks the init containers; true while one of them still has to finish.
bool SummarizeInit(const core::Pod& pod,
                   PodSummary& out,
                   std::int64_t& restartable_restarts,
                   quantity::Time& restartable_last) {
  for (std::size_t i = 0; i < pod.status.init_container_statuses.size(); ++i) {
    const core::ContainerStatus& status = pod.status.init_container_statuses[i];
    const bool restartable = IsRestartable(pod, status.name);
    NoteRestart(status, out.restarts, out.last_restart);
    if (restartable) {
      NoteRestart(status, restartable_restarts, restartable_last);
    }
    if (status.state.terminated != nullptr && status.state.terminated->exit_code == 0) {
      continue;
    }
    if (restartable && status.started != nullptr && *status.started) {
      out.ready += status.ready ? 1 : 0;
      continue;
    }
    out.reason = InitReason(status, i, pod.spec.init_containers.size());
    return true;
  }
  return false;
}

void SummarizeContainers(const core::Pod& pod, PodSummary& out) {
  bool running = false;
  for (std::size_t i = pod.status.container_statuses.size(); i-- > 0;) {
    const core::ContainerStatus& status = pod.status.container_statuses[i];
    NoteRestart(status, out.restarts, out.last_restart);
    const core::ContainerState& state = status.state;
    if (state.waiting != nullptr && !state.waiting->reason.empty()) {
      out.reason = state.waiting->reason;
    } else if (state.terminated != nullptr) {
      out.reason = state.terminated->reason.empty() ? ExitText(*state.terminated)
                                                    : std::string(state.terminated->reason);
    } else if (status.ready && state.running != nullptr) {
      running = true;
      ++out.ready;
    }
  }
  if (out.reason == "Completed" && running) {
    out.reason = HasCondition(pod, "Ready") ? "Running" : "NotReady";
  }
}

PodSummary Summarize(const core::Pod& pod) {
  PodSummary out;
  out.reason = pod.status.reason.empty() ? pod.status.phase : pod.status.reason;
  for (const core::PodCondition& condition : pod.status.conditions) {
    if (condition.type == "PodScheduled" && condition.reason == "SchedulingGated") {
      out.reason = condition.reason;
    }
  }
  out.total = pod.spec.containers.size();
  for (const core::Container& container : pod.spec.init_containers) {
    out.total += container.restart_policy != nullptr && *container.restart_policy == "Always";
  }
  std::int64_t restartable_restarts = 0;
  quantity::Time restartable_last;
  const bool initializing = SummarizeInit(pod, out, restartable_restarts, restartable_last);
  if (!initializing || HasCondition(pod, "Initialized")) {
    out.restarts = restartable_restarts;
    out.last_restart = restartable_last;
    SummarizeContainers(pod, out);
  }
  if (pod.metadata.deletion_timestamp != nullptr) {
    if (pod.status.reason == "NodeLost") {
      out.reason = "Unknown";
    } else if (pod.status.phase != "Succeeded" && pod.status.phase != "Failed") {
      out.reason = "Terminating";
    }
  }
  return out;
}

std::string GatesText(const core::Pod& pod) {
  if (pod.spec.readiness_gates.empty()) {
    return "<none>";
  }
  const auto met = std::ranges::count_if(
      pod.spec.readiness_gates,
      [&](const core::PodReadinessGate& gate) { return HasCondition(pod, gate.condition_type); });
  return fmt::format("{}/{}", met, pod.spec.readiness_gates.size());
}

void PodCells(const void* root, CellWriter& out) {
  const auto& pod = *static_cast<const core::Pod*>(root);
  const PodSummary summary = Summarize(pod);
  const auto or_none = [](std::string_view text) {
    return text.empty() ? "<none>" : text;
  };
  if (pod.status.phase == "Succeeded") {
    out.Condition("Completed", "Succeeded", "The pod has completed successfully.");
  } else if (pod.status.phase == "Failed") {
    out.Condition("Completed", "Failed", "The pod failed.");
  }
  out.Text(pod.metadata.name);
  out.Text(fmt::format("{}/{}", summary.ready, summary.total));
  out.Text(summary.reason);
  out.Text(summary.restarts != 0 && summary.last_restart.set
               ? fmt::format("{} ({} ago)", summary.restarts, out.AgeText(summary.last_restart))
               : fmt::format("{}", summary.restarts));
  out.Age(pod.metadata.creation_timestamp);
  std::string_view ip = pod.status.pod_ip;
  if (!pod.status.pod_ips.empty()) {
    ip = pod.status.pod_ips.front().ip;
  }
  out.Text(or_none(ip));
  out.Text(or_none(pod.spec.node_name));
  out.Text(or_none(pod.status.nominated_node_name));
  out.Text(GatesText(pod));
}

constexpr TablePrinter kPodPrinter = {kPod, PodCells};

}  // namespace

const TablePrinter* FindPodPrinter(const schema::TypeDesc& type) {
  return &type == &api::Desc<core::Pod>() ? &kPodPrinter : nullptr;
}

}  // namespace allot::apiserver
