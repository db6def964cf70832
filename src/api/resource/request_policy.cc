#include "api/resource/request_policy.h"

#include <array>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "quantity/saturating.h"

namespace allot::api::resource {
namespace {

using quantity::Int128;
using quantity::Quantity;

constexpr std::size_t kMaxValidValues = 10;
constexpr Int128 kNanosPerUnit = 1'000'000'000;
constexpr Int128 kNanosPerMilli = 1'000'000;

bool IsFractional(const Quantity& q) {
  return q.nanos % kNanosPerUnit != 0;
}

/// The key that decides whether two valid values are the same: the rounded integer, or the exact
/// decimal.
std::string UniqueKey(const GateSet& gates, const Quantity& value) {
  return gates.Enabled(Gate::kDRAFractionalCapacityRange) ? value.ToString()
                                                          : fmt::to_string(value.Value());
}

void ValidateValidValues(const GateSet& gates,
                         const Quantity& fallback,
                         const Quantity& capacity,
                         const schema::List<Quantity>& values,
                         const Path& path,
                         FieldErrors& errors) {
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    if (values[i] > values[i + 1]) {
      errors.Invalid(
          path.Index(i + 1), values[i + 1].ToString(), "values must be sorted in ascending order");
    }
  }
  bool found = false;
  if (values.size() > kMaxValidValues) {
    errors.TooMany(path, values.size(), kMaxValidValues);
  } else {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] > capacity) {
        errors.Invalid(
            path.Index(i),
            values[i].ToString(),
            fmt::format("option is larger than capacity value: {}", capacity.ToString()));
      }
      found |= values[i] == fallback;
    }
    std::set<std::string> seen;
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::string key = UniqueKey(gates, values[i]);
      if (seen.contains(key)) {
        errors.Duplicate(path.Index(i), key);
      }
      seen.insert(std::move(key));
    }
  }
  if (!found) {
    errors.Invalid(
        path, fallback.ToString(), "default value is not valid according to the requestPolicy");
  }
}

struct RangeBounds {
  const Quantity& fallback;
  const CapacityRequestPolicyRange& range;

  /// The four amounts with their names.
  [[nodiscard]] std::array<std::pair<const Quantity*, std::string_view>, 4> All() const {
    return {{{&fallback, "default"}, {range.min, "min"}, {range.max, "max"}, {range.step, "step"}}};
  }
};

/// Answers true when every amount can be calculated with.
bool AmountsAreSafe(const RangeBounds& bounds, bool milli, const Path& path, FieldErrors& errors) {
  bool safe = true;
  for (const auto& [amount, name] : bounds.All()) {
    if (amount == nullptr) {
      continue;
    }
    if (milli) {
      if (amount->nanos % kNanosPerMilli != 0) {
        errors.Invalid(
            path.Child(name), amount->ToString(), "value cannot be represented as a milli value");
        safe = false;
      }
    } else if (amount->nanos < 0) {
      errors.Invalid(path.Child(name), amount->ToString(), "must be greater than or equal to 0");
      safe = false;
    } else if (amount->nanos > Int128{INT64_MAX} * kNanosPerUnit) {
      errors.Invalid(
          path.Child(name), amount->ToString(), "must not be larger than 9223372036854775807");
      safe = false;
    }
  }
  return safe;
}

void ValidateStep(const RangeBounds& bounds, bool milli, const Path& path, FieldErrors& errors) {
  const Quantity& min = *bounds.range.min;
  const Quantity& step = *bounds.range.step;
  const auto count = [milli](const Quantity& q) -> Int128 {
    return milli ? q.MilliValue() : q.Value();
  };
  const auto check = [&](const Quantity& value) {
    if (count(step) != 0 && (count(value) - count(min)) % count(step) != 0) {
      errors.Invalid(path,
                     value.ToString(),
                     fmt::format("value is not a multiple of a given step ({}) from ({})",
                                 step.ToString(),
                                 min.ToString()));
    }
  };
  check(bounds.fallback);
  if (bounds.range.max != nullptr) {
    check(*bounds.range.max);
  }
}

void ValidateRange(const GateSet& gates,
                   const Quantity& fallback,
                   const Quantity& capacity,
                   const CapacityRequestPolicyRange& range,
                   const Path& path,
                   FieldErrors& errors) {
  if (range.min == nullptr) {
    errors.Required(path.Child("min"), "required when validRange is defined");
    return;
  }
  const Quantity& min = *range.min;
  const auto invalid = [&](std::string_view name,
                           const Quantity& value,
                           std::string_view text,
                           const Quantity& bound) {
    errors.Invalid(
        path.Child(name), value.ToString(), fmt::format("{}: {}", text, bound.ToString()));
  };
  if (min > capacity) {
    invalid("min", min, "min is larger than capacity value", capacity);
  }
  if (fallback < min) {
    invalid("default", fallback, "default is less than min", min);
  }
  if (range.max != nullptr) {
    if (min > *range.max) {
      invalid("max", min, "min is larger than max", *range.max);
    }
    if (*range.max > capacity) {
      invalid("max", *range.max, "max is larger than capacity value", capacity);
    }
    if (fallback > *range.max) {
      invalid("default", fallback, "default is more than max", *range.max);
    }
  }
  const RangeBounds bounds = {.fallback = fallback, .range = range};
  bool milli = false;
  if (gates.Enabled(Gate::kDRAFractionalCapacityRange)) {
    for (const auto& [amount, name] : bounds.All()) {
      milli |= amount != nullptr && IsFractional(*amount);
    }
    if (milli && !AmountsAreSafe(bounds, milli, path, errors)) {
      return;
    }
  }
  if (range.step == nullptr) {
    return;
  }
  const Path step = path.Child("step");
  if (range.step->nanos <= 0) {
    errors.Invalid(step, range.step->ToString(), "must be greater than zero");
    return;
  }
  Quantity sum = min;
  quantity::AddTo(sum, *range.step);
  if (sum > capacity) {
    errors.Invalid(
        step,
        range.step->ToString(),
        fmt::format(
            "one step {} is larger than capacity value: {}", sum.ToString(), capacity.ToString()));
  }
  if (milli || AmountsAreSafe(bounds, milli, path, errors)) {
    ValidateStep(bounds, milli, step, errors);
  }
}

}  // namespace

void ValidateRequestPolicy(const GateSet& gates,
                           const Quantity& capacity,
                           const CapacityRequestPolicy& policy,
                           const Path& path,
                           FieldErrors& errors) {
  const bool values = !policy.valid_values.empty();
  if (values && policy.valid_range != nullptr) {
    errors.Forbidden(
        path,
        "exactly one policy can be specified, cannot specify \"validValues\" and \"validRange\" at "
        "the same time");
  } else if (values || policy.valid_range != nullptr) {
    if (policy.default_ == nullptr) {
      errors.Required(
          path.Child("default"),
          values ? "required when validValues is defined" : "required when validRange is defined");
    } else if (values) {
      ValidateValidValues(gates,
                          *policy.default_,
                          capacity,
                          policy.valid_values,
                          path.Child("validValues"),
                          errors);
    } else {
      ValidateRange(
          gates, *policy.default_, capacity, *policy.valid_range, path.Child("validRange"), errors);
    }
  }
}

}  // namespace allot::api::resource
