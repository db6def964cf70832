#include "scheduler/binding_conditions.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "api/meta/v1.gen.h"

namespace allot::scheduler {
namespace {

using api::meta::Condition;
using api::resource::AllocatedDeviceStatus;
using api::resource::AllocationResult;
using api::resource::DeviceRequestAllocationResult;
using api::resource::ResourceClaim;

const AllocatedDeviceStatus* StatusOf(const ResourceClaim& claim,
                                      const DeviceRequestAllocationResult& result) {
  for (const AllocatedDeviceStatus& status : claim.status.devices) {
    if (status.driver == result.driver && status.pool == result.pool &&
        status.device == result.device) {
      return &status;
    }
  }
  return nullptr;
}

const Condition* Find(const AllocatedDeviceStatus& status, std::string_view type) {
  for (const Condition& condition : status.conditions) {
    if (condition.type == type) {
      return &condition;
    }
  }
  return nullptr;
}

bool IsTrue(const Condition* condition) {
  return condition != nullptr && condition->status == "True";
}

/// As Go's %q prints ordinary texts.
std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
  return out;
}

}  // namespace

bool HasBindingConditions(const AllocationResult& allocation) {
  return std::ranges::any_of(allocation.devices.results,
                             [](const DeviceRequestAllocationResult& result) {
                               return !result.binding_conditions.empty();
                             });
}

BindingCheck CheckBinding(const ResourceClaim& claim,
                          quantity::Time now,
                          std::chrono::seconds timeout) {
  const AllocationResult* const allocation = claim.status.allocation;
  if (allocation == nullptr) {
    return {BindingState::kWaiting, {}};
  }
  const auto not_ready = [&]() -> BindingCheck {
    const quantity::Time* const since = allocation->allocation_timestamp;
    if (since != nullptr && since->seconds + timeout.count() < now.seconds) {
      return {BindingState::kTimedOut,
              fmt::format("device binding timeout: claim={}", claim.metadata.name)};
    }
    return {BindingState::kWaiting, {}};
  };
  for (const DeviceRequestAllocationResult& result : allocation->devices.results) {
    if (result.binding_conditions.empty()) {
      continue;
    }
    const AllocatedDeviceStatus* const status = StatusOf(claim, result);
    if (status == nullptr) {
      return not_ready();  // later devices are not looked at
    }
    for (const schema::Str type : result.binding_failure_conditions) {
      if (const Condition* const failed = Find(*status, type); IsTrue(failed)) {
        return {BindingState::kFailed,
                fmt::format("device binding failed: claim={}, reason={}, message={}",
                            claim.metadata.name,
                            failed->reason,
                            Quoted(failed->message))};
      }
    }
    for (const schema::Str type : result.binding_conditions) {
      if (!IsTrue(Find(*status, type))) {
        return not_ready();
      }
    }
  }
  return {};
}

}  // namespace allot::scheduler
