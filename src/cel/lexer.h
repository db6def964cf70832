// The tokens of an expression. Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace allot::cel {

/// The order is that of cel-go's grammar: expected-token lists in error texts follow it.
enum class Token : std::uint8_t {
  kInvalid = 0,
  kEqualsEquals = 1,
  kNotEquals,
  kIn,
  kLess,
  kLessEquals,
  kGreaterEquals,
  kGreater,
  kAnd,
  kOr,
  kLeftBracket,
  kRightBracket,
  kLeftBrace,
  kRightBrace,
  kLeftParen,
  kRightParen,
  kDot,
  kComma,
  kMinus,
  kExclam,
  kQuestion,
  kColon,
  kPlus,
  kStar,
  kSlash,
  kPercent,
  kTrue,
  kFalse,
  kNull,
  kWhitespace,
  kComment,
  kNumFloat,
  kNumInt,
  kNumUint,
  kString,
  kBytes,
  kIdentifier,
  kEscIdentifier,
  kEnd,
};

struct Lexeme {
  Token token = Token::kEnd;
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
};

/// The longest token at `offset`. When there is none, `token` is kInvalid and `size` counts the
/// bytes that were looked at before it became clear (the failing character not included).
[[nodiscard]] Lexeme LexOne(std::string_view source, std::size_t offset);

/// All visible tokens, with kEnd as the last. False: a piece of the source is no token.
[[nodiscard]] bool Lex(std::string_view source, std::vector<Lexeme>& out);

}  // namespace allot::cel
