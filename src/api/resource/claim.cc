// ResourceClaim and ResourceClaimTemplate.
#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "api/addresses.h"
#include "api/core/rules.h"
#include "api/go_value.h"
#include "api/names.h"
#include "api/resource/rules.h"
#include "api/resource/strategies.h"
#include "api/strategy_of.h"
#include "api/template_meta.h"

namespace allot::api::resource {
namespace {

using schema::Editor;
using schema::List;
using schema::Str;

constexpr std::size_t kMaxInterfaceName = 256;
constexpr std::size_t kMaxHardwareAddress = 128;
constexpr std::size_t kMaxIps = 16;
constexpr std::size_t kMaxStatusData = 10 * 1024;
constexpr std::array<std::string_view, 2> kConfigSources = {"FromClaim", "FromClass"};

/// One share of one device: what an allocation result and a device status name.
using SharedDevice = std::tuple<Str, Str, Str, Str>;

template <typename Entry>
SharedDevice SharedDeviceOf(const Entry& entry) {
  return {
      entry.driver, entry.pool, entry.device, entry.share_id != nullptr ? *entry.share_id : Str()};
}

std::set<SharedDevice> AllocatedDevices(const ResourceClaimStatus& status) {
  std::set<SharedDevice> devices;
  if (status.allocation != nullptr) {
    for (const DeviceRequestAllocationResult& result : status.allocation->devices.results) {
      devices.insert(SharedDeviceOf(result));
    }
  }
  return devices;
}

// --- claims: preparing ---

void Default(const StrategyContext&, ResourceClaim& claim, Editor editor) {
  DefaultClaimSpec(claim.spec, editor);
  if (claim.status.allocation == nullptr) {
    return;
  }
  const auto needs = [](const DeviceRequestAllocationResult& result) {
    return std::ranges::any_of(result.tolerations,
                               [](const DeviceToleration& t) { return t.operator_.empty(); });
  };
  if (std::ranges::none_of(claim.status.allocation->devices.results, needs)) {
    return;
  }
  auto& results = editor.Mutable(claim.status.allocation).devices.results;
  DeviceRequestAllocationResult* const items = editor.MutableList(results);
  for (std::size_t i = 0; i < results.size(); ++i) {
    DeviceToleration* const tolerations = editor.MutableList(items[i].tolerations);
    for (std::size_t j = 0; j < items[i].tolerations.size(); ++j) {
      if (tolerations[j].operator_.empty()) {
        tolerations[j].operator_ = "Equal";
      }
    }
  }
}

void PrepareForCreate(const StrategyContext& context, ResourceClaim& claim, Editor editor) {
  claim.status = {};
  DropDisabled<ResourceClaim>(context, claim, nullptr, editor);
}

void PrepareForUpdate(const StrategyContext& context,
                      ResourceClaim& next,
                      const ResourceClaim& old,
                      Editor editor) {
  next.status = old.status;
  DropDisabled(context, next, &old, editor);
}

/// Removes the status of devices that this very write deallocates.
void DropDeallocatedDevices(ResourceClaim& next, const ResourceClaim& old, Editor editor) {
  if (next.status.devices.empty() || old.status.allocation == nullptr) {
    return;
  }
  std::set<SharedDevice> gone = AllocatedDevices(old.status);
  for (const SharedDevice& device : AllocatedDevices(next.status)) {
    gone.erase(device);
  }
  if (!gone.empty()) {
    editor.Filter(next.status.devices, [&](const AllocatedDeviceStatus& device) {
      return !gone.contains(SharedDeviceOf(device));
    });
  }
}

void PrepareForStatusUpdate(const StrategyContext& context,
                            ResourceClaim& next,
                            const ResourceClaim& old,
                            Editor editor) {
  next.spec = old.spec;
  KeepObjectMeta(next.metadata, old.metadata);
  DropDisabled(context, next, &old, editor);
  DropDeallocatedDevices(next, old, editor);
  if (next.status.devices.empty()) {
    next.status.devices = {};
  }
}

// --- claims: validation ---

void ValidateCreate(const StrategyContext& context, const ResourceClaim& claim, Report& report) {
  ValidateAdminAccess(context, claim.spec, claim.metadata.namespace_, report.hand);
  ValidateObjectMeta(
      claim.metadata, Scope::kNamespaced, NameRule::kDnsSubdomain, Path("metadata"), report.hand);
  ValidateClaimSpec(context, claim.spec, Path("spec"), report);
}

void ValidateUpdate(const StrategyContext&,
                    const ResourceClaim& next,
                    const ResourceClaim& old,
                    Report& report) {
  const Path metadata("metadata");
  ValidateObjectMeta(
      next.metadata, Scope::kNamespaced, NameRule::kDnsSubdomain, metadata, report.hand);
  FieldErrors update;
  ValidateObjectMetaUpdate(next.metadata, old.metadata, metadata, update);
  report.hand.Append(std::move(update));
  if (!Same(next.spec, old.spec)) {
    report.declared.Invalid(Path("spec"), BadValue::Null(), "field is immutable");
  }
}

void ValidateConsumers(const ResourceClaimStatus& status, const Path& path, Report& report) {
  if (TooMany(status.reserved_for.size(), kMaxReservedFor, path, report.declared)) {
    return;
  }
  std::set<Str> uids;
  for (std::size_t i = 0; i < status.reserved_for.size(); ++i) {
    const ResourceClaimConsumerReference& consumer = status.reserved_for[i];
    const Path at = path.Index(i);
    if (consumer.resource.empty()) {
      report.hand.Required(at.Child("resource"));
    }
    if (consumer.name.empty()) {
      report.hand.Required(at.Child("name"));
    }
    if (consumer.uid.empty()) {
      report.hand.Required(at.Child("uid"));
    }
    if (!uids.insert(consumer.uid).second) {
      report.declared.Duplicate(at,
                                BadValue::Json(Desc<ResourceClaimConsumerReference>(), &consumer));
    }
  }
}

void ValidateIps(const NetworkDeviceData& data, const Path& path, Report& report) {
  if (TooMany(data.ips.size(), kMaxIps, path, report.declared)) {
    return;
  }
  std::set<Str> seen;
  for (std::size_t i = 0; i < data.ips.size(); ++i) {
    const Path at = path.Index(i);
    const auto canonical = CanonicalInterfaceAddress(data.ips[i]);
    if (!canonical) {
      report.hand.Invalid(
          at,
          data.ips[i],
          "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)");
    } else if (*canonical != data.ips[i]) {
      report.hand.Invalid(
          at, data.ips[i], fmt::format("must be in canonical form ({})", Quote(*canonical)));
    }
    if (!seen.insert(data.ips[i]).second) {
      report.declared.Duplicate(at, data.ips[i]);
    }
  }
}

void ValidateNetworkData(const NetworkDeviceData& data, const Path& path, Report& report) {
  if (data.interface_name.size() > kMaxInterfaceName) {
    report.declared.TooLong(path.Child("interfaceName"), kMaxInterfaceName);
  }
  ValidateIps(data, path.Child("ips"), report);
  if (data.hardware_address.size() > kMaxHardwareAddress) {
    report.declared.TooLong(path.Child("hardwareAddress"), kMaxHardwareAddress);
  }
}

void ValidateShareId(const Str* share_id, const Path& path, Report& report) {
  if (share_id != nullptr && !IsLowercaseUuid(*share_id)) {
    report.declared.Invalid(path, *share_id, "must be a lowercase UUID in 8-4-4-4-12 format");
  }
}

void ValidateDeviceStatus(const AllocatedDeviceStatus& device,
                          const std::set<SharedDevice>& allocated,
                          const Path& path,
                          Report& report) {
  ValidateDriverName(device.driver, path.Child("driver"), report.hand);
  ValidatePoolName(device.pool, path.Child("pool"), report.hand);
  ValidateDnsLabel(device.device, path.Child("device"), report.hand);
  ValidateShareId(device.share_id, path.Child("shareID"), report);
  if (!allocated.contains(SharedDeviceOf(device))) {
    report.hand.Invalid(
        path,
        BadValue::Raw(fmt::format(R"({{"Driver":{},"Pool":{},"Device":{},"ShareID":{}}})",
                                  Quote(device.driver),
                                  Quote(device.pool),
                                  Quote(device.device),
                                  Quote(device.share_id != nullptr ? *device.share_id : Str()))),
        "must be an allocated device in the claim");
  }
  const Path conditions = path.Child("conditions");
  if (device.conditions.size() > kMaxConditions) {
    report.hand.TooMany(conditions, device.conditions.size(), kMaxConditions);
  }
  ValidateConditions(device.conditions, conditions, report.hand);
  if (device.data != nullptr && !device.data->text.empty()) {
    ValidateRawObject(
        *device.data, kMaxStatusData, /*stored=*/false, path.Child("data"), report.hand);
  }
  if (device.network_data != nullptr) {
    ValidateNetworkData(*device.network_data, path.Child("networkData"), report);
  }
}

void ValidateDeviceStatuses(const ResourceClaimStatus& status, const Path& path, Report& report) {
  const std::set<SharedDevice> allocated = AllocatedDevices(status);
  std::set<SharedDevice> seen;
  for (std::size_t i = 0; i < status.devices.size(); ++i) {
    const Path at = path.Index(i);
    if (!seen.insert(SharedDeviceOf(status.devices[i])).second) {
      report.declared.Duplicate(at,
                                BadValue::Json(Desc<AllocatedDeviceStatus>(), &status.devices[i]));
    }
    ValidateDeviceStatus(status.devices[i], allocated, at, report);
  }
}

void ValidateResult(const DeviceRequestAllocationResult& result,
                    const RequestNames& names,
                    const Path& path,
                    Report& report) {
  ValidateRequestReference(result.request, names, path.Child("request"), report.hand);
  ValidateDriverNameDeclared(result.driver, path.Child("driver"), report.declared);
  ValidatePoolNameDeclared(result.pool, path.Child("pool"), report.declared);
  ValidateDnsLabel(result.device, path.Child("device"), report.hand);
  ValidateBindingConditions(
      result.binding_conditions, result.binding_failure_conditions, path, report);
  for (std::size_t i = 0; i < result.tolerations.size(); ++i) {
    ValidateToleration(result.tolerations[i], path.Item("tolerations", i), report);
  }
  ValidateShareId(result.share_id, path.Child("shareID"), report);
  ValidateSkipNodeOperations(result.skip_node_operations, path.Child("skipNodeOperations"), report);
}

/// A new allocation; one that is already stored is never looked at again.
void ValidateAllocation(const AllocationResult& allocation,
                        const RequestNames& names,
                        const Path& path,
                        Report& report) {
  const Path devices = path.Child("devices");
  const Path results = devices.Child("results");
  if (!TooMany(allocation.devices.results.size(), kMaxResults, results, report.declared)) {
    for (std::size_t i = 0; i < allocation.devices.results.size(); ++i) {
      ValidateResult(allocation.devices.results[i], names, results.Index(i), report);
    }
  }
  const Path configs = devices.Child("config");
  if (!TooMany(allocation.devices.config.size(), 2 * kMaxConfigs, configs, report.declared)) {
    for (std::size_t i = 0; i < allocation.devices.config.size(); ++i) {
      const DeviceAllocationConfiguration& config = allocation.devices.config[i];
      const Path at = configs.Index(i);
      if (config.source.empty()) {
        report.declared.Required(at.Child("source"));
      } else if (std::ranges::find(kConfigSources, config.source) == kConfigSources.end()) {
        report.declared.NotSupported(at.Child("source"), config.source, kConfigSources);
      }
      ValidateRequestReferences(config.requests, names, at.Child("requests"), report);
      ValidateConfiguration(config.device_configuration, /*stored=*/false, at, report);
    }
  }
  if (allocation.node_selector != nullptr) {
    core::ValidateNodeSelector(*allocation.node_selector, path.Child("nodeSelector"), report.hand);
  }
}

bool HasNewConsumers(const ResourceClaimStatus& next, const ResourceClaimStatus& old) {
  const auto key = [](const ResourceClaimConsumerReference& c) {
    return std::tuple(c.api_group, c.resource, c.name, c.uid);
  };
  std::set<std::tuple<Str, Str, Str, Str>> known;
  for (const ResourceClaimConsumerReference& consumer : old.reserved_for) {
    known.insert(key(consumer));
  }
  return std::ranges::any_of(next.reserved_for,
                             [&](const ResourceClaimConsumerReference& consumer) {
                               return !known.contains(key(consumer));
                             });
}

const DeviceRequestAllocationResult* FirstAdminResult(const ResourceClaimStatus& status) {
  if (status.allocation == nullptr) {
    return nullptr;
  }
  for (const DeviceRequestAllocationResult& result : status.allocation->devices.results) {
    if (result.admin_access != nullptr && *result.admin_access) {
      return &result;
    }
  }
  return nullptr;
}

void ValidateAdminResults(const StrategyContext& context,
                          const ResourceClaim& next,
                          const ResourceClaim& old,
                          FieldErrors& errors) {
  const DeviceRequestAllocationResult* const result = FirstAdminResult(next.status);
  if (result == nullptr || FirstAdminResult(old.status) != nullptr || context.lookup == nullptr) {
    return;
  }
  const Path status("status");
  const Path allocation = status.Child("allocation");
  const Path devices = allocation.Child("devices");
  const Path at = devices.Item(
      "results",
      static_cast<std::size_t>(result - next.status.allocation->devices.results.begin()));
  const auto allowed = context.lookup->AdminAccessAllowed(next.metadata.namespace_);
  if (!allowed) {
    errors.Internal(at.Child("adminAccess"),
                    fmt::format("could not retrieve namespace to verify admin access: {}",
                                allowed.error().message()));
  } else if (!*allowed) {
    errors.Forbidden(at.Child("adminAccess"), kAdminAccessDetail);
  }
}

void ValidateStatusUpdate(const StrategyContext& context,
                          const ResourceClaim& next,
                          const ResourceClaim& old,
                          Report& report) {
  ValidateAdminResults(context, next, old, report.hand);
  ValidateObjectMetaUpdate(next.metadata, old.metadata, Path("metadata"), report.hand);
  const Path status("status");
  const Path reserved_for = status.Child("reservedFor");
  const Path allocation = status.Child("allocation");
  const AllocationResult* const now = next.status.allocation;
  const AllocationResult* const before = old.status.allocation;
  if (now != nullptr && before != nullptr && now != before && !Same(*now, *before)) {
    report.declared.Invalid(allocation, BadValue::Null(), "field cannot be modified once set");
  }
  ValidateConsumers(next.status, reserved_for, report);
  ValidateDeviceStatuses(next.status, status.Child("devices"), report);
  if (!next.status.reserved_for.empty()) {
    if (now == nullptr) {
      report.hand.Forbidden(reserved_for, "may not be specified when `allocated` is not set");
    } else if (next.metadata.deletion_timestamp != nullptr &&
               HasNewConsumers(next.status, old.status)) {
      report.hand.Forbidden(reserved_for,
                            "new entries may not be added while `deallocationRequested` or "
                            "`deletionTimestamp` are set");
    }
  }
  if (now != nullptr && before == nullptr) {
    ValidateAllocation(*now, RequestNames(next.spec.devices), allocation, report);
  }
}

constexpr std::array<UpdateRules, 2> kClaimUpdates = {{
    {"", &Erased<ResourceClaim, PrepareForUpdate>, &Erased<ResourceClaim, ValidateUpdate>},
    {"status",
     &Erased<ResourceClaim, PrepareForStatusUpdate>,
     &Erased<ResourceClaim, ValidateStatusUpdate>},
}};

// --- templates ---

void DefaultTemplate(const StrategyContext&, ResourceClaimTemplate& object, Editor editor) {
  DefaultClaimSpec(object.spec.spec, editor);
}

void PrepareTemplateForCreate(const StrategyContext& context,
                              ResourceClaimTemplate& object,
                              Editor editor) {
  DropDisabled<ResourceClaimTemplate>(context, object, nullptr, editor);
}

void PrepareTemplateForUpdate(const StrategyContext& context,
                              ResourceClaimTemplate& next,
                              const ResourceClaimTemplate& old,
                              Editor editor) {
  DropDisabled(context, next, &old, editor);
}

void ValidateTemplate(const StrategyContext& context,
                      const ResourceClaimTemplate& object,
                      Report& report) {
  ValidateObjectMeta(
      object.metadata, Scope::kNamespaced, NameRule::kDnsSubdomain, Path("metadata"), report.hand);
  const Path spec("spec");
  ValidateTemplateMeta(object.spec.metadata, spec.Child("metadata"), report.hand);
  ValidateClaimSpec(context, object.spec.spec, spec.Child("spec"), report);
}

void ValidateTemplateCreate(const StrategyContext& context,
                            const ResourceClaimTemplate& object,
                            Report& report) {
  ValidateAdminAccess(context, object.spec.spec, object.metadata.namespace_, report.hand);
  ValidateTemplate(context, object, report);
}

void ValidateTemplateUpdate(const StrategyContext& context,
                            const ResourceClaimTemplate& next,
                            const ResourceClaimTemplate& old,
                            Report& report) {
  ValidateTemplate(context, next, report);
  ValidateObjectMetaUpdate(next.metadata, old.metadata, Path("metadata"), report.hand);
  if (!Same(next.spec, old.spec)) {
    report.hand.Invalid(
        Path("spec"), GoValue(Desc<ResourceClaimTemplateSpec>(), &next.spec), "field is immutable");
  }
}

constexpr std::array<UpdateRules, 1> kTemplateUpdates = {{
    {"",
     &Erased<ResourceClaimTemplate, PrepareTemplateForUpdate>,
     &Erased<ResourceClaimTemplate, ValidateTemplateUpdate>},
}};

}  // namespace

const Strategy kResourceClaimStrategy = {
    .type = &kResourceClaimDesc,
    .answers_deleted_object = true,
    .metadata_offset = offsetof(ResourceClaim, metadata),
    .apply_defaults = &Erased<ResourceClaim, Default>,
    .prepare_for_create = &Erased<ResourceClaim, PrepareForCreate>,
    .validate_create = &Erased<ResourceClaim, ValidateCreate>,
    .updates = kClaimUpdates,
};

const Strategy kResourceClaimTemplateStrategy = {
    .type = &kResourceClaimTemplateDesc,
    .answers_deleted_object = true,
    .metadata_offset = offsetof(ResourceClaimTemplate, metadata),
    .apply_defaults = &Erased<ResourceClaimTemplate, DefaultTemplate>,
    .prepare_for_create = &Erased<ResourceClaimTemplate, PrepareTemplateForCreate>,
    .validate_create = &Erased<ResourceClaimTemplate, ValidateTemplateCreate>,
    .updates = kTemplateUpdates,
};

}  // namespace allot::api::resource
