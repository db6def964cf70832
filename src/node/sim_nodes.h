// SimNodes: the Node objects and heartbeats of simulated nodes.
//
// A node is registered once, ready from its first version; its lease in kube-node-lease is renewed
// on the loop, the more slowly the more nodes there are (10 s up to 2,000, at most 40 s, which is
// what node lifecycle tolerates).  Thread safety: the loop's thread.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "client/client.h"
#include "client/loop.h"
#include "telemetry/log.h"

namespace allot::node {

struct NodeTaint {
  std::string key;
  std::string value;
  std::string effect;
};

struct NodeSpec {
  std::string name;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> capacity;  // REQUIRES: parsable quantities
  std::vector<NodeTaint> taints;
};

class SimNodes {
 public:
  /// REQUIRES: client and loop outlive the nodes.
  SimNodes(client::Client& client, client::Loop& loop, telemetry::Logger log);

  /// Creates the nodes that do not exist and makes the others ready again. Returns their uids, in
  /// order.
  base::Result<std::vector<std::string>> Register(const std::vector<NodeSpec>& nodes);
  /// Creates the leases and renews them from then on.
  void StartHeartbeats();

  /// The address of a node of ours; empty when it is not. Shape: "10.0.0.7".
  [[nodiscard]] std::string AddressOf(std::string_view node) const;
  [[nodiscard]] bool Has(std::string_view node) const { return indexes_.contains(node); }

 private:
  base::Result<std::string> RegisterOne(const NodeSpec& spec, std::size_t index);
  void Beat();
  base::Result<void> Renew(std::size_t at);

  client::Client& client_;
  client::Loop& loop_;
  telemetry::Logger log_;
  std::vector<std::string> names_;
  std::vector<std::string> uids_;
  std::vector<client::Revision> leases_;  // the version last written; 0 = not known
  std::map<std::string, std::size_t, std::less<>> indexes_;
  std::size_t next_beat_ = 0;
};

}  // namespace allot::node
