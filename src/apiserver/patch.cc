#include "apiserver/patch.h"

#include <utility>

#include <fmt/format.h>

#include "apiserver/body.h"
#include "apiserver/negotiate.h"
#include "schema/patch.h"

namespace allot::apiserver {
namespace {

using base::Reason;
using base::Result;

schema::PatchType TypeOf(PatchKind kind) {
  switch (kind) {
    case PatchKind::kJson: return schema::PatchType::kJson;
    case PatchKind::kMerge: return schema::PatchType::kMerge;
    case PatchKind::kStrategic: return schema::PatchType::kStrategicMerge;
  }
  return schema::PatchType::kMerge;
}

schema::FieldValidation ValidationOf(FieldValidation validation) {
  switch (validation) {
    case FieldValidation::kWarn: return schema::FieldValidation::kWarn;
    case FieldValidation::kStrict: return schema::FieldValidation::kStrict;
    case FieldValidation::kIgnore: return schema::FieldValidation::kIgnore;
  }
  return schema::FieldValidation::kWarn;
}

}  // namespace

Result<PatchKind> PatchKindOf(std::string_view content_type) {
  const std::string_view type = BareType(content_type);
  if (type == "application/json-patch+json") {
    return PatchKind::kJson;
  }
  if (type == "application/merge-patch+json") {
    return PatchKind::kMerge;
  }
  if (type == "application/strategic-merge-patch+json") {
    return PatchKind::kStrategic;
  }
  if (type == "application/apply-patch+yaml" || type == "application/apply-patch+cbor") {
    return base::Error(Reason::kUnsupportedMediaType,
                       "server-side apply is not available on this server: use one of "
                       "application/json-patch+json, application/merge-patch+json, "
                       "application/strategic-merge-patch+json");
  }
  return base::Error(Reason::kUnsupportedMediaType, "415: Unsupported Media Type");
}

Result<AnyDraft> ApplyPatch(PatchKind kind,
                            std::string_view patch,
                            const Resource& resource,
                            const AnyView& old,
                            store::Revision revision,
                            FieldValidation validation,
                            std::vector<std::string>& warnings) {
  const schema::TypeDesc& type = *resource.info->type;
  AnyDraft current;
  if (resource.conversion == nullptr) {
    current = AnyDraft(type, old);
  } else {
    current = AnyDraft(type, nullptr, old);
    resource.conversion->from_stored(old.get(), current);
  }
  current.SetTypeMeta(resource.info->kind, resource.info->api_version);
  MetadataOf(type, current.root()).resource_version = current.Copy(fmt::format_int(revision).str());
  AnyDraft patched(type);
  const BodyKind expected = BodyKindOf(*resource.info);
  const schema::PatchOptions options{
      ValidationOf(validation),
      &warnings,
      [&expected](std::string_view named, std::string_view api_version) {
        return TypeMetaFault(expected, named, api_version);
      }};
  ALLOT_RETURN_IF_ERROR(schema::ApplyPatch(
      TypeOf(kind), type, current.root(), patch, patched.arena(), patched.root(), options));
  if (resource.conversion == nullptr) {
    return patched;
  }
  AnyDraft stored(*resource.conversion->stored, nullptr, patched.Freeze());
  resource.conversion->to_stored(patched.root(), stored);
  return stored;
}

}  // namespace allot::apiserver
