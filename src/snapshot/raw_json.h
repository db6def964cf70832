// Pieces of JSON as they stand in the text, so that opaque parameters keep their very bytes.
// Thread safety: pure functions. Internal to the module. REQUIRES: the text is well-formed JSON.
#pragma once

#include <string_view>
#include <vector>

namespace allot::snapshot {

/// The member's value; the last one when it occurs twice, empty when there is none.
[[nodiscard]] std::string_view RawMember(std::string_view object, std::string_view key);
/// The elements; empty when it is no array.
[[nodiscard]] std::vector<std::string_view> RawItems(std::string_view array);
/// The value at the start of `text`, which is moved behind it; empty when there is none or it is
/// malformed.
[[nodiscard]] std::string_view TakeRawValue(std::string_view& text);

}  // namespace allot::snapshot
