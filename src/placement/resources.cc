#include "placement/resources.h"

#include <algorithm>

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

bool IsPodLevel(Str name) {
  return name == "cpu" || name == "memory" || name.starts_with("hugepages-");
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

void Max(Resources& to, const Resources& other) {
  to.milli_cpu = std::max(to.milli_cpu, other.milli_cpu);
  to.memory = std::max(to.memory, other.memory);
  to.ephemeral_storage = std::max(to.ephemeral_storage, other.ephemeral_storage);
  for (const auto& [name, amount] : other.scalars) {
    const std::int64_t mine = to.Scalar(name);
    if (amount > mine) {
      to.AddScalar(name, amount - mine);
    }
  }
}

bool IsSidecar(const Container& container) {
  return container.restart_policy != nullptr && *container.restart_policy == "Always";
}

enum class Defaults : std::uint8_t { kNone, kNonZero };

Resources OfContainer(const Container& container, Defaults defaults) {
  Resources out = ResourcesOf(container.resources.requests);
  if (defaults == Defaults::kNonZero) {
    if (container.resources.requests.Find("cpu") == nullptr) {
      out.milli_cpu = kDefaultMilliCpu;
    }
    if (container.resources.requests.Find("memory") == nullptr) {
      out.memory = kDefaultMemory;
    }
  }
  return out;
}

Resources Total(const Pod& pod, Defaults defaults) {
  Resources sum;
  for (const Container& container : pod.spec.containers) {
    sum.Add(OfContainer(container, defaults));
  }
  // Sidecars run beside everything that starts after them; init containers run one at a time.
  Resources sidecars;
  Resources largest_init;
  for (const Container& container : pod.spec.init_containers) {
    Resources needed = OfContainer(container, defaults);
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
  if (pod.spec.resources != nullptr) {
    for (const auto& request : pod.spec.resources->requests) {
      if (IsPodLevel(request.key)) {
        Set(sum, request.key, request.value);
      }
    }
  }
  sum.Add(ResourcesOf(pod.spec.overhead));
  return sum;
}

}  // namespace

std::int64_t Resources::Scalar(std::string_view name) const {
  const auto at =
      std::lower_bound(scalars.begin(), scalars.end(), name, [](const auto& a, std::string_view b) {
        return a.first < b;
      });
  return at != scalars.end() && at->first == name ? at->second : 0;
}

void Resources::AddScalar(std::string_view name, std::int64_t amount) {
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

Resources RequestsOf(const Pod& pod) {
  return Total(pod, Defaults::kNone);
}

Resources NonZeroRequestsOf(const Pod& pod) {
  return Total(pod, Defaults::kNonZero);
}

}  // namespace allot::placement
