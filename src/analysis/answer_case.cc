#include "analysis/answer_case.h"

#include <utility>

#include <fmt/format.h>

#include "inventory/inventory.h"

namespace allot::analysis {
namespace {

using allocator::Verdict;

std::string_view OutcomeName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kAllocated: return "allocated";
    case Verdict::kInfeasible: return "infeasible";
    case Verdict::kNodeError: return "node-error";
    case Verdict::kFatal: return "fatal";
    case Verdict::kBudgetExhausted:
    case Verdict::kUnfinished: return "timeout";
  }
  return "fatal";
}

std::string_view VariantName(inventory::Variant variant) {
  switch (variant) {
    case inventory::Variant::kStable: return "stable";
    case inventory::Variant::kIncubating: return "incubating";
    case inventory::Variant::kExperimental: return "experimental";
  }
  return "stable";
}

// The cluster of a case.
struct World {
  explicit World(const snapshot::AllocationCase& problem) : inventory(problem.features) {
    for (const auto* const device_class : problem.classes) {
      inventory.UpsertClass(*device_class);
    }
    for (const auto* const slice : problem.slices) {
      inventory.UpsertSlice(*slice);
    }
    inventory::ClaimUse use;
    for (const snapshot::AllocatedDevice& device : problem.allocated) {
      use.devices.push_back({inventory.InternDevice(device.driver, device.pool, device.device),
                             device.shared,
                             device.consumed});
    }
    held = state.Commit(std::move(use));
  }

  inventory::Inventory inventory;
  inventory::AllocatedState state;
  inventory::AllocatedState::Handle held;
};

}  // namespace

allocator::NodeDiagnosis DiagnoseCase(const snapshot::AllocationCase& problem,
                                      const allocator::Limits& limits) {
  World world(problem);
  allocator::Allocator allocator(world.inventory, limits);
  return allocator.Diagnose(
      allocator.Prepare(problem.claims), inventory::MakeNodeRef(*problem.node), world.state);
}

snapshot::AllocationAnswer AnswerCase(const snapshot::AllocationCase& problem,
                                      const allocator::Limits& limits,
                                      base::Arena& arena) {
  snapshot::AllocationAnswer answer;
  answer.id = problem.id;
  if (!problem.unsupported.empty()) {
    answer.outcome = "unsupported";
    answer.error = problem.unsupported;
    return answer;
  }
  World world(problem);
  allocator::Allocator allocator(world.inventory, limits);
  const auto node = inventory::MakeNodeRef(*problem.node);
  const allocator::Outcome outcome =
      allocator.Allocate(allocator.Prepare(problem.claims), node, world.state);
  answer.outcome = OutcomeName(outcome.verdict);
  answer.error = outcome.error;
  answer.steps = outcome.steps;
  answer.implementation = VariantName(problem.features.variant());
  if (outcome.verdict == Verdict::kAllocated) {
    answer.results = allocator::BuildResults(
        outcome,
        node,
        problem.features,
        [](std::size_t n) { return fmt::format("share-{}", n + 1); },
        arena);
  }
  return answer;
}

}  // namespace allot::analysis
