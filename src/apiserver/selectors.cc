#include "apiserver/selectors.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "api/names.h"

namespace allot::apiserver {
namespace {

using base::Reason;
using base::Result;

enum class Token : std::uint8_t {
  kEnd,
  kIdentifier,
  kIn,
  kNotIn,
  kEquals,
  kDoubleEquals,
  kNotEquals,
  kGreater,
  kLess,
  kNot,
  kOpen,
  kClose,
  kComma,
  kError,
};

struct Lexeme {
  Token token = Token::kEnd;
  std::string_view text;
};

bool IsSpace(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}
bool IsSymbol(char c) {
  return c == '=' || c == '!' || c == '(' || c == ')' || c == ',' || c == '>' || c == '<';
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Lexeme Next() {
    while (at_ < text_.size() && IsSpace(text_[at_])) {
      ++at_;
    }
    if (at_ == text_.size()) {
      return {};
    }
    return IsSymbol(text_[at_]) ? Symbol() : Word();
  }

 private:
  Lexeme Symbol() {
    const std::string_view rest = text_.substr(at_);
    static constexpr std::pair<std::string_view, Token> kSymbols[] = {{"==", Token::kDoubleEquals},
                                                                      {"!=", Token::kNotEquals},
                                                                      {"=", Token::kEquals},
                                                                      {"!", Token::kNot},
                                                                      {"(", Token::kOpen},
                                                                      {")", Token::kClose},
                                                                      {",", Token::kComma},
                                                                      {">", Token::kGreater},
                                                                      {"<", Token::kLess}};
    for (const auto& [symbol, token] : kSymbols) {
      if (rest.starts_with(symbol)) {
        at_ += symbol.size();
        return {token, symbol};
      }
    }
    ++at_;
    return {Token::kError, rest.substr(0, 1)};
  }

  Lexeme Word() {
    const std::size_t start = at_;
    while (at_ < text_.size() && !IsSpace(text_[at_]) && !IsSymbol(text_[at_])) {
      ++at_;
    }
    const std::string_view word = text_.substr(start, at_ - start);
    if (word == "in") {
      return {Token::kIn, word};
    }
    return {word == "notin" ? Token::kNotIn : Token::kIdentifier, word};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::unexpected<base::Status> Found(std::string_view found, std::string_view expected) {
  return base::Error(Reason::kBadRequest, fmt::format("found '{}', expected: {}", found, expected));
}

std::unexpected<base::Status> Problem(std::string_view text) {
  return base::Error(Reason::kBadRequest, std::string(text));
}

/// Keys and values must be ones that labels can have. Errors: kBadRequest.
Result<void> CheckKey(std::string_view key) {
  if (const auto problems = api::QualifiedNameProblems(key); !problems.empty()) {
    return Problem(fmt::format("<nil>: Invalid value: \"{}\": {}", key, fmt::join(problems, "; ")));
  }
  return {};
}
Result<void> CheckValues(const LabelSelector::Requirement& requirement) {
  std::string all;
  int count = 0;
  for (std::size_t i = 0; i < requirement.values.size(); ++i) {
    const std::string& value = requirement.values[i];
    if (const auto problems = api::LabelValueProblems(value); !problems.empty()) {
      all += fmt::format("{}values[{}][{}]: Invalid value: \"{}\": {}",
                         count++ > 0 ? ", " : "",
                         i,
                         requirement.key,
                         value,
                         fmt::join(problems, "; "));
    }
  }
  if (count > 0) {
    return Problem(count > 1 ? fmt::format("[{}]", all) : all);
  }
  return {};
}

std::optional<std::int64_t> ToInt(std::string_view text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && at == end ? std::optional(value) : std::nullopt;
}

class LabelParser {
 public:
  using Op = LabelSelector::Op;
  using Requirement = LabelSelector::Requirement;

  explicit LabelParser(std::string_view text) {
    Lexer lexer(text);
    while (true) {
      const Lexeme lexeme = lexer.Next();
      tokens_.push_back(lexeme);
      if (lexeme.token == Token::kEnd) {
        break;
      }
    }
  }

  Result<std::vector<Requirement>> Parse() {
    std::vector<Requirement> out;
    while (true) {
      const Lexeme next = Peek(/*key=*/true);
      if (next.token == Token::kEnd) {
        return out;
      }
      if (next.token != Token::kIdentifier && next.token != Token::kNot) {
        return Found(next.text, "!, identifier, or 'end of string'");
      }
      ALLOT_ASSIGN_OR_RETURN(Requirement requirement, ParseRequirement());
      out.push_back(std::move(requirement));
      const Lexeme after = Take(/*key=*/false);
      if (after.token == Token::kEnd) {
        return out;
      }
      if (after.token != Token::kComma) {
        return Found(after.text, "',' or 'end of string'");
      }
      const Lexeme following = Peek(/*key=*/true);
      if (following.token != Token::kIdentifier && following.token != Token::kNot) {
        return Found(following.text, "identifier after ','");
      }
    }
  }

 private:
  /// "in" and "notin" are plain words where a key or value is expected.
  Lexeme Peek(bool key) const {
    Lexeme lexeme = tokens_[at_];
    if (key && (lexeme.token == Token::kIn || lexeme.token == Token::kNotIn)) {
      lexeme.token = Token::kIdentifier;
    }
    return lexeme;
  }
  Lexeme Take(bool key) {
    const Lexeme lexeme = Peek(key);
    if (at_ + 1 < tokens_.size()) {
      ++at_;
    }
    return lexeme;
  }

  Result<Requirement> ParseRequirement() {
    Requirement out;
    bool negated = false;
    Lexeme lexeme = Take(/*key=*/true);
    if (lexeme.token == Token::kNot) {
      negated = true;
      lexeme = Take(/*key=*/true);
    }
    if (lexeme.token != Token::kIdentifier) {
      return Wrap(Found(lexeme.text, "identifier"));
    }
    out.key = lexeme.text;
    if (Result<void> good = CheckKey(out.key); !good) {
      return Wrap(base::Error(std::move(good).error()));
    }
    const Lexeme next = Peek(/*key=*/true);
    if (negated || next.token == Token::kEnd || next.token == Token::kComma) {
      out.op = negated ? Op::kDoesNotExist : Op::kExists;
      return out;
    }
    const Lexeme op = Take(/*key=*/false);
    switch (op.token) {
      case Token::kIn: out.op = Op::kIn; return ParseSet(std::move(out));
      case Token::kNotIn: out.op = Op::kNotIn; return ParseSet(std::move(out));
      case Token::kEquals:
      case Token::kDoubleEquals: out.op = Op::kIn; break;
      case Token::kNotEquals: out.op = Op::kNotIn; break;
      case Token::kGreater: out.op = Op::kGreater; break;
      case Token::kLess: out.op = Op::kLess; break;
      default: return Wrap(Found(op.text, "in, notin, =, ==, !=, gt, lt"));
    }
    return ParseExact(std::move(out));
  }

  Result<Requirement> ParseExact(Requirement out) {
    const Lexeme next = Peek(/*key=*/true);
    if (next.token == Token::kEnd || next.token == Token::kComma) {
      out.values.emplace_back();
    } else if (next.token == Token::kIdentifier) {
      out.values.emplace_back(Take(/*key=*/true).text);
    } else {
      return Wrap(Found(next.text, "identifier"));
    }
    if ((out.op == Op::kGreater || out.op == Op::kLess) && !ToInt(out.values[0])) {
      return Wrap(
          Problem(fmt::format("values[0]: Invalid value: \"{}\": for 'Gt', 'Lt' operators, the "
                              "value must be an integer",
                              out.values[0])));
    }
    return Checked(std::move(out));
  }

  Result<Requirement> ParseSet(Requirement out) {
    const Lexeme open = Take(/*key=*/false);
    if (open.token != Token::kOpen) {
      return Wrap(Problem(fmt::format("found '{}' expected: '('", open.text)));
    }
    bool want_value = true;
    while (true) {
      const Lexeme lexeme = Take(/*key=*/true);
      if (lexeme.token == Token::kIdentifier && want_value) {
        out.values.emplace_back(lexeme.text);
        want_value = false;
      } else if (lexeme.token == Token::kComma) {
        if (want_value) {
          out.values.emplace_back();
        }
        want_value = true;
      } else if (lexeme.token == Token::kClose) {
        if (want_value) {
          out.values.emplace_back();
        }
        break;
      } else {
        return Wrap(Found(lexeme.text, want_value ? "',', ')' or identifier" : "',' or ')'"));
      }
    }
    std::ranges::sort(out.values);
    out.values.erase(std::ranges::unique(out.values).begin(), out.values.end());
    return Checked(std::move(out));
  }

  static Result<Requirement> Checked(Requirement out) {
    if (Result<void> good = CheckValues(out); !good) {
      return Wrap(base::Error(std::move(good).error()));
    }
    return out;
  }

  static std::unexpected<base::Status> Wrap(std::unexpected<base::Status> error) {
    error.error().Prepend("unable to parse requirement: ");
    return error;
  }

  std::vector<Lexeme> tokens_;
  std::size_t at_ = 0;
};

bool SplitTerm(std::string_view term, FieldSelector::Term& out, std::string_view& raw_value) {
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (term[i] == '\\') {
      ++i;
      continue;
    }
    const std::string_view rest = term.substr(i);
    for (const std::string_view op : {"!=", "==", "="}) {
      if (rest.starts_with(op)) {
        out.field = term.substr(0, i);
        out.equal = op != "!=";
        raw_value = rest.substr(op.size());
        return true;
      }
    }
  }
  return false;
}

Result<std::string> UnescapeValue(std::string_view raw) {
  std::string out;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\') {
      if (raw[i] == ',' || raw[i] == '=') {
        return base::Error(
            Reason::kBadRequest,
            fmt::format("invalid field selector: unescaped character in value: {:d}", raw[i]));
      }
      out += raw[i];
      continue;
    }
    if (i + 1 == raw.size() || (raw[i + 1] != '\\' && raw[i + 1] != ',' && raw[i + 1] != '=')) {
      return base::Error(
          Reason::kBadRequest,
          fmt::format("invalid field selector: invalid escape sequence: {}", raw.substr(i, 2)));
    }
    out += raw[++i];
  }
  return out;
}

}  // namespace

Result<LabelSelector> LabelSelector::Parse(std::string_view text) {
  LabelSelector out;
  ALLOT_ASSIGN_OR_RETURN(out.requirements_, LabelParser(text).Parse());
  return out;
}

bool LabelSelector::MatchesOne(const Requirement& requirement,
                               std::optional<std::string_view> value) {
  const auto listed = [&] {
    return std::ranges::find(requirement.values, *value) != requirement.values.end();
  };
  switch (requirement.op) {
    case Op::kIn: return value && listed();
    case Op::kNotIn: return !value || !listed();
    case Op::kExists: return value.has_value();
    case Op::kDoesNotExist: return !value.has_value();
    case Op::kGreater:
    case Op::kLess: break;
  }
  if (!value) {
    return false;
  }
  const std::optional<std::int64_t> left = ToInt(*value);
  const std::optional<std::int64_t> right = ToInt(requirement.values[0]);
  if (!left || !right) {
    return false;
  }
  return requirement.op == Op::kGreater ? *left > *right : *left < *right;
}

Result<FieldSelector> FieldSelector::Parse(std::string_view text) {
  FieldSelector out;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i + 1 < text.size() && text[i] == '\\') {
      ++i;
      continue;
    }
    if (i < text.size() && text[i] != ',') {
      continue;
    }
    const std::string_view piece = text.substr(start, std::min(i, text.size()) - start);
    start = i + 1;
    if (piece.empty()) {
      continue;
    }
    Term term;
    std::string_view raw;
    if (!SplitTerm(piece, term, raw)) {
      return base::Error(Reason::kBadRequest,
                         fmt::format("invalid selector: '{}'; can't understand '{}'", text, piece));
    }
    ALLOT_ASSIGN_OR_RETURN(term.value, UnescapeValue(raw));
    out.terms_.push_back(std::move(term));
  }
  return out;
}

std::optional<std::string_view> FieldSelector::Required(std::string_view field) const {
  for (const Term& term : terms_) {
    if (term.equal && term.field == field) {
      return term.value;
    }
  }
  return std::nullopt;
}

}  // namespace allot::apiserver
