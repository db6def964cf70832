// MergeThreeWay: the JSON merge patch of a client-side apply.
// Thread safety: pure.
#pragma once

#include "schema/type_desc.h"
#include "text/value.h"

namespace allot::cli {

/// What turns `live` into what the user wants: members of `wanted` that differ from `live` are set
/// (maps member by member), and members of `last` that are not in `wanted` are removed. Lists that
/// the schema merges by a key (containers by name) are merged element by element, so that what the
/// server or others added to an element, or as an element, stays; other lists are set as a whole
/// when they differ from `last`. `type` is null for kinds that the schema does not know. An empty
/// object means nothing to do.
[[nodiscard]] text::Value MergeThreeWay(const text::Value& last,
                                        const text::Value& wanted,
                                        const text::Value& live,
                                        const schema::TypeDesc* type);

}  // namespace allot::cli
