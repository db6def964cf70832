#include "cel/estimate.h"

#include "cel/estimator.h"
#include "quantity/go_text.h"

namespace allot::cel {
namespace {

bool IsScalar(const Type* type) {
  switch (type->kind) {
    case TypeKind::kBool:
    case TypeKind::kDouble:
    case TypeKind::kDuration:
    case TypeKind::kInt:
    case TypeKind::kTimestamp:
    case TypeKind::kUint: return true;
    case TypeKind::kOpaque: return type->IsOptional() && IsScalar(type->params[0]);
    default: return false;
  }
}

std::uint64_t CodePoints(std::string_view text) {
  std::uint64_t count = 0;
  while (!text.empty()) {
    text.remove_prefix(quantity::DecodeRune(text).width);
    ++count;
  }
  return count;
}

std::optional<Range> OwnSize(const Expr* expr) {
  switch (expr->kind) {
    case ExprKind::kLiteral:
      switch (expr->literal->kind) {
        case LiteralKind::kString: return Range::Fixed(CodePoints(expr->literal->text));
        case LiteralKind::kBytes: return Range::Fixed(expr->literal->text.size());
        default: return Range::Fixed(1);
      }
    case ExprKind::kList: return Range::Fixed(expr->elements.size());
    case ExprKind::kMap: return Range::Fixed(expr->entries.size());
    default: return std::nullopt;
  }
}

bool IsBind(const Expr* expr) {
  const Comprehension& loop = *expr->loop;
  return loop.range->kind == ExprKind::kList && loop.range->elements.empty() &&
         loop.condition->kind == ExprKind::kLiteral &&
         loop.condition->literal->kind == LiteralKind::kBool && !loop.condition->literal->boolean &&
         loop.accumulator != "__result__";
}

}  // namespace

SizePath Estimator::PathOf(const Expr* expr) const {
  if (expr->kind == ExprKind::kIdent) {
    if (const Local* const local = FindLocal(expr->name); local != nullptr) {
      return local->path;
    }
  }
  return nodes_[expr->id].path;
}

SizePath Estimator::Append(SizePath path, std::string_view step) {
  if (path.size == path.capacity) {
    const std::uint32_t capacity = path.capacity == 0 ? 1 : path.capacity * 2;
    auto* const steps = arena_.NewArray<std::string_view>(capacity);
    std::copy_n(path.steps, path.size, steps);
    path.steps = steps;
    path.capacity = capacity;
  }
  path.steps[path.size++] = step;
  return path;
}

const Estimator::Local* Estimator::FindLocal(std::string_view name) const {
  for (std::size_t i = locals_.size(); i-- > 0;) {
    if (locals_[i].name == name) {
      return &locals_[i];
    }
  }
  return nullptr;
}

void Estimator::PushIteration(std::string_view name, const Expr* range, bool key, bool single) {
  const std::optional<EntrySizes> entries = ComputeEntries(range);
  const bool list = entries ? entries->list : TypeOf(range)->kind == TypeKind::kList;
  const bool use_key = single ? !list : key;
  std::optional<Range> size;
  if (entries) {
    size = use_key ? entries->key : entries->value;
  }
  const std::string_view step =
      use_key ? (list ? "@indices" : "@keys") : (list ? "@items" : "@values");
  locals_.push_back({name, Append(PathOf(range), step), size, std::nullopt});
}

SizedNode Estimator::Node(const Expr* expr) {
  return {expr, TypeOf(expr), PathOf(expr), ComputeSize(expr)};
}

std::optional<EntrySizes> Estimator::ComputeEntries(const Expr* expr) const {
  if (nodes_[expr->id].entries) {
    return nodes_[expr->id].entries;
  }
  if (expr->kind == ExprKind::kIdent) {
    if (const Local* const local = FindLocal(expr->name); local != nullptr) {
      return local->entries;
    }
  }
  return std::nullopt;
}

std::optional<Range> Estimator::ComputeSize(const Expr* expr) {
  NodeState& node = nodes_[expr->id];
  if (node.size) {
    return node.size;
  }
  if (const std::optional<Range> own = OwnSize(expr)) {
    return own;
  }
  if (const std::optional<Range> size = SizeByPath(PathOf(expr))) {
    node.size = size;
    return size;
  }
  if (IsScalar(TypeOf(expr))) {
    return Range::Fixed(1);
  }
  if (expr->kind == ExprKind::kIdent) {
    if (const Local* const local = FindLocal(expr->name); local != nullptr) {
      return local->size;
    }
  }
  return std::nullopt;
}

std::optional<Range> Estimator::SizeByPath(const SizePath& path) const {
  // What the walk over the declared types of `device` stands on.
  enum class Place : std::uint8_t {
    kDevice,
    kDriver,
    kFlag,
    kAttributes,
    kAttributeMap,
    kAttribute,
    kCapacities,
    kCapacityMap,
    kCapacity,
    kDomain,
    kName,
  };
  if (path.size == 0 || path.steps[0] != "device" || env_.device == nullptr) {
    return std::nullopt;
  }
  Place place = Place::kDevice;
  for (std::uint32_t i = 1; i < path.size; ++i) {
    const std::string_view step = path.steps[i];
    if (step == "@items" || step == "@values") {
      switch (place) {
        case Place::kAttributes: place = Place::kAttributeMap; break;
        case Place::kAttributeMap: place = Place::kAttribute; break;
        case Place::kCapacities: place = Place::kCapacityMap; break;
        case Place::kCapacityMap: place = Place::kCapacity; break;
        default: return std::nullopt;
      }
    } else if (step == "@keys") {
      switch (place) {
        case Place::kAttributes:
        case Place::kCapacities: place = Place::kDomain; break;
        case Place::kAttributeMap:
        case Place::kCapacityMap: place = Place::kName; break;
        default: return std::nullopt;
      }
    } else if (place == Place::kAttributeMap) {
      place = Place::kAttribute;
    } else if (place != Place::kDevice) {
      return std::nullopt;
    } else if (step == "driver") {
      place = Place::kDriver;
    } else if (step == "attributes") {
      place = Place::kAttributes;
    } else if (step == "capacity") {
      place = Place::kCapacities;
    } else if (step == "allowMultipleAllocations" && env_.device_fields.size() > 3) {
      place = Place::kFlag;
    } else {
      return std::nullopt;
    }
  }
  switch (place) {
    case Place::kDevice:
    case Place::kCapacity: return Range{0, 0};
    case Place::kFlag: return Range{0, 1};
    case Place::kDriver:
    case Place::kDomain: return Range{0, 63};
    case Place::kAttribute: return Range{0, 64};
    default: return Range{0, 32};
  }
}

Range Estimator::Cost(const Expr* expr) {
  switch (expr->kind) {
    case ExprKind::kIdent: {
      const Local* const local = FindLocal(expr->name);
      nodes_[expr->id].path = local != nullptr ? local->path : Append({}, expr->name);
      return Range::Fixed(1);
    }
    case ExprKind::kSelect: return CostSelect(expr);
    case ExprKind::kCall: return CostCall(expr);
    case ExprKind::kList: return CostList(expr);
    case ExprKind::kMap: return CostMap(expr);
    case ExprKind::kStruct: {
      Range sum;
      for (const Entry& field : expr->entries) {
        sum = sum.Plus(Cost(field.value));
      }
      return sum.Plus(Range::Fixed(40));
    }
    case ExprKind::kComprehension: return IsBind(expr) ? CostBind(expr) : CostLoop(expr);
    case ExprKind::kLiteral:
    case ExprKind::kUnspecified: return {};
  }
  return {};
}

Range Estimator::CostSelect(const Expr* expr) {
  // Kubernetes sets the cost of presence tests to zero.
  Range sum = Cost(expr->target);
  if (expr->test_only) {
    return sum;
  }
  switch (TypeOf(expr->target)->kind) {
    case TypeKind::kMap:
    case TypeKind::kStruct:
    case TypeKind::kParam: sum = sum.Plus(Range::Fixed(1)); break;
    default: break;
  }
  nodes_[expr->id].path = Append(PathOf(expr->target), expr->name);
  return sum;
}

Range Estimator::CostCall(const Expr* expr) {
  if (expr->name == "dyn" && !expr->args.empty()) {
    const Expr* const arg = expr->args[0];
    const Range cost = Cost(arg);
    if (const auto size = ComputeSize(arg)) {
      nodes_[expr->id].size = size;
    }
    if (const auto entries = ComputeEntries(arg)) {
      nodes_[expr->id].entries = entries;
    }
    return Range::Fixed(1).Plus(cost);
  }
  std::vector<SizedNode> args;
  std::vector<Range> costs;
  args.reserve(expr->args.size());
  costs.reserve(expr->args.size());
  for (const Expr* const arg : expr->args) {
    costs.push_back(Cost(arg));
    args.push_back(Node(arg));
  }
  const Reference& reference = tree_.ReferenceOf(expr);
  if (reference.overloads.empty()) {
    return {};
  }
  Range sum;
  std::optional<SizedNode> target;
  if (expr->member) {
    sum = Cost(expr->target);
    target = Node(expr->target);
  }
  Range total{kUnbounded, 0};
  std::optional<Range> result;
  for (const Overload* const overload : reference.overloads) {
    const CallEstimate call =
        Function(expr, *overload, *reference.function, target ? &*target : nullptr, args, costs);
    total = total.Union(call.cost);
    if (call.result) {
      result = result ? result->Union(*call.result) : *call.result;
    }
    const bool list = overload->id == "index_list";
    if ((list || overload->id == "index_map") && !expr->args.empty()) {
      const std::optional<EntrySizes> entries = ComputeEntries(expr->args[0]);
      result = entries ? std::optional(entries->value) : std::nullopt;
      nodes_[expr->id].path = Append(PathOf(expr->args[0]), list ? "@items" : "@values");
    }
    if (!result) {
      result = ComputeSize(expr);
    }
  }
  if (result) {
    nodes_[expr->id].size = result;
  }
  return sum.Plus(total);
}

Range Estimator::CostList(const Expr* expr) {
  Range sum;
  Range item{expr->elements.empty() ? 0 : kUnbounded, 0};
  for (const ListElement& element : expr->elements) {
    sum = sum.Plus(Cost(element.value));
    item = item.Union(SizeOrUnknown(element.value));
  }
  nodes_[expr->id].entries = EntrySizes{true, Range::Fixed(1), item};
  return sum.Plus(Range::Fixed(10));
}

Range Estimator::CostMap(const Expr* expr) {
  Range sum;
  Range key{expr->entries.empty() ? 0 : kUnbounded, 0};
  Range value = key;
  for (const Entry& entry : expr->entries) {
    sum = sum.Plus(Cost(entry.key));
    sum = sum.Plus(Cost(entry.value));
    key = key.Union(SizeOrUnknown(entry.key));
    value = value.Union(SizeOrUnknown(entry.value));
  }
  nodes_[expr->id].entries = EntrySizes{false, key, value};
  return sum.Plus(Range::Fixed(30));
}

Range Estimator::CostLoop(const Expr* expr) {
  const Comprehension& loop = *expr->loop;
  Range sum = Cost(loop.range);
  sum = sum.Plus(Cost(loop.init));
  locals_.push_back(
      {loop.accumulator, PathOf(loop.init), ComputeSize(loop.init), ComputeEntries(loop.init)});
  if (!loop.variable2.empty()) {
    PushIteration(loop.variable, loop.range, true, false);
    PushIteration(loop.variable2, loop.range, false, false);
  } else {
    PushIteration(loop.variable, loop.range, false, true);
  }
  const Range condition = Cost(loop.condition);
  const Range step = Cost(loop.step);
  locals_.resize(locals_.size() - (loop.variable2.empty() ? 1 : 2));
  sum = sum.Plus(Cost(loop.result));
  locals_.pop_back();

  const Range count = SizeOrUnknown(loop.range);
  sum = sum.Plus(count.Times(step.Plus(condition)));
  NodeState& node = nodes_[expr->id];
  switch (loop.init->kind) {
    case ExprKind::kLiteral:
      if (const auto size = ComputeSize(loop.init)) {
        node.size = size;
      }
      break;
    case ExprKind::kList:
    case ExprKind::kMap:
      node.size = count;
      if (const auto entries = ComputeEntries(loop.step)) {
        node.entries = entries;
      }
      break;
    default: break;
  }
  return sum;
}

Range Estimator::CostBind(const Expr* expr) {
  const Comprehension& loop = *expr->loop;
  Range sum = Cost(loop.range);
  sum = sum.Plus(Cost(loop.init));
  locals_.push_back(
      {loop.accumulator, PathOf(loop.init), ComputeSize(loop.init), ComputeEntries(loop.init)});
  sum = sum.Plus(Cost(loop.result));
  locals_.pop_back();
  if (const auto size = ComputeSize(loop.result)) {
    nodes_[expr->id].size = size;
  }
  if (const auto entries = ComputeEntries(loop.result)) {
    nodes_[expr->id].entries = entries;
  }
  return sum;
}

std::uint64_t EstimateMaxCost(const Env& env,
                              const CheckedTree& tree,
                              std::uint32_t id_count,
                              base::Arena& arena) {
  return Estimator(env, tree, id_count, arena).Cost(tree.root).max;
}

}  // namespace allot::cel
