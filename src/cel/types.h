// The types of the checker. Types are immutable; those of one compilation live in its arena, the
// named ones for ever. Thread safety: immutable.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "base/arena.h"

namespace allot::cel {

enum class TypeKind : std::uint8_t {
  kDyn,
  kAny,
  kBool,
  kBytes,
  kDouble,
  kDuration,
  kError,
  kInt,
  kList,
  kMap,
  kNull,
  kOpaque,
  kString,
  kStruct,
  kTimestamp,
  kType,
  kParam,
  kUint,
};

struct Type {
  TypeKind kind = TypeKind::kDyn;
  /// Assignable from null: a wrapper type.
  bool nullable = false;
  /// kParam: the number of the type variable, or of the parameter of an overload.
  std::uint32_t variable = 0;
  /// kParam: a fresh variable of the checker, not the parameter of a declaration.
  bool fresh = false;
  std::string_view name;
  std::array<const Type*, 2> params = {};
  std::uint8_t param_count = 0;
  /// How many types its text names; parts that are shared count every time.
  std::uint32_t parts = 1;

  [[nodiscard]] std::span<const Type* const> parameters() const {
    return std::span(params).first(param_count);
  }
  [[nodiscard]] bool IsDyn() const { return kind == TypeKind::kDyn || kind == TypeKind::kAny; }
  [[nodiscard]] bool IsError() const { return kind == TypeKind::kError; }
  [[nodiscard]] bool IsOptional() const {
    return kind == TypeKind::kOpaque && name == "optional_type";
  }
};

/// The named types.
namespace types {
extern const Type kDyn;
extern const Type kAny;
extern const Type kBool;
extern const Type kBytes;
extern const Type kDouble;
extern const Type kDuration;
extern const Type kError;
extern const Type kInt;
extern const Type kNull;
extern const Type kString;
extern const Type kTimestamp;
extern const Type kType;
extern const Type kUint;
extern const Type kListDyn;
extern const Type kMapDyn;
extern const Type kMapStringDyn;
extern const Type kBoolWrapper;
extern const Type kBytesWrapper;
extern const Type kDoubleWrapper;
extern const Type kIntWrapper;
extern const Type kStringWrapper;
extern const Type kUintWrapper;
extern const Type kEmptyMessage;
extern const Type kQuantity;
extern const Type kSemver;
extern const Type kUrl;
extern const Type kFormat;
extern const Type kIp;
extern const Type kCidr;
extern const Type kOptionalDyn;
}  // namespace types

/// Makes types in an arena.
class TypeFactory {
 public:
  /// The largest type there is. Upstream has no limit, and checks types of more parts for minutes.
  static constexpr std::uint32_t kMaxParts = 10'000;

  explicit TypeFactory(base::Arena& arena) : arena_(arena) {}
  /// Whether a larger type was wanted; it became dyn.
  [[nodiscard]] bool overflowed() const { return overflowed_; }

  const Type* List(const Type* element);
  const Type* Map(const Type* key, const Type* value);
  const Type* Optional(const Type* value);
  const Type* TypeOf(const Type* type);
  const Type* Opaque(std::string_view name, std::span<const Type* const> params);
  const Type* Struct(std::string_view name);
  const Type* Nullable(const Type* type);
  const Type* Param(std::string_view name, std::uint32_t index);
  const Type* Fresh(std::uint32_t variable);

 private:
  Type* New(TypeKind kind, std::string_view name, std::initializer_list<const Type*> params);
  const Type* Fitting(const Type* type);

  base::Arena& arena_;
  bool overflowed_ = false;
};

/// Whether the types are the same, names of type parameters included.
[[nodiscard]] bool IsExactType(const Type* a, const Type* b);
/// The same, but any type parameter equals any other.
[[nodiscard]] bool IsEquivalentType(const Type* a, const Type* b);

/// The text in error messages ("list(int)", "null", "timestamp").
[[nodiscard]] std::string FormatType(const Type* type);
/// The text of a result type ("google.protobuf.Timestamp", "null_type").
[[nodiscard]] std::string TypeText(const Type* type);

}  // namespace allot::cel
