// The words for one device or one counter: which taints, which capacity, how much of what.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "allocator/capacity.h"
#include "allocator/explainer.h"
#include "quantity/saturating.h"

namespace allot::allocator {

using inventory::Device;
using inventory::PoolView;
using quantity::Int128;
using quantity::Quantity;

namespace {

constexpr std::size_t kMaxTaints = 4;
constexpr std::size_t kMaxValues = 8;

std::string TaintName(const api::resource::DeviceTaint& taint) {
  return fmt::format(
      "{}{}{}:{}", taint.key, taint.value.empty() ? "" : "=", taint.value, taint.effect);
}

// What the policy takes instead.
std::string PolicyText(const api::resource::CapacityRequestPolicy& policy) {
  if (policy.valid_range != nullptr) {
    const auto& range = *policy.valid_range;
    std::string text;
    const auto add = [&](std::string_view name, const Quantity* bound) {
      if (bound != nullptr) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, bound->ToString());
      }
    };
    add("min", range.min);
    add("max", range.max);
    add("step", range.step);
    return "the policy has " + text;
  }
  std::string text;
  for (std::size_t i = 0; i < policy.valid_values.size() && i < kMaxValues; ++i) {
    text += (i == 0 ? "" : ", ") + policy.valid_values[i].ToString();
  }
  return fmt::format(
      "the policy has {}{}", text, policy.valid_values.size() > kMaxValues ? ", ..." : "");
}

}  // namespace

std::string SelectorAdvice(std::string_view error) {
  const auto says = [error](std::string_view text) {
    return error.find(text) != std::string_view::npos;
  };
  if (says("no such key")) {
    return "guard the expression: has(...) or an optional chain with orValue(...)";
  }
  if (says("no such overload")) {
    return "compare values of one type: strings with strings, capacities with quantity(...)";
  }
  if (says("to bool") || says("boolean")) {
    return "let the expression end in true or false, as a comparison does";
  }
  return "correct the expression";
}

std::string Explainer::TaintText(const PreparedRequest& request, const Device& device) const {
  std::string text;
  for (const auto* const taint : device.taints) {
    if (!search_.Tolerated(request, *taint)) {
      text += (text.empty() ? "" : ", ") + TaintName(*taint);
    }
  }
  return text.empty() ? DeviceName(device)
                      : fmt::format("{} has taint {}", DeviceName(device), text);
}

// One device, and the taints of all that the request could have had.
std::string Explainer::TaintsText(const PreparedRequest& request) const {
  std::string first;
  std::set<std::string> taints;
  std::size_t of_first = 0;
  for (const Candidate& candidate : suspect_.before) {
    if (search_.Tolerated(request, *candidate.device)) {
      continue;
    }
    for (const auto* const taint : candidate.device->taints) {
      if (!search_.Tolerated(request, *taint)) {
        taints.insert(TaintName(*taint));
      }
    }
    if (first.empty()) {
      first = TaintText(request, *candidate.device);
      of_first = taints.size();
    }
  }
  if (taints.size() == of_first) {
    return first;
  }
  std::vector<std::string> named(taints.begin(), taints.end());
  const std::size_t more = named.size() > kMaxTaints ? named.size() - kMaxTaints : 0;
  named.resize(named.size() - more);
  return fmt::format("{}; taints: {}{}",
                     first,
                     fmt::join(named, ", "),
                     more == 0 ? "" : fmt::format(" and {} more", more));
}

std::string Explainer::CapacityText(const PreparedRequest& request, const Device& device) const {
  if (request.capacity != nullptr) {
    for (const auto& wanted : *request.capacity) {
      if (device.spec->capacity.Find(wanted.key) == nullptr) {
        return fmt::format("{} has no capacity \"{}\"", DeviceName(device), wanted.key);
      }
    }
  }
  std::vector<CapacityAmount> amounts;
  const bool fractional = inventory_.features().fractional_capacity_range;
  if (!ConsumptionOf(request.capacity, device, fractional, amounts)) {
    return DeviceName(device) + " cannot serve the capacity that is asked for";
  }
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    const auto& capacity = device.spec->capacity[i].value;
    const Quantity* const asked =
        request.capacity != nullptr ? request.capacity->Find(amounts[i].name) : nullptr;
    const std::string amount =
        asked != nullptr ? asked->ToString() : amounts[i].amount.ToString() + " (the default)";
    if (ViolatesPolicy(amounts[i].amount, capacity.request_policy, fractional)) {
      return fmt::format("{} does not give {} {}: {}",
                         DeviceName(device),
                         amount,
                         amounts[i].name,
                         PolicyText(*capacity.request_policy));
    }
    Quantity used = problem_.state->Consumed(device.id, amounts[i].name);
    used.format = capacity.value.format;
    if (quantity::SaturatingAdd(amounts[i].amount.nanos, used.nanos) > capacity.value.nanos) {
      return fmt::format("{} has {} {} of which {} is in use, {} is asked for{}",
                         DeviceName(device),
                         capacity.value.ToString(),
                         amounts[i].name,
                         used.ToString(),
                         amount,
                         asked != nullptr && asked->nanos != amounts[i].amount.nanos
                             ? ", rounded up to " + amounts[i].amount.ToString()
                             : "");
    }
  }
  return DeviceName(device) + " has too little capacity left";
}

std::string Explainer::CounterText(const Candidate& candidate) {
  const PoolView& pool = *problem_.view->pools[candidate.pool];
  const auto* const consumer = search_.ConsumerOf(candidate);
  if (consumer == nullptr) {
    return DeviceName(*candidate.device) + " uses counters, which are switched off";
  }
  const auto& left = search_.LedgerOf(candidate.pool).left();
  for (std::uint32_t i = consumer->first_use; i < consumer->end_use; ++i) {
    const auto& use = pool.uses[i];
    if (use.amount.nanos > left[use.cell]) {
      return fmt::format("{} needs {} of counter {}/{}, {} is left",
                         DeviceName(*candidate.device),
                         use.amount.ToString(),
                         pool.cells[use.cell].set,
                         pool.cells[use.cell].counter,
                         Quantity{left[use.cell], use.amount.format}.ToString());
    }
  }
  return DeviceName(*candidate.device) + " is in a pool with an over-committed counter";
}

// Devices that are there one by one, but together need more of a counter than is left.
bool Explainer::CountersOfRequest(const Left& left) {
  const auto& pools = problem_.view->pools;
  for (std::uint32_t p = 0; p < pools.size(); ++p) {
    const PoolView& pool = *pools[p];
    for (std::uint32_t cell = 0; cell < pool.cells.size(); ++cell) {
      std::vector<Int128> uses;
      for (const Candidate& candidate : left.devices) {
        const auto* const consumer =
            candidate.pool == p && search_.Charges(*left.request, *candidate.device)
                ? search_.ConsumerOf(candidate)
                : nullptr;
        Int128 used = 0;
        for (std::uint32_t i = consumer != nullptr ? consumer->first_use : 0;
             consumer != nullptr && i < consumer->end_use;
             ++i) {
          used = quantity::SaturatingAdd(used,
                                         pool.uses[i].cell == cell ? pool.uses[i].amount.nanos : 0);
        }
        uses.push_back(used);
      }
      std::sort(uses.begin(), uses.end());
      // Those that need least; more cannot be said without a search.
      const auto wanted = static_cast<std::size_t>(left.wanted);
      Int128 needed = 0;
      for (std::size_t i = 0; i < uses.size() && i < wanted; ++i) {
        needed = quantity::SaturatingAdd(needed, uses[i]);
      }
      const Int128 rest = search_.LedgerOf(p).left()[cell];
      if (needed > rest) {
        const auto format = pool.cells[cell].value.format;
        Add({CauseKind::kCounters,
             Subject(*left.request),
             left.wanted,
             fmt::format("{} devices need {} of counter {}/{} of pool {}/{}, {} is left",
                         left.wanted,
                         Quantity{needed, format}.ToString(),
                         pool.cells[cell].set,
                         pool.cells[cell].counter,
                         pool.driver,
                         pool.pool,
                         Quantity{rest, format}.ToString()),
             "ask for fewer or smaller devices, or wait for some to be freed"});
        return true;
      }
    }
  }
  return false;
}

}  // namespace allot::allocator
