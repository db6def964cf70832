// Layout of members and list elements behind a FieldDesc, for code that walks objects by their
// tables. Module-private. Thread safety: stateless.
#pragma once

#include <cstddef>

#include "schema/layout.h"
#include "schema/type_desc.h"

namespace allot::api {

struct ElementLayout {
  std::size_t stride = 0;
  std::size_t value_at = 0;  // of the value in a map entry, behind its key; 0 in a list
  std::size_t alignment = 1;
};

/// REQUIRES: a list or map.
[[nodiscard]] inline ElementLayout ElementLayoutOf(const schema::FieldDesc& field) {
  if (field.shape == schema::Shape::kMap) {
    const schema::EntryLayout entry = schema::EntryLayoutOf(field);
    return {.stride = entry.size, .value_at = entry.value, .alignment = entry.alignment};
  }
  const schema::Layout value = schema::LayoutOf(field);
  return {.stride = value.size, .value_at = 0, .alignment = value.alignment};
}

/// Unit: bytes of the member itself.
[[nodiscard]] inline std::size_t MemberSize(const schema::FieldDesc& field) {
  switch (field.shape) {
    case schema::Shape::kValue: return schema::LayoutOf(field).size;
    case schema::Shape::kPointer: return sizeof(void*);
    case schema::Shape::kList:
    case schema::Shape::kMap: return sizeof(schema::AnyList);
  }
  return 0;
}

}  // namespace allot::api
