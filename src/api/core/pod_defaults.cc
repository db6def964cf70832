// What a pod spec leaves out.
#include <algorithm>
#include <bit>
#include <string>

#include "api/core/rules.h"
#include "quantity/saturating.h"

namespace allot::api::core {

using schema::Editor;
using schema::List;
using schema::Str;

namespace {

constexpr std::int64_t kGracePeriod = 30;
constexpr std::int32_t kFileMode = 0644;
constexpr std::int64_t kTokenSeconds = 3600;

/// The pull policy for an image: Always for the tag `latest` or none, else IfNotPresent.
bool IsLowerAlphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
bool IsAlphanumeric(char c) {
  return IsLowerAlphanumeric(c) || (c >= 'A' && c <= 'Z');
}

/// Lower-case letters and digits with ".", "_", "__" or dashes between.
bool IsPathComponent(Str part) {
  if (part.empty() || !IsLowerAlphanumeric(part.front()) || !IsLowerAlphanumeric(part.back())) {
    return false;
  }
  for (std::size_t i = 0; i < part.size();) {
    const auto end = std::min(
        part.size(),
        static_cast<std::size_t>(std::ranges::find_if(part.substr(i), IsLowerAlphanumeric) -
                                 part.substr(i).begin()) +
            i);
    const Str between = part.substr(i, end - i);
    if (!between.empty() && between != "." && between != "_" && between != "__" &&
        between.find_first_not_of('-') != Str::npos) {
      return false;
    }
    i = end + 1;
  }
  return true;
}

/// A host name and an optional port.
bool IsRegistry(Str host) {
  if (host.starts_with('[')) {
    return host.find(']') != Str::npos;
  }
  const auto colon = host.find(':');
  const Str name = host.substr(0, colon);
  const bool port_good =
      colon == Str::npos ||
      (colon + 1 < host.size() && host.find_first_not_of("0123456789", colon + 1) == Str::npos);
  const bool name_good =
      std::ranges::all_of(name, [](char c) { return IsAlphanumeric(c) || c == '-' || c == '.'; });
  return port_good && name_good && !name.empty() && IsAlphanumeric(name.front()) &&
         IsAlphanumeric(name.back()) && name.find("..") == Str::npos;
}

/// Whether the name of an image is one, without its tag and digest.
bool IsImageName(Str name) {
  constexpr std::size_t kMaxPath = 255;
  constexpr std::size_t kIdentifier = 64;
  constexpr std::string_view kLibrary = "library/";
  if (name.size() == kIdentifier && name.find_first_not_of("0123456789abcdef") == Str::npos) {
    return false;  // an id, not a name
  }
  const auto slash = name.find('/');
  const Str first = name.substr(0, slash);
  const bool has_registry =
      slash != Str::npos &&
      (first.find_first_of(".:") != Str::npos || first == "localhost" ||
       std::ranges::any_of(first, [](char c) { return c >= 'A' && c <= 'Z'; }));
  const Str path = has_registry ? name.substr(slash + 1) : name;
  const std::size_t added = path.find('/') == Str::npos && !has_registry ? kLibrary.size() : 0;
  if ((has_registry && !IsRegistry(first)) || path.size() + added > kMaxPath) {
    return false;
  }
  for (std::size_t at = 0; at <= path.size();) {
    const auto end = std::min(path.find('/', at), path.size());
    if (!IsPathComponent(path.substr(at, end - at))) {
      return false;
    }
    at = end + 1;
  }
  return true;
}

/// The default follows the tag; a name that is none has no tag.
Str PullPolicyOf(Str image) {
  const bool digest = image.find('@') != Str::npos;
  const Str last = image.substr(image.rfind('/') == Str::npos ? 0 : image.rfind('/') + 1);
  const auto colon = last.substr(0, last.find('@')).rfind(':');
  const Str tag = colon == Str::npos ? (digest ? Str() : Str("latest"))
                                     : last.substr(0, last.find('@')).substr(colon + 1);
  const Str whole = image.substr(0, image.find('@'));
  const bool tagged =
      whole.rfind(':') != Str::npos && whole.find('/', whole.rfind(':')) == Str::npos;
  const Str name = tagged ? whole.substr(0, whole.rfind(':')) : whole;
  return tag == "latest" && IsImageName(name) ? "Always" : "IfNotPresent";
}

void DefaultFieldRef(const ObjectFieldSelector*& selector, Editor editor) {
  if (selector != nullptr && selector->api_version.empty()) {
    editor.Mutable(selector).api_version = "v1";
  }
}

void DefaultHttpGet(const HTTPGetAction*& action, Editor editor) {
  if (action == nullptr || (!action->path.empty() && !action->scheme.empty())) {
    return;
  }
  HTTPGetAction& get = editor.Mutable(action);
  get.path = get.path.empty() ? Str("/") : get.path;
  get.scheme = get.scheme.empty() ? Str("HTTP") : get.scheme;
}

void DefaultProbe(const Probe*& pointer, Editor editor) {
  if (pointer == nullptr) {
    return;
  }
  Probe& probe = editor.Mutable(pointer);
  const auto number = [](std::int32_t& value, std::int32_t otherwise) {
    value = value == 0 ? otherwise : value;
  };
  number(probe.timeout_seconds, 1);
  number(probe.period_seconds, 10);
  number(probe.success_threshold, 1);
  number(probe.failure_threshold, 3);
  DefaultHttpGet(probe.probe_handler.http_get, editor);
  if (probe.probe_handler.grpc != nullptr && probe.probe_handler.grpc->service == nullptr) {
    editor.Set(editor.Mutable(probe.probe_handler.grpc).service, Str());
  }
}

void DefaultHandler(const LifecycleHandler*& handler, Editor editor) {
  if (handler != nullptr && handler->http_get != nullptr) {
    DefaultHttpGet(editor.Mutable(handler).http_get, editor);
  }
}

void DefaultEnv(List<EnvVar>& env, Editor editor) {
  const auto needs = [](const EnvVar& variable) {
    const EnvVarSource* const source = variable.value_from;
    return source != nullptr &&
           ((source->field_ref != nullptr && source->field_ref->api_version.empty()) ||
            (source->file_key_ref != nullptr && source->file_key_ref->optional == nullptr));
  };
  if (std::ranges::none_of(env, needs)) {
    return;
  }
  EnvVar* const items = editor.MutableList(env);
  for (std::size_t i = 0; i < env.size(); ++i) {
    if (!needs(items[i])) {
      continue;
    }
    EnvVarSource& source = editor.Mutable(items[i].value_from);
    DefaultFieldRef(source.field_ref, editor);
    if (source.file_key_ref != nullptr && source.file_key_ref->optional == nullptr) {
      editor.Set(editor.Mutable(source.file_key_ref).optional, false);
    }
  }
}

/// Amounts finer than thousandths are rounded up to them.
void RoundAmounts(schema::Map<quantity::Quantity>& amounts, Editor editor) {
  constexpr quantity::Int128 kNanosPerMilli = 1'000'000;
  const auto fine = [](const auto& entry) {
    return entry.value.nanos % kNanosPerMilli != 0;
  };
  if (std::ranges::none_of(amounts, fine)) {
    return;
  }
  auto* const items =
      editor.MutableList(static_cast<List<schema::MapEntry<quantity::Quantity>>&>(amounts));
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    quantity::Int128& nanos = items[i].value.nanos;
    const quantity::Int128 rest = nanos % kNanosPerMilli;
    nanos = quantity::SaturatingAdd(nanos, rest > 0 ? kNanosPerMilli - rest : -rest);
  }
}

void DefaultContainer(Container& container, Editor editor) {
  if (container.image_pull_policy.empty()) {
    container.image_pull_policy = PullPolicyOf(container.image);
  }
  if (container.termination_message_path.empty()) {
    container.termination_message_path = "/dev/termination-log";
  }
  if (container.termination_message_policy.empty()) {
    container.termination_message_policy = "File";
  }
  RoundAmounts(container.resources.limits, editor);
  RoundAmounts(container.resources.requests, editor);
  if (!container.ports.empty()) {
    ContainerPort* const ports = editor.MutableList(container.ports);
    for (std::size_t i = 0; i < container.ports.size(); ++i) {
      ports[i].protocol = ports[i].protocol.empty() ? Str("TCP") : ports[i].protocol;
    }
  }
  DefaultEnv(container.env, editor);
  DefaultProbe(container.liveness_probe, editor);
  DefaultProbe(container.readiness_probe, editor);
  DefaultProbe(container.startup_probe, editor);
  if (container.lifecycle != nullptr) {
    Lifecycle& lifecycle = editor.Mutable(container.lifecycle);
    DefaultHandler(lifecycle.post_start, editor);
    DefaultHandler(lifecycle.pre_stop, editor);
  }
  if (container.security_context != nullptr && container.security_context->privileged != nullptr &&
      *container.security_context->privileged &&
      container.security_context->proc_mount != nullptr &&
      container.security_context->proc_mount->empty()) {
    editor.Set(editor.Mutable(container.security_context).proc_mount, Str("Default"));
  }
}

void DefaultFiles(List<DownwardAPIVolumeFile>& files, Editor editor) {
  if (files.empty()) {
    return;
  }
  DownwardAPIVolumeFile* const items = editor.MutableList(files);
  for (std::size_t i = 0; i < files.size(); ++i) {
    DefaultFieldRef(items[i].field_ref, editor);
  }
}

template <typename Source>
Source* DefaultMode(const Source*& pointer, Editor editor) {
  if (pointer == nullptr) {
    return nullptr;
  }
  Source& source = editor.Mutable(pointer);
  if (source.default_mode == nullptr) {
    editor.Set(source.default_mode, kFileMode);
  }
  return &source;
}

void DefaultProjected(ProjectedVolumeSource& projected, Editor editor) {
  VolumeProjection* const sources = editor.MutableList(projected.sources);
  for (std::size_t i = 0; i < projected.sources.size(); ++i) {
    if (sources[i].service_account_token != nullptr &&
        sources[i].service_account_token->expiration_seconds == nullptr) {
      editor.Set(editor.Mutable(sources[i].service_account_token).expiration_seconds,
                 kTokenSeconds);
    }
    if (sources[i].downward_api != nullptr) {
      DefaultFiles(editor.Mutable(sources[i].downward_api).items, editor);
    }
  }
}

void SetIfEmpty(Str& text, Str otherwise) {
  text = text.empty() ? otherwise : text;
}

/// Defaults of the old in-tree storage drivers.
void DefaultStorage(VolumeSource& source, Editor editor) {
  if (source.rbd != nullptr) {
    RBDVolumeSource& rbd = editor.Mutable(source.rbd);
    SetIfEmpty(rbd.pool, "rbd");
    SetIfEmpty(rbd.user, "admin");
    SetIfEmpty(rbd.keyring, "/etc/ceph/keyring");
  }
  if (source.iscsi != nullptr) {
    SetIfEmpty(editor.Mutable(source.iscsi).iscsi_interface, "default");
  }
  if (source.scale_io != nullptr) {
    ScaleIOVolumeSource& scale_io = editor.Mutable(source.scale_io);
    SetIfEmpty(scale_io.storage_mode, "ThinProvisioned");
    SetIfEmpty(scale_io.fs_type, "xfs");
  }
  if (source.azure_disk != nullptr) {
    AzureDiskVolumeSource& disk = editor.Mutable(source.azure_disk);
    const auto set = [&](const auto*& member, auto value) {
      if (member == nullptr) {
        editor.Set(member, value);
      }
    };
    set(disk.caching_mode, Str("ReadWrite"));
    set(disk.kind, Str("Shared"));
    set(disk.fs_type, Str("ext4"));
    set(disk.read_only, false);
  }
}

bool IsEmpty(const VolumeSource& source) {
  const auto bytes = std::bit_cast<std::array<char, sizeof(VolumeSource)>>(source);
  return std::ranges::all_of(bytes, [](char c) { return c == 0; });
}

void DefaultVolume(VolumeSource& source, Editor editor) {
  if (IsEmpty(source)) {
    editor.Mutable(source.empty_dir);
  }
  if (source.image != nullptr && source.image->pull_policy.empty()) {
    ImageVolumeSource& image = editor.Mutable(source.image);
    image.pull_policy = PullPolicyOf(image.reference);
  }
  DefaultMode(source.secret, editor);
  DefaultMode(source.config_map, editor);
  if (DownwardAPIVolumeSource* const downward = DefaultMode(source.downward_api, editor);
      downward != nullptr) {
    DefaultFiles(downward->items, editor);
  }
  if (ProjectedVolumeSource* const projected = DefaultMode(source.projected, editor);
      projected != nullptr) {
    DefaultProjected(*projected, editor);
  }
  if (source.host_path != nullptr && source.host_path->type == nullptr) {
    editor.Set(editor.Mutable(source.host_path).type, Str());
  }
  if (source.ephemeral != nullptr && source.ephemeral->volume_claim_template != nullptr &&
      source.ephemeral->volume_claim_template->spec.volume_mode == nullptr) {
    auto& ephemeral = editor.Mutable(source.ephemeral);
    editor.Set(editor.Mutable(ephemeral.volume_claim_template).spec.volume_mode, Str("Filesystem"));
  }
  DefaultStorage(source, editor);
}

template <typename T, typename Default>
void DefaultEach(List<T>& list, Editor editor, Default apply) {
  if (list.empty()) {
    return;
  }
  T* const items = editor.MutableList(list);
  for (std::size_t i = 0; i < list.size(); ++i) {
    apply(items[i]);
  }
}

}  // namespace

void DefaultPodSpec(PodSpec& spec, Editor editor) {
  if (spec.service_account_name.empty()) {
    spec.service_account_name = spec.service_account;
  }
  spec.service_account = spec.service_account_name;
  SetIfEmpty(spec.dns_policy, "ClusterFirst");
  SetIfEmpty(spec.restart_policy, "Always");
  SetIfEmpty(spec.scheduler_name, "default-scheduler");
  if (spec.security_context == nullptr) {
    editor.Mutable(spec.security_context);
  }
  if (spec.termination_grace_period_seconds == nullptr) {
    editor.Set(spec.termination_grace_period_seconds, kGracePeriod);
  }
  DefaultEach(
      spec.containers, editor, [&](Container& container) { DefaultContainer(container, editor); });
  DefaultEach(spec.init_containers, editor, [&](Container& container) {
    DefaultContainer(container, editor);
  });
  DefaultEach(spec.ephemeral_containers, editor, [&](EphemeralContainer& ephemeral) {
    auto container = std::bit_cast<Container>(ephemeral.ephemeral_container_common);
    DefaultContainer(container, editor);
    ephemeral.ephemeral_container_common = std::bit_cast<EphemeralContainerCommon>(container);
  });
  DefaultEach(
      spec.volumes, editor, [&](Volume& volume) { DefaultVolume(volume.volume_source, editor); });
  RoundAmounts(spec.overhead, editor);
  if (spec.resources != nullptr) {
    ResourceRequirements& resources = editor.Mutable(spec.resources);
    RoundAmounts(resources.limits, editor);
    RoundAmounts(resources.requests, editor);
  }
}

}  // namespace allot::api::core
