// Syntax trees as cel-go's debug printer shows them, bare with the kinds of nodes, or checked with
// types and references. Thread safety: pure functions.
#pragma once

#include <string>

#include "cel/ast.h"
#include "cel/checker.h"

namespace allot::golden {

/// "_+_(\n  1^#*expr.Constant_Int64Value#, ..."
[[nodiscard]] std::string PrintTree(const cel::Expr* root);
/// "_+_(\n  1~int,\n  ...)~int^add_int64". Without `across_kinds` comparisons of two kinds of
/// numbers are left out of the lists of overloads.
[[nodiscard]] std::string PrintChecked(const cel::CheckedTree& tree, bool across_kinds);

}  // namespace allot::golden
