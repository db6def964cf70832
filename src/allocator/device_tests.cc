// The tests of single devices that Search is made of.
#include <algorithm>

#include <fmt/format.h>

#include "allocator/capacity.h"
#include "allocator/search.h"
#include "api/tolerations.h"
#include "inventory/pools.h"
#include "quantity/saturating.h"

namespace allot::allocator {
namespace {

using api::resource::DeviceTaint;
using api::resource::DeviceToleration;
using inventory::Consumer;
using inventory::Device;
using inventory::DeviceId;
using inventory::PoolView;
using inventory::SelectorCache;
using inventory::Variant;

}  // namespace

std::string Search::NameOf(const Device& device) const {
  return fmt::format(
      "{}/{}/{}", device.slice->spec->driver, device.slice->spec->pool.name, device.spec->name);
}

bool Search::TakenInRun(DeviceId id, int claim) const {
  if (Value(id) >= marks_.size() || marks_[Value(id)].whole == 0) {
    return false;
  }
  return claim < 0 || std::any_of(
                          taken_.begin(),
                          taken_.end(),
                          [&](const Taken& taken) {
                            return !taken.shared && taken.candidate.device->id == id &&
                                   taken.request->claim == claim;
                          });
}

bool Search::InUse(const PreparedRequest& request, const Device& device) const {
  if (request.admin) {
    return TakenInRun(device.id, request.claim);
  }
  return TakenInRun(device.id, -1) || problem_.state->IsExclusive(device.id);
}

bool Search::HeldByOthers(const PreparedRequest& request, const Device& device) const {
  return !request.admin && problem_.state->IsExclusive(device.id);
}

Search::Tested Search::Selectable(const PreparedRequest& request, const Device& device) {
  if (!features_.device_binding_and_status && device.has_binding_conditions &&
      !device.spec->binding_conditions.empty()) {
    return Tested::kNo;
  }
  switch (cache_.Test(*request.selectors, device, failure_)) {
    case SelectorCache::Match::kNo: return Tested::kNo;
    case SelectorCache::Match::kError:
      Fail(CauseKind::kSelectorError, SelectorError(request, device, failure_));
      return Tested::kFatal;
    case SelectorCache::Match::kUsedUp: return UsedUp(request);
    case SelectorCache::Match::kYes: break;
  }
  if (!device.slice->per_device) {
    return Tested::kYes;
  }
  auto match = inventory::DeviceRuleMatches(*problem_.node, device);
  if (!match) {
    Fail(CauseKind::kPoolInvalid, std::string(match.error().message()));
    return Tested::kFatal;
  }
  return *match ? Tested::kYes : Tested::kNo;
}

Search::Tested Search::UsedUp(const PreparedRequest& request) {
  if (Interrupted()) {
    return Tested::kFatal;
  }
  // To blame is what cost most, which need not be what comes next.
  const SelectorCache::Costliest& costliest = cache_.costliest();
  const auto& requests = problem_.prepared->requests;
  const auto found = std::find_if(requests.begin(), requests.end(), [&](const auto& other) {
    return costliest.set != nullptr && other.selectors.get() == costliest.set;
  });
  const PreparedRequest& blamed = found != requests.end() ? *found : request;
  std::string what = "the costliest expression";
  if (found != requests.end()) {
    const bool of_class = costliest.selector < blamed.class_selectors;
    what = of_class ? fmt::format(
                          "selector #{} of class {}", costliest.selector, blamed.device_class->name)
                    : fmt::format("selector #{}", costliest.selector - blamed.class_selectors);
  }
  Fail(CauseKind::kBudget,
       fmt::format(
           "claim {}, request {}: the CEL cost of one scheduling attempt ({}) is used up; {} "
           "costs {} on one device. The next attempt goes on from here; ask for devices "
           "with cheaper selectors",
           problem_.prepared->claims[blamed.claim].display,
           blamed.full_name,
           cache_.limits().cost,
           what,
           costliest.cost));
  return Tested::kFatal;
}

std::string Search::SelectorError(const PreparedRequest& request,
                                  const Device& device,
                                  const inventory::SelectorFailure& failure) const {
  const bool of_class = failure.selector < request.class_selectors;
  const std::string owner =
      of_class ? fmt::format("class {}", request.device_class->name)
               : fmt::format("claim {}", problem_.prepared->claims[request.claim].display);
  const std::size_t number =
      of_class ? failure.selector : failure.selector - request.class_selectors;
  if (failure.compile) {
    return fmt::format("{}: selector #{}: CEL compile error: {}", owner, number, failure.text);
  }
  return fmt::format("{}: selector #{} on device {}: CEL runtime error: {}",
                     owner,
                     number,
                     NameOf(device),
                     failure.text);
}

bool Search::NodeFeatureMissing(const Device& device) const {
  if (device.slice->spec->skip_node_operations.empty() || variant_ != Variant::kExperimental) {
    return false;
  }
  return !features_.optional_node_operations || !problem_.node->optional_node_operations;
}

bool Search::CountersUnsupported(const Device& device) const {
  return device.has_counters && !features_.partitionable_devices;
}

bool Search::Tolerated(const PreparedRequest& request, const DeviceTaint& taint) const {
  if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") {
    return true;
  }
  return std::any_of(request.tolerations.begin(),
                     request.tolerations.end(),
                     [&](const auto& toleration) { return api::Tolerates(toleration, taint); });
}

bool Search::Tolerated(const PreparedRequest& request, const Device& device) const {
  return !features_.device_taints ||
         std::all_of(device.taints.begin(), device.taints.end(), [&](const DeviceTaint* taint) {
           return Tolerated(request, *taint);
         });
}

bool Search::Charges(const PreparedRequest& request, const Device& device) const {
  if (!device.has_counters || (request.admin && !features_.compatible)) {
    return false;
  }
  return !(IsShareable(device) && ChargedAlready(device));
}

bool Search::ChargedAlready(const Device& device) const {
  return SharedInRun(device.id) || problem_.state->IsShared(device.id);
}

Search::Tested Search::CapacityLeft(const PreparedRequest& request,
                                    const Device& device,
                                    bool name_only) {
  const bool committed = !name_only && problem_.state->IsShared(device.id);
  if (device.plain_capacity && request.capacity == nullptr && !committed &&
      !SharedInRun(device.id)) {
    return Tested::kYes;
  }
  if (AsksForUnknownCapacity(request.capacity, device)) {
    return Tested::kNo;
  }
  auto consumption =
      ConsumptionOf(request.capacity, device, features_.fractional_capacity_range, scratch_);
  if (!consumption) {
    Fail(CauseKind::kCapacity,
         fmt::format("claim {}, request {}: checking capacity for device {}: {}",
                     problem_.prepared->claims[request.claim].display,
                     request.name,
                     name_only ? std::string(device.spec->name) : NameOf(device),
                     consumption.error().message()));
    return Tested::kFatal;
  }
  const auto& capacities = device.spec->capacity;
  for (std::size_t i = 0; i < scratch_.size(); ++i) {
    const CapacityAmount& amount = scratch_[i];
    const api::resource::DeviceCapacity& capacity = capacities[i].value;
    if (ViolatesPolicy(
            amount.amount, capacity.request_policy, features_.fractional_capacity_range)) {
      return Tested::kNo;
    }
    quantity::Quantity sum = amount.amount;
    if (committed) {
      quantity::AddTo(sum, problem_.state->Consumed(device.id, amount.name));
    }
    if (!name_only && SharedInRun(device.id)) {
      for (const Taken& taken : taken_) {
        if (taken.shared && taken.candidate.device->id == device.id) {
          quantity::AddTo(sum, amounts_[taken.first_amount + i].amount);
        }
      }
    }
    if (sum > capacity.value) {
      return Tested::kNo;
    }
  }
  return Tested::kYes;
}

Search::Tested Search::ValuesOf(const PreparedRequest& request,
                                const PreparedConstraint& constraint,
                                const Device& device,
                                ValueIds& values) {
  for (const DerivedAttribute& derived : request.derived) {
    if (derived.name != constraint.attribute) {
      continue;
    }
    if (!derived.expression->compile_error().empty()) {
      Fail(CauseKind::kSelectorError,
           fmt::format("compile derived attribute {} failed: {}",
                       derived.name,
                       derived.expression->compile_error()));
      return Tested::kFatal;
    }
    const auto* const value = cache_.Derive(*derived.expression, device);
    if (value == nullptr) {
      return UsedUp(request);
    }
    if (!value->error.empty()) {
      Fail(CauseKind::kSelectorError,
           fmt::format("evaluate derived attribute {} on device {} failed: {}",
                       derived.name,
                       NameOf(device),
                       value->error));
      return Tested::kFatal;
    }
    values = columns_.OfValue(value->attribute);
    return Tested::kYes;
  }
  values = columns_.Of(*constraint.column, device);
  return Tested::kYes;
}

const Consumer* Search::ConsumerOf(const Candidate& candidate) const {
  const PoolView& pool = *problem_.view->pools[candidate.pool];
  if (!candidate.device->has_counters || pool.consumer_of.empty()) {
    return nullptr;
  }
  const std::uint32_t ordinal = pool.consumer_of[candidate.position];
  return ordinal != PoolView::kNone ? &pool.consumers[ordinal] : nullptr;
}

CounterLedger& Search::LedgerOf(std::uint32_t pool) {
  CounterLedger& ledger = ledgers_[pool];
  if (!ledger.started()) {
    ledger.Start(*problem_.view->pools[pool],
                 *problem_.state,
                 features_.compatibility_groups,
                 variant_ != Variant::kStable);
  }
  return ledger;
}

std::string Search::NodeSelectorError() const {
  for (std::size_t c = 0; c < problem_.prepared->claims.size(); ++c) {
    for (const Taken& taken : taken_) {
      if (taken.request->claim != c) {
        continue;
      }
      const Device& device = *taken.candidate.device;
      const inventory::Slice& slice = *device.slice;
      const bool own = slice.per_device;
      const bool binds = device.spec->binds_to_node != nullptr && *device.spec->binds_to_node;
      if ((own ? device.spec->node_name : slice.spec->node_name) != nullptr || binds) {
        break;
      }
      const auto* const selector = own ? device.spec->node_selector : slice.spec->node_selector;
      if (selector != nullptr && selector->node_selector_terms.size() > 1) {
        return fmt::format(
            "create NodeSelector for claim {}: unsupported ResourceSlice.NodeSelector with {} "
            "terms",
            problem_.prepared->claims[c].claim->metadata.name,
            selector->node_selector_terms.size());
      }
    }
  }
  return {};
}

}  // namespace allot::allocator
