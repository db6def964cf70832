// The messages of google.protobuf that expressions may build: they become ordinary values at once.
// Thread safety: pure functions over tables.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "cel/context.h"
#include "cel/types.h"
#include "cel/value.h"

namespace allot::cel {

/// What a field holds, which decides how a value is converted to it.
enum class FieldKind : std::uint8_t {
  kBool,
  kBytes,
  kDouble,
  kFloat,
  kInt32,
  kInt64,
  kString,
  kUint32,
  kUint64,
  kNullValue,
  kStruct,
  kListValue,
  kValues,  ///< repeated Value
  kFields,  ///< map<string, Value>
};

struct MessageField {
  std::string_view name;
  FieldKind kind;
  const Type* type;
};

struct MessageType {
  std::string_view name;
  /// The type of an expression that builds it: wrappers are the types they wrap.
  const Type* type;
  std::span<const MessageField> fields;

  /// Null: no such field.
  [[nodiscard]] const MessageField* Find(std::string_view field) const;
};

/// Null: no message has that name.
[[nodiscard]] const MessageType* FindMessage(std::string_view name);

/// The message whose fields a message of this type is checked by; null: the type is none.
[[nodiscard]] const MessageType* WellKnownMessage(const Type* type);

/// A field given to a message.
struct FieldValue {
  std::string_view name;
  Value value;
};

/// Builds a message and unwraps it, as the type registry does: an error where a value does not fit
/// or the name means no message.
[[nodiscard]] Value NewMessage(Context& context,
                               std::string_view name,
                               std::span<const FieldValue> fields);

}  // namespace allot::cel
