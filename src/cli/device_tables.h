// Devices and pools as tables: who has which device, and which pools are complete; made from slices
// and claims. Thread safety: one thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "cli/connection.h"
#include "cli/printer.h"
#include "text/value.h"

namespace allot::cli {

/// Whether `word` names one of these tables ("devices", "device", "pools", "pool").
[[nodiscard]] bool IsDeviceTable(std::string_view word);

/// Fetches slices and claims and prints `arguments[0]`; further arguments are device or pool names
/// to show.
[[nodiscard]] base::Result<std::string> DeviceTable(Connection& connection,
                                                    const std::vector<std::string>& arguments,
                                                    const OutputOptions& options);

/// The same from lists that were fetched already. Shape: arrays of ResourceSlice and ResourceClaim
/// objects.
[[nodiscard]] text::Value DeviceRecords(const text::Value& slices, const text::Value& claims);
[[nodiscard]] text::Value PoolRecords(const text::Value& slices, const text::Value& claims);

}  // namespace allot::cli
