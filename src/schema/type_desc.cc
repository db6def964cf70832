#include "schema/type_desc.h"

namespace allot::schema {

const FieldDesc* TypeDesc::FindOwn(std::string_view json_name) const {
  for (const FieldDesc& field : fields) {
    if (field.name == json_name) {
      return &field;
    }
  }
  return nullptr;
}

}  // namespace allot::schema
