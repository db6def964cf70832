// What the codec tests share: a decoded struct of a kind and its JSON.
#pragma once

#include <string>
#include <string_view>

#include "api/registry.h"
#include "base/arena.h"
#include "schema/codec.h"

namespace allot::testing {

using schema::NewStruct;

inline const schema::TypeDesc& TypeOf(std::string_view group, std::string_view kind) {
  return *api::FindKind(group, "v1", kind)->type;
}

inline std::string JsonOf(const schema::TypeDesc& type,
                          const void* root,
                          const schema::EncodeOptions& options = {}) {
  std::string json;
  schema::EncodeJson(type, root, json, options);
  return json;
}

}  // namespace allot::testing
