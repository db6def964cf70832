// What is wrong with an expression, in the words of cel-go's generated parser: the same recovery
// from errors, so that the second error is the same one, too.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cel/grammar_states.h"
#include "cel/lexer.h"
#include "cel/parser.h"
#include "quantity/go_text.h"

namespace allot::cel {
namespace {

constexpr std::array<std::string_view, 38> kNames = {
    "<INVALID>", "'=='",       "'!='",          "'in'",      "'<'",     "'<='",     "'>='",
    "'>'",       "'&&'",       "'||'",          "'['",       "']'",     "'{'",      "'}'",
    "'('",       "')'",        "'.'",           "','",       "'-'",     "'!'",      "'?'",
    "':'",       "'+'",        "'*'",           "'/'",       "'%'",     "'true'",   "'false'",
    "'null'",    "WHITESPACE", "COMMENT",       "NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING",
    "BYTES",     "IDENTIFIER", "ESC_IDENTIFIER"};

constexpr TokenSet Bit(Token token) {
  return token == Token::kEnd ? kEndOfInput : TokenSet{1} << static_cast<unsigned>(token);
}

std::string SetText(TokenSet set) {
  std::vector<std::string_view> names;
  if ((set & kEndOfInput) != 0) {
    names.emplace_back("<EOF>");
  }
  for (std::size_t i = 1; i < kNames.size(); ++i) {
    if ((set >> i & 1U) != 0) {
      names.push_back(kNames[i]);
    }
  }
  if (names.size() == 1) {
    return std::string(names[0]);
  }
  return fmt::format("{{{}}}", fmt::join(names, ", "));
}

std::string Quote(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    switch (c) {
      case '\t': out += "\\t"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      default: out += c;
    }
  }
  return out + "'";
}

// The tokens, read when they are first asked for, because reading reports errors.
class Tokens {
 public:
  explicit Tokens(std::string_view source) : source_(source) {}

  /// The visible token at an index; past the end, the end.
  template <typename Report>
  const Lexeme& At(std::size_t index, Report report) {
    while (visible_.size() <= index && !ended_) {
      Read(report);
    }
    return all_[visible_[std::min(index, visible_.size() - 1)]];
  }

  [[nodiscard]] std::string_view Text(const Lexeme& token) const {
    return source_.substr(token.offset, token.size);
  }

  /// The text from one visible token to another, with all that is hidden between them.
  [[nodiscard]] std::string TextBetween(std::size_t first, std::size_t last) const {
    std::string out;
    const std::size_t end = visible_[std::min(last, visible_.size() - 1)];
    for (std::size_t i = visible_[std::min(first, visible_.size() - 1)]; i <= end; ++i) {
      out += Text(all_[i]);
    }
    return out;
  }

 private:
  template <typename Report>
  void Read(Report report) {
    if (at_ >= source_.size()) {
      all_.push_back({Token::kEnd, static_cast<std::uint32_t>(source_.size()), 0});
      visible_.push_back(all_.size() - 1);
      ended_ = true;
      return;
    }
    const Lexeme lexeme = LexOne(source_, at_);
    if (lexeme.token == Token::kInvalid) {
      std::size_t end = at_ + lexeme.size;
      if (end < source_.size()) {
        end += quantity::DecodeRune(source_.substr(end)).width;
      }
      report(at_, fmt::format("token recognition error at: '{}'", source_.substr(at_, end - at_)));
      at_ = end;
      return;
    }
    all_.push_back(lexeme);
    at_ += lexeme.size;
    if (lexeme.token != Token::kWhitespace && lexeme.token != Token::kComment) {
      visible_.push_back(all_.size() - 1);
    }
  }

  std::string_view source_;
  std::size_t at_ = 0;
  bool ended_ = false;
  std::vector<Lexeme> all_;
  std::vector<std::size_t> visible_;
};

class Explainer {
 public:
  explicit Explainer(TreeBuilder& builder) : builder_(builder), tokens_(builder.source()) {}

  void Run() {
    static_cast<void>(Call(-1, Rule::kStart));
    for (const std::size_t offset : later_) {
      if (!stopped_) {
        builder_.errors().Report(offset, "unsupported ident kind");
      }
    }
  }

 private:
  // Tokens.
  const Lexeme& Ahead(std::size_t k) {
    return tokens_.At(index_ + k - 1, [this](std::size_t offset, std::string text) {
      Report(offset, std::move(text));
    });
  }
  Token La(std::size_t k = 1) { return Ahead(k).token; }
  bool LaIn(TokenSet set) { return (Bit(La()) & set) != 0; }
  std::string Display(const Lexeme& token) {
    return token.token == Token::kEnd ? "'<EOF>'" : Quote(tokens_.Text(token));
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
           fmt::format("extraneous input {} expecting {}", Display(Ahead(1)), SetText(Expected())));
  }
  void ReportMissing() {
    if (recovering_) {
      return;
    }
    recovering_ = true;
    Report(Ahead(1).offset,
           fmt::format("missing {} at {}", SetText(Expected()), Display(Ahead(1))));
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
        fmt::format("mismatched input {} expecting {}", Display(Ahead(1)), SetText(Expected())));
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
    return Fail(offset, "no viable alternative at input " + Quote(text));
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
    if ((Bit(La(2)) & Expected()) == 0) {
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
      Consume();
    } else if ((grammar_.NextIn(grammar_.Target(state_), context_) & Bit(La())) != 0) {
      ReportMissing();
    } else {
      Mismatch();
    }
    limited_ = false;
  }

  // Steps of rules. All return whether the rule goes on.
  bool Match(int state, Token token) {
    state_ = state;
    if (La() == token) {
      Matched();
      Consume();
    } else if (!stopped_) {
      RecoverInline();
    }
    return Fine();
  }
  bool MatchOf(int state, TokenSet set) {
    state_ = state;
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
    if (recovering_ || stopped_ || (grammar_.Next(state) & (kRuleEnd | Bit(La()))) != 0) {
      return Fine();
    }
    if (place == Place::kChoice) {
      return DeleteOne() ? Fine() : Mismatch();
    }
    ReportUnwanted();
    ConsumeUntil(Expected() | RecoverySet());
    return Fine();
  }
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
    if (!stopped_) {
      static_cast<void>(Body(rule, precedence));
    }
    name_failed_ = failed_ && rule == Rule::kEscapeIdent;
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
    return Fine();
  }
  bool Optional(int state, int inner, Token token) {
    return Sync(state) && (La() != token || Match(inner, token));
  }
  // A rule where its first token comes.
  bool OptionalRule(int state, int inner, Rule rule) {
    return Sync(state) && ((grammar_.Next(inner) & Bit(La())) == 0 || Call(inner, rule));
  }

  // Rules.
  bool Body(Rule rule, int precedence) {
    switch (rule) {
      case Rule::kStart: return Call(34, Rule::kExpr) && Match(35, Token::kEnd);
      case Rule::kExpr:
        return Call(37, Rule::kConditionalOr) && Sync(43) &&
               (La() != Token::kQuestion ||
                (Match(38, Token::kQuestion) && Call(39, Rule::kConditionalOr) &&
                 Match(40, Token::kColon) && Call(41, Rule::kExpr)));
      case Rule::kConditionalOr:
        return Call(45, Rule::kConditionalAnd) &&
               Repeat(
                   50,
                   52,
                   [this] { return La() == Token::kOr; },
                   [this] { return Match(46, Token::kOr) && Call(47, Rule::kConditionalAnd); });
      case Rule::kConditionalAnd:
        return Call(53, Rule::kRelation) &&
               Repeat(
                   58,
                   60,
                   [this] { return La() == Token::kAnd; },
                   [this] { return Match(54, Token::kAnd) && Call(55, Rule::kRelation); });
      case Rule::kRelation: return Relation(precedence);
      case Rule::kCalc: return Calc(precedence);
      case Rule::kUnary: return Unary();
      case Rule::kMember: return Member();
      case Rule::kPrimary: return Primary();
      case Rule::kExprList:
        return Call(186, Rule::kExpr) &&
               Repeat(
                   191,
                   193,
                   [this] { return La() == Token::kComma; },
                   [this] { return Match(187, Token::kComma) && Call(188, Rule::kExpr); });
      case Rule::kListInit:
        return Call(194, Rule::kOptExpr) &&
               Repeat(
                   199,
                   201,
                   [this] { return CommaThen(196); },
                   [this] { return Match(195, Token::kComma) && Call(196, Rule::kOptExpr); });
      case Rule::kFieldInit:
        return Call(202, Rule::kOptField) && Match(203, Token::kColon) && Call(204, Rule::kExpr) &&
               Repeat(
                   212,
                   214,
                   [this] { return CommaThen(206); },
                   [this] {
                     return Match(205, Token::kComma) && Call(206, Rule::kOptField) &&
                            Match(207, Token::kColon) && Call(208, Rule::kExpr);
                   });
      case Rule::kOptField:
        return Optional(216, 215, Token::kQuestion) && Call(218, Rule::kEscapeIdent);
      case Rule::kMapInit:
        return Call(220, Rule::kOptExpr) && Match(221, Token::kColon) && Call(222, Rule::kExpr) &&
               Repeat(
                   230,
                   232,
                   [this] { return CommaThen(224); },
                   [this] {
                     return Match(223, Token::kComma) && Call(224, Rule::kOptExpr) &&
                            Match(225, Token::kColon) && Call(226, Rule::kExpr);
                   });
      case Rule::kEscapeIdent:
        if (!Sync(235)) {
          return false;
        }
        return La() == Token::kIdentifier      ? Match(233, Token::kIdentifier)
               : La() == Token::kEscIdentifier ? Match(234, Token::kEscIdentifier)
                                               : NoViable(1);
      case Rule::kOptExpr: return Optional(238, 237, Token::kQuestion) && Call(240, Rule::kExpr);
      case Rule::kLiteral: return Literal();
    }
    return true;
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
    return La() == Token::kComma && (grammar_.Next(state) & Bit(La(2))) != 0;
  }

  bool Relation(int precedence) {
    const TokenSet operators = grammar_.Next(65);
    return Call(62, Rule::kCalc) &&
           Repeat(
               69,
               71,
               [&] { return precedence <= 1 && LaIn(operators); },
               [&] { return MatchOf(65, operators) && Call(66, Rule::kRelation, 2); });
  }

  bool Calc(int precedence) {
    const TokenSet products = grammar_.Next(76);
    const TokenSet sums = grammar_.Next(79);
    const auto more = [&] {
      return (precedence <= 2 && LaIn(products)) || (precedence <= 1 && LaIn(sums));
    };
    return Call(73, Rule::kUnary) && Repeat(83, 85, more, [&] {
             if (!Sync(81)) {
               return false;
             }
             return LaIn(products) ? MatchOf(76, products) && Call(77, Rule::kCalc, 3)
                                   : MatchOf(79, sums) && Call(80, Rule::kCalc, 2);
           });
  }

  static bool IsSignedLiteral(Token token) {
    return token == Token::kNumInt || token == Token::kNumFloat;
  }

  bool Unary() {
    if (!Sync(99)) {
      return false;
    }
    const TokenSet member = grammar_.Next(86);
    if (La() == Token::kExclam) {
      if (!Sync(88)) {
        return false;
      }
      do {
        if (!Match(87, Token::kExclam) || !Sync(90, Place::kLoopEnd)) {
          return false;
        }
      } while (La() == Token::kExclam);
      return Call(92, Rule::kMember);
    }
    if (La() != Token::kMinus) {
      return LaIn(member) ? Call(86, Rule::kMember) : NoViable(1);
    }
    if (IsSignedLiteral(La(2))) {
      return Call(86, Rule::kMember);
    }
    if ((Bit(La(2)) & (member | Bit(Token::kMinus))) == 0) {
      return NoViable(2);
    }
    return Sync(94) && Minuses(member) && Call(98, Rule::kMember);
  }

  bool Minuses(TokenSet member) {
    for (;;) {
      if (!Match(93, Token::kMinus) || !Sync(96, Place::kLoopEnd)) {
        return false;
      }
      if (La() != Token::kMinus) {
        return LaIn(member) || NoViable(1);
      }
      if ((Bit(La(2)) & (member | Bit(Token::kMinus))) == 0) {
        return NoViable(2);
      }
    }
  }

  bool Member() {
    const auto more = [this] {
      return La() == Token::kDot || La() == Token::kLeftBracket;
    };
    return Call(102, Rule::kPrimary) && Repeat(128, 130, more, [this] { return MemberStep(); });
  }

  bool MemberStep() {
    if (!Sync(126)) {
      return false;
    }
    if (La() == Token::kLeftBracket) {
      return Match(119, Token::kLeftBracket) && Optional(121, 120, Token::kQuestion) &&
             Call(123, Rule::kExpr) && Match(124, Token::kRightBracket);
    }
    if (La(2) == Token::kIdentifier && La(3) == Token::kLeftParen) {
      return Match(111, Token::kDot) && Match(112, Token::kIdentifier) &&
             Match(113, Token::kLeftParen) && OptionalRule(115, 114, Rule::kExprList) &&
             Match(117, Token::kRightParen);
    }
    if (La(2) != Token::kIdentifier && La(2) != Token::kEscIdentifier &&
        La(2) != Token::kQuestion) {
      return NoViable(2);
    }
    if (!Match(105, Token::kDot) || !Optional(107, 106, Token::kQuestion)) {
      return false;
    }
    const std::size_t name = Ahead(1).offset;
    name_failed_ = false;
    const bool fine = Call(109, Rule::kEscapeIdent);
    if (name_failed_) {
      later_.push_back(name);
    }
    return fine;
  }

  enum class Form : std::uint8_t { kIdent, kCall, kMessage };
  // Which of the forms that begin with a name comes; `k` is the token behind the first name.
  Form NameForm(std::size_t k) {
    if (La(k) == Token::kLeftParen) {
      return Form::kCall;
    }
    while (La(k) == Token::kDot && La(k + 1) == Token::kIdentifier) {
      k += 2;
    }
    return La(k) == Token::kLeftBrace ? Form::kMessage : Form::kIdent;
  }

  bool Primary() {
    if (!Sync(184)) {
      return false;
    }
    switch (La()) {
      case Token::kLeftParen:
        return Match(144, Token::kLeftParen) && Call(145, Rule::kExpr) &&
               Match(146, Token::kRightParen);
      case Token::kLeftBracket:
        return Match(148, Token::kLeftBracket) && OptionalRule(150, 149, Rule::kListInit) &&
               Optional(153, 152, Token::kComma) && Match(155, Token::kRightBracket);
      case Token::kLeftBrace:
        return Match(156, Token::kLeftBrace) && OptionalRule(158, 157, Rule::kMapInit) &&
               Optional(161, 160, Token::kComma) && Match(163, Token::kRightBrace);
      case Token::kDot: return La(2) == Token::kIdentifier ? Named(NameForm(3)) : NoViable(2);
      case Token::kIdentifier: return Named(NameForm(2));
      default: return LaIn(grammar_.Next(183)) ? Call(183, Rule::kLiteral) : NoViable(1);
    }
  }

  bool Named(Form form) {
    switch (form) {
      case Form::kIdent: return Optional(132, 131, Token::kDot) && Match(134, Token::kIdentifier);
      case Form::kCall:
        return Optional(136, 135, Token::kDot) && Match(138, Token::kIdentifier) &&
               Match(139, Token::kLeftParen) && OptionalRule(141, 140, Rule::kExprList) &&
               Match(143, Token::kRightParen);
      case Form::kMessage:
        return Optional(165, 164, Token::kDot) && Match(167, Token::kIdentifier) &&
               Repeat(
                   172,
                   174,
                   [this] { return La() == Token::kDot; },
                   [this] { return Match(168, Token::kDot) && Match(169, Token::kIdentifier); }) &&
               Match(175, Token::kLeftBrace) && OptionalRule(177, 176, Rule::kFieldInit) &&
               Optional(180, 179, Token::kComma) && Match(182, Token::kRightBrace);
    }
    return true;
  }

  bool Literal() {
    if (!Sync(256)) {
      return false;
    }
    const Token token = La() == Token::kMinus ? La(2) : La();
    if (La() == Token::kMinus && !IsSignedLiteral(token)) {
      return NoViable(2);
    }
    switch (token) {
      case Token::kNumInt: return Optional(243, 242, Token::kMinus) && Match(245, Token::kNumInt);
      case Token::kNumUint: return Match(246, token);
      case Token::kNumFloat:
        return Optional(248, 247, Token::kMinus) && Match(250, Token::kNumFloat);
      case Token::kString: return Match(251, token);
      case Token::kBytes: return Match(252, token);
      case Token::kTrue: return Match(253, token);
      case Token::kFalse: return Match(254, token);
      case Token::kNull: return Match(255, token);
      default: return NoViable(1);
    }
  }

  TreeBuilder& builder_;
  Tokens tokens_;
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
  bool name_failed_ = false;
  std::vector<std::size_t>
      later_;  // selected names that are none, which upstream finds after parsing
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
