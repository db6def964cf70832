// Templates of volume claims, and projected certificates.
#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include <fmt/format.h>

#include "api/core/rules.h"
#include "api/core/volume_rules.h"
#include "api/names.h"
#include "api/template_meta.h"

namespace allot::api::core {

using schema::Str;

namespace {

template <typename Reference>
void ValidateDataSource(const Reference& source, const Path& path, FieldErrors& errors) {
  if (source.name.empty()) {
    errors.Required(path.Child("name"));
  }
  if (source.kind.empty()) {
    errors.Required(path.Child("kind"));
  }
  const Str group = source.api_group == nullptr ? Str() : *source.api_group;
  if (group.empty() && source.kind != "PersistentVolumeClaim") {
    errors.Invalid(
        path, source.kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
  }
  if (!group.empty()) {
    errors.InvalidAll(path.Child("apiGroup"), group, DnsSubdomainProblems(group));
  }
}

void ValidateDataSources(const PersistentVolumeClaimSpec& spec,
                         const Path& path,
                         FieldErrors& errors) {
  if (spec.data_source != nullptr) {
    ValidateDataSource(*spec.data_source, path.Child("dataSource"), errors);
  }
  if (spec.data_source_ref == nullptr) {
    return;
  }
  const TypedObjectReference& reference = *spec.data_source_ref;
  const Path at = path.Child("dataSourceRef");
  ValidateDataSource(reference, at, errors);
  const bool elsewhere = reference.namespace_ != nullptr && !reference.namespace_->empty();
  if (elsewhere) {
    errors.InvalidAll(
        at.Child("namespace"), *reference.namespace_, DnsLabelProblems(*reference.namespace_));
  }
  if (spec.data_source == nullptr) {
    return;
  }
  const auto group = [](const Str* text) {
    return text == nullptr ? Str() : *text;
  };
  const bool same = spec.data_source->kind == reference.kind &&
                    spec.data_source->name == reference.name &&
                    group(spec.data_source->api_group) == group(reference.api_group);
  // Upstream shows a path where the value should be, which prints as nothing.
  if (elsewhere) {
    errors.Invalid(path,
                   BadValue::Raw("{}"),
                   "may not be specified when dataSourceRef.namespace is specified");
  } else if (!same) {
    errors.Invalid(path, BadValue::Raw("{}"), "must match dataSourceRef");
  }
}

void ValidateAccessModes(const PersistentVolumeClaimSpec& spec,
                         const Path& path,
                         FieldErrors& errors) {
  constexpr std::array<std::string_view, 4> kModes = {
      "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"};
  bool alone = false;
  bool others = false;
  for (const Str mode : spec.access_modes) {
    if (std::ranges::find(kModes, mode) == kModes.end()) {
      errors.NotSupported(path, mode, kModes);
    }
    (mode == "ReadWriteOncePod" ? alone : others) = true;
  }
  if (alone && others) {
    errors.Forbidden(path, "may not use ReadWriteOncePod with other access modes");
  }
}

void ValidateClaimSpec(const PersistentVolumeClaimSpec& spec,
                       const Path& path,
                       FieldErrors& errors) {
  constexpr std::array<std::string_view, 2> kVolumeModes = {"Block", "Filesystem"};
  const Path modes = path.Child("accessModes");
  if (spec.access_modes.empty()) {
    errors.Required(modes, "at least 1 access mode is required");
  }
  if (spec.selector != nullptr) {
    ValidateLabelSelector(*spec.selector, path.Child("selector"), errors);
  }
  ValidateAccessModes(spec, modes, errors);
  const Path storage = path.Item("resources", "storage");
  if (const auto* const amount = spec.resources.requests.Find("storage"); amount == nullptr) {
    errors.Required(storage);
  } else if (amount->nanos <= 0) {
    errors.Invalid(storage, amount->ToString(), "must be greater than zero");
  }
  const auto subdomain = [&](const Str* name, std::string_view field) {
    if (name != nullptr && !name->empty()) {
      errors.InvalidAll(path.Child(field), *name, DnsSubdomainProblems(*name));
    }
  };
  subdomain(spec.storage_class_name, "storageClassName");
  if (spec.volume_mode != nullptr &&
      std::ranges::find(kVolumeModes, *spec.volume_mode) == kVolumeModes.end()) {
    errors.NotSupported(path.Child("volumeMode"), *spec.volume_mode, kVolumeModes);
  }
  ValidateDataSources(spec, path, errors);
  subdomain(spec.volume_attributes_class_name, "volumeAttributesClassName");
}

void ValidateUserAnnotations(const schema::Map<Str>& annotations,
                             const Path& path,
                             FieldErrors& errors) {
  for (const auto& [key, value] : annotations) {
    std::string lower(key);
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
    if (lower.empty()) {
      errors.Required(path);
      continue;
    }
    if (lower.find('/') == std::string::npos) {
      errors.Invalid(path, lower, "must be a domain-prefixed key (such as \"acme.io/foo\")");
      continue;
    }
    errors.InvalidAll(path, lower, QualifiedNameProblems(lower));
  }
}

}  // namespace

void ValidateClaimTemplate(const PersistentVolumeClaimTemplate& claim,
                           const Path& path,
                           FieldErrors& errors) {
  ValidateTemplateMeta(claim.metadata, path.Child("metadata"), errors);
  ValidateClaimSpec(claim.spec, path.Child("spec"), errors);
}

void ValidateSignerName(Str name, const Path& path, FieldErrors& errors) {
  constexpr std::size_t kMaxDomain = 253;
  if (name.empty()) {
    errors.Required(path);
    return;
  }
  const auto slash = name.find('/');
  if (slash == Str::npos || name.find('/', slash + 1) != Str::npos) {
    errors.Invalid(
        path,
        name,
        "must be a fully qualified domain and path of the form 'example.com/signer-name'");
    return;
  }
  const Str domain = name.substr(0, slash);
  const Str part = name.substr(slash + 1);
  std::size_t labels = 0;
  for (std::size_t at = 0; at <= domain.size(); ++labels) {
    const auto end = std::min(domain.find('.', at), domain.size());
    const Str label = domain.substr(at, end - at);
    for (const std::string& problem : DnsLabelProblems(label)) {
      errors.Invalid(path, domain, fmt::format("validating label {}: {}", Quote(label), problem));
    }
    at = end + 1;
  }
  if (labels < 2) {
    errors.Invalid(path, domain, "should be a domain with at least two segments separated by dots");
  }
  for (const std::string& problem : DnsSubdomainProblems(part)) {
    errors.Invalid(path, part, fmt::format("validating label {}: {}", Quote(part), problem));
  }
  constexpr std::size_t kMaxName = kMaxDomain + 1 + kMaxDomain + 1 + 63;
  if (name.size() > kMaxName) {
    errors.TooLong(path, kMaxName);
  }
}

void ValidatePodCertificate(const PodCertificateProjection& source,
                            const Path& path,
                            FieldErrors& errors) {
  constexpr std::array<std::string_view, 6> kKeys = {
      "RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"};
  constexpr std::int32_t kLeast = 3600;
  constexpr std::int32_t kMost = 7'862'400;
  constexpr std::int32_t kMostOfKubernetes = 86'400;
  ValidateSignerName(source.signer_name, path.Child("signerName"), errors);
  ValidateUserAnnotations(source.user_annotations, path.Child("userAnnotations"), errors);
  if (std::ranges::find(kKeys, source.key_type) == kKeys.end()) {
    errors.NotSupported(path.Child("keyType"), source.key_type, kKeys);
  }
  if (source.max_expiration_seconds != nullptr) {
    const std::int32_t most =
        source.signer_name.starts_with("kubernetes.io/") ? kMostOfKubernetes : kMost;
    const std::int32_t seconds = *source.max_expiration_seconds;
    const Path at = path.Child("maxExpirationSeconds");
    if (seconds < kLeast) {
      errors.Invalid(at, seconds, "if provided, maxExpirationSeconds must be >= 3600");
    } else if (seconds > most) {
      errors.Invalid(
          at, seconds, fmt::format("if provided, maxExpirationSeconds must be <= {}", most));
    }
  }
  if (source.credential_bundle_path.empty() && source.key_path.empty() &&
      source.certificate_chain_path.empty()) {
    errors.Required(path,
                    "specify at least one of credentialBundlePath, keyPath, and "
                    "certificateChainPath");
  }
}

}  // namespace allot::api::core
