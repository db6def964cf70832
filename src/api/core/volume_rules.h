// Rules of volumes that are long enough for files of their own. Module-private.
// Thread safety: stateless.
#pragma once

#include "api/core/v1.gen.h"
#include "api/validate.h"

namespace allot::api::core {

// Volumes of storage systems: what must be there, and the forms of their addresses.
void ValidateStorage(const AWSElasticBlockStoreVolumeSource& source, const Path&, FieldErrors&);
void ValidateStorage(const AzureDiskVolumeSource& source, const Path&, FieldErrors&);
void ValidateStorage(const AzureFileVolumeSource& source, const Path&, FieldErrors&);
void ValidateStorage(const CephFSVolumeSource& source, const Path&, FieldErrors&);
void ValidateStorage(const CinderVolumeSource& source, const Path&, FieldErrors&);
void ValidateStorage(const FCVolumeSource& source, const Path&, FieldErrors&);
void ValidateStorage(const FlexVolumeSource& source, const Path&, FieldErrors&);
void ValidateStorage(const FlockerVolumeSource& source, const Path&, FieldErrors&);
void ValidateStorage(const GCEPersistentDiskVolumeSource& source, const Path&, FieldErrors&);
void ValidateStorage(const GitRepoVolumeSource& source, const Path&, FieldErrors&);
void ValidateStorage(const GlusterfsVolumeSource& source, const Path&, FieldErrors&);
void ValidateStorage(const ISCSIVolumeSource& source, const Path&, FieldErrors&);
void ValidateStorage(const PhotonPersistentDiskVolumeSource& source, const Path&, FieldErrors&);
void ValidateStorage(const PortworxVolumeSource& source, const Path&, FieldErrors&);
void ValidateStorage(const QuobyteVolumeSource& source, const Path&, FieldErrors&);
void ValidateStorage(const RBDVolumeSource& source, const Path&, FieldErrors&);
void ValidateStorage(const ScaleIOVolumeSource& source, const Path&, FieldErrors&);
void ValidateStorage(const StorageOSVolumeSource& source, const Path&, FieldErrors&);
void ValidateStorage(const VsphereVirtualDiskVolumeSource& source, const Path&, FieldErrors&);

/// The claim an ephemeral volume is made from.
void ValidateClaimTemplate(const PersistentVolumeClaimTemplate& claim,
                           const Path& path,
                           FieldErrors& errors);

/// A domain of two labels or more, a slash and a subdomain.
void ValidateSignerName(schema::Str name, const Path& path, FieldErrors& errors);
/// All of a certificate projection but its paths.
void ValidatePodCertificate(const PodCertificateProjection& source,
                            const Path& path,
                            FieldErrors& errors);

}  // namespace allot::api::core
