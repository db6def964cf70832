// What the scheduler makes of changes in the cluster.
#include <algorithm>
#include <utility>

#include "api/object_key.h"
#include "api/pod_claims.h"
#include "scheduler/scheduler.h"
#include "schema/codec.h"

namespace allot::scheduler {
namespace {

using api::ClaimRef;
using api::ClaimRefState;
using api::core::Node;
using client::Change;
using client::EventType;

template <typename T>
const T& As(const Change& change) {
  return *static_cast<const T*>(change.item.view.get());
}

/// Whether nothing has changed that decides what fits on the node.
bool SameForPods(const Node& a, const Node& b) {
  const auto same_texts = [](const auto& x, const auto& y) {
    return std::ranges::equal(
        x, y, [](const auto& p, const auto& q) { return p.key == q.key && p.value == q.value; });
  };
  return schema::SemanticEqual(api::Desc<api::core::NodeSpec>(), &a.spec, &b.spec) &&
         same_texts(a.metadata.labels, b.metadata.labels) &&
         same_texts(a.status.allocatable, b.status.allocatable) &&
         same_texts(a.status.capacity, b.status.capacity) &&
         std::ranges::equal(a.status.declared_features, b.status.declared_features);
}

}  // namespace

bool Scheduler::IsOurs(const Pod& pod) const {
  return pod.spec.scheduler_name == options_.scheduler_name;
}

void Scheduler::OnNodes(std::span<const Change> changes) {
  bool helps = false;
  for (const Change& change : changes) {
    if (change.type == EventType::kDeleted) {
      view_.DeleteNode(change.item.object->name());
      continue;
    }
    const Node& node = As<Node>(change);
    if (change.old) {
      const auto before = client::ViewOf<Node>({change.old, nullptr});
      if (before && SameForPods(**before, node)) {
        continue;  // a heartbeat
      }
    }
    view_.UpsertNode(node);
    helps = true;
  }
  if (helps) {
    queue_.Wake(kWaitsAll, loop_.Now());
  }
}

void Scheduler::OnSlices(std::span<const Change> changes) {
  bool helps = false;
  for (const Change& change : changes) {
    if (change.type == EventType::kDeleted) {
      view_.inventory().DeleteSlice(change.item.object->name());
    } else {
      view_.inventory().UpsertSlice(As<api::resource::ResourceSlice>(change));
      helps = true;
    }
  }
  if (helps) {
    queue_.Wake(kWaitsDevices, loop_.Now());
  }
}

void Scheduler::OnClasses(std::span<const Change> changes) {
  bool helps = false;
  for (const Change& change : changes) {
    if (change.type == EventType::kDeleted) {
      view_.inventory().DeleteClass(change.item.object->name());
    } else {
      view_.inventory().UpsertClass(As<api::resource::DeviceClass>(change));
      helps = true;
    }
  }
  if (helps) {
    // An extended resource may now be served by devices, so pods without claims may be helped too.
    queue_.Wake(kWaitsDevices | kWaitsResources, loop_.Now());
  }
}

void Scheduler::OnTaintRules(std::span<const Change> changes) {
  for (const Change& change : changes) {
    if (change.type == EventType::kDeleted) {
      view_.inventory().DeleteTaintRule(change.item.object->name());
    } else {
      view_.inventory().UpsertTaintRule(As<api::resource::DeviceTaintRule>(change));
    }
  }
  queue_.Wake(kWaitsDevices, loop_.Now());
}

bool Scheduler::IsGated(const Pod& pod) const {
  if (!pod.spec.scheduling_gates.empty()) {
    return true;
  }
  for (const api::core::PodResourceClaim& entry : pod.spec.resource_claims) {
    const ClaimRef ref = api::ResolveClaim(pod, entry);
    if (ref.state == ClaimRefState::kNotNeeded) {
      continue;
    }
    if (ref.state != ClaimRefState::kNamed) {
      return true;
    }
    const auto claim = claims_.Current(pod.metadata.namespace_, ref.name);
    if (!claim.view || claim->metadata.deletion_timestamp != nullptr ||
        (ref.generated && !api::IsClaimForPod(pod, *claim))) {
      return true;
    }
  }
  return false;
}

void Scheduler::IndexClaims(const Pod& pod) {
  std::vector<std::string> keys;
  for (const api::core::PodResourceClaim& entry : pod.spec.resource_claims) {
    const ClaimRef ref = api::ResolveClaim(pod, entry);
    if (ref.state == ClaimRefState::kNamed) {
      keys.push_back(api::KeyOf(pod.metadata.namespace_, ref.name));
    }
  }
  // Several entries may name one claim.
  std::ranges::sort(keys);
  const auto repeated = std::ranges::unique(keys);
  keys.erase(repeated.begin(), repeated.end());
  const std::string uid(pod.metadata.uid);
  const auto known = claims_of_pod_.find(uid);
  if (known != claims_of_pod_.end() ? known->second == keys : keys.empty()) {
    return;
  }
  ForgetPod(uid);
  for (const std::string& key : keys) {
    pods_by_claim_[key].insert(uid);
  }
  claims_of_pod_[uid] = std::move(keys);
}

void Scheduler::ForgetPod(std::string_view uid) {
  const auto known = claims_of_pod_.find(std::string(uid));
  if (known == claims_of_pod_.end()) {
    return;
  }
  for (const std::string& key : known->second) {
    const auto pods = pods_by_claim_.find(key);
    pods->second.erase(known->first);
    if (pods->second.empty()) {
      pods_by_claim_.erase(pods);
    }
  }
  claims_of_pod_.erase(known);
}

void Scheduler::OnPods(std::span<const Change> changes) {
  bool freed = false;
  for (const Change& change : changes) {
    const Pod& pod = As<Pod>(change);
    const std::string_view uid = pod.metadata.uid;
    const bool finished = api::IsPodFinished(pod);
    if (change.type == EventType::kDeleted || finished) {
      freed |= !pod.spec.node_name.empty() || bindings_.contains(std::string(uid));
      view_.DeletePod(uid);
      queue_.Remove(uid, loop_.Now());
      ForgetPod(uid);
      const auto binding = bindings_.find(std::string(uid));
      if (binding != bindings_.end() && binding->second->stage == Stage::kWaiting) {
        base::Result<void> gone = base::Error(base::Reason::kNotFound, "the pod was deleted");
        binding->second->outcome.result = gone;
        Finish(std::string(uid), gone);
      }
    } else if (!pod.spec.node_name.empty()) {
      view_.UpsertPod(pod);
      // A binding of ours is ended by its own outcome, which knows whether it is durable.
      if (!bindings_.contains(std::string(uid))) {
        queue_.Remove(uid, loop_.Now());
      }
      ForgetPod(uid);
    } else if (IsOurs(pod)) {
      OnPending(pod, change);
    }
  }
  if (freed) {
    queue_.Wake(kWaitsResources, loop_.Now());
  }
}

void Scheduler::OnPending(const Pod& pod, const Change& change) {
  IndexClaims(pod);
  QueuedPod* const known = queue_.Find(pod.metadata.uid);
  const bool is_new = known == nullptr;
  // The generation rises with the spec; labels and claims of a waiting pod change without it.
  bool spec_changed = false;
  if (known != nullptr && known->state == PodState::kUnschedulable) {
    const auto before = client::ViewOf<Pod>({known->object, nullptr});
    spec_changed = before && (*before)->metadata.generation != pod.metadata.generation;
  }
  const bool gated = IsGated(pod);
  QueuedPod& queued = queue_.Upsert(change.item.object,
                                    pod.spec.priority != nullptr ? *pod.spec.priority : 0,
                                    gated,
                                    loop_.Now());
  if (is_new) {
    metrics_.PodAdded(gated);
  } else if (spec_changed) {
    queue_.WakePod(queued, loop_.Now());
    metrics_.PodUpdated();
  }
}

void Scheduler::OnClaims(std::span<const Change> changes) {
  bool given_back = false;
  const base::MonoTime now = loop_.Now();
  for (const Change& change : changes) {
    const ClaimEffect effect = claims_.Apply(change);
    given_back |= effect.given_back;
    const std::string key =
        api::KeyOf(change.item.object->namespace_(), change.item.object->name());
    if (const auto waiting = waiting_by_claim_.find(key); waiting != waiting_by_claim_.end()) {
      const std::vector<std::string> uids(waiting->second.begin(), waiting->second.end());
      for (const std::string& uid : uids) {
        CheckWaiting(uid);
      }
    }
    const auto pods = pods_by_claim_.find(key);
    if (pods == pods_by_claim_.end()) {
      continue;
    }
    for (const std::string& uid : pods->second) {
      QueuedPod* const queued = queue_.Find(uid);
      if (queued == nullptr || queued->state == PodState::kInFlight) {
        continue;
      }
      if (const auto pod = client::ViewOf<Pod>({queued->object, nullptr})) {
        queue_.SetGated(*queued, IsGated(**pod), now);
      }
      if (effect.created || effect.changed) {
        queue_.WakePod(*queued, now);
      }
    }
  }
  if (given_back) {
    queue_.Wake(kWaitsDevices, now);
  }
}

}  // namespace allot::scheduler
