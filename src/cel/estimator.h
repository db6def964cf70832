// The state of one static estimate: paths, sizes and entry sizes of nodes, as cel-go's coster keeps
// them. Thread safety: one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "cel/checker.h"
#include "cel/environment.h"
#include "cel/estimate_range.h"

namespace allot::cel {

/// A path from a variable to a part of it. Appending may write into memory an older path shares, as
/// appending to a Go slice does: that decides some sizes upstream.
struct SizePath {
  std::string_view* steps = nullptr;
  std::uint32_t size = 0;
  std::uint32_t capacity = 0;
};

/// The sizes of the keys and values of a list or map.
struct EntrySizes {
  bool list = false;
  Range key;
  Range value;
};

/// A node as function estimators see it. `expr` is null for the element of a list.
struct SizedNode {
  const Expr* expr = nullptr;
  const Type* type = nullptr;
  SizePath path;
  std::optional<Range> computed;
};

struct CallEstimate {
  Range cost;
  std::optional<Range> result;
};

class Estimator {
 public:
  Estimator(const Env& env, const CheckedTree& tree, std::uint32_t id_count, base::Arena& arena)
      : env_(env), tree_(tree), arena_(arena), nodes_(id_count) {}

  Range Cost(const Expr* expr);

 private:
  struct Local {
    std::string_view name;
    SizePath path;
    std::optional<Range> size;
    std::optional<EntrySizes> entries;
  };
  struct NodeState {
    SizePath path;
    std::optional<Range> size;
    std::optional<EntrySizes> entries;
  };

  Range CostSelect(const Expr* expr);
  Range CostCall(const Expr* expr);
  Range CostList(const Expr* expr);
  Range CostMap(const Expr* expr);
  Range CostLoop(const Expr* expr);
  Range CostBind(const Expr* expr);

  CallEstimate Function(const Expr* expr,
                        const Overload& overload,
                        const struct Function& function,
                        const SizedNode* target,
                        std::span<const SizedNode> args,
                        std::span<const Range> arg_costs);
  std::optional<CallEstimate> Library(const Overload& overload,
                                      const SizedNode* target,
                                      std::span<const SizedNode> args);
  std::optional<CallEstimate> Kubernetes(const Overload& overload,
                                         const struct Function& function,
                                         const SizedNode* target,
                                         std::span<const SizedNode> args);
  std::optional<CallEstimate> TraverseFirst(const struct Function& function,
                                            const SizedNode& target);
  CallEstimate Replace(const SizedNode& target, std::span<const SizedNode> args);
  CallEstimate Split(const SizedNode& target, std::span<const SizedNode> args);
  CallEstimate Join(const SizedNode& target, std::span<const SizedNode> args);
  std::optional<CallEstimate> Equality(std::span<const SizedNode> args);

  SizePath PathOf(const Expr* expr) const;
  SizePath Append(SizePath path, std::string_view step);
  const Local* FindLocal(std::string_view name) const;
  void PushIteration(std::string_view name, const Expr* range, bool key, bool single);
  SizedNode Node(const Expr* expr);
  std::optional<SizedNode> Element(const SizedNode& list);
  std::optional<Range> ComputeSize(const Expr* expr);
  std::optional<EntrySizes> ComputeEntries(const Expr* expr) const;
  Range SizeOrUnknown(const Expr* expr) { return ComputeSize(expr).value_or(Range::Unknown()); }
  /// The size by the node, then by its path.
  Range Size(const SizedNode& node) const;
  std::optional<Range> SizeByPath(const SizePath& path) const;
  const Type* TypeOf(const Expr* expr) const { return tree_.TypeOf(expr); }

  const Env& env_;
  const CheckedTree& tree_;
  base::Arena& arena_;
  std::vector<NodeState> nodes_;
  std::vector<Local> locals_;
};

/// 0.1 a character and 0.25 a character of a pattern.
inline constexpr double kTextCost = 0.1;
inline constexpr double kPatternCost = 0.25;

}  // namespace allot::cel
