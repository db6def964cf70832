// The spec of claims and claim templates: defaults, admin access and validation.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include "api/names.h"
#include "api/resource/rules.h"
#include "cel/cel.h"
#include "schema/object.h"

namespace allot::api::resource {

using schema::List;
using schema::Str;

namespace {

constexpr std::array<std::string_view, 2> kAllocationModes = {"All", "ExactCount"};

/// What the fields of `exactly` and of a subrequest have in common.
template <typename Request>
bool NeedsDefaults(const Request& request) {
  return request.allocation_mode.empty() ||
         (request.allocation_mode == "ExactCount" && request.count == 0) ||
         std::ranges::any_of(request.tolerations,
                             [](const DeviceToleration& t) { return t.operator_.empty(); });
}

template <typename Request>
void DefaultRequest(Request& request, schema::Editor editor) {
  if (request.allocation_mode.empty()) {
    request.allocation_mode = "ExactCount";
  }
  if (request.allocation_mode == "ExactCount" && request.count == 0) {
    request.count = 1;
  }
  if (!request.tolerations.empty()) {
    DeviceToleration* const tolerations = editor.MutableList(request.tolerations);
    for (std::size_t i = 0; i < request.tolerations.size(); ++i) {
      if (tolerations[i].operator_.empty()) {
        tolerations[i].operator_ = "Equal";
      }
    }
  }
}

bool NeedsDefaults(const DeviceRequest& request) {
  return (request.exactly != nullptr && NeedsDefaults(*request.exactly)) ||
         std::ranges::any_of(request.first_available,
                             [](const DeviceSubRequest& sub) { return NeedsDefaults(sub); });
}

/// Which attribute names constraints ask of which request ("" = of all).
using ConstraintAttributes = std::map<Str, std::set<Str>>;

ConstraintAttributes GatherConstraintAttributes(const List<DeviceConstraint>& constraints) {
  ConstraintAttributes out;
  for (const DeviceConstraint& constraint : constraints) {
    const Str* const name = constraint.match_attribute != nullptr ? constraint.match_attribute
                                                                  : constraint.distinct_attribute;
    if (name == nullptr) {
      continue;
    }
    if (constraint.requests.empty()) {
      out[Str()].insert(*name);
    }
    for (const Str request : constraint.requests) {
      out[request].insert(*name);
    }
  }
  return out;
}

struct ClaimContext {
  const StrategyContext& strategy;
  const RequestNames& names;
  const ConstraintAttributes& attributes;
  CelContext cel;
};

bool IsConstrained(const ClaimContext& context, Str attribute, Str request) {
  const auto named = [&](Str of) {
    const auto at = context.attributes.find(of);
    return at != context.attributes.end() && at->second.contains(attribute);
  };
  return named({}) || named(request) || named(request.substr(0, request.find('/')));
}

void ValidateDerivedAttributes(const ClaimContext& context,
                               const List<DeviceDerivedAttribute>& attributes,
                               Str request,
                               const Path& path,
                               Report& report) {
  TooMany(attributes.size(), kMaxDerivedAttributes, path, report.declared);
  std::set<Str> seen;
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    const DeviceDerivedAttribute& attribute = attributes[i];
    const Path at = path.Index(i);
    if (attribute.name.empty()) {
      report.declared.Required(at.Child("name"));
    } else {
      if (!IsConstrained(context, attribute.name, request)) {
        report.hand.Invalid(
            at.Child("name"),
            attribute.name,
            "must be referenced by at least one matchAttribute or distinctAttribute "
            "constraint targeting this request");
      }
      ValidateFullyQualifiedName(attribute.name, at.Child("name"), report.declared);
    }
    if (attribute.expression.empty()) {
      report.declared.Required(at.Child("expression"));
    } else {
      ValidateCelExpression(attribute.expression,
                            CelUse::kDerivedAttribute,
                            context.cel,
                            at.Child("expression"),
                            report.hand);
    }
    if (!seen.insert(attribute.name).second) {
      report.hand.Duplicate(at, attribute.name);
    }
  }
}

void ValidateAllocationMode(Str mode, std::int64_t count, const Path& path, Report& report) {
  if (mode == "All") {
    if (count != 0) {
      report.hand.Invalid(
          path.Child("count"), count, "must not be specified when allocationMode is 'All'");
    }
  } else if (mode == "ExactCount") {
    if (count <= 0) {
      report.hand.Invalid(path.Child("count"), count, "must be greater than zero");
    }
  } else {
    report.declared.NotSupported(path.Child("allocationMode"), mode, kAllocationModes);
  }
}

/// The part that `exactly` and subrequests share, behind their names.
template <typename Request>
void ValidateRequestBody(const ClaimContext& context,
                         const Request& request,
                         Str name,
                         const Path& path,
                         Report& report) {
  ValidateSelectors(request.selectors, context.cel, path.Child("selectors"), report);
  ValidateDerivedAttributes(
      context, request.derived_attributes, name, path.Child("derivedAttributes"), report);
  ValidateAllocationMode(request.allocation_mode, request.count, path, report);
  for (std::size_t i = 0; i < request.tolerations.size(); ++i) {
    ValidateToleration(request.tolerations[i], path.Item("tolerations", i), report);
  }
}

void ValidateExactly(const ClaimContext& context,
                     const ExactDeviceRequest& exactly,
                     Str name,
                     const Path& path,
                     Report& report) {
  const Path class_path = path.Child("deviceClassName");
  if (exactly.device_class_name.empty()) {
    report.hand.Required(class_path);
  } else {
    report.hand.InvalidAll(
        class_path, exactly.device_class_name, DnsSubdomainProblems(exactly.device_class_name));
  }
  ValidateRequestBody(context, exactly, name, path, report);
}

void ValidateSubRequests(const ClaimContext& context,
                         const DeviceRequest& request,
                         const Path& path,
                         Report& report) {
  if (TooMany(request.first_available.size(), kMaxSubRequests, path, report.declared)) {
    return;
  }
  std::set<Str> seen;
  for (std::size_t i = 0; i < request.first_available.size(); ++i) {
    const DeviceSubRequest& sub = request.first_available[i];
    const Path at = path.Index(i);
    ValidateDnsLabel(sub.name, at.Child("name"), report.hand);
    const Path class_path = at.Child("deviceClassName");
    if (!seen.insert(sub.name).second) {
      report.declared.Duplicate(at, BadValue::Json(Desc<DeviceSubRequest>(), &sub));
    }
    if (sub.device_class_name.empty()) {
      report.declared.Required(class_path);
    } else {
      report.declared.InvalidAll(class_path,
                                 sub.device_class_name,
                                 DnsSubdomainProblems(sub.device_class_name, LengthUnit::kBytes));
    }
    ValidateRequestBody(context, sub, fmt::format("{}/{}", request.name, sub.name), at, report);
  }
}

void ValidateRequest(const ClaimContext& context,
                     const DeviceRequest& request,
                     const Path& path,
                     Report& report) {
  ValidateDnsLabel(request.name, path.Child("name"), report.hand);
  const bool alternatives = !request.first_available.empty();
  if (request.exactly == nullptr && !alternatives) {
    report.hand.Required(path, "exactly one of `exactly` or `firstAvailable` is required");
  } else if (request.exactly != nullptr && alternatives) {
    report.hand.Invalid(
        path,
        BadValue::Null(),
        "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set");
    // Declared rules go into both members all the same.
    Report members;
    ValidateExactly(context, *request.exactly, request.name, path.Child("exactly"), members);
    ValidateSubRequests(context, request, path.Child("firstAvailable"), members);
    report.declared.Append(std::move(members.declared));
  } else if (alternatives) {
    ValidateSubRequests(context, request, path.Child("firstAvailable"), report);
  } else {
    ValidateExactly(context, *request.exactly, request.name, path.Child("exactly"), report);
  }
}

void ValidateConstraint(const ClaimContext& context,
                        const DeviceConstraint& constraint,
                        const Path& path,
                        Report& report) {
  ValidateRequestReferences(constraint.requests, context.names, path.Child("requests"), report);
  if (constraint.match_attribute != nullptr) {
    ValidateFullyQualifiedName(
        *constraint.match_attribute, path.Child("matchAttribute"), report.declared);
  }
  if (constraint.distinct_attribute != nullptr) {
    ValidateFullyQualifiedName(
        *constraint.distinct_attribute, path.Child("distinctAttribute"), report.declared);
  }
  if (constraint.match_attribute != nullptr || constraint.distinct_attribute != nullptr) {
    return;
  }
  if (context.strategy.gates.Enabled(Gate::kDRAConsumableCapacity)) {
    report.hand.Required(
        path,
        "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required, but "
        "multiple fields are set");
  } else {
    report.hand.Required(path.Child("matchAttribute"));
  }
}

}  // namespace

void DefaultClaimSpec(ResourceClaimSpec& spec, schema::Editor editor) {
  List<DeviceRequest>& requests = spec.devices.requests;
  if (std::ranges::none_of(requests,
                           [](const DeviceRequest& request) { return NeedsDefaults(request); })) {
    return;
  }
  DeviceRequest* const items = editor.MutableList(requests);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (items[i].exactly != nullptr) {
      DefaultRequest(editor.Mutable(items[i].exactly), editor);
    }
    if (!items[i].first_available.empty()) {
      DeviceSubRequest* const subs = editor.MutableList(items[i].first_available);
      for (std::size_t j = 0; j < items[i].first_available.size(); ++j) {
        DefaultRequest(subs[j], editor);
      }
    }
  }
}

void ValidateAdminAccess(const StrategyContext& context,
                         const ResourceClaimSpec& spec,
                         Str ns,
                         FieldErrors& errors) {
  if (context.lookup == nullptr) {
    return;
  }
  const Path root("spec");
  const Path devices = root.Child("devices");
  for (std::size_t i = 0; i < spec.devices.requests.size(); ++i) {
    const ExactDeviceRequest* const exactly = spec.devices.requests[i].exactly;
    if (exactly == nullptr || exactly->admin_access == nullptr || !*exactly->admin_access) {
      continue;
    }
    const Path request = devices.Item("requests", i);
    const auto allowed = context.lookup->AdminAccessAllowed(ns);
    if (!allowed) {
      errors.Internal(request.Child("adminAccess"),
                      fmt::format("could not retrieve namespace to verify admin access: {}",
                                  allowed.error().message()));
      return;
    }
    if (!*allowed) {
      errors.Forbidden(request.Child("adminAccess"), kAdminAccessDetail);
    }
    return;
  }
}

void ValidateClaimSpec(const StrategyContext& context,
                       const ResourceClaimSpec& spec,
                       const Path& path,
                       Report& report) {
  const DeviceClaim& claim = spec.devices;
  const Path devices = path.Child("devices");
  const RequestNames names(claim);
  const ConstraintAttributes attributes = GatherConstraintAttributes(claim.constraints);
  std::uint64_t derived_cost = 0;
  const ClaimContext claim_context = {
      .strategy = context,
      .names = names,
      .attributes = attributes,
      .cel = {.gates = context.gates, .derived_cost = &derived_cost}};
  const Path requests = devices.Child("requests");
  if (!TooMany(claim.requests.size(), kMaxRequests, requests, report.declared)) {
    std::set<Str> seen;
    for (std::size_t i = 0; i < claim.requests.size(); ++i) {
      if (!seen.insert(claim.requests[i].name).second) {
        report.declared.Duplicate(requests.Index(i),
                                  BadValue::Json(Desc<DeviceRequest>(), &claim.requests[i]));
      }
      ValidateRequest(claim_context, claim.requests[i], requests.Index(i), report);
    }
  }
  const Path constraints = devices.Child("constraints");
  if (!TooMany(claim.constraints.size(), kMaxConstraints, constraints, report.declared)) {
    for (std::size_t i = 0; i < claim.constraints.size(); ++i) {
      ValidateConstraint(claim_context, claim.constraints[i], constraints.Index(i), report);
    }
  }
  const Path configs = devices.Child("config");
  if (!TooMany(claim.config.size(), kMaxConfigs, configs, report.declared)) {
    for (std::size_t i = 0; i < claim.config.size(); ++i) {
      const Path at = configs.Index(i);
      ValidateRequestReferences(claim.config[i].requests, names, at.Child("requests"), report);
      ValidateConfiguration(claim.config[i].device_configuration, /*stored=*/false, at, report);
    }
  }
  if (derived_cost > cel::kMaxCost) {
    report.hand.Forbidden(devices,
                          "too complex, total cost of derived attribute CEL expressions in the "
                          "claim exceeds cost limit");
  }
}

}  // namespace allot::api::resource
