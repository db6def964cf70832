#include "placement/extended.h"

#include <algorithm>

#include <fmt/format.h>

#include "placement/filters.h"

namespace allot::placement {
namespace {

namespace res = api::resource;
using api::core::Container;
using api::core::ContainerExtendedResourceRequest;
using api::core::Pod;

// One container's need of one resource.
struct Need {
  std::size_t index = 0;  // init containers first
  std::int64_t amount = 0;
  std::string request_name;
  const Container* container = nullptr;
  bool long_lived = false;
};

struct Request {
  std::string name;
  std::string device_class;
  std::int64_t count = 0;
};

struct Mapping {
  std::string container;
  std::string resource;
  std::string request;
};

class Builder {
 public:
  Builder(const Pod& pod, const inventory::Inventory& inventory)
      : pod_(pod), inventory_(inventory) {}

  void Add(const std::string& resource) {
    const auto device_class = inventory_.FindClassOfExtendedResource(resource);
    if (device_class == nullptr) {
      return;
    }
    class_ = device_class->name;
    resource_ = resource;
    std::vector<Need> needs = Needs();
    for (const Need& need : needs) {
      if (need.long_lived) {
        requests_.push_back({need.request_name, class_, need.amount});
        Map(need, need.request_name);
      }
    }
    AddShortLived(needs);
  }

  ExtendedClaim Finish(base::Arena& arena) {
    ExtendedClaim out;
    if (requests_.empty()) {
      return out;
    }
    std::sort(requests_.begin(), requests_.end(), [](const Request& a, const Request& b) {
      return a.name < b.name;
    });
    auto* const list = arena.NewArray<res::DeviceRequest>(requests_.size());
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      auto* const exact = arena.New<res::ExactDeviceRequest>();
      exact->device_class_name = arena.Copy(requests_[i].device_class);
      exact->allocation_mode = "ExactCount";
      exact->count = requests_[i].count;
      list[i].name = arena.Copy(requests_[i].name);
      list[i].exactly = exact;
    }
    auto* const claim = arena.New<res::ResourceClaim>();
    claim->metadata.name = "<extended-resources>";
    claim->metadata.namespace_ = arena.Copy(pod_.metadata.namespace_);
    claim->spec.devices.requests = {list, static_cast<std::uint32_t>(requests_.size())};
    auto* const mappings = arena.NewArray<ContainerExtendedResourceRequest>(mappings_.size());
    for (std::size_t i = 0; i < mappings_.size(); ++i) {
      mappings[i] = {arena.Copy(mappings_[i].container),
                     arena.Copy(mappings_[i].resource),
                     arena.Copy(mappings_[i].request)};
    }
    out.claim = claim;
    out.mappings = {mappings, static_cast<std::uint32_t>(mappings_.size())};
    return out;
  }

 private:
  [[nodiscard]] std::vector<Need> Needs() const {
    std::vector<Need> needs;
    std::size_t index = 0;
    for (const auto* const list : {&pod_.spec.init_containers, &pod_.spec.containers}) {
      for (const Container& container : *list) {
        const auto& requests = container.resources.requests;
        const auto* const at =
            std::find_if(requests.begin(), requests.end(), [&](const auto& entry) {
              return entry.key == resource_;
            });
        if (at != requests.end() && at->value.Value() > 0) {
          const bool sidecar =
              container.restart_policy != nullptr && *container.restart_policy == "Always";
          needs.push_back({index,
                           at->value.Value(),
                           fmt::format("container-{}-request-{}", index, at - requests.begin()),
                           &container,
                           list == &pod_.spec.containers || sidecar});
        }
        ++index;
      }
    }
    return needs;
  }

  // Init containers run before the others, so they use the devices of those first; what is missing
  // is asked for once, for the one that misses most.
  void AddShortLived(const std::vector<Need>& needs) {
    const Need* largest = nullptr;
    std::int64_t largest_shortfall = 0;
    std::vector<std::pair<const Need*, std::string>> maps;  // request name empty: the shortfall's
    for (const Need& need : needs) {
      if (need.long_lived) {
        continue;
      }
      std::int64_t missing = need.amount;
      for (const Need& other : needs) {
        if (missing > 0 && other.long_lived && other.index >= need.index) {
          maps.emplace_back(&need, other.request_name);
          missing -= other.amount;
        }
      }
      if (missing > 0) {
        maps.emplace_back(&need, std::string());
        if (missing > largest_shortfall) {
          largest = &need;
          largest_shortfall = missing;
        }
      }
    }
    if (largest != nullptr) {
      requests_.push_back({largest->request_name, class_, largest_shortfall});
    }
    for (const auto& [need, name] : maps) {
      Map(*need, name.empty() ? largest->request_name : name);
    }
  }

  void Map(const Need& need, const std::string& request) {
    mappings_.push_back({std::string(need.container->name), resource_, request});
  }

  const Pod& pod_;
  const inventory::Inventory& inventory_;
  std::string class_;
  std::string resource_;
  std::vector<Request> requests_;
  std::vector<Mapping> mappings_;
};

}  // namespace

std::vector<std::string> ResourcesServedByDevices(const Resources& requests,
                                                  const NodeInfo& node,
                                                  const inventory::Inventory& inventory) {
  std::vector<std::string> served;
  if (!inventory.AnyExtendedResource()) {
    return served;
  }
  for (const auto& [name, amount] : requests.scalars) {
    if (amount > 0 && ServedByDevices(name, node, inventory)) {
      served.push_back(name);
    }
  }
  return served;
}

ExtendedClaim MakeExtendedClaim(const Pod& pod,
                                const std::vector<std::string>& resources,
                                const inventory::Inventory& inventory,
                                base::Arena& arena) {
  Builder builder(pod, inventory);
  for (const std::string& resource : resources) {
    builder.Add(resource);
  }
  return builder.Finish(arena);
}

}  // namespace allot::placement
