// What is wrong with an expression, in the words of cel-go's generated parser: the same recovery
// from errors, so that the second error is the same one, too.
#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cel/grammar_states.h"
#include "cel/lexer.h"
#include "cel/parser.h"
#include "cel/syntax_tree.h"
#include "cel/token_stream.h"

namespace allot::cel {
namespace {

class Explainer {
 public:
  explicit Explainer(TreeBuilder& builder) : builder_(builder), tokens_(builder.source()) {}

  void Run() {
    static_cast<void>(Call(-1, Rule::kStart));
    if (!stopped_) {
      BuildBroken(builder_, made_);
    }
  }

 private:
  using Form = SyntaxNode::Form;

  // Tokens.
  const Lexeme& Ahead(std::size_t k) {
    return tokens_.At(index_ + k - 1, [this](std::size_t offset, std::string text) {
      Report(offset, std::move(text));
    });
  }
  Token La(std::size_t k = 1) { return Ahead(k).token; }
  bool LaIn(TokenSet set) { return (TokenBit(La()) & set) != 0; }
  std::string Display(const Lexeme& token) {
    return token.token == Token::kEnd ? "'<EOF>'" : QuoteToken(tokens_.Text(token));
  }
  void Consume() {
    if (limited_ && consumed_++ >= builder_.syntax().max_recovery_tokens) {
      Stop(fmt::format("error recovery token lookahead limit exceeded: {}",
                       builder_.syntax().max_recovery_tokens));
      return;
    }
    if (La() != Token::kEnd) {
      ++index_;
    }
  }

  // Reports.
  void Stop(std::string message) {
    if (!stopped_) {
      builder_.errors().ReportNowhere(std::move(message));
      stopped_ = true;
    }
  }
  void Report(std::size_t offset, std::string message) {
    constexpr int kMaxReports = 100;
    if (stopped_) {
      return;
    }
    if (reports_ == kMaxReports) {
      builder_.errors().Report(offset, "Syntax error: More than 100 syntax errors");
      stopped_ = true;
      return;
    }
    ++reports_;
    builder_.errors().Report(offset, "Syntax error: " + std::move(message));
  }
  [[nodiscard]] TokenSet Expected() const { return grammar_.NextIn(state_, context_); }
  void Matched() {
    recovering_ = false;
    last_error_index_ = ~std::size_t{0};
    last_error_states_.clear();
  }
  void ReportUnwanted() {
    if (recovering_) {
      return;
    }
    recovering_ = true;
    Report(Ahead(1).offset,
           fmt::format(
               "extraneous input {} expecting {}", Display(Ahead(1)), TokenSetText(Expected())));
  }
  void ReportMissing() {
    if (recovering_) {
      return;
    }
    recovering_ = true;
    Report(Ahead(1).offset,
           fmt::format("missing {} at {}", TokenSetText(Expected()), Display(Ahead(1))));
  }

  // Failures: a rule that failed reports and recovers where it ends.
  bool Fail(std::size_t offset, std::string message) {
    failed_ = true;
    failure_offset_ = offset;
    failure_ = std::move(message);
    return false;
  }
  bool Mismatch() {
    return Fail(
        Ahead(1).offset,
        fmt::format(
            "mismatched input {} expecting {}", Display(Ahead(1)), TokenSetText(Expected())));
  }
  // No way to go on: the k-th token ahead fits nothing.
  bool NoViable(std::size_t k) {
    const Token bad = La(k);
    const std::size_t offset = Ahead(k).offset;
    const bool reserved = bad == Token::kTrue || bad == Token::kFalse || bad == Token::kNull;
    const std::string text =
        La() == Token::kEnd ? "<EOF>" : tokens_.TextBetween(index_, index_ + k - 1);
    if (reserved && k == 2 && text == fmt::format(".{}", tokens_.Text(Ahead(2)))) {
      return Fail(offset,
                  fmt::format("mismatched input '{}' expecting IDENTIFIER", text.substr(1)));
    }
    return Fail(offset, "no viable alternative at input " + QuoteToken(text));
  }
  [[nodiscard]] bool Fine() const { return !failed_ && !stopped_; }

  // Recovery.
  bool CountAttempt() {
    if (attempts_++ == builder_.syntax().max_recovery_attempts) {
      Report(Ahead(1).offset,
             fmt::format("error recovery attempt limit exceeded: {}",
                         builder_.syntax().max_recovery_attempts));
      stopped_ = true;
    }
    return !stopped_;
  }
  bool DeleteOne() {
    if ((TokenBit(La(2)) & Expected()) == 0) {
      return false;
    }
    ReportUnwanted();
    Consume();
    Matched();
    return true;
  }
  [[nodiscard]] TokenSet RecoverySet() const {
    TokenSet set = 0;
    for (const RuleContext* context = context_; context != nullptr && context->invoking_state >= 0;
         context = context->parent) {
      set |= grammar_.Next(grammar_.Follow(context->invoking_state));
    }
    return set & ~kRuleEnd;
  }
  void ConsumeUntil(TokenSet set) {
    while (!stopped_ && La() != Token::kEnd && !LaIn(set)) {
      Consume();
    }
  }
  void Recover() {
    if (!CountAttempt()) {
      return;
    }
    limited_ = true;
    consumed_ = 0;
    if (last_error_index_ == index_ &&
        std::ranges::find(last_error_states_, state_) != last_error_states_.end()) {
      Consume();
    }
    last_error_index_ = index_;
    last_error_states_.push_back(state_);
    ConsumeUntil(RecoverySet());
    limited_ = false;
  }
  void RecoverInline() {
    if (!CountAttempt()) {
      return;
    }
    limited_ = true;
    consumed_ = 0;
    if (DeleteOne()) {
      matched_ = Ahead(1);
      Consume();
    } else if ((grammar_.NextIn(grammar_.Target(state_), context_) & TokenBit(La())) != 0) {
      ReportMissing();
      // A token made up where the next one stands, or the last one at the end.
      matched_ = Lexeme{Token::kInvalid, Ahead(1).offset, 0};
      if (La() == Token::kEnd && index_ > 0) {
        matched_->offset = tokens_.At(index_ - 1, [](std::size_t, const std::string&) {}).offset;
      }
    } else {
      Mismatch();
    }
    limited_ = false;
  }

  // Steps of rules. All return whether the rule goes on. What they recognize goes into the pieces
  // of the tree, and into `matched_` or `made_` for the caller to label.
  bool Match(int state, Token token) {
    state_ = state;
    matched_.reset();
    if (La() == token) {
      Matched();
      matched_ = Ahead(1);
      Consume();
    } else if (!stopped_) {
      RecoverInline();
    }
    return Fine();
  }
  bool Match(int state, Token token, std::optional<Lexeme>& label) {
    const bool fine = Match(state, token);
    label = matched_;
    return fine;
  }
  bool MatchInto(int state, Token token, std::vector<Lexeme>& labels) {
    const bool fine = Match(state, token);
    if (fine && matched_) {
      labels.push_back(*matched_);
    }
    return fine;
  }
  bool MatchOf(int state, TokenSet set, std::optional<Lexeme>& label) {
    state_ = state;
    label = Ahead(1);
    if (LaIn(set)) {
      Matched();
      Consume();
    } else if (!stopped_) {
      RecoverInline();
    }
    return Fine();
  }
  enum class Place : std::uint8_t { kChoice, kLoopEnd };
  bool Sync(int state, Place place = Place::kChoice) {
    state_ = state;
    if (recovering_ || stopped_ || (grammar_.Next(state) & (kRuleEnd | TokenBit(La()))) != 0) {
      return Fine();
    }
    if (place == Place::kChoice) {
      return DeleteOne() ? Fine() : Mismatch();
    }
    ReportUnwanted();
    ConsumeUntil(Expected() | RecoverySet());
    return Fine();
  }
  SyntaxNode* NewNode(Form form, std::uint32_t start) {
    SyntaxNode& node = nodes_.emplace_back();
    node.form = form;
    node.start = start;
    return &node;
  }
  // Parses a rule. Its piece is `made_`, whether it failed or not.
  bool Call(int state, Rule rule, int precedence = 0) {
    if (state >= 0) {
      state_ = state;
    }
    const RuleContext context{context_, state};
    context_ = &context;
    int& depth = depths_[static_cast<std::size_t>(rule)];
    if (++depth > builder_.syntax().max_recursion) {
      Stop(fmt::format("expression recursion limit exceeded: {}", builder_.syntax().max_recursion));
    }
    SyntaxNode* node = nullptr;
    if (!stopped_) {
      node = NewNode(Form::kBroken, Ahead(1).offset);
      static_cast<void>(Body(rule, precedence, node));
    }
    if (failed_ && !stopped_) {
      if (!recovering_) {
        recovering_ = true;
        Report(failure_offset_, std::move(failure_));
      }
      failed_ = false;
      Recover();
    }
    --depth;
    context_ = context.parent;
    state_ = state;
    made_ = node;
    return Fine();
  }
  bool Call(int state, Rule rule, const SyntaxNode*& label, int precedence = 0) {
    const bool fine = Call(state, rule, precedence);
    label = made_;
    return fine;
  }
  bool CallInto(int state, Rule rule, std::vector<const SyntaxNode*>& labels) {
    const bool fine = Call(state, rule);
    labels.push_back(made_);
    return fine;
  }
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
  bool Body(Rule rule, int precedence, SyntaxNode*& node) {
    switch (rule) {
      case Rule::kStart:
        node->form = Form::kPass;
        return Call(34, Rule::kExpr, node->first) && Match(35, Token::kEnd);
      case Rule::kExpr: return Conditional(*node);
      case Rule::kConditionalOr:
        return Chain(*node, Form::kOr, {45, 50, 52, 46, 47}, Rule::kConditionalAnd, Token::kOr);
      case Rule::kConditionalAnd:
        return Chain(*node, Form::kAnd, {53, 58, 60, 54, 55}, Rule::kRelation, Token::kAnd);
      case Rule::kRelation: return Relation(precedence, node);
      case Rule::kCalc: return Calc(precedence, node);
      case Rule::kUnary: return Unary(*node);
      case Rule::kMember: return Member(node);
      case Rule::kPrimary: return Primary(*node);
      case Rule::kExprList:
        return CallInto(186, Rule::kExpr, node->items) &&
               Repeat(
                   191,
                   193,
                   [this] { return La() == Token::kComma; },
                   [&] {
                     return Match(187, Token::kComma) && CallInto(188, Rule::kExpr, node->items);
                   });
      case Rule::kListInit:
        return CallInto(194, Rule::kOptExpr, node->items) &&
               Repeat(
                   199,
                   201,
                   [this] { return CommaThen(196); },
                   [&] {
                     return Match(195, Token::kComma) && CallInto(196, Rule::kOptExpr, node->items);
                   });
      case Rule::kFieldInit:
        return Pairs(*node, Rule::kOptField, {202, 203, 204}, 212, 214, 205, {206, 207, 208});
      case Rule::kOptField:
        node->form = Form::kOptional;
        return Optional(216, 215, Token::kQuestion, node->question) &&
               Call(218, Rule::kEscapeIdent, node->second);
      case Rule::kMapInit:
        return Pairs(*node, Rule::kOptExpr, {220, 221, 222}, 230, 232, 223, {224, 225, 226});
      case Rule::kEscapeIdent: return EscapeIdent(*node);
      case Rule::kOptExpr:
        node->form = Form::kOptional;
        return Optional(238, 237, Token::kQuestion, node->question) &&
               Call(240, Rule::kExpr, node->first);
      case Rule::kLiteral: return Literal(*node);
    }
    return true;
  }

  bool Conditional(SyntaxNode& node) {
    node.form = Form::kPass;
    if (!Call(37, Rule::kConditionalOr, node.first) || !Sync(43) || La() != Token::kQuestion) {
      return Fine();
    }
    const bool asked = Match(38, Token::kQuestion, node.op);
    node.form = node.op ? Form::kConditional : Form::kPass;
    return asked && Call(39, Rule::kConditionalOr, node.second) && Match(40, Token::kColon) &&
           Call(41, Rule::kExpr, node.third);
  }

  // Terms joined by one operator, with the states of: first term, loop entry, end of a turn,
  // operator, next term.
  bool Chain(
      SyntaxNode& node, Form form, const std::array<int, 5>& states, Rule term, Token token) {
    node.form = Form::kPass;
    return Call(states[0], term, node.first) && Repeat(
                                                    states[1],
                                                    states[2],
                                                    [&] { return La() == token; },
                                                    [&] {
                                                      if (!MatchInto(states[3], token, node.ops)) {
                                                        return false;
                                                      }
                                                      node.form = form;
                                                      return CallInto(states[4], term, node.items);
                                                    });
  }

  // Keys, colons and values, separated by commas.
  bool Pairs(SyntaxNode& node,
             Rule key,
             const std::array<int, 3>& first,
             int entry,
             int end,
             int comma,
             const std::array<int, 3>& next) {
    const auto pair = [&](const std::array<int, 3>& states) {
      return CallInto(states[0], key, node.items) &&
             MatchInto(states[1], Token::kColon, node.ops) &&
             CallInto(states[2], Rule::kExpr, node.values);
    };
    return pair(first) && Repeat(
                              entry,
                              end,
                              [&] { return CommaThen(next[0]); },
                              [&] { return Match(comma, Token::kComma) && pair(next); });
  }

  bool EscapeIdent(SyntaxNode& node) {
    if (!Sync(235)) {
      return false;
    }
    const Token token = La();
    if (token != Token::kIdentifier && token != Token::kEscIdentifier) {
      return NoViable(1);
    }
    node.form = Form::kName;
    return Match(token == Token::kIdentifier ? 233 : 234, token, node.id);
  }

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
  bool CommaThen(int state) {
    return La() == Token::kComma && (grammar_.Next(state) & TokenBit(La(2))) != 0;
  }

  // Makes what was parsed so far the left part of a larger piece.
  SyntaxNode& Wrap(SyntaxNode*& node, Form form) {
    SyntaxNode* const outer = NewNode(form, node->start);
    outer->first = node;
    node = outer;
    return *outer;
  }

  bool Relation(int precedence, SyntaxNode*& node) {
    const TokenSet operators = grammar_.Next(65);
    node->form = Form::kPass;
    return Call(62, Rule::kCalc, node->first) &&
           Repeat(
               69,
               71,
               [&] { return precedence <= 1 && LaIn(operators); },
               [&] {
                 SyntaxNode& binary = Wrap(node, Form::kBinary);
                 return MatchOf(65, operators, binary.op) &&
                        Call(66, Rule::kRelation, binary.second, 2);
               });
  }

  bool Calc(int precedence, SyntaxNode*& node) {
    const TokenSet products = grammar_.Next(76);
    const TokenSet sums = grammar_.Next(79);
    const auto more = [&] {
      return (precedence <= 2 && LaIn(products)) || (precedence <= 1 && LaIn(sums));
    };
    node->form = Form::kPass;
    return Call(73, Rule::kUnary, node->first) && Repeat(83, 85, more, [&] {
             if (!Sync(81)) {
               return false;
             }
             SyntaxNode& binary = Wrap(node, Form::kBinary);
             return LaIn(products)
                        ? MatchOf(76, products, binary.op) &&
                              Call(77, Rule::kCalc, binary.second, 3)
                        : MatchOf(79, sums, binary.op) && Call(80, Rule::kCalc, binary.second, 2);
           });
  }

  static bool IsSignedLiteral(Token token) {
    return token == Token::kNumInt || token == Token::kNumFloat;
  }

  bool Unary(SyntaxNode& node) {
    node.form = Form::kBrokenUnary;
    if (!Sync(99)) {
      return false;
    }
    const TokenSet member = grammar_.Next(86);
    if (La() == Token::kExclam) {
      node.form = Form::kNot;
      if (!Sync(88)) {
        return false;
      }
      do {
        if (!MatchInto(87, Token::kExclam, node.ops) || !Sync(90, Place::kLoopEnd)) {
          return false;
        }
      } while (La() == Token::kExclam);
      return Call(92, Rule::kMember, node.first);
    }
    if (La() != Token::kMinus && !LaIn(member)) {
      return NoViable(1);
    }
    if (La() != Token::kMinus || IsSignedLiteral(La(2))) {
      node.form = Form::kPass;
      return Call(86, Rule::kMember, node.first);
    }
    if ((TokenBit(La(2)) & (member | TokenBit(Token::kMinus))) == 0) {
      return NoViable(2);
    }
    node.form = Form::kNegate;
    return Sync(94) && Minuses(node, member) && Call(98, Rule::kMember, node.first);
  }

  bool Minuses(SyntaxNode& node, TokenSet member) {
    for (;;) {
      if (!MatchInto(93, Token::kMinus, node.ops) || !Sync(96, Place::kLoopEnd)) {
        return false;
      }
      if (La() != Token::kMinus) {
        return LaIn(member) || NoViable(1);
      }
      if ((TokenBit(La(2)) & (member | TokenBit(Token::kMinus))) == 0) {
        return NoViable(2);
      }
    }
  }

  bool Member(SyntaxNode*& node) {
    const auto more = [this] {
      return La() == Token::kDot || La() == Token::kLeftBracket;
    };
    node->form = Form::kPass;
    return Call(102, Rule::kPrimary, node->first) &&
           Repeat(128, 130, more, [&] { return MemberStep(node); });
  }

  bool MemberStep(SyntaxNode*& node) {
    if (!Sync(126)) {
      return false;
    }
    if (La() == Token::kLeftBracket) {
      SyntaxNode& index = Wrap(node, Form::kIndex);
      return Match(119, Token::kLeftBracket, index.op) &&
             Optional(121, 120, Token::kQuestion, index.question) &&
             Call(123, Rule::kExpr, index.second) && Match(124, Token::kRightBracket);
    }
    if (La(2) == Token::kIdentifier && La(3) == Token::kLeftParen) {
      SyntaxNode& call = Wrap(node, Form::kMemberCall);
      return Match(111, Token::kDot) && Match(112, Token::kIdentifier, call.id) &&
             Match(113, Token::kLeftParen, call.op) &&
             OptionalRule(115, 114, Rule::kExprList, call.second) && Match(117, Token::kRightParen);
    }
    if (La(2) != Token::kIdentifier && La(2) != Token::kEscIdentifier &&
        La(2) != Token::kQuestion) {
      return NoViable(2);
    }
    SyntaxNode& select = Wrap(node, Form::kSelect);
    return Match(105, Token::kDot, select.op) &&
           Optional(107, 106, Token::kQuestion, select.question) &&
           Call(109, Rule::kEscapeIdent, select.second);
  }

  // Which of the forms that begin with a name comes; `k` is the token behind the first name.
  Form NameForm(std::size_t k) {
    if (La(k) == Token::kLeftParen) {
      return Form::kGlobalCall;
    }
    while (La(k) == Token::kDot && La(k + 1) == Token::kIdentifier) {
      k += 2;
    }
    return La(k) == Token::kLeftBrace ? Form::kMessage : Form::kIdent;
  }

  bool Primary(SyntaxNode& node) {
    if (!Sync(184)) {
      return false;
    }
    switch (La()) {
      case Token::kLeftParen:
        node.form = Form::kPass;
        return Match(144, Token::kLeftParen) && Call(145, Rule::kExpr, node.first) &&
               Match(146, Token::kRightParen);
      case Token::kLeftBracket:
        node.form = Form::kList;
        return Match(148, Token::kLeftBracket, node.op) &&
               OptionalRule(150, 149, Rule::kListInit, node.second) && OptionalComma(153, 152) &&
               Match(155, Token::kRightBracket);
      case Token::kLeftBrace:
        node.form = Form::kMap;
        return Match(156, Token::kLeftBrace, node.op) &&
               OptionalRule(158, 157, Rule::kMapInit, node.second) && OptionalComma(161, 160) &&
               Match(163, Token::kRightBrace);
      case Token::kDot: return La(2) == Token::kIdentifier ? Named(node, NameForm(3)) : NoViable(2);
      case Token::kIdentifier: return Named(node, NameForm(2));
      default:
        if (!LaIn(grammar_.Next(183))) {
          return NoViable(1);
        }
        node.form = Form::kPass;
        return Call(183, Rule::kLiteral, node.first);
    }
  }

  bool Named(SyntaxNode& node, Form form) {
    node.form = form;
    switch (form) {
      case Form::kIdent:
        return Optional(132, 131, Token::kDot, node.sign) &&
               Match(134, Token::kIdentifier, node.id);
      case Form::kGlobalCall:
        return Optional(136, 135, Token::kDot, node.sign) &&
               Match(138, Token::kIdentifier, node.id) && Match(139, Token::kLeftParen, node.op) &&
               OptionalRule(141, 140, Rule::kExprList, node.second) &&
               Match(143, Token::kRightParen);
      default:
        return Optional(165, 164, Token::kDot, node.sign) &&
               MatchInto(167, Token::kIdentifier, node.ops) &&
               Repeat(
                   172,
                   174,
                   [this] { return La() == Token::kDot; },
                   [&] {
                     return Match(168, Token::kDot) && MatchInto(169, Token::kIdentifier, node.ops);
                   }) &&
               Match(175, Token::kLeftBrace, node.op) &&
               OptionalRule(177, 176, Rule::kFieldInit, node.second) && OptionalComma(180, 179) &&
               Match(182, Token::kRightBrace);
    }
  }

  bool Literal(SyntaxNode& node) {
    if (!Sync(256)) {
      return false;
    }
    const Token token = La() == Token::kMinus ? La(2) : La();
    if (La() == Token::kMinus && !IsSignedLiteral(token)) {
      return NoViable(2);
    }
    const int state = LiteralState(token);
    if (state < 0) {
      return NoViable(1);
    }
    const bool fine = (token != Token::kNumInt || Optional(243, 242, Token::kMinus, node.sign)) &&
                      (token != Token::kNumFloat || Optional(248, 247, Token::kMinus, node.sign)) &&
                      Match(state, token, node.id);
    node.form = node.id ? Form::kLiteral : Form::kBroken;
    return fine;
  }

  static int LiteralState(Token token) {
    switch (token) {
      case Token::kNumInt: return 245;
      case Token::kNumUint: return 246;
      case Token::kNumFloat: return 250;
      case Token::kString: return 251;
      case Token::kBytes: return 252;
      case Token::kTrue: return 253;
      case Token::kFalse: return 254;
      case Token::kNull: return 255;
      default: return -1;
    }
  }

  TreeBuilder& builder_;
  TokenStream tokens_;
  const GrammarStates& grammar_ = GrammarStates::Get();
  std::size_t index_ = 0;
  int state_ = 0;
  const RuleContext* context_ = nullptr;
  std::array<int, kRuleCount> depths_ = {};
  bool stopped_ = false;
  bool failed_ = false;
  std::size_t failure_offset_ = 0;
  std::string failure_;
  bool recovering_ = false;
  std::size_t last_error_index_ = ~std::size_t{0};
  std::vector<int> last_error_states_;
  bool limited_ = false;
  int consumed_ = 0;
  int attempts_ = 0;
  std::optional<Lexeme> matched_;
  const SyntaxNode* made_ = nullptr;
  std::deque<SyntaxNode> nodes_;
  int reports_ = 0;
};

}  // namespace

void ExplainSyntax(TreeBuilder& builder) {
  Explainer(builder).Run();
  if (builder.errors().empty()) {
    builder.Error(0, "Syntax error: unexpected input");
  }
}

}  // namespace allot::cel
