#include "api/object_meta.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "api/template_meta.h"

namespace allot::api {
namespace {

using schema::Str;

constexpr std::string_view kNotEmpty = "must not be empty";
constexpr std::size_t kAnnotationsMax = 256 * 1024;
constexpr std::size_t kFieldManagerMax = 128;
constexpr std::size_t kSubresourceMax = 256;
constexpr std::string_view kOrphan = "orphan";
constexpr std::string_view kForeground = "foregroundDeletion";

bool IsAsciiUpper(char c) {
  return c >= 'A' && c <= 'Z';
}

void ValidateOwnerReference(const meta::OwnerReference& owner,
                            const Path& path,
                            FieldErrors& errors) {
  const auto slash = owner.api_version.find('/');
  const bool two_slashes =
      slash != Str::npos && owner.api_version.find('/', slash + 1) != Str::npos;
  if (owner.api_version.empty()) {
    errors.Required(path.Child("apiVersion"), kNotEmpty);
  } else if (two_slashes || owner.api_version.ends_with('/')) {
    errors.Invalid(
        path.Child("apiVersion"), owner.api_version, "must be <group>/<version> or <version>");
  }
  if (owner.kind.empty()) {
    errors.Required(path.Child("kind"), kNotEmpty);
  }
  if (owner.name.empty()) {
    errors.Required(path.Child("name"), kNotEmpty);
  }
  if (owner.uid.empty()) {
    errors.Required(path.Child("uid"), kNotEmpty);
  }
  if (owner.api_version == "v1" && owner.kind == "Event") {
    errors.Invalid(path,
                   BadValue::Json(Desc<meta::OwnerReference>(), &owner),
                   "/v1, Kind=Event is disallowed from being an owner");
  }
}

std::string OwnersJson(const schema::List<meta::OwnerReference>& owners) {
  std::string out = "[";
  for (const meta::OwnerReference& owner : owners) {
    if (out.size() > 1) {
      out += ',';
    }
    out += BadValue::Json(Desc<meta::OwnerReference>(), &owner).text();
  }
  out += ']';
  return out;
}

void ValidateOwnerReferences(const schema::List<meta::OwnerReference>& owners,
                             const Path& path,
                             FieldErrors& errors) {
  const meta::OwnerReference* controller = nullptr;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const meta::OwnerReference& owner = owners[i];
    ValidateOwnerReference(owner, path.Index(i), errors);
    if (owner.controller == nullptr || !*owner.controller) {
      continue;
    }
    if (controller == nullptr) {
      controller = &owner;
    } else {
      errors.Invalid(
          path,
          BadValue::Raw(OwnersJson(owners)),
          fmt::format("Only one reference can have Controller set to true. Found \"true\" in "
                      "references for {}/{} and {}/{}",
                      controller->kind,
                      controller->name,
                      owner.kind,
                      owner.name));
    }
  }
}

void ValidateFinalizers(const schema::List<Str>& finalizers,
                        const Path& path,
                        FieldErrors& errors) {
  bool orphan = false;
  bool foreground = false;
  std::string all;
  for (const Str finalizer : finalizers) {
    errors.InvalidAll(path, finalizer, QualifiedNameProblems(finalizer));
    orphan |= finalizer == kOrphan;
    foreground |= finalizer == kForeground;
    all += (all.empty() ? "" : ",") + Quote(finalizer);
  }
  if (orphan && foreground) {
    errors.Invalid(path,
                   BadValue::Raw(fmt::format("[{}]", all)),
                   fmt::format("finalizer {} and {} cannot be both set", kOrphan, kForeground));
  }
  for (std::size_t i = 0; i < finalizers.size(); ++i) {
    const Str finalizer = finalizers[i];
    const bool standard =
        finalizer == "kubernetes" || finalizer == kOrphan || finalizer == kForeground;
    if (!standard && finalizer.find('/') == Str::npos) {
      errors.Invalid(path.Index(i),
                     finalizer,
                     "name is neither a standard finalizer name nor is it fully qualified");
    }
  }
}

void ValidateManagedFields(const schema::List<meta::ManagedFieldsEntry>& entries,
                           const Path& path,
                           FieldErrors& errors) {
  constexpr std::string_view kOperations[] = {"Apply", "Update"};
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const meta::ManagedFieldsEntry& entry = entries[i];
    const Path at = path.Index(i);
    if (entry.operation.empty()) {
      errors.Required(at.Child("operation"), kNotEmpty);
    } else if (std::ranges::find(kOperations, entry.operation) == std::end(kOperations)) {
      errors.NotSupported(at.Child("operation"), entry.operation, kOperations);
    }
    if (!entry.fields_type.empty() && entry.fields_type != "FieldsV1") {
      errors.Invalid(at.Child("fieldsType"), entry.fields_type, "must be `FieldsV1`");
    }
    if (entry.manager.size() > kFieldManagerMax) {
      errors.TooLong(at.Child("manager"), kFieldManagerMax);
    }
    if (entry.subresource.size() > kSubresourceMax) {
      errors.TooLong(at.Child("subresource"), kSubresourceMax);
    }
  }
}

void ValidateFinalizerNames(const meta::ObjectMeta& metadata,
                            FinalizerRule rule,
                            const Path& path,
                            FieldErrors& errors) {
  constexpr std::string_view kKnown[] = {"kubernetes", kOrphan, kForeground};
  for (std::size_t i = 0; rule == FinalizerRule::kKnown && i < metadata.finalizers.size(); ++i) {
    const Str name = metadata.finalizers[i];
    if (name.find('/') == Str::npos && std::ranges::find(kKnown, name) == std::end(kKnown)) {
      errors.Invalid(path.Index(i),
                     name,
                     "name is neither a standard finalizer name nor is it fully qualified");
    }
  }
}

void ValidateCommon(const meta::ObjectMeta& metadata, const Path& path, FieldErrors& errors) {
  ValidateLabels(metadata.labels, path.Child("labels"), errors);
  ValidateAnnotations(metadata.annotations, path.Child("annotations"), errors);
  ValidateOwnerReferences(metadata.owner_references, path.Child("ownerReferences"), errors);
}

void ValidateNoNewFinalizers(const meta::ObjectMeta& next,
                             const meta::ObjectMeta& old,
                             const Path& path,
                             FieldErrors& errors) {
  std::set<Str> added(next.finalizers.begin(), next.finalizers.end());
  for (const Str finalizer : old.finalizers) {
    added.erase(finalizer);
  }
  if (added.empty()) {
    return;
  }
  std::vector<std::string> quoted;
  quoted.reserve(added.size());
  for (const Str finalizer : added) {
    quoted.push_back(Quote(finalizer));
  }
  errors.Forbidden(
      path.Child("finalizers"),
      fmt::format("no new finalizers can be added if the object is being deleted, found new "
                  "finalizers []string{{{}}}",
                  fmt::join(quoted, ", ")));
}

void ValidateImmutable(Str next, Str old, const Path& path, FieldErrors& errors) {
  if (next != old) {
    errors.Invalid(path, next, "field is immutable");
  }
}

bool IsConditionReason(Str reason) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || IsAsciiUpper(c);
  };
  const auto inner = [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '_' || c == ',' || c == ':';
  };
  return letter(reason.front()) && std::ranges::all_of(reason, inner) && reason.back() != ',' &&
         reason.back() != ':';
}

void ValidateCondition(const meta::Condition& condition, const Path& path, FieldErrors& errors) {
  constexpr std::size_t kReasonMax = 1024;
  constexpr std::size_t kMessageMax = 32768;
  constexpr std::string_view kStatuses[] = {"False", "True", "Unknown"};
  if (condition.type.empty()) {
    errors.Required(path.Child("type"), "is required");
  } else {
    errors.InvalidAll(path.Child("type"), condition.type, QualifiedNameProblems(condition.type));
  }
  if (condition.status.empty()) {
    errors.Required(path.Child("status"));
  } else if (std::ranges::find(kStatuses, condition.status) == std::end(kStatuses)) {
    errors.NotSupported(path.Child("status"), condition.status, kStatuses);
  }
  if (condition.observed_generation < 0) {
    errors.Invalid(path.Child("observedGeneration"),
                   condition.observed_generation,
                   "must be greater than or equal to zero");
  }
  if (!condition.last_transition_time.set) {
    errors.Required(path.Child("lastTransitionTime"));
  }
  if (condition.reason.empty()) {
    errors.Required(path.Child("reason"));
  } else {
    if (!IsConditionReason(condition.reason)) {
      errors.Invalid(path.Child("reason"),
                     condition.reason,
                     "a condition reason must start with alphabetic character, optionally followed "
                     "by a string of "
                     "alphanumeric characters or '_,:', and must end with an alphanumeric "
                     "character or '_' (e.g. "
                     "'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or "
                     "'ReasonA:ReasonB', regex used "
                     "for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')");
    }
    if (condition.reason.size() > kReasonMax) {
      errors.TooLong(path.Child("reason"), kReasonMax);
    }
  }
  if (condition.message.size() > kMessageMax) {
    errors.TooLong(path.Child("message"), kMessageMax);
  }
}

}  // namespace

void ValidateLabels(const schema::Map<Str>& labels, const Path& path, FieldErrors& errors) {
  for (const auto& [key, value] : labels) {
    errors.InvalidAll(path, key, QualifiedNameProblems(key));
    errors.InvalidAll(path, value, LabelValueProblems(value));
  }
}

void ValidateAnnotations(const schema::Map<Str>& annotations,
                         const Path& path,
                         FieldErrors& errors) {
  std::size_t total = 0;
  std::string lower;
  for (const auto& [key, value] : annotations) {
    lower.assign(key);
    std::ranges::transform(lower, lower.begin(), [](char c) {
      return IsAsciiUpper(c) ? static_cast<char>(c - 'A' + 'a') : c;
    });
    errors.InvalidAll(path, key, QualifiedNameProblems(lower));
    total += key.size() + value.size();
  }
  if (total > kAnnotationsMax) {
    errors.TooLong(path, kAnnotationsMax);
  }
}

void ValidateObjectMeta(const meta::ObjectMeta& metadata,
                        Scope scope,
                        NameRule rule,
                        const Path& path,
                        FieldErrors& errors,
                        FinalizerRule finalizers) {
  if (!metadata.generate_name.empty()) {
    errors.InvalidAll(path.Child("generateName"),
                      metadata.generate_name,
                      ObjectNameProblems(rule, metadata.generate_name, /*prefix=*/true));
  }
  if (metadata.name.empty()) {
    errors.Required(path.Child("name"), "name or generateName is required");
  } else {
    errors.InvalidAll(path.Child("name"),
                      metadata.name,
                      ObjectNameProblems(rule, metadata.name, /*prefix=*/false));
  }
  if (scope == Scope::kCluster) {
    if (!metadata.namespace_.empty()) {
      errors.Forbidden(path.Child("namespace"), "not allowed on this type");
    }
  } else if (metadata.namespace_.empty()) {
    errors.Required(path.Child("namespace"));
  } else {
    errors.InvalidAll(
        path.Child("namespace"), metadata.namespace_, DnsLabelProblems(metadata.namespace_));
  }
  if (metadata.generation < 0) {
    errors.Invalid(
        path.Child("generation"), metadata.generation, "must be greater than or equal to 0");
  }
  ValidateCommon(metadata, path, errors);
  ValidateFinalizers(metadata.finalizers, path.Child("finalizers"), errors);
  ValidateManagedFields(metadata.managed_fields, path.Child("managedFields"), errors);
  ValidateFinalizerNames(metadata, finalizers, path.Child("finalizers"), errors);
}

void ValidateObjectMetaUpdate(const meta::ObjectMeta& next,
                              const meta::ObjectMeta& old,
                              const Path& path,
                              FieldErrors& errors,
                              FinalizerRule finalizers) {
  if (old.deletion_timestamp != nullptr) {
    ValidateNoNewFinalizers(next, old, path, errors);
  }
  if (next.generation < old.generation) {
    errors.Invalid(path.Child("generation"), next.generation, "must not be decremented");
  }
  ValidateImmutable(next.name, old.name, path.Child("name"), errors);
  ValidateImmutable(next.namespace_, old.namespace_, path.Child("namespace"), errors);
  ValidateImmutable(next.uid, old.uid, path.Child("uid"), errors);
  if (next.deletion_timestamp != nullptr && old.deletion_timestamp == nullptr) {
    errors.Invalid(path.Child("deletionTimestamp"),
                   quantity::FormatTime(*next.deletion_timestamp),
                   "field is immutable");
  }
  const std::int64_t* const grace = next.deletion_grace_period_seconds;
  const std::int64_t* const old_grace = old.deletion_grace_period_seconds;
  if (grace != nullptr && (old_grace == nullptr || *grace != *old_grace)) {
    errors.Invalid(path.Child("deletionGracePeriodSeconds"), *grace, "field is immutable");
  }
  ValidateCommon(next, path, errors);
  ValidateManagedFields(next.managed_fields, path.Child("managedFields"), errors);
  ValidateFinalizerNames(next, finalizers, path.Child("finalizers"), errors);
}

void ValidateCommonMeta(const meta::ObjectMeta& metadata, Scope scope, FieldErrors& errors) {
  const Path path("metadata");
  if (scope == Scope::kCluster && !metadata.namespace_.empty()) {
    errors.Forbidden(path.Child("namespace"), "not allowed on this type");
  }
  if (metadata.generation < 0) {
    errors.Invalid(
        path.Child("generation"), metadata.generation, "must be greater than or equal to 0");
  }
  ValidateCommon(metadata, path, errors);
  ValidateFinalizers(metadata.finalizers, path.Child("finalizers"), errors);
}

void ValidateConditions(const schema::List<meta::Condition>& conditions,
                        const Path& path,
                        FieldErrors& errors) {
  std::set<Str> types;
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    const Path at = path.Index(i);
    if (!types.insert(conditions[i].type).second) {
      errors.Duplicate(at, conditions[i].type);
    }
    ValidateCondition(conditions[i], at, errors);
  }
}

void KeepObjectMeta(meta::ObjectMeta& next, const meta::ObjectMeta& old) {
  const auto managed_fields = next.managed_fields;
  const auto resource_version = next.resource_version;
  const auto name = next.name;
  const auto namespace_name = next.namespace_;
  const auto uid = next.uid;
  next = old;
  next.managed_fields = managed_fields;
  next.resource_version = resource_version;
  next.name = name;
  next.namespace_ = namespace_name;
  next.uid = uid;
}

void ValidateTemplateMeta(const meta::ObjectMeta& metadata, const Path& path, FieldErrors& errors) {
  ValidateAnnotations(metadata.annotations, path.Child("annotations"), errors);
  ValidateLabels(metadata.labels, path.Child("labels"), errors);
  const auto forbid = [&](bool set, std::string_view name) {
    if (set) {
      errors.Forbidden(path.Child(name), "cannot be set");
    }
  };
  forbid(!metadata.name.empty(), "name");
  forbid(!metadata.generate_name.empty(), "generateName");
  forbid(!metadata.namespace_.empty(), "namespace");
  forbid(!metadata.self_link.empty(), "selfLink");
  forbid(!metadata.uid.empty(), "uID");
  forbid(!metadata.resource_version.empty(), "resourceVersion");
  forbid(metadata.generation != 0, "generation");
  forbid(metadata.creation_timestamp.set, "creationTimestamp");
  forbid(metadata.deletion_timestamp != nullptr, "deletionTimestamp");
  forbid(metadata.deletion_grace_period_seconds != nullptr, "deletionGracePeriodSeconds");
  forbid(metadata.owner_references.items != nullptr, "ownerReferences");
  forbid(metadata.finalizers.items != nullptr, "finalizers");
  forbid(metadata.managed_fields.items != nullptr, "managedFields");
}

}  // namespace allot::api
