#include "cel/syntax_tree.h"

#include <string>

namespace allot::cel {
namespace {

using Form = SyntaxNode::Form;

std::string_view OperatorName(Token token) {
  switch (token) {
    case Token::kEqualsEquals: return op::kEquals;
    case Token::kNotEquals: return op::kNotEquals;
    case Token::kIn: return op::kIn;
    case Token::kLess: return op::kLess;
    case Token::kLessEquals: return op::kLessEquals;
    case Token::kGreater: return op::kGreater;
    case Token::kGreaterEquals: return op::kGreaterEquals;
    case Token::kStar: return op::kMultiply;
    case Token::kSlash: return op::kDivide;
    case Token::kPercent: return op::kModulo;
    case Token::kPlus: return op::kAdd;
    default: return op::kSubtract;
  }
}

class Visitor {
 public:
  explicit Visitor(TreeBuilder& builder) : builder_(builder) {}

  Expr* Visit(const SyntaxNode* node) {
    while (node != nullptr && node->form == Form::kPass) {
      node = node->first;
    }
    if (node == nullptr || too_deep_) {
      return Unknown();
    }
    switch (node->form) {
      case Form::kConditional:
      case Form::kBinary:
      case Form::kSelect:
      case Form::kMemberCall:
      case Form::kIndex: return VisitDeeper(*node);
      case Form::kOr: return VisitLogic(*node, op::kOr);
      case Form::kAnd: return VisitLogic(*node, op::kAnd);
      case Form::kNot: return VisitUnary(*node, op::kNot);
      case Form::kNegate: return VisitUnary(*node, op::kNegate);
      case Form::kIdent: return VisitIdent(*node);
      case Form::kGlobalCall: return VisitGlobalCall(*node);
      case Form::kList: return VisitList(*node);
      case Form::kMap: return VisitMap(*node);
      case Form::kMessage: return VisitMessage(*node);
      case Form::kLiteral: return VisitLiteral(*node);
      case Form::kBrokenUnary: {
        Literal literal;
        literal.kind = LiteralKind::kString;
        literal.text = "<<error>>";
        return builder_.factory().NewLiteral(node->start, literal);
      }
      default: return Unknown();
    }
  }

 private:
  Expr* Unknown() { return builder_.factory().New(ExprKind::kUnspecified, kNowhere); }
  Expr* Unknown(const SyntaxNode& node) {
    return builder_.factory().New(ExprKind::kUnspecified, node.start);
  }
  [[nodiscard]] std::string_view Text(const Lexeme& lexeme) const {
    return builder_.source().substr(lexeme.offset, lexeme.size);
  }

  // The forms whose nesting is limited.
  Expr* VisitDeeper(const SyntaxNode& node) {
    if (++depth_ > builder_.syntax().max_recursion) {
      if (!too_deep_) {
        builder_.errors().ReportNowhere("max recursion depth exceeded");
      }
      too_deep_ = true;
      return Unknown();
    }
    Expr* const out = node.form == Form::kConditional  ? VisitConditional(node)
                      : node.form == Form::kBinary     ? VisitBinary(node)
                      : node.form == Form::kSelect     ? VisitSelect(node)
                      : node.form == Form::kMemberCall ? VisitMemberCall(node)
                                                       : VisitIndex(node);
    --depth_;
    return out;
  }

  Expr* VisitConditional(const SyntaxNode& node) {
    Expr* const condition = Visit(node.first);
    Expr* const yes = Visit(node.second);
    Expr* const no = Visit(node.third);
    return builder_.Operator(node.op->offset, op::kConditional, {condition, yes, no});
  }

  Expr* VisitBinary(const SyntaxNode& node) {
    Expr* const left = Visit(node.first);
    Expr* const right = Visit(node.second);
    return builder_.Operator(node.op->offset, OperatorName(node.op->token), {left, right});
  }

  Expr* VisitLogic(const SyntaxNode& node, std::string_view name) {
    std::vector<Expr*> terms = {Visit(node.first)};
    std::vector<std::uint32_t> offsets;
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      terms.push_back(Visit(node.items[i]));
      offsets.push_back(node.ops[i].offset);
    }
    return builder_.Logic(name, terms, offsets);
  }

  Expr* VisitUnary(const SyntaxNode& node, std::string_view name) {
    Expr* const operand = Visit(node.first);
    return node.ops.size() % 2 == 0 ? operand
                                    : builder_.Operator(node.ops[0].offset, name, {operand});
  }

  Expr* VisitSelect(const SyntaxNode& node) {
    Expr* const operand = Visit(node.first);
    if (node.second == nullptr || !node.op) {
      return Unknown(node);
    }
    const SyntaxNode& name = *node.second;
    std::string_view text;
    if (name.form == Form::kName) {
      text = Text(*name.id);
    } else {
      builder_.errors().Report(name.start, "unsupported ident kind");
    }
    return builder_.Select(node.op->offset, name.start, text, operand, node.question.has_value());
  }

  Expr* VisitMemberCall(const SyntaxNode& node) {
    Expr* const operand = Visit(node.first);
    if (!node.id) {
      return Unknown(node);
    }
    const std::vector<Expr*> args = VisitAll(node.second);
    return too_deep_ ? Unknown()
                     : builder_.MemberCall(node.op->offset, Text(*node.id), operand, args);
  }

  Expr* VisitIndex(const SyntaxNode& node) {
    Expr* const operand = Visit(node.first);
    if (!node.op) {
      return Unknown(node);
    }
    Expr* const index = Visit(node.second);
    return builder_.Index(node.op->offset, operand, index, node.question.has_value());
  }

  Expr* VisitIdent(const SyntaxNode& node) {
    if (!node.id) {
      return Unknown(node);
    }
    return builder_.Ident(node.start, node.id->offset, node.sign.has_value(), Text(*node.id));
  }

  Expr* VisitGlobalCall(const SyntaxNode& node) {
    if (!node.id) {
      return Unknown(node);
    }
    if (builder_.IsReservedName(Text(*node.id))) {
      return builder_.Ident(node.start, node.id->offset, node.sign.has_value(), Text(*node.id));
    }
    const std::vector<Expr*> args = VisitAll(node.second);
    const std::uint32_t open = node.op ? node.op->offset : kNowhere;
    return too_deep_
               ? Unknown()
               : builder_.GlobalCall(node.start, open, node.sign.has_value(), Text(*node.id), args);
  }

  // The expressions of an argument list.
  std::vector<Expr*> VisitAll(const SyntaxNode* list) {
    std::vector<Expr*> out;
    if (list != nullptr) {
      for (const SyntaxNode* item : list->items) {
        out.push_back(Visit(item));
      }
    }
    return out;
  }

  // Whether a mark for an optional is there and allowed; reports when it is not.
  bool IsOptional(const SyntaxNode& node, bool& skip) {
    skip = node.question.has_value() && !builder_.syntax().optional_syntax;
    if (skip) {
      builder_.errors().Report(node.start, "unsupported syntax '?'");
    }
    return node.question.has_value();
  }

  Expr* VisitList(const SyntaxNode& node) {
    std::vector<ListElement> elements;
    if (node.second != nullptr) {
      for (const SyntaxNode* item : node.second->items) {
        Expr* const value = Visit(item->first);
        bool skip = false;
        const bool optional = IsOptional(*item, skip);
        elements.push_back({value, optional && !skip});
      }
    }
    return builder_.factory().NewList(node.op ? node.op->offset : kNowhere, elements);
  }

  Expr* VisitMap(const SyntaxNode& node) {
    const std::uint32_t offset = node.op ? node.op->offset : kNowhere;
    std::vector<Entry> entries;
    const SyntaxNode* const list = node.second;
    for (std::size_t i = 0; list != nullptr && i < list->ops.size(); ++i) {
      if (i >= list->items.size() || i >= list->values.size()) {
        return builder_.factory().NewMap(offset, {});
      }
      const SyntaxNode& key = *list->items[i];
      Entry entry;
      entry.offset = list->ops[i].offset;
      bool skip = false;
      entry.optional = IsOptional(key, skip);
      if (skip) {
        continue;
      }
      entry.key = Visit(key.first);
      entry.value = Visit(list->values[i]);
      entries.push_back(entry);
    }
    return builder_.factory().NewMap(offset, entries);
  }

  Expr* VisitMessage(const SyntaxNode& node) {
    std::string name = node.sign ? "." : "";
    for (std::size_t i = 0; i < node.ops.size(); ++i) {
      name += i > 0 ? "." : "";
      name += Text(node.ops[i]);
    }
    const std::uint32_t brace = node.op ? node.op->offset : kNowhere;
    const std::vector<Entry> fields = VisitFields(node.second);
    return builder_.Message(brace, builder_.factory().arena().Copy(name), fields);
  }

  std::vector<Entry> VisitFields(const SyntaxNode* list) {
    std::vector<Entry> fields;
    for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
      if (i >= list->ops.size() || i >= list->values.size()) {
        return {};
      }
      const SyntaxNode& field = *list->items[i];
      Entry entry;
      entry.offset = list->ops[i].offset;
      bool skip = false;
      entry.optional = IsOptional(field, skip);
      if (skip) {
        continue;
      }
      if (field.second == nullptr || field.second->form != Form::kName) {
        builder_.errors().Report(list->start, "unsupported ident kind");
        continue;
      }
      entry.field = builder_.FieldName(field.second->start, Text(*field.second->id));
      entry.value = Visit(list->values[i]);
      fields.push_back(entry);
    }
    return fields;
  }

  Expr* VisitLiteral(const SyntaxNode& node) {
    const std::string_view text = Text(*node.id);
    const bool negative = node.sign.has_value();
    switch (node.id->token) {
      case Token::kNumInt: return builder_.Int(node.start, negative, text);
      case Token::kNumUint: return builder_.Uint(node.start, text);
      case Token::kNumFloat: return builder_.Double(node.start, negative, text);
      case Token::kString: return builder_.String(node.start, text, /*bytes=*/false);
      case Token::kBytes: return builder_.String(node.start, text, /*bytes=*/true);
      case Token::kNull: return builder_.Null(node.start);
      default: return builder_.factory().NewBool(node.start, node.id->token == Token::kTrue);
    }
  }

  TreeBuilder& builder_;
  int depth_ = 0;
  bool too_deep_ = false;
};

}  // namespace

void BuildBroken(TreeBuilder& builder, const SyntaxNode* node) {
  static_cast<void>(Visitor(builder).Visit(node));
}

}  // namespace allot::cel
