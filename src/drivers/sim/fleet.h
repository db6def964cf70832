// Fleet: which nodes and devices to simulate, from a readable YAML (examples/fleets/).
// Thread safety: values.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "drivers/sim/profile.h"

namespace allot::drivers::sim {

struct FleetTaint {
  std::string key;
  std::string value;
  std::string effect;
};

/// Devices of one profile on a node.
struct FleetDevices {
  std::size_t profile = 0;  // index into Fleet::profiles
  int count = 0;
};

/// Nodes that are alike but for the name.
struct FleetNodes {
  std::string name;  // with {index}
  int count = 1;
  std::map<std::string, std::string> capacity;  // resource name to quantity
  std::map<std::string, std::string> labels;
  std::vector<FleetTaint> taints;
  std::vector<FleetDevices> devices;
};

struct Fleet {
  std::vector<Profile> profiles;  // those in use, each once
  std::vector<FleetNodes> nodes;
};

/// Reads a fleet file. Errors: kInvalid naming `source`, the field's path, what was found and
/// expected.
[[nodiscard]] base::Result<Fleet> ParseFleet(std::string_view yaml, std::string_view source);

}  // namespace allot::drivers::sim
