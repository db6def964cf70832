// Commit: writes a decision to the API: finalizer, claim status, binding, in this order. Between
// the last two the pod may have to wait for its devices (binding conditions), hence two halves.
//
// Straight code over a Client: chained writes on a local one (accepted in order, durable together),
// round trips on others. Claims that others changed meanwhile are read again; what cannot be
// reconciled is an error, and the decision is dropped by the caller. Thread safety: Run from any
// thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/core/v1.gen.h"
#include "api/resource/v1.gen.h"
#include "base/arena.h"
#include "client/typed.h"
#include "placement/resources.h"
#include "quantity/time.h"

namespace allot::scheduler {

/// One claim of the pod that must be written.
struct ClaimWrite {
  client::Typed<api::resource::ResourceClaim> claim;
  /// What the claim gets; null when it is allocated already and only the reservation is missing.
  /// Lifetime: CommitJob::memory.
  const api::resource::AllocationResult* allocation = nullptr;
};

/// The claim made for extended resources: it exists in memory alone until the commit creates it.
struct ExtendedWrite {
  const api::resource::ResourceClaim* claim = nullptr;  ///< null: none
  const api::resource::AllocationResult* allocation = nullptr;
  schema::List<api::core::ContainerExtendedResourceRequest> mappings;
};

struct CommitJob {
  std::string ns;
  std::string name;
  std::string uid;
  std::string node;
  std::vector<ClaimWrite> claims;
  ExtendedWrite extended;
  /// What the pod's devices take of the node, for its status. Lifetime: `memory`.
  placement::ClaimStatuses node_allocatable;
  /// Written as status.allocation.allocationTimestamp.
  quantity::Time now;
  bool stamp = true;
  /// Some device must be made ready before the pod is bound.
  bool wait_for_devices = false;
  std::shared_ptr<const base::Arena> memory;
};

/// What came of a commit as far as the calls told.
struct CommitOutcome {
  base::Result<void> result;
  /// Claims as last written, also when a later write failed.
  std::vector<client::Item> written;
  /// The name of the created extended-resource claim.
  std::string extended_name;
  /// The pod's status tells what its devices take.
  bool status_written = false;
};

/// Writes the claims of the job: the first half of a commit.
[[nodiscard]] CommitOutcome WriteClaims(client::Client& client, const CommitJob& job);
/// Binds the pod: the second half. With a local client `durable` is called once when the binding,
/// and with it all writes before, is on disk or has failed; with others never (the answer is
/// final).
[[nodiscard]] base::Result<void> Bind(client::Client& client,
                                      const CommitJob& job,
                                      std::function<void(const base::Result<void>&)> durable);

/// Takes the pod's reservations back after a failed commit, and deletes its extended-resource
/// claim. Best effort: what is left is found by the claim controller.
void Unreserve(client::Client& client, const CommitJob& job, const CommitOutcome& outcome);

}  // namespace allot::scheduler
