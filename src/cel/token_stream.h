// The tokens of an expression with errors, one by one as a parser asks for them, and how error
// texts show them. Thread safety: one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cel/grammar_states.h"
#include "cel/lexer.h"

namespace allot::cel {

[[nodiscard]] constexpr TokenSet TokenBit(Token token) {
  return token == Token::kEnd ? kEndOfInput : TokenSet{1} << static_cast<unsigned>(token);
}

/// "'('" or "{'(', ')'}".
[[nodiscard]] std::string TokenSetText(TokenSet set);
/// A text in single quotes with its white space escaped.
[[nodiscard]] std::string QuoteToken(std::string_view text);

/// Tokens, read when they are first asked for, because reading reports errors.
class TokenStream {
 public:
  explicit TokenStream(std::string_view source) : source_(source) {}

  /// The visible token at an index; past the end, the end.
  template <typename Report>
  const Lexeme& At(std::size_t index, Report report) {
    while (visible_.size() <= index && !ended_) {
      std::string error;
      const std::size_t at = at_;
      if (!Read(error)) {
        report(at, std::move(error));
      }
    }
    return all_[visible_[std::min(index, visible_.size() - 1)]];
  }

  [[nodiscard]] std::string_view Text(const Lexeme& token) const {
    return source_.substr(token.offset, token.size);
  }

  /// The text from one visible token to another, with all that is hidden between them.
  [[nodiscard]] std::string TextBetween(std::size_t first, std::size_t last) const;

 private:
  // Reads one piece. False: it is no token.
  bool Read(std::string& error);

  std::string_view source_;
  std::size_t at_ = 0;
  bool ended_ = false;
  std::vector<Lexeme> all_;
  std::vector<std::size_t> visible_;
};

}  // namespace allot::cel
