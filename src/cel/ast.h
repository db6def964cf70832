// The syntax tree of an expression. Nodes live in the arena of one compilation; ids are dense, so
// that later passes keep their findings in arrays. Thread safety: built by one thread, then
// read-only.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/arena.h"

namespace allot::cel {

enum class LiteralKind : std::uint8_t { kNull, kBool, kInt, kUint, kDouble, kString, kBytes };

struct Literal {
  LiteralKind kind = LiteralKind::kNull;
  bool boolean = false;
  std::int64_t integer = 0;
  std::uint64_t uinteger = 0;
  double number = 0;
  std::string_view text;
};

enum class ExprKind : std::uint8_t {
  kUnspecified,  ///< stands where an error was reported
  kLiteral,
  kIdent,
  kSelect,
  kCall,
  kList,
  kMap,
  kStruct,
  kComprehension,
};

struct Expr;

/// An entry of a map literal, or a field of a message literal (`key` null, `field` set).
struct Entry {
  std::uint32_t offset = 0;
  Expr* key = nullptr;
  std::string_view field;
  Expr* value = nullptr;
  bool optional = false;
};

struct ListElement {
  Expr* value = nullptr;
  bool optional = false;
};

struct Comprehension {
  Expr* range = nullptr;
  std::string_view variable;
  std::string_view variable2;  ///< empty: one variable
  std::string_view accumulator;
  Expr* init = nullptr;
  Expr* condition = nullptr;
  Expr* step = nullptr;
  Expr* result = nullptr;
};

struct Expr {
  ExprKind kind = ExprKind::kUnspecified;
  bool test_only = false;  ///< kSelect: has()
  bool member = false;     ///< kCall: called on a target
  std::uint32_t id = 0;
  std::uint32_t offset = 0;  ///< Unit: bytes into the source
  std::string_view name;     ///< ident, selected field, function, message type
  Expr* target = nullptr;    ///< select operand, member call target
  std::span<Expr*> args;
  std::span<ListElement> elements;
  std::span<Entry> entries;
  const Literal* literal = nullptr;
  Comprehension* loop = nullptr;
};

/// Makes nodes.
class ExprFactory {
 public:
  explicit ExprFactory(base::Arena& arena) : arena_(arena) {}

  Expr* New(ExprKind kind, std::uint32_t offset) {
    Expr* const expr = arena_.New<Expr>();
    expr->kind = kind;
    expr->offset = offset;
    expr->id = next_id_++;
    return expr;
  }
  Expr* NewLiteral(std::uint32_t offset, const Literal& literal);
  Expr* NewBool(std::uint32_t offset, bool value);
  Expr* NewInt(std::uint32_t offset, std::int64_t value);
  Expr* NewIdent(std::uint32_t offset, std::string_view name);
  Expr* NewSelect(std::uint32_t offset, Expr* operand, std::string_view field);
  Expr* NewCall(std::uint32_t offset, std::string_view function, std::initializer_list<Expr*> args);
  Expr* NewCall(std::uint32_t offset, std::string_view function, std::span<Expr* const> args);
  Expr* NewMemberCall(std::uint32_t offset,
                      std::string_view function,
                      Expr* target,
                      std::span<Expr* const> args);
  Expr* NewList(std::uint32_t offset, std::span<const ListElement> elements);
  Expr* NewMap(std::uint32_t offset, std::span<const Entry> entries);
  Expr* NewLoop(std::uint32_t offset, const Comprehension& loop);
  /// A deep copy with fresh ids for the macro at `offset`: as in cel-go, copied fields of messages
  /// and entries of maps stand there, everything else where it stood.
  Expr* Copy(const Expr* expr, std::uint32_t offset);

  template <typename T>
  std::span<T> CopySpan(std::span<const T> from) {
    T* const to = arena_.NewArray<T>(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
      to[i] = from[i];
    }
    return {to, from.size()};
  }

  [[nodiscard]] base::Arena& arena() { return arena_; }
  /// One more than the highest id.
  [[nodiscard]] std::uint32_t id_count() const { return next_id_; }

 private:
  base::Arena& arena_;
  std::uint32_t next_id_ = 0;
};

/// The accumulator of every macro; no source text can name it.
inline constexpr std::string_view kAccumulator = "@result";

/// Operator names as error texts and cost tables spell them.
namespace op {
inline constexpr std::string_view kConditional = "_?_:_";
inline constexpr std::string_view kAnd = "_&&_";
inline constexpr std::string_view kOr = "_||_";
inline constexpr std::string_view kNot = "!_";
inline constexpr std::string_view kNegate = "-_";
inline constexpr std::string_view kEquals = "_==_";
inline constexpr std::string_view kNotEquals = "_!=_";
inline constexpr std::string_view kLess = "_<_";
inline constexpr std::string_view kLessEquals = "_<=_";
inline constexpr std::string_view kGreater = "_>_";
inline constexpr std::string_view kGreaterEquals = "_>=_";
inline constexpr std::string_view kAdd = "_+_";
inline constexpr std::string_view kSubtract = "_-_";
inline constexpr std::string_view kMultiply = "_*_";
inline constexpr std::string_view kDivide = "_/_";
inline constexpr std::string_view kModulo = "_%_";
inline constexpr std::string_view kIndex = "_[_]";
inline constexpr std::string_view kOptIndex = "_[?_]";
inline constexpr std::string_view kOptSelect = "_?._";
inline constexpr std::string_view kIn = "@in";
inline constexpr std::string_view kNotStrictlyFalse = "@not_strictly_false";
inline constexpr std::string_view kMapInsert = "cel.@mapInsert";
}  // namespace op

}  // namespace allot::cel
