#include "placement/shape.h"

#include <algorithm>
#include <string_view>

#include "placement/hasher.h"
#include "placement/node_allocatable.h"

namespace allot::placement {
namespace {

namespace res = api::resource;
using schema::Str;

template <typename Request>
void AddRequest(Hasher& hash, const Request& request) {
  hash.Add(request.device_class_name);
  hash.Add(std::uint64_t{request.selectors.size()});
  for (const auto& selector : request.selectors) {
    hash.Add(selector.cel != nullptr ? selector.cel->expression : Str());
  }
  hash.Add(request.allocation_mode);
  hash.Add(request.count);
  hash.Add(std::uint64_t{request.tolerations.size()});
  for (const auto& toleration : request.tolerations) {
    hash.Add(toleration.key);
    hash.Add(toleration.operator_);
    hash.Add(toleration.value);
    hash.Add(toleration.effect);
  }
  hash.Add(request.capacity != nullptr);
  if (request.capacity != nullptr) {
    for (const auto& amount : request.capacity->requests) {
      hash.Add(amount.key);
      hash.Add(amount.value);
    }
  }
  hash.Add(std::uint64_t{request.derived_attributes.size()});
  for (const auto& derived : request.derived_attributes) {
    hash.Add(derived.name);
    hash.Add(derived.expression);
  }
}

void AddClaim(Hasher& hash, const res::ResourceClaim& claim) {
  const res::DeviceClaim& devices = claim.spec.devices;
  hash.Add(std::uint64_t{devices.requests.size()});
  for (const res::DeviceRequest& request : devices.requests) {
    hash.Add(request.name);
    hash.Add(request.exactly != nullptr);
    if (request.exactly != nullptr) {
      AddRequest(hash, *request.exactly);
      hash.Add(request.exactly->admin_access != nullptr);
      hash.Add(request.exactly->admin_access != nullptr && *request.exactly->admin_access);
    }
    hash.Add(std::uint64_t{request.first_available.size()});
    for (const res::DeviceSubRequest& sub : request.first_available) {
      hash.Add(sub.name);
      AddRequest(hash, sub);
    }
  }
  hash.Add(std::uint64_t{devices.constraints.size()});
  for (const res::DeviceConstraint& constraint : devices.constraints) {
    hash.Add(constraint.requests);
    hash.Add(constraint.match_attribute != nullptr);
    hash.Add(constraint.match_attribute != nullptr ? *constraint.match_attribute : Str());
    hash.Add(constraint.distinct_attribute != nullptr ? *constraint.distinct_attribute : Str());
  }
}

void AddTerms(Hasher& hash, const schema::List<api::core::NodeSelectorTerm>& terms) {
  hash.Add(std::uint64_t{terms.size()});
  for (const auto& term : terms) {
    hash.Add(term.match_expressions);
    hash.Add(term.match_fields);
  }
}

// What of an allocated claim says where it can be used.
void AddAllocated(Hasher& hash,
                  const api::core::Pod& pod,
                  const ClaimInput& input,
                  const inventory::Features& features) {
  const res::AllocationResult& allocation = *input.allocation;
  hash.Add(input.conditions_failed);
  hash.Add(allocation.node_selector != nullptr);
  if (allocation.node_selector != nullptr) {
    AddTerms(hash, allocation.node_selector->node_selector_terms);
  }
  hash.Add(std::any_of(allocation.devices.results.begin(),
                       allocation.devices.results.end(),
                       [](const auto& one) { return !one.skip_node_operations.empty(); }));
  if (features.node_allocatable_resources) {
    // Its devices take of the node, and only its users may use it.
    hash.Add(input.claim->metadata.uid);
    hash.Add(input.claim->status.reserved_for.empty());
    hash.Add(IsReservedForPod(pod, *input.claim));
  }
}

// What decides how much node resources the pod's devices take, and whether it has room for them.
void AddContainers(Hasher& hash, const PodFacts& facts) {
  const api::core::PodSpec& spec = facts.pod->spec;
  for (const auto* const list : {&spec.init_containers, &spec.containers}) {
    hash.Add(std::uint64_t{list->size()});
    for (const api::core::Container& container : *list) {
      hash.Add(std::uint64_t{container.resources.claims.size()});
      for (const auto& claim : container.resources.claims) {
        hash.Add(claim.name);
      }
      hash.Add(container.resources.requests);
      hash.Add(container.resources.limits);
      hash.Add(container.restart_policy != nullptr);
    }
  }
  hash.Add(spec.resources != nullptr);
  if (spec.resources != nullptr) {
    hash.Add(spec.resources->requests);
    hash.Add(spec.resources->limits);
  }
  for (const auto& entry : spec.resource_claims) {
    hash.Add(entry.name);
  }
}

}  // namespace

ShapeKey ClaimsKeyOf(const api::core::Pod& pod,
                     std::span<const ClaimInput> claims,
                     const inventory::Features& features) {
  Hasher hash;
  hash.Add(std::uint64_t{claims.size()});
  for (const ClaimInput& input : claims) {
    hash.Add(input.allocation != nullptr);
    if (input.allocation != nullptr) {
      AddAllocated(hash, pod, input, features);
    } else {
      AddClaim(hash, *input.claim);
    }
  }
  return hash.key();
}

ShapeKey ShapeOf(const PodFacts& facts,
                 const ShapeKey& claims,
                 Profile profile,
                 const inventory::Features& features) {
  Hasher hash;
  hash.Add(claims.a);
  hash.Add(claims.b);
  hash.Add(static_cast<std::uint64_t>(profile));
  const api::core::PodSpec& spec = facts.pod->spec;
  hash.Add(facts.requests);
  hash.Add(facts.nonzero);
  hash.Add(spec.node_name);
  for (const auto& label : spec.node_selector) {
    hash.Add(label.key);
    hash.Add(label.value);
  }
  hash.Add(std::uint64_t{spec.tolerations.size()});
  for (const auto& toleration : spec.tolerations) {
    hash.Add(toleration.key);
    hash.Add(toleration.operator_);
    hash.Add(toleration.value);
    hash.Add(toleration.effect);
  }
  if (spec.affinity != nullptr && spec.affinity->node_affinity != nullptr) {
    const auto* const required =
        spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution;
    hash.Add(required != nullptr);
    if (required != nullptr) {
      AddTerms(hash, required->node_selector_terms);
    }
    for (const auto& term :
         spec.affinity->node_affinity->preferred_during_scheduling_ignored_during_execution) {
      hash.Add(std::int64_t{term.weight});
      AddTerms(hash, {&term.preference, 1});
    }
  }
  for (const std::string& port : facts.host_ports) {
    hash.Add(std::string_view(port));
  }
  // How the resources are spread over containers decides the requests of an extended-resource
  // claim.
  if (!facts.requests.scalars.empty() || features.node_allocatable_resources) {
    AddContainers(hash, facts);
  }
  return hash.key();
}

bool DevicesScore(std::span<const ClaimInput> claims) {
  return std::any_of(claims.begin(), claims.end(), [](const ClaimInput& input) {
    const auto& requests = input.claim->spec.devices.requests;
    return input.allocation == nullptr &&
           std::any_of(requests.begin(), requests.end(), [](const auto& request) {
             return !request.first_available.empty();
           });
  });
}

bool ScoresStandAlone(const PodFacts& pod, std::span<const ClaimInput> claims) {
  const auto* const affinity = pod.pod->spec.affinity;
  const bool prefers =
      affinity != nullptr && affinity->node_affinity != nullptr &&
      !affinity->node_affinity->preferred_during_scheduling_ignored_during_execution.empty();
  return !prefers && !DevicesScore(claims);
}

}  // namespace allot::placement
