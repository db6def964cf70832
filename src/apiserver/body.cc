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
  if (expected.bare_errors) {
    return base::Error(BadRequestError(std::string(why)));
  }
  return base::Error(BadRequestError(fmt::format(
      "{} in version \"{}\" cannot be handled as a {}: {}", kind, version, expected.kind, why)));
}

std::unexpected<Status> Unrecognized(const BodyKind& expected,
                                     std::string_view body,
                                     std::string_view why) {
  if (expected.bare_errors) {
    return base::Error(BadRequestError(std::string(why)));
  }
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

bool HasTwoSlashes(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash != std::string_view::npos &&
         api_version.find('/', slash + 1) != std::string_view::npos;
}

std::string_view GoKind(const text::Value& value) {
  switch (value.kind()) {
    case text::Value::Kind::kNull: return "null";
    case text::Value::Kind::kBool: return "bool";
    case text::Value::Kind::kInt:
    case text::Value::Kind::kDouble: return "number";
    case text::Value::Kind::kString: return "string";
    case text::Value::Kind::kArray: return "array";
    case text::Value::Kind::kObject: break;
  }
  return "object";
}

/// Why kind and version cannot be read from a JSON text; nothing when they can.
std::optional<std::string> TypeMetaProblem(std::string_view json) {
  const Result<text::Value> value = text::ParseJson(json, {.max_depth = kMaxDepth});
  if (!value || value->is_null()) {
    return std::nullopt;
  }
  if (!value->is_object()) {
    return fmt::format(
        "json: cannot unmarshal {} into Go value of type struct {{ APIVersion string "
        "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }}",
        GoKind(*value));
  }
  for (const text::Member& member : value->members()) {
    if ((member.key == "kind" || member.key == "apiVersion") && !member.value.is_string() &&
        !member.value.is_null()) {
      return fmt::format("json: cannot unmarshal {} into Go struct field .{} of type string",
                         GoKind(member.value),
                         member.key);
    }
  }
  return std::nullopt;
}

/// Why a body of this kind and version is not the expected one.
std::string WrongKindText(const BodyKind& expected,
                          std::string_view kind,
                          std::string_view api_version) {
  const std::string_view version = VersionPart(api_version);
  const std::string_view group =
      api_version.size() > version.size()
          ? api_version.substr(0, api_version.size() - version.size() - 1)
          : std::string_view();
  if (api::FindKind(group, version, kind) == nullptr || expected.bare_errors) {
    return NoKindText(kind, api_version);
  }
  const std::size_t slash = expected.api_version.find('/');
  std::string_view package = "core";
  if (slash != std::string_view::npos) {
    package = expected.api_version.substr(0, std::min(slash, expected.api_version.find('.')));
  }
  return fmt::format(
      "converting ({}.{}) to ({}.{}): unknown conversion", version, kind, package, expected.kind);
}

/// Refuses bodies of another kind or version. Empty parts are what was expected.
Result<void> CheckTypeMeta(const BodyKind& expected,
                           std::string_view kind,
                           std::string_view api_version) {
  const bool same_kind = kind.empty() || kind == expected.kind;
  // An expected version left empty takes any (options kinds are known to every group).
  const bool same_version = api_version.empty() || expected.api_version.empty() ||
                            api_version == expected.api_version ||
                            (!expected.also.empty() && api_version == expected.also);
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
  return CannotHandle(named, version, expected, WrongKindText(expected, named, versioned));
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
    if (const auto problem = TypeMetaProblem(kept)) {
      return Unrecognized(
          expected, kept, fmt::format("couldn't get version/kind; json parse error: {}", *problem));
    }
    const std::optional<TypeMeta> meta = PeekTypeMeta(kept);
    if (meta) {
      ALLOT_RETURN_IF_ERROR(CheckTypeMeta(expected, meta->kind, meta->api_version));
    }
    return CannotHandle(expected.kind, expected.version, expected, decoded.error().message());
  }
  const TypeMeta meta = TypeMetaOf(draft);
  if (HasTwoSlashes(meta.api_version)) {
    return Unrecognized(
        expected, kept, fmt::format("unexpected GroupVersion string: {}", meta.api_version));
  }
  ALLOT_RETURN_IF_ERROR(CheckTypeMeta(expected, meta.kind, meta.api_version));
  ALLOT_RETURN_IF_ERROR(ReportFindings(expected, std::move(findings), validation, warnings));
  return draft;
}

/// Keys that stand twice: a fault when strict, else a warning each.
Result<void> ReportDuplicateKeys(const BodyKind& expected,
                                 std::vector<std::string> found,
                                 FieldValidation validation,
                                 std::vector<std::string>& warnings) {
  if (found.empty() || validation == FieldValidation::kIgnore) {
    return {};
  }
  if (validation == FieldValidation::kWarn) {
    warnings.insert(warnings.end(),
                    std::make_move_iterator(found.begin()),
                    std::make_move_iterator(found.end()));
    return {};
  }
  return CannotHandle(expected.kind,
                      expected.version,
                      expected,
                      fmt::format("strict decoding error: yaml: unmarshal errors:\n  {}",
                                  fmt::join(found, "\n  ")));
}

Result<std::string> YamlToJson(const BodyKind& expected,
                               std::string_view body,
                               std::vector<std::string>& duplicates) {
  text::YamlOptions options;
  options.duplicates = &duplicates;
  Result<text::Value> value = text::ParseYaml(body, options);
  if (!value) {
    return Unrecognized(expected, body, value.error().message());
  }
  return text::ToJson(*value);
}

Result<AnyDraft> DecodeProtobufBody(const BodyKind& expected, std::string bytes) {
  AnyDraft draft(expected.type);
  const std::string_view kept = draft.Keep(std::move(bytes));
  constexpr std::size_t kMagicSize = 4;
  if (kept.size() == kMagicSize && kept.starts_with("k8s")) {
    return Unrecognized(expected, kept, "empty body");
  }
  if (kept.empty()) {
    return Unrecognized(expected, kept, "empty data");
  }
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

std::string NoKindText(std::string_view kind, std::string_view api_version) {
  return fmt::format(
      "no kind \"{}\" is registered for version \"{}\" in scheme \"pkg/runtime/scheme.go:111\"",
      kind,
      api_version);
}

std::string TypeMetaFault(const BodyKind& expected,
                          std::string_view kind,
                          std::string_view api_version) {
  if ((kind.empty() || kind == expected.kind) &&
      (api_version.empty() || api_version == expected.api_version)) {
    return {};
  }
  return WrongKindText(expected,
                       kind.empty() ? expected.kind : kind,
                       api_version.empty() ? expected.api_version : api_version);
}

BodyKind BodyKindOf(const api::KindInfo& info) {
  return {*info.type, info.kind, info.api_version, info.version};
}

BodyKind BodyKindOf(const api::SubresourceInfo& info) {
  // Kinds that are no resource of their own.
  if (info.kind == "Eviction") {
    return {*info.type, info.kind, "policy/v1", info.version, "policy/v1beta1"};
  }
  if (info.kind == "TokenRequest") {
    return {*info.type, info.kind, "authentication.k8s.io/v1", info.version};
  }
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
    std::vector<std::string> duplicates;
    ALLOT_ASSIGN_OR_RETURN(body, YamlToJson(expected, body, duplicates));
    ALLOT_RETURN_IF_ERROR(
        ReportDuplicateKeys(expected, std::move(duplicates), validation, warnings));
  }
  return DecodeJsonBody(expected, std::move(body), validation, warnings);
}

}  // namespace allot::apiserver
