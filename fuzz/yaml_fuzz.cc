// YAML: no text crashes the reader, and what the writer prints reads back.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "text/yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(allot::text::ParseYamlStream(text));
  const auto value = allot::text::ParseYaml(text);
  if (!value) {
    return 0;
  }
  const auto again = allot::text::ParseYaml(allot::text::ToYaml(*value));
  ALLOT_CHECK(again.has_value() && *again == *value);
  return 0;
}
