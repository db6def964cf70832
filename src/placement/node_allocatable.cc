#include "placement/node_allocatable.h"

#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "api/pod_claims.h"
#include "quantity/saturating.h"

namespace allot::placement {
namespace {

namespace res = api::resource;
using allocator::CauseKind;
using api::core::Container;
using api::core::NodeAllocatableMappedResources;
using api::core::NodeAllocatableOverheadResources;
using api::core::NodeAllocatableResourceClaimStatus;
using api::core::Pod;
using inventory::Device;
using inventory::DevicePlace;
using quantity::Int128;
using quantity::Quantity;
using quantity::SaturatingAdd;
using quantity::SaturatingMultiply;
using schema::List;
using schema::Str;

constexpr Int128 kNanosPerUnit = 1'000'000'000;
constexpr Int128 kMaxNanos = Int128{std::numeric_limits<std::int64_t>::max()} * kNanosPerUnit;

// Exact up to nanos, then rounded up, as quantities are; no more than a quantity can hold.
Quantity Times(const Quantity& amount, const Quantity& factor) {
  const Int128 whole = factor.nanos / kNanosPerUnit;
  const Int128 part = factor.nanos % kNanosPerUnit;
  // A part of a unit is less than one: neither of its terms is more than the amount.
  const Int128 rest = amount.nanos % kNanosPerUnit * part;
  const Int128 small = SaturatingAdd(amount.nanos / kNanosPerUnit * part,
                                     rest / kNanosPerUnit + (rest % kNanosPerUnit > 0 ? 1 : 0));
  const Int128 product = SaturatingAdd(SaturatingMultiply(amount.nanos, whole), small);
  return {std::min(product, kMaxNanos), amount.format};
}

// As upstream's Add: the sum is written as its first term that is not nothing.
void Accumulate(Quantity& sum, const Quantity& amount) {
  if (sum.nanos == 0) {
    sum.format = amount.format;
  }
  quantity::AddTo(sum, amount);
}

struct Overhead {
  bool has_pod = false;
  bool has_container = false;
  Quantity per_pod;
  Quantity per_container;
};

// What one claim takes, by resource.
struct ClaimDemand {
  std::map<Str, Quantity> mapped;
  std::map<Str, Overhead> overhead;
};

class Builder {
 public:
  Builder(const PodFacts& pod,
          std::span<const ClaimInput> inputs,
          const NodeInfo& node,
          const inventory::Inventory& inventory,
          base::Arena& arena)
      : pod_(*pod.pod), inputs_(inputs), node_(node), inventory_(inventory), arena_(arena) {}

  // Empty: all is well.
  std::string Add(const ClaimDevices& claim) {
    if (!TakesAnything(claim)) {
      return {};
    }
    ClaimDemand demand;
    for (const auto& result : claim.allocation->devices.results) {
      if (std::string error = AddDevice(*claim.claim, result, demand); !error.empty()) {
        return error;
      }
    }
    if (!demand.mapped.empty() || !demand.overhead.empty()) {
      statuses_.push_back(StatusOf(claim, demand));
    }
    return {};
  }

  ClaimStatuses Finish() {
    std::sort(statuses_.begin(), statuses_.end(), [](const auto& a, const auto& b) {
      return a.resource_claim_name < b.resource_claim_name;
    });
    return Kept(statuses_);
  }

 private:
  const Device* Find(const res::DeviceRequestAllocationResult& result, DevicePlace& place) const {
    return inventory_.FindDevice({result.driver, result.pool, result.device}, &node_.ref, place);
  }

  [[nodiscard]] bool TakesAnything(const ClaimDevices& claim) const {
    const auto& results = claim.allocation->devices.results;
    return std::any_of(results.begin(), results.end(), [&](const auto& result) {
      DevicePlace place{};
      const Device* const device = Find(result, place);
      return device != nullptr && !device->spec->node_allocatable_resources.empty();
    });
  }

  std::string AddDevice(const res::ResourceClaim& claim,
                        const res::DeviceRequestAllocationResult& result,
                        ClaimDemand& demand) const {
    DevicePlace place{};
    const Device* const device = Find(result, place);
    if (device == nullptr) {
      const std::string why = place == DevicePlace::kOtherNode
                                  ? fmt::format("device {} does not match node", result.device)
                                  : fmt::format("device {} not found in pool {} for driver {}",
                                                result.device,
                                                result.pool,
                                                result.driver);
      return fmt::format("claim {}/{}, device {}, driver {}: {}",
                         claim.metadata.namespace_,
                         claim.metadata.name,
                         result.device,
                         result.driver,
                         why);
    }
    for (const auto& [resource, takes] : device->spec->node_allocatable_resources) {
      if (takes.mapping != nullptr) {
        std::string error = AddMapping(claim, result, resource, *takes.mapping, demand);
        if (!error.empty()) {
          return error;
        }
      }
      if (takes.overhead != nullptr) {
        AddOverhead(resource, *takes.overhead, demand);
      }
    }
    return {};
  }

  static std::string AddMapping(const res::ResourceClaim& claim,
                                const res::DeviceRequestAllocationResult& result,
                                Str resource,
                                const res::NodeAllocatableMapping& mapping,
                                ClaimDemand& demand) {
    if (mapping.capacity_key != nullptr && !mapping.capacity_key->empty()) {
      if (result.consumed_capacity.items == nullptr) {
        return fmt::format(
            "claim {}/{}, device {}: ConsumedCapacity is nil, but Capacity key '{}' is set in "
            "NodeAllocatableResources for resource {}",
            claim.metadata.namespace_,
            claim.metadata.name,
            result.device,
            *mapping.capacity_key,
            resource);
      }
      if (const Quantity* const consumed = result.consumed_capacity.Find(*mapping.capacity_key)) {
        Accumulate(demand.mapped[resource],
                   mapping.capacity_multiplier != nullptr
                       ? Times(*consumed, *mapping.capacity_multiplier)
                       : *consumed);
      }
    } else if (mapping.device_multiplier != nullptr) {
      Accumulate(demand.mapped[resource], *mapping.device_multiplier);
    }
    return {};
  }

  static void AddOverhead(Str resource,
                          const res::NodeAllocatableOverhead& from,
                          ClaimDemand& demand) {
    if (from.per_pod == nullptr && from.per_container == nullptr) {
      return;
    }
    Overhead& sum = demand.overhead[resource];
    if (from.per_pod != nullptr) {
      sum.has_pod = true;
      Accumulate(sum.per_pod, *from.per_pod);
    }
    if (from.per_container != nullptr) {
      sum.has_container = true;
      Accumulate(sum.per_container, *from.per_container);
    }
  }

  NodeAllocatableResourceClaimStatus StatusOf(const ClaimDevices& claim,
                                              const ClaimDemand& demand) const {
    NodeAllocatableResourceClaimStatus status;
    status.resource_claim_name = arena_.Copy(claim.claim->metadata.name);
    if (claim.named_by_pod) {
      status.containers = ContainersOf(*claim.claim);
    }
    std::vector<NodeAllocatableMappedResources> mapping;
    for (const auto& [resource, amount] : demand.mapped) {
      mapping.push_back({arena_.Copy(resource), arena_.New<Quantity>(amount)});
    }
    status.mapping = Kept(mapping);
    std::vector<NodeAllocatableOverheadResources> overhead;
    for (const auto& [resource, amount] : demand.overhead) {
      overhead.push_back(
          {arena_.Copy(resource),
           amount.has_pod ? arena_.New<Quantity>(amount.per_pod) : nullptr,
           amount.has_container ? arena_.New<Quantity>(amount.per_container) : nullptr});
    }
    status.overhead = Kept(overhead);
    return status;
  }

  // Whether the pod's entry means the claim; an entry is made into a claim once.
  [[nodiscard]] bool EntryMeans(Str entry, const res::ResourceClaim& claim) const {
    for (const ClaimInput& input : inputs_) {
      if (input.entry == entry) {
        return input.claim == &claim;
      }
    }
    for (const auto& spec : pod_.spec.resource_claims) {
      if (spec.name == entry) {
        return api::ResolveClaim(pod_, spec).name == claim.metadata.name;
      }
    }
    return false;
  }

  // Those that refer to the claim, each once.
  [[nodiscard]] List<Str> ContainersOf(const res::ResourceClaim& claim) const {
    std::vector<Str> names;
    for (const auto* const list : {&pod_.spec.init_containers, &pod_.spec.containers}) {
      for (const Container& container : *list) {
        const auto& uses = container.resources.claims;
        if (std::any_of(uses.begin(), uses.end(), [&](const auto& use) {
              return EntryMeans(use.name, claim);
            })) {
          names.push_back(arena_.Copy(container.name));
        }
      }
    }
    return Kept(names);
  }

  template <typename T>
  [[nodiscard]] List<T> Kept(const std::vector<T>& from) const {
    if (from.empty()) {
      return {};
    }
    T* const items = arena_.NewArray<T>(from.size());
    std::copy(from.begin(), from.end(), items);
    return {items, static_cast<std::uint32_t>(from.size())};
  }

  const Pod& pod_;
  std::span<const ClaimInput> inputs_;
  const NodeInfo& node_;
  const inventory::Inventory& inventory_;
  base::Arena& arena_;
  std::vector<NodeAllocatableResourceClaimStatus> statuses_;
};

NodeStatus TooSmall(std::string reason) {
  return Rejection(CauseKind::kNodeResources, std::move(reason));
}

bool IsHugePages(Str resource) {
  return resource.starts_with("hugepages-");
}

// What a container's limit must leave room for: one share of each claim it refers to.
Quantity ShareOf(const ClaimStatuses& statuses, Str container, Str resource) {
  Quantity sum;
  for (const auto& status : statuses) {
    if (std::find(status.containers.begin(), status.containers.end(), container) ==
        status.containers.end()) {
      continue;
    }
    for (const auto& mapped : status.mapping) {
      if (mapped.name == resource) {
        Accumulate(sum, *mapped.quantity);
      }
    }
    for (const auto& overhead : status.overhead) {
      if (overhead.name == resource) {
        Accumulate(sum, overhead.per_pod != nullptr ? *overhead.per_pod : Quantity{});
        Accumulate(sum, overhead.per_container != nullptr ? *overhead.per_container : Quantity{});
      }
    }
  }
  return sum;
}

// A pod that states resources as a whole must have room in them for its containers and devices.
NodeStatus CheckPodLevel(const Pod& pod, const ClaimStatuses& statuses) {
  if (pod.spec.resources == nullptr) {
    return {};
  }
  if (!pod.spec.resources->requests.empty()) {
    const Resources sum = ContainerRequestsOf(pod, statuses);
    for (const auto& [resource, amount] : pod.spec.resources->requests) {
      if (IsPodLevelResource(resource) && sum.AmountOf(resource) > AmountIn(resource, amount)) {
        return TooSmall(
            fmt::format("pod level request for {} is insufficient to cover the "
                        "aggregated container and node-allocatable DRA requests",
                        resource));
      }
    }
  }
  const auto& limits = pod.spec.resources->limits;
  if (limits.empty()) {
    return {};
  }
  const Resources sum = ContainerLimitsOf(pod, statuses);
  for (const auto& [resource, limit] : limits) {
    if (IsHugePages(resource) && sum.AmountOf(resource) > AmountIn(resource, limit)) {
      return TooSmall(
          fmt::format("pod level limit for {} is insufficient to cover the aggregated "
                      "container and node-allocatable DRA limits",
                      resource));
    }
  }
  for (const Container& container : pod.spec.containers) {
    for (const auto& [resource, limit] : container.resources.limits) {
      const Quantity* const most = limits.Find(resource);
      if (IsHugePages(resource) || most == nullptr) {
        continue;
      }
      Quantity needed = limit;
      Accumulate(needed, ShareOf(statuses, container.name, resource));
      if (needed > *most) {
        return TooSmall(
            fmt::format("pod level limit for {} is insufficient to cover the limit and "
                        "DRA overhead for container {}",
                        resource,
                        container.name));
      }
    }
  }
  return {};
}

NodeStatus CheckFit(const Resources& wanted, const Resources& requested, const Resources& total) {
  NodeStatus status;
  status.kind = CauseKind::kNodeResources;
  status.resolvable = true;
  const auto check = [&](Str resource) {
    const Amount amount = wanted.AmountOf(resource);
    if (amount > 0 && amount > total.AmountOf(resource) - requested.AmountOf(resource)) {
      status.reasons.push_back(fmt::format("Insufficient {}", resource));
      status.resolvable = status.resolvable && amount <= total.AmountOf(resource);
    }
  };
  check("cpu");
  check("memory");
  check("ephemeral-storage");
  for (const auto& [resource, amount] : wanted.scalars) {
    if (IsHugePages(resource)) {
      check(resource);
    }
  }
  return status;
}

}  // namespace

bool HasMappedDevice(const res::AllocationResult& allocation,
                     const inventory::Inventory& inventory) {
  const auto& results = allocation.devices.results;
  return std::any_of(results.begin(), results.end(), [&](const auto& result) {
    DevicePlace place{};
    const Device* const device =
        inventory.FindDevice({result.driver, result.pool, result.device}, nullptr, place);
    if (device == nullptr) {
      return false;
    }
    const auto& takes = device->spec->node_allocatable_resources;
    return std::any_of(
        takes.begin(), takes.end(), [](const auto& one) { return one.value.mapping != nullptr; });
  });
}

bool IsReservedForPod(const Pod& pod, const res::ResourceClaim& claim) {
  const auto& users = claim.status.reserved_for;
  const auto* const group = pod.spec.scheduling_group;
  return std::any_of(users.begin(), users.end(), [&](const auto& user) {
    return user.uid == pod.metadata.uid ||
           (user.resource == "podgroups" && group != nullptr && group->pod_group_name != nullptr &&
            *group->pod_group_name == user.name);
  });
}

NodeStatus CheckMappedSharing(const Pod& pod,
                              const res::ResourceClaim& claim,
                              const res::AllocationResult& allocation,
                              const inventory::Inventory& inventory) {
  if (claim.status.reserved_for.empty() || IsReservedForPod(pod, claim) ||
      !HasMappedDevice(allocation, inventory)) {
    return {};
  }
  return Rejection(CauseKind::kClaimPinned,
                   fmt::format("node allocatable resource claim {} has a mapped device and cannot "
                               "be shared across pods",
                               claim.metadata.name));
}

DeviceDemand CheckDeviceDemand(const PodFacts& pod,
                               const std::vector<ClaimDevices>& claims,
                               std::span<const ClaimInput> inputs,
                               const NodeInfo& node,
                               const Resources& requested,
                               const inventory::Inventory& inventory,
                               base::Arena& arena) {
  DeviceDemand demand;
  Builder builder(pod, inputs, node, inventory, arena);
  for (const ClaimDevices& claim : claims) {
    demand.error = builder.Add(claim);
    if (!demand.error.empty()) {
      return demand;
    }
  }
  demand.statuses = builder.Finish();
  if (demand.statuses.empty()) {
    return demand;
  }
  demand.status = CheckPodLevel(*pod.pod, demand.statuses);
  if (demand.status.ok()) {
    demand.status = CheckFit(RequestsOf(*pod.pod, demand.statuses), requested, node.allocatable);
  }
  return demand;
}

}  // namespace allot::placement
