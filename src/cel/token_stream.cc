#include "cel/token_stream.h"

#include <array>

#include <fmt/format.h>

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

}  // namespace

std::string TokenSetText(TokenSet set) {
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

std::string QuoteToken(std::string_view text) {
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

std::string TokenStream::TextBetween(std::size_t first, std::size_t last) const {
  std::string out;
  const std::size_t end = visible_[std::min(last, visible_.size() - 1)];
  for (std::size_t i = visible_[std::min(first, visible_.size() - 1)]; i <= end; ++i) {
    out += Text(all_[i]);
  }
  return out;
}

bool TokenStream::Read(std::string& error) {
  if (at_ >= source_.size()) {
    all_.push_back({Token::kEnd, static_cast<std::uint32_t>(source_.size()), 0});
    visible_.push_back(all_.size() - 1);
    ended_ = true;
    return true;
  }
  const Lexeme lexeme = LexOne(source_, at_);
  if (lexeme.token == Token::kInvalid) {
    std::size_t end = at_ + lexeme.size;
    if (end < source_.size()) {
      end += quantity::DecodeRune(source_.substr(end)).width;
    }
    error = fmt::format("token recognition error at: '{}'", source_.substr(at_, end - at_));
    at_ = end;
    return false;
  }
  all_.push_back(lexeme);
  at_ += lexeme.size;
  if (lexeme.token != Token::kWhitespace && lexeme.token != Token::kComment) {
    visible_.push_back(all_.size() - 1);
  }
  return true;
}

}  // namespace allot::cel
