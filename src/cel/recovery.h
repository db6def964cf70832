// Recovery from errors of syntax, as cel-go's generated parser does it: which tokens are skipped or
// made up, what is reported, and when it gives up. The rules themselves are in explain.cc.
// Thread safety: one thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cel/builder.h"
#include "cel/grammar_states.h"
#include "cel/lexer.h"
#include "cel/token_stream.h"

namespace allot::cel {

class Recovery {
 protected:
  explicit Recovery(TreeBuilder& builder) : builder_(builder), tokens_(builder.source()) {}

  // Tokens.
  const Lexeme& Ahead(std::size_t k);
  Token La(std::size_t k = 1) { return Ahead(k).token; }
  bool LaIn(TokenSet set) { return (TokenBit(La()) & set) != 0; }

  // A rule begins; `context` stands for it until it ends. False: the parser has given up.
  bool Enter(RuleContext& context, int state, Rule rule);
  // A rule ends. One that failed reports that and recovers.
  void Leave(const RuleContext& context, Rule rule);
  [[nodiscard]] bool Fine() const { return !failed_ && !stopped_; }
  [[nodiscard]] bool Stopped() const { return stopped_; }

  // Failures: what the rule reports where it ends. All return false.
  bool Mismatch();
  // No way to go on: the k-th token ahead fits nothing.
  bool NoViable(std::size_t k);

  // Steps of rules. All return whether the rule goes on. What they recognize goes into `matched_`
  // for the caller to label.
  bool Match(int state, Token token);
  bool Match(int state, Token token, std::optional<Lexeme>& label);
  bool MatchInto(int state, Token token, std::vector<Lexeme>& labels);
  bool MatchOf(int state, TokenSet set, std::optional<Lexeme>& label);
  enum class Place : std::uint8_t { kChoice, kLoopEnd };
  bool Sync(int state, Place place = Place::kChoice);

  TreeBuilder& builder_;
  const GrammarStates& grammar_ = GrammarStates::Get();

 private:
  std::string Display(const Lexeme& token);
  void Consume();

  // Reports.
  void Stop(std::string message);
  void Report(std::size_t offset, std::string message);
  [[nodiscard]] TokenSet Expected() const { return grammar_.NextIn(state_, context_); }
  void Matched();
  void ReportUnwanted();
  void ReportMissing();
  bool Fail(std::size_t offset, std::string message);

  bool CountAttempt();
  bool DeleteOne();
  [[nodiscard]] TokenSet RecoverySet() const;
  void ConsumeUntil(TokenSet set);
  void Recover();
  void RecoverInline();

  TokenStream tokens_;
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
  int reports_ = 0;
};

}  // namespace allot::cel
