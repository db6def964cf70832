// Registry: admission: what a new or changed object gets from the server, or why it is refused.
// Namespaces, service accounts, priorities and default tolerations, as the plugins of these names
// do.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "api/core/v1.gen.h"
#include "api/resource/v1.gen.h"
#include "apiserver/edit.h"
#include "apiserver/errors.h"
#include "apiserver/registry.h"

namespace allot::apiserver {
namespace {

namespace core = api::core;
using base::Reason;
using base::Result;
using base::Status;

constexpr std::string_view kMirrorAnnotation = "kubernetes.io/config.mirror";
constexpr std::string_view kTokenMount = "/var/run/secrets/kubernetes.io/serviceaccount";
constexpr std::int64_t kTolerationSeconds = 300;
constexpr std::int64_t kTokenSeconds = 3607;

const api::KindInfo& PodInfo() {
  static const api::KindInfo* const kInfo = api::FindType(api::Desc<core::Pod>());
  return *kInfo;
}

std::unexpected<Status> PodForbidden(const core::Pod& pod, std::string_view why) {
  return base::Error(ForbiddenError(PodInfo(), pod.metadata.name, why));
}

/// The value of a priority class that always exists; nullopt for others.
std::optional<std::int32_t> SystemPriority(std::string_view name) {
  if (name == "system-node-critical") {
    return 2'000'001'000;
  }
  if (name == "system-cluster-critical") {
    return 2'000'000'000;
  }
  return std::nullopt;
}

Result<void> AdmitPriority(core::Pod& pod, base::Arena& arena) {
  std::int32_t priority = 0;
  if (!pod.spec.priority_class_name.empty()) {
    const std::optional<std::int32_t> value = SystemPriority(pod.spec.priority_class_name);
    if (!value) {
      return PodForbidden(
          pod,
          fmt::format("no PriorityClass with name {} was found", pod.spec.priority_class_name));
    }
    priority = *value;
  }
  if (pod.spec.priority != nullptr && *pod.spec.priority != priority) {
    return PodForbidden(
        pod,
        fmt::format("the integer value of priority ({}) must not be provided in pod spec; "
                    "priority admission controller computed {} from the given PriorityClass "
                    "name",
                    *pod.spec.priority,
                    priority));
  }
  constexpr std::string_view kPolicy = "PreemptLowerPriority";
  if (pod.spec.preemption_policy != nullptr && *pod.spec.preemption_policy != kPolicy) {
    return PodForbidden(
        pod,
        fmt::format("the string value of PreemptionPolicy ({}) must not be provided in pod "
                    "spec; priority admission controller computed {} from the given "
                    "PriorityClass name",
                    *pod.spec.preemption_policy,
                    kPolicy));
  }
  SetValue(arena, pod.spec.priority, priority);
  SetValue(arena, pod.spec.preemption_policy, schema::Str(kPolicy));
  return {};
}

/// Tolerates the two taints of lost nodes for five minutes, unless the pod says otherwise.
void AdmitTolerations(core::Pod& pod, base::Arena& arena) {
  for (const std::string_view key :
       {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    const bool told = std::ranges::any_of(pod.spec.tolerations, [&](const core::Toleration& one) {
      return (one.key == key || one.key.empty()) &&
             (one.effect == "NoExecute" || one.effect.empty());
    });
    if (!told) {
      core::Toleration toleration;
      toleration.key = key;
      toleration.operator_ = "Exists";
      toleration.effect = "NoExecute";
      SetValue(arena, toleration.toleration_seconds, kTolerationSeconds);
      Append(arena, pod.spec.tolerations, toleration);
    }
  }
}

core::VolumeProjection TokenSource(base::Arena& arena) {
  core::ServiceAccountTokenProjection token;
  token.path = "token";
  SetValue(arena, token.expiration_seconds, kTokenSeconds);
  core::VolumeProjection out;
  out.service_account_token = arena.New<core::ServiceAccountTokenProjection>(token);
  return out;
}

core::VolumeProjection RootCaSource(base::Arena& arena) {
  core::KeyToPath item;
  item.key = "ca.crt";
  item.path = "ca.crt";
  core::ConfigMapProjection map;
  map.local_object_reference.name = "kube-root-ca.crt";
  Append(arena, map.items, item);
  core::VolumeProjection out;
  out.config_map = arena.New<core::ConfigMapProjection>(map);
  return out;
}

core::VolumeProjection NamespaceSource(base::Arena& arena) {
  core::ObjectFieldSelector field;
  field.api_version = "v1";
  field.field_path = "metadata.namespace";
  core::DownwardAPIVolumeFile file;
  file.path = "namespace";
  file.field_ref = arena.New<core::ObjectFieldSelector>(field);
  core::DownwardAPIProjection projection;
  Append(arena, projection.items, file);
  core::VolumeProjection out;
  out.downward_api = arena.New<core::DownwardAPIProjection>(projection);
  return out;
}

core::Volume TokenVolume(base::Arena& arena, std::string_view name) {
  core::ProjectedVolumeSource projected;
  Append(arena, projected.sources, TokenSource(arena));
  Append(arena, projected.sources, RootCaSource(arena));
  Append(arena, projected.sources, NamespaceSource(arena));
  SetValue(arena, projected.default_mode, std::int32_t{420});
  core::Volume volume;
  volume.name = name;
  volume.volume_source.projected = arena.New<core::ProjectedVolumeSource>(projected);
  return volume;
}

/// Mounts the token where a container has nothing of its own; true when one of them needed it.
bool MountToken(base::Arena& arena,
                schema::List<core::Container>& containers,
                std::string_view volume) {
  bool mounted = false;
  core::Container* items = nullptr;
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const bool own = std::ranges::any_of(
        containers[i].volume_mounts,
        [](const core::VolumeMount& mount) { return mount.mount_path == kTokenMount; });
    if (own) {
      continue;
    }
    if (items == nullptr) {
      items = MutableList(arena, containers);
    }
    core::VolumeMount mount;
    mount.name = volume;
    mount.read_only = true;
    mount.mount_path = kTokenMount;
    Append(arena, items[i].volume_mounts, mount);
    mounted = true;
  }
  return mounted;
}

bool WantsToken(const core::Pod& pod, const core::ServiceAccount& account) {
  if (pod.spec.automount_service_account_token != nullptr) {
    return *pod.spec.automount_service_account_token;
  }
  return account.automount_service_account_token == nullptr ||
         *account.automount_service_account_token;
}

/// The name of a token volume the pod brings along (it was made from a read pod); "" when none.
std::string_view ExistingTokenVolume(const core::Pod& pod) {
  for (const core::Volume& volume : pod.spec.volumes) {
    if (volume.name.starts_with("kube-api-access-") && volume.volume_source.projected != nullptr) {
      return volume.name;
    }
  }
  return {};
}

Status TerminatingError(const api::KindInfo& info, std::string_view ns, std::string_view name) {
  Status status = ForbiddenError(
      info,
      name,
      fmt::format("unable to create new content in namespace {} because it is being terminated",
                  ns));
  status.mutable_details().causes.push_back({"NamespaceTerminating",
                                             fmt::format("namespace {} is being terminated", ns),
                                             "metadata.namespace"});
  return status;
}

}  // namespace

Result<void> Registry::AdmitNamespace(const Resource& resource,
                                      std::string_view ns,
                                      std::string_view name) const {
  if (!resource.info->namespaced) {
    return {};
  }
  const Resource* const namespaces = resources_.Find("", "v1", "namespaces");
  if (namespaces == nullptr) {
    return {};
  }
  const auto entry = store_.ReadHead({namespaces->store_id, ns});
  if (!entry) {
    return base::Error(NotFoundError(*namespaces->info, ns));
  }
  ALLOT_ASSIGN_OR_RETURN(const AnyView view, ViewOf(*entry));
  const auto& object = *static_cast<const core::Namespace*>(view.get());
  if (object.metadata.deletion_timestamp != nullptr || object.status.phase == "Terminating") {
    return base::Error(TerminatingError(*resource.info, ns, name));
  }
  return {};
}

Result<void> Registry::AdmitCreate(const Resource& resource, std::string_view ns, AnyDraft& draft) {
  if (resource.info->type == &api::Desc<core::Pod>()) {
    return AdmitPod(ns, draft.As<core::Pod>(), draft);
  }
  return {};
}

Result<void> Registry::AdmitValid(const Resource& resource, const AnyDraft& draft) const {
  if (&resource.stored_type() == &api::Desc<api::resource::ResourceSlice>()) {
    return ValidateSliceNodes(resource,
                              *static_cast<const api::resource::ResourceSlice*>(draft.root()));
  }
  return {};
}

Result<void> Registry::AdmitPod(std::string_view ns, core::Pod& pod, AnyDraft& draft) {
  ALLOT_RETURN_IF_ERROR(AdmitServiceAccount(ns, pod, draft));
  ALLOT_RETURN_IF_ERROR(AdmitPriority(pod, draft.arena()));
  if (!pod.spec.overhead.empty() && pod.spec.runtime_class_name == nullptr) {
    return PodForbidden(
        pod, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
  }
  AdmitTolerations(pod, draft.arena());
  return {};
}

Result<void> Registry::AdmitServiceAccount(std::string_view ns, core::Pod& pod, AnyDraft& draft) {
  if (pod.metadata.annotations.Find(kMirrorAnnotation) != nullptr) {
    return {};  // mirror pods have no identity of their own
  }
  if (pod.spec.service_account_name.empty()) {
    pod.spec.service_account_name =
        pod.spec.service_account.empty() ? schema::Str("default") : pod.spec.service_account;
  }
  pod.spec.service_account = pod.spec.service_account_name;
  const std::string_view name = pod.spec.service_account_name;
  const Resource* const accounts = resources_.Find("", "v1", "serviceaccounts");
  if (accounts == nullptr) {
    return {};
  }
  const std::string key = accounts->KeyOf(ns, name);
  const auto entry = store_.ReadHead({accounts->store_id, key});
  if (!entry) {
    return PodForbidden(pod,
                        fmt::format("error looking up service account {}/{}: "
                                    "serviceaccount \"{}\" not found",
                                    ns,
                                    name,
                                    name));
  }
  ALLOT_ASSIGN_OR_RETURN(const AnyView view, ViewOf(*entry));
  const auto& account = *static_cast<const core::ServiceAccount*>(view.get());
  base::Arena& arena = draft.arena();
  if (WantsToken(pod, account)) {
    std::string_view volume = ExistingTokenVolume(pod);
    const bool add = volume.empty();
    if (add) {
      volume = draft.Copy("kube-api-access-" + random_.NameSuffix());
    }
    const bool first = MountToken(arena, pod.spec.init_containers, volume);
    const bool second = MountToken(arena, pod.spec.containers, volume);
    if (add && (first || second)) {
      Append(arena, pod.spec.volumes, TokenVolume(arena, volume));
    }
  }
  if (pod.spec.image_pull_secrets.empty() && !account.image_pull_secrets.empty()) {
    for (const core::LocalObjectReference& secret : account.image_pull_secrets) {
      core::LocalObjectReference copy;
      copy.name = draft.Copy(secret.name);
      Append(arena, pod.spec.image_pull_secrets, copy);
    }
  }
  return {};
}

Result<void> Registry::AdmitUpdate(const Resource& resource,
                                   std::string_view subresource,
                                   AnyDraft& draft,
                                   const AnyView& old) {
  if (resource.info->type != &api::Desc<core::Pod>() || !subresource.empty()) {
    return {};
  }
  auto& pod = draft.As<core::Pod>();
  const auto& before = *static_cast<const core::Pod*>(old.get());
  if (pod.spec.priority == nullptr) {
    pod.spec.priority = before.spec.priority;
  }
  if (pod.spec.preemption_policy == nullptr) {
    pod.spec.preemption_policy = before.spec.preemption_policy;
  }
  AdmitTolerations(pod, draft.arena());
  return {};
}

}  // namespace allot::apiserver
