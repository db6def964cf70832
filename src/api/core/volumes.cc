// Volumes of pods. What only a storage driver can judge is left to it.
#include <algorithm>
#include <array>
#include <set>
#include <string>

#include <fmt/format.h>

#include "api/core/rules.h"
#include "api/core/volume_rules.h"
#include "api/go_value.h"
#include "api/names.h"
#include "api/object_meta.h"

namespace allot::api::core {

using schema::List;
using schema::Str;

namespace {

constexpr std::string_view kFileMode =
    "must be a number between 0 and 0777 (octal), both inclusive";
constexpr std::array<std::string_view, 5> kVolumeFieldPaths = {"metadata.annotations",
                                                               "metadata.labels",
                                                               "metadata.name",
                                                               "metadata.namespace",
                                                               "metadata.uid"};

void RequireText(Str text, const Path& path, FieldErrors& errors) {
  if (text.empty()) {
    errors.Required(path);
  }
}

void ValidateMode(const std::int32_t* mode, const Path& path, FieldErrors& errors) {
  if (mode != nullptr && (*mode < 0 || *mode > 0777)) {
    errors.Invalid(path, *mode, kFileMode);
  }
}

void ValidateUser(const std::int64_t* user, const Path& path, FieldErrors& errors) {
  if (user == nullptr) {
    return;
  }
  for (const std::string& problem : RangeProblems(*user, 0, 2147483647)) {
    errors.Invalid(path, *user, problem);
  }
}

/// A path inside a volume whose names starting with ".." are the kubelet's.
void ValidateNonReservedPath(Str target, const Path& path, FieldErrors& errors) {
  ValidateDescendingPath(target, path, errors);
  if (target.starts_with("..") && !target.starts_with("../") && target != "..") {
    errors.Invalid(path, target, "must not start with '..'");
  }
}

void ValidateKeyToPath(const KeyToPath& item, const Path& path, FieldErrors& errors) {
  RequireText(item.key, path.Child("key"), errors);
  RequireText(item.path, path.Child("path"), errors);
  ValidateNonReservedPath(item.path, path.Child("path"), errors);
  ValidateMode(item.mode, path.Child("mode"), errors);
  ValidateUser(item.user, path.Child("user"), errors);
}

template <typename Source>
void ValidateKeyedSource(const Source& source,
                         Str name,
                         std::string_view name_field,
                         const Path& path,
                         FieldErrors& errors) {
  RequireText(name, path.Child(name_field), errors);
  ValidateMode(source.default_mode, path.Child("defaultMode"), errors);
  ValidateUser(source.default_user, path.Child("defaultUser"), errors);
  for (std::size_t i = 0; i < source.items.size(); ++i) {
    ValidateKeyToPath(source.items[i], path.Item("items", i), errors);
  }
}

void ValidateDownwardFile(const DownwardAPIVolumeFile& file,
                          const Path& path,
                          FieldErrors& errors) {
  RequireText(file.path, path.Child("path"), errors);
  ValidateNonReservedPath(file.path, path.Child("path"), errors);
  if (file.field_ref != nullptr) {
    ValidateFieldReference(*file.field_ref, kVolumeFieldPaths, path.Child("fieldRef"), errors);
    if (file.resource_field_ref != nullptr) {
      errors.Invalid(
          path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously");
    }
  } else if (file.resource_field_ref != nullptr) {
    ValidateResourceReference(
        *file.resource_field_ref, /*volume=*/true, path.Child("resourceFieldRef"), errors);
  } else {
    errors.Required(path, "one of fieldRef and resourceFieldRef is required");
  }
  ValidateMode(file.mode, path.Child("mode"), errors);
  ValidateUser(file.user, path.Child("user"), errors);
}

/// The sources of a projected volume, whose files share one tree.
class Projection {
 public:
  Projection(const Path& path, FieldErrors& errors) : path_(path), errors_(errors) {}

  void Validate(const VolumeProjection& source, const Path& at) {
    int sources = 0;
    if (source.secret != nullptr) {
      ++sources;
      ValidateItems(*source.secret, at.Child("secret"));
    }
    if (source.config_map != nullptr) {
      ++sources;
      ValidateItems(*source.config_map, at.Child("configMap"));
    }
    if (source.downward_api != nullptr) {
      ++sources;
      const Path downward = at.Child("downwardAPI");
      for (const DownwardAPIVolumeFile& file : source.downward_api->items) {
        ValidateDownwardFile(file, downward, errors_);
        TakePath(file.path, file.path);
      }
    }
    if (source.service_account_token != nullptr) {
      ++sources;
      ValidateToken(*source.service_account_token, at.Child("serviceAccountToken"));
    }
    if (source.cluster_trust_bundle != nullptr) {
      ++sources;
      ValidateTrustBundle(*source.cluster_trust_bundle, at.Child("clusterTrustBundle"));
    }
    if (source.pod_certificate != nullptr) {
      ++sources;
      ValidateCertificate(*source.pod_certificate, at.Child("podCertificate"));
    }
    if (sources > 1) {
      errors_.Forbidden(at, "may not specify more than 1 volume type per source");
    }
  }

 private:
  template <typename Source>
  void ValidateItems(const Source& source, const Path& at) {
    const Str name = source.local_object_reference.name;
    RequireText(name, at.Child("name"), errors_);
    for (std::size_t i = 0; i < source.items.size(); ++i) {
      ValidateKeyToPath(source.items[i], at.Item("items", i), errors_);
      TakePath(source.items[i].path, name);
    }
  }

  void ValidateToken(const ServiceAccountTokenProjection& token, const Path& at) {
    const Path expiration = at.Child("expirationSeconds");
    if (token.expiration_seconds == nullptr) {
      errors_.Required(expiration);
    } else if (*token.expiration_seconds < 600) {
      errors_.Invalid(
          expiration, *token.expiration_seconds, "may not specify a duration less than 10 minutes");
    } else if (*token.expiration_seconds > (std::int64_t{1} << 32)) {
      errors_.Invalid(expiration,
                      *token.expiration_seconds,
                      "may not specify a duration larger than 2^32 seconds");
    }
    if (token.path.empty()) {
      errors_.Required(path_.Child("path"));
    } else {
      ValidateNonReservedPath(token.path, path_.Child("path"), errors_);
    }
    ValidateUser(token.user, at.Child("user"), errors_);
  }

  void ValidateCertificate(const PodCertificateProjection& certificate, const Path& at) {
    ValidatePodCertificate(certificate, at, errors_);
    const auto take = [&](Str file, std::string_view name) {
      if (!file.empty()) {
        ValidateNonReservedPath(file, at.Child(name), errors_);
        TakePath(file, file);
      }
    };
    take(certificate.credential_bundle_path, "credentialBundlePath");
    take(certificate.key_path, "keyPath");
    take(certificate.certificate_chain_path, "certificateChainPath");
  }

  void ValidateTrustBundle(const ClusterTrustBundleProjection& bundle, const Path& at) {
    if (bundle.name != nullptr && bundle.signer_name != nullptr) {
      errors_.Invalid(at,
                      GoValue(Desc<ClusterTrustBundleProjection>(), &bundle),
                      "only one of name and signerName may be used");
    } else if (bundle.name == nullptr && bundle.signer_name == nullptr) {
      errors_.Required(at, "either name or signerName must be specified");
    } else if (bundle.name != nullptr) {
      ValidateBundleName(*bundle.name, at.Child("name"));
      if (bundle.label_selector != nullptr) {
        errors_.Invalid(at.Child("labelSelector"),
                        BadValue::Json(Desc<meta::LabelSelector>(), bundle.label_selector),
                        "labelSelector must be unset if name is specified");
      }
    } else {
      if (bundle.signer_name->empty()) {
        errors_.Required(at.Child("signerName"), "must be a valid signer name");
      }
      ValidateSignerName(*bundle.signer_name, at.Child("signerName"), errors_);
      if (bundle.label_selector != nullptr) {
        ValidateLabelSelector(*bundle.label_selector, at.Child("labelSelector"), errors_);
      }
    }
    if (bundle.path.empty()) {
      errors_.Required(at.Child("path"), "");
    } else {
      ValidateNonReservedPath(bundle.path, at.Child("path"), errors_);
      TakePath(bundle.path, bundle.path);
    }
  }

  void ValidateBundleName(Str name, const Path& at) {
    if (name.empty()) {
      errors_.Required(at, "must be a valid object name");
    }
    // A name may start with that of its signer and a colon.
    for (const std::string& problem : DnsSubdomainProblems(name.substr(name.rfind(':') + 1))) {
      errors_.Invalid(at, name, fmt::format("not a valid clustertrustbundlename: {}", problem));
    }
  }

  void TakePath(Str file, Str shown) {
    if (!file.empty() && !files_.insert(file).second) {
      errors_.Invalid(path_, shown, "conflicting duplicate paths");
    }
  }

  const Path& path_;
  FieldErrors& errors_;
  std::set<Str> files_;
};

void ValidateHostPath(const HostPathVolumeSource& source, const Path& path, FieldErrors& errors) {
  constexpr std::array<std::string_view, 8> kTypes = {"",
                                                      "BlockDevice",
                                                      "CharDevice",
                                                      "Directory",
                                                      "DirectoryOrCreate",
                                                      "File",
                                                      "FileOrCreate",
                                                      "Socket"};
  if (source.path.empty()) {
    errors.Required(path.Child("path"));
    return;
  }
  ValidateNoBacksteps(source.path, path.Child("path"), errors);
  if (source.type != nullptr && std::ranges::find(kTypes, *source.type) == kTypes.end()) {
    errors.NotSupported(path.Child("type"), *source.type, kTypes);
  }
}

void ValidateEphemeral(const EphemeralVolumeSource& source, const Path& path, FieldErrors& errors) {
  const Path claim = path.Child("volumeClaimTemplate");
  if (source.volume_claim_template == nullptr) {
    errors.Required(claim);
    return;
  }
  ValidateClaimTemplate(*source.volume_claim_template, claim, errors);
}

void ValidateCsi(const CSIVolumeSource& source, const Path& path, FieldErrors& errors) {
  const Path driver = path.Child("driver");
  if (source.driver.empty()) {
    errors.Required(driver);
  } else {
    if (source.driver.size() > 63) {
      errors.TooLong(driver, 63);
    }
    std::string lower(source.driver);
    std::ranges::transform(lower, lower.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    });
    errors.InvalidAll(driver, source.driver, DnsSubdomainProblems(lower));
  }
  if (source.node_publish_secret_ref == nullptr) {
    return;
  }
  if (const Str name = source.node_publish_secret_ref->name; name.empty()) {
    const Path secret = path.Child("nodePublishSecretRef");
    errors.Required(secret.Child("name"));
  } else {
    errors.InvalidAll(path.Child("name"), name, DnsSubdomainProblems(name));
  }
}

void ValidateEmptyDir(const EmptyDirVolumeSource& source, const Path& path, FieldErrors& errors) {
  if (source.size_limit != nullptr && source.size_limit->nanos < 0) {
    errors.Forbidden(path.Child("sizeLimit"), "SizeLimit field must be a valid resource quantity");
  }
  if (source.mode != nullptr && (*source.mode < 0 || *source.mode > 01777)) {
    errors.Invalid(path.Child("mode"),
                   *source.mode,
                   "must be a number between 0 and 01777 (octal), both inclusive");
  }
}

void ValidateNfs(const NFSVolumeSource& source, const Path& path, FieldErrors& errors) {
  RequireText(source.server, path.Child("server"), errors);
  RequireText(source.path, path.Child("path"), errors);
  if (!source.path.starts_with('/')) {
    errors.Invalid(path.Child("path"), source.path, "must be an absolute path");
  }
}

void ValidateProjected(const ProjectedVolumeSource& source, const Path& path, FieldErrors& errors) {
  ValidateMode(source.default_mode, path.Child("defaultMode"), errors);
  ValidateUser(source.default_user, path.Child("defaultUser"), errors);
  Projection projection(path, errors);
  for (std::size_t i = 0; i < source.sources.size(); ++i) {
    projection.Validate(source.sources[i], path.Item("sources", i));
  }
}

/// The sources in the order in which the first one wins.
void ValidateSource(const PodRules& rules,
                    const Volume& volume,
                    const Path& path,
                    FieldErrors& errors) {
  const VolumeSource& source = volume.volume_source;
  int sources = 0;
  const auto take = [&](const auto* part, std::string_view name, auto validate) {
    if (part == nullptr) {
      return;
    }
    if (sources++ > 0) {
      errors.Forbidden(path.Child(name), "may not specify more than 1 volume type");
    } else {
      validate(*part, path.Child(name));
    }
  };
  const auto with = [&errors](auto function) {
    return [&errors, function](const auto& part, const Path& at) {
      function(part, at, errors);
    };
  };
  const auto storage = [&errors](const auto& part, const Path& at) {
    ValidateStorage(part, at, errors);
  };
  take(source.empty_dir, "emptyDir", with(&ValidateEmptyDir));
  take(source.host_path, "hostPath", with(&ValidateHostPath));
  take(source.git_repo, "gitRepo", storage);
  take(source.gce_persistent_disk,
       "gcePersistentDisk",
       [&](const GCEPersistentDiskVolumeSource& disk, const Path&) {
         ValidateStorage(disk, path.Child("persistentDisk"), errors);
       });
  take(source.aws_elastic_block_store, "awsElasticBlockStore", storage);
  take(source.secret, "secret", [&](const SecretVolumeSource& secret, const Path& at) {
    ValidateKeyedSource(secret, secret.secret_name, "secretName", at, errors);
  });
  take(source.nfs, "nfs", with(&ValidateNfs));
  take(source.iscsi, "iscsi", storage);
  take(source.glusterfs, "glusterfs", storage);
  take(source.flocker, "flocker", storage);
  take(source.persistent_volume_claim,
       "persistentVolumeClaim",
       [&](const PersistentVolumeClaimVolumeSource& claim, const Path& at) {
         RequireText(claim.claim_name, at.Child("claimName"), errors);
       });
  take(source.rbd, "rbd", storage);
  take(source.cinder, "cinder", storage);
  take(source.cephfs, "cephfs", storage);
  take(source.quobyte, "quobyte", storage);
  take(source.downward_api,
       "downwardAPI",
       [&](const DownwardAPIVolumeSource& downward, const Path& at) {
         ValidateMode(downward.default_mode, at.Child("defaultMode"), errors);
         ValidateUser(downward.default_user, at.Child("defaultUser"), errors);
         for (const DownwardAPIVolumeFile& file : downward.items) {
           ValidateDownwardFile(file, at, errors);
         }
       });
  take(source.fc, "fc", storage);
  take(source.flex_volume, "flexVolume", storage);
  take(
      source.config_map, "configMap", [&](const ConfigMapVolumeSource& config_map, const Path& at) {
        ValidateKeyedSource(config_map, config_map.local_object_reference.name, "name", at, errors);
      });
  take(source.azure_file, "azureFile", storage);
  take(source.vsphere_volume, "vsphereVolume", storage);
  take(source.photon_persistent_disk, "photonPersistentDisk", storage);
  take(source.portworx_volume, "portworxVolume", storage);
  take(source.azure_disk, "azureDisk", storage);
  take(source.storageos, "storageos", storage);
  take(source.projected, "projected", with(&ValidateProjected));
  take(source.scale_io, "scaleIO", storage);
  take(source.csi, "csi", with(&ValidateCsi));
  take(source.ephemeral, "ephemeral", [&](const EphemeralVolumeSource& ephemeral, const Path& at) {
    ValidateEphemeral(ephemeral, at, errors);
    if (rules.metadata == nullptr || rules.metadata->name.empty() || volume.name.empty()) {
      return;
    }
    const std::string claim = fmt::format("{}-{}", rules.metadata->name, volume.name);
    for (const std::string& problem : DnsSubdomainProblems(claim)) {
      errors.Invalid(
          path.Child("name"), volume.name, fmt::format("PVC name {}: {}", Quote(claim), problem));
    }
  });
  take(source.image, "image", [&](const ImageVolumeSource& image, const Path& at) {
    constexpr std::array<std::string_view, 3> kPolicies = {"Always", "IfNotPresent", "Never"};
    RequireText(image.reference, at.Child("reference"), errors);
    if (image.pull_policy.empty()) {
      errors.Required(at.Child("pullPolicy"));
    } else if (std::ranges::find(kPolicies, image.pull_policy) == kPolicies.end()) {
      errors.NotSupported(at.Child("pullPolicy"), image.pull_policy, kPolicies);
    }
  });
  if (sources == 0) {
    errors.Required(path, "must specify a volume type");
  }
}

}  // namespace

void ValidateNoBacksteps(Str target, const Path& path, FieldErrors& errors) {
  for (std::size_t at = 0;;) {
    const auto slash = target.find('/', at);
    if (target.substr(at, slash == Str::npos ? slash : slash - at) == "..") {
      errors.Invalid(path, target, "must not contain '..'");
      return;
    }
    if (slash == Str::npos) {
      return;
    }
    at = slash + 1;
  }
}

void ValidateDescendingPath(Str target, const Path& path, FieldErrors& errors) {
  if (target.starts_with('/')) {
    errors.Invalid(path, target, "must be a relative path");
  }
  ValidateNoBacksteps(target, path, errors);
}

MountableVolumes ValidateVolumes(const PodRules& rules,
                                 const PodSpec& spec,
                                 const Path& path,
                                 FieldErrors& errors) {
  MountableVolumes good;
  std::set<std::string> created_claims;
  for (const Volume& volume : spec.volumes) {
    if (volume.volume_source.ephemeral != nullptr && rules.metadata != nullptr &&
        !rules.metadata->name.empty()) {
      created_claims.insert(fmt::format("{}-{}", rules.metadata->name, volume.name));
    }
  }
  for (std::size_t i = 0; i < spec.volumes.size(); ++i) {
    const Volume& volume = spec.volumes[i];
    const Path at = path.Index(i);
    const std::size_t before = errors.size();
    ValidateSource(rules, volume, at, errors);
    const Path name = at.Child("name");
    if (volume.name.empty()) {
      errors.Required(name);
    } else {
      errors.InvalidAll(name, volume.name, DnsLabelProblems(volume.name));
    }
    if (good.contains(volume.name)) {
      errors.Duplicate(name, volume.name);
    }
    if (errors.size() == before) {
      good.emplace(volume.name, &volume.volume_source);
    }
    const auto* const claim = volume.volume_source.persistent_volume_claim;
    if (claim != nullptr && created_claims.contains(std::string(claim->claim_name))) {
      const Path source = at.Child("persistentVolumeClaim");
      errors.Invalid(source.Child("claimName"),
                     claim->claim_name,
                     "must not reference a PVC that gets created for an ephemeral volume");
    }
  }
  return good;
}

}  // namespace allot::api::core
