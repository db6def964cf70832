#include "analysis/simulate.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "api/object_key.h"
#include "api/pod_claims.h"
#include "inventory/gates.h"

namespace allot::analysis {
namespace {

namespace res = api::resource;
using allocator::Cause;
using allocator::CauseKind;
using api::core::Pod;

class Simulator {
 public:
  Simulator(const snapshot::Cluster& cluster, const SimulateOptions& options)
      : cluster_(cluster),
        options_(options),
        view_(inventory::FeaturesOf(options.gates)),
        placer_(view_, {.evaluations = {.cost = kCostUntold, .more = [this] {
                                          return Tell();
                                        }}}) {}

  Simulation Run() {
    Load();
    for (const Pod* const pod : Pending()) {
      out_.pods.push_back(Schedule(*pod));
    }
    out_.nodes = view_.nodes().size();
    for (const auto& slice : view_.inventory().Slices()) {
      out_.devices += slice->devices.size();
      out_.devices_in_use += static_cast<std::size_t>(
          std::count_if(slice->devices.begin(), slice->devices.end(), [&](const auto& device) {
            return view_.allocated().IsHeld(device.id);
          }));
    }
    return std::move(out_);
  }

 private:
  // CEL cost between two words about the progress: a few seconds.
  static constexpr std::uint64_t kCostUntold = 50'000'000;

  bool Tell() {
    if (options_.progress) {
      options_.progress(at_, placer_.work().cost);
    }
    return true;
  }

  using Key = std::pair<std::string, std::string>;
  struct ClaimState {
    const res::ResourceClaim* claim = nullptr;
    const res::AllocationResult* allocation = nullptr;
  };

  static Key KeyOf(const api::meta::ObjectMeta& metadata) {
    return {metadata.namespace_.empty() ? "default" : std::string(metadata.namespace_),
            std::string(metadata.name)};
  }

  void Load() {
    for (const auto* const node : cluster_.nodes) {
      view_.UpsertNode(*node);
    }
    for (const auto* const device_class : cluster_.classes) {
      view_.inventory().UpsertClass(*device_class);
    }
    for (const auto* const slice : cluster_.slices) {
      view_.inventory().UpsertSlice(*slice);
    }
    for (const auto* const rule : cluster_.rules) {
      view_.inventory().UpsertTaintRule(*rule);
    }
    for (const auto* const from : cluster_.templates) {
      templates_[KeyOf(from->metadata)] = from;
    }
    for (const auto* const claim : cluster_.claims) {
      claims_[KeyOf(claim->metadata)] = {claim, claim->status.allocation};
      if (claim->status.allocation != nullptr) {
        Take(*claim, *claim->status.allocation);
      }
    }
    for (const Pod* const pod : cluster_.pods) {
      Count(*pod, pod->spec.node_name, pod->status.node_allocatable_resource_claim_statuses);
    }
  }

  // Dumps have uids; manifests may lack them, and two pods without one are still two pods.
  void Count(const Pod& pod, schema::Str node, const placement::ClaimStatuses& taken) {
    Pod counted = pod;
    counted.status.node_allocatable_resource_claim_statuses = taken;
    const auto [ns, name] = KeyOf(pod.metadata);
    const std::string uid =
        pod.metadata.uid.empty() ? api::KeyOf(ns, name) : std::string(pod.metadata.uid);
    counted.metadata.uid = uid;
    view_.UpsertPod(counted, node);
  }

  void Take(const res::ResourceClaim& claim, const res::AllocationResult& allocation) {
    held_.push_back(view_.allocated().Commit(view_.inventory().UseOf(claim, allocation)));
  }

  [[nodiscard]] std::vector<const Pod*> Pending() const {
    std::vector<std::pair<std::size_t, const Pod*>> pending;
    for (std::size_t i = 0; i < cluster_.pods.size(); ++i) {
      const Pod& pod = *cluster_.pods[i];
      if (pod.spec.node_name.empty() && pod.metadata.deletion_timestamp == nullptr &&
          !api::IsPodFinished(pod)) {
        pending.emplace_back(i, &pod);
      }
    }
    const auto rank = [](const std::pair<std::size_t, const Pod*>& entry) {
      const Pod& pod = *entry.second;
      const std::int64_t priority = pod.spec.priority != nullptr ? *pod.spec.priority : 0;
      return std::tuple(-priority, pod.metadata.creation_timestamp.seconds, entry.first);
    };
    std::sort(pending.begin(), pending.end(), [&](const auto& a, const auto& b) {
      return rank(a) < rank(b);
    });
    std::vector<const Pod*> out;
    for (const auto& [index, pod] : pending) {
      out.push_back(pod);
    }
    return out;
  }

  // The claim an entry means; made from its template when there is none yet.
  ClaimState* Resolve(const Pod& pod, const api::core::PodResourceClaim& entry, Cause& cause) {
    const auto [ns, pod_name] = KeyOf(pod.metadata);
    const api::ClaimRef ref = api::ResolveClaim(pod, entry);
    std::string name(ref.name);
    if (ref.state == api::ClaimRefState::kUnset) {
      cause = {CauseKind::kClaimMissing,
               fmt::format("pod {}/{}, claim entry {}", ns, pod_name, entry.name),
               1,
               fmt::format("pod \"{}/{}\", spec.resourceClaim \"{}\": none of the supported fields "
                           "are set",
                           ns,
                           pod_name,
                           entry.name),
               "name a claim or a template"};
      return nullptr;
    }
    if (ref.state == api::ClaimRefState::kNotCreated) {
      name = fmt::format("{}-{}", pod_name, entry.name);
    }
    const auto found = claims_.find({ns, name});
    // A claim yet to be made gets a name of its own when the one we would give is on its way out.
    const bool made_anew = ref.state == api::ClaimRefState::kNotCreated && found != claims_.end() &&
                           found->second.claim->metadata.deletion_timestamp != nullptr;
    if (found != claims_.end() && !made_anew) {
      return IsUsable(pod, ref, *found->second.claim, cause) ? &found->second : nullptr;
    }
    if (ref.state == api::ClaimRefState::kNotCreated || ref.generated) {
      return FromTemplate(pod, entry, ns, name, cause);
    }
    cause = {CauseKind::kClaimMissing,
             fmt::format("claim {}/{}", ns, name),
             1,
             fmt::format("could not find ResourceClaim \"{}/{}\"", ns, name),
             "create the claim, or correct resourceClaimName"};
    return nullptr;
  }

  // The scheduler holds pods of such claims back without a try.
  static bool IsUsable(const Pod& pod,
                       const api::ClaimRef& ref,
                       const res::ResourceClaim& claim,
                       Cause& cause) {
    const auto [ns, name] = KeyOf(claim.metadata);
    cause = {CauseKind::kClaimMissing, fmt::format("claim {}/{}", ns, name), 1, {}, {}};
    if (claim.metadata.deletion_timestamp != nullptr) {
      cause.example = fmt::format("resourceclaim \"{}\" is being deleted", name);
      cause.hint = ref.generated ? "delete the pod: a new one gets a new claim"
                                 : "once it is gone, create the claim again, or name another";
      return false;
    }
    // Manifests have no uids to tell owners by.
    const bool told = ref.generated && ref.state == api::ClaimRefState::kNamed &&
                      !pod.metadata.uid.empty() && !claim.metadata.uid.empty();
    const api::meta::OwnerReference* const owner = api::ControllerOf(claim.metadata);
    if (told && (owner == nullptr || owner->uid != pod.metadata.uid)) {
      cause.example =
          fmt::format("ResourceClaim {}/{} was not created for Pod {}/{} (Pod is not owner)",
                      ns,
                      name,
                      ns,
                      pod.metadata.name);
      cause.hint = "delete the claim of the same name";
      return false;
    }
    return true;
  }

  ClaimState* FromTemplate(const Pod& pod,
                           const api::core::PodResourceClaim& entry,
                           const std::string& ns,
                           const std::string& name,
                           Cause& cause) {
    const schema::Str wanted = entry.resource_claim_template_name != nullptr
                                   ? *entry.resource_claim_template_name
                                   : schema::Str();
    if (const auto from = templates_.find({ns, std::string(wanted)}); from != templates_.end()) {
      auto arena = std::make_shared<base::Arena>();
      auto* const claim = arena->New<res::ResourceClaim>();
      claim->metadata.name = arena->Copy(name);
      claim->metadata.namespace_ = arena->Copy(ns);
      claim->metadata.uid = arena->Copy(api::KeyOf(ns, name));
      claim->spec = from->second->spec.spec;
      out_.arenas.push_back(std::move(arena));
      return &(claims_[{ns, name}] = {claim, nullptr});
    }
    cause = {CauseKind::kTemplateMissing,
             fmt::format("template {}/{}", ns, wanted),
             1,
             fmt::format("pod \"{}/{}\": ResourceClaim not created yet", ns, pod.metadata.name),
             "create the ResourceClaimTemplate, or correct resourceClaimTemplateName"};
    return nullptr;
  }

  // The claims of the pod's entries; false with the cause when one cannot be had.
  bool ResolveAll(const Pod& pod,
                  std::vector<ClaimState*>& states,
                  std::vector<placement::ClaimInput>& inputs,
                  Cause& cause) {
    for (const auto& entry : pod.spec.resource_claims) {
      if (api::ResolveClaim(pod, entry).state == api::ClaimRefState::kNotNeeded) {
        continue;
      }
      ClaimState* const state = Resolve(pod, entry, cause);
      if (state == nullptr) {
        return false;
      }
      states.push_back(state);
      placement::ClaimInput input;
      input.claim = state->claim;
      input.allocation = state->allocation;
      input.entry = entry.name;
      inputs.push_back(input);
    }
    return true;
  }

  SimulatedPod Schedule(const Pod& pod) {
    SimulatedPod out;
    std::tie(out.namespace_, out.name) = KeyOf(pod.metadata);
    at_ = fmt::format("{}/{}", out.namespace_, out.name);
    if (!pod.spec.scheduling_gates.empty()) {
      out.diagnosis.message = "Scheduling is blocked due to non-empty scheduling gates";
      return out;
    }
    std::vector<ClaimState*> states;
    std::vector<placement::ClaimInput> inputs;
    if (Cause cause; !ResolveAll(pod, states, inputs, cause)) {
      out.diagnosis.message = cause.example;
      out.diagnosis.causes.push_back(std::move(cause));
      return out;
    }
    placement::PlaceOptions options;
    options.profile = options_.profile;
    options.only_node = options_.only_node;
    const auto share_ids = [&](std::size_t) {
      return fmt::format("share-{}", ++shares_);
    };
    placement::Decision decision = placer_.Place(pod, inputs, share_ids, options);
    if (decision.placed != placement::Placed::kPlaced) {
      out.diagnosis = placer_.Explain(pod, inputs, options);
      if (decision.placed == placement::Placed::kError) {
        out.diagnosis.message = decision.error;
      }
      return out;
    }
    out.placed = true;
    out.node = decision.node;
    Assume(pod, states, decision);
    for (std::size_t i = 0; i < states.size(); ++i) {
      out.claims.push_back({std::string(states[i]->claim->metadata.name), states[i]->allocation});
    }
    const std::string extended = out.name + "-extended-resources";
    if (decision.extended_claim != nullptr) {
      res::ResourceClaim named = *decision.extended_claim;
      named.metadata.name = extended;
      named.metadata.namespace_ = out.namespace_;
      Take(named, decision.results.back());
      out.claims.push_back({extended, Keep(decision.results.back())});
    }
    out.status = StatusOf(pod, inputs, extended, decision);
    return out;
  }

  // As the scheduler and the claim controller would write it.
  const api::core::PodStatus* StatusOf(const Pod& pod,
                                       const std::vector<placement::ClaimInput>& inputs,
                                       const std::string& extended,
                                       const placement::Decision& decision) {
    base::Arena& arena = *decision.arena;
    auto* const status = arena.New<api::core::PodStatus>();
    auto* const made = arena.NewArray<api::core::PodResourceClaimStatus>(inputs.size());
    std::uint32_t count = 0;
    for (const auto& entry : pod.spec.resource_claims) {
      const auto input = std::find_if(
          inputs.begin(), inputs.end(), [&](const auto& one) { return one.entry == entry.name; });
      if (entry.resource_claim_template_name != nullptr && input != inputs.end()) {
        made[count++] = {entry.name, arena.New<schema::Str>(input->claim->metadata.name)};
      }
    }
    status->resource_claim_statuses = {made, count};
    const placement::ClaimStatuses& taken = decision.node_allocatable;
    auto* const amounts =
        arena.NewArray<api::core::NodeAllocatableResourceClaimStatus>(taken.size());
    for (std::size_t i = 0; i < taken.size(); ++i) {
      amounts[i] = taken[i];
      if (decision.extended_claim != nullptr &&
          amounts[i].resource_claim_name == decision.extended_claim->metadata.name) {
        amounts[i].resource_claim_name = arena.Copy(extended);
      }
    }
    status->node_allocatable_resource_claim_statuses = {amounts, taken.count};
    if (decision.extended_claim != nullptr) {
      auto* const own = arena.New<api::core::PodExtendedResourceClaimStatus>();
      own->request_mappings = decision.extended_mappings;
      own->resource_claim_name = arena.Copy(extended);
      status->extended_resource_claim_status = own;
    }
    return status;
  }

  const res::AllocationResult* Keep(const res::AllocationResult& result) {
    return out_.arenas.back()->New<res::AllocationResult>(result);
  }

  void Assume(const Pod& pod,
              const std::vector<ClaimState*>& states,
              const placement::Decision& decision) {
    out_.arenas.push_back(decision.arena);
    std::size_t next = 0;
    for (ClaimState* const state : states) {
      if (state->allocation == nullptr) {
        state->allocation = Keep(decision.results[next++]);
        Take(*state->claim, *state->allocation);
      }
    }
    Count(pod, decision.node, decision.node_allocatable);
  }

  const snapshot::Cluster& cluster_;
  const SimulateOptions& options_;
  placement::ClusterView view_;
  placement::Placer placer_;
  std::map<Key, ClaimState> claims_;
  std::map<Key, const res::ResourceClaimTemplate*> templates_;
  std::vector<inventory::AllocatedState::Handle> held_;
  std::size_t shares_ = 0;
  std::string at_;  // the pod being scheduled
  Simulation out_;
};

}  // namespace

Simulation Simulate(const snapshot::Cluster& cluster, const SimulateOptions& options) {
  return Simulator(cluster, options).Run();
}

}  // namespace allot::analysis
