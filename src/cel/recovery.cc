#include "cel/recovery.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace allot::cel {

const Lexeme& Recovery::Ahead(std::size_t k) {
  return tokens_.At(index_ + k - 1, [this](std::size_t offset, std::string text) {
    Report(offset, std::move(text));
  });
}

std::string Recovery::Display(const Lexeme& token) {
  return token.token == Token::kEnd ? "'<EOF>'" : QuoteToken(tokens_.Text(token));
}

void Recovery::Consume() {
  if (limited_ && consumed_++ >= builder_.syntax().max_recovery_tokens) {
    Stop(fmt::format("error recovery token lookahead limit exceeded: {}",
                     builder_.syntax().max_recovery_tokens));
    return;
  }
  if (La() != Token::kEnd) {
    ++index_;
  }
}

void Recovery::Stop(std::string message) {
  if (!stopped_) {
    builder_.errors().ReportNowhere(std::move(message));
    stopped_ = true;
  }
}

void Recovery::Report(std::size_t offset, std::string message) {
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

void Recovery::Matched() {
  recovering_ = false;
  last_error_index_ = ~std::size_t{0};
  last_error_states_.clear();
}

void Recovery::ReportUnwanted() {
  if (recovering_) {
    return;
  }
  recovering_ = true;
  Report(
      Ahead(1).offset,
      fmt::format("extraneous input {} expecting {}", Display(Ahead(1)), TokenSetText(Expected())));
}

void Recovery::ReportMissing() {
  if (recovering_) {
    return;
  }
  recovering_ = true;
  Report(Ahead(1).offset,
         fmt::format("missing {} at {}", TokenSetText(Expected()), Display(Ahead(1))));
}

bool Recovery::Fail(std::size_t offset, std::string message) {
  failed_ = true;
  failure_offset_ = offset;
  failure_ = std::move(message);
  return false;
}

bool Recovery::Mismatch() {
  return Fail(
      Ahead(1).offset,
      fmt::format("mismatched input {} expecting {}", Display(Ahead(1)), TokenSetText(Expected())));
}

bool Recovery::NoViable(std::size_t k) {
  const std::size_t offset = Ahead(k).offset;
  const std::string text =
      La() == Token::kEnd ? "<EOF>" : tokens_.TextBetween(index_, index_ + k - 1);
  // cel-go words any character before a reserved word so: a.true, but also !-true.
  const std::string_view word = text.empty() ? "" : std::string_view(text).substr(1);
  if (word == "true" || word == "false" || word == "null") {
    return Fail(offset, fmt::format("mismatched input '{}' expecting IDENTIFIER", word));
  }
  return Fail(offset, "no viable alternative at input " + QuoteToken(text));
}

bool Recovery::CountAttempt() {
  if (attempts_++ == builder_.syntax().max_recovery_attempts) {
    Report(Ahead(1).offset,
           fmt::format("error recovery attempt limit exceeded: {}",
                       builder_.syntax().max_recovery_attempts));
    stopped_ = true;
  }
  return !stopped_;
}

bool Recovery::DeleteOne() {
  if ((TokenBit(La(2)) & Expected()) == 0) {
    return false;
  }
  ReportUnwanted();
  Consume();
  Matched();
  return true;
}

TokenSet Recovery::RecoverySet() const {
  TokenSet set = 0;
  for (const RuleContext* context = context_; context != nullptr && context->invoking_state >= 0;
       context = context->parent) {
    set |= grammar_.Next(grammar_.Follow(context->invoking_state));
  }
  return set & ~kRuleEnd;
}

void Recovery::ConsumeUntil(TokenSet set) {
  while (!stopped_ && La() != Token::kEnd && !LaIn(set)) {
    Consume();
  }
}

void Recovery::Recover() {
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

void Recovery::RecoverInline() {
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

bool Recovery::Enter(RuleContext& context, int state, Rule rule) {
  if (state >= 0) {
    state_ = state;
  }
  context = {context_, state};
  context_ = &context;
  if (++depths_[static_cast<std::size_t>(rule)] > builder_.syntax().max_recursion) {
    Stop(fmt::format("expression recursion limit exceeded: {}", builder_.syntax().max_recursion));
  }
  return !stopped_;
}

void Recovery::Leave(const RuleContext& context, Rule rule) {
  if (failed_ && !stopped_) {
    if (!recovering_) {
      recovering_ = true;
      Report(failure_offset_, std::move(failure_));
    }
    failed_ = false;
    Recover();
  }
  --depths_[static_cast<std::size_t>(rule)];
  context_ = context.parent;
  state_ = context.invoking_state;
}

bool Recovery::Match(int state, Token token) {
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

bool Recovery::Match(int state, Token token, std::optional<Lexeme>& label) {
  const bool fine = Match(state, token);
  label = matched_;
  return fine;
}

bool Recovery::MatchInto(int state, Token token, std::vector<Lexeme>& labels) {
  const bool fine = Match(state, token);
  if (fine && matched_) {
    labels.push_back(*matched_);
  }
  return fine;
}

bool Recovery::MatchOf(int state, TokenSet set, std::optional<Lexeme>& label) {
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

bool Recovery::Sync(int state, Place place) {
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

}  // namespace allot::cel
