// Expressions by the fast parser and by the one that explains syntax errors: what one of them
// takes, the other must take.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/arena.h"
#include "cel/ast.h"
#include "cel/builder.h"
#include "cel/errors.h"
#include "cel/parser.h"

namespace {

using namespace allot::cel;

struct Parsed {
  bool tree = false;
  std::string errors;
};

Parsed Read(std::string_view text, const Syntax& syntax, bool explain) {
  allot::base::Arena arena(4096);
  ExprFactory factory(arena);
  Errors errors(text);
  TreeBuilder builder(text, factory, errors, syntax);
  Parsed out;
  if (explain) {
    ExplainSyntax(builder);
  } else {
    out.tree = Parse(builder) != nullptr;
  }
  out.errors = errors.Display();
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Syntax plain;
  plain.optional_syntax = false;
  plain.escaped_identifiers = false;
  plain.macros.two_variables = false;
  for (const Syntax& syntax : {Syntax{}, plain}) {
    const Parsed parsed = Read(text, syntax, /*explain=*/false);
    if (!parsed.tree && parsed.errors.empty()) {
      std::abort();
    }
    // What it says, as the first error, where it finds nothing wrong. (Lines of the source, which
    // may say anything, begin with a bar.)
    constexpr std::string_view kNothing = "ERROR: <input>:1:1: Syntax error: unexpected input\n";
    const bool nothing = Read(text, syntax, /*explain=*/true).errors.starts_with(kNothing);
    if (nothing != (parsed.tree && parsed.errors.empty())) {
      std::abort();
    }
  }
  return 0;
}
