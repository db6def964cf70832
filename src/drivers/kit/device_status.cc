#include "drivers/kit/device_status.h"

#include <algorithm>
#include <utility>

#include "client/typed.h"

namespace allot::drivers::kit {
namespace {

using api::resource::AllocatedDeviceStatus;
using api::resource::ResourceClaim;

constexpr int kTries = 5;

bool Describes(const AllocatedDeviceStatus& status,
               std::string_view driver,
               const PreparedDevice& device) {
  return status.driver == driver && status.pool == device.pool && status.device == device.device &&
         (status.share_id != nullptr ? *status.share_id : std::string_view()) == device.share_id;
}

bool IsReady(const AllocatedDeviceStatus& status) {
  return std::any_of(status.conditions.begin(),
                     status.conditions.end(),
                     [](const api::meta::Condition& condition) {
                       return condition.type == "Ready" && condition.status == "True";
                     });
}

/// Returns whether the draft changed.
bool Merge(schema::Draft<ResourceClaim>& draft,
           std::string_view driver,
           const PreparedDevice& device,
           const quantity::Time& now) {
  auto& list = draft->status.devices;
  const auto* const found =
      std::find_if(list.begin(), list.end(), [&](const AllocatedDeviceStatus& status) {
        return Describes(status, driver, device);
      });
  if (found != list.end() && IsReady(*found)) {
    return false;
  }
  const auto at = static_cast<std::size_t>(found - list.begin());
  AllocatedDeviceStatus& status = draft.MutableList(list, found == list.end() ? 1 : 0)[at];
  status.driver = draft.Copy(driver);
  status.pool = draft.Copy(device.pool);
  status.device = draft.Copy(device.device);
  if (!device.share_id.empty()) {
    draft.Set(status.share_id, draft.Copy(device.share_id));
  }
  draft.Append(status.conditions,
               api::meta::Condition{.type = "Ready",
                                    .status = "True",
                                    .last_transition_time = now,
                                    .reason = "Prepared",
                                    .message = "the device is prepared on its node"});
  if (!device.status_data.empty()) {
    draft.Mutable(status.data).text = draft.Copy(device.status_data);
  }
  return true;
}

}  // namespace

base::Result<void> ReportDevices(client::Client& client,
                                 schema::View<ResourceClaim> claim,
                                 std::string_view driver,
                                 const std::vector<PreparedDevice>& devices,
                                 const quantity::Time& now) {
  for (int tries = 1;; ++tries) {
    schema::Draft<ResourceClaim> draft(claim);
    bool changed = false;
    for (const PreparedDevice& device : devices) {
      changed |= Merge(draft, driver, device, now);
    }
    if (!changed) {
      return {};
    }
    const auto written = client::UpdateStatus(client, draft, {.ack = client::Ack::kSequenced});
    if (written) {
      return {};
    }
    if (written.error().reason() != base::Reason::kConflict || tries == kTries) {
      return base::Error(written.error());
    }
    ALLOT_ASSIGN_OR_RETURN(
        auto fresh,
        client::Get<ResourceClaim>(client, claim->metadata.namespace_, claim->metadata.name));
    if (fresh->metadata.uid != claim->metadata.uid) {
      return base::Error(base::Reason::kNotFound, "the claim was replaced");
    }
    claim = std::move(fresh.view);
  }
}

}  // namespace allot::drivers::kit
