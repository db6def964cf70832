// PodAgent: runs the pods that are bound to simulated nodes: prepares claims, moves the status,
// cleans up.
//
// Work is driven by events and timers only: a pod waiting for its claims is looked at again when
// one of them changes, never by polling.  What failed (a write, its commit, a driver) is tried
// again with back-off; a status that somebody else changed is reported again.  Thread safety: the
// loop's thread.  See: reference of the kubelet's claim lifecycle.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "client/client.h"
#include "client/informer.h"
#include "client/loop.h"
#include "client/typed.h"
#include "node/pod_sim.h"
#include "node/preparer.h"
#include "telemetry/log.h"

namespace allot::node {

class PodAgent {
 public:
  /// The address of a node of ours, empty when it is not ours.
  using AddressOf = std::function<std::string(std::string_view node)>;
  struct Stats {
    std::size_t started = 0;
    std::size_t ended = 0;
    std::size_t deleted = 0;
    std::size_t prepare_failures = 0;
  };

  /// REQUIRES: client, loop and preparer outlive the agent.
  PodAgent(client::Client& client,
           client::Loop& loop,
           Preparer& preparer,
           AddressOf address_of,
           telemetry::Logger log);

  void Start();
  void Stop();
  [[nodiscard]] const Stats& stats() const { return stats_; }

 private:
  using Pod = api::core::Pod;
  using Claim = api::resource::ResourceClaim;
  struct Entry {
    client::Typed<Pod> pod;  // the newest version seen or written
    std::string node;
    std::vector<std::string> prepared;   // claim uids
    std::vector<std::string> waits_for;  // "namespace/name" of claims
    std::unique_ptr<PodSim> sim;
    client::Loop::TimerId timer{};
    bool timer_set = false;
    bool stale = false;      // `pod` is not what the server has: read it before the next step
    bool unwritten = false;  // the server has not accepted what the pod does now
    bool ended = false;
    bool finished = false;  // the server has accepted our deletion
    int failures = 0;
  };

  void OnPods(std::span<const client::Change> changes);
  void OnClaims(std::span<const client::Change> changes);
  enum class Outcome : std::uint8_t { kDone, kAgain };

  void Sync(const std::string& uid);
  /// kAgain: another writer was faster, look at the pod as it is now.
  Outcome Step(Entry& entry, const std::string& uid);
  /// Reads the pod; false when there is nothing to go on with now.
  bool Refresh(Entry& entry, const std::string& uid);
  void Forget(const std::string& uid);
  /// Returns whether all claims are prepared.
  bool PrepareClaims(Entry& entry, const std::string& uid);
  /// Returns whether none is left.
  bool UnprepareClaims(Entry& entry);
  void End(Entry& entry, const std::string& uid);
  Outcome WriteStatus(Entry& entry, const std::string& uid);
  void Finish(Entry& entry, const std::string& uid);
  /// A write whose commit nobody waits for here; Lost when it fails.
  client::WriteOptions Chained(const std::string& uid);
  void Lost(const std::string& uid);
  void Arm(Entry& entry, const std::string& uid, std::chrono::nanoseconds delay);
  void Retry(Entry& entry, const std::string& uid);
  void StopWaiting(Entry& entry, const std::string& uid);
  [[nodiscard]] std::string NextPodAddress();

  client::Client& client_;
  client::Loop& loop_;
  Preparer& preparer_;
  AddressOf address_of_;
  telemetry::Logger log_;
  client::Informer pods_;
  client::Informer claims_;
  std::unordered_map<std::string, Entry> entries_;  // by pod uid
  std::unordered_map<std::string, std::unordered_set<std::string>>
      waiting_;                                 // claim key to pod uids
  std::unordered_map<std::string, int> users_;  // by node and claim uid: pods that have it prepared
  std::uint32_t next_address_ = 1;
  Stats stats_;
};

}  // namespace allot::node
