// Namespace, Node, ConfigMap, Secret, ServiceAccount, and the body of pods/binding.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "api/addresses.h"
#include "api/core/rules.h"
#include "api/core/strategies.h"
#include "api/go_value.h"
#include "api/names.h"
#include "api/strategy_of.h"
#include "text/json.h"

namespace allot::api::core {

using quantity::Quantity;
using schema::Editor;
using schema::List;
using schema::Map;
using schema::Str;

namespace {

constexpr std::size_t kMaxDataSize = 1024 * 1024;
constexpr std::string_view kImmutableSet = "field is immutable when `immutable` is set";
const Path kMetadata("metadata");

bool SameTexts(const Map<Str>& a, const Map<Str>& b) {
  return std::ranges::equal(
      a, b, [](const auto& x, const auto& y) { return x.key == y.key && x.value == y.value; });
}

bool IsTrue(const bool* flag) {
  return flag != nullptr && *flag;
}

// --- Namespace ---

void SetNameLabel(Namespace& object, Editor editor) {
  constexpr std::string_view kLabel = "kubernetes.io/metadata.name";
  const Str* const label = object.metadata.labels.Find(kLabel);
  if (!object.metadata.name.empty() && (label == nullptr || *label != object.metadata.name)) {
    editor.Put(object.metadata.labels, kLabel, object.metadata.name);
  }
}

void DefaultNamespace(const StrategyContext&, Namespace& object, Editor editor) {
  SetNameLabel(object, editor);
  if (object.status.phase.empty()) {
    object.status.phase = "Active";
  }
}

void PrepareNamespaceForCreate(const StrategyContext&, Namespace& object, Editor editor) {
  SetNameLabel(object, editor);
  object.status = {};
  object.status.phase = "Active";
  if (std::ranges::find(object.spec.finalizers, Str("kubernetes")) ==
      object.spec.finalizers.end()) {
    editor.Append(object.spec.finalizers, Str("kubernetes"));
  }
}

void PrepareNamespaceForUpdate(const StrategyContext&,
                               Namespace& next,
                               const Namespace& old,
                               Editor) {
  next.spec.finalizers = old.spec.finalizers;
  next.status = old.status;
}

void PrepareNamespaceForStatus(const StrategyContext&,
                               Namespace& next,
                               const Namespace& old,
                               Editor) {
  next.spec = old.spec;
}

void PrepareNamespaceForFinalize(const StrategyContext&,
                                 Namespace& next,
                                 const Namespace& old,
                                 Editor) {
  next.status = old.status;
}

/// On the finalize subresource the place of each is told.
enum class FinalizerPlace : std::uint8_t { kList, kEntry };

void ValidateSpecFinalizers(const Namespace& object, FinalizerPlace place, FieldErrors& errors) {
  constexpr std::array<std::string_view, 3> kStandard = {
      "kubernetes", "orphan", "foregroundDeletion"};
  const Path spec("spec");
  const Path path = spec.Child("finalizers");
  for (std::size_t i = 0; i < object.spec.finalizers.size(); ++i) {
    const Str finalizer = object.spec.finalizers[i];
    const Path entry = path.Index(i);
    const Path& at = place == FinalizerPlace::kEntry ? entry : path;
    errors.InvalidAll(at, finalizer, QualifiedNameProblems(finalizer));
    if (finalizer.find('/') == Str::npos &&
        std::ranges::find(kStandard, finalizer) == kStandard.end()) {
      errors.Invalid(
          at, finalizer, "name is neither a standard finalizer name nor is it fully qualified");
    }
  }
}

void ValidateNamespaceCreate(const StrategyContext&, const Namespace& object, Report& report) {
  ValidateObjectMeta(object.metadata, Scope::kCluster, NameRule::kDnsLabel, kMetadata, report.hand);
  ValidateSpecFinalizers(object, FinalizerPlace::kList, report.hand);
}

void ValidateNamespaceUpdate(const StrategyContext& context,
                             const Namespace& next,
                             const Namespace& old,
                             Report& report) {
  ValidateNamespaceCreate(context, next, report);
  ValidateObjectMetaUpdate(next.metadata, old.metadata, kMetadata, report.hand);
}

void ValidateNamespaceStatus(const StrategyContext&,
                             const Namespace& next,
                             const Namespace& old,
                             Report& report) {
  ValidateObjectMetaUpdate(next.metadata, old.metadata, kMetadata, report.hand);
  const Path status("status");
  const Path phase = status.Child("Phase");
  if (next.metadata.deletion_timestamp == nullptr && next.status.phase != "Active") {
    report.hand.Invalid(
        phase, next.status.phase, "may only be 'Active' if `deletionTimestamp` is empty");
  } else if (next.metadata.deletion_timestamp != nullptr && next.status.phase != "Terminating") {
    report.hand.Invalid(
        phase, next.status.phase, "may only be 'Terminating' if `deletionTimestamp` is not empty");
  }
}

void ValidateNamespaceFinalize(const StrategyContext&,
                               const Namespace& next,
                               const Namespace& old,
                               Report& report) {
  ValidateObjectMetaUpdate(next.metadata, old.metadata, kMetadata, report.hand);
  ValidateSpecFinalizers(next, FinalizerPlace::kEntry, report.hand);
}

constexpr std::array<UpdateRules, 3> kNamespaceUpdates = {{
    {"",
     &Erased<Namespace, PrepareNamespaceForUpdate>,
     &Erased<Namespace, ValidateNamespaceUpdate>},
    {"status",
     &Erased<Namespace, PrepareNamespaceForStatus>,
     &Erased<Namespace, ValidateNamespaceStatus>},
    {"finalize",
     &Erased<Namespace, PrepareNamespaceForFinalize>,
     &Erased<Namespace, ValidateNamespaceFinalize>},
}};

// --- Node ---

/// `podCIDR` is the first of `podCIDRs`, whichever of them was given.
void AlignPodCidrs(NodeSpec& spec, Editor editor) {
  if (spec.pod_cidr.empty()) {
    spec.pod_cidr = spec.pod_cidrs.empty() ? Str() : spec.pod_cidrs[0];
  } else if (spec.pod_cidrs.empty() || spec.pod_cidrs[0] != spec.pod_cidr) {
    spec.pod_cidrs = {};
    editor.Append(spec.pod_cidrs, spec.pod_cidr);
  }
}

void DefaultNode(const StrategyContext&, Node& node, Editor editor) {
  AlignPodCidrs(node.spec, editor);
  if (node.status.allocatable.items == nullptr && node.status.capacity.items != nullptr) {
    node.status.allocatable = node.status.capacity;
  }
}

void PrepareNodeForCreate(const StrategyContext& context, Node& node, Editor editor) {
  node.spec.config_source = nullptr;  // dynamic kubelet configuration is gone
  DropDisabled<Node>(context, node, nullptr, editor);
}

void PrepareNodeForUpdate(const StrategyContext& context,
                          Node& next,
                          const Node& old,
                          Editor editor) {
  next.status = old.status;
  DropDisabled(context, next, &old, editor);
}

void PrepareNodeForStatus(const StrategyContext& context,
                          Node& next,
                          const Node& old,
                          Editor editor) {
  next.spec = old.spec;
  DropDisabled(context, next, &old, editor);
}

/// Paths of amounts are plain children here: `status.capacity.cpu`.
void ValidateNodeAmounts(const Map<Quantity>& amounts, const Path& path, FieldErrors& errors) {
  for (const auto& [name, amount] : amounts) {
    ValidateResourceQuantity(name, amount, path.Child(name), errors);
  }
}

/// What is wrong with a network that can be read; "" when it is fine.
std::string_view CidrProblem(Str cidr) {
  constexpr unsigned kByte = 8;
  if (cidr.find(':') != Str::npos) {
    return cidr.find('.') != Str::npos && cidr.starts_with("::ffff:")
               ? "must not have an IPv4-mapped IPv6 address"
               : "";
  }
  std::array<unsigned, 5> numbers{};  // four bytes and the length of the prefix
  const char* at = cidr.data();
  const char* const end = at + cidr.size();
  for (unsigned& number : numbers) {
    if (end - at > 1 && at[0] == '0' && at[1] >= '0' && at[1] <= '9') {
      return "must not have leading 0s in IP or prefix length";
    }
    at = std::min(std::from_chars(at, end, number).ptr + 1, end);
  }
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned bits = std::clamp(numbers[4], i * kByte, (i + 1) * kByte) - i * kByte;
    if ((numbers[i] & (0xffU >> bits)) != 0) {
      return "must not have bits set beyond the prefix length";
    }
  }
  return "";
}

void ValidatePodCidrs(const NodeSpec& spec, const Path& path, FieldErrors& errors) {
  std::size_t v6 = 0;
  std::optional<std::size_t> broken;
  for (std::size_t i = 0; i < spec.pod_cidrs.size(); ++i) {
    const Str cidr = spec.pod_cidrs[i];
    v6 += cidr.find(':') != Str::npos ? 1 : 0;
    if (!CanonicalInterfaceAddress(cidr)) {
      errors.Invalid(
          path.Index(i), cidr, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
      broken = broken.value_or(i);
    } else if (const std::string_view problem = CidrProblem(cidr); !problem.empty()) {
      errors.Invalid(path.Index(i), cidr, problem);
    }
  }
  if (spec.pod_cidrs.size() > 1 && broken) {
    errors.Internal(path,
                    fmt::format("invalid PodCIDRs. failed to check with dual stack with "
                                "error:invalid CIDR[{0}]: <nil> (invalid CIDR address: {1})",
                                *broken,
                                spec.pod_cidrs[*broken]));
  }
  if (spec.pod_cidrs.size() > 1 && (spec.pod_cidrs.size() > 2 || v6 != 1 || broken)) {
    std::string shown;
    for (const Str cidr : spec.pod_cidrs) {
      shown += (shown.empty() ? "" : ",") + Quote(cidr);
    }
    errors.Invalid(path,
                   BadValue::Raw(fmt::format("[{}]", shown)),
                   "may specify no more than one CIDR for each IP family");
  }
}

/// Segments of letters and digits between slashes, the first one starting with a capital.
bool IsFeatureName(Str name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  if (name.empty() || name.front() < 'A' || name.front() > 'Z' || name.back() == '/') {
    return false;
  }
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool starts = i == 0 || name[i - 1] == '/';
    const bool digit = name[i] >= '0' && name[i] <= '9';
    if (!letter(name[i]) && (starts || (!digit && name[i] != '/'))) {
      return false;
    }
  }
  return true;
}

void ValidateDeclaredFeatures(const List<Str>& features, const Path& path, FieldErrors& errors) {
  for (std::size_t i = 0; i < features.size(); ++i) {
    if (!IsFeatureName(features[i])) {
      errors.Invalid(path.Index(i),
                     features[i],
                     fmt::format("invalid feature name {}: must start with an UpperCamelCase "
                                 "segment, with subsequent segments "
                                 "separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), "
                                 "and contain only alphanumeric "
                                 "characters and slashes",
                                 Quote(features[i])));
    }
    if (i + 1 < features.size() && features[i] == features[i + 1]) {
      errors.Duplicate(path.Index(i + 1), features[i + 1]);
    } else if (i + 1 < features.size() && features[i] > features[i + 1]) {
      errors.Invalid(path.Index(i + 1), features[i + 1], "list must be sorted alphabetically");
    }
  }
}

void ValidateNode(const Node& node, FieldErrors& errors) {
  const Path spec("spec");
  const Path status("status");
  ValidateObjectMeta(node.metadata, Scope::kCluster, NameRule::kDnsSubdomain, kMetadata, errors);
  ValidateTaints(node.spec.taints, kMetadata.Child("taints"), errors);
  ValidateNodeAmounts(node.status.capacity, status.Child("capacity"), errors);
  ValidateNodeAmounts(node.status.allocatable, status.Child("allocatable"), errors);
  ValidateDeclaredFeatures(node.status.declared_features, status.Child("declaredFeatures"), errors);
  ValidatePodCidrs(node.spec, spec.Child("podCIDRs"), errors);
}

void ValidateNodeCreate(const StrategyContext&, const Node& node, Report& report) {
  ValidateNode(node, report.hand);
}

void ValidateNodeUpdate(const StrategyContext&, const Node& next, const Node& old, Report& report) {
  FieldErrors& errors = report.hand;
  const Path spec("spec");
  const Path status("status");
  ValidateNode(next, errors);
  ValidateObjectMetaUpdate(next.metadata, old.metadata, kMetadata, errors);
  std::set<std::pair<Str, Str>> addresses;
  for (std::size_t i = 0; i < next.status.addresses.size(); ++i) {
    const NodeAddress& address = next.status.addresses[i];
    if (!addresses.emplace(address.type, address.address).second) {
      errors.Duplicate(status.Item("addresses", i), GoValue(Desc<NodeAddress>(), &address));
    }
  }
  if (!old.spec.pod_cidrs.empty() && !std::ranges::equal(old.spec.pod_cidrs, next.spec.pod_cidrs)) {
    errors.Forbidden(spec.Child("podCIDRs"),
                     "node updates may not change podCIDR except from \"\" to valid");
  }
  if (!old.spec.provider_id.empty() && next.spec.provider_id.empty()) {
    errors.Invalid(spec.Child("providerID"), BadValue::Null(), "field cannot be cleared once set");
  } else if (!old.spec.provider_id.empty() && old.spec.provider_id != next.spec.provider_id) {
    errors.Invalid(spec.Child("providerID"), BadValue::Null(), "field cannot be modified once set");
  }
  if (old.spec.external_id != next.spec.external_id) {
    errors.Forbidden(spec.Child("externalID"), "may not be updated");
  }
}

constexpr std::array<UpdateRules, 2> kNodeUpdates = {{
    {"", &Erased<Node, PrepareNodeForUpdate>, &Erased<Node, ValidateNodeUpdate>},
    {"status", &Erased<Node, PrepareNodeForStatus>, &Erased<Node, ValidateNodeUpdate>},
}};

// --- ConfigMap ---

std::size_t ValidateKeys(const Map<Str>& data, const Path& path, FieldErrors& errors) {
  std::size_t total = 0;
  for (const auto& [key, value] : data) {
    errors.InvalidAll(path.Key(key), key, ConfigMapKeyProblems(key));
    total += value.size();
  }
  return total;
}

void ValidateConfigMapCreate(const StrategyContext&, const ConfigMap& object, Report& report) {
  FieldErrors& errors = report.hand;
  const Path data("data");
  ValidateObjectMeta(
      object.metadata, Scope::kNamespaced, NameRule::kDnsSubdomain, kMetadata, errors);
  std::size_t total = ValidateKeys(object.data, data, errors);
  for (const auto& [key, value] : object.data) {
    if (object.binary_data.Find(key) != nullptr) {
      errors.Invalid(data.Key(key), key, "duplicate of key present in binaryData");
    }
  }
  total += ValidateKeys(object.binary_data, Path("binaryData"), errors);
  if (total > kMaxDataSize) {
    errors.TooLong(Path(""), kMaxDataSize);
  }
}

void ValidateConfigMapUpdate(const StrategyContext& context,
                             const ConfigMap& next,
                             const ConfigMap& old,
                             Report& report) {
  ValidateObjectMetaUpdate(next.metadata, old.metadata, kMetadata, report.hand);
  if (IsTrue(old.immutable)) {
    if (!IsTrue(next.immutable)) {
      report.hand.Forbidden(Path("immutable"), kImmutableSet);
    }
    if (!SameTexts(next.data, old.data)) {
      report.hand.Forbidden(Path("data"), kImmutableSet);
    }
    if (!SameTexts(next.binary_data, old.binary_data)) {
      report.hand.Forbidden(Path("binaryData"), kImmutableSet);
    }
  }
  ValidateConfigMapCreate(context, next, report);
}

template <typename T>
void NothingToPrepare(const StrategyContext&, T&, const T&, Editor) {}

constexpr std::array<UpdateRules, 1> kConfigMapUpdates = {{
    {"",
     &Erased<ConfigMap, NothingToPrepare<ConfigMap>>,
     &Erased<ConfigMap, ValidateConfigMapUpdate>},
}};

// --- Secret ---

/// stringData is only a way to write data.
void DefaultSecret(const StrategyContext&, Secret& secret, Editor editor) {
  for (const auto& [key, value] : secret.string_data) {
    editor.Put(secret.data, key, value);
  }
  secret.string_data = {};
  if (secret.type.empty()) {
    secret.type = "Opaque";
  }
}

/// Data keys a type of secret must have.
void ValidateSecretType(const Secret& secret, const Path& data, FieldErrors& errors) {
  const auto require = [&](std::string_view key) {
    if (secret.data.Find(key) == nullptr) {
      errors.Required(data.Key(key));
    }
  };
  const auto require_object = [&](std::string_view key) {
    const Str* const value = secret.data.Find(key);
    if (value == nullptr) {
      errors.Required(data.Key(key));
      return;
    }
    const auto json = text::ParseJson(*value);
    if (!json) {
      errors.Invalid(data.Key(key), "<secret contents redacted>", json.error().message());
    } else if (!json->is_object()) {
      errors.Invalid(data.Key(key), "<secret contents redacted>", "must be a JSON object");
    }
  };
  if (secret.type == "kubernetes.io/service-account-token") {
    constexpr std::string_view kAccount = "kubernetes.io/service-account.name";
    if (secret.metadata.annotations.Get(kAccount).empty()) {
      errors.Required(kMetadata.Item("annotations", kAccount));
    }
  } else if (secret.type == "kubernetes.io/dockercfg") {
    require_object(".dockercfg");
  } else if (secret.type == "kubernetes.io/dockerconfigjson") {
    require_object(".dockerconfigjson");
  } else if (secret.type == "kubernetes.io/basic-auth") {
    if (secret.data.Find("username") == nullptr && secret.data.Find("password") == nullptr) {
      require("username");
      require("password");
    }
  } else if (secret.type == "kubernetes.io/ssh-auth") {
    if (secret.data.Get("ssh-privatekey").empty()) {
      errors.Required(data.Key("ssh-privatekey"));
    }
  } else if (secret.type == "kubernetes.io/tls") {
    require("tls.crt");
    require("tls.key");
  }
}

void ValidateSecretCreate(const StrategyContext&, const Secret& secret, Report& report) {
  const Path data("data");
  ValidateObjectMeta(
      secret.metadata, Scope::kNamespaced, NameRule::kDnsSubdomain, kMetadata, report.hand);
  if (ValidateKeys(secret.data, data, report.hand) > kMaxDataSize) {
    report.hand.TooLong(data, kMaxDataSize);
  }
  ValidateSecretType(secret, data, report.hand);
}

void ValidateSecretUpdate(const StrategyContext& context,
                          const Secret& next,
                          const Secret& old,
                          Report& report) {
  ValidateObjectMetaUpdate(next.metadata, old.metadata, kMetadata, report.hand);
  if (next.type != old.type) {
    report.hand.Invalid(Path("type"), next.type, "field is immutable");
  }
  if (IsTrue(old.immutable)) {
    if (!IsTrue(next.immutable)) {
      report.hand.Forbidden(Path("immutable"), kImmutableSet);
    }
    if (!SameTexts(next.data, old.data)) {
      report.hand.Forbidden(Path("data"), kImmutableSet);
    }
  }
  ValidateSecretCreate(context, next, report);
}

void WarnOfNode(const void* root, const void*, std::vector<std::string>& out) {
  const NodeSpec& spec = static_cast<const Node*>(root)->spec;
  if (spec.config_source != nullptr) {
    out.emplace_back("spec.configSource: the feature is removed");
  }
  if (!spec.external_id.empty()) {
    out.emplace_back("spec.externalID: this field is deprecated, and is unused by Kubernetes");
  }
}

/// A certificate or key that is no PEM at all; whether the two belong together is not looked at.
void WarnOfSecret(const void* root, const void*, std::vector<std::string>& out) {
  const auto& secret = *static_cast<const Secret*>(root);
  if (secret.type != "kubernetes.io/tls") {
    return;
  }
  const auto is_pem = [&](std::string_view key) {
    const Str* const text = secret.data.Find(key);
    return text != nullptr && text->find("-----BEGIN ") != Str::npos;
  };
  if (!is_pem("tls.crt")) {
    out.emplace_back("tls: failed to find any PEM data in certificate input");
  } else if (!is_pem("tls.key")) {
    out.emplace_back("tls: failed to find any PEM data in key input");
  }
}

constexpr std::array<UpdateRules, 1> kSecretUpdates = {{
    {"", &Erased<Secret, NothingToPrepare<Secret>>, &Erased<Secret, ValidateSecretUpdate>},
}};

// --- ServiceAccount ---

/// Of references to secrets only the name counts.
void KeepSecretNames(ServiceAccount& account, Editor editor) {
  ObjectReference* const secrets = editor.MutableList(account.secrets);
  for (std::size_t i = 0; i < account.secrets.size(); ++i) {
    secrets[i] = ObjectReference{.name = secrets[i].name};
  }
}

void PrepareAccountForCreate(const StrategyContext&, ServiceAccount& account, Editor editor) {
  KeepSecretNames(account, editor);
}

void PrepareAccountForUpdate(const StrategyContext&,
                             ServiceAccount& next,
                             const ServiceAccount&,
                             Editor editor) {
  KeepSecretNames(next, editor);
}

void ValidateAccountCreate(const StrategyContext&, const ServiceAccount& account, Report& report) {
  ValidateObjectMeta(
      account.metadata, Scope::kNamespaced, NameRule::kDnsSubdomain, kMetadata, report.hand);
}

void ValidateAccountUpdate(const StrategyContext& context,
                           const ServiceAccount& next,
                           const ServiceAccount& old,
                           Report& report) {
  ValidateObjectMetaUpdate(next.metadata, old.metadata, kMetadata, report.hand);
  ValidateAccountCreate(context, next, report);
}

constexpr std::array<UpdateRules, 1> kAccountUpdates = {{
    {"",
     &Erased<ServiceAccount, PrepareAccountForUpdate>,
     &Erased<ServiceAccount, ValidateAccountUpdate>},
}};

}  // namespace

const Strategy kNamespaceStrategy = {
    .type = &kNamespaceDesc,
    .scope = Scope::kCluster,
    .name_rule = NameRule::kDnsLabel,
    .answers_deleted_object = true,
    .metadata_offset = offsetof(Namespace, metadata),
    .apply_defaults = &Erased<Namespace, DefaultNamespace>,
    .prepare_for_create = &Erased<Namespace, PrepareNamespaceForCreate>,
    .validate_create = &Erased<Namespace, ValidateNamespaceCreate>,
    .updates = kNamespaceUpdates,
};

const Strategy kNodeStrategy = {
    .type = &kNodeDesc,
    .scope = Scope::kCluster,
    .metadata_offset = offsetof(Node, metadata),
    .apply_defaults = &Erased<Node, DefaultNode>,
    .prepare_for_create = &Erased<Node, PrepareNodeForCreate>,
    .validate_create = &Erased<Node, ValidateNodeCreate>,
    .updates = kNodeUpdates,
    .warnings = &WarnOfNode,
};

const Strategy kConfigMapStrategy = {
    .type = &kConfigMapDesc,
    .metadata_offset = offsetof(ConfigMap, metadata),
    .validate_create = &Erased<ConfigMap, ValidateConfigMapCreate>,
    .updates = kConfigMapUpdates,
};

const Strategy kSecretStrategy = {
    .type = &kSecretDesc,
    .metadata_offset = offsetof(Secret, metadata),
    .apply_defaults = &Erased<Secret, DefaultSecret>,
    .validate_create = &Erased<Secret, ValidateSecretCreate>,
    .updates = kSecretUpdates,
    .warnings = &WarnOfSecret,
};

const Strategy kServiceAccountStrategy = {
    .type = &kServiceAccountDesc,
    .answers_deleted_object = true,
    .metadata_offset = offsetof(ServiceAccount, metadata),
    .prepare_for_create = &Erased<ServiceAccount, PrepareAccountForCreate>,
    .validate_create = &Erased<ServiceAccount, ValidateAccountCreate>,
    .updates = kAccountUpdates,
};

}  // namespace allot::api::core

namespace allot::api {

void ValidateBinding(const void* binding, FieldErrors& errors) {
  const core::ObjectReference& target = static_cast<const core::Binding*>(binding)->target;
  constexpr std::array<std::string_view, 2> kKinds = {"Node", "<empty>"};
  const Path path("target");
  const bool node = target.kind.empty() || target.kind == "Node";
  if (!node) {
    errors.NotSupported(path.Child("kind"), target.kind, kKinds);
  }
  if (target.name.empty()) {
    errors.Required(path.Child("name"));
  } else if (node) {
    errors.InvalidAll(path.Child("name"), target.name, DnsSubdomainProblems(target.name));
  }
}

}  // namespace allot::api
