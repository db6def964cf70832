#include "scheduler/queue.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace allot::scheduler {
bool SchedulingQueue::ActiveOrder::operator()(const QueuedPod* a, const QueuedPod* b) const {
  return std::tie(b->priority, a->queued, a->uid) < std::tie(a->priority, b->queued, b->uid);
}

bool SchedulingQueue::ReadyOrder::operator()(const QueuedPod* a, const QueuedPod* b) const {
  return std::tie(a->ready, a->uid) < std::tie(b->ready, b->uid);
}

std::size_t SchedulingQueue::Count(PodState state) const {
  return counts_[static_cast<std::size_t>(state)];
}

QueuedPod* SchedulingQueue::Find(std::string_view uid) {
  const auto found = pods_.find(std::string(uid));
  return found != pods_.end() ? found->second.get() : nullptr;
}

void SchedulingQueue::Enter(QueuedPod& pod, PodState state, base::MonoTime now) {
  pod.state = state;
  ++counts_[static_cast<std::size_t>(state)];
  switch (state) {
    case PodState::kActive:
      pod.queued = now;
      active_.insert(&pod);
      break;
    case PodState::kBackoff: BackoffOf(pod).insert(&pod); break;
    case PodState::kUnschedulable:
      groups_[pod.group].waiting.insert(&pod);
      groups_[pod.group].waits |= pod.waits;
      unschedulable_.emplace(pod.failed, pod.uid);
      break;
    case PodState::kGated:
    case PodState::kInFlight: break;
  }
}

void SchedulingQueue::Leave(QueuedPod& pod) {
  --counts_[static_cast<std::size_t>(pod.state)];
  switch (pod.state) {
    case PodState::kActive: active_.erase(&pod); break;
    case PodState::kBackoff: BackoffOf(pod).erase(&pod); break;
    case PodState::kUnschedulable: {
      const auto group = groups_.find(pod.group);
      group->second.waiting.erase(&pod);
      if (group->second.waiting.empty() && group->second.trying.empty()) {
        groups_.erase(group);
      }
      unschedulable_.erase({pod.failed, pod.uid});
      break;
    }
    case PodState::kGated:
    case PodState::kInFlight: break;
  }
}

QueuedPod& SchedulingQueue::Upsert(const client::ObjectRef& object,
                                   std::int32_t priority,
                                   bool gated,
                                   base::MonoTime now) {
  std::unique_ptr<QueuedPod>& slot = pods_[std::string(object->uid())];
  if (!slot) {
    slot = std::make_unique<QueuedPod>();
    slot->uid = object->uid();
    slot->object = object;
    slot->priority = priority;
    slot->entered = now;
    Enter(*slot, gated ? PodState::kGated : PodState::kActive, now);
    return *slot;
  }
  QueuedPod& pod = *slot;
  pod.object = object;
  if (pod.priority != priority) {
    const PodState state = pod.state;
    const base::MonoTime queued = pod.queued;
    Leave(pod);
    pod.priority = priority;
    Enter(pod, state, queued);
  }
  SetGated(pod, gated, now);
  return pod;
}

void SchedulingQueue::SetGated(QueuedPod& pod, bool gated, base::MonoTime now) {
  if (pod.state == PodState::kInFlight || (pod.state == PodState::kGated) == gated) {
    return;
  }
  Leave(pod);
  if (gated) {
    Enter(pod, PodState::kGated, now);
    Pass(pod.group, pod.uid, now);
  } else {
    pod.entered = now;
    Activate(pod, now);
  }
}

void SchedulingQueue::Remove(std::string_view uid, base::MonoTime now) {
  const auto found = pods_.find(std::string(uid));
  if (found == pods_.end()) {
    return;
  }
  Leave(*found->second);
  const std::string group = found->second->group;
  pods_.erase(found);
  Pass(group, uid, now);
}

void SchedulingQueue::Activate(QueuedPod& pod, base::MonoTime now) {
  Enter(pod, pod.ready > now ? PodState::kBackoff : PodState::kActive, now);
}

QueuedPod* SchedulingQueue::Pop(base::MonoTime now) {
  QueuedPod* pod = nullptr;
  if (!active_.empty()) {
    pod = *active_.begin();
  } else {
    if (backoff_.empty()) {
      return nullptr;
    }
    pod = *backoff_.begin();
  }
  Leave(*pod);
  ++pod->attempts;
  Enter(*pod, PodState::kInFlight, now);
  return pod;
}

void SchedulingQueue::Placed(QueuedPod& pod, base::MonoTime now) {
  if (pod.group.empty()) {
    return;
  }
  const auto found = groups_.find(pod.group);
  if (found != groups_.end() && found->second.trying == pod.uid) {
    found->second.trying.clear();
    // What let this one in may be enough for the next as well.
    WakeFirst(found->second, now);
    if (found->second.waiting.empty() && found->second.trying.empty()) {
      groups_.erase(found);
    }
  }
  pod.group.clear();
}

base::MonoTime SchedulingQueue::ReadyAfter(const QueuedPod& pod, base::MonoTime now) const {
  const int doublings = std::clamp(pod.attempts - 1, 0, 20);
  const auto backoff = options_.initial_backoff * (std::int64_t{1} << doublings);
  return now + std::min<std::chrono::nanoseconds>(backoff, options_.max_backoff);
}

void SchedulingQueue::Unschedulable(QueuedPod& pod,
                                    Waits waits,
                                    std::string group,
                                    base::MonoTime now) {
  Leave(pod);
  if (group.empty()) {
    group = "pod/" + pod.uid;
  }
  const std::string before = std::exchange(pod.group, std::move(group));
  if (const auto found = groups_.find(before);
      found != groups_.end() && found->second.trying == pod.uid) {
    found->second.trying.clear();
    if (before != pod.group) {
      // It changed its shape: its old group has not had its try.
      WakeFirst(found->second, now);
      if (found->second.waiting.empty() && found->second.trying.empty()) {
        groups_.erase(found);
      }
    }
  }
  pod.waits = waits;
  pod.by_error = false;
  pod.failed = now;
  pod.ready = ReadyAfter(pod, now);
  Enter(pod, PodState::kUnschedulable, now);
}

void SchedulingQueue::Failed(QueuedPod& pod, base::MonoTime now) {
  Leave(pod);
  pod.by_error = true;
  pod.failed = now;
  pod.ready = ReadyAfter(pod, now);
  Enter(pod, PodState::kBackoff, now);
}

void SchedulingQueue::Unfinished(QueuedPod& pod, base::MonoTime now) {
  Leave(pod);
  pod.by_error = true;
  pod.failed = now;
  pod.ready = std::max(now + options_.initial_backoff, next_long_);
  next_long_ = pod.ready + options_.initial_backoff;
  Enter(pod, PodState::kBackoff, now);
}

void SchedulingQueue::WakeFirst(Group& group, base::MonoTime now) {
  if (!group.trying.empty() || group.waiting.empty()) {
    return;
  }
  QueuedPod& pod = **group.waiting.begin();
  group.trying = pod.uid;  // set before leaving, so that the group stays
  ++stats_.moved;
  Leave(pod);
  Activate(pod, now);
}

void SchedulingQueue::Pass(const std::string& group, std::string_view uid, base::MonoTime now) {
  const auto found = groups_.find(group);
  if (found == groups_.end() || found->second.trying != uid) {
    return;
  }
  found->second.trying.clear();
  WakeFirst(found->second, now);
  if (found->second.waiting.empty() && found->second.trying.empty()) {
    groups_.erase(found);
  }
}

void SchedulingQueue::Wake(Waits what, base::MonoTime now) {
  ++stats_.wakes;
  for (auto& [key, group] : groups_) {
    ++stats_.groups_seen;
    if ((group.waits & what) != 0) {
      WakeFirst(group, now);
    }
  }
}

void SchedulingQueue::WakePod(QueuedPod& pod, base::MonoTime now) {
  if (pod.state != PodState::kUnschedulable) {
    return;
  }
  ++stats_.moved;
  Leave(pod);
  Activate(pod, now);
}

void SchedulingQueue::Tick(base::MonoTime now) {
  for (auto* const set : {&backoff_, &errors_}) {
    while (!set->empty() && (*set->begin())->ready <= now) {
      QueuedPod& pod = **set->begin();
      Leave(pod);
      Enter(pod, PodState::kActive, now);
    }
  }
  while (!unschedulable_.empty() && unschedulable_.begin()->first + options_.flush_after <= now) {
    QueuedPod* const pod = Find(unschedulable_.begin()->second);
    ++stats_.flushed;
    Leave(*pod);
    Activate(*pod, now);
  }
}

base::MonoTime SchedulingQueue::NextDue() const {
  base::MonoTime due = base::MonoTime::max();
  for (const auto* const set : {&backoff_, &errors_}) {
    if (!set->empty()) {
      due = std::min(due, (*set->begin())->ready);
    }
  }
  if (!unschedulable_.empty()) {
    due = std::min(due, unschedulable_.begin()->first + options_.flush_after);
  }
  return due;
}

}  // namespace allot::scheduler
