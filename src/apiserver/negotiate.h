// Content negotiation: which wire form an answer takes and which form a body has.
// Thread safety: values.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/status.h"

namespace allot::apiserver {

enum class Format : std::uint8_t { kJson, kYaml, kProtobuf };

/// What the client wants the object turned into ("as=Table" and its siblings).
enum class Shape : std::uint8_t { kObject, kTable, kPartial, kPartialList };

struct MediaChoice {
  Format format = Format::kJson;
  Shape shape = Shape::kObject;
  bool pretty = false;

  friend bool operator==(const MediaChoice&, const MediaChoice&) = default;
};

/// What an endpoint can answer with besides its own JSON.
struct Offer {
  bool yaml = true;
  bool shapes = true;  ///< Table and PartialObjectMetadata
};

/// Picks the first clause of an Accept header, by weight and order, that the endpoint can give.
/// Errors: kNotAcceptable with upstream's text.
[[nodiscard]] base::Result<MediaChoice> NegotiateAnswer(std::string_view accept, Offer offer);

/// The form of a body by its Content-Type; an empty one means JSON.
/// Errors: kUnsupportedMediaType with upstream's text.
[[nodiscard]] base::Result<Format> NegotiateBody(std::string_view content_type);

/// Whether an Accept header asks for the aggregated discovery document (apidiscovery.k8s.io/v2).
[[nodiscard]] bool WantsAggregatedDiscovery(std::string_view accept);

/// Whether an Accept header names the protobuf form of OpenAPI version 2.
[[nodiscard]] bool NamesOldOpenApi(std::string_view accept);

/// "application/json" and siblings.
[[nodiscard]] std::string_view MimeType(Format format);

/// The media type without its parameters.
[[nodiscard]] std::string_view BareType(std::string_view content_type);

}  // namespace allot::apiserver
