#include "apiserver/body.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "apiserver/errors.h"
#include "schema/codec.h"
#include "text/json.h"
#include "text/yaml.h"

namespace allot::apiserver {
namespace {

using base::Result;
using base::Status;

constexpr std::size_t kSummary = 30;
constexpr int kMaxDepth = 10000;

std::unexpected<Status> CannotHandle(std::string_view kind,
                                     std::string_view version,
                                     const BodyKind& expected,
                                     std::string_view why) {
  return base::Error(BadRequestError(fmt::format(
      "{} in version \"{}\" cannot be handled as a {}: {}", kind, version, expected.kind, why)));
}

std::unexpected<Status> Unrecognized(const BodyKind& expected,
                                     std::string_view body,
                                     std::string_view why) {
  return base::Error(BadRequestError(
      fmt::format("the object provided is unrecognized (must be of type {}): {} ({})",
                  expected.kind,
                  why,
                  SummarizeBody(body))));
}

/// "resource.k8s.io/v1" is the version v1 for error texts.
std::string_view VersionPart(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? api_version : api_version.substr(slash + 1);
}

/// Refuses bodies of another kind or version. Empty parts are what was expected.
Result<void> CheckTypeMeta(const BodyKind& expected,
                           std::string_view kind,
                           std::string_view api_version) {
  const bool same_kind = kind.empty() || kind == expected.kind;
  // An expected version left empty takes any (options kinds are known to every group).
  const bool same_version =
      api_version.empty() || expected.api_version.empty() || api_version == expected.api_version;
  if (same_kind && same_version) {
    return {};
  }
  const std::string_view named = kind.empty() ? expected.kind : kind;
  const std::string_view versioned = api_version.empty() ? expected.api_version : api_version;
  const std::size_t slash = versioned.find('/');
  const std::string_view group =
      slash == std::string_view::npos ? std::string_view() : versioned.substr(0, slash);
  const std::string_view version = VersionPart(versioned);
  if (same_kind && api::FindKind(group, version, named) != nullptr) {
    return base::Error(BadRequestError(
        fmt::format("the API version in the data ({}) does not match the expected API version ({})",
                    versioned,
                    expected.api_version)));
  }
  if (api::FindKind(group, version, named) == nullptr) {
    return CannotHandle(named,
                        version,
                        expected,
                        fmt::format("no kind \"{}\" is registered for version \"{}\" in scheme "
                                    "\"pkg/api/legacyscheme/scheme.go:30\"",
                                    named,
                                    versioned));
  }
  const auto go_name = [](std::string_view g, std::string_view v) {
    return g.empty() ? std::string(v) : std::string(g.substr(0, g.find('.')));
  };
  const std::size_t expected_slash = expected.api_version.find('/');
  const std::string expected_package =
      expected_slash == std::string_view::npos
          ? std::string("core")
          : go_name(expected.api_version.substr(0, expected_slash), expected.version);
  return CannotHandle(named,
                      version,
                      expected,
                      fmt::format("converting ({}.{}) to ({}.{}): unknown conversion",
                                  version,
                                  named,
                                  expected_package,
                                  expected.kind));
}

struct TypeMeta {
  std::string kind;
  std::string api_version;
};

/// Kind and version of a JSON text that may not be of the expected type at all.
std::optional<TypeMeta> PeekTypeMeta(std::string_view json) {
  base::Arena arena;
  api::meta::TypeMeta meta;
  if (!schema::DecodeJson(api::Desc<api::meta::TypeMeta>(), json, arena, &meta)) {
    return std::nullopt;
  }
  return TypeMeta{std::string(meta.kind), std::string(meta.api_version)};
}

/// Kind and apiVersion as a draft holds them; empty for types without.
TypeMeta TypeMetaOf(const AnyDraft& draft) {
  TypeMeta out;
  for (const schema::FieldDesc& field : draft.type().fields) {
    if (field.name != "kind" && field.name != "apiVersion") {
      break;
    }
    const auto& text = *reinterpret_cast<const schema::Str*>(
        static_cast<const char*>(draft.root()) + field.offset);
    (field.name == "kind" ? out.kind : out.api_version) = text;
  }
  return out;
}

Result<void> ReportFindings(const BodyKind& expected,
                            schema::StrictFindings findings,
                            FieldValidation validation,
                            std::vector<std::string>& warnings) {
  if (findings.errors.empty() || validation == FieldValidation::kIgnore) {
    return {};
  }
  // Duplicates come first, as upstream finds them while reading and unknown fields afterwards.
  std::vector<std::string> ordered;
  for (const bool duplicates : {true, false}) {
    for (std::string& text : findings.errors) {
      if (!text.empty() && text.starts_with("duplicate") == duplicates) {
        ordered.push_back(std::move(text));
        text.clear();
      }
    }
  }
  if (validation == FieldValidation::kWarn) {
    warnings.insert(warnings.end(),
                    std::make_move_iterator(ordered.begin()),
                    std::make_move_iterator(ordered.end()));
    return {};
  }
  return CannotHandle(expected.kind,
                      expected.version,
                      expected,
                      fmt::format("strict decoding error: {}", fmt::join(ordered, ", ")));
}

Result<AnyDraft> DecodeJsonBody(const BodyKind& expected,
                                std::string text,
                                FieldValidation validation,
                                std::vector<std::string>& warnings) {
  AnyDraft draft(expected.type);
  const std::string_view kept = draft.Keep(std::move(text));
  schema::StrictFindings findings;
  schema::DecodeOptions options;
  options.strict = validation == FieldValidation::kIgnore ? nullptr : &findings;
  options.max_depth = kMaxDepth;
  const Result<void> decoded =
      schema::DecodeJson(expected.type, kept, draft.arena(), draft.root(), options);
  if (!decoded) {
    if (const auto broken = text::FindJsonError(kept, kMaxDepth)) {
      return Unrecognized(
          expected,
          kept,
          fmt::format("couldn't get version/kind; json parse error: {}", broken->message));
    }
    const std::optional<TypeMeta> meta = PeekTypeMeta(kept);
    if (meta) {
      ALLOT_RETURN_IF_ERROR(CheckTypeMeta(expected, meta->kind, meta->api_version));
    }
    return CannotHandle(expected.kind, expected.version, expected, decoded.error().message());
  }
  const TypeMeta meta = TypeMetaOf(draft);
  ALLOT_RETURN_IF_ERROR(CheckTypeMeta(expected, meta.kind, meta.api_version));
  ALLOT_RETURN_IF_ERROR(ReportFindings(expected, std::move(findings), validation, warnings));
  return draft;
}

Result<std::string> YamlToJson(const BodyKind& expected, std::string_view body) {
  text::YamlOptions options;
  options.duplicate_keys = text::DuplicateKeys::kError;
  Result<text::Value> value = text::ParseYaml(body, options);
  if (!value) {
    return Unrecognized(
        expected, body, fmt::format("error converting YAML to JSON: {}", value.error().message()));
  }
  return text::ToJson(*value);
}

Result<AnyDraft> DecodeProtobufBody(const BodyKind& expected, std::string bytes) {
  AnyDraft draft(expected.type);
  const std::string_view kept = draft.Keep(std::move(bytes));
  Result<schema::Envelope> envelope = schema::DecodeEnvelope(kept);
  if (!envelope) {
    return Unrecognized(expected, kept, envelope.error().message());
  }
  ALLOT_RETURN_IF_ERROR(CheckTypeMeta(expected, envelope->kind, envelope->api_version));
  const Result<void> decoded =
      schema::DecodeProtobuf(expected.type, envelope->raw, draft.arena(), draft.root());
  if (!decoded) {
    return CannotHandle(expected.kind, expected.version, expected, decoded.error().message());
  }
  return draft;
}

}  // namespace

BodyKind BodyKindOf(const api::KindInfo& info) {
  return {*info.type, info.kind, info.api_version, info.version};
}

BodyKind BodyKindOf(const api::SubresourceInfo& info) {
  const api::KindInfo* const kind = info.type != nullptr ? api::FindType(*info.type) : nullptr;
  const std::string_view api_version = kind != nullptr ? kind->api_version : info.version;
  return {*info.type, info.kind, api_version, info.version};
}

std::string SummarizeBody(std::string_view body) {
  if (body.empty()) {
    return "<empty>";
  }
  if (body.front() == '{') {
    return body.size() > kSummary ? std::string(body.substr(0, kSummary)) + " ..."
                                  : std::string(body);
  }
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (const char c : body.substr(0, kSummary)) {
    out += kHex[static_cast<unsigned char>(c) >> 4U];
    out += kHex[static_cast<unsigned char>(c) & 15U];
  }
  return body.size() > kSummary ? out + " ..." : out;
}

Result<AnyDraft> DecodeBody(const BodyKind& expected,
                            std::string body,
                            Format format,
                            FieldValidation validation,
                            std::vector<std::string>& warnings) {
  if (format == Format::kProtobuf) {
    return DecodeProtobufBody(expected, std::move(body));
  }
  if (format == Format::kYaml) {
    ALLOT_ASSIGN_OR_RETURN(body, YamlToJson(expected, body));
  }
  return DecodeJsonBody(expected, std::move(body), validation, warnings);
}

}  // namespace allot::apiserver
