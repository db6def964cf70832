#include "allocator/prepared.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "api/object_key.h"

namespace allot::allocator {
namespace {

namespace res = api::resource;
using inventory::Features;
using inventory::Variant;
using schema::Str;

// The members that exact requests and subrequests have in common.
struct Source {
  Str name;
  Str device_class;
  const schema::List<res::DeviceSelector>* selectors = nullptr;
  Str mode;
  std::int64_t count = 0;
  const bool* admin = nullptr;
  const schema::List<res::DeviceToleration>* tolerations = nullptr;
  const res::CapacityRequirements* capacity = nullptr;
  const schema::List<res::DeviceDerivedAttribute>* derived = nullptr;
};

Source FromExact(const res::DeviceRequest& request, const res::ExactDeviceRequest& exact) {
  return {request.name,
          exact.device_class_name,
          &exact.selectors,
          exact.allocation_mode,
          exact.count,
          exact.admin_access,
          &exact.tolerations,
          exact.capacity,
          &exact.derived_attributes};
}

Source FromSub(const res::DeviceSubRequest& sub) {
  return {sub.name,
          sub.device_class_name,
          &sub.selectors,
          sub.allocation_mode,
          sub.count,
          nullptr,
          &sub.tolerations,
          sub.capacity,
          &sub.derived_attributes};
}

class Compiler {
 public:
  Compiler(const inventory::Inventory& inventory,
           inventory::SelectorCache& cache,
           AttributeColumns& columns,
           Prepared& out)
      : inventory_(inventory),
        features_(inventory.features()),
        cache_(cache),
        columns_(columns),
        out_(out) {}

  void AddClaim(const res::ResourceClaim& claim) {
    PreparedClaim prepared;
    prepared.claim = &claim;
    prepared.display = api::KeyOf(claim.metadata);
    for (std::size_t i = 0; i < claim.spec.devices.requests.size(); ++i) {
      AddRequest(prepared, claim.spec.devices.requests[i], i);
    }
    AddConstraints(prepared);
    out_.claims.push_back(std::move(prepared));
  }

 private:
  void AddRequest(PreparedClaim& claim, const res::DeviceRequest& request, std::size_t index) {
    RequestChoices choices;
    choices.prioritized = !request.first_available.empty();
    choices.error = GateError(claim, request);
    choices.first = static_cast<std::uint32_t>(out_.requests.size());
    if (choices.prioritized) {
      for (std::size_t s = 0; s < request.first_available.size(); ++s) {
        PreparedRequest& sub = Add(claim, FromSub(request.first_available[s]), index);
        sub.subrequest = static_cast<std::int16_t>(s);
        sub.full_name = fmt::format("{}/{}", request.name, sub.name);
      }
    } else {
      static constexpr res::ExactDeviceRequest kNothing{};
      PreparedRequest& exact =
          Add(claim,
              FromExact(request, request.exactly != nullptr ? *request.exactly : kNothing),
              index);
      exact.full_name = exact.name;
    }
    choices.end = static_cast<std::uint32_t>(out_.requests.size());
    claim.requests.push_back(std::move(choices));
  }

  [[nodiscard]] std::string GateError(const PreparedClaim& claim,
                                      const res::DeviceRequest& request) const {
    if (!features_.prioritized_list && !request.first_available.empty()) {
      return fmt::format(
          "claim {}, request {}: has subrequests, but the DRAPrioritizedList feature is disabled",
          claim.display,
          request.name);
    }
    if (features_.consumable_capacity || features_.variant() == Variant::kStable) {
      return {};
    }
    constexpr std::string_view kText =
        "has capacity requests, but the DRAConsumableCapacity feature is disabled";
    if (request.exactly != nullptr && request.exactly->capacity != nullptr) {
      return fmt::format("claim {}, request {}: {}", claim.display, request.name, kText);
    }
    for (const auto& sub : request.first_available) {
      if (sub.capacity != nullptr) {
        return fmt::format("claim {}, subrequest {}: {}", claim.display, sub.name, kText);
      }
    }
    return {};
  }

  PreparedRequest& Add(const PreparedClaim& claim, const Source& from, std::size_t index) {
    PreparedRequest& request = out_.requests.emplace_back();
    request.name = from.name;
    request.claim = static_cast<std::uint16_t>(out_.claims.size());
    request.request = static_cast<std::uint16_t>(index);
    request.tolerations = *from.tolerations;
    request.capacity = from.capacity != nullptr ? &from.capacity->requests : nullptr;
    request.admin = from.admin != nullptr && *from.admin;
    request.error = Check(claim, from, request);
    if (!request.error.empty()) {
      request.error =
          fmt::format("claim {}, request {}{}", claim.display, from.name, request.error);
    }
    return request;
  }

  // Returns the mistake, from the separator on; in upstream's order of checks.
  [[nodiscard]] std::string Check(const PreparedClaim&,
                                  const Source& from,
                                  PreparedRequest& request) {
    if (!from.derived->empty() && !features_.derived_attributes) {
      return ": cannot handle request with derived attributes, the feature is disabled";
    }
    std::vector<std::string_view> expressions;
    for (std::size_t i = 0; i < from.selectors->size(); ++i) {
      if ((*from.selectors)[i].cel == nullptr) {
        return fmt::format(", selector #{}: CEL expression empty (unsupported selector type?)", i);
      }
    }
    if (!features_.admin_access && from.admin != nullptr) {
      return ": admin access is requested, but the feature is disabled";
    }
    if (from.device_class.empty()) {
      return ": missing device class name (unsupported request type?)";
    }
    request.device_class = inventory_.FindClass(from.device_class);
    if (request.device_class == nullptr) {
      request.error_kind = CauseKind::kClassMissing;
      return fmt::format(
          ": could not retrieve device class {0}: deviceclass.resource.k8s.io \"{0}\" not found",
          from.device_class);
    }
    for (const auto& selector : request.device_class->spec->selectors) {
      expressions.push_back(selector.cel != nullptr ? selector.cel->expression : Str());
    }
    request.class_selectors = expressions.size();
    for (const auto& selector : *from.selectors) {
      expressions.push_back(selector.cel->expression);
    }
    request.selectors = cache_.Intern(expressions);
    for (const auto& derived : *from.derived) {
      request.derived.push_back({derived.name, cache_.InternDerived(derived.expression)});
    }
    if (from.mode == "All") {
      request.mode = Mode::kAll;
    } else if (from.mode == "ExactCount") {
      if (from.count < 0) {
        return fmt::format(": count {} is negative", from.count);
      }
      request.count = from.count;
    } else {
      return fmt::format(": unsupported count mode {}", from.mode);
    }
    return {};
  }

  void AddConstraints(PreparedClaim& claim) {
    const auto& constraints = claim.claim->spec.devices.constraints;
    for (std::size_t i = 0; i < constraints.size(); ++i) {
      PreparedConstraint constraint;
      const Str* name = constraints[i].match_attribute;
      if (name == nullptr && features_.variant() != Variant::kStable) {
        constraint.kind = ConstraintKind::kDistinct;
        name = constraints[i].distinct_attribute;
      }
      if (name == nullptr) {
        claim.constraint_error =
            fmt::format("claim {}, constraint #{}: empty constraint (unsupported constraint type?)",
                        claim.display,
                        i);
        return;
      }
      constraint.attribute = *name;
      constraint.column = columns_.Intern(*name);
      claim.constraints.push_back(constraint);
      Scope(claim, constraints[i].requests, static_cast<std::uint16_t>(i));
    }
  }

  void Scope(const PreparedClaim& claim, const schema::List<Str>& names, std::uint16_t constraint) {
    const auto listed = [&](std::string_view name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    for (const RequestChoices& choices : claim.requests) {
      for (std::uint32_t r = choices.first; r < choices.end; ++r) {
        PreparedRequest& request = out_.requests[r];
        const Str main = claim.claim->spec.devices.requests[request.request].name;
        if (names.empty() || listed(main) ||
            (request.subrequest >= 0 && listed(request.full_name))) {
          request.constraints.push_back(constraint);
        }
      }
    }
  }

  const inventory::Inventory& inventory_;
  const Features& features_;
  inventory::SelectorCache& cache_;
  AttributeColumns& columns_;
  Prepared& out_;
};

}  // namespace

Prepared PrepareClaims(std::span<const res::ResourceClaim* const> claims,
                       const inventory::Inventory& inventory,
                       inventory::SelectorCache& cache,
                       AttributeColumns& columns) {
  Prepared prepared;
  prepared.class_version = inventory.class_version();
  Compiler compiler(inventory, cache, columns, prepared);
  for (const res::ResourceClaim* const claim : claims) {
    compiler.AddClaim(*claim);
  }
  return prepared;
}

bool CanBeRebound(const Prepared& prepared) {
  return std::all_of(prepared.requests.begin(),
                     prepared.requests.end(),
                     [](const PreparedRequest& request) { return request.error.empty(); }) &&
         std::all_of(
             prepared.claims.begin(), prepared.claims.end(), [](const PreparedClaim& claim) {
               return claim.constraint_error.empty() &&
                      std::all_of(claim.requests.begin(), claim.requests.end(), [](auto& choices) {
                        return choices.error.empty();
                      });
             });
}

void RebindClaims(Prepared& prepared, std::span<const res::ResourceClaim* const> claims) {
  for (std::size_t c = 0; c < claims.size(); ++c) {
    PreparedClaim& claim = prepared.claims[c];
    claim.claim = claims[c];
    const Str ns = claims[c]->metadata.namespace_;
    claim.display.assign(ns);
    if (!ns.empty()) {
      claim.display += '/';
    }
    claim.display += claims[c]->metadata.name;
    const res::DeviceClaim& devices = claims[c]->spec.devices;
    for (std::size_t i = 0; i < claim.constraints.size(); ++i) {
      claim.constraints[i].attribute = claim.constraints[i].kind == ConstraintKind::kMatch
                                           ? *devices.constraints[i].match_attribute
                                           : *devices.constraints[i].distinct_attribute;
    }
  }
  for (PreparedRequest& request : prepared.requests) {
    const res::DeviceRequest& spec =
        prepared.claims[request.claim].claim->spec.devices.requests[request.request];
    const Source from =
        request.subrequest >= 0
            ? FromSub(spec.first_available[static_cast<std::size_t>(request.subrequest)])
            : FromExact(spec, *spec.exactly);
    request.name = from.name;
    request.tolerations = *from.tolerations;
    request.capacity = from.capacity != nullptr ? &from.capacity->requests : nullptr;
    for (std::size_t i = 0; i < request.derived.size(); ++i) {
      request.derived[i].name = (*from.derived)[i].name;
    }
  }
}

}  // namespace allot::allocator
