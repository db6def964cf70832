#include "drivers/sim/fleet.h"

#include <algorithm>
#include <set>

#include "drivers/sim/yaml_fields.h"
#include "quantity/quantity.h"
#include "text/yaml.h"

namespace allot::drivers::sim {
namespace {

constexpr int kMostNodes = 100'000;

base::Result<std::size_t> UseProfile(Fleet& fleet, const std::string& name) {
  for (std::size_t i = 0; i < fleet.profiles.size(); ++i) {
    if (fleet.profiles[i].name == name) {
      return i;
    }
  }
  ALLOT_ASSIGN_OR_RETURN(Profile profile, FindProfile(name));
  fleet.profiles.push_back(std::move(profile));
  return fleet.profiles.size() - 1;
}

base::Result<void> ParseDevices(const Fields& node, Fleet& fleet, FleetNodes& out) {
  ALLOT_ASSIGN_OR_RETURN(const text::Value* const devices, node.List("devices"));
  if (devices == nullptr) {
    return {};
  }
  for (const text::Value& item : devices->items()) {
    const Fields fields(item, node.PathOf("devices[" + std::to_string(out.devices.size()) + "]"));
    ALLOT_RETURN_IF_ERROR(fields.Check({"profile", "count"}));
    ALLOT_ASSIGN_OR_RETURN(const std::string name, fields.Text("profile"));
    auto profile = UseProfile(fleet, name);
    if (!profile) {
      return base::Error(std::move(profile).error().Prepend(fields.PathOf("profile") + ": "));
    }
    for (const FleetDevices& other : out.devices) {
      if (other.profile == *profile) {
        return base::Error(base::Reason::kInvalid,
                           fields.PathOf("profile") + ": \"" + name +
                               "\" is named twice; give it once with a count");
      }
    }
    ALLOT_ASSIGN_OR_RETURN(const int count,
                           fields.Int("count", fleet.profiles[*profile].count, 0, 4096));
    out.devices.push_back({*profile, count});
  }
  return {};
}

base::Result<void> ParseTaints(const Fields& node, FleetNodes& out) {
  ALLOT_ASSIGN_OR_RETURN(const text::Value* const taints, node.List("taints"));
  if (taints == nullptr) {
    return {};
  }
  for (const text::Value& item : taints->items()) {
    const Fields fields(item, node.PathOf("taints[" + std::to_string(out.taints.size()) + "]"));
    ALLOT_RETURN_IF_ERROR(fields.Check({"key", "value", "effect"}));
    FleetTaint taint;
    ALLOT_ASSIGN_OR_RETURN(taint.key, fields.Text("key"));
    ALLOT_ASSIGN_OR_RETURN(taint.value, fields.Text("value", ""));
    ALLOT_ASSIGN_OR_RETURN(taint.effect, fields.Text("effect"));
    if (taint.effect != "NoSchedule" && taint.effect != "PreferNoSchedule" &&
        taint.effect != "NoExecute") {
      return base::Error(Unexpected(fields.PathOf("effect"),
                                    *fields.Find("effect"),
                                    "NoSchedule, PreferNoSchedule or NoExecute"));
    }
    out.taints.push_back(std::move(taint));
  }
  return {};
}

base::Result<FleetNodes> ParseNodes(const Fields& fields, Fleet& fleet) {
  ALLOT_RETURN_IF_ERROR(fields.Check({"name", "count", "capacity", "labels", "taints", "devices"}));
  FleetNodes nodes;
  ALLOT_ASSIGN_OR_RETURN(nodes.name, fields.Text("name"));
  ALLOT_ASSIGN_OR_RETURN(nodes.count, fields.Int("count", 1, 0, kMostNodes));
  if (const auto name = Expand(nodes.name, {{"index", "0"}}); !name) {
    return base::Error(base::Reason::kInvalid,
                       fields.PathOf("name") + ": " + name.error().message());
  }
  if (nodes.count > 1 && nodes.name.find("{index}") == std::string::npos) {
    return base::Error(base::Reason::kInvalid,
                       fields.PathOf("name") + ": found \"" + nodes.name +
                           "\" for several nodes, expected a name with {index}");
  }
  ALLOT_ASSIGN_OR_RETURN(nodes.labels, fields.Texts("labels"));
  ALLOT_ASSIGN_OR_RETURN(nodes.capacity, fields.Texts("capacity"));
  for (const auto& [name, text] : nodes.capacity) {
    if (!quantity::ParseQuantity(text)) {
      return base::Error(
          base::Reason::kInvalid,
          fields.PathOf("capacity") + "." + name + ": found \"" + text + "\", expected a quantity");
    }
  }
  for (const auto& [name, value] : std::map<std::string, std::string>{
           {"cpu", "64"}, {"memory", "512Gi"}, {"ephemeral-storage", "1Ti"}, {"pods", "110"}}) {
    nodes.capacity.emplace(name, value);
  }
  ALLOT_RETURN_IF_ERROR(ParseTaints(fields, nodes));
  ALLOT_RETURN_IF_ERROR(ParseDevices(fields, fleet, nodes));
  return nodes;
}

}  // namespace

base::Result<Fleet> ParseFleet(std::string_view yaml, std::string_view source) {
  auto document = text::ParseYaml(yaml);
  if (!document) {
    return base::Error(std::move(document).error().Prepend(std::string(source) + ": "));
  }
  const Fields fields(*document, std::string(source) + ": fleet");
  ALLOT_RETURN_IF_ERROR(fields.Check({"nodes"}));
  ALLOT_ASSIGN_OR_RETURN(const text::Value* const groups, fields.List("nodes"));
  Fleet fleet;
  std::set<std::string> names;
  if (groups == nullptr) {
    return base::Error(base::Reason::kInvalid, fields.PathOf("nodes") + ": missing");
  }
  for (const text::Value& group : groups->items()) {
    const std::string path = fields.PathOf("nodes[" + std::to_string(fleet.nodes.size()) + "]");
    ALLOT_ASSIGN_OR_RETURN(FleetNodes nodes, ParseNodes(Fields(group, path), fleet));
    if (!names.insert(nodes.name).second) {
      return base::Error(base::Reason::kInvalid,
                         path + ".name: \"" + nodes.name + "\" is used twice");
    }
    fleet.nodes.push_back(std::move(nodes));
  }
  return fleet;
}

}  // namespace allot::drivers::sim
