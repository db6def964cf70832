#include "cel/builder.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

namespace allot::cel {
namespace {

constexpr std::array<std::string_view, 17> kReserved = {"as",
                                                        "break",
                                                        "const",
                                                        "continue",
                                                        "else",
                                                        "for",
                                                        "function",
                                                        "if",
                                                        "import",
                                                        "let",
                                                        "loop",
                                                        "package",
                                                        "namespace",
                                                        "return",
                                                        "var",
                                                        "void",
                                                        "while"};

// The digits of an integer literal and their base.
std::string_view Digits(std::string_view text, int& base) {
  base = 10;
  if (text.starts_with("0x")) {
    base = 16;
    text.remove_prefix(2);
  }
  return text;
}

template <typename T>
bool ParseWhole(std::string_view text, int base, T& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

bool TreeBuilder::IsReservedName(std::string_view name) {
  return std::ranges::find(kReserved, name) != kReserved.end();
}

Expr* TreeBuilder::Error(std::size_t offset, std::string message) {
  errors_.Report(offset, std::move(message));
  return factory_.New(ExprKind::kUnspecified, static_cast<std::uint32_t>(offset));
}

Expr* TreeBuilder::Ident(std::uint32_t start,
                         std::uint32_t offset,
                         bool leading_dot,
                         std::string_view name) {
  if (IsReservedName(name)) {
    return Error(start, fmt::format("reserved identifier: {}", name));
  }
  if (leading_dot) {
    name = factory_.arena().Copy(fmt::format(".{}", name));
  }
  return factory_.NewIdent(offset, name);
}

Expr* TreeBuilder::GlobalCall(std::uint32_t start,
                              std::uint32_t open,
                              bool leading_dot,
                              std::string_view name,
                              std::span<Expr* const> args) {
  if (IsReservedName(name)) {
    return Error(start, fmt::format("reserved identifier: {}", name));
  }
  if (leading_dot) {
    name = factory_.arena().Copy(fmt::format(".{}", name));
  }
  if (Expr* const macro = ExpandMacro(*this, open, name, nullptr, args); macro != nullptr) {
    return macro;
  }
  return factory_.NewCall(open, name, args);
}

Expr* TreeBuilder::MemberCall(std::uint32_t open,
                              std::string_view name,
                              Expr* target,
                              std::span<Expr* const> args) {
  if (Expr* const macro = ExpandMacro(*this, open, name, target, args); macro != nullptr) {
    return macro;
  }
  return factory_.NewMemberCall(open, name, target, args);
}

Expr* TreeBuilder::Operator(std::uint32_t offset,
                            std::string_view name,
                            std::initializer_list<Expr*> args) {
  return factory_.NewCall(offset, name, args);
}

std::string_view TreeBuilder::FieldName(std::uint32_t offset, std::string_view name) {
  if (!name.starts_with('`')) {
    return name;
  }
  if (!syntax_.escaped_identifiers) {
    errors_.Report(offset, "unsupported syntax: '`'");
    return {};
  }
  return name.substr(1, name.size() - 2);
}

Expr* TreeBuilder::Select(std::uint32_t dot,
                          std::uint32_t name_offset,
                          std::string_view name,
                          Expr* operand,
                          bool optional) {
  name = FieldName(name_offset, name);
  if (!optional) {
    return factory_.NewSelect(dot, operand, name);
  }
  if (!syntax_.optional_syntax) {
    return Error(dot, "unsupported syntax '.?'");
  }
  Literal literal;
  literal.kind = LiteralKind::kString;
  literal.text = name;
  Expr* const field = factory_.NewLiteral(name_offset, literal);
  return factory_.NewCall(dot, op::kOptSelect, {operand, field});
}

Expr* TreeBuilder::Index(std::uint32_t bracket, Expr* operand, Expr* index, bool optional) {
  if (optional && !syntax_.optional_syntax) {
    return Error(bracket, "unsupported syntax '[?'");
  }
  return factory_.NewCall(bracket, optional ? op::kOptIndex : op::kIndex, {operand, index});
}

Expr* TreeBuilder::Logic(std::string_view name,
                         std::span<Expr* const> terms,
                         std::span<const std::uint32_t> offsets) {
  return terms.size() == 1 ? terms[0] : Balanced(name, terms, offsets, 0, offsets.size() - 1);
}

Expr* TreeBuilder::Balanced(std::string_view name,
                            std::span<Expr* const> terms,
                            std::span<const std::uint32_t> offsets,
                            std::size_t low,
                            std::size_t high) {
  const std::size_t mid = (low + high + 1) / 2;
  Expr* const left = mid == low ? terms[mid] : Balanced(name, terms, offsets, low, mid - 1);
  Expr* const right = mid == high ? terms[mid + 1] : Balanced(name, terms, offsets, mid + 1, high);
  return factory_.NewCall(offsets[mid], name, {left, right});
}

Expr* TreeBuilder::Message(std::uint32_t brace,
                           std::string_view name,
                           std::span<const Entry> fields) {
  Expr* const expr = factory_.New(ExprKind::kStruct, brace);
  expr->name = name;
  expr->entries = factory_.CopySpan(fields);
  return expr;
}

Expr* TreeBuilder::Int(std::uint32_t offset, bool negative, std::string_view text) {
  int base = 10;
  std::uint64_t magnitude = 0;
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 63;
  if (!ParseWhole(Digits(text, base), base, magnitude) ||
      magnitude > kLimit - (negative ? 0U : 1U)) {
    return Error(offset, "invalid int literal");
  }
  return factory_.NewInt(offset, static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude));
}

Expr* TreeBuilder::Uint(std::uint32_t offset, std::string_view text) {
  int base = 10;
  Literal literal;
  literal.kind = LiteralKind::kUint;
  text.remove_suffix(1);
  if (!ParseWhole(Digits(text, base), base, literal.uinteger)) {
    return Error(offset, "invalid uint literal");
  }
  return factory_.NewLiteral(offset, literal);
}

Expr* TreeBuilder::Double(std::uint32_t offset, bool negative, std::string_view text) {
  Literal literal;
  literal.kind = LiteralKind::kDouble;
  literal.number = std::strtod(std::string(text).c_str(), nullptr);
  if (std::isinf(literal.number)) {
    return Error(offset, "invalid double literal");
  }
  if (negative) {
    literal.number = -literal.number;
  }
  return factory_.NewLiteral(offset, literal);
}

Expr* TreeBuilder::String(std::uint32_t offset, std::string_view text, bool bytes) {
  Literal literal;
  literal.kind = bytes ? LiteralKind::kBytes : LiteralKind::kString;
  if (bytes) {
    text.remove_prefix(1);
  }
  const bool plain = text.size() >= 2 && (text[0] == '"' || text[0] == '\'') &&
                     text[1] != text[0] && text.find_first_of("\\\r") == std::string_view::npos;
  if (plain) {
    literal.text = text.substr(1, text.size() - 2);
    return factory_.NewLiteral(offset, literal);
  }
  std::string value;
  std::string error;
  if (!Unescape(text, bytes, value, error)) {
    errors_.Report(offset, std::move(error));
    value = text;
  }
  literal.text = factory_.arena().Copy(value);
  return factory_.NewLiteral(offset, literal);
}

Expr* TreeBuilder::Null(std::uint32_t offset) {
  return factory_.NewLiteral(offset, Literal{});
}

}  // namespace allot::cel
