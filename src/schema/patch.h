// Patches of API objects: JSON Patch (RFC 6902), JSON Merge Patch (RFC 7386) and the strategic
// merge patch of the API, with upstream's answers to bad ones.
//
// Patches work on the JSON tree of the object; the result is decoded by the table of its type.
// Thread safety: stateless.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/status.h"
#include "schema/codec.h"
#include "schema/type_desc.h"
#include "text/value.h"

namespace allot::schema {

enum class PatchType : std::uint8_t { kJson, kMerge, kStrategicMerge };

/// What to do about unknown and duplicate fields (the API's fieldValidation).
enum class FieldValidation : std::uint8_t { kIgnore, kWarn, kStrict };

struct PatchOptions {
  FieldValidation validation = FieldValidation::kWarn;
  /// With kWarn: receives `unknown field "spec.x"` and the like.
  std::vector<std::string>* warnings = nullptr;
  /// Asked of kind and apiVersion of the outcome of JSON and merge patches: why they are wrong,
  /// or nothing.
  std::function<std::string(std::string_view kind, std::string_view api_version)> refuse{};
};

/// Unit: operations of one JSON Patch.
inline constexpr std::size_t kMostJsonPatchOperations = 10000;
/// Unit: bytes that the copy operations of one JSON Patch may add.
inline constexpr std::int64_t kMostCopiedBytes = std::int64_t{3} * 1024 * 1024;

/// Applies the text of a patch to the struct `current` of `type`; the outcome goes into `patched`,
/// a zeroed struct in `arena`, and points into nothing else. Errors: kBadRequest for a patch that
/// cannot be read, kRequestEntityTooLarge, kInvalid for one that does not apply (`the server
/// rejected our request due to an error in our request`), for a result of a wrong type and for
/// strict findings (cause at field `patch`); kUnknown where upstream answers a plain 500.
[[nodiscard]] base::Result<void> ApplyPatch(PatchType patch_type,
                                            const TypeDesc& type,
                                            const void* current,
                                            std::string_view patch,
                                            base::Arena& arena,
                                            void* patched,
                                            const PatchOptions& options = {});

/// The three on trees. `patch` is read, `document` changed; after an error it is half changed.
/// Errors: kInvalid with the library's text ("remove operation does not apply: ...").
[[nodiscard]] base::Result<void> ApplyJsonPatch(text::Value& document, const text::Value& patch);
void ApplyMergePatch(text::Value& document, const text::Value& patch);
/// Errors: as ApplyPatch.
[[nodiscard]] base::Result<void> ApplyStrategicMergePatch(const TypeDesc& type,
                                                          text::Value& document,
                                                          const text::Value& patch);

/// The JSON tree of a struct, members in the order they are written.
[[nodiscard]] text::Value ToValue(const TypeDesc& type,
                                  const void* root,
                                  const EncodeOptions& options = {});
/// Decodes a tree into a zeroed struct of `type`; texts are copied into `arena`. Errors: as
/// DecodeJson.
[[nodiscard]] base::Result<void> FromValue(const TypeDesc& type,
                                           const text::Value& value,
                                           base::Arena& arena,
                                           void* root,
                                           const DecodeOptions& options = {});

/// How Go's %v prints the tree ("map[a:1 b:[x y]]"), which reaches users in error texts.
[[nodiscard]] std::string GoText(const text::Value& value);

}  // namespace allot::schema
