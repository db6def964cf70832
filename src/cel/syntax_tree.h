// What is left of an expression that did not parse: the pieces the recovering parser understood.
// cel-go builds an expression of them all the same, and so finds errors of macros, literals and
// names beside those of the syntax. Thread safety: built by one thread, then read-only.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cel/builder.h"
#include "cel/lexer.h"

namespace allot::cel {

struct SyntaxNode {
  enum class Form : std::uint8_t {
    kBroken,       ///< nothing was recognized
    kBrokenUnary,  ///< the same where an operand was wanted
    kPass,         ///< only what `first` is
    kConditional,
    kOr,
    kAnd,
    kBinary,
    kNot,
    kNegate,
    kSelect,
    kMemberCall,
    kIndex,
    kIdent,
    kGlobalCall,
    kList,
    kMap,
    kMessage,
    kName,  ///< a selected name
    kOptional,
    kLiteral,
  };
  Form form = Form::kBroken;
  std::uint32_t start = 0;  ///< Unit: bytes into the source
  std::optional<Lexeme> op;
  std::optional<Lexeme> question;  ///< of `.?`, `[?`, `?element`
  std::optional<Lexeme> id;        ///< a name, the token of a literal
  std::optional<Lexeme> sign;      ///< a leading dot or minus
  std::vector<Lexeme> ops;         ///< operators of a chain, names of a message, colons
  const SyntaxNode* first = nullptr;
  const SyntaxNode* second = nullptr;
  const SyntaxNode* third = nullptr;
  std::vector<const SyntaxNode*> items;  ///< terms behind the first, arguments, elements, keys
  std::vector<const SyntaxNode*> values;
};

/// Makes an expression of a piece and reports what cannot be. Null pieces are broken ones.
void BuildBroken(TreeBuilder& builder, const SyntaxNode* node);

}  // namespace allot::cel
