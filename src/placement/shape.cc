#include "placement/shape.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace allot::placement {
namespace {

namespace res = api::resource;
using schema::Str;

class Hasher {
 public:
  void Add(std::uint64_t value) {
    a_ = (a_ ^ value) * 0x9E3779B97F4A7C15ULL;
    a_ ^= a_ >> 29U;
    b_ = (b_ ^ (value + 0x7F4A7C159E3779B9ULL)) * 0xBF58476D1CE4E5B9ULL;
    b_ ^= b_ >> 32U;
  }
  void Add(std::int64_t value) { Add(static_cast<std::uint64_t>(value)); }
  void Add(bool value) { Add(std::uint64_t{value}); }
  void Add(std::string_view text) {
    Add(std::uint64_t{text.size()});
    while (!text.empty()) {
      std::uint64_t word = 0;
      const std::size_t take = std::min<std::size_t>(text.size(), 8);
      std::memcpy(&word, text.data(), take);
      Add(word);
      text.remove_prefix(take);
    }
  }
  void Add(const quantity::Quantity& q) {
    Add(static_cast<std::uint64_t>(q.nanos));
    Add(static_cast<std::uint64_t>(q.nanos >> 64));
    Add(static_cast<std::uint64_t>(q.format));
  }
  void Add(const schema::List<Str>& texts) {
    Add(std::uint64_t{texts.size()});
    for (const Str text : texts) {
      Add(text);
    }
  }
  void Add(const Resources& r) {
    Add(r.milli_cpu);
    Add(r.memory);
    Add(r.ephemeral_storage);
    Add(std::uint64_t{r.scalars.size()});
    for (const auto& [name, amount] : r.scalars) {
      Add(std::string_view(name));
      Add(amount);
    }
  }
  void Add(const schema::List<api::core::NodeSelectorRequirement>& list) {
    Add(std::uint64_t{list.size()});
    for (const auto& requirement : list) {
      Add(requirement.key);
      Add(requirement.operator_);
      Add(requirement.values);
    }
  }
  [[nodiscard]] ShapeKey key() const { return {a_, b_}; }

 private:
  std::uint64_t a_ = 0x243F6A8885A308D3ULL;
  std::uint64_t b_ = 0x13198A2E03707344ULL;
};

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

}  // namespace

ShapeKey ShapeOf(const PodFacts& facts, std::span<const ClaimInput> claims) {
  Hasher hash;
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
      for (const auto& term : required->node_selector_terms) {
        hash.Add(term.match_expressions);
        hash.Add(term.match_fields);
      }
    }
  }
  for (const std::string& port : facts.host_ports) {
    hash.Add(std::string_view(port));
  }
  // How the resources are spread over containers decides the requests of an extended-resource
  // claim.
  if (!facts.requests.scalars.empty()) {
    for (const auto* const list : {&spec.init_containers, &spec.containers}) {
      for (const api::core::Container& container : *list) {
        hash.Add(std::uint64_t{container.resources.requests.size()});
        for (const auto& amount : container.resources.requests) {
          hash.Add(amount.key);
          hash.Add(amount.value);
        }
        hash.Add(container.restart_policy != nullptr);
      }
    }
  }
  hash.Add(std::uint64_t{claims.size()});
  for (const ClaimInput& input : claims) {
    AddClaim(hash, *input.claim);
  }
  return hash.key();
}

bool ScoresStandAlone(const PodFacts& pod, std::span<const ClaimInput> claims) {
  const auto* const affinity = pod.pod->spec.affinity;
  if (affinity != nullptr && affinity->node_affinity != nullptr &&
      !affinity->node_affinity->preferred_during_scheduling_ignored_during_execution.empty()) {
    return false;
  }
  return std::all_of(claims.begin(), claims.end(), [](const ClaimInput& input) {
    const auto& requests = input.claim->spec.devices.requests;
    return input.allocation == nullptr &&
           std::all_of(requests.begin(), requests.end(), [](const auto& request) {
             return request.first_available.empty();
           });
  });
}

}  // namespace allot::placement
