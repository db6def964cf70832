// MergeThreeWay: the JSON merge patch of a client-side apply.
// Thread safety: pure.
#pragma once

#include "text/value.h"

namespace allot::cli {

/// What turns `live` into what the user wants: members of `wanted` that differ from `live` are set
/// (maps member by member, lists as a whole when they differ from `last`), and members of `last`
/// that are not in `wanted` are removed. An empty object means nothing to do.
[[nodiscard]] text::Value MergeThreeWay(const text::Value& last,
                                        const text::Value& wanted,
                                        const text::Value& live);

}  // namespace allot::cli
