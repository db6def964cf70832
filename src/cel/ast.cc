#include "cel/ast.h"

namespace allot::cel {

Expr* ExprFactory::NewLiteral(std::uint32_t offset, const Literal& literal) {
  Expr* const expr = New(ExprKind::kLiteral, offset);
  Literal* const copy = arena_.New<Literal>();
  *copy = literal;
  expr->literal = copy;
  return expr;
}

Expr* ExprFactory::NewBool(std::uint32_t offset, bool value) {
  Literal literal;
  literal.kind = LiteralKind::kBool;
  literal.boolean = value;
  return NewLiteral(offset, literal);
}

Expr* ExprFactory::NewInt(std::uint32_t offset, std::int64_t value) {
  Literal literal;
  literal.kind = LiteralKind::kInt;
  literal.integer = value;
  return NewLiteral(offset, literal);
}

Expr* ExprFactory::NewIdent(std::uint32_t offset, std::string_view name) {
  Expr* const expr = New(ExprKind::kIdent, offset);
  expr->name = name;
  return expr;
}

Expr* ExprFactory::NewSelect(std::uint32_t offset, Expr* operand, std::string_view field) {
  Expr* const expr = New(ExprKind::kSelect, offset);
  expr->target = operand;
  expr->name = field;
  return expr;
}

Expr* ExprFactory::NewCall(std::uint32_t offset,
                           std::string_view function,
                           std::initializer_list<Expr*> args) {
  return NewCall(offset, function, std::span<Expr* const>(args.begin(), args.size()));
}

Expr* ExprFactory::NewCall(std::uint32_t offset,
                           std::string_view function,
                           std::span<Expr* const> args) {
  Expr* const expr = New(ExprKind::kCall, offset);
  expr->name = function;
  expr->args = CopySpan<Expr*>(args);
  return expr;
}

Expr* ExprFactory::NewMemberCall(std::uint32_t offset,
                                 std::string_view function,
                                 Expr* target,
                                 std::span<Expr* const> args) {
  Expr* const expr = NewCall(offset, function, args);
  expr->member = true;
  expr->target = target;
  return expr;
}

Expr* ExprFactory::NewList(std::uint32_t offset, std::span<const ListElement> elements) {
  Expr* const expr = New(ExprKind::kList, offset);
  expr->elements = CopySpan(elements);
  return expr;
}

Expr* ExprFactory::NewMap(std::uint32_t offset, std::span<const Entry> entries) {
  Expr* const expr = New(ExprKind::kMap, offset);
  expr->entries = CopySpan(entries);
  return expr;
}

Expr* ExprFactory::NewLoop(std::uint32_t offset, const Comprehension& loop) {
  Expr* const expr = New(ExprKind::kComprehension, offset);
  Comprehension* const copy = arena_.New<Comprehension>();
  *copy = loop;
  expr->loop = copy;
  return expr;
}

Expr* ExprFactory::Copy(const Expr* expr, std::uint32_t offset) {
  if (expr == nullptr) {
    return nullptr;
  }
  Expr* const copy = New(expr->kind, expr->offset);
  const std::uint32_t id = copy->id;
  *copy = *expr;
  copy->id = id;
  copy->target = Copy(expr->target, offset);
  copy->args = CopySpan<Expr*>(expr->args);
  for (Expr*& arg : copy->args) {
    arg = Copy(arg, offset);
  }
  copy->elements = CopySpan<ListElement>(expr->elements);
  for (ListElement& element : copy->elements) {
    element.value = Copy(element.value, offset);
  }
  copy->entries = CopySpan<Entry>(expr->entries);
  for (Entry& entry : copy->entries) {
    entry.offset = offset;
    entry.key = Copy(entry.key, offset);
    entry.value = Copy(entry.value, offset);
  }
  if (expr->loop != nullptr) {
    Comprehension* const loop = arena_.New<Comprehension>();
    *loop = *expr->loop;
    loop->range = Copy(loop->range, offset);
    loop->init = Copy(loop->init, offset);
    loop->condition = Copy(loop->condition, offset);
    loop->step = Copy(loop->step, offset);
    loop->result = Copy(loop->result, offset);
    copy->loop = loop;
  }
  return copy;
}

}  // namespace allot::cel
