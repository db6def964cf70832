// Desc<T>(): the descriptor table of a generated API type; specialised in the generated headers.
#pragma once

#include "schema/type_desc.h"

namespace allot::api {

template <typename T>
const schema::TypeDesc& Desc();

}  // namespace allot::api
