// Publisher: keeps the ResourceSlices and DeviceClasses of drivers in the API equal to what they
// discover.
//
// A slice that someone deleted or changed is written again; unchanged pools are left alone, so a
// restart writes nothing. A changed pool gets a higher generation: new slices first, then the old
// ones go. Thread safety: the loop's thread.  See: KEP-3063, node side of the DRA kubelet plugin
// helper.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "client/client.h"
#include "client/informer.h"
#include "client/loop.h"
#include "drivers/driver.h"
#include "telemetry/log.h"

namespace allot::drivers::kit {

class Publisher {
 public:
  /// A node whose slices this publisher keeps.
  struct NodeRef {
    std::string name;
    std::string uid;
  };
  struct Stats {
    std::size_t written = 0;
    std::size_t deleted = 0;
    std::size_t unchanged = 0;
  };

  /// REQUIRES: client, loop and drivers outlive the publisher.
  Publisher(client::Client& client,
            client::Loop& loop,
            std::vector<Driver*> drivers,
            telemetry::Logger log);

  /// Creates the drivers' DeviceClasses that do not exist; existing ones are left as they are.
  base::Result<void> PublishClasses();
  /// Publishes the slices of all drivers on `nodes` and keeps them from then on.
  base::Result<void> Start(std::vector<NodeRef> nodes);
  void Stop() { slices_.Stop(); }

  [[nodiscard]] const Stats& stats() const { return stats_; }

 private:
  using Slice = api::resource::ResourceSlice;
  struct Existing {
    std::string name;
    schema::View<Slice> view;
  };
  using Pool = std::pair<std::string, std::string>;  // driver, node

  base::Result<void> Publish(const NodeRef& node,
                             Driver& driver,
                             const std::vector<Existing>& existing);
  [[nodiscard]] static bool Same(const NodeRef& node,
                                 const std::vector<schema::Draft<Slice>>& wanted,
                                 const std::vector<Existing>& existing);
  void OnChanges(std::span<const client::Change> changes);
  void Repair(const Pool& pool);

  client::Client& client_;
  client::Loop& loop_;
  std::vector<Driver*> drivers_;
  telemetry::Logger log_;
  std::map<std::string, NodeRef, std::less<>> nodes_;
  client::Informer slices_;
  std::set<Pool> repairing_;
  std::set<std::string> own_deletes_;
  Stats stats_;
};

}  // namespace allot::drivers::kit
