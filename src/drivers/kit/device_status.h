// ReportDevices: writes what a driver knows about prepared devices into the claim's status.devices.
// Thread safety: any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "client/client.h"
#include "drivers/driver.h"
#include "quantity/time.h"

namespace allot::drivers::kit {

/// Puts one entry a device of `driver` into status.devices (condition Ready=True and the driver's
/// data); entries of other drivers and other conditions stay. Writes nothing when the claim says it
/// already. Errors: kNotFound when the claim is gone; kConflict after five lost races.
[[nodiscard]] base::Result<void> ReportDevices(client::Client& client,
                                               schema::View<api::resource::ResourceClaim> claim,
                                               std::string_view driver,
                                               const std::vector<PreparedDevice>& devices,
                                               const quantity::Time& now);

}  // namespace allot::drivers::kit
