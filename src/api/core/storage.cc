// Volumes of storage systems that pods name themselves.
#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include <fmt/format.h>

#include "api/core/rules.h"
#include "api/core/volume_rules.h"
#include "api/names.h"

namespace allot::api::core {

using schema::Str;

namespace {

constexpr std::string_view kByte = "must be between 0 and 255, inclusive";
constexpr std::int32_t kMaxByte = 255;

void RequireText(Str text, std::string_view name, const Path& path, FieldErrors& errors) {
  if (text.empty()) {
    errors.Required(path.Child(name));
  }
}

void ValidatePartition(std::int32_t partition, const Path& path, FieldErrors& errors) {
  if (partition < 0 || partition > kMaxByte) {
    errors.Invalid(path.Child("partition"), partition, "must be between 1 and 255, inclusive");
  }
}

void RequireSecretName(const LocalObjectReference* secret, const Path& path, FieldErrors& errors) {
  if (secret != nullptr) {
    RequireText(secret->name, "name", path.Child("secretRef"), errors);
  }
}

bool IsAlphanumeric(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}
bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

/// "iqn.2015-02.example.com", and optionally a colon and the name of a target.
bool IsIqn(Str name) {
  constexpr std::size_t kDate = 4;  // behind "iqn."
  constexpr std::size_t kAuthority = kDate + 8;
  constexpr std::string_view kForm = "0000-00.";
  if (name.size() <= kAuthority) {
    return false;
  }
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const char c = name[kDate + i];
    if (kForm[i] == '0' ? !IsDigit(c) : c != kForm[i]) {
      return false;
    }
  }
  const Str rest = name.substr(kAuthority);
  const auto colon = rest.find(':');
  const Str authority = rest.substr(0, colon);
  const bool authority_good = !authority.empty() && std::ranges::all_of(authority, [](char c) {
    return IsAlphanumeric(c) || c == '-' || c == '.';
  });
  if (!authority_good || colon == Str::npos) {
    return false;
  }
  const Str target = rest.substr(colon + 1);
  return !target.empty() && target.find_first_of("^,;*&$| \t\r\n\f") == Str::npos;
}

void ValidateIscsiName(Str name, const Path& path, FieldErrors& errors) {
  const auto digits = [&](std::size_t count) {
    constexpr std::size_t kPrefix = 4;
    return name.size() == kPrefix + count &&
           std::ranges::all_of(name.substr(kPrefix), &IsAlphanumeric);
  };
  constexpr std::size_t kEui = 16;
  constexpr std::size_t kNaa = 32;
  bool good = false;
  if (name.starts_with("iqn")) {
    good = IsIqn(name);
  } else if (name.starts_with("eui")) {
    good = digits(kEui);
  } else if (name.starts_with("naa")) {
    good = digits(kNaa);
  } else {
    errors.Invalid(path, name, "must be valid format starting with iqn, eui, or naa");
    return;
  }
  if (!good) {
    errors.Invalid(path, name, "must be valid format");
  }
}

/// A host and a port with a colon between, the host in brackets if it has colons itself.
bool IsHostPort(Str text) {
  const auto colon = text.rfind(':');
  if (colon == Str::npos) {
    return false;
  }
  const Str host = text.substr(0, colon);
  return host.starts_with('[') ? host.ends_with(']') : host.find_first_of(":[]") == Str::npos;
}

/// The tenant goes before the form of the registry.
void ValidateRegistry(Str registry, Str tenant, const Path& path, FieldErrors& errors) {
  constexpr std::string_view kPairs =
      "must be a host:port pair or multiple pairs separated by commas";
  constexpr std::size_t kMaxTenant = 64;
  const Path at_registry = path.Child("registry");
  if (registry.empty()) {
    errors.Required(at_registry, kPairs);
    return;
  }
  if (tenant.size() > kMaxTenant) {
    errors.Required(path.Child("tenant"),
                    "must be a UUID and may not exceed a length of 64 characters");
    return;
  }
  for (std::size_t at = 0; at <= registry.size();) {
    const auto end = std::min(registry.find(',', at), registry.size());
    if (!IsHostPort(registry.substr(at, end - at))) {
      errors.Invalid(at_registry, registry, kPairs);
    }
    at = end + 1;
  }
}

}  // namespace

void ValidateStorage(const AWSElasticBlockStoreVolumeSource& source,
                     const Path& path,
                     FieldErrors& errors) {
  RequireText(source.volume_id, "volumeID", path, errors);
  ValidatePartition(source.partition, path, errors);
}

void ValidateStorage(const AzureDiskVolumeSource& source, const Path& path, FieldErrors& errors) {
  constexpr std::array<std::string_view, 3> kCaching = {"None", "ReadOnly", "ReadWrite"};
  constexpr std::array<std::string_view, 3> kKinds = {"Dedicated", "Managed", "Shared"};
  constexpr std::array<std::string_view, 1> kManaged = {
      "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/"
      "{disk-id}"};
  constexpr std::array<std::string_view, 1> kBlob = {
      "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"};
  RequireText(source.disk_name, "diskName", path, errors);
  RequireText(source.disk_uri, "diskURI", path, errors);
  if (source.caching_mode != nullptr &&
      std::ranges::find(kCaching, *source.caching_mode) == kCaching.end()) {
    errors.NotSupported(path.Child("cachingMode"), *source.caching_mode, kCaching);
  }
  if (source.kind == nullptr) {
    return;
  }
  if (std::ranges::find(kKinds, *source.kind) == kKinds.end()) {
    errors.NotSupported(path.Child("kind"), *source.kind, kKinds);
  }
  if (*source.kind == "Managed") {
    if (!source.disk_uri.starts_with("/subscriptions/")) {
      errors.NotSupported(path.Child("diskURI"), source.disk_uri, kManaged);
    }
  } else if (!source.disk_uri.starts_with("https://")) {
    errors.NotSupported(path.Child("diskURI"), source.disk_uri, kBlob);
  }
}

void ValidateStorage(const AzureFileVolumeSource& source, const Path& path, FieldErrors& errors) {
  RequireText(source.secret_name, "secretName", path, errors);
  RequireText(source.share_name, "shareName", path, errors);
}

void ValidateStorage(const CephFSVolumeSource& source, const Path& path, FieldErrors& errors) {
  if (source.monitors.empty()) {
    errors.Required(path.Child("monitors"));
  }
}

void ValidateStorage(const CinderVolumeSource& source, const Path& path, FieldErrors& errors) {
  RequireText(source.volume_id, "volumeID", path, errors);
  RequireSecretName(source.secret_ref, path, errors);
}

void ValidateStorage(const FCVolumeSource& source, const Path& path, FieldErrors& errors) {
  const Path names = path.Child("targetWWNs");
  if (source.target_wwns.empty() && source.wwids.empty()) {
    errors.Required(names, "must specify either targetWWNs or wwids, but not both");
  }
  if (source.target_wwns.empty()) {
    return;
  }
  if (!source.wwids.empty()) {
    std::string shown;
    for (const Str name : source.target_wwns) {
      shown += (shown.empty() ? "" : ",") + Quote(name);
    }
    errors.Invalid(names,
                   BadValue::Raw(fmt::format("[{}]", shown)),
                   "targetWWNs and wwids can not be specified simultaneously");
  }
  const Path lun = path.Child("lun");
  if (source.lun == nullptr) {
    errors.Required(lun, "lun is required if targetWWNs is specified");
  } else if (*source.lun < 0 || *source.lun > kMaxByte) {
    errors.Invalid(lun, *source.lun, kByte);
  }
}

void ValidateStorage(const FlexVolumeSource& source, const Path& path, FieldErrors& errors) {
  RequireText(source.driver, "driver", path, errors);
  for (const auto& [key, value] : source.options) {
    std::string domain = "." + std::string(key.substr(0, key.find('/')));
    std::ranges::transform(domain, domain.begin(), [](unsigned char c) { return std::tolower(c); });
    if (domain.ends_with(".kubernetes.io") || domain.ends_with(".k8s.io")) {
      errors.Invalid(
          path.Item("options", key), key, "kubernetes.io and k8s.io namespaces are reserved");
    }
  }
}

void ValidateStorage(const FlockerVolumeSource& source, const Path& path, FieldErrors& errors) {
  if (source.dataset_name.empty() && source.dataset_uuid.empty()) {
    errors.Required(path, "one of datasetName and datasetUUID is required");
  }
  if (!source.dataset_name.empty() && !source.dataset_uuid.empty()) {
    errors.Invalid(
        path, "resource", "datasetName and datasetUUID can not be specified simultaneously");
  }
  if (source.dataset_name.find('/') != Str::npos) {
    errors.Invalid(path.Child("datasetName"), source.dataset_name, "must not contain '/'");
  }
}

void ValidateStorage(const GCEPersistentDiskVolumeSource& source,
                     const Path& path,
                     FieldErrors& errors) {
  RequireText(source.pd_name, "pdName", path, errors);
  ValidatePartition(source.partition, path, errors);
}

void ValidateStorage(const GitRepoVolumeSource& source, const Path& path, FieldErrors& errors) {
  RequireText(source.repository, "repository", path, errors);
  ValidateDescendingPath(source.directory, path.Child("directory"), errors);
}

void ValidateStorage(const GlusterfsVolumeSource& source, const Path& path, FieldErrors& errors) {
  RequireText(source.endpoints, "endpoints", path, errors);
  RequireText(source.path, "path", path, errors);
}

void ValidateStorage(const ISCSIVolumeSource& source, const Path& path, FieldErrors& errors) {
  RequireText(source.target_portal, "targetPortal", path, errors);
  if (source.iqn.empty()) {
    errors.Required(path.Child("iqn"));
  } else {
    ValidateIscsiName(source.iqn, path.Child("iqn"), errors);
  }
  if (source.lun < 0 || source.lun > kMaxByte) {
    errors.Invalid(path.Child("lun"), source.lun, kByte);
  }
  if ((source.chap_auth_discovery || source.chap_auth_session) && source.secret_ref == nullptr) {
    errors.Required(path.Child("secretRef"));
  }
  if (source.initiator_name != nullptr) {
    ValidateIscsiName(*source.initiator_name, path.Child("initiatorname"), errors);
  }
}

void ValidateStorage(const PhotonPersistentDiskVolumeSource& source,
                     const Path& path,
                     FieldErrors& errors) {
  RequireText(source.pd_id, "pdID", path, errors);
}

void ValidateStorage(const PortworxVolumeSource& source, const Path& path, FieldErrors& errors) {
  RequireText(source.volume_id, "volumeID", path, errors);
}

void ValidateStorage(const QuobyteVolumeSource& source, const Path& path, FieldErrors& errors) {
  ValidateRegistry(source.registry, source.tenant, path, errors);
  RequireText(source.volume, "volume", path, errors);
}

void ValidateStorage(const RBDVolumeSource& source, const Path& path, FieldErrors& errors) {
  if (source.monitors.empty()) {
    errors.Required(path.Child("monitors"));
  }
  RequireText(source.image, "image", path, errors);
}

void ValidateStorage(const ScaleIOVolumeSource& source, const Path& path, FieldErrors& errors) {
  RequireText(source.gateway, "gateway", path, errors);
  RequireText(source.system, "system", path, errors);
  RequireText(source.volume_name, "volumeName", path, errors);
}

void ValidateStorage(const StorageOSVolumeSource& source, const Path& path, FieldErrors& errors) {
  const Path name = path.Child("volumeName");
  if (source.volume_name.empty()) {
    errors.Required(name);
  } else {
    errors.InvalidAll(name, source.volume_name, DnsLabelProblems(source.volume_name));
  }
  if (!source.volume_namespace.empty()) {
    errors.InvalidAll(path.Child("volumeNamespace"),
                      source.volume_namespace,
                      DnsLabelProblems(source.volume_namespace));
  }
  RequireSecretName(source.secret_ref, path, errors);
}

void ValidateStorage(const VsphereVirtualDiskVolumeSource& source,
                     const Path& path,
                     FieldErrors& errors) {
  RequireText(source.volume_path, "volumePath", path, errors);
}

}  // namespace allot::api::core
