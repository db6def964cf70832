// Deep copies of published objects into an arena of their own, so that the inventory outlives its
// sources. Thread safety: pure functions.
#pragma once

#include "api/core/v1.gen.h"
#include "api/resource/v1.gen.h"
#include "base/arena.h"

namespace allot::inventory {

[[nodiscard]] api::resource::ResourceSliceSpec CopySliceSpec(
    const api::resource::ResourceSliceSpec& from, base::Arena& arena);
[[nodiscard]] api::resource::DeviceClassSpec CopyClassSpec(
    const api::resource::DeviceClassSpec& from, base::Arena& arena);
[[nodiscard]] api::resource::DeviceTaint CopyTaint(const api::resource::DeviceTaint& from,
                                                   base::Arena& arena);
[[nodiscard]] api::core::NodeSelector CopyNodeSelector(const api::core::NodeSelector& from,
                                                       base::Arena& arena);
[[nodiscard]] schema::Map<schema::Str> CopyLabels(const schema::Map<schema::Str>& from,
                                                  base::Arena& arena);
[[nodiscard]] schema::List<schema::Str> CopyTexts(const schema::List<schema::Str>& from,
                                                  base::Arena& arena);

}  // namespace allot::inventory
