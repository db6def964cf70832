// Thread safety: pure functions.
#pragma once

namespace allot::quantity {

/// Whether Go's strconv.Quote leaves a code point as it is. Cost: grows with the code point, 1 us
/// at most.
[[nodiscard]] bool IsPrintable(char32_t rune);

}  // namespace allot::quantity
