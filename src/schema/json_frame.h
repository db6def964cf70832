// Frame: where the JSON decoder stands; the paths in its findings and errors are made from it.
// Internal to schema.  Thread safety: one decoder.
#pragma once

#include <cstdint>
#include <string>

#include "schema/type_desc.h"
#include "schema/types.h"

namespace allot::schema {

/// One per open object or array, linked outwards on the decoder's stack; read only when there is
/// something to say.
struct Frame {
  const Frame* parent = nullptr;
  const TypeDesc* type = nullptr;    // of an object with a table, else null
  const JsonField* field = nullptr;  // the member being read
  Str key{};                         // map: the key being read
  std::uint32_t index = 0;           // list: the element being read
  bool is_list = false;
};

/// "spec.containers[0].name": the path strict findings name.
[[nodiscard]] std::string StrictPath(const Frame* frame);
/// "struct field Container.spec.containers.name" or "value": the place Go's errors name.
[[nodiscard]] std::string GoPlace(const Frame* frame);
/// The Go type of a member, or of one element of it. `holder` is the struct it stands in.
[[nodiscard]] std::string GoType(const FieldDesc& field, bool element, const TypeDesc* holder);

}  // namespace allot::schema
