// Typed JSON decoding: no text crashes it, and what it takes survives every other form.
#include <cstdint>
#include <string>
#include <string_view>

#include "api/registry.h"
#include "base/arena.h"
#include "base/check.h"
#include "schema/codec.h"
#include "text/json.h"

using namespace allot;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const auto kinds = api::Kinds();
  const schema::TypeDesc* const type = kinds[data[0] % kinds.size()].type;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  base::Arena arena;
  void* const root = schema::NewStruct(*type, arena);
  schema::StrictFindings strict;
  if (!schema::DecodeJson(*type, text, arena, root, {.strict = &strict})) {
    return 0;
  }
  std::string json;
  schema::EncodeJson(*type, root, json);
  ALLOT_CHECK(!text::FindJsonError(json).has_value());
  void* const again = schema::NewStruct(*type, arena);
  ALLOT_CHECK(schema::DecodeJson(*type, json, arena, again).has_value());
  ALLOT_CHECK(schema::SemanticEqual(*type, root, again));

  std::string bytes;
  schema::EncodeProtobuf(*type, root, bytes);
  void* const parsed = schema::NewStruct(*type, arena);
  ALLOT_CHECK(schema::DecodeProtobuf(*type, bytes, arena, parsed).has_value());
  base::Arena other;
  void* const copy = schema::NewStruct(*type, other);
  schema::DeepCopy(*type, root, copy, other);
  ALLOT_CHECK(schema::SemanticEqual(*type, root, copy));
  std::string copied;
  schema::EncodeJson(*type, copy, copied);
  ALLOT_CHECK(copied == json);
  return 0;
}
