// Reading request bodies: JSON, YAML and protobuf into drafts, with strictness and upstream's
// texts. Thread safety: free functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/registry.h"
#include "apiserver/any_object.h"
#include "apiserver/negotiate.h"
#include "apiserver/request_options.h"
#include "base/status.h"

namespace allot::apiserver {

/// What a body is expected to be.
struct BodyKind {
  const schema::TypeDesc& type;
  std::string_view kind;
  std::string_view api_version;
  std::string_view version;  ///< the part after the group, for error texts
  std::string_view also{};   ///< an older apiVersion of the same layout
  bool bare_errors = false;  ///< errors say what is wrong and not of what, as those of options do
};
[[nodiscard]] BodyKind BodyKindOf(const api::KindInfo& info);
[[nodiscard]] BodyKind BodyKindOf(const api::SubresourceInfo& info);

/// Decodes a body. Kind and apiVersion may be left out; others than the expected ones are refused.
/// `warnings` receives unknown and duplicate fields when they are to be warned of.
/// Errors: kBadRequest as upstream.
[[nodiscard]] base::Result<AnyDraft> DecodeBody(const BodyKind& expected,
                                                std::string body,
                                                Format format,
                                                FieldValidation validation,
                                                std::vector<std::string>& warnings);

/// Why kind and version are not the expected ones; empty when they are, or are left out.
[[nodiscard]] std::string TypeMetaFault(const BodyKind& expected,
                                        std::string_view kind,
                                        std::string_view api_version);
/// What is said of a kind that no version of this server has.
[[nodiscard]] std::string NoKindText(std::string_view kind, std::string_view api_version);

/// The first 30 bytes of a text as error messages show it.
[[nodiscard]] std::string SummarizeBody(std::string_view body);

}  // namespace allot::apiserver
