// Kubeconfig: which server to talk to and as whom, read from and written to kubectl's files.
// Thread safety: values and free functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace allot::client {

/// Everything needed to reach one API server as one user; PEM texts, not file names.
struct ClientConfig {
  std::string server;  // "https://127.0.0.1:6443"
  std::string ca_pem;
  std::string certificate_pem;
  std::string key_pem;
  std::string token;
  std::string token_file;  // read again for every request: service account tokens are renewed
  std::string server_name;
  bool insecure_skip_tls_verify = false;
  std::string namespace_ = "default";  // of the context
  std::string context;
  std::string impersonate_user;
  std::vector<std::string> impersonate_groups;
};

struct KubeconfigOptions {
  std::string context;  // "" = current-context
};

/// Reads kubeconfig text. Relative file names are resolved against `folder`.
/// Errors: kInvalid naming `source`, the field, and what was found (unknown context, bad base64,
/// missing file, users with exec or auth-provider, which are not supported).
[[nodiscard]] base::Result<ClientConfig> ParseKubeconfig(std::string_view yaml,
                                                         std::string_view source,
                                                         std::string_view folder,
                                                         const KubeconfigOptions& options = {});
/// Reads a kubeconfig file. Errors: as ParseKubeconfig; kNotFound when there is no such file.
[[nodiscard]] base::Result<ClientConfig> LoadKubeconfig(const std::string& path,
                                                        const KubeconfigOptions& options = {});

/// What a kubeconfig for one server and user named `name` says.
[[nodiscard]] std::string FormatKubeconfig(const ClientConfig& config, std::string_view name);
/// Writes a secret file with mode 0600, all or nothing (a new file renamed over the old one); a
/// device or pipe is written to as it is.
[[nodiscard]] base::Result<void> WriteFileAtomically(const std::string& path,
                                                     std::string_view text);

}  // namespace allot::client
