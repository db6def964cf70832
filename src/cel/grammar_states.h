// The grammar of expressions as a graph: which tokens may come next at every place of every rule.
// Error texts list them, and error recovery decides by them. State numbers are those of cel-go's
// generated parser. Thread safety: immutable.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace allot::cel {

/// A set of tokens: bit n is token type n, bit 0 the end of the input.
using TokenSet = std::uint64_t;
inline constexpr TokenSet kEndOfInput = 1;
/// The end of the rule can be reached.
inline constexpr TokenSet kRuleEnd = TokenSet{1} << 63;

enum class Rule : std::uint8_t {
  kStart,
  kExpr,
  kConditionalOr,
  kConditionalAnd,
  kRelation,
  kCalc,
  kUnary,
  kMember,
  kPrimary,
  kExprList,
  kListInit,
  kFieldInit,
  kOptField,
  kMapInit,
  kEscapeIdent,
  kOptExpr,
  kLiteral,
};
inline constexpr std::size_t kRuleCount = 17;

/// Rules being parsed, innermost first.
struct RuleContext {
  const RuleContext* parent = nullptr;
  int invoking_state = -1;  ///< -1: the outermost rule
};

class GrammarStates {
 public:
  static const GrammarStates& Get();
  GrammarStates();

  /// What may come next within the rule.
  [[nodiscard]] TokenSet Next(int state) const { return next_[static_cast<std::size_t>(state)]; }
  /// What may come next, also behind the ends of the rules being parsed.
  [[nodiscard]] TokenSet NextIn(int state, const RuleContext* context) const;
  /// The state behind the token a state waits for.
  [[nodiscard]] int Target(int state) const {
    return edges_[static_cast<std::size_t>(state)][0].target;
  }
  /// The state behind the rule a state calls.
  [[nodiscard]] int Follow(int state) const { return Target(state); }

 private:
  struct Edge {
    int target = 0;
    TokenSet tokens = 0;  ///< 0: none is consumed
    int rule = -1;        ///< a call of that rule
  };
  void Compute();
  static constexpr std::size_t kStates = 258;
  std::array<std::vector<Edge>, kStates> edges_;
  std::array<TokenSet, kStates> next_ = {};
};

}  // namespace allot::cel
