// The rules of the grammar, read for what is wrong with an expression. What they recognize becomes
// pieces of a syntax tree; recovery is in recovery.h. Thread safety: one thread.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "cel/builder.h"
#include "cel/grammar_states.h"
#include "cel/lexer.h"
#include "cel/recovery.h"
#include "cel/syntax_tree.h"

namespace allot::cel {

class Explainer : private Recovery {
 public:
  explicit Explainer(TreeBuilder& builder) : Recovery(builder) {}

  void Run();

 private:
  using Form = SyntaxNode::Form;

  SyntaxNode* NewNode(Form form, std::uint32_t start);
  // Parses a rule. Its piece is `made_`, whether it failed or not.
  bool Call(int state, Rule rule, int precedence = 0);
  bool Call(int state, Rule rule, const SyntaxNode*& label, int precedence = 0);
  bool CallInto(int state, Rule rule, std::vector<const SyntaxNode*>& labels);
  bool Optional(int state, int inner, Token token, std::optional<Lexeme>& label) {
    return Sync(state) && (La() != token || Match(inner, token, label));
  }
  bool OptionalComma(int state, int inner) {
    return Sync(state) && (La() != Token::kComma || Match(inner, Token::kComma));
  }
  // A rule where its first token comes.
  bool OptionalRule(int state, int inner, Rule rule, const SyntaxNode*& label) {
    return Sync(state) &&
           ((grammar_.Next(inner) & TokenBit(La())) == 0 || Call(inner, rule, label));
  }

  // Rules. `node` is the piece being made; rules that take what stands left of an operator into a
  // larger piece replace it.
  bool Body(Rule rule, int precedence, SyntaxNode*& node);
  bool Conditional(SyntaxNode& node);

  // Terms joined by one operator, with the states of: first term, loop entry, end of a turn,
  // operator, next term.
  bool Chain(SyntaxNode& node, Form form, const std::array<int, 5>& states, Rule term, Token token);

  // Keys, colons and values, separated by commas.
  bool Pairs(SyntaxNode& node,
             Rule key,
             const std::array<int, 3>& first,
             int entry,
             int end,
             int comma,
             const std::array<int, 3>& next);
  bool EscapeIdent(SyntaxNode& node);

  // ( ... )* with the states of its entry and of the end of each turn.
  template <typename More, typename Turn>
  bool Repeat(int entry, int end, More more, Turn turn) {
    if (!Sync(entry)) {
      return false;
    }
    while (more()) {
      if (!turn() || !Sync(end, Place::kLoopEnd)) {
        return false;
      }
    }
    return true;
  }
  bool CommaThen(int state);

  // Makes what was parsed so far the left part of a larger piece.
  SyntaxNode& Wrap(SyntaxNode*& node, Form form);
  bool Relation(int precedence, SyntaxNode*& node);
  bool Calc(int precedence, SyntaxNode*& node);
  static bool IsSignedLiteral(Token token) {
    return token == Token::kNumInt || token == Token::kNumFloat;
  }
  bool Unary(SyntaxNode& node);
  bool Minuses(SyntaxNode& node, TokenSet member);
  bool Member(SyntaxNode*& node);
  bool MemberStep(SyntaxNode*& node);

  // Which of the forms that begin with a name comes; `k` is the token behind the first name.
  Form NameForm(std::size_t k);
  bool Primary(SyntaxNode& node);
  bool Named(SyntaxNode& node, Form form);
  bool Literal(SyntaxNode& node);
  static int LiteralState(Token token);

  const SyntaxNode* made_ = nullptr;
  std::deque<SyntaxNode> nodes_;
};

}  // namespace allot::cel
