#include "drivers/sim/sim_driver.h"

#include <algorithm>
#include <charconv>

#include "base/random.h"
#include "quantity/quantity.h"
#include "text/json.h"
#include "text/value.h"

namespace allot::drivers::sim {
namespace {

using api::resource::DeviceAttribute;
using api::resource::DeviceCapacity;
using Slice = schema::Draft<api::resource::ResourceSlice>;

constexpr std::size_t kDevicesPerSlice = 128;  // the API's limit

std::uint64_t SeedOf(std::string_view node, std::string_view profile, int index) {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a: stable across runs and machines
  for (const std::string_view text : {node, std::string_view("/"), profile}) {
    for (const char c : text) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    }
  }
  return hash + static_cast<std::uint64_t>(index);
}

std::map<std::string, std::string> Values(const Profile& profile,
                                          std::string_view node,
                                          int index) {
  std::map<std::string, std::string> values;
  if (!profile.rows.empty()) {
    values = profile.rows[static_cast<std::size_t>(index) % profile.rows.size()];
  }
  values["index"] = std::to_string(index);
  values["node"] = node;
  values["uuid"] = base::Random(SeedOf(node, profile.name, index)).Uuid();
  return values;
}

std::string DeviceName(const Profile& profile, std::string_view node, int index) {
  std::string name =
      Expand(profile.device_name, Values(profile, node, index)).value_or(profile.name);
  if (!profile.rows.empty() && static_cast<std::size_t>(index) >= profile.rows.size() &&
      profile.device_name.find("{index}") == std::string::npos) {
    name += "-" + std::to_string(index);  // rows repeat, names must not
  }
  return name;
}

void SetAttribute(Slice& slice,
                  const AttributeTemplate& attribute,
                  const std::string& text,
                  DeviceAttribute& out) {
  switch (attribute.type) {
    case AttributeType::kString: slice.Set(out.string, slice.Copy(text)); break;
    case AttributeType::kVersion: slice.Set(out.version, slice.Copy(text)); break;
    case AttributeType::kBool: slice.Set(out.bool_, text == "true"); break;
    case AttributeType::kInt: {
      std::int64_t number = 0;
      std::from_chars(text.data(), text.data() + text.size(), number);
      slice.Set(out.int_, number);
      break;
    }
  }
}

void FillDevice(Slice& slice,
                const Profile& profile,
                std::string_view node,
                int index,
                api::resource::Device& device) {
  const auto values = Values(profile, node, index);
  device.name = slice.Copy(DeviceName(profile, node, index));
  for (const AttributeTemplate& attribute : profile.attributes) {
    DeviceAttribute value;
    SetAttribute(slice, attribute, Expand(attribute.text, values).value_or(""), value);
    slice.Put(device.attributes, slice.Copy(attribute.name), value);
  }
  for (const CapacityTemplate& capacity : profile.capacity) {
    DeviceCapacity value;
    value.value = quantity::ParseQuantity(capacity.quantity).value_or(quantity::Quantity());
    slice.Put(device.capacity, slice.Copy(capacity.name), value);
  }
}

/// What a driver reports about a device in the claim's status: its identifying attributes.
std::string StatusData(const Profile& profile, std::string_view node, int index) {
  const auto values = Values(profile, node, index);
  text::Value data = text::Value::Object();
  for (const AttributeTemplate& attribute : profile.attributes) {
    if (attribute.name == "uuid" || attribute.name == "model" || attribute.name == "productName" ||
        attribute.name == "driverVersion") {
      data.Set(attribute.name, text::Value(Expand(attribute.text, values).value_or("")));
    }
  }
  return data.members().empty() ? std::string() : text::ToJson(data);
}

}  // namespace

void SimDriver::AddClasses(const Profile& profile) {
  for (const ClassTemplate& added : profile.classes) {
    const bool known =
        std::any_of(classes_.begin(), classes_.end(), [&added](const ClassSpec& spec) {
          return spec.name == added.name;
        });
    if (!known) {
      classes_.push_back({added.name, added.expression, added.extended_resource_name});
    }
  }
}

void SimDriver::AddDevices(std::string_view node, const Profile& profile, int count) {
  nodes_[std::string(node)].push_back({&profile, count});
}

std::vector<Slice> SimDriver::Discover(std::string_view node) const {
  std::vector<Slice> slices;
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) {
    return slices;
  }
  std::vector<std::pair<const Profile*, int>> devices;
  for (const Group& group : found->second) {
    for (int i = 0; i < group.count; ++i) {
      devices.emplace_back(group.profile, i);
    }
  }
  for (std::size_t first = 0; first < devices.size() || slices.empty(); first += kDevicesPerSlice) {
    Slice& slice = slices.emplace_back();
    const std::size_t count = std::min(kDevicesPerSlice, devices.size() - first);
    slice->spec.driver = slice.Copy(name_);
    slice->spec.pool.name = slice.Copy(node);
    slice.Set(slice->spec.node_name, slice.Copy(node));
    auto* const out = slice.MutableList(slice->spec.devices, count);
    for (std::size_t i = 0; i < count; ++i) {
      const auto& [profile, index] = devices[first + i];
      FillDevice(slice, *profile, node, index, out[i]);
    }
  }
  for (Slice& slice : slices) {
    slice->spec.pool.resource_slice_count = static_cast<std::int64_t>(slices.size());
  }
  return slices;
}

base::Result<std::vector<PreparedDevice>> SimDriver::Prepare(
    std::string_view node, const api::resource::ResourceClaim& claim) {
  std::vector<PreparedDevice> prepared;
  const auto found = nodes_.find(node);
  if (found == nodes_.end() || claim.status.allocation == nullptr) {
    return prepared;
  }
  for (const auto& result : claim.status.allocation->devices.results) {
    if (result.driver != name_) {
      continue;
    }
    const std::size_t before = prepared.size();
    for (const Group& group : found->second) {
      for (int i = 0; i < group.count; ++i) {
        if (result.pool == node && DeviceName(*group.profile, node, i) == result.device) {
          const std::string share = result.share_id != nullptr ? std::string(*result.share_id) : "";
          prepared.push_back(
              {.request = std::string(result.request),
               .pool = std::string(result.pool),
               .device = std::string(result.device),
               .share_id = share,
               .cdi_device_ids = {"k8s." + name_ + "/claim=" + std::string(claim.metadata.uid) +
                                  "-" + std::string(result.device) +
                                  (share.empty() ? "" : "-" + share)},
               .status_data = StatusData(*group.profile, node, i)});
        }
      }
    }
    if (prepared.size() == before) {
      return base::Error(base::Reason::kNotFound,
                         "driver " + name_ + ": node " + std::string(node) + " has no device " +
                             std::string(result.device) + " in pool " + std::string(result.pool));
    }
  }
  prepared_.emplace(node, claim.metadata.uid);
  return prepared;
}

base::Result<void> SimDriver::Unprepare(std::string_view node, std::string_view claim_uid) {
  prepared_.erase({std::string(node), std::string(claim_uid)});
  return {};
}

std::vector<std::unique_ptr<SimDriver>> MakeDrivers(const Fleet& fleet) {
  std::vector<std::unique_ptr<SimDriver>> drivers;
  const auto driver_of = [&drivers](const std::string& name) -> SimDriver& {
    for (const auto& driver : drivers) {
      if (driver->name() == name) {
        return *driver;
      }
    }
    return *drivers.emplace_back(std::make_unique<SimDriver>(name));
  };
  for (const Profile& profile : fleet.profiles) {
    driver_of(profile.driver).AddClasses(profile);
  }
  ForEachNode(fleet, [&](const std::string& node, const FleetNodes& group) {
    for (const FleetDevices& devices : group.devices) {
      const Profile& profile = fleet.profiles[devices.profile];
      driver_of(profile.driver).AddDevices(node, profile, devices.count);
    }
  });
  return drivers;
}

}  // namespace allot::drivers::sim
