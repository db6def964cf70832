// The wire forms of API objects, by walking descriptor tables: JSON, YAML and protobuf, both ways.
//
// Typed decoding is strict when asked: unknown and duplicate fields are reported with their paths
// in upstream's words (`unknown field "spec.x"`, `duplicate field "spec.y"`). Thread safety:
// stateless.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/status.h"
#include "schema/object.h"
#include "schema/type_desc.h"

namespace allot::schema {

/// An empty struct of the type in the arena, for a decoder to fill.
[[nodiscard]] void* NewStruct(const TypeDesc& type, base::Arena& arena);

/// What strict decoding found in a body that lenient decoding accepts.
struct StrictFindings {
  std::vector<std::string> errors;  // `unknown field "spec.x"`, in order of appearance
};

struct DecodeOptions {
  /// Where strict findings go; null = lenient.
  StrictFindings* strict = nullptr;
  /// Unit: levels of nesting accepted.
  int max_depth = 10000;
};

/// Decodes JSON of `type` into `root` (a value-initialised struct of that type in `arena`). Strings
/// without escapes point into `text`, which must outlive the result (or be copied into the arena
/// before). Errors: kBadRequest with upstream's text (`json: cannot unmarshal string into Go struct
/// field ...`).
[[nodiscard]] base::Result<void> DecodeJson(const TypeDesc& type,
                                            std::string_view text,
                                            base::Arena& arena,
                                            void* root,
                                            const DecodeOptions& options = {});
/// The same from protobuf (without the k8s envelope). Unknown fields are skipped, repeated messages
/// merged.
[[nodiscard]] base::Result<void> DecodeProtobuf(const TypeDesc& type,
                                                std::string_view bytes,
                                                base::Arena& arena,
                                                void* root);
/// The same for bytes this program encoded itself: kept JSON is not checked again.
[[nodiscard]] base::Result<void> DecodeOwnProtobuf(const TypeDesc& type,
                                                   std::string_view bytes,
                                                   base::Arena& arena,
                                                   void* root);

struct EncodeOptions {
  /// Written as metadata.resourceVersion when not 0 (the body does not hold it).
  std::int64_t revision = 0;
  /// Leaves metadata.resourceVersion out, as the body of a record wants it.
  bool without_revision = false;
  /// Written as kind and apiVersion instead of the members when not empty.
  std::string_view kind;
  std::string_view api_version;
};

/// Appends the JSON form, fields in upstream's order, to `out`.
void EncodeJson(const TypeDesc& type,
                const void* root,
                std::string& out,
                const EncodeOptions& options = {});
/// Appends the protobuf form (no envelope) to `out`.
void EncodeProtobuf(const TypeDesc& type,
                    const void* root,
                    std::string& out,
                    const EncodeOptions& options = {});

/// Appends what gives an encoded body its metadata.resourceVersion: one more metadata message.
void AppendProtobufRevision(const TypeDesc& type, std::int64_t revision, std::string& out);

/// The k8s envelope (`k8s\0` + runtime.Unknown).
struct Envelope {
  std::string_view api_version;
  std::string_view kind;
  std::string_view raw;
};
[[nodiscard]] base::Result<Envelope> DecodeEnvelope(std::string_view bytes);
void EncodeEnvelope(const Envelope& envelope, std::string& out);

/// Equality of two structs of one type by meaning (nil and empty lists are equal, maps by content).
[[nodiscard]] bool SemanticEqual(const TypeDesc& type, const void* a, const void* b);

/// A deep copy: nothing of it points into what `from` points into. `to` is a struct of the type in
/// `arena`.
void DeepCopy(const TypeDesc& type, const void* from, void* to, base::Arena& arena);

/// Decodes a record's body into a struct of its type. metadata.resourceVersion, kind and apiVersion
/// are filled. Lifetime: the arena keeps the record alive, and the record the texts.
struct DecodedObject {
  std::shared_ptr<const base::Arena> arena;
  const void* root = nullptr;
};
[[nodiscard]] base::Result<DecodedObject> DecodeObject(const base::Ref<const Object>& object);

/// The same, typed. REQUIRES: object->type() is the table of T.
template <typename T>
[[nodiscard]] base::Result<View<T>> DecodeAs(const base::Ref<const Object>& object) {
  auto decoded = DecodeObject(object);
  if (!decoded) {
    return std::unexpected<base::Status>(std::move(decoded).error());
  }
  return View<T>(std::move(decoded->arena), static_cast<const T*>(decoded->root));
}

}  // namespace allot::schema
