// Applying patches to an object: JSON patch, merge patch, strategic merge patch.
// Thread safety: free functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/any_object.h"
#include "apiserver/request_options.h"
#include "apiserver/resources.h"
#include "base/status.h"

namespace allot::apiserver {

enum class PatchKind : std::uint8_t { kJson, kMerge, kStrategic };

/// The kind by content type. Errors: kUnsupportedMediaType.
[[nodiscard]] base::Result<PatchKind> PatchKindOf(std::string_view content_type);

/// Applies `patch` (JSON text) to the stored object `old` as the resource's served version shows
/// it; the answer is in the stored type. `warnings` receives unknown fields when they are to be
/// warned of. Errors: kBadRequest for malformed patches, kInvalid for those that do not apply.
[[nodiscard]] base::Result<AnyDraft> ApplyPatch(PatchKind kind,
                                                std::string_view patch,
                                                const Resource& resource,
                                                const AnyView& old,
                                                store::Revision revision,
                                                FieldValidation validation,
                                                std::vector<std::string>& warnings);

}  // namespace allot::apiserver
