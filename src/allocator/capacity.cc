#include "allocator/capacity.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

namespace allot::allocator {
namespace {

using api::resource::CapacityRequestPolicy;
using api::resource::CapacityRequestPolicyRange;
using api::resource::DeviceCapacity;
using quantity::Int128;
using quantity::Quantity;

constexpr Int128 kNanosPerMilli = 1'000'000;
constexpr Int128 kNanosPerUnit = 1'000'000'000;
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

std::optional<std::int64_t> ExactMilli(const Quantity& q) {
  const Int128 milli = q.nanos / kNanosPerMilli;
  if (milli * kNanosPerMilli != q.nanos || milli > kMax || milli < -Int128{kMax} - 1) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(milli);
}

// Thousandths are used when every bound is a whole number of them and the step is at least one.
bool UsesMilli(const CapacityRequestPolicyRange& range, bool fractional_range) {
  if (!fractional_range) {
    return false;
  }
  for (const Quantity* const bound : {range.min, range.max, range.step}) {
    if (bound != nullptr && !ExactMilli(*bound)) {
      return false;
    }
  }
  return range.step == nullptr || *ExactMilli(*range.step) >= 1;
}

base::Result<Quantity> NotRepresentable(std::string_view why,
                                        const Quantity& request,
                                        std::string_view then) {
  return base::Error(base::Reason::kInvalid,
                     fmt::format("capacity request cannot be represented in the device's range "
                                 "arithmetic: {}{}{}",
                                 why,
                                 request.ToString(),
                                 then));
}

base::Result<Quantity> BadPolicy(std::string_view what) {
  return base::Error(base::Reason::kInvalid, fmt::format("request policy is invalid: {}", what));
}

base::Result<Quantity> RoundUp(const Quantity& request,
                               const CapacityRequestPolicyRange& range,
                               bool fractional_range) {
  if (request < *range.min) {
    return *range.min;
  }
  if (range.step == nullptr) {
    return request;
  }
  const bool milli = UsesMilli(range, fractional_range);
  Int128 requested = 0;
  Int128 min = 0;
  Int128 step = 0;
  if (milli) {
    const auto exact = ExactMilli(request);
    if (!exact) {
      return NotRepresentable("request ", request, " is not a representable milli value");
    }
    requested = *exact;
    min = *ExactMilli(*range.min);
    step = *ExactMilli(*range.step);
  } else {
    if (request.nanos > Int128{kMax} * kNanosPerUnit) {
      return NotRepresentable("request ", request, " exceeds MaxInt64");
    }
    requested = request.Value();
    min = range.min->Value();
    step = range.step->Value();
  }
  if (step <= 0) {
    return BadPolicy("validRange.step must be positive");
  }
  const Int128 steps = (requested - min + step - 1) / step;
  if ((milli || min >= 0) && steps > (kMax - min) / step) {
    return NotRepresentable("rounding request ",
                            request,
                            milli ? " up to the next step passes the milli-value range"
                                  : " up to the next step passes MaxInt64");
  }
  const Int128 rounded = min + steps * step;
  return Quantity{rounded * (milli ? kNanosPerMilli : kNanosPerUnit), range.step->format};
}

base::Result<Quantity> Consumption(const Quantity* request,
                                   const DeviceCapacity& capacity,
                                   bool fractional_range) {
  const CapacityRequestPolicy* const policy = capacity.request_policy;
  if (request == nullptr) {
    return policy != nullptr && policy->default_ != nullptr ? *policy->default_ : capacity.value;
  }
  if (policy == nullptr) {
    return *request;
  }
  if (policy->valid_range != nullptr && policy->valid_range->min != nullptr) {
    return RoundUp(*request, *policy->valid_range, fractional_range);
  }
  for (const Quantity& value : policy->valid_values) {
    if (*request <= value) {
      return value;
    }
  }
  return *request;
}

bool ViolatesRange(const Quantity& amount,
                   const CapacityRequestPolicyRange& range,
                   bool fractional_range) {
  if (range.max != nullptr && amount > *range.max) {
    return true;
  }
  if (range.step == nullptr || range.min == nullptr) {
    return false;
  }
  Int128 value = 0;
  Int128 min = 0;
  Int128 step = 0;
  if (UsesMilli(range, fractional_range)) {
    const auto exact = ExactMilli(amount);
    if (!exact) {
      return true;
    }
    value = *exact;
    min = *ExactMilli(*range.min);
    step = *ExactMilli(*range.step);
  } else {
    value = amount.Value();
    min = range.min->Value();
    step = range.step->Value();
  }
  return step == 0 || (value - min) % step != 0;
}

}  // namespace

bool AsksForUnknownCapacity(const schema::Map<Quantity>* requests,
                            const inventory::Device& device) {
  return requests != nullptr &&
         std::any_of(requests->begin(), requests->end(), [&](const auto& request) {
           return device.spec->capacity.Find(request.key) == nullptr;
         });
}

base::Result<void> ConsumptionOf(const schema::Map<Quantity>* requests,
                                 const inventory::Device& device,
                                 bool fractional_range,
                                 std::vector<CapacityAmount>& out) {
  out.clear();
  for (const auto& entry : device.spec->capacity) {
    const CapacityRequestPolicy* const policy = entry.value.request_policy;
    if (policy != nullptr && policy->valid_range != nullptr &&
        policy->valid_range->step != nullptr && policy->valid_range->min == nullptr) {
      // Upstream crashes here; no API server stores such a policy.
      return base::Error(base::Reason::kInvalid,
                         fmt::format("capacity \"{}\": request policy is invalid: validRange.step "
                                     "needs validRange.min",
                                     entry.key));
    }
    auto amount = Consumption(
        requests != nullptr ? requests->Find(entry.key) : nullptr, entry.value, fractional_range);
    if (!amount) {
      return base::Error(
          std::move(amount).error().Prepend(fmt::format("capacity \"{}\": ", entry.key)));
    }
    if (amount->nanos < 0) {
      return base::Error(base::Reason::kInvalid,
                         fmt::format("capacity \"{}\": capacity value is negative", entry.key));
    }
    out.push_back({entry.key, *amount});
  }
  return {};
}

bool ViolatesPolicy(const Quantity& amount,
                    const CapacityRequestPolicy* policy,
                    bool fractional_range) {
  if (policy == nullptr || (policy->default_ != nullptr && amount == *policy->default_ &&
                            amount.format == policy->default_->format)) {
    return false;
  }
  if (policy->valid_range != nullptr) {
    return ViolatesRange(amount, *policy->valid_range, fractional_range);
  }
  return !policy->valid_values.empty() &&
         std::none_of(policy->valid_values.begin(),
                      policy->valid_values.end(),
                      [&](const Quantity& value) { return amount == value; });
}

}  // namespace allot::allocator
