// Descriptor tables: one TypeDesc per API type, one FieldDesc per field, generated from schemas/.
//
// One engine walks them for everything: strict decoding, encoding, defaults, limits, patches, field
// paths, OpenAPI and docs. Tables are constant data. Thread safety: immutable.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
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
  bool always = false;  // the JSON encoder always writes it (see data/api: `always`)
  bool required = false;
  bool is_inline = false;             // an embedded struct: its fields appear in place in JSON
  std::uint16_t protobuf = 0;         // field number; 0 = not in protobuf (TypeMeta)
  std::uint32_t offset = 0;           // of the member in the struct
  const TypeDesc* message = nullptr;  // kMessage: the type of the value, element or map value
  ListType list_type = ListType::kAtomic;
  std::span<const std::string_view> list_keys{};  // for ListType::kMap
  std::string_view named{};  // the Go type of a named string ("v1.RestartPolicy"), for error texts
  std::string_view patch_strategy{};  // "merge", "retainKeys", "merge,retainKeys", ...
  std::string_view patch_merge_key{};
  std::string_view default_value{};                 // as JSON text; empty = none
  std::span<const std::string_view> enum_values{};  // closed set; empty = open
  std::span<const std::string_view> gates{};        // feature gates named by the declaration
  std::string_view union_name{};  // "oneOf:x", "zeroOrOneOf:x", "discriminator" or empty
  std::string_view doc{};         // our own English, one or two sentences
};

/// A field as it stands in JSON: members of inlined structs appear in place.
struct JsonField {
  const FieldDesc* field = nullptr;
  std::uint32_t offset = 0;     // from the start of the outer struct
  std::string_view embedded{};  // the Go type it was inlined from ("VolumeSource"), for error texts
};

/// What a JSON name is hashed by; tools/generate.py computes the same.
[[nodiscard]] inline std::uint64_t NameKey(const char* name, std::size_t size) {
  std::uint64_t key = 0;
  if (size >= 8) {
    std::uint64_t last = 0;
    std::memcpy(&key, name, 8);
    std::memcpy(&last, name + size - 8, 8);
    key ^= std::rotl(last, 32);
  } else if (size >= 4) {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::memcpy(&first, name, 4);
    std::memcpy(&last, name + size - 4, 4);
    key = first | static_cast<std::uint64_t>(last) << 32;
  } else if (size != 0) {
    key = static_cast<std::uint64_t>(static_cast<unsigned char>(name[0])) |
          static_cast<std::uint64_t>(static_cast<unsigned char>(name[size / 2])) << 8 |
          static_cast<std::uint64_t>(static_cast<unsigned char>(name[size - 1])) << 16;
  }
  return key + size;
}

struct TypeDesc {
  std::string_view group{};    // "" = core, "meta.k8s.io", "resource.k8s.io", ...
  std::string_view version{};  // "v1"
  std::string_view name{};     // "ResourceClaim"
  std::string_view doc{};
  bool is_kind = false;  // has TypeMeta: the first two fields are apiVersion and kind
  std::uint32_t size = 0;
  std::uint32_t alignment = 0;
  std::span<const FieldDesc> fields{};  // in order of declaration; TypeMeta flattened for kinds

  std::span<const JsonField> json_fields{};  // in the order JSON is written
  const std::uint8_t* slots = nullptr;  // perfect hash of JSON names: index in json_fields or 255
  std::uint64_t hash_multiplier = 0;
  std::uint8_t hash_shift = 0;
  std::span<const std::uint8_t> by_number{};  // protobuf number -> index in fields or 255

  /// The JSON field with this name (inlined structs included); null when there is none. Cost: O(1).
  [[nodiscard]] const JsonField* Find(std::string_view json_name) const {
    const std::uint8_t slot =
        slots[NameKey(json_name.data(), json_name.size()) * hash_multiplier >> hash_shift];
    if (slot >= json_fields.size()) {
      return nullptr;
    }
    const JsonField& found = json_fields[slot];
    return found.field->name == json_name ? &found : nullptr;
  }
  /// The field with this protobuf number; null when there is none. Cost: O(1).
  [[nodiscard]] const FieldDesc* FindNumber(std::uint32_t number) const {
    const std::uint8_t index = number < by_number.size() ? by_number[number] : 255;
    return index < fields.size() ? &fields[index] : nullptr;
  }
  /// The field with this JSON name, looking into inlined structs is the caller's business; null
  /// when absent.
  [[nodiscard]] const FieldDesc* FindOwn(std::string_view json_name) const;
};

}  // namespace allot::schema
