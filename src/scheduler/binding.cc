// From a decision to a bound pod: writes, waiting for devices, and taking back what failed.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/object_key.h"
#include "base/clock.h"
#include "quantity/time.h"
#include "scheduler/binding_conditions.h"
#include "scheduler/scheduler.h"

namespace allot::scheduler {
namespace {

/// Devices are looked at with every change of their claim; this often also for time-outs.
constexpr std::chrono::seconds kWaitingCheck{5};

}  // namespace

void Scheduler::StartWorkers() {
  for (int i = 0; i < options_.bind_workers; ++i) {
    outboxes_.push_back(std::make_unique<base::Mailbox<Handed>>());
    workers_.emplace_back([this, &outbox = *outboxes_.back()] { RunWorker(outbox); });
  }
}

void Scheduler::RunWorker(base::Mailbox<Handed>& outbox) {
  std::vector<Handed> batch;
  while (outbox.Wait(batch)) {
    for (const Handed& handed : batch) {
      // Job and outcome belong to this thread until the posted task runs; the stage never does.
      const CommitJob& job = handed.binding->job;
      CommitOutcome& outcome = handed.binding->outcome;
      if (!handed.claims_written) {
        outcome = WriteClaims(client_, job);
      }
      const bool binds = handed.claims_written || (outcome.result && !job.wait_for_devices);
      if (binds) {
        outcome.result = Bind(client_, job, {});
      }
      loop_.Post([this, uid = job.uid, binds] { ClaimsWritten(uid, binds); });
    }
  }
}

void Scheduler::Hand(Binding& binding) {
  outboxes_[next_worker_++ % outboxes_.size()]->Post(
      {.binding = &binding, .claims_written = binding.stage == Stage::kBinding});
}

void Scheduler::Commit(std::unique_ptr<Binding> owned) {
  Binding& binding = *owned;
  const std::string uid = binding.job.uid;
  bindings_[uid] = std::move(owned);
  if (!client_.is_local()) {
    Hand(binding);
    return;
  }
  binding.outcome = WriteClaims(client_, binding.job);
  ClaimsWritten(uid, /*bound=*/false);
}

void Scheduler::ClaimsWritten(const std::string& uid, bool bound) {
  const auto found = bindings_.find(uid);
  if (found == bindings_.end()) {
    return;
  }
  Binding& binding = *found->second;
  for (const client::Item& item : binding.outcome.written) {
    claims_.Written(item);
  }
  if (bound) {
    binding.stage = Stage::kBinding;
  }
  if (!binding.outcome.result || bound) {
    Finish(uid, base::Result<void>(binding.outcome.result));
    return;
  }
  if (!binding.job.wait_for_devices) {
    BindNow(binding);
    return;
  }
  binding.stage = Stage::kWaiting;
  binding.waiting_since = loop_.Now();
  recorder_.Record(
      binding.pod,
      client::EventSeverity::kNormal,
      "BindingConditionsPending",
      "Scheduling",
      fmt::format("waiting for binding conditions for device on node {}", binding.job.node));
  for (const ClaimWrite& write : binding.job.claims) {
    waiting_by_claim_[api::KeyOf(write.claim->metadata)].insert(uid);
  }
  // The pod may wait for minutes: others should see where it is going.
  Nominate(binding.job.ns, binding.job.name, uid, binding.job.node);
  CheckLater(uid);
  CheckWaiting(uid);
}

void Scheduler::CheckLater(const std::string& uid) {
  const auto found = bindings_.find(uid);
  if (found == bindings_.end() || found->second->stage != Stage::kWaiting) {
    return;
  }
  loop_.After(kWaitingCheck, [this, uid] {
    CheckWaiting(uid);
    CheckLater(uid);
  });
}

void Scheduler::CheckWaiting(const std::string& uid) {
  const auto found = bindings_.find(uid);
  if (found == bindings_.end() || found->second->stage != Stage::kWaiting) {
    return;
  }
  Binding& binding = *found->second;
  const quantity::Time now = quantity::ToTime(loop_.clock().Now());
  BindingCheck check;
  for (const ClaimWrite& write : binding.job.claims) {
    const auto claim =
        claims_.Current(write.claim->metadata.namespace_, write.claim->metadata.name);
    check = claim.view ? CheckBinding(*claim, now, options_.binding_timeout)
                       : BindingCheck{BindingState::kFailed,
                                      fmt::format("could not find ResourceClaim \"{}\"",
                                                  api::KeyOf(write.claim->metadata))};
    if (check.state != BindingState::kReady) {
      break;
    }
  }
  if (check.state == BindingState::kWaiting &&
      loop_.Now() - binding.waiting_since > options_.binding_timeout) {
    check = {BindingState::kTimedOut, "device binding timeout: context deadline exceeded"};
  }
  if (check.state == BindingState::kWaiting) {
    return;
  }
  StopWaiting(binding);
  if (check.state == BindingState::kReady) {
    CountConditions(binding, "success");
    BindNow(binding);
    return;
  }
  CountConditions(binding, check.state == BindingState::kFailed ? "failure" : "timeout");
  binding.outcome.result = base::Error(
      base::Reason::kInternalError, "running PreBind plugin \"DynamicResources\": " + check.error);
  Finish(uid, base::Result<void>(binding.outcome.result));
}

void Scheduler::StopWaiting(const Binding& binding) {
  for (const ClaimWrite& write : binding.job.claims) {
    const auto waiting = waiting_by_claim_.find(api::KeyOf(write.claim->metadata));
    if (waiting != waiting_by_claim_.end()) {
      waiting->second.erase(binding.job.uid);
      if (waiting->second.empty()) {
        waiting_by_claim_.erase(waiting);
      }
    }
  }
}

void Scheduler::CountConditions(const Binding& binding, std::string_view status) {
  for (const ClaimWrite& write : binding.job.claims) {
    const auto* const allocation =
        write.allocation != nullptr ? write.allocation : write.claim->status.allocation;
    for (const auto& result : allocation->devices.results) {
      if (!result.binding_conditions.empty()) {
        metrics_.BindingConditions(
            result.driver, status, base::Seconds(loop_.Now() - binding.waiting_since));
      }
    }
  }
}

void Scheduler::BindNow(Binding& binding) {
  binding.stage = Stage::kBinding;
  if (!client_.is_local()) {
    Hand(binding);
    return;
  }
  const std::string uid = binding.job.uid;
  binding.outcome.result =
      Bind(client_, binding.job, [this, uid](const base::Result<void>& result) {
        loop_.Post([this, uid, result] { Finish(uid, result); });  // from the writer's thread
      });
  if (!binding.outcome.result) {
    Finish(uid, base::Result<void>(binding.outcome.result));
  }
}

void Scheduler::Finish(const std::string& uid, const base::Result<void>& result) {
  const auto found = bindings_.find(uid);
  if (found == bindings_.end()) {
    return;
  }
  const std::unique_ptr<Binding> binding = std::move(found->second);
  bindings_.erase(found);
  if (binding->stage == Stage::kWaiting) {
    StopWaiting(*binding);
  }
  const double seconds = base::Seconds(loop_.Now() - binding->started);
  if (!result) {
    metrics_.Attempt(AttemptResult::kError, seconds);
    TakeBack(*binding, result.error());
    return;
  }
  metrics_.Attempt(AttemptResult::kScheduled, seconds);
  recorder_.Record(binding->pod,
                   client::EventSeverity::kNormal,
                   "Scheduled",
                   "Binding",
                   fmt::format("Successfully assigned {}/{} to {}",
                               binding->job.ns,
                               binding->job.name,
                               binding->job.node));
  if (const QueuedPod* const queued = queue_.Find(uid)) {
    metrics_.Bound(queued->attempts, base::Seconds(loop_.Now() - queued->entered));
    queue_.Remove(uid, loop_.Now());
  }
}

void Scheduler::TakeBack(Binding& binding, const base::Status& why) {
  log_.Debug("binding failed",
             {{"pod", api::KeyOf(binding.job.ns, binding.job.name)}, telemetry::Field(why)});
  // When the calls went through, it was the disk that failed, and with it every write of the chain.
  const bool chain_lost = binding.outcome.result.has_value();
  for (const ClaimWrite& write : binding.job.claims) {
    const bool written =
        std::ranges::any_of(binding.outcome.written, [&write](const client::Item& item) {
          return item.object->uid() == write.claim.object->uid();
        });
    if (write.allocation != nullptr && (chain_lost || !written)) {
      claims_.Forget(*write.claim);
    }
  }
  if (!chain_lost) {
    Unreserve(client_, binding.job, binding.outcome);
  }
  QueuedPod* const queued = queue_.Find(binding.job.uid);
  view_.DeletePod(binding.job.uid);
  if (queued != nullptr) {
    if (binding.stage == Stage::kWaiting) {
      Nominate(binding.job.ns, binding.job.name, binding.job.uid, "");
    }
    if (const auto pod = client::ViewOf<Pod>({queued->object, nullptr})) {
      Report(*queued, **pod, "SchedulerError", why.message());
    }
    queue_.Failed(*queued, loop_.Now());
  }
  queue_.Wake(kWaitsResources | kWaitsDevices, loop_.Now());
}

}  // namespace allot::scheduler
