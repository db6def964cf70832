// Layout of list and map elements behind a FieldDesc, for code that walks objects by their tables.
// Module-private. Thread safety: stateless.
#pragma once

#include <cstddef>

#include "schema/type_desc.h"

namespace allot::api {

struct ElementLayout {
  std::size_t stride = 0;
  std::size_t value_at = 0;  // of the value in a map entry, behind its key; 0 in a list
  std::size_t alignment = 1;
};

/// Unit: bytes of one value of the field (not of its list).
[[nodiscard]] std::size_t ValueSize(const schema::FieldDesc& field);
/// REQUIRES: a list or map.
[[nodiscard]] ElementLayout LayoutOf(const schema::FieldDesc& field);
/// Unit: bytes of the member itself.
[[nodiscard]] std::size_t MemberSize(const schema::FieldDesc& field);

}  // namespace allot::api
