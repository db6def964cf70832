// Diagnosis: why a pod does not fit, as data: causes, and for each request a funnel of devices.
//
// Event, condition, describe, explain and metrics are all made from it; nobody recomputes
// a reason elsewhere. Thread safety: values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace allot::allocator {

/// What stands in the way. The order is that of the funnel: earlier kinds exclude later ones.
enum class CauseKind : std::uint8_t {
  kNoNodes,              ///< the cluster has no nodes
  kClaimMissing,         ///< a claim does not exist, is being deleted or belongs to somebody else
  kTemplateMissing,      ///< the claim has not been made from its template
  kClaimPinned,          ///< the allocated claim is not usable on this node
  kClassMissing,         ///< the device class does not exist
  kRequestInvalid,       ///< the request cannot be served as written (feature off, unknown mode)
  kDriverAbsent,         ///< nothing is published for this node, or by that driver, at all
  kPoolIncomplete,       ///< slices of a pool are missing
  kPoolInvalid,          ///< a pool contradicts itself
  kClassSelectsNothing,  ///< the class's selectors pass no device
  kSelector,             ///< the request's selectors pass no device of the class
  kSelectorError,        ///< an expression failed on a device
  kAttributeMissing,     ///< a selector or constraint names an attribute no device has
  kWrongSection,         ///< an attribute is looked for among capacities, or the other way round
  kOtherNode,            ///< the devices are published for other nodes
  kTainted,              ///< taints that the request does not tolerate
  kInUse,                ///< held by claims
  kCapacity,             ///< not enough of a capacity is left, or the request breaks its policy
  kCounters,             ///< not enough of a shared counter is left
  kGroups,               ///< compatibility groups exclude each other
  kNodeFeature,          ///< the node lacks a feature the device needs
  kConstraint,           ///< no set of devices satisfies the claim's constraints
  kTooFew,               ///< fewer devices than asked for
  kTooMany,              ///< the claim would exceed 32 devices
  kCombination,          ///< each request fits alone, all together do not
  kBudget,               ///< the search was given up
  kNodeUnschedulable,
  kNodeName,
  kNodeTaint,
  kNodeAffinity,
  kNodePorts,
  kNodeResources,
};

/// The stable name of a kind ("PoolIncomplete").
[[nodiscard]] std::string_view CauseName(CauseKind kind);

struct Cause {
  CauseKind kind{};
  std::string subject;     ///< "claim default/c, request r", "pool d/p", "node resource cpu"
  std::int64_t count = 0;  ///< devices or nodes concerned
  std::string example;     ///< one of them, with the detail ("d/p/gpu-0 held by claim default/x")
  std::string hint;        ///< the smallest change that would help; empty when none is known
  /// Of the pod as a whole: on how many nodes it is so, and one of them.
  std::int64_t nodes = 0;
  std::string example_node{};

  friend bool operator==(const Cause&, const Cause&) = default;
};

/// How many devices are left after each test.
struct FunnelStage {
  CauseKind lost_to{};  ///< the test that removed devices
  std::int64_t left = 0;
  std::string example;  ///< one device that was removed, and why

  friend bool operator==(const FunnelStage&, const FunnelStage&) = default;
};

struct RequestFunnel {
  std::string claim;    ///< namespace/name
  std::string request;  ///< name or main/sub
  std::int64_t wanted = 0;
  std::int64_t published = 0;  ///< devices the node can see
  std::vector<FunnelStage> stages;

  friend bool operator==(const RequestFunnel&, const RequestFunnel&) = default;
};

/// The answer for one node, or for a group of nodes with equal answers.
struct NodeDiagnosis {
  std::int64_t nodes = 1;
  std::string example_node;
  std::vector<std::string> reasons;  ///< as they stand in the event, upstream's words
  std::vector<Cause> causes;         ///< most telling first
  std::vector<RequestFunnel> funnels;

  friend bool operator==(const NodeDiagnosis&, const NodeDiagnosis&) = default;
};

struct Diagnosis {
  std::string message;                   ///< text of condition and event, exactly upstream's
  std::vector<Cause> causes;             ///< of the pod as a whole
  std::vector<NodeDiagnosis> groups;     ///< the most telling; not all when there are many
  std::int64_t nodes_left_out = 0;       ///< looked at, in none of `groups`
  std::int64_t nodes_not_looked_at = 0;  ///< nobody knows why they are out
};

}  // namespace allot::allocator
