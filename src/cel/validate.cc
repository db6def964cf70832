#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cel/checker.h"
#include "cel/format_string.h"
#include "cel/regex.h"
#include "quantity/time.h"

namespace allot::cel {
namespace {

constexpr std::int64_t kMinUnix = -62'135'596'800;
constexpr std::int64_t kMaxUnix = 253'402'300'799;

bool InRange(std::int64_t seconds) {
  return seconds >= kMinUnix && seconds <= kMaxUnix;
}

bool IsDurationLiteral(const Literal& literal, RegexBudget& /*regexes*/) {
  return literal.kind == LiteralKind::kString && quantity::ParseDuration(literal.text).has_value();
}

bool IsTimestampLiteral(const Literal& literal, RegexBudget& /*regexes*/) {
  if (literal.kind == LiteralKind::kInt) {
    return InRange(literal.integer);
  }
  const auto parsed = quantity::ParseOffsetTime(literal.text);
  return parsed && InRange(parsed->seconds);
}

bool IsRegexLiteral(const Literal& literal, RegexBudget& regexes) {
  return Regex::Compile(literal.text, regexes).has_value();
}

// Walks the tree once; what is inside a format() call may mix types.
class Validator {
 public:
  Validator(const CheckedTree& tree, Errors& errors) : tree_(tree), errors_(errors) {}

  void Run() {
    Visit(tree_.root, /*in_format=*/false);
    // Formats are checked last, which shows where two errors stand at one place.
    for (auto& [offset, message] : format_errors_) {
      errors_.Report(offset, std::move(message));
    }
  }

 private:
  void Visit(const Expr* expr, bool in_format) {
    switch (expr->kind) {
      case ExprKind::kSelect: Visit(expr->target, in_format); break;
      case ExprKind::kCall: VisitCall(expr, in_format); break;
      case ExprKind::kList: VisitList(expr, in_format); break;
      case ExprKind::kMap: VisitMap(expr, in_format); break;
      case ExprKind::kStruct:
        for (const Entry& field : expr->entries) {
          Visit(field.value, in_format);
        }
        break;
      case ExprKind::kComprehension:
        for (const Expr* part : {expr->loop->range,
                                 expr->loop->init,
                                 expr->loop->condition,
                                 expr->loop->step,
                                 expr->loop->result}) {
          Visit(part, in_format);
        }
        break;
      default: break;
    }
  }

  void VisitCall(const Expr* expr, bool in_format) {
    CheckLiteral(expr, "duration", IsDurationLiteral);
    CheckLiteral(expr, "timestamp", IsTimestampLiteral);
    CheckLiteral(expr, "matches", IsRegexLiteral);
    const bool is_format = expr->name == "format";
    if (is_format && expr->member && expr->target->kind == ExprKind::kLiteral &&
        expr->target->literal->kind == LiteralKind::kString && expr->args.size() == 1 &&
        expr->args[0]->kind == ExprKind::kList) {
      CheckFormat(expr);
    }
    if (expr->target != nullptr) {
      Visit(expr->target, in_format || is_format);
    }
    for (const Expr* arg : expr->args) {
      Visit(arg, in_format || is_format);
    }
  }

  void CheckLiteral(const Expr* expr,
                    std::string_view function,
                    bool (*valid)(const Literal&, RegexBudget&)) {
    if (expr->name != function || expr->args.empty() || expr->args[0]->kind != ExprKind::kLiteral ||
        valid(*expr->args[0]->literal, regexes_)) {
      return;
    }
    errors_.Report(expr->args[0]->offset, fmt::format("invalid {} argument", function));
  }

  void Mismatch(const Expr* at, const Type* expected, const Type* actual) {
    errors_.Report(
        at->offset,
        fmt::format("expected type '{}' but found '{}'", FormatType(expected), FormatType(actual)));
  }

  // The type inside an optional entry. Upstream panics when that type is unknown; we report it.
  const Type* Inner(const Expr* value, bool optional) {
    const Type* const type = tree_.TypeOf(value);
    if (!optional) {
      return type;
    }
    if (type->param_count == 0) {
      errors_.Report(
          value->offset,
          fmt::format("expected type 'optional_type({0})' but found '{0}'", FormatType(type)));
      return nullptr;
    }
    return type->params[0];
  }

  void VisitList(const Expr* expr, bool in_format) {
    const Type* first = nullptr;
    bool done = in_format;
    for (const ListElement& element : expr->elements) {
      Visit(element.value, in_format);
      if (done) {
        continue;
      }
      const Type* const type = Inner(element.value, element.optional);
      if (type == nullptr) {
        done = true;
      } else if (first == nullptr) {
        first = type;
      } else if (!IsEquivalentType(first, type)) {
        Mismatch(element.value, first, type);
        done = true;
      }
    }
  }

  void VisitMap(const Expr* expr, bool in_format) {
    const Type* key = nullptr;
    const Type* value = nullptr;
    for (const Entry& entry : expr->entries) {
      Visit(entry.key, in_format);
      Visit(entry.value, in_format);
      if (in_format) {
        continue;
      }
      const Type* const key_type = tree_.TypeOf(entry.key);
      const Type* const value_type = Inner(entry.value, entry.optional);
      if (value_type == nullptr) {
        continue;
      }
      if (key == nullptr) {
        key = key_type;
        value = value_type;
        continue;
      }
      if (!IsEquivalentType(key, key_type)) {
        Mismatch(entry.key, key, key_type);
      }
      if (!IsEquivalentType(value, value_type)) {
        Mismatch(entry.value, value, value_type);
      }
    }
  }

  void ReportFormat(std::uint32_t offset, std::string message) {
    format_errors_.emplace_back(offset, std::move(message));
  }

  void CheckFormat(const Expr* expr) {
    const std::span<const ListElement> args = expr->args[0]->elements;
    FormatScanner scanner(expr->target->literal->text, args.size(), /*checking=*/true);
    std::string literal;
    std::optional<int> precision;
    while (const auto clause = scanner.Next(literal, precision)) {
      const Expr* const bad = BadArgument(args[clause->arg].value, clause->verb);
      if (bad != nullptr) {
        ReportFormat(
            bad->offset,
            "error during formatting: " + FormatTypeError(clause->verb, tree_.TypeOf(bad)->name));
        return;
      }
    }
    if (!scanner.error().empty()) {
      ReportFormat(expr->offset, scanner.error());
    } else if (args.size() > scanner.args_used()) {
      ReportFormat(expr->offset,
                   fmt::format("too many arguments supplied to string.format (expected {}, got {})",
                               scanner.args_used(),
                               args.size()));
    }
  }

  // The part of an argument that a clause cannot print; null: none.
  const Expr* BadArgument(const Expr* arg, char verb) {
    const TypeKind kind = tree_.TypeOf(arg)->kind;
    if (kind == TypeKind::kDyn && verb != 's') {
      return nullptr;
    }
    const auto is = [kind](std::initializer_list<TypeKind> kinds) {
      return std::ranges::find(kinds, kind) != kinds.end();
    };
    bool valid = false;
    switch (verb) {
      case 's': return BadString(arg);
      case 'd':
      case 'o': valid = is({TypeKind::kInt, TypeKind::kUint}); break;
      case 'f':
      case 'e': valid = is({TypeKind::kDouble, TypeKind::kString}); break;
      case 'b': valid = is({TypeKind::kInt, TypeKind::kUint, TypeKind::kBool}); break;
      default:
        valid = is({TypeKind::kInt, TypeKind::kUint, TypeKind::kString, TypeKind::kBytes});
        break;
    }
    return valid ? nullptr : arg;
  }

  const Expr* BadString(const Expr* arg) {
    switch (tree_.TypeOf(arg)->kind) {
      case TypeKind::kAny:
      case TypeKind::kOpaque:
      case TypeKind::kStruct:
      case TypeKind::kError:
      case TypeKind::kParam: return arg;
      default: break;
    }
    for (const ListElement& element : arg->elements) {
      if (const Expr* const bad = BadString(element.value); bad != nullptr) {
        return bad;
      }
    }
    if (arg->kind == ExprKind::kMap) {
      for (const Entry& entry : arg->entries) {
        for (const Expr* part : {entry.key, entry.value}) {
          if (const Expr* const bad = BadString(part); bad != nullptr) {
            return bad;
          }
        }
      }
    }
    return nullptr;
  }

  const CheckedTree& tree_;
  Errors& errors_;
  RegexBudget regexes_;
  std::vector<std::pair<std::uint32_t, std::string>> format_errors_;
};

}  // namespace

void Validate(const Env& env, const CheckedTree& tree, Errors& errors) {
  if (env.validators) {
    Validator(tree, errors).Run();
  }
}

}  // namespace allot::cel
