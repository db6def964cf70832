#include "allot/sim_fleet.h"

#include <utility>

#include "drivers/kit/device_status.h"
#include "drivers/kit/publisher.h"
#include "drivers/sim/sim_driver.h"
#include "node/pod_agent.h"
#include "node/preparer.h"
#include "node/sim_nodes.h"

namespace allot {
namespace {

/// What the agents call a driver for: prepares with every driver that has devices in the claim.
class DriverPreparer final : public node::Preparer {
 public:
  DriverPreparer(client::Client& client,
                 const base::Clock& clock,
                 std::vector<drivers::Driver*> drivers)
      : client_(client), clock_(clock), drivers_(std::move(drivers)) {}

  base::Result<std::vector<std::string>> Prepare(
      std::string_view node, const schema::View<api::resource::ResourceClaim>& claim) override {
    std::vector<std::string> cdi;
    for (drivers::Driver* const driver : drivers_) {
      ALLOT_ASSIGN_OR_RETURN(const auto devices, driver->Prepare(node, *claim));
      if (devices.empty()) {
        continue;
      }
      const auto seconds =
          std::chrono::duration_cast<std::chrono::seconds>(clock_.Now().time_since_epoch()).count();
      ALLOT_RETURN_IF_ERROR(drivers::kit::ReportDevices(
          client_, claim, driver->name(), devices, {.seconds = seconds, .nanos = 0, .set = true}));
      for (const drivers::PreparedDevice& device : devices) {
        cdi.insert(cdi.end(), device.cdi_device_ids.begin(), device.cdi_device_ids.end());
      }
    }
    return cdi;
  }

  base::Result<void> Unprepare(std::string_view node, std::string_view claim_uid) override {
    for (drivers::Driver* const driver : drivers_) {
      ALLOT_RETURN_IF_ERROR(driver->Unprepare(node, claim_uid));
    }
    return {};
  }

 private:
  client::Client& client_;
  const base::Clock& clock_;
  std::vector<drivers::Driver*> drivers_;
};

std::vector<drivers::Driver*> Pointers(
    const std::vector<std::unique_ptr<drivers::sim::SimDriver>>& drivers) {
  std::vector<drivers::Driver*> out;
  for (const auto& driver : drivers) {
    out.push_back(driver.get());
  }
  return out;
}

std::vector<node::NodeSpec> NodeSpecs(const drivers::sim::Fleet& fleet) {
  std::vector<node::NodeSpec> specs;
  drivers::sim::ForEachNode(
      fleet, [&specs](const std::string& name, const drivers::sim::FleetNodes& group) {
        node::NodeSpec& spec = specs.emplace_back();
        spec.name = name;
        spec.labels = group.labels;
        spec.capacity = group.capacity;
        for (const drivers::sim::FleetTaint& taint : group.taints) {
          spec.taints.push_back({taint.key, taint.value, taint.effect});
        }
      });
  return specs;
}

}  // namespace

struct SimFleet::Parts {
  Parts(SimFleet& fleet, client::Loop& loop)
      : drivers(drivers::sim::MakeDrivers(fleet.fleet_)),
        preparer(fleet.driver_client_, loop.clock(), Pointers(drivers)),
        publisher(fleet.driver_client_, loop, Pointers(drivers), fleet.log_),
        nodes(fleet.node_client_, loop, fleet.log_),
        pods(
            fleet.node_client_,
            loop,
            preparer,
            [this](std::string_view node) { return nodes.AddressOf(node); },
            fleet.log_) {}

  std::vector<std::unique_ptr<drivers::sim::SimDriver>> drivers;
  DriverPreparer preparer;
  drivers::kit::Publisher publisher;
  node::SimNodes nodes;
  node::PodAgent pods;
};

SimFleet::SimFleet(client::Backend& backend,
                   drivers::sim::Fleet fleet,
                   telemetry::Registry& metrics,
                   const telemetry::Logger& log,
                   const base::Clock& clock)
    : fleet_(std::move(fleet)),
      metrics_(metrics),
      log_(log.Named("fleet")),
      node_client_(backend, {"system:node-agent", {"system:nodes", "system:authenticated"}}),
      driver_client_(backend, {"system:device-driver", {"system:authenticated"}}),
      thread_("fleet", clock) {}

SimFleet::~SimFleet() {
  Stop();
}

base::Result<void> SimFleet::StartParts() {
  const std::vector<node::NodeSpec> specs = NodeSpecs(fleet_);
  node_count_ = specs.size();
  ALLOT_ASSIGN_OR_RETURN(const std::vector<std::string> uids, parts_->nodes.Register(specs));
  std::vector<drivers::kit::Publisher::NodeRef> refs;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    refs.push_back({specs[i].name, uids[i]});
  }
  ALLOT_RETURN_IF_ERROR(parts_->publisher.PublishClasses());
  ALLOT_RETURN_IF_ERROR(parts_->publisher.Start(std::move(refs)));
  parts_->nodes.StartHeartbeats();
  parts_->pods.Start();
  return {};
}

base::Result<void> SimFleet::Start() {
  std::promise<base::Result<void>> started;
  auto outcome = started.get_future();
  thread_.Start(
      metrics_,
      [this, &started] {
        parts_ = std::make_unique<Parts>(*this, thread_.loop());
        started.set_value(StartParts());
      },
      [this] { parts_.reset(); });
  return outcome.get();
}

void SimFleet::Stop() {
  thread_.Stop();
}

}  // namespace allot
