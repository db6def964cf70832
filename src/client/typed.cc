#include "client/typed.h"

#include "base/check.h"

namespace allot::client {

const api::meta::ObjectMeta& MetadataOf(const schema::TypeDesc& type, const void* root) {
  const schema::FieldDesc* const field = type.FindOwn("metadata");
  ALLOT_CHECK(field != nullptr);
  return *reinterpret_cast<const api::meta::ObjectMeta*>(static_cast<const char*>(root) +
                                                         field->offset);
}

namespace internal {

const base::Arena& NoArena() {
  static const base::Arena kNone;
  return kNone;
}

}  // namespace internal
}  // namespace allot::client
