#include "allocator/allocator.h"

#include <utility>

#include "allocator/diagnose.h"
#include "allocator/prepared.h"
#include "allocator/search.h"
#include "inventory/selector_cache.h"

namespace allot::allocator {

struct Allocator::Impl {
  Impl(inventory::Inventory& inventory_in, Limits limits_in, AttemptLimits attempt_in)
      : inventory(inventory_in),
        limits(limits_in),
        steps_of_attempt(attempt_in.steps),
        cache(inventory_in),
        columns(inventory_in, SemanticsOf(inventory_in.features())),
        search(inventory_in, cache, columns) {
    cache.SetLimits(std::move(attempt_in.evaluations));
  }

  inventory::Inventory& inventory;
  Limits limits;
  std::uint64_t steps_of_attempt;
  std::uint64_t steps_before = 0;  // of the searches before the present attempt
  inventory::SelectorCache cache;
  AttributeColumns columns;
  Search search;
};

Allocator::Allocator(inventory::Inventory& inventory, Limits limits, AttemptLimits attempt_limits)
    : impl_(std::make_unique<Impl>(inventory, limits, std::move(attempt_limits))) {}

Allocator::~Allocator() = default;

void Allocator::BeginAttempt() {
  impl_->cache.BeginAttempt();
  impl_->steps_before = impl_->search.steps_of_all();
}

bool Allocator::OutOfSteps() const {
  return impl_->search.steps_of_all() - impl_->steps_before > impl_->steps_of_attempt;
}

Allocator::Work Allocator::work() const {
  return {impl_->cache.evaluations(), impl_->cache.spent(), impl_->search.steps_of_all()};
}

PreparedPtr Allocator::Prepare(std::span<const api::resource::ResourceClaim* const> claims) {
  return std::make_shared<const Prepared>(
      PrepareClaims(claims, impl_->inventory, impl_->cache, impl_->columns));
}

Outcome Allocator::Allocate(const PreparedPtr& prepared,
                            const inventory::NodeRef& node,
                            const inventory::AllocatedState& state) {
  Outcome outcome;
  AllocateInto(prepared, node, impl_->inventory.ViewFor(node), state, outcome);
  return outcome;
}

void Allocator::AllocateInto(const PreparedPtr& prepared,
                             const inventory::NodeRef& node,
                             const inventory::NodeViewPtr& view,
                             const inventory::AllocatedState& state,
                             Outcome& out) {
  if (out.prepared != prepared) {
    out.prepared = prepared;
  }
  if (out.view != view) {
    out.view = view;
  }
  impl_->search.Run({prepared.get(), &node, view.get(), &state}, impl_->limits, out);
}

NodeDiagnosis Allocator::Diagnose(const PreparedPtr& prepared,
                                  const inventory::NodeRef& node,
                                  const inventory::AllocatedState& state) {
  const inventory::NodeViewPtr view = impl_->inventory.ViewFor(node);
  return DiagnoseNode(
      impl_->inventory, impl_->search, {prepared.get(), &node, view.get(), &state}, impl_->limits);
}

}  // namespace allot::allocator
