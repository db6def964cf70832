// Descriptor tables: one TypeDesc per API type, one FieldDesc per field, generated from schemas/.
//
// One engine walks them for everything: strict decoding, encoding, defaults, limits, patches, field
// paths, OpenAPI and docs. Tables are constant data. Thread safety: immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "schema/types.h"

namespace allot::schema {

/// What one value (or list element, or map value) is.
enum class ValueKind : std::uint8_t {
  kString,       // Str
  kBool,         // bool
  kInt32,        // std::int32_t
  kInt64,        // std::int64_t
  kDouble,       // double
  kBytes,        // Str (raw bytes; base64 in JSON)
  kQuantity,     // quantity::Quantity
  kIntOrString,  // IntOrString
  kTime,         // quantity::Time, RFC 3339 in seconds
  kMicroTime,    // quantity::Time, six decimals
  kDuration,     // Duration
  kRaw,          // RawJson, protobuf RawExtension
  kFieldsV1,     // RawJson, protobuf FieldsV1
  kMessage,      // a generated struct
  kStringList,   // List<Str>: only as a map value (ExtraValue)
};

/// How the member holds the value.
enum class Shape : std::uint8_t {
  kValue,    // T
  kPointer,  // const T*, null when unset
  kList,     // List<T>
  kMap,      // Map<T>
};

/// Server-side-apply and strategic-merge list kinds.
enum class ListType : std::uint8_t { kAtomic, kSet, kMap };

/// When the JSON encoder leaves a field out.
enum class Omit : std::uint8_t { kNever, kEmpty, kZero };

struct TypeDesc;

struct FieldDesc {
  std::string_view name{};  // JSON name; for an inlined struct the empty text
  ValueKind kind = ValueKind::kString;
  Shape shape = Shape::kValue;
  Omit omit = Omit::kNever;
  bool always = false;    // the JSON encoder always writes it (see data/api: `always`)
  bool required = false;
  bool is_inline = false;  // an embedded struct: its fields appear in place in JSON
  std::uint16_t protobuf = 0;  // field number; 0 = not in protobuf (TypeMeta)
  std::uint32_t offset = 0;    // of the member in the struct
  const TypeDesc* message = nullptr;  // kMessage: the type of the value, element or map value
  ListType list_type = ListType::kAtomic;
  std::span<const std::string_view> list_keys{};    // for ListType::kMap
  std::string_view patch_strategy{};                // "merge", "retainKeys", "merge,retainKeys", ...
  std::string_view patch_merge_key{};
  std::string_view default_value{};                 // as JSON text; empty = none
  std::span<const std::string_view> enum_values{};  // closed set; empty = open
  std::span<const std::string_view> gates{};        // feature gates named by the declaration
  std::string_view union_name{};                    // "oneOf:x", "zeroOrOneOf:x", "discriminator" or empty
  std::string_view doc{};                           // our own English, one or two sentences
};

struct TypeDesc {
  std::string_view group{};    // "" = core, "meta.k8s.io", "resource.k8s.io", ...
  std::string_view version{};  // "v1"
  std::string_view name{};     // "ResourceClaim"
  std::string_view doc{};
  bool is_kind = false;  // has TypeMeta: the first two fields are apiVersion and kind
  std::uint32_t size = 0;
  std::uint32_t alignment = 0;
  std::span<const FieldDesc> fields{};  // in order of declaration; TypeMeta flattened for kinds

  /// The field with this JSON name, looking into inlined structs is the caller's business; null when absent.
  [[nodiscard]] const FieldDesc* FindOwn(std::string_view json_name) const;
};

}  // namespace allot::schema
