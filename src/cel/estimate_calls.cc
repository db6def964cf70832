// What single calls cost at most: the tables of cel-go and Kubernetes.
#include <cmath>

#include "cel/estimator.h"

namespace allot::cel {
namespace {

constexpr Range kOne = Range::Fixed(1);

Range Sum(std::span<const Range> costs) {
  Range sum;
  for (const Range& cost : costs) {
    sum = sum.Plus(cost);
  }
  return sum;
}

std::uint64_t LiteralOr(const SizedNode& node, std::uint64_t otherwise) {
  if (node.expr->kind != ExprKind::kLiteral || node.expr->literal->kind != LiteralKind::kInt) {
    return otherwise;
  }
  const std::int64_t value = node.expr->literal->integer;
  return value < 0 ? 0 : static_cast<std::uint64_t>(value);
}

CallEstimate AllocatingList(double factor, Range size) {
  return {size.Scaled(factor).Plus(Range::Fixed(11)), size};
}

// Go's conversion of a quotient that does not fit.
std::uint64_t CeilDivide(std::uint64_t a, std::uint64_t b) {
  constexpr double kTwo64 = 18446744073709551616.0;
  const double quotient = std::ceil(static_cast<double>(a) / static_cast<double>(b));
  return quotient >= kTwo64 ? std::uint64_t{1} << 63 : static_cast<std::uint64_t>(quotient);
}

}  // namespace

Range Estimator::Size(const SizedNode& node) const {
  if (node.computed) {
    return *node.computed;
  }
  return SizeByPath(node.path).value_or(Range::Unknown());
}

std::optional<SizedNode> Estimator::Element(const SizedNode& list) {
  if (list.type->param_count == 0) {
    return std::nullopt;
  }
  SizePath path;
  for (std::uint32_t i = 0; i < list.path.size; ++i) {
    path = Append(path, list.path.steps[i]);
  }
  return SizedNode{nullptr, list.type->params[0], Append(path, "@items"), std::nullopt};
}

std::optional<CallEstimate> Estimator::Library(const Overload& overload,
                                               const SizedNode* target,
                                               std::span<const SizedNode> args) {
  const auto square = [&](const SizedNode& node, double factor) {
    const Range size = Size(node);
    return AllocatingList(factor, size.Times(size));
  };
  switch (overload.cost) {
    case CostRule::kListOutput:
      if (overload.id == "list_slice") {
        const Range size = Size(*target);
        return AllocatingList(1,
                              Range::Fixed(LiteralOr(args[1], size.max) - LiteralOr(args[0], 0)));
      }
      if (overload.id == "lists_range") {
        return AllocatingList(1, Range::Fixed(LiteralOr(args[0], kUnbounded)));
      }
      return AllocatingList(1, Size(*target));
    case CostRule::kListFlatten: {
      const std::uint64_t depth = args.empty() ? 1 : LiteralOr(args[0], kUnbounded);
      return AllocatingList(static_cast<double>(depth), Size(*target));
    }
    case CostRule::kListSelfCompare: {
      const bool texts = overload.id == "list_string_sort" || overload.id == "list_bytes_sort";
      return square(*target, texts ? 2 + kTextCost : 2);
    }
    case CostRule::kListSortBy: {
      const bool texts =
          overload.id.starts_with("list_string_") || overload.id.starts_with("list_bytes_");
      return square(args[0], texts ? 2 + kTextCost : 2);
    }
    case CostRule::kSets:
    case CostRule::kSetsTwice: {
      const Range cost = Size(args[0]).Times(Size(args[1]));
      return CallEstimate{cost.Scaled(overload.cost == CostRule::kSets ? 1 : 2).Plus(kOne), {}};
    }
    default: return std::nullopt;
  }
}

std::optional<CallEstimate> Estimator::TraverseFirst(const struct Function& function,
                                                     const SizedNode& target) {
  const Range size = Size(target);
  if (const std::optional<SizedNode> element = Element(target)) {
    Range cost = kOne;
    if (element->type->kind == TypeKind::kString || element->type->kind == TypeKind::kBytes) {
      cost = cost.Plus(Size(*element).Scaled(kTextCost));
    }
    return CallEstimate{size.Times(cost), {}};
  }
  if (function.name == "includes") {
    return CallEstimate{size.Times(kOne), {}};
  }
  return CallEstimate{size.Scaled(kTextCost), {}};
}

CallEstimate Estimator::Replace(const SizedNode& target, std::span<const SizedNode> args) {
  const Range size = Size(target);
  const Range from = Size(args[0]);
  const Range to = Size(args[1]);
  Range count;
  Range retained;
  if (from.min == 0) {
    count.max = SaturatingAdd(size.max, 1);
    retained.max = size.max;
  } else if (to.max <= from.min) {
    retained.max = size.max;
  } else {
    count.max = CeilDivide(size.max, from.min);
  }
  if (from.max == 0) {
    count.min = SaturatingAdd(size.min, 1);
    retained.min = size.min;
  } else if (from.max <= to.min) {
    retained.min = size.min;
  } else {
    count.min = CeilDivide(size.min, from.max);
  }
  return {size.Scaled(2 * kTextCost), count.Times(to).Plus(retained)};
}

CallEstimate Estimator::Split(const SizedNode& target, std::span<const SizedNode> args) {
  const Range size = Size(target);
  std::uint64_t max = size.max;
  if (args.size() > 1 && args[1].expr->kind == ExprKind::kLiteral &&
      args[1].expr->literal->kind == LiteralKind::kInt) {
    max = static_cast<std::uint64_t>(args[1].expr->literal->integer);
  }
  return {size.Scaled(2 * kTextCost), Range{0, max}};
}

CallEstimate Estimator::Join(const SizedNode& target, std::span<const SizedNode> args) {
  Range size;
  const Range list = Size(target);
  if (const std::optional<SizedNode> element = Element(target)) {
    size = list.Times(Size(*element));
  }
  if (!args.empty()) {
    const Range separators{list.min > 0 ? list.min - 1 : 0, list.max > 0 ? list.max - 1 : 0};
    size = size.Plus(Size(args[0]).Times(separators));
  }
  return {size.Scaled(kTextCost), size};
}

std::optional<CallEstimate> Estimator::Equality(std::span<const SizedNode> args) {
  if (args.size() != 2 || !IsEquivalentType(args[0].type, args[1].type)) {
    return std::nullopt;
  }
  const Type* const type = args[0].type;
  if (type->kind != TypeKind::kOpaque && type->kind != TypeKind::kStruct) {
    return std::nullopt;
  }
  const std::string_view name = type->name;
  if (name == "net.IP" || name == "net.CIDR" || name == "kubernetes.Quantity" ||
      name == "kubernetes.Semver" || name.starts_with("kubernetes.authorization.")) {
    return CallEstimate{kOne, {}};
  }
  if (name == "kubernetes.NamedFormat") {
    return CallEstimate{Range{1, 64}.Scaled(kTextCost), {}};
  }
  if (name == "kubernetes.URL") {
    const std::uint64_t size = args[1].computed ? args[1].computed->max : 1;
    return CallEstimate{Range{1, size}.Scaled(kTextCost), {}};
  }
  return std::nullopt;
}

std::optional<CallEstimate> Estimator::Kubernetes(const Overload& overload,
                                                  const struct Function& function,
                                                  const SizedNode* target,
                                                  std::span<const SizedNode> args) {
  const auto scan = [&](double factor) -> std::optional<CallEstimate> {
    if (args.empty()) {
      return std::nullopt;
    }
    return CallEstimate{Size(args[0]).Scaled(factor), {}};
  };
  const std::string_view name = function.name;
  switch (function.named_cost) {
    case NamedCost::kNone: return std::nullopt;
    case NamedCost::kOne: return CallEstimate{kOne, {}};
    case NamedCost::kCheck: return CallEstimate{Range::Fixed(350'000), {}};
    case NamedCost::kSelector: {
      if (args.size() != 1) {
        return std::nullopt;
      }
      const Range size = Size(args[0]);
      return CallEstimate{
          Range::Fixed(10).Plus(size.Scaled(kTextCost)).Plus(size.Scaled(0.5).Scaled(50)), {}};
    }
    case NamedCost::kTraverseFirst:
      return target == nullptr ? std::nullopt : TraverseFirst(function, *target);
    case NamedCost::kScanFirst: {
      const bool keeps_size = name == "url";
      if (target != nullptr) {
        const Range size = Size(*target);
        return CallEstimate{size.Scaled(kTextCost), size};
      }
      std::optional<CallEstimate> call = scan(kTextCost);
      if (call && keeps_size) {
        call->result = Size(args[0]);
      }
      return call;
    }
    case NamedCost::kScanFirstTwice:
      if (name == "replace" && target != nullptr && args.size() >= 2) {
        return Replace(*target, args);
      }
      if (name == "split" && target != nullptr) {
        return Split(*target, args);
      }
      return scan(2 * kTextCost);
    case NamedCost::kJoin:
      return target == nullptr ? std::nullopt : std::optional(Join(*target, args));
    case NamedCost::kFind: {
      if (target == nullptr || args.empty()) {
        return std::nullopt;
      }
      const Range size = Size(*target);
      const Range text = size.Plus(kOne).Scaled(kTextCost);
      return CallEstimate{text.Times(Size(args[0]).Scaled(kPatternCost)), Range{0, size.max}};
    }
    case NamedCost::kIp:
      return overload.id == "cidr_ip" ? std::optional(CallEstimate{kOne, {}}) : scan(kTextCost);
    case NamedCost::kContainsIp:
    case NamedCost::kContainsCidr: {
      const Range size{4, 16};
      Range cost = size.Plus(size).Scaled(kTextCost);
      if (function.named_cost == NamedCost::kContainsCidr) {
        cost = cost.Plus(size.Scaled(kTextCost)).Plus(kOne);
      }
      if (overload.id == "cidr_contains_ip_string" || overload.id == "cidr_contains_cidr_string") {
        cost = cost.Plus(Size(args[0]).Scaled(kTextCost));
      }
      return CallEstimate{cost, {}};
    }
    case NamedCost::kValidate: {
      if (args.empty()) {
        return std::nullopt;
      }
      return CallEstimate{Size(args[0]).Scaled(kTextCost).Scaled(128 * kPatternCost), {}};
    }
    case NamedCost::kEquals: return Equality(args);
  }
  return std::nullopt;
}

CallEstimate Estimator::Function(const Expr* expr,
                                 const Overload& overload,
                                 const struct Function& function,
                                 const SizedNode* target,
                                 std::span<const SizedNode> args,
                                 std::span<const Range> arg_costs) {
  std::optional<CallEstimate> estimate = Library(overload, target, args);
  if (!estimate) {
    estimate = Kubernetes(overload, function, target, args);
  }
  if (estimate) {
    return {estimate->cost.Plus(Sum(arg_costs)), estimate->result};
  }
  const auto size = [](const SizedNode& node) {
    return node.computed.value_or(Range::Unknown());
  };
  const auto answer = [&](Range cost, std::optional<Range> result = std::nullopt) {
    return CallEstimate{cost.Plus(Sum(arg_costs)), result};
  };
  switch (overload.cost) {
    case CostRule::kFirstString:
      if (overload.id == "string_format" && target != nullptr) {
        return answer(size(*target).Scaled(kTextCost));
      }
      if (args.size() == 1) {
        const Range text = size(args[0]);
        Range result{text.min + 2, text.max * 2 + 2};
        if (overload.id == "string_to_bytes") {
          result = {text.min, text.max * 4};
        } else if (overload.id == "bytes_to_string") {
          result = {text.min / 4, text.max};
        }
        return answer(text.Scaled(kTextCost), result);
      }
      break;
    case CostRule::kSecondString:
      if (args.size() == 1) {
        return answer(size(args[0]).Scaled(kTextCost));
      }
      break;
    case CostRule::kInList: return answer(size(args[1]).Scaled(1));
    case CostRule::kMatches: {
      const Range text = size(target != nullptr ? *target : args[0]);
      const Range pattern = size(args[target != nullptr ? 0 : 1]);
      return answer(text.Plus(kOne).Scaled(kTextCost).Times(pattern.Scaled(kPatternCost)));
    }
    case CostRule::kContains:
      return answer(size(*target).Scaled(kTextCost).Times(size(args[0]).Scaled(kTextCost)));
    case CostRule::kCompareSizes: {
      const std::uint64_t smallest = std::min(size(args[0]).max, size(args[1]).max);
      return answer(Range{smallest > 0 ? std::uint64_t{1} : 0, smallest}.Scaled(kTextCost));
    }
    default: break;
  }
  if (overload.id == "logical_and" || overload.id == "logical_or") {
    return {{arg_costs[0].min, arg_costs[0].Plus(arg_costs[1]).max}, {}};
  }
  if (overload.id == "conditional") {
    const Range result = size(args[1]).Union(size(args[2]));
    const auto left = ComputeEntries(args[1].expr);
    const auto right = ComputeEntries(args[2].expr);
    if (left && right) {
      nodes_[expr->id].entries =
          EntrySizes{left->list, left->key.Union(right->key), left->value.Union(right->value)};
    }
    return {arg_costs[0].Plus(arg_costs[1].Union(arg_costs[2])), result};
  }
  const bool list = overload.id == "add_list";
  if (list || overload.cost == CostRule::kAddStrings) {
    const Range result = size(args[0]).Plus(size(args[1]));
    const auto left = ComputeEntries(args[0].expr);
    const auto right = ComputeEntries(args[1].expr);
    if (left && right) {
      nodes_[expr->id].entries =
          EntrySizes{left->list, left->key.Union(right->key), left->value.Union(right->value)};
    }
    return answer(list ? kOne : result.Scaled(kTextCost), result);
  }
  return answer(kOne);
}

}  // namespace allot::cel
