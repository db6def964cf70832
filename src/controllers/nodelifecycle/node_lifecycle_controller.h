// NodeLifecycleController: turns what nodes say (or no longer say) into conditions and taints.
//
// A node is healthy while its Ready condition or its Lease moves; what counts is when we saw it
// move, by our own clock. Silence for the grace period makes its conditions Unknown. Conditions
// become NoSchedule taints, a node that is not ready also gets the NoExecute taint, unless all
// nodes are unwell: then it is rather us who do not hear. Thread safety: the loop's thread.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <unordered_map>

#include "client/typed.h"
#include "controllers/context.h"

namespace allot::controllers {

class NodeLifecycleController final : public Controller {
 public:
  struct Options {
    std::chrono::nanoseconds monitor_period = std::chrono::seconds(5);
    std::chrono::nanoseconds grace = std::chrono::seconds(50);
    /// For nodes that never posted a status.
    std::chrono::nanoseconds startup_grace = std::chrono::seconds(60);
  };
  NodeLifecycleController(Context& context, Options options);
  explicit NodeLifecycleController(Context& context)
      : NodeLifecycleController(context, Options()) {}

 private:
  struct Health {
    std::string heartbeat;  ///< what the Ready condition last said
    base::MonoTime heard{};
    bool posted = false;  ///< has a Ready condition
    bool ready = false;
    bool unknown = false;  ///< made Unknown here already
  };

  void OnNodes(std::span<const client::Change> changes);
  void OnLeases(std::span<const client::Change> changes);
  void Tick();
  void Arm();
  [[nodiscard]] bool AllUnwell() const { return ready_nodes_ == 0; }
  base::Result<void> Sync(const std::string& name);
  base::Result<void> MarkUnknown(const std::string& name);

  Context& context_;
  Options options_;
  client::Informer& nodes_;
  client::Informer& leases_;
  client::WorkQueue queue_;
  std::unordered_map<std::string, Health> health_;
  std::size_t ready_nodes_ = 0;
};

}  // namespace allot::controllers
