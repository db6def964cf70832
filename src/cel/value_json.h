// Values in the tagged JSON form of the conformance data. Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "cel/value.h"

namespace allot::cel {

/// Appends {"t":"int","v":"5"}; keys in order. Types without a tag of their own appear under their
/// type name with Go's text. False: `out` has outgrown the limit.
[[nodiscard]] bool AppendValueJson(const Value& value, std::size_t limit, std::string& out);

/// Appends a JSON string literal as Go's encoder writes it without HTML escapes.
void AppendJsonString(std::string_view text, std::string& out);

}  // namespace allot::cel
