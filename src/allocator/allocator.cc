#include "allocator/allocator.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "allocator/diagnose.h"
#include "allocator/prepared.h"
#include "allocator/search.h"
#include "inventory/selector_cache.h"

namespace allot::allocator {
namespace {

// The classes of all requests.
class AnyOfClass {
 public:
  AnyOfClass(const Prepared& prepared, inventory::SelectorCache& cache) : cache_(cache) {
    for (const PreparedRequest& request : prepared.requests) {
      if (request.device_class == nullptr) {
        continue;
      }
      std::vector<std::string_view> expressions;
      for (const auto& selector : request.device_class->spec->selectors) {
        expressions.push_back(selector.cel != nullptr ? selector.cel->expression
                                                      : std::string_view());
      }
      sets_.push_back(cache.Intern(expressions));
      cache.Sync(*sets_.back());
    }
  }

  [[nodiscard]] bool In(const inventory::Slice& slice) const {
    return std::any_of(slice.devices.begin(), slice.devices.end(), [&](const auto& device) {
      return std::any_of(sets_.begin(), sets_.end(), [&](const auto& set) {
        inventory::SelectorFailure failure;
        return cache_.Test(*set, device, failure) == inventory::SelectorCache::Match::kYes;
      });
    });
  }

 private:
  inventory::SelectorCache& cache_;
  std::vector<inventory::SelectorSetPtr> sets_;
};

}  // namespace

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
  RenewSteps();
}

void Allocator::RenewSteps() {
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

bool Allocator::OffersAny(const PreparedPtr& prepared, const inventory::NodeRef& node) {
  const inventory::NodeViewPtr view = impl_->inventory.ViewFor(node);
  const AnyOfClass any_of_class(*prepared, impl_->cache);
  return std::any_of(view->pools.begin(), view->pools.end(), [&](const auto& pool) {
    return std::any_of(pool->slices.begin(), pool->slices.end(), [&](const auto& slice) {
      return any_of_class.In(*slice);
    });
  });
}

}  // namespace allot::allocator
