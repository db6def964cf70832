// TreeBuilder: makes the nodes of an expression from its pieces, expands macros, reports what the
// grammar cannot see. Both parsers use it: the fast one for correct input and the one that explains
// syntax errors. Thread safety: one thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "cel/ast.h"
#include "cel/errors.h"

namespace allot::cel {

/// Which macros an environment has.
struct MacroSet {
  bool optionals = true;      ///< optMap, optFlatMap
  bool two_variables = true;  ///< all(k, v, p) and its family, transformList ...
  bool bind = true;           ///< cel.bind
  bool sort_by = true;
  bool exists_one_camel = false;  ///< existsOne with one variable; Kubernetes lacks it
};

/// Syntax switches of an environment.
struct Syntax {
  MacroSet macros = {};
  bool optional_syntax = true;
  bool escaped_identifiers = true;
  int max_recursion = 250;
  int max_recovery_attempts = 30;
  int max_recovery_tokens = 256;
};

class TreeBuilder {
 public:
  TreeBuilder(std::string_view source, ExprFactory& factory, Errors& errors, const Syntax& syntax)
      : source_(source), factory_(factory), errors_(errors), syntax_(syntax) {}

  /// Reports an error at a place and stands in for the broken expression.
  Expr* Error(std::size_t offset, std::string message);

  Expr* Ident(std::uint32_t start, std::uint32_t offset, bool leading_dot, std::string_view name);
  Expr* GlobalCall(std::uint32_t start,
                   std::uint32_t open,
                   bool leading_dot,
                   std::string_view name,
                   std::span<Expr* const> args);
  Expr* MemberCall(std::uint32_t open,
                   std::string_view name,
                   Expr* target,
                   std::span<Expr* const> args);
  Expr* Operator(std::uint32_t offset, std::string_view name, std::initializer_list<Expr*> args);
  /// `name` as written, back-ticks included. `dot` is the place of the dot.
  Expr* Select(std::uint32_t dot,
               std::uint32_t name_offset,
               std::string_view name,
               Expr* operand,
               bool optional);
  Expr* Index(std::uint32_t bracket, Expr* operand, Expr* index, bool optional);
  /// Terms joined by && or || as a balanced tree. REQUIRES: offsets.size() + 1 == terms.size().
  Expr* Logic(std::string_view name,
              std::span<Expr* const> terms,
              std::span<const std::uint32_t> offsets);
  Expr* Message(std::uint32_t brace, std::string_view name, std::span<const Entry> fields);
  /// The name of a field without its back-ticks; reports when they are switched off.
  std::string_view FieldName(std::uint32_t offset, std::string_view name);

  /// Literals from their text; `offset` is the start with the sign.
  Expr* Int(std::uint32_t offset, bool negative, std::string_view text);
  Expr* Uint(std::uint32_t offset, std::string_view text);
  Expr* Double(std::uint32_t offset, bool negative, std::string_view text);
  Expr* String(std::uint32_t offset, std::string_view text, bool bytes);
  Expr* Null(std::uint32_t offset);

  /// Whether a word may not name a variable or a global function.
  [[nodiscard]] static bool IsReservedName(std::string_view name);

  [[nodiscard]] std::string_view source() const { return source_; }
  [[nodiscard]] ExprFactory& factory() { return factory_; }
  [[nodiscard]] const Syntax& syntax() const { return syntax_; }
  [[nodiscard]] Errors& errors() { return errors_; }

 private:
  Expr* Balanced(std::string_view name,
                 std::span<Expr* const> terms,
                 std::span<const std::uint32_t> offsets,
                 std::size_t low,
                 std::size_t high);

  std::string_view source_;
  ExprFactory& factory_;
  Errors& errors_;
  const Syntax& syntax_;
};

/// Tries to expand a call as a macro. Null: it is none. `target` is null for a global call.
[[nodiscard]] Expr* ExpandMacro(TreeBuilder& builder,
                                std::uint32_t offset,
                                std::string_view function,
                                Expr* target,
                                std::span<Expr* const> args);

/// Undoes the escapes of a string or bytes literal, quotes and raw prefix included (the b prefix is
/// not). False: `error` has cel-go's text.
[[nodiscard]] bool Unescape(std::string_view text,
                            bool bytes,
                            std::string& out,
                            std::string& error);

}  // namespace allot::cel
