#include "golden/tree_printer.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cel/operations.h"
#include "quantity/go_text.h"

namespace allot::golden {
namespace {

using cel::Expr;
using cel::ExprKind;
using cel::Literal;
using cel::LiteralKind;

std::string LiteralText(const Literal& literal) {
  switch (literal.kind) {
    case LiteralKind::kNull: return "null";
    case LiteralKind::kBool: return literal.boolean ? "true" : "false";
    case LiteralKind::kInt: return fmt::format("{}", literal.integer);
    case LiteralKind::kUint: return fmt::format("{}u", literal.uinteger);
    case LiteralKind::kDouble: return cel::FormatDouble(literal.number);
    case LiteralKind::kString: return quantity::GoQuote(literal.text);
    case LiteralKind::kBytes: return "b" + quantity::GoQuote(literal.text);
  }
  return "";
}

std::string_view KindText(const Expr* expr) {
  switch (expr->kind) {
    case ExprKind::kIdent: return "Expr_IdentExpr";
    case ExprKind::kSelect: return "Expr_SelectExpr";
    case ExprKind::kCall: return "Expr_CallExpr";
    case ExprKind::kList: return "Expr_ListExpr";
    case ExprKind::kMap:
    case ExprKind::kStruct: return "Expr_StructExpr";
    case ExprKind::kComprehension: return "Expr_ComprehensionExpr";
    case ExprKind::kUnspecified: return "Expr_Unspecified";
    case ExprKind::kLiteral: break;
  }
  switch (expr->literal->kind) {
    case LiteralKind::kNull: return "Constant_NullValue";
    case LiteralKind::kBool: return "Constant_BoolValue";
    case LiteralKind::kInt: return "Constant_Int64Value";
    case LiteralKind::kUint: return "Constant_Uint64Value";
    case LiteralKind::kDouble: return "Constant_DoubleValue";
    case LiteralKind::kString: return "Constant_StringValue";
    case LiteralKind::kBytes: return "Constant_BytesValue";
  }
  return "";
}

// A comparison of two kinds of numbers, which environments may leave out.
bool IsAcrossKinds(const cel::Overload& overload) {
  return (overload.id.starts_with("less_") || overload.id.starts_with("greater_")) &&
         overload.params[0] != overload.params[1];
}

class Printer {
 public:
  /// `tree` null: kinds of nodes instead of types.
  Printer(const cel::CheckedTree* tree, bool across_kinds)
      : tree_(tree), across_kinds_(across_kinds) {}

  std::string Take() { return std::move(out_); }

  void Print(const Expr* expr) {
    switch (expr->kind) {
      case ExprKind::kLiteral: Text(LiteralText(*expr->literal)); break;
      case ExprKind::kIdent: Text(IdentText(expr)); break;
      case ExprKind::kSelect:
        Print(expr->target);
        Text(".");
        Text(expr->name);
        Text(expr->test_only ? "~test-only~" : "");
        break;
      case ExprKind::kCall: PrintCall(expr); break;
      case ExprKind::kList:
        Block("[", "]", expr->elements.size(), [&](std::size_t i) {
          Print(expr->elements[i].value);
        });
        break;
      case ExprKind::kMap:
      case ExprKind::kStruct: PrintEntries(expr); break;
      case ExprKind::kComprehension: PrintLoop(*expr->loop); break;
      case ExprKind::kUnspecified: break;
    }
    Adorn(expr);
  }

 private:
  void Text(std::string_view text) {
    if (line_start_) {
      line_start_ = false;
      out_.append(static_cast<std::size_t>(indent_) * 2, ' ');
    }
    out_ += text;
  }
  void Line() {
    out_ += '\n';
    line_start_ = true;
  }

  // A name hidden by a local one shows the dot that reaches it.
  std::string IdentText(const Expr* expr) const {
    const bool global = tree_ != nullptr && tree_->ReferenceOf(expr).global;
    return (global ? "." : "") + std::string(expr->name);
  }

  template <typename F>
  void Block(std::string_view open, std::string_view close, std::size_t size, F item) {
    Text(open);
    if (size > 0) {
      Line();
      ++indent_;
      for (std::size_t i = 0; i < size; ++i) {
        if (i > 0) {
          Text(",");
          Line();
        }
        item(i);
      }
      --indent_;
      Line();
    }
    Text(close);
  }

  void PrintCall(const Expr* expr) {
    if (expr->member) {
      Print(expr->target);
      Text(".");
    }
    Block(std::string(expr->name) + "(", ")", expr->args.size(), [&](std::size_t i) {
      Print(expr->args[i]);
    });
  }

  void PrintEntries(const Expr* expr) {
    const std::string open = expr->kind == ExprKind::kMap ? "{" : std::string(expr->name) + "{";
    Block(open, "}", expr->entries.size(), [&](std::size_t i) {
      const cel::Entry& entry = expr->entries[i];
      Text(entry.optional ? "?" : "");
      if (entry.key != nullptr) {
        Print(entry.key);
      } else {
        Text(entry.field);
      }
      Text(":");
      Print(entry.value);
      Text(tree_ == nullptr ? "^#*expr.Expr_CreateStruct_Entry#" : "");
    });
  }

  void Part(std::string_view title, const Expr* expr) {
    Text(",");
    Line();
    Text(title);
    Line();
    Print(expr);
  }

  void PrintLoop(const cel::Comprehension& loop) {
    Text("__comprehension__(");
    ++indent_;
    Line();
    Text("// Variable");
    Line();
    Text(loop.variable);
    if (!loop.variable2.empty()) {
      Text(",");
      Line();
      Text(loop.variable2);
    }
    Part("// Target", loop.range);
    Text(",");
    Line();
    Text("// Accumulator");
    Line();
    Text(loop.accumulator);
    Part("// Init", loop.init);
    Part("// LoopCondition", loop.condition);
    Part("// LoopStep", loop.step);
    Part("// Result", loop.result);
    Text(")");
    --indent_;
  }

  void Adorn(const Expr* expr) {
    if (tree_ == nullptr) {
      Text(fmt::format("^#*expr.{}#", KindText(expr)));
      return;
    }
    if (const cel::Type* const type = tree_->TypeOf(expr); type != nullptr) {
      Text("~" + cel::FormatType(type));
    }
    const cel::Reference& reference = tree_->ReferenceOf(expr);
    if (reference.kind == cel::Reference::Kind::kNone) {
      return;
    }
    if (reference.overloads.empty()) {
      Text(fmt::format("^{}{}", reference.global ? "." : "", reference.name));
      return;
    }
    std::vector<std::string_view> ids;
    for (const cel::Overload* overload : reference.overloads) {
      if (across_kinds_ || !IsAcrossKinds(*overload)) {
        ids.push_back(overload->id);
      }
    }
    std::ranges::sort(ids);
    Text(fmt::format("^{}", fmt::join(ids, "|")));
  }

  const cel::CheckedTree* tree_;
  bool across_kinds_;
  std::string out_;
  int indent_ = 0;
  bool line_start_ = true;
};

}  // namespace

std::string PrintTree(const Expr* root) {
  Printer printer(nullptr, /*across_kinds=*/true);
  printer.Print(root);
  return printer.Take();
}

std::string PrintChecked(const cel::CheckedTree& tree, bool across_kinds) {
  Printer printer(&tree, across_kinds);
  printer.Print(tree.root);
  return printer.Take();
}

}  // namespace allot::golden
