// Scheduler: gives pods nodes and devices, through any Kubernetes API server.
//
// Informers feed the ClusterView, the claims and the queue; every turn of the loop drains all
// events, then tries a bounded number of pods: Place decides, the decision is assumed at once (node
// resources and devices count as taken), and Commit writes it. What fails is taken back as a whole.
// A local client takes the writes in line, others get them from a few worker threads. No step looks
// at all pods. Thread safety: the loop's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "api/core/v1.gen.h"
#include "base/mailbox.h"
#include "base/random.h"
#include "client/event_recorder.h"
#include "client/informer.h"
#include "client/loop.h"
#include "placement/placement.h"
#include "scheduler/claim_cache.h"
#include "scheduler/commit.h"
#include "scheduler/metrics.h"
#include "scheduler/queue.h"
#include "telemetry/log.h"

namespace allot::scheduler {

struct Options {
  std::string scheduler_name = "default-scheduler";
  inventory::Features features{};
  SchedulingQueue::Options queue{};
  /// Threads that write decisions when the client is not local.
  int bind_workers = 16;
  /// Pods tried in one turn before events are looked at again.
  int per_turn = 64;
  std::string host{};  ///< for Event.reportingInstance
  /// How long devices may take to become ready for binding.
  std::chrono::seconds binding_timeout{600};
  /// What one attempt may cost: a quarter of a second or so. What it has found is kept, and the pod
  /// tried again.
  allocator::AttemptLimits attempt{.evaluations = {.cost = 3'000'000}, .steps = 2'000'000};
};

class Scheduler {
 public:
  /// REQUIRES: all arguments outlive the scheduler; made before the loop runs.
  Scheduler(client::Client& client,
            client::Loop& loop,
            telemetry::Registry& metrics,
            telemetry::Logger log,
            base::Random& random,
            Options options);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Lists and watches; pods are tried once everything is in sync.
  void Start();
  [[nodiscard]] bool Synced() const;

  [[nodiscard]] const SchedulingQueue& queue() const { return queue_; }
  [[nodiscard]] const placement::ClusterView& view() const { return view_; }
  [[nodiscard]] const client::EventRecorder& recorder() const { return recorder_; }
  /// Claims whose devices are being made ready for a pod.
  [[nodiscard]] std::size_t claims_awaited() const { return waiting_by_claim_.size(); }

 private:
  using Pod = api::core::Pod;

  enum class Stage : std::uint8_t { kClaims, kWaiting, kBinding };
  /// A decision on its way to the API. While it is handed to a worker, `job` and `outcome` belong
  /// to that worker; everything else is the loop's at all times.
  struct Binding {
    CommitJob job;
    CommitOutcome outcome;
    client::EventSubject pod;
    base::MonoTime started{};
    Stage stage = Stage::kClaims;
    base::MonoTime waiting_since{};
  };
  /// What a worker is to do. Lifetime: the binding stays until the worker has answered.
  struct Handed {
    Binding* binding = nullptr;
    bool claims_written = false;  ///< only the binding is left to be done
  };
  /// The claims of a pod as Place wants them.
  struct PodClaims {
    bool ready = true;       ///< all exist and may be used
    bool in_flight = false;  ///< one is being allocated for another pod
    std::vector<client::Typed<api::resource::ResourceClaim>> claims;
    std::vector<placement::ClaimInput> inputs;
  };

  // events.cc
  void OnNodes(std::span<const client::Change> changes);
  void OnPods(std::span<const client::Change> changes);
  void OnPending(const Pod& pod, const client::Change& change);
  void OnClaims(std::span<const client::Change> changes);
  void OnSlices(std::span<const client::Change> changes);
  void OnClasses(std::span<const client::Change> changes);
  void OnTaintRules(std::span<const client::Change> changes);
  void IndexClaims(const Pod& pod);
  void ForgetPod(std::string_view uid);
  [[nodiscard]] bool IsOurs(const Pod& pod) const;
  [[nodiscard]] bool IsGated(const Pod& pod) const;

  // scheduler.cc
  bool ScheduleSome();
  /// Somebody wants the process to end.
  [[nodiscard]] bool Stopping() const {
    const auto* const stop = options_.attempt.evaluations.stop;
    return stop != nullptr && stop->load(std::memory_order_relaxed);
  }
  void ScheduleOne(QueuedPod& pod);
  [[nodiscard]] PodClaims CollectClaims(const Pod& pod) const;
  void Assume(QueuedPod& queued,
              const Pod& pod,
              PodClaims claims,
              placement::Decision decision,
              base::MonoTime started);

  // binding.cc
  void Commit(std::unique_ptr<Binding> binding);
  void Hand(Binding& binding);
  /// `bound`: the pod's binding was tried, too.
  void ClaimsWritten(const std::string& uid, bool bound);
  void CheckWaiting(const std::string& uid);
  void CheckLater(const std::string& uid);
  void StopWaiting(const Binding& binding);
  void BindNow(Binding& binding);
  void Finish(const std::string& uid, const base::Result<void>& result);
  void TakeBack(Binding& binding, const base::Status& why);
  void StartWorkers();
  void RunWorker(base::Mailbox<Handed>& outbox);
  void CountConditions(const Binding& binding, std::string_view status);

  // scheduler.cc, continued, and preemption.cc
  void Unschedulable(QueuedPod& queued,
                     const Pod& pod,
                     const PodClaims& claims,
                     const placement::Decision& decision);
  bool FreeUnusable(const Pod& pod, const PodClaims& claims, const placement::Decision& decision);
  void Report(const QueuedPod& queued,
              const Pod& pod,
              std::string_view reason,
              std::string_view message);
  void ArmTimer();
  void Nominate(std::string_view ns,
                std::string_view name,
                std::string_view uid,
                std::string_view node);
  void Preempt(const QueuedPod& queued, const Pod& pod, const placement::Decision& decision);
  [[nodiscard]] client::EventSubject Subject(const QueuedPod& queued, const Pod& pod) const;

  client::Client& client_;
  client::Loop& loop_;
  telemetry::Logger log_;
  base::Random& random_;
  Options options_;
  placement::ClusterView view_;
  placement::Placer placer_;
  ClaimCache claims_;
  SchedulingQueue queue_;
  Metrics metrics_;
  client::EventRecorder recorder_;

  client::Informer nodes_;
  client::Informer slices_;
  client::Informer classes_;
  client::Informer taint_rules_;
  client::Informer claim_informer_;
  client::Informer pods_;

  /// Pending pods by the claims they name ("ns/name" -> uids), and back.
  std::unordered_map<std::string, std::unordered_set<std::string>> pods_by_claim_;
  std::unordered_map<std::string, std::vector<std::string>> claims_of_pod_;
  std::unordered_map<std::string, std::unique_ptr<Binding>> bindings_;
  /// Pods whose devices are being made ready, by claim ("ns/name" -> uids).
  std::unordered_map<std::string, std::unordered_set<std::string>> waiting_by_claim_;
  base::MonoTime timer_at_ = base::MonoTime::max();

  std::vector<std::unique_ptr<base::Mailbox<Handed>>> outboxes_;
  std::vector<std::thread> workers_;
  std::size_t next_worker_ = 0;
};

}  // namespace allot::scheduler
