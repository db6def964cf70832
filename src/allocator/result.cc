// AllocationResults from an allocated outcome. See: reference KEP-4381; upstream's order
// throughout.
#include <algorithm>

#include <fmt/format.h>

#include "allocator/allocator.h"
#include "allocator/prepared.h"

namespace allot::allocator {
namespace {

namespace res = api::resource;
using api::core::NodeSelector;
using api::core::NodeSelectorRequirement;
using api::core::NodeSelectorTerm;
using base::Arena;
using inventory::Device;
using inventory::Features;
using schema::List;
using schema::Str;

template <typename T>
List<T> ToList(const std::vector<T>& from, Arena& arena) {
  if (from.empty()) {
    return {};
  }
  T* const items = arena.NewArray<T>(from.size());
  std::copy(from.begin(), from.end(), items);
  return {items, static_cast<std::uint32_t>(from.size())};
}

bool Contains(const std::vector<Str>& list, Str value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

bool SameValues(const List<Str>& a, const List<Str>& b) {
  const auto within = [](const List<Str>& x, const List<Str>& y) {
    return std::all_of(x.begin(), x.end(), [&](Str value) {
      return std::find(y.begin(), y.end(), value) != y.end();
    });
  };
  return within(a, b) && within(b, a);
}

void AddRequirements(const List<NodeSelectorRequirement>& from,
                     std::vector<NodeSelectorRequirement>& to) {
  for (const NodeSelectorRequirement& requirement : from) {
    const bool known = std::any_of(to.begin(), to.end(), [&](const auto& other) {
      return other.key == requirement.key && other.operator_ == requirement.operator_ &&
             SameValues(other.values, requirement.values);
    });
    if (!known) {
      to.push_back(requirement);
    }
  }
}

class Builder {
 public:
  Builder(const Outcome& outcome,
          const inventory::NodeRef& node,
          const Features& features,
          const ShareIds& share_ids,
          Arena& arena)
      : outcome_(outcome), node_(node), features_(features), share_ids_(share_ids), arena_(arena) {}

  res::AllocationResult Build(std::size_t claim) {
    res::AllocationResult result;
    std::vector<res::DeviceRequestAllocationResult> devices;
    for (const Pick& pick : outcome_.picks) {
      if (pick.claim == claim) {
        devices.push_back(DeviceResult(pick));
      }
    }
    result.devices.results = ToList(devices, arena_);
    result.devices.config = Configs(outcome_.prepared->claims[claim]);
    result.node_selector = Selector(claim);
    return result;
  }

 private:
  [[nodiscard]] const PreparedRequest& ChosenOf(const RequestChoices& choices) const {
    const std::uint32_t sub =
        choices.prioritized ? static_cast<std::uint32_t>(outcome_.chosen[choices.first]) : 0;
    return outcome_.prepared->requests[choices.first + sub];
  }

  res::DeviceRequestAllocationResult DeviceResult(const Pick& pick) {
    const RequestChoices& choices = outcome_.prepared->claims[pick.claim].requests[pick.request];
    const PreparedRequest& request =
        outcome_.prepared->requests[choices.first +
                                    static_cast<std::uint32_t>(std::max<int>(pick.subrequest, 0))];
    const res::ResourceSliceSpec& slice = *pick.device->slice->spec;
    const res::Device& device = *pick.device->spec;
    res::DeviceRequestAllocationResult result;
    result.request = arena_.Copy(request.full_name);
    result.driver = arena_.Copy(slice.driver);
    result.pool = arena_.Copy(slice.pool.name);
    result.device = arena_.Copy(device.name);
    if (pick.admin) {
      result.admin_access = arena_.New<bool>(true);
    }
    result.tolerations = request.tolerations;
    if (features_.device_binding_and_status) {
      result.binding_conditions = Texts(device.binding_conditions);
      result.binding_failure_conditions = Texts(device.binding_failure_conditions);
    }
    if (features_.optional_node_operations) {
      result.skip_node_operations = Texts(slice.skip_node_operations);
    }
    if (pick.shared) {
      result.share_id = arena_.New<Str>(arena_.Copy(share_ids_(shares_++)));
      std::vector<schema::MapEntry<quantity::Quantity>> consumed;
      for (const CapacityAmount& amount : pick.consumed) {
        consumed.push_back({arena_.Copy(amount.name), amount.amount});
      }
      static_cast<List<schema::MapEntry<quantity::Quantity>>&>(result.consumed_capacity) =
          ToList(consumed, arena_);
    }
    return result;
  }

  List<Str> Texts(const List<Str>& from) {
    std::vector<Str> texts;
    for (const Str text : from) {
      texts.push_back(arena_.Copy(text));
    }
    return ToList(texts, arena_);
  }

  struct Config {
    Str source;
    std::vector<Str> requests;
    res::DeviceConfiguration configuration;
  };

  res::DeviceConfiguration CopyConfiguration(const res::DeviceConfiguration& from) {
    res::DeviceConfiguration to;
    if (from.opaque != nullptr) {
      to.opaque = arena_.New<res::OpaqueDeviceConfiguration>(
          arena_.Copy(from.opaque->driver),
          schema::RawJson{arena_.Copy(from.opaque->parameters.text)});
    }
    return to;
  }

  // Once a class, at its first request; further requests of the class join its entries.
  void AddClassConfigs(const PreparedClaim& claim, std::vector<Config>& configs) {
    struct Range {
      const inventory::Class* device_class = nullptr;
      std::size_t first = 0, end = 0;
    };
    std::vector<Range> seen;
    for (const RequestChoices& choices : claim.requests) {
      const PreparedRequest& request = ChosenOf(choices);
      const inventory::Class* const device_class = request.device_class.get();
      const Str name = arena_.Copy(request.full_name);
      const auto known = std::find_if(seen.begin(), seen.end(), [&](const Range& range) {
        return range.device_class->name == device_class->name;
      });
      if (known != seen.end()) {
        for (std::size_t i = known->first; i < known->end; ++i) {
          configs[i].requests.push_back(name);
        }
        continue;
      }
      const std::size_t first = configs.size();
      for (const auto& config : device_class->spec->config) {
        configs.push_back({"FromClass", {name}, CopyConfiguration(config.device_configuration)});
      }
      seen.push_back({device_class, first, configs.size()});
    }
  }

  // The claim's name of a request, and of the subrequest that was chosen.
  [[nodiscard]] bool Names(const PreparedClaim& claim,
                           std::size_t request,
                           const std::vector<Str>& list) const {
    const RequestChoices& choices = claim.requests[request];
    return Contains(list, claim.claim->spec.devices.requests[request].name) ||
           (choices.prioritized && Contains(list, ChosenOf(choices).full_name));
  }

  List<res::DeviceAllocationConfiguration> Configs(const PreparedClaim& claim) {
    std::vector<Config> configs;
    AddClassConfigs(claim, configs);
    for (const auto& config : claim.claim->spec.devices.config) {
      const std::vector<Str> requests(config.requests.begin(), config.requests.end());
      bool used = requests.empty();
      for (std::size_t r = 0; !used && r < claim.requests.size(); ++r) {
        used = Names(claim, r, requests);
      }
      if (used) {
        configs.push_back({"FromClaim", requests, config.device_configuration});
      }
    }
    std::vector<res::DeviceAllocationConfiguration> out;
    for (Config& config : configs) {
      bool all = true;
      for (std::size_t r = 0; all && r < claim.requests.size(); ++r) {
        all = Names(claim, r, config.requests);
      }
      if (all) {
        config.requests.clear();
      }
      out.push_back({config.source, ToList(config.requests, arena_), config.configuration});
    }
    return ToList(out, arena_);
  }

  const NodeSelector* Selector(std::size_t claim) {
    std::vector<NodeSelectorRequirement> fields;
    std::vector<NodeSelectorRequirement> expressions;
    for (const Pick& pick : outcome_.picks) {
      if (pick.claim != claim) {
        continue;
      }
      const Device& device = *pick.device;
      const bool own = device.slice->per_device;
      const bool binds = device.spec->binds_to_node != nullptr && *device.spec->binds_to_node &&
                         features_.variant() != inventory::Variant::kStable;
      const Str* const name = own ? device.spec->node_name : device.slice->spec->node_name;
      if (name != nullptr || binds) {
        NodeSelectorRequirement requirement;
        requirement.key = "metadata.name";
        requirement.operator_ = "In";
        requirement.values = {arena_.New<Str>(arena_.Copy(node_.name)), 1};
        return Term({requirement}, {});
      }
      const NodeSelector* const selector =
          own ? device.spec->node_selector : device.slice->spec->node_selector;
      if (selector != nullptr && selector->node_selector_terms.size() == 1) {
        AddRequirements(selector->node_selector_terms[0].match_fields, fields);
        AddRequirements(selector->node_selector_terms[0].match_expressions, expressions);
      }
    }
    return fields.empty() && expressions.empty() ? nullptr
                                                 : Term(std::move(fields), std::move(expressions));
  }

  const NodeSelector* Term(std::vector<NodeSelectorRequirement> fields,
                           std::vector<NodeSelectorRequirement> expressions) {
    const auto copy = [&](std::vector<NodeSelectorRequirement>& list) {
      for (NodeSelectorRequirement& requirement : list) {
        requirement.key = arena_.Copy(requirement.key);
        requirement.operator_ = arena_.Copy(requirement.operator_);
        requirement.values = Texts(requirement.values);
      }
      return ToList(list, arena_);
    };
    auto* const term = arena_.New<NodeSelectorTerm>();
    term->match_fields = copy(fields);
    term->match_expressions = copy(expressions);
    auto* const selector = arena_.New<NodeSelector>();
    selector->node_selector_terms = {term, 1};
    return selector;
  }

  const Outcome& outcome_;
  const inventory::NodeRef& node_;
  const Features& features_;
  const ShareIds& share_ids_;
  Arena& arena_;
  std::size_t shares_ = 0;
};

}  // namespace

std::vector<res::AllocationResult> BuildResults(const Outcome& outcome,
                                                const inventory::NodeRef& node,
                                                const Features& features,
                                                const ShareIds& share_ids,
                                                Arena& arena) {
  std::vector<res::AllocationResult> results;
  Builder builder(outcome, node, features, share_ids, arena);
  for (std::size_t claim = 0; claim < outcome.prepared->claims.size(); ++claim) {
    results.push_back(builder.Build(claim));
  }
  return results;
}

}  // namespace allot::allocator
