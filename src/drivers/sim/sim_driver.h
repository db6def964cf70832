// SimDriver: one driver name over all simulated nodes of a fleet, devices from profiles.
// Thread safety: one thread.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drivers/driver.h"
#include "drivers/sim/fleet.h"

namespace allot::drivers::sim {

class SimDriver final : public Driver {
 public:
  explicit SimDriver(std::string name) : name_(std::move(name)) {}

  void AddClasses(const Profile& profile);
  /// REQUIRES: profile outlives the driver and has its driver name.
  void AddDevices(std::string_view node, const Profile& profile, int count);

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] std::vector<ClassSpec> Classes() const override { return classes_; }
  [[nodiscard]] std::vector<schema::Draft<api::resource::ResourceSlice>> Discover(
      std::string_view node) const override;
  base::Result<std::vector<PreparedDevice>> Prepare(
      std::string_view node, const api::resource::ResourceClaim& claim) override;
  base::Result<void> Unprepare(std::string_view node, std::string_view claim_uid) override;

  /// Claims prepared and not unprepared, over all nodes; a work counter.
  [[nodiscard]] std::size_t prepared() const { return prepared_.size(); }

 private:
  struct Group {
    const Profile* profile = nullptr;
    int count = 0;
  };

  std::string name_;
  std::vector<ClassSpec> classes_;
  std::map<std::string, std::vector<Group>, std::less<>> nodes_;
  std::set<std::pair<std::string, std::string>> prepared_;  // node, claim uid
};

/// The drivers of a fleet. Lifetime: the fleet's.
[[nodiscard]] std::vector<std::unique_ptr<SimDriver>> MakeDrivers(const Fleet& fleet);
/// Calls `visit(node name, group)` for every node of the fleet, in order.
template <typename Visit>
void ForEachNode(const Fleet& fleet, Visit visit) {
  for (const FleetNodes& group : fleet.nodes) {
    for (int i = 0; i < group.count; ++i) {
      visit(*Expand(group.name, {{"index", std::to_string(i)}}), group);
    }
  }
}

}  // namespace allot::drivers::sim
