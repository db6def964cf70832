// The parser: source text to syntax tree. Thread safety: pure functions.
#pragma once

#include "cel/builder.h"

namespace allot::cel {

/// Parses the builder's source. Null: it did not parse, and the builder's errors tell why. Errors
/// may also be reported beside a tree (macros, literals).
[[nodiscard]] Expr* Parse(TreeBuilder& builder);

/// Parses with the error recovery of cel-go's generated parser, for its exact error texts. Reports
/// at least one error when the fast parser refuses the source.
void ExplainSyntax(TreeBuilder& builder);

}  // namespace allot::cel
