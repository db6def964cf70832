// Environment variables of containers and the references the downward API allows.
#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "api/core/rules.h"
#include "api/names.h"

namespace allot::api::core {

using schema::Str;

namespace {

constexpr std::array<std::string_view, 9> kFieldPaths = {"metadata.name",
                                                         "metadata.namespace",
                                                         "metadata.uid",
                                                         "spec.nodeName",
                                                         "spec.serviceAccountName",
                                                         "status.hostIP",
                                                         "status.hostIPs",
                                                         "status.podIP",
                                                         "status.podIPs"};
constexpr std::array<std::string_view, 6> kResourcePaths = {"limits.cpu",
                                                            "limits.ephemeral-storage",
                                                            "limits.memory",
                                                            "requests.cpu",
                                                            "requests.ephemeral-storage",
                                                            "requests.memory"};
constexpr std::array<std::string_view, 13> kByteDivisors = {
    "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"};
/// Paths the downward API converts in a pod at all, whichever place may use them.
constexpr std::array<std::string_view, 12> kConvertible = {"metadata.annotations",
                                                           "metadata.labels",
                                                           "metadata.name",
                                                           "metadata.namespace",
                                                           "metadata.uid",
                                                           "spec.nodeName",
                                                           "spec.restartPolicy",
                                                           "spec.serviceAccountName",
                                                           "spec.schedulerName",
                                                           "status.phase",
                                                           "status.hostIP",
                                                           "status.hostIPs"};

template <std::size_t N>
bool In(const std::array<std::string_view, N>& values, Str value) {
  return std::ranges::find(values, value) != values.end();
}

bool IsHugePagesPath(Str resource) {
  return resource.starts_with("requests.hugepages-") || resource.starts_with("limits.hugepages-");
}

void ValidateDivisor(const ResourceFieldSelector& selector, const Path& path, FieldErrors& errors) {
  if (selector.divisor.IsZero()) {
    return;
  }
  const std::string divisor = selector.divisor.ToString();
  const Path at = path.Child("divisor");
  const auto bytes = [&](std::string_view what) {
    if (!In(kByteDivisors, divisor)) {
      errors.Invalid(
          at,
          selector.resource,
          fmt::format(
              "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei "
              "are supported with the {} resource",
              what));
    }
  };
  if (selector.resource == "limits.cpu" || selector.resource == "requests.cpu") {
    if (divisor != "1m" && divisor != "1") {
      errors.Invalid(at,
                     selector.resource,
                     "only divisor's values 1m and 1 are supported with the cpu resource");
    }
  } else if (selector.resource == "limits.memory" || selector.resource == "requests.memory") {
    bytes("memory");
  } else if (selector.resource == "limits.ephemeral-storage" ||
             selector.resource == "requests.ephemeral-storage") {
    bytes("local ephemeral storage");
  } else if (IsHugePagesPath(selector.resource)) {
    bytes("hugepages");
  }
}

void ValidateKey(Str key, const Path& path, FieldErrors& errors) {
  if (key.empty()) {
    errors.Required(path);
  } else {
    errors.InvalidAll(path, key, ConfigMapKeyProblems(key));
  }
}

void ValidateFileKey(const FileKeySelector& file, const Path& path, FieldErrors& errors) {
  if (file.key.empty()) {
    errors.Required(path.Child("key"));
  } else {
    errors.InvalidAll(path.Child("key"), file.key, EnvVarNameProblems(file.key));
  }
  if (file.volume_name.empty()) {
    errors.Required(path.Child("volumeName"));
  } else {
    errors.InvalidAll(
        path.Child("volumeName"), file.volume_name, DnsLabelProblems(file.volume_name));
  }
  if (file.path.empty()) {
    errors.Required(path.Child("path"));
  } else {
    ValidateNoBacksteps(file.path, path.Child("path"), errors);
  }
}

void ValidateSource(const EnvVar& variable, const Path& path, FieldErrors& errors) {
  const EnvVarSource& source = *variable.value_from;
  int sources = 0;
  if (source.field_ref != nullptr) {
    ++sources;
    ValidateFieldReference(*source.field_ref, kFieldPaths, path.Child("fieldRef"), errors);
  }
  if (source.resource_field_ref != nullptr) {
    ++sources;
    ValidateResourceReference(
        *source.resource_field_ref, /*volume=*/false, path.Child("resourceFieldRef"), errors);
  }
  const auto key = [&](const auto* reference, std::string_view name) {
    if (reference == nullptr) {
      return;
    }
    ++sources;
    const Path at = path.Child(name);
    const Str object = reference->local_object_reference.name;
    errors.InvalidAll(at.Child("name"), object, DnsSubdomainProblems(object));
    ValidateKey(reference->key, at.Child("key"), errors);
  };
  key(source.config_map_key_ref, "configMapKeyRef");
  key(source.secret_key_ref, "secretKeyRef");
  if (source.file_key_ref != nullptr) {
    ++sources;
    ValidateFileKey(*source.file_key_ref, path.Child("fileKeyRef"), errors);
  }
  if (sources == 0) {
    errors.Invalid(
        path,
        "",
        "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or "
        "`fileKeyRef`");
  } else if (!variable.value.empty()) {
    errors.Invalid(path, "", "may not be specified when `value` is not empty");
  } else if (sources > 1) {
    errors.Invalid(path, "", "may not have more than one field specified at a time");
  }
}

template <typename Reference>
void ValidateEnvReference(const Reference& reference, const Path& path, FieldErrors& errors) {
  const Str name = reference.local_object_reference.name;
  if (name.empty()) {
    errors.Required(path.Child("name"));
  } else {
    errors.InvalidAll(path.Child("name"),
                      name,
                      ObjectNameProblems(NameRule::kDnsSubdomain, name, /*prefix=*/true));
  }
}

}  // namespace

void ValidateFieldReference(const ObjectFieldSelector& selector,
                            std::span<const std::string_view> supported,
                            const Path& path,
                            FieldErrors& errors) {
  const Path field_path = path.Child("fieldPath");
  if (selector.api_version.empty()) {
    errors.Required(path.Child("apiVersion"));
    return;
  }
  if (selector.field_path.empty()) {
    errors.Required(field_path);
    return;
  }
  Str field = selector.field_path;
  Str subscript;
  const bool subscripted = field.find("['") != Str::npos && field.ends_with("']");
  if (subscripted) {
    const auto open = field.find("['");
    subscript = field.substr(open + 2, field.size() - open - 4);
    field = field.substr(0, open);
  }
  const auto refuse = [&](std::string why) {
    errors.Invalid(
        field_path, selector.field_path, fmt::format("error converting fieldPath: {}", why));
  };
  if (selector.api_version != "v1") {
    refuse(fmt::format("unsupported pod version: {}", selector.api_version));
    return;
  }
  const bool is_map = field == "metadata.annotations" || field == "metadata.labels";
  if (subscripted && is_map) {
    std::string key(subscript);
    if (field == "metadata.annotations") {
      std::ranges::transform(key, key.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
      });
    }
    errors.InvalidAll(path, key, QualifiedNameProblems(key));
  } else if (subscripted) {
    refuse(fmt::format("field label does not support subscript: {}", selector.field_path));
  } else if (!In(kConvertible, field) && !In(kFieldPaths, field)) {
    refuse(fmt::format("field label not supported: {}", selector.field_path));
  } else if (std::ranges::find(supported, field) == supported.end()) {
    errors.NotSupported(field_path, field, supported);
  }
}

void ValidateResourceReference(const ResourceFieldSelector& selector,
                               bool volume,
                               const Path& path,
                               FieldErrors& errors) {
  if (volume && selector.container_name.empty()) {
    errors.Required(path.Child("containerName"));
  } else if (selector.resource.empty()) {
    errors.Required(path.Child("resource"));
  } else if (!In(kResourcePaths, selector.resource) && !IsHugePagesPath(selector.resource)) {
    errors.NotSupported(path.Child("resource"), selector.resource, kResourcePaths);
  }
  ValidateDivisor(selector, path, errors);
}

void ValidateEnvironment(const Container& container, const Path& path, FieldErrors& errors) {
  const Path env = path.Child("env");
  for (std::size_t i = 0; i < container.env.size(); ++i) {
    const Path at = env.Index(i);
    if (container.env[i].name.empty()) {
      errors.Required(at.Child("name"));
    } else {
      errors.InvalidAll(
          at.Child("name"), container.env[i].name, EnvVarNameProblems(container.env[i].name));
    }
    if (container.env[i].value_from != nullptr) {
      ValidateSource(container.env[i], at.Child("valueFrom"), errors);
    }
  }
  const Path env_from = path.Child("envFrom");
  for (std::size_t i = 0; i < container.env_from.size(); ++i) {
    const EnvFromSource& source = container.env_from[i];
    const Path at = env_from.Index(i);
    if (!source.prefix.empty()) {
      errors.InvalidAll(at.Child("prefix"), source.prefix, EnvVarNameProblems(source.prefix));
    }
    if (source.config_map_ref != nullptr) {
      ValidateEnvReference(*source.config_map_ref, at.Child("configMapRef"), errors);
    }
    if (source.secret_ref != nullptr) {
      ValidateEnvReference(*source.secret_ref, at.Child("secretRef"), errors);
    }
    if (source.config_map_ref == nullptr && source.secret_ref == nullptr) {
      errors.Invalid(env_from, "", "must specify one of: `configMapRef` or `secretRef`");
    } else if (source.config_map_ref != nullptr && source.secret_ref != nullptr) {
      errors.Invalid(env_from, "", "may not have more than one field specified at a time");
    }
  }
}

void ValidateFileVolumes(const Container& container,
                         const MountableVolumes& volumes,
                         const Path& path,
                         FieldErrors& errors) {
  for (std::size_t i = 0; i < container.env.size(); ++i) {
    const EnvVarSource* const source = container.env[i].value_from;
    if (source == nullptr || source->file_key_ref == nullptr) {
      continue;
    }
    const Path variable = path.Item("env", i);
    const Path value = variable.Child("valueFrom");
    const Path reference = value.Child("fileKeyRef");
    const Path at = reference.Child("volumeName");
    const Str name = source->file_key_ref->volume_name;
    const auto volume = volumes.find(name);
    if (volume == volumes.end()) {
      errors.NotFound(at, name);
    } else if (volume->second->empty_dir == nullptr) {
      errors.Invalid(at, name, "referenced volume must be of type emptyDir");
    }
  }
}

}  // namespace allot::api::core
