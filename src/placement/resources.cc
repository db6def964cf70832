#include "placement/resources.h"

#include <algorithm>

#include "quantity/saturating.h"

namespace allot::placement {
namespace {

using api::core::Container;
using api::core::Pod;
using quantity::Quantity;
using schema::Map;
using schema::Str;

// What the scheduler assumes of a container that asks for nothing, when it scores nodes.
constexpr std::int64_t kDefaultMilliCpu = 100;
constexpr std::int64_t kDefaultMemory = std::int64_t{200} * 1024 * 1024;

bool IsScalar(Str name) {
  return name.find('/') != Str::npos || name.starts_with("hugepages-") ||
         name.starts_with("attachable-volumes-");
}

void Set(Resources& to, Str name, const Quantity& amount) {
  if (name == "cpu") {
    to.milli_cpu = amount.MilliValue();
  } else if (name == "memory") {
    to.memory = amount.Value();
  } else if (name == "ephemeral-storage") {
    to.ephemeral_storage = amount.Value();
  } else if (IsScalar(name)) {
    to.AddScalar(name, amount.Value() - to.Scalar(name));
  }
}

void Add(Resources& to, Str name, const Quantity& amount) {
  Resources one;
  Set(one, name, amount);
  to.Add(one);
}

void Max(Resources& to, const Resources& other) {
  to.milli_cpu = std::max(to.milli_cpu, other.milli_cpu);
  to.memory = std::max(to.memory, other.memory);
  to.ephemeral_storage = std::max(to.ephemeral_storage, other.ephemeral_storage);
  for (const auto& [name, amount] : other.scalars) {
    const Amount mine = to.Scalar(name);
    if (amount > mine) {
      to.AddScalar(name, amount - mine);
    }
  }
}

bool IsSidecar(const Container& container) {
  return container.restart_policy != nullptr && *container.restart_policy == "Always";
}

// Which amounts of a container are meant.
enum class Of : std::uint8_t { kRequests, kAllocated, kActuated, kLimits };

// Least amounts for containers that state none; 0: none.
struct Least {
  std::int64_t milli_cpu = 0;
  std::int64_t memory = 0;
};

const api::core::ContainerStatus* StatusOf(const Pod& pod, Str container) {
  for (const auto* const list :
       {&pod.status.container_statuses, &pod.status.init_container_statuses}) {
    for (const auto& status : *list) {
      if (status.name == container) {
        return &status;
      }
    }
  }
  return nullptr;
}

bool IsResized(const Pod& pod) {
  const auto told = [](const auto& status) {
    return status.allocated_resources.items != nullptr || status.resources != nullptr;
  };
  return std::any_of(
             pod.status.container_statuses.begin(), pod.status.container_statuses.end(), told) ||
         std::any_of(pod.status.init_container_statuses.begin(),
                     pod.status.init_container_statuses.end(),
                     told);
}

// The node will never grant what the spec says.
bool IsResizeInfeasible(const Pod& pod) {
  for (const auto& condition : pod.status.conditions) {
    if (condition.type == "PodResizePending") {
      return condition.reason == "Infeasible";
    }
  }
  return false;
}

Map<Quantity> AmountsOf(const Pod& pod, const Container& container, Of of) {
  if (of == Of::kLimits) {
    return container.resources.limits;
  }
  if (of != Of::kRequests) {
    const auto* const status = StatusOf(pod, container.name);
    if (status != nullptr && of == Of::kActuated && status->resources != nullptr &&
        status->resources->requests.items != nullptr) {
      return status->resources->requests;
    }
    if (status != nullptr && status->allocated_resources.items != nullptr) {
      return status->allocated_resources;
    }
    if (IsResizeInfeasible(pod)) {
      return {};
    }
  }
  return container.resources.requests;
}

Resources OfContainer(const Pod& pod, const Container& container, Of of, const Least& least) {
  const Map<Quantity> amounts = AmountsOf(pod, container, of);
  Resources out = ResourcesOf(amounts);
  if (least.milli_cpu != 0 && amounts.Find("cpu") == nullptr) {
    out.milli_cpu = least.milli_cpu;
  }
  if (least.memory != 0 && amounts.Find("memory") == nullptr) {
    out.memory = least.memory;
  }
  return out;
}

Resources SumOf(const Pod& pod, Of of, const Least& least) {
  Resources sum;
  for (const Container& container : pod.spec.containers) {
    sum.Add(OfContainer(pod, container, of, least));
  }
  // Sidecars run beside everything that starts after them; init containers run one at a time.
  Resources sidecars;
  Resources largest_init;
  for (const Container& container : pod.spec.init_containers) {
    Resources needed = OfContainer(pod, container, of, least);
    if (IsSidecar(container)) {
      sum.Add(needed);
      sidecars.Add(needed);
      needed = sidecars;
    } else {
      needed.Add(sidecars);
    }
    Max(largest_init, needed);
  }
  Max(sum, largest_init);
  return sum;
}

// One amount a resource and claim, however many containers share the claim.
Resources TakenBy(const ClaimStatuses& claims) {
  Resources sum;
  for (const auto& claim : claims) {
    for (const auto& mapped : claim.mapping) {
      if (mapped.quantity != nullptr) {
        Add(sum, mapped.name, *mapped.quantity);
      }
    }
    for (const auto& overhead : claim.overhead) {
      Quantity amount;
      if (overhead.per_pod != nullptr) {
        amount = *overhead.per_pod;
      }
      if (overhead.per_container != nullptr) {
        const quantity::Int128 all =
            quantity::SaturatingMultiply(overhead.per_container->nanos, claim.containers.count);
        quantity::AddTo(amount, {all, amount.format});
      }
      Add(sum, overhead.name, amount);
    }
  }
  return sum;
}

Resources ContainersAndClaims(const Pod& pod, const ClaimStatuses& claims, const Least& least) {
  Resources sum = SumOf(pod, Of::kRequests, least);
  const bool has_claims = !claims.empty();
  const Resources taken = has_claims ? TakenBy(claims) : Resources{};
  if (has_claims) {
    sum.Add(taken);
  }
  if (IsResized(pod)) {
    Resources allocated = SumOf(pod, Of::kAllocated, least);
    allocated.Add(taken);
    if (IsResizeInfeasible(pod)) {
      sum = allocated;
    }
    Max(sum, allocated);
    Max(sum, SumOf(pod, Of::kActuated, least));
  }
  return sum;
}

Resources Total(const Pod& pod, const ClaimStatuses& claims, const Least& least) {
  Resources sum = ContainersAndClaims(pod, claims, least);
  if (pod.spec.resources != nullptr) {
    for (const auto& request : pod.spec.resources->requests) {
      if (IsPodLevelResource(request.key)) {
        Set(sum, request.key, request.value);
      }
    }
  }
  if (!pod.spec.overhead.empty()) {
    sum.Add(ResourcesOf(pod.spec.overhead));
  }
  return sum;
}

}  // namespace

Amount Resources::Scalar(std::string_view name) const {
  const auto at =
      std::lower_bound(scalars.begin(), scalars.end(), name, [](const auto& a, std::string_view b) {
        return a.first < b;
      });
  return at != scalars.end() && at->first == name ? at->second : 0;
}

Amount Resources::AmountOf(std::string_view name) const {
  return name == "cpu"                 ? milli_cpu
         : name == "memory"            ? memory
         : name == "ephemeral-storage" ? ephemeral_storage
                                       : Scalar(name);
}

void Resources::AddScalar(std::string_view name, Amount amount) {
  const auto at =
      std::lower_bound(scalars.begin(), scalars.end(), name, [](const auto& a, std::string_view b) {
        return a.first < b;
      });
  if (at != scalars.end() && at->first == name) {
    at->second += amount;
  } else {
    scalars.insert(at, {std::string(name), amount});
  }
}

void Resources::Add(const Resources& other) {
  milli_cpu += other.milli_cpu;
  memory += other.memory;
  ephemeral_storage += other.ephemeral_storage;
  for (const auto& [name, amount] : other.scalars) {
    AddScalar(name, amount);
  }
}

void Resources::Subtract(const Resources& other) {
  milli_cpu -= other.milli_cpu;
  memory -= other.memory;
  ephemeral_storage -= other.ephemeral_storage;
  for (const auto& [name, amount] : other.scalars) {
    AddScalar(name, -amount);
  }
}

Resources ResourcesOf(const Map<Quantity>& list) {
  Resources out;
  for (const auto& entry : list) {
    Set(out, entry.key, entry.value);
  }
  return out;
}

std::int64_t AmountIn(std::string_view resource, const Quantity& amount) {
  return resource == "cpu" ? amount.MilliValue() : amount.Value();
}

bool IsPodLevelResource(std::string_view name) {
  return name == "cpu" || name == "memory" || name.starts_with("hugepages-");
}

Resources RequestsOf(const Pod& pod, const ClaimStatuses& claims) {
  return Total(pod, claims, {});
}

Resources NonZeroRequestsOf(const Pod& pod, const ClaimStatuses& claims) {
  Least least{kDefaultMilliCpu, kDefaultMemory};
  const auto* const whole = pod.spec.resources;
  if (whole != nullptr && std::any_of(whole->requests.begin(), whole->requests.end(), [](auto& r) {
        return IsPodLevelResource(r.key);
      })) {
    // A pod that speaks for all its containers is believed, unless it leaves the resource open.
    const Resources stated = Total(pod, claims, {});
    least.milli_cpu = stated.milli_cpu == 0 ? least.milli_cpu : 0;
    least.memory = stated.memory == 0 ? least.memory : 0;
  }
  return Total(pod, claims, least);
}

Resources ContainerRequestsOf(const Pod& pod, const ClaimStatuses& claims) {
  Resources sum = SumOf(pod, Of::kRequests, {});
  sum.Add(TakenBy(claims));
  return sum;
}

Resources ContainerLimitsOf(const Pod& pod, const ClaimStatuses& claims) {
  Resources sum = SumOf(pod, Of::kLimits, {});
  for (const auto& [name, amount] : TakenBy(claims).scalars) {
    sum.AddScalar(name, amount);
  }
  return sum;
}

}  // namespace allot::placement
