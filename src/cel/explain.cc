#include "cel/parser.h"

namespace allot::cel {

void ExplainSyntax(TreeBuilder& builder) {
  builder.Error(0, "Syntax error");
}

}  // namespace allot::cel
