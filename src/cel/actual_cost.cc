#include "cel/actual_cost.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "cel/context.h"
#include "cel/named_format.h"
#include "cel/operations.h"

namespace allot::cel {
namespace {

constexpr double kTraversal = 0.1;
constexpr double kPattern = 0.25;

std::uint64_t Size(const Value& value) {
  return static_cast<std::uint64_t>(SizeOf(value).value_or(1));
}

// The size the interpreter sees: that of the value inside an optional.
std::uint64_t InnerSize(const Value& value) {
  if (value.Is(ValueKind::kOptional) && value.optional != nullptr) {
    return InnerSize(*value.optional);
  }
  return Size(value);
}

std::uint64_t Ceil(double value) {
  return static_cast<std::uint64_t>(std::ceil(value));
}
std::uint64_t Scan(std::uint64_t size) {
  return Ceil(static_cast<double>(size) * kTraversal);
}

std::uint64_t MatchCost(std::uint64_t text, std::uint64_t pattern) {
  return Ceil((1.0 + static_cast<double>(text)) * kTraversal) *
         Ceil(static_cast<double>(pattern) * kPattern);
}

// More than any limit: what walking over values costs that share their parts without end.
constexpr std::uint64_t kEndless = std::uint64_t{1} << 62;

std::uint64_t Traverse(const Value& value, std::size_t& steps) {
  if (++steps > Context::kMaxWork) {
    return kEndless;
  }
  switch (value.kind) {
    case ValueKind::kString:
    case ValueKind::kBytes: return static_cast<std::uint64_t>(value.size * kTraversal);
    case ValueKind::kList: {
      std::uint64_t cost = 0;
      for (const Value& item : value.list->values()) {
        cost = std::min(cost + Traverse(item, steps), kEndless);
      }
      return cost;
    }
    case ValueKind::kMap: {
      std::uint64_t cost = 0;
      for (const MapEntry& entry : value.map->values()) {
        cost = std::min(cost + Traverse(entry.key, steps), kEndless);
        cost = std::min(cost + Traverse(entry.value, steps), kEndless);
      }
      return cost;
    }
    default: return 1;
  }
}

std::uint64_t AllocatingList(double factor, std::uint64_t size) {
  if (factor < 0) {
    factor = 1;
  }
  const double cost = static_cast<double>(size) * factor;
  constexpr double kTwo63 = 9223372036854775808.0;
  return (cost >= kTwo63 ? std::uint64_t{1} << 63 : static_cast<std::uint64_t>(cost)) + 11;
}

std::uint64_t SelfCompare(const Value& list, std::string& panic) {
  if (!list.Is(ValueKind::kList)) {
    const bool adds = (Traits(list) & kAdder) != 0;
    panic = fmt::format("interface conversion: {} is not traits.Lister: missing method {}",
                        GoTypeName(list),
                        adds ? "Contains" : "Add");
    return 0;
  }
  double factor = 2;
  const std::uint64_t size = list.list->size;
  if (size > 0 &&
      (list.list->items[0].Is(ValueKind::kString) || list.list->items[0].Is(ValueKind::kBytes))) {
    factor += kTraversal;
  }
  return AllocatingList(factor, size * size);
}

std::uint64_t ContainsCost(std::span<const Value> args, std::string_view overload, bool cidr) {
  const std::uint64_t size = Size(args[0]);
  std::uint64_t cost = Scan(size + size);
  if (cidr) {
    cost += Scan(size) + 1;
  }
  if (overload == (cidr ? "cidr_contains_cidr_string" : "cidr_contains_ip_string")) {
    cost += Scan(Size(args[1]));
  }
  return cost;
}

// The Kubernetes estimator, by function name. False: it has no opinion.
bool NamedCallCost(NamedCost rule,
                   std::string_view overload,
                   std::span<const Value> args,
                   const Value& result,
                   std::uint64_t& cost) {
  switch (rule) {
    case NamedCost::kNone: return false;
    case NamedCost::kTraverseFirst: {
      std::size_t steps = 0;
      cost = Traverse(args[0], steps);
      return true;
    }
    case NamedCost::kScanFirst: cost = Scan(Size(args[0])); return true;
    case NamedCost::kScanFirstTwice:
      cost = Ceil(static_cast<double>(Size(args[0])) * 2 * kTraversal);
      return true;
    case NamedCost::kJoin:
      cost = Ceil(static_cast<double>(Size(result)) * 2 * kTraversal);
      return true;
    case NamedCost::kFind:
      if (args.size() < 2) {
        return false;
      }
      cost = MatchCost(Size(args[0]), Size(args[1]));
      return true;
    case NamedCost::kIp: cost = overload == "cidr_ip" ? 1 : Scan(Size(args[0])); return true;
    case NamedCost::kOne: cost = 1; return true;
    case NamedCost::kContainsIp: cost = ContainsCost(args, overload, false); return true;
    case NamedCost::kContainsCidr: cost = ContainsCost(args, overload, true); return true;
    case NamedCost::kValidate:
      if (!args[0].Is(ValueKind::kFormat)) {
        return false;
      }
      cost = MatchCost(Size(args[1]), args[0].format->regex_size);
      return true;
    case NamedCost::kEquals:
      switch (args[0].kind) {
        case ValueKind::kQuantity:
        case ValueKind::kSemver:
        case ValueKind::kUrl:
        case ValueKind::kIp:
        case ValueKind::kCidr:
        case ValueKind::kFormat: cost = 1; return true;
        default: return false;
      }
    case NamedCost::kCheck: cost = 350'000; return true;
    case NamedCost::kSelector:
      if (args.size() < 2) {
        return false;
      }
      cost = 10 + Scan(Size(args[1])) +
             Ceil(static_cast<double>(Ceil(static_cast<double>(Size(args[1])) * 0.5)) * 50);
      return true;
  }
  return false;
}

// Trackers of the list and set libraries, which come before everything else.
bool TrackedCost(CostRule rule,
                 std::span<const Value> args,
                 const Value& result,
                 std::uint64_t& cost,
                 std::string& panic) {
  switch (rule) {
    case CostRule::kListOutput: cost = AllocatingList(1, Size(result)); return true;
    case CostRule::kListFlatten: {
      double depth = 1;
      if (args.size() == 2) {
        if (!args[1].Is(ValueKind::kInt)) {
          panic = fmt::format("interface conversion: ref.Val is {}, not types.Int",
                              GoTypeName(args[1]));
          return true;
        }
        depth = static_cast<double>(args[1].integer);
      }
      cost = AllocatingList(depth, Size(args[0]));
      return true;
    }
    case CostRule::kListSelfCompare: cost = SelfCompare(args[0], panic); return true;
    case CostRule::kListSortBy: cost = SelfCompare(args[1], panic); return true;
    case CostRule::kSets:
    case CostRule::kSetsTwice: {
      const double product = static_cast<double>(Size(args[0]) * Size(args[1]));
      cost = 1 + static_cast<std::uint64_t>(product * (rule == CostRule::kSets ? 1 : 2));
      return true;
    }
    default: return false;
  }
}

}  // namespace

std::uint64_t CallCost(const Step& step,
                       std::span<const Value> args,
                       const Value& result,
                       std::string& panic) {
  const bool equality = step.kind == StepKind::kEqual || step.kind == StepKind::kNotEqual;
  const CostRule rule = equality                   ? CostRule::kCompareSizes
                        : step.overload != nullptr ? step.overload->cost
                                                   : CostRule::kOne;
  std::uint64_t cost = 0;
  if (TrackedCost(rule, args, result, cost, panic)) {
    return cost;
  }
  const std::string_view overload =
      step.overload != nullptr ? step.overload->id : std::string_view();
  if (NamedCallCost(step.function->named_cost, overload, args, result, cost)) {
    return cost;
  }
  switch (rule) {
    case CostRule::kSecondString: return Scan(InnerSize(args[1]));
    case CostRule::kFirstString: return Scan(InnerSize(args[0]));
    case CostRule::kInList: return InnerSize(args[1]);
    case CostRule::kCompareSizes: return Scan(std::min(InnerSize(args[0]), InnerSize(args[1])));
    case CostRule::kAddStrings: return Scan(InnerSize(args[0]) + InnerSize(args[1]));
    case CostRule::kMatches: return MatchCost(InnerSize(args[0]), InnerSize(args[1]));
    case CostRule::kContains: return Scan(InnerSize(args[0])) * Scan(InnerSize(args[1]));
    default: return 1;
  }
}

bool CostsMuch(const Step& step) {
  if (step.overload == nullptr) {
    return false;
  }
  switch (step.overload->cost) {
    case CostRule::kListSelfCompare:
    case CostRule::kListSortBy:
    case CostRule::kSets:
    case CostRule::kSetsTwice: return true;
    case CostRule::kContains: return step.function->named_cost == NamedCost::kNone;
    default: return false;
  }
}

bool ValueStack::Peek(std::span<const std::uint32_t> ids, std::span<Value> out) const {
  std::size_t above = entries_.size() + 1;
  for (std::size_t i = ids.size(); i-- > 0;) {
    std::uint32_t at = ids[i] < last_.size() ? last_[ids[i]] : 0;
    while (at >= above) {
      at = entries_[at - 1].previous;
    }
    if (at == 0) {
      return false;
    }
    out[i] = entries_[at - 1].value;
    above = at;
  }
  return true;
}

void ValueStack::Drop(std::uint32_t id) {
  if (id < last_.size() && last_[id] != 0) {
    Cut(last_[id] - 1);
  }
}

bool ValueStack::Take(std::uint32_t id, Value& out) {
  if (id >= last_.size() || last_[id] == 0) {
    return false;
  }
  out = entries_[last_[id] - 1].value;
  Cut(last_[id] - 1);
  return true;
}

}  // namespace allot::cel
