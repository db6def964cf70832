// The named string formats of the Kubernetes CEL library, with the validation messages of the API.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace allot::cel {

struct FormatRep {
  std::string_view key;    ///< the name in expressions, "dns1123Label"
  std::string_view title;  ///< what equality compares
  std::vector<std::string> (*validate)(std::string_view text);
  std::uint32_t regex_size = 0;  ///< what validate() costs
};

/// All formats.
[[nodiscard]] std::span<const FormatRep> NamedFormats();

}  // namespace allot::cel
