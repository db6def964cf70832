#include "allocator/diagnose.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "allocator/explainer.h"
#include "inventory/pools.h"

namespace allot::allocator {

using inventory::PoolState;

void Explainer::Add(Cause cause) {
  if (std::find(out_.causes.begin(), out_.causes.end(), cause) == out_.causes.end()) {
    out_.causes.push_back(std::move(cause));
  }
}

// Slices with fields of gates that are off count as if they were not there.
bool Explainer::GateHidesSlices(const inventory::PoolView& pool) const {
  const inventory::Features& features = inventory_.features();
  if (features.compatibility_groups && features.partitionable_devices) {
    return false;
  }
  const auto slices = inventory_.Slices();
  return std::any_of(slices.begin(), slices.end(), [&](const inventory::SlicePtr& slice) {
    return slice->spec->driver == pool.driver && slice->spec->pool.name == pool.pool &&
           !inventory::SliceIsUsable(*slice, features);
  });
}

void Explainer::Pools() {
  for (const auto& pool : problem_.view->pools) {
    const std::string subject = fmt::format("pool {}/{}", pool->driver, pool->pool);
    if (pool->state == PoolState::kIncomplete && GateHidesSlices(*pool)) {
      Add({CauseKind::kPoolIncomplete,
           subject,
           pool->wanted_slices - pool->observed_slices,
           fmt::format("{} of {} slices of generation {} are used: the others need a gate that is "
                       "off",
                       pool->observed_slices,
                       pool->wanted_slices,
                       pool->generation),
           "turn on gate DRADeviceCompatibilityGroups (or DRAPartitionableDevices), or have the "
           "driver publish without"});
    } else if (pool->state == PoolState::kIncomplete) {
      Add({CauseKind::kPoolIncomplete,
           subject,
           pool->wanted_slices - pool->observed_slices,
           fmt::format("{} of {} slices of generation {} are published",
                       pool->observed_slices,
                       pool->wanted_slices,
                       pool->generation),
           "wait for the driver to publish all slices, or correct resourceSliceCount"});
    } else if (pool->state == PoolState::kInvalid) {
      Add({CauseKind::kPoolInvalid,
           subject,
           1,
           pool->invalid_reason,
           "the driver must publish a pool that does not contradict itself"});
    }
  }
  const bool told = std::any_of(out_.causes.begin(), out_.causes.end(), [](const Cause& cause) {
    return cause.kind == CauseKind::kDriverAbsent;
  });
  if (problem_.view->pools.empty() && problem_.view->error.empty() && !told) {
    Add({CauseKind::kDriverAbsent,
         "node",
         0,
         "no ResourceSlice offers devices to this node",
         "install the DRA driver on the node, or check its nodeName, nodeSelector and pods"});
  }
}

void Explainer::SmallestChange(const Limits& limits) {
  const auto cause = std::find_if(out_.causes.begin(), out_.causes.end(), [](const Cause& c) {
    return c.kind != CauseKind::kPoolIncomplete && c.kind != CauseKind::kPoolInvalid &&
           c.kind != CauseKind::kDriverAbsent;
  });
  if (cause == out_.causes.end()) {
    return;
  }
  // A hint that names the mistake says more than one that goes round it.
  const bool mistake = cause->kind == CauseKind::kAttributeMissing ||
                       cause->kind == CauseKind::kWrongSection ||
                       cause->kind == CauseKind::kSelectorError;
  std::string change = mistake ? std::string() : ChangeThatFits(search_, problem_, limits);
  if (!change.empty()) {
    cause->hint = std::move(change);
  }
}

NodeDiagnosis DiagnoseNode(const inventory::Inventory& inventory,
                           Search& search,
                           const Problem& problem,
                           const Limits& limits) {
  NodeDiagnosis out;
  out.example_node = problem.node->name;
  Outcome outcome;
  search.Run(problem, limits, outcome);
  if (outcome.verdict == Verdict::kAllocated) {
    return out;
  }
  const CauseKind fatal = search.error_kind();
  out.reasons.push_back(outcome.error.empty() ? "cannot allocate all claims" : outcome.error);
  Explainer explainer(inventory, search, problem, out);
  if (outcome.verdict == Verdict::kUnfinished) {
    explainer.Add({CauseKind::kBudget, "claims of the pod", 1, outcome.error, ""});
    return out;
  }
  if (!search.Begin(problem)) {
    explainer.Add({fatal, "claims of the pod", 1, outcome.error, ""});
    explainer.Pools();
    explainer.SmallestChange(limits);
    return out;
  }
  if (outcome.verdict == Verdict::kBudgetExhausted) {
    explainer.Add({CauseKind::kBudget,
                   "all requests together",
                   1,
                   fmt::format("undecided after {} steps", outcome.steps),
                   "simplify the claim: fewer requests, constraints or alternatives"});
  }
  explainer.Requests();
  if (outcome.verdict == Verdict::kFatal &&
      std::none_of(out.causes.begin(), out.causes.end(), [&](const Cause& cause) {
        return cause.kind == fatal;
      })) {
    explainer.Add({fatal, "claims of the pod", 1, outcome.error, ""});
  }
  explainer.Pools();
  explainer.Together();
  explainer.SmallestChange(limits);
  return out;
}

}  // namespace allot::allocator
