// Driver: what a DRA driver does for one kind of device; drivers/kit carries it to the API.
//
// Everything is idempotent: a node agent repeats a call whose answer it has not seen.
// Thread safety: one thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/resource/v1.gen.h"
#include "base/status.h"
#include "schema/object.h"

namespace allot::drivers {

/// One prepared device: where it is and what the container runtime is told.
struct PreparedDevice {
  std::string request;
  std::string pool;
  std::string device;
  std::string share_id;
  std::vector<std::string> cdi_device_ids;  // "vendor/class=name"
  std::string status_data;                  // JSON for status.devices[].data; "" = none
};

/// A device class that the driver brings along.
struct ClassSpec {
  std::string name;
  std::string expression;
  std::string extended_resource_name;
};

class Driver {
 public:
  virtual ~Driver() = default;
  [[nodiscard]] virtual const std::string& name() const = 0;
  [[nodiscard]] virtual std::vector<ClassSpec> Classes() const = 0;
  /// The slices of `node`'s pool, without names, generation and owner.
  [[nodiscard]] virtual std::vector<schema::Draft<api::resource::ResourceSlice>> Discover(
      std::string_view node) const = 0;
  /// Makes the devices that `claim` got from this driver on `node` usable.
  /// Errors: kNotFound when the node has no such device.
  virtual base::Result<std::vector<PreparedDevice>> Prepare(
      std::string_view node, const api::resource::ResourceClaim& claim) = 0;
  virtual base::Result<void> Unprepare(std::string_view node, std::string_view claim_uid) = 0;
};

}  // namespace allot::drivers
