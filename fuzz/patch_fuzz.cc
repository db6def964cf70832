// Patches: a document, a NUL and a patch. Nothing crashes, and what comes out is JSON.
#include <cstdint>
#include <string>
#include <string_view>

#include "api/registry.h"
#include "base/check.h"
#include "schema/patch.h"
#include "text/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace allot;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t nul = input.find('\0');
  if (nul == std::string_view::npos) {
    return 0;
  }
  auto document = text::ParseJson(input.substr(0, nul));
  const auto patch = text::ParseJson(input.substr(nul + 1));
  if (!document || !patch) {
    return 0;
  }
  text::Value by_json = *document;
  static_cast<void>(schema::ApplyJsonPatch(by_json, *patch));
  text::Value merged = *document;
  schema::ApplyMergePatch(merged, *patch);
  if (document->is_object() && patch->is_object()) {
    static_cast<void>(
        schema::ApplyStrategicMergePatch(*api::FindKind("", "v1", "Pod")->type, *document, *patch));
  }
  for (const auto* const value : {&by_json, &merged, &*document}) {
    ALLOT_CHECK(text::ParseJson(text::ToJson(*value)).has_value());
  }
  return 0;
}
