// Protobuf decoding: no bytes crash it, and what it takes is stable after one round.
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
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  static_cast<void>(schema::DecodeEnvelope(bytes));
  const auto kinds = api::Kinds();
  const schema::TypeDesc* const type = kinds[data[0] % kinds.size()].type;
  base::Arena arena;
  void* const root = schema::NewStruct(*type, arena);
  if (!schema::DecodeProtobuf(*type, bytes, arena, root)) {
    return 0;
  }
  std::string once;
  schema::EncodeProtobuf(*type, root, once);
  void* const again = schema::NewStruct(*type, arena);
  ALLOT_CHECK(schema::DecodeProtobuf(*type, once, arena, again).has_value());
  std::string twice;
  schema::EncodeProtobuf(*type, again, twice);
  ALLOT_CHECK(once == twice);
  std::string json;
  schema::EncodeJson(*type, root, json);
  ALLOT_CHECK(!text::FindJsonError(json).has_value());
  return 0;
}
