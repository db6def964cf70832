// WireTable: what walking a type's values needs, close together: the descriptors proper carry
// names, rules and documentation too, and a walk over them is a walk through memory.
//
// Made from the descriptors at first use and kept. Internal to schema. Thread safety: any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "schema/type_desc.h"

namespace allot::schema {

struct WireTable;

struct WireField {
  std::uint32_t offset = 0;
  std::uint16_t number = 0;
  ValueKind kind = ValueKind::kString;
  Shape shape = Shape::kValue;
  std::uint32_t size = 0;              ///< of what a pointer points to, an element, a map's entry
  std::uint8_t alignment = 0;          ///< of the same
  std::uint8_t value = 0;              ///< kMap: where the value starts in an entry
  std::uint8_t tag_size = 0;           ///< bytes in `tag`
  std::uint8_t wire = 0;               ///< protobuf wire type of the tag
  std::uint8_t value_wire = 0;         ///< of one value; another one for a map's
  char tag[4] = {};                    ///< number and wire type as they are written
  const WireTable* message = nullptr;  ///< kMessage
  const FieldDesc* desc = nullptr;
};

/// A field as it stands in JSON: members of inlined structs appear in place.
struct JsonRow {
  std::string_view name;
  std::uint32_t offset = 0;  ///< from the start of the outer struct
  ValueKind kind = ValueKind::kString;
  Shape shape = Shape::kValue;
  bool always = false;                 ///< written whatever it holds
  std::uint8_t value = 0;              ///< kMap: where the value starts in an entry
  std::uint32_t size = 0;              ///< of an element, a map's entry
  const WireTable* message = nullptr;  ///< kMessage
};

struct WireTable {
  const TypeDesc* type = nullptr;
  std::uint32_t size = 0;
  std::uint32_t alignment = 0;
  /// All fields with a number, the highest first: protobuf is written from its end.
  std::vector<WireField> fields;
  /// By protobuf number; null when there is none.
  std::vector<const WireField*> by_number;
  /// The fields that may point out of the struct; those without a number too.
  std::vector<WireField> pointing;
  /// In the order JSON is written.
  std::vector<JsonRow> json;
  const WireField* metadata = nullptr;  ///< the message member of that name
  const WireField* revision = nullptr;  ///< resourceVersion of ObjectMeta

  [[nodiscard]] const WireField* Find(std::uint32_t number) const {
    return number < by_number.size() ? by_number[number] : nullptr;
  }
};

/// The table of a type. Cost: a look at one slot after the first time.
[[nodiscard]] const WireTable& WireTableOf(const TypeDesc& type);

}  // namespace allot::schema
