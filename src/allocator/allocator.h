// Allocator: which devices a pod's claims get on one node, or why none.
//
// Read-only: nothing is taken until AllocatedState::Commit. The answer is the first one that
// upstream's depth-first search would find; branches that cannot hold an answer are not walked (see
// search.h), and the search is bounded by a number of steps, never by a clock. Thread safety: one
// thread an Allocator (it owns caches and scratch memory); several may share an Inventory while
// nobody writes it. See: docs/architecture.md; KEP-4381, 4815, 4816, 5055, 5075.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "allocator/diagnosis.h"
#include "api/resource/v1.gen.h"
#include "base/arena.h"
#include "inventory/allocated_state.h"
#include "inventory/evaluation_limits.h"
#include "inventory/inventory.h"
#include "inventory/node_view.h"

namespace allot::allocator {

struct Prepared;  // prepared.h

/// The pod's unallocated claims in compiled form: classes looked up, selectors and constraints
/// parsed. Lifetime: the claims it was made from; stale when Inventory::class_version() changes.
using PreparedPtr = std::shared_ptr<const Prepared>;

enum class Verdict : std::uint8_t {
  kAllocated,
  kInfeasible,       ///< does not fit on this node: proven
  kNodeError,        ///< this node is out with `error`; other nodes go on
  kFatal,            ///< the attempt ends for all nodes with `error`
  kBudgetExhausted,  ///< undecided within the step budget; counts as no fit
  /// The attempt may not go on evaluating expressions (AttemptLimits): `error` tells why. What was
  /// evaluated is kept, so that another attempt comes further.
  kUnfinished,
};

/// Consumed amount of one capacity, in the order of the device's capacities.
struct CapacityAmount {
  std::string_view name;
  quantity::Quantity amount;
};

/// One chosen device.
struct Pick {
  std::uint16_t claim = 0;
  std::uint16_t request = 0;
  std::int16_t subrequest = -1;  ///< -1: the request is `exactly`
  bool admin = false;
  bool shared = false;  ///< gets a share id and consumes capacity
  const inventory::Device* device = nullptr;
  std::vector<CapacityAmount> consumed;  ///< empty unless shared
};

struct Outcome {
  Verdict verdict = Verdict::kInfeasible;
  std::string error;        ///< upstream's text for kNodeError and kFatal
  std::vector<Pick> picks;  ///< kAllocated: claim by claim in the order taken
  /// kAllocated: the subrequest chosen, at the index of the request's first choice in
  /// Prepared::requests.
  std::vector<std::int16_t> chosen;
  std::uint64_t steps = 0;  ///< entries of the recursive search
  bool pruned = false;      ///< the search left out branches; steps are not upstream's then
  PreparedPtr prepared;
  inventory::NodeViewPtr view;  ///< keeps the devices of `picks` alive
};

struct Limits {
  /// Entries of the search after which the answer is kBudgetExhausted.
  std::uint64_t steps = 2'000'000;
  /// Never prune: the plain search, whose steps are upstream's.
  bool plain = false;
  /// Devices and steps the plain search may still try once it has turned back, before the pruned
  /// one takes over. 0: pruned from the start.
  std::uint64_t plain_trials = 64;
};

/// What all searches of one scheduling attempt together may cost. Default: without limit.
struct AttemptLimits {
  inventory::EvaluationLimits evaluations{};
  /// Entries of searches after which the attempt should end between two nodes.
  std::uint64_t steps = std::numeric_limits<std::uint64_t>::max();
};

/// Makes the share id of the n-th shared result.
using ShareIds = std::function<std::string(std::size_t)>;

class Allocator {
 public:
  explicit Allocator(inventory::Inventory& inventory,
                     Limits limits = {},
                     AttemptLimits attempt_limits = {});
  ~Allocator();
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  /// A new scheduling attempt: its limits are whole again.
  void BeginAttempt();
  /// A part of the attempt that has steps of its own.
  void RenewSteps();
  /// The attempt has used up its steps: it should go on another time.
  [[nodiscard]] bool OutOfSteps() const;
  /// Work so far, for fairness and for tests. Units: evaluations as EvaluationLimits::cost counts
  /// them; entries of searches.
  struct Work {
    std::uint64_t evaluations = 0;
    std::uint64_t cost = 0;
    std::uint64_t steps = 0;
  };
  [[nodiscard]] Work work() const;

  /// Compiles the claims. Mistakes in them are reported by Allocate, where upstream reports them.
  [[nodiscard]] PreparedPtr Prepare(std::span<const api::resource::ResourceClaim* const> claims);

  /// Searches `node` for devices. Cost: about 300 ns for one device; see docs/performance.md.
  [[nodiscard]] Outcome Allocate(const PreparedPtr& prepared,
                                 const inventory::NodeRef& node,
                                 const inventory::AllocatedState& state);
  /// As Allocate, with `out`'s memory reused.
  void AllocateInto(const PreparedPtr& prepared,
                    const inventory::NodeRef& node,
                    const inventory::NodeViewPtr& view,
                    const inventory::AllocatedState& state,
                    Outcome& out);

  /// Why Allocate says no on this node: the funnel of every request and the causes.
  /// Cost: evaluates every selector on every device of the node.
  [[nodiscard]] NodeDiagnosis Diagnose(const PreparedPtr& prepared,
                                       const inventory::NodeRef& node,
                                       const inventory::AllocatedState& state);
  /// Whether the node can use a device of the class of some request, in use or not.
  [[nodiscard]] bool OffersAny(const PreparedPtr& prepared, const inventory::NodeRef& node);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The AllocationResults of an allocated outcome, one a claim, as the API server stores them.
/// Lifetime: `arena`, `outcome` and the claims. REQUIRES: outcome.verdict == kAllocated.
[[nodiscard]] std::vector<api::resource::AllocationResult> BuildResults(
    const Outcome& outcome,
    const inventory::NodeRef& node,
    const inventory::Features& features,
    const ShareIds& share_ids,
    base::Arena& arena);

}  // namespace allot::allocator
