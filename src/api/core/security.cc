// Security contexts of pods and containers.
#include <algorithm>
#include <array>
#include <set>
#include <string>

#include <fmt/format.h>

#include "api/core/rules.h"
#include "api/go_value.h"
#include "api/names.h"
#include "text/json.h"

namespace allot::api::core {

using schema::Str;

namespace {

constexpr std::int64_t kMaxId = 2147483647;
constexpr std::array<std::string_view, 3> kProfileTypes = {
    "Localhost", "RuntimeDefault", "Unconfined"};

void ValidateId(const std::int64_t* id, const Path& path, FieldErrors& errors) {
  if (id == nullptr) {
    return;
  }
  for (const std::string& problem : RangeProblems(*id, 0, kMaxId)) {
    errors.Invalid(path, *id, problem);
  }
}

void ValidateSeccomp(const SeccompProfile* profile, const Path& path, FieldErrors& errors) {
  if (profile == nullptr) {
    return;
  }
  const Path local = path.Child("localhostProfile");
  if (profile->type.empty()) {
    errors.Required(path.Child("type"), "type is required when seccompProfile is set");
  } else if (std::ranges::find(kProfileTypes, profile->type) == kProfileTypes.end()) {
    errors.NotSupported(path.Child("type"), profile->type, kProfileTypes);
  }
  if (profile->type == "Localhost") {
    if (profile->localhost_profile == nullptr) {
      errors.Required(local, "must be set when seccomp type is Localhost");
    } else {
      ValidateDescendingPath(*profile->localhost_profile, local, errors);
    }
  } else if (profile->localhost_profile != nullptr) {
    errors.Invalid(local,
                   GoValue(Desc<SeccompProfile>(), profile),
                   "can only be set when seccomp type is Localhost");
  }
}

void ValidateAppArmor(const AppArmorProfile* profile, const Path& path, FieldErrors& errors) {
  constexpr std::size_t kMaxPath = 4095;
  if (profile == nullptr) {
    return;
  }
  const Path local = path.Child("localhostProfile");
  if (profile->type == "Localhost") {
    if (profile->localhost_profile == nullptr || profile->localhost_profile->empty()) {
      errors.Required(local, "must be set when AppArmor type is Localhost");
      return;
    }
    const Str text = *profile->localhost_profile;
    constexpr std::string_view kSpace = " \t\r\n";
    if (kSpace.find(text.front()) != Str::npos || kSpace.find(text.back()) != Str::npos) {
      errors.Invalid(local, text, "must not be padded with whitespace");
    }
    if (text.size() > kMaxPath) {
      errors.TooLong(local, kMaxPath);
    }
  } else if (profile->type.empty()) {
    errors.Required(path.Child("type"), "type is required when appArmorProfile is set");
  } else if (std::ranges::find(kProfileTypes, profile->type) == kProfileTypes.end()) {
    errors.NotSupported(path.Child("type"), profile->type, kProfileTypes);
  } else if (profile->localhost_profile != nullptr) {
    errors.Invalid(
        local, *profile->localhost_profile, "can only be set when AppArmor type is Localhost");
  }
}

/// Segments of lower-case letters, digits, dashes and underscores between dots or slashes.
bool IsSysctlName(Str name) {
  constexpr std::size_t kMax = 253;
  const auto edge = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  };
  if (name.empty() || name.size() > kMax) {
    return false;
  }
  Str rest = name;
  while (true) {
    const auto end = rest.find_first_of("./");
    const Str part = rest.substr(0, end);
    const bool good =
        !part.empty() && edge(part.front()) && edge(part.back()) &&
        std::ranges::all_of(part, [&](char c) { return edge(c) || c == '-' || c == '_'; });
    if (!good) {
      return false;
    }
    if (end == Str::npos) {
      return true;
    }
    rest.remove_prefix(end + 1);
  }
}

void ValidateSysctls(const PodSecurityContext& security,
                     const PodSpec& spec,
                     const Path& path,
                     FieldErrors& errors) {
  std::set<Str> seen;
  for (std::size_t i = 0; i < security.sysctls.size(); ++i) {
    const Str name = security.sysctls[i].name;
    const Path entry = path.Index(i);
    const Path at = entry.Child("name");
    if (name.empty()) {
      errors.Required(at);
    } else if (!IsSysctlName(name)) {
      errors.Invalid(at,
                     name,
                     "must have at most 253 characters and match regex "
                     "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$");
    } else if (!seen.insert(name).second) {
      errors.Duplicate(at, name);
    }
    if (spec.host_network && (name.starts_with("net.") || name.starts_with("net/"))) {
      errors.Invalid(at, name, "may not be specified when 'hostNetwork' is true");
    }
    if (spec.host_ipc && (name.starts_with("kernel.shm") || name.starts_with("kernel.msg") ||
                          name.starts_with("fs.mqueue.") || name == "kernel.sem")) {
      errors.Invalid(at, name, "may not be specified when 'hostIPC' is true");
    }
  }
}

template <std::size_t N>
void ValidateChoice(const Str* value,
                    const std::array<std::string_view, N>& choices,
                    const Path& path,
                    FieldErrors& errors) {
  if (value != nullptr && std::ranges::find(choices, *value) == choices.end()) {
    errors.NotSupported(path, *value, choices);
  }
}

std::string Lower(Str text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  });
  return out;
}

bool IsNetBiosName(Str name) {
  constexpr std::size_t kMax = 15;
  return !name.empty() && name.size() <= kMax && name.front() != '.' &&
         name.find_first_of("\\/:*?\"<>|") == Str::npos;
}

bool IsDomain(Str name) {
  for (std::size_t at = 0; at <= name.size();) {
    const auto end = std::min(name.find('.', at), name.size());
    if (!DnsLabelProblems(Lower(name.substr(at, end - at))).empty()) {
      return false;
    }
    at = end + 1;
  }
  return true;
}

/// `user` or `domain\user`.
void ValidateWindowsUser(Str name, const Path& path, FieldErrors& errors) {
  constexpr std::size_t kMaxDomain = 256;
  constexpr std::size_t kMaxUser = 104;
  std::string shown;  // as JSON, unlike other texts
  text::WriteJson(text::Value(name), shown);
  const auto invalid = [&](std::string_view problem) {
    errors.Invalid(path, BadValue::Raw(shown), fmt::format("runAsUserName{}", problem));
  };
  if (name.empty()) {
    return invalid(" cannot be an empty string");
  }
  if (std::ranges::any_of(name, [](unsigned char c) { return c < ' ' || c == 0x7f; })) {
    return invalid(" cannot contain control characters");
  }
  const auto slash = name.find('\\');
  if (slash != Str::npos && name.find('\\', slash + 1) != Str::npos) {
    return invalid(" cannot contain more than one backslash");
  }
  const Str user = slash == Str::npos ? name : name.substr(slash + 1);
  if (slash != Str::npos) {
    const Str domain = name.substr(0, slash);
    if (domain.size() >= kMaxDomain) {
      invalid("'s Domain length must be under 256 characters");
    }
    if (!IsNetBiosName(domain) && !IsDomain(domain)) {
      invalid("'s Domain doesn't match the NetBios nor the DNS format");
    }
  }
  if (user.empty()) {
    invalid("'s User cannot be empty");
  } else if (user.size() > kMaxUser) {
    invalid("'s User length must not be longer than 104 characters");
  }
  if (user.find_first_of("\"/\\:;|=,+*?<>@[]") != Str::npos) {
    invalid("'s User cannot contain the following characters: \"/\\:;|=,+*?<>@[]");
  }
  if (!user.empty() && user.find_first_not_of(". ") == Str::npos) {
    invalid("'s User cannot contain only periods or spaces");
  }
}

void ValidateWindows(const WindowsSecurityContextOptions* options,
                     const Path& path,
                     FieldErrors& errors) {
  constexpr std::size_t kMaxSpec = std::size_t{64} * 1024;
  if (options == nullptr) {
    return;
  }
  if (const Str* const name = options->gmsa_credential_spec_name; name != nullptr) {
    errors.InvalidAll(path.Child("gmsaCredentialSpecName"), *name, DnsSubdomainProblems(*name));
  }
  if (const Str* const text = options->gmsa_credential_spec; text != nullptr) {
    const Path at = path.Child("gmsaCredentialSpec");
    if (text->empty()) {
      errors.Invalid(at, *text, "gmsaCredentialSpec cannot be an empty string");
    } else if (text->size() > kMaxSpec) {
      errors.Invalid(at, *text, "gmsaCredentialSpec size must be under 64 KiB");
    }
  }
  if (options->run_as_user_name != nullptr) {
    ValidateWindowsUser(*options->run_as_user_name, path.Child("runAsUserName"), errors);
  }
}

const bool* HostProcess(const WindowsSecurityContextOptions* options) {
  return options == nullptr ? nullptr : options->host_process;
}

}  // namespace

void ValidateHostProcess(const PodSpec& spec, const Path& path, FieldErrors& errors) {
  const bool* const pod = spec.security_context == nullptr
                              ? nullptr
                              : HostProcess(spec.security_context->windows_options);
  std::size_t containers = 0;
  std::size_t on_host = 0;
  const auto visit = [&](const SecurityContext* security, const Path& at) {
    const bool* const own = security == nullptr ? nullptr : HostProcess(security->windows_options);
    ++containers;
    if (pod != nullptr && own != nullptr && *pod != *own) {
      const Path context = at.Child("securityContext");
      const Path windows = context.Child("windowsOptions");
      errors.Invalid(
          windows.Child("hostProcess"),
          *own,
          fmt::format("pod hostProcess value must be identical if both are specified, was {}",
                      *pod));
    }
    const bool* const effective = own != nullptr ? own : pod;
    on_host += effective != nullptr && *effective ? 1 : 0;
  };
  for (std::size_t i = 0; i < spec.init_containers.size(); ++i) {
    visit(spec.init_containers[i].security_context, path.Item("initContainers", i));
  }
  for (std::size_t i = 0; i < spec.containers.size(); ++i) {
    visit(spec.containers[i].security_context, path.Item("containers", i));
  }
  for (std::size_t i = 0; i < spec.ephemeral_containers.size(); ++i) {
    visit(spec.ephemeral_containers[i].ephemeral_container_common.security_context,
          path.Item("ephemeralContainers", i));
  }
  if (on_host == 0) {
    return;
  }
  if (on_host != containers) {
    errors.Invalid(path,
                   "",
                   "If pod contains any hostProcess containers then all containers must be "
                   "HostProcess containers");
  }
  if (!spec.host_network) {
    errors.Invalid(path.Child("hostNetwork"),
                   false,
                   "hostNetwork must be true if pod contains any hostProcess containers");
  }
}

void ValidateSecurityContext(const SecurityContext& security,
                             const Path& path,
                             FieldErrors& errors) {
  constexpr std::array<std::string_view, 2> kProcMounts = {"Default", "Unmasked"};
  ValidateId(security.run_as_user, path.Child("runAsUser"), errors);
  ValidateId(security.run_as_group, path.Child("runAsGroup"), errors);
  ValidateChoice(security.proc_mount, kProcMounts, path.Child("procMount"), errors);
  ValidateSeccomp(security.seccomp_profile, path.Child("seccompProfile"), errors);
  if (security.allow_privilege_escalation != nullptr && !*security.allow_privilege_escalation) {
    const BadValue shown = GoValue(Desc<SecurityContext>(), &security);
    if (security.privileged != nullptr && *security.privileged) {
      errors.Invalid(
          path, shown, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
    }
    if (security.capabilities != nullptr &&
        std::ranges::find(security.capabilities->add, Str("CAP_SYS_ADMIN")) !=
            security.capabilities->add.end()) {
      errors.Invalid(
          path,
          shown,
          "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN");
    }
  }
  ValidateWindows(security.windows_options, path.Child("windowsOptions"), errors);
  ValidateAppArmor(security.app_armor_profile, path.Child("appArmorProfile"), errors);
}

void ValidatePodSecurityContext(const PodSecurityContext& security,
                                const PodSpec& spec,
                                const Path& path,
                                FieldErrors& errors) {
  constexpr std::array<std::string_view, 2> kGroupChange = {"Always", "OnRootMismatch"};
  constexpr std::array<std::string_view, 2> kGroupsPolicy = {"Merge", "Strict"};
  constexpr std::array<std::string_view, 2> kSeLinux = {"MountOption", "Recursive"};
  ValidateId(security.fs_group, path.Child("fsGroup"), errors);
  ValidateId(security.run_as_user, path.Child("runAsUser"), errors);
  ValidateId(security.run_as_group, path.Child("runAsGroup"), errors);
  for (std::size_t i = 0; i < security.supplemental_groups.size(); ++i) {
    ValidateId(&security.supplemental_groups[i], path.Item("supplementalGroups", i), errors);
  }
  ValidateSysctls(security, spec, path.Child("sysctls"), errors);
  ValidateChoice(
      security.fs_group_change_policy, kGroupChange, path.Child("fsGroupChangePolicy"), errors);
  ValidateSeccomp(security.seccomp_profile, path.Child("seccompProfile"), errors);
  ValidateWindows(security.windows_options, path.Child("windowsOptions"), errors);
  ValidateAppArmor(security.app_armor_profile, path.Child("appArmorProfile"), errors);
  ValidateChoice(security.supplemental_groups_policy,
                 kGroupsPolicy,
                 path.Child("supplementalGroupsPolicy"),
                 errors);
  ValidateChoice(
      security.se_linux_change_policy, kSeLinux, path.Child("seLinuxChangePolicy"), errors);
}

}  // namespace allot::api::core
