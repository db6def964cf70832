#include "scheduler/scheduler.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "api/pod_claims.h"
#include "base/clock.h"
#include "quantity/time.h"
#include "scheduler/binding_conditions.h"
#include "scheduler/shape.h"

namespace allot::scheduler {
namespace {

using api::ClaimRef;
using api::ClaimRefState;
using api::core::Pod;
using api::resource::ResourceClaim;
using client::Typed;

client::Informer::Options PodOptions(const client::Client& client) {
  client::Informer::Options options;
  if (!client.is_local()) {
    // A finished pod then looks deleted, which is what it is to a scheduler. In-process watchers
    // share one batch and are better off without a selector.
    options.field_selector = "status.phase!=Succeeded,status.phase!=Failed";
  }
  return options;
}

/// Which events may change this answer.
Waits WaitsOf(const placement::Decision& decision, bool has_claims) {
  if (decision.diagnosis.groups.empty()) {
    return kWaitsAll;
  }
  Waits waits = kWaitsNode | (has_claims ? kWaitsDevices : 0U);
  for (const allocator::NodeDiagnosis& group : decision.diagnosis.groups) {
    for (const std::string& reason : group.reasons) {
      if (reason.starts_with("Insufficient") || reason.starts_with("Too many") ||
          reason.find("free ports") != std::string::npos) {
        waits |= kWaitsResources;
        // An extended resource that no node has may come as a class of devices.
        waits |= kWaitsDevices;
      }
    }
  }
  return waits;
}

}  // namespace

Scheduler::Scheduler(client::Client& client,
                     client::Loop& loop,
                     telemetry::Registry& metrics,
                     telemetry::Logger log,
                     base::Random& random,
                     Options options)
    : client_(client),
      loop_(loop),
      log_(log.Named("scheduler")),
      random_(random),
      options_(std::move(options)),
      view_(options_.features),
      placer_(view_, options_.attempt),
      claims_(view_.inventory(), view_.allocated(), &claim_informer_),
      queue_(options_.queue),
      metrics_(metrics, options_.scheduler_name),
      recorder_(client,
                loop,
                {.api = client::EventApi::kEventsV1,
                 .component = options_.scheduler_name,
                 .host = options_.host}),
      nodes_(client, loop, client::ResourceOf<api::core::Node>()),
      slices_(client, loop, client::ResourceOf<api::resource::ResourceSlice>()),
      classes_(client, loop, client::ResourceOf<api::resource::DeviceClass>()),
      taint_rules_(client, loop, client::ResourceOf<api::resource::DeviceTaintRule>()),
      claim_informer_(client, loop, client::ResourceOf<ResourceClaim>()),
      pods_(client, loop, client::ResourceOf<Pod>(), PodOptions(client)) {
  using Changes = std::span<const client::Change>;
  nodes_.OnChanges([this](Changes changes) { OnNodes(changes); });
  slices_.OnChanges([this](Changes changes) { OnSlices(changes); });
  classes_.OnChanges([this](Changes changes) { OnClasses(changes); });
  taint_rules_.OnChanges([this](Changes changes) { OnTaintRules(changes); });
  claim_informer_.OnChanges([this](Changes changes) { OnClaims(changes); });
  pods_.OnChanges([this](Changes changes) { OnPods(changes); });
  loop_.OnTurn([this] { return ScheduleSome(); });
  if (!client_.is_local()) {
    StartWorkers();
  }
}

Scheduler::~Scheduler() {
  for (const auto& outbox : outboxes_) {
    outbox->Stop();
  }
  for (std::thread& worker : workers_) {
    worker.join();
  }
}

void Scheduler::Start() {
  // Devices and their holders first: no pod may be tried against an empty picture.
  classes_.Start();
  slices_.Start();
  taint_rules_.Start();
  nodes_.Start();
  claim_informer_.Start();
  pods_.Start();
}

bool Scheduler::Synced() const {
  return classes_.synced() && slices_.synced() && taint_rules_.synced() && nodes_.synced() &&
         claim_informer_.synced() && pods_.synced();
}

bool Scheduler::ScheduleSome() {
  if (!Synced()) {
    return false;
  }
  queue_.Tick(loop_.Now());
  int tried = 0;
  const allocator::Allocator::Work before = placer_.work();
  const auto may_go_on = [&] {
    // A turn may cost what one attempt may: then it is time for events, and to see whether to stop.
    const allocator::Allocator::Work now = placer_.work();
    return now.cost - before.cost < options_.attempt.evaluations.cost &&
           now.steps - before.steps < options_.attempt.steps && !Stopping();
  };
  for (; tried < options_.per_turn && may_go_on(); ++tried) {
    QueuedPod* const pod = queue_.Pop(loop_.Now());
    if (pod == nullptr) {
      break;
    }
    ScheduleOne(*pod);
  }
  metrics_.Pending(queue_);
  metrics_.CacheSize(nodes_.size(), pods_.size(), claims_.size());
  ArmTimer();
  return tried > 0 && queue_.HasWork();
}

void Scheduler::ArmTimer() {
  const base::MonoTime due = queue_.NextDue();
  if (due >= timer_at_) {
    return;
  }
  timer_at_ = due;
  loop_.After(due - loop_.Now(), [this, due] {
    if (timer_at_ == due) {
      timer_at_ = base::MonoTime::max();
    }
  });
}

client::EventSubject Scheduler::Subject(const QueuedPod& queued, const Pod& pod) const {
  return {.api_version = "v1",
          .kind = "Pod",
          .ns = std::string(pod.metadata.namespace_),
          .name = std::string(pod.metadata.name),
          .uid = queued.uid,
          .revision = queued.object->revision()};
}

Scheduler::PodClaims Scheduler::CollectClaims(const Pod& pod) const {
  PodClaims result;
  result.claims.reserve(pod.spec.resource_claims.size());
  for (const api::core::PodResourceClaim& entry : pod.spec.resource_claims) {
    const ClaimRef ref = api::ResolveClaim(pod, entry);
    if (ref.state == ClaimRefState::kNotNeeded) {
      continue;
    }
    Typed<ResourceClaim> claim;
    if (ref.state == ClaimRefState::kNamed) {
      claim = claims_.Current(pod.metadata.namespace_, ref.name);
    }
    if (!claim.view || claim->metadata.deletion_timestamp != nullptr ||
        (ref.generated && !api::IsClaimForPod(pod, *claim))) {
      result.ready = false;
      return result;
    }
    const bool twice = std::ranges::any_of(result.claims, [&claim](const auto& other) {
      return other.object->uid() == claim.object->uid();
    });
    if (twice) {
      continue;  // two entries may name one claim
    }
    result.in_flight |=
        claim->status.allocation == nullptr && claims_.InFlight(pod.metadata.namespace_, ref.name);
    result.claims.push_back(std::move(claim));
    result.inputs.push_back({.entry = entry.name});
  }
  const quantity::Time now = quantity::ToTime(loop_.clock().Now());
  for (std::size_t i = 0; i < result.claims.size(); ++i) {
    const auto& claim = result.claims[i];
    placement::ClaimInput& input = result.inputs[i];
    input.claim = claim.view.get();
    input.allocation = claim->status.allocation;
    if (input.allocation != nullptr && options_.features.device_binding_and_status &&
        HasBindingConditions(*input.allocation)) {
      const BindingState state = CheckBinding(*claim, now, options_.binding_timeout).state;
      input.conditions_failed = state == BindingState::kFailed || state == BindingState::kTimedOut;
    }
  }
  return result;
}

void Scheduler::ScheduleOne(QueuedPod& queued) {
  const base::MonoTime started = loop_.Now();
  client::Item item = pods_.FindItem(queued.object->namespace_(), queued.object->name());
  if (item.object.get() != queued.object.get()) {
    item = {queued.object, nullptr};
  }
  const auto decoded = client::ViewOf<Pod>(item);
  if (!decoded) {
    queue_.Failed(queued, started);
    return;
  }
  const Pod& pod = **decoded;
  if (pod.metadata.deletion_timestamp != nullptr) {
    recorder_.Record(
        Subject(queued, pod),
        client::EventSeverity::kWarning,
        "FailedScheduling",
        "Scheduling",
        fmt::format(
            "skip schedule deleting pod: {}/{}", pod.metadata.namespace_, pod.metadata.name));
    queue_.Remove(std::string(queued.uid), started);
    return;
  }
  PodClaims claims = CollectClaims(pod);
  if (!claims.ready || claims.in_flight) {
    // A claim went away since the pod was queued, or is on its way to another pod: its own events
    // bring the pod back, and nobody needs to be told.
    --queued.attempts;
    queue_.Unschedulable(queued, kWaitsDevices, "", started);
    queue_.SetGated(queued, !claims.ready, started);
    return;
  }
  placement::Decision decision =
      placer_.Place(pod, claims.inputs, [this](std::size_t) { return random_.Uuid(); });
  const base::MonoTime decided = loop_.Now();
  metrics_.Algorithm(base::Seconds(decided - started));
  switch (decision.placed) {
    case placement::Placed::kPlaced:
      Assume(queued, pod, std::move(claims), std::move(decision), started);
      return;
    case placement::Placed::kUnschedulable:
      Unschedulable(queued, pod, claims, decision);
      metrics_.Attempt(AttemptResult::kUnschedulable, base::Seconds(loop_.Now() - started));
      return;
    case placement::Placed::kError:
      Report(queued, pod, "SchedulerError", decision.error);
      queue_.Failed(queued, decided);
      metrics_.Attempt(AttemptResult::kError, base::Seconds(loop_.Now() - started));
      return;
    case placement::Placed::kUnfinished:
      if (!Stopping()) {
        Report(queued, pod, "SchedulerError", decision.error);
      }
      queue_.Unfinished(queued, decided);
      metrics_.Attempt(AttemptResult::kError, base::Seconds(loop_.Now() - started));
      return;
  }
}

void Scheduler::Assume(QueuedPod& queued,
                       const Pod& pod,
                       PodClaims claims,
                       placement::Decision decision,
                       base::MonoTime started) {
  auto binding = std::make_unique<Binding>();
  CommitJob& job = binding->job;
  job.ns = pod.metadata.namespace_;
  job.name = pod.metadata.name;
  job.uid = queued.uid;
  job.node = decision.node;
  job.now = quantity::ToTime(loop_.clock().Now());
  job.now.nanos = 0;
  job.stamp = options_.features.device_binding_and_status;
  job.memory = decision.arena;
  binding->pod = Subject(queued, pod);
  binding->started = started;
  const auto awaits = [&job](const api::resource::AllocationResult* allocation) {
    job.wait_for_devices |= allocation != nullptr && HasBindingConditions(*allocation);
  };

  job.node_allocatable = decision.node_allocatable;
  if (decision.node_allocatable.empty()) {
    view_.UpsertPod(pod, decision.node);
  } else {
    Pod assumed = pod;
    assumed.status.node_allocatable_resource_claim_statuses = decision.node_allocatable;
    view_.UpsertPod(assumed, decision.node);
  }
  std::size_t next = 0;
  for (Typed<ResourceClaim>& claim : claims.claims) {
    const api::resource::AllocationResult* allocation = nullptr;
    if (claim->status.allocation == nullptr && next < decision.results.size()) {
      auto* const kept =
          decision.arena->New<api::resource::AllocationResult>(decision.results[next++]);
      allocation = kept;
      claims_.Assume(*claim, *allocation);
    }
    awaits(allocation != nullptr ? allocation : claim->status.allocation);
    job.claims.push_back({std::move(claim), allocation});
  }
  if (decision.extended_claim != nullptr && next < decision.results.size()) {
    job.extended.claim = decision.extended_claim;
    job.extended.allocation =
        decision.arena->New<api::resource::AllocationResult>(decision.results[next]);
    job.extended.mappings = decision.extended_mappings;
    awaits(job.extended.allocation);
  }
  job.wait_for_devices &= options_.features.device_binding_and_status;
  queue_.Placed(queued, loop_.Now());
  Commit(std::move(binding));
}

void Scheduler::Unschedulable(QueuedPod& queued,
                              const Pod& pod,
                              const PodClaims& claims,
                              const placement::Decision& decision) {
  std::string message = decision.diagnosis.message;
  if (!decision.unavailable_claims.empty() && FreeUnusable(pod, claims, decision)) {
    message = decision.filter_text + " deallocation of ResourceClaim completed";
    if (!decision.preemption_text.empty()) {
      message += ", " + decision.preemption_text;
    }
  }
  Report(queued, pod, "Unschedulable", message);
  if (!decision.victims.empty()) {
    Preempt(queued, pod, decision);
  }
  const bool has_claims = !claims.inputs.empty() || !decision.results.empty();
  queue_.Unschedulable(
      queued, WaitsOf(decision, has_claims), ShapeOf(pod, claims.inputs), loop_.Now());
}

bool Scheduler::FreeUnusable(const Pod& pod,
                             const PodClaims& claims,
                             const placement::Decision& decision) {
  for (const std::size_t position : decision.unavailable_claims) {
    const Typed<ResourceClaim>& claim = claims.claims[position];
    const auto& users = claim->status.reserved_for;
    const bool only_ours = users.empty() || (users.size() == 1 && users[0].uid == pod.metadata.uid);
    if (!only_ours || claim->status.allocation == nullptr) {
      continue;
    }
    schema::Draft<ResourceClaim> draft(claim.view);
    draft->status.allocation = nullptr;
    draft->status.reserved_for = {};
    draft->status.devices = {};
    client::WriteOptions write;
    write.ack = client::Ack::kSequenced;
    write.preconditions.revision = claim.revision();
    return client::UpdateStatus(client_, draft, write).has_value();
  }
  return false;
}

}  // namespace allot::scheduler
