// Rules of core/v1 that other groups use as well, and those its own files share. Module-private.
// Thread safety: stateless.
#pragma once

#include <map>
#include <span>
#include <string_view>

#include "api/core/v1.gen.h"
#include "api/strategy.h"
#include "api/validate.h"
#include "schema/object.h"

namespace allot::api::core {

void ValidateNodeSelector(const NodeSelector& selector, const Path& path, FieldErrors& errors);
void ValidateNodeSelectorTerm(const NodeSelectorTerm& term, const Path& path, FieldErrors& errors);
void ValidateTolerations(const schema::List<Toleration>& tolerations,
                         const Path& path,
                         FieldErrors& errors);
void ValidateTaints(const schema::List<Taint>& taints, const Path& path, FieldErrors& errors);
void ValidateSpreadConstraints(const schema::List<TopologySpreadConstraint>& constraints,
                               const Path& path,
                               FieldErrors& errors);
void ValidateLabelSelector(const meta::LabelSelector& selector,
                           const Path& path,
                           FieldErrors& errors);

/// Whether devices may map to `name`: cpu, memory, hugepages-*.
[[nodiscard]] bool IsNodeAllocatableResource(schema::Str name);
/// Resources without a domain or of kubernetes.io.
[[nodiscard]] bool IsNativeResource(schema::Str name);
[[nodiscard]] bool IsExtendedResource(schema::Str name);

/// cpu, memory, ... as a node or container may have it; not negative, whole where it must be.
void ValidateResourceQuantity(schema::Str name,
                              const quantity::Quantity& amount,
                              const Path& path,
                              FieldErrors& errors);
[[nodiscard]] bool IsHugePages(schema::Str name);

/// Fills what the pod spec of a pod or of a template leaves out.
void DefaultPodSpec(PodSpec& spec, schema::Editor editor);
/// Requests and limits at pod level that follow from those of containers, on create only.
void DefaultPodLevelResources(PodSpec& spec, schema::Editor editor);

/// What depends on the pod a spec is of.
struct PodRules {
  const GateSet& gates;
  const meta::ObjectMeta* metadata = nullptr;
};
void ValidatePodSpec(const PodRules& rules,
                     const PodSpec& spec,
                     const Path& path,
                     FieldErrors& errors);
/// Volumes without a fault, by name: those that containers can mount.
using MountableVolumes = std::map<schema::Str, const VolumeSource*>;
MountableVolumes ValidateVolumes(const PodRules& rules,
                                 const PodSpec& spec,
                                 const Path& path,
                                 FieldErrors& errors);
/// Containers of all three kinds, at `path`.Child("containers") and its siblings.
void ValidateContainers(const PodRules& rules,
                        const PodSpec& spec,
                        const MountableVolumes& volumes,
                        const Path& path,
                        FieldErrors& errors);
/// Pods (not templates) may not have space around the names of images.
void ValidateImages(const PodSpec& spec, const Path& path, FieldErrors& errors);
void ValidateProbes(const Container& container,
                    const PodSpec& spec,
                    const Path& path,
                    FieldErrors& errors);
void ValidateLifecycle(const Lifecycle& lifecycle,
                       const PodSpec& spec,
                       const Path& path,
                       FieldErrors& errors);
void ValidateEnvironment(const Container& container, const Path& path, FieldErrors& errors);
/// Volumes that environments read files of.
void ValidateFileVolumes(const Container& container,
                         const MountableVolumes& volumes,
                         const Path& path,
                         FieldErrors& errors);
/// Field and resource references of environments and downward API files.
void ValidateFieldReference(const ObjectFieldSelector& selector,
                            std::span<const std::string_view> supported,
                            const Path& path,
                            FieldErrors& errors);
void ValidateResourceReference(const ResourceFieldSelector& selector,
                               bool volume,
                               const Path& path,
                               FieldErrors& errors);
/// Requests, limits and claims of one container.
void ValidateContainerResources(const ResourceRequirements& resources,
                                const PodSpec& spec,
                                const Path& path,
                                FieldErrors& errors);
void ValidatePodResources(const PodSpec& spec, const Path& path, FieldErrors& errors);
void ValidateAffinity(const Affinity& affinity, const Path& path, FieldErrors& errors);
void ValidateSecurityContext(const SecurityContext& security,
                             const Path& path,
                             FieldErrors& errors);
void ValidatePodSecurityContext(const PodSecurityContext& security,
                                const PodSpec& spec,
                                const Path& path,
                                FieldErrors& errors);
/// Host process containers of Windows, which a pod has all or none of.
void ValidateHostProcess(const PodSpec& spec, const Path& path, FieldErrors& errors);
/// A relative path that stays below its root.
void ValidateDescendingPath(schema::Str target, const Path& path, FieldErrors& errors);
void ValidateNoBacksteps(schema::Str target, const Path& path, FieldErrors& errors);

}  // namespace allot::api::core
