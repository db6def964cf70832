// DeviceTaintEvictionController: removes pods whose devices got a NoExecute taint they do not
// tolerate, and tells in each DeviceTaintRule what it does or would do. Thread safety: the loop's
// thread. See: KEP-5055.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "client/event_recorder.h"
#include "client/typed.h"
#include "controllers/context.h"
#include "controllers/devicetaint/taint_index.h"

namespace allot::controllers {

class DeviceTaintEvictionController final : public Controller {
 public:
  /// Without rules only the taints of slices count.
  explicit DeviceTaintEvictionController(Context& context, bool with_rules = true);

 private:
  /// Pods that a rule concerns, by "namespace/name".
  struct Affected {
    std::int64_t allocated_devices = 0;
    std::set<std::string> pods;
    std::set<std::string> namespaces;
  };

  void OnSlices(std::span<const client::Change> changes);
  void OnRules(std::span<const client::Change> changes);
  void OnClaims(std::span<const client::Change> changes);
  void OnPods(std::span<const client::Change> changes);
  void EnqueueUsers(const client::ObjectRef& claim);
  void EnqueueRules();

  base::Result<void> SyncPod(const std::string& key);
  /// The allocations of the pod's claims that are reserved for it.
  void EachAllocationOf(
      const api::core::Pod& pod,
      const std::function<void(const api::resource::AllocationResult&)>& each) const;
  [[nodiscard]] std::optional<std::int64_t> EvictionTimeOf(const api::core::Pod& pod) const;
  [[nodiscard]] bool IsEvictedBy(const TaintIndex::Rule& rule, const api::core::Pod& pod) const;
  base::Result<void> Evict(const std::string& key,
                           const client::ObjectRef& object,
                           std::int64_t due);
  void Tell(const client::ObjectRef& pod, std::string_view what);

  base::Result<void> SyncRule(const std::string& name);
  [[nodiscard]] Affected FindAffected(const TaintIndex::Rule& rule) const;
  [[nodiscard]] std::string Describe(const std::string& uid,
                                     const TaintIndex::Rule& rule,
                                     std::string& reason,
                                     bool& in_progress) const;

  Context& context_;
  client::Informer& slices_;
  client::Informer& rules_;
  client::Informer& claims_;
  client::Informer& pods_;
  int claims_by_pool_;
  int pods_by_claim_;
  client::WorkQueue pod_queue_;
  client::WorkQueue rule_queue_;
  client::EventRecorder recorder_;
  TaintIndex index_;
  std::unordered_map<std::string, std::int64_t> scheduled_;   ///< pods that wait for their time
  std::unordered_map<std::string, std::int64_t> evicted_by_;  ///< by rule uid
  std::map<std::string, base::MonoTime> reported_;            ///< rules: last status write
  telemetry::Counter& deletions_;
  telemetry::Histogram& delays_;
};

}  // namespace allot::controllers
