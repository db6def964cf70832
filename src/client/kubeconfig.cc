#include "client/kubeconfig.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/base64.h"
#include "text/value.h"
#include "text/yaml.h"

namespace allot::client {
namespace {

using base::Error;
using base::Reason;
using text::Value;

bool DecodeBase64(std::string_view text, std::string& out) {
  out.resize(schema::DecodedBound(text));
  std::size_t size = 0;
  const bool valid = schema::DecodeBase64(text, out.data(), size) == std::string_view::npos;
  out.resize(size);
  return valid;
}

std::string EncodeBase64(std::string_view bytes) {
  std::string out(schema::EncodedSize(bytes), '\0');
  schema::EncodeBase64(bytes, out.data());
  return out;
}

base::Result<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  errno = 0;
  text << file.rdbuf();
  if (!file || errno == EISDIR) {
    return Error(Reason::kNotFound, path + ": " + std::strerror(errno));
  }
  return std::move(text).str();
}

/// The entry of a named list ("clusters") with this name, at its inner field ("cluster").
const Value* FindNamed(const Value& config,
                       std::string_view list,
                       std::string_view field,
                       std::string_view name) {
  const Value* const entries = config.Find(list);
  if (entries == nullptr) {
    return nullptr;
  }
  for (const Value& entry : entries->items()) {
    if (entry.StringAt({"name"}) == name) {
      const Value* const inner = entry.Find(field);
      static const Value kEmpty = Value::Object();
      return inner != nullptr && inner->is_object() ? inner : &kEmpty;
    }
  }
  return nullptr;
}

std::string NamesOf(const Value& config, std::string_view list) {
  std::string names;
  if (const Value* const entries = config.Find(list); entries != nullptr) {
    for (const Value& entry : entries->items()) {
      names += (names.empty() ? "" : ", ") + std::string(entry.StringAt({"name"}));
    }
  }
  return names.empty() ? "none" : names;
}

struct Reader {
  std::string_view source;
  std::string_view folder;

  [[nodiscard]] std::string Resolve(std::string_view path) const {
    return path.starts_with('/') || folder.empty() ? std::string(path)
                                                   : std::string(folder) + "/" + std::string(path);
  }

  /// `<field>-data` in base64 before the file named by `<field>`.
  base::Result<std::string> Pem(const Value& entry,
                                const std::string& where,
                                const std::string& field) const {
    const std::string data_field = field + "-data";
    if (const std::string_view data = entry.StringAt({data_field}); !data.empty()) {
      std::string pem;
      if (!DecodeBase64(data, pem)) {
        return Error(Reason::kInvalid,
                     std::string(source) + ": " + where + "." + data_field + ": not valid base64");
      }
      return pem;
    }
    const std::string_view file = entry.StringAt({field});
    if (file.empty()) {
      return std::string();
    }
    auto pem = ReadFile(Resolve(file));
    if (!pem) {
      return Error(Reason::kInvalid,
                   std::string(source) + ": " + where + "." + field + ": " + pem.error().message());
    }
    return pem;
  }

  base::Result<void> Cluster(const Value& cluster,
                             const std::string& where,
                             ClientConfig& out) const {
    out.server = cluster.StringAt({"server"});
    if (!out.server.starts_with("https://") && !out.server.starts_with("http://")) {
      return Error(Reason::kInvalid,
                   std::string(source) + ": " + where + ".server: found \"" + out.server +
                       "\", expected a URL that begins with https://");
    }
    ALLOT_ASSIGN_OR_RETURN(out.ca_pem, Pem(cluster, where, "certificate-authority"));
    out.server_name = cluster.StringAt({"tls-server-name"});
    const Value* const insecure = cluster.Find("insecure-skip-tls-verify");
    out.insecure_skip_tls_verify = insecure != nullptr && insecure->AsBool();
    return {};
  }

  base::Result<void> User(const Value& user, const std::string& where, ClientConfig& out) const {
    for (const std::string_view unsupported : {"exec", "auth-provider", "username"}) {
      if (user.Find(unsupported) != nullptr) {
        return Error(Reason::kInvalid,
                     std::string(source) + ": " + where + "." + std::string(unsupported) +
                         ": not supported; use a client certificate, token or tokenFile");
      }
    }
    ALLOT_ASSIGN_OR_RETURN(out.certificate_pem, Pem(user, where, "client-certificate"));
    ALLOT_ASSIGN_OR_RETURN(out.key_pem, Pem(user, where, "client-key"));
    if (out.certificate_pem.empty() != out.key_pem.empty()) {
      return Error(Reason::kInvalid,
                   std::string(source) + ": " + where +
                       ": client-certificate and client-key must be given together");
    }
    out.token = user.StringAt({"token"});
    if (const std::string_view file = user.StringAt({"tokenFile"}); !file.empty()) {
      out.token_file = Resolve(file);
    }
    out.impersonate_user = user.StringAt({"as"});
    if (const Value* const groups = user.Find("as-groups"); groups != nullptr) {
      for (const Value& group : groups->items()) {
        out.impersonate_groups.emplace_back(group.AsString());
      }
    }
    return {};
  }
};

}  // namespace

base::Result<ClientConfig> ParseKubeconfig(std::string_view yaml,
                                           std::string_view source,
                                           std::string_view folder,
                                           const KubeconfigOptions& options) {
  auto parsed = text::ParseYaml(yaml);
  if (!parsed) {
    return Error(std::move(parsed).error().Prepend(std::string(source) + ": "));
  }
  const Value& config = *parsed;
  if (!config.is_object() || config.StringAt({"kind"}) != "Config") {
    return Error(Reason::kInvalid,
                 std::string(source) + ": not a kubeconfig (expected kind: Config)");
  }
  ClientConfig out;
  out.context =
      options.context.empty() ? std::string(config.StringAt({"current-context"})) : options.context;
  if (out.context.empty()) {
    return Error(Reason::kInvalid,
                 std::string(source) +
                     ": current-context: not set; contexts: " + NamesOf(config, "contexts"));
  }
  const Value* const context = FindNamed(config, "contexts", "context", out.context);
  if (context == nullptr) {
    return Error(Reason::kInvalid,
                 std::string(source) + ": context \"" + out.context +
                     "\" does not exist; contexts: " + NamesOf(config, "contexts"));
  }
  if (const std::string_view ns = context->StringAt({"namespace"}); !ns.empty()) {
    out.namespace_ = ns;
  }
  const Reader reader{source, folder};
  const std::string cluster_name(context->StringAt({"cluster"}));
  const Value* const cluster = FindNamed(config, "clusters", "cluster", cluster_name);
  if (cluster == nullptr) {
    return Error(Reason::kInvalid,
                 std::string(source) + ": context \"" + out.context + "\" names cluster \"" +
                     cluster_name +
                     "\", which does not exist; clusters: " + NamesOf(config, "clusters"));
  }
  ALLOT_RETURN_IF_ERROR(reader.Cluster(*cluster, "clusters[" + cluster_name + "]", out));
  const std::string user_name(context->StringAt({"user"}));
  if (const Value* const user = FindNamed(config, "users", "user", user_name); user != nullptr) {
    ALLOT_RETURN_IF_ERROR(reader.User(*user, "users[" + user_name + "]", out));
  } else if (!user_name.empty()) {
    return Error(Reason::kInvalid,
                 std::string(source) + ": context \"" + out.context + "\" names user \"" +
                     user_name + "\", which does not exist; users: " + NamesOf(config, "users"));
  }
  return out;
}

base::Result<ClientConfig> LoadKubeconfig(const std::string& path,
                                          const KubeconfigOptions& options) {
  ALLOT_ASSIGN_OR_RETURN(const std::string yaml, ReadFile(path));
  const std::size_t slash = path.rfind('/');
  return ParseKubeconfig(
      yaml, path, slash == std::string::npos ? "" : path.substr(0, slash), options);
}

std::string FormatKubeconfig(const ClientConfig& config, std::string_view name) {
  const auto named = [name](std::string_view field, Value inner) {
    Value entry = Value::Object();
    entry.Set("name", Value(name));
    entry.Set(field, std::move(inner));
    Value list = Value::Array();
    list.Append(std::move(entry));
    return list;
  };
  Value cluster = Value::Object();
  cluster.Set("server", Value(config.server));
  if (!config.ca_pem.empty()) {
    cluster.Set("certificate-authority-data", Value(EncodeBase64(config.ca_pem)));
  }
  if (config.insecure_skip_tls_verify) {
    cluster.Set("insecure-skip-tls-verify", Value(true));
  }
  Value user = Value::Object();
  if (!config.certificate_pem.empty()) {
    user.Set("client-certificate-data", Value(EncodeBase64(config.certificate_pem)));
    user.Set("client-key-data", Value(EncodeBase64(config.key_pem)));
  }
  if (!config.token.empty()) {
    user.Set("token", Value(config.token));
  }
  Value context = Value::Object();
  context.Set("cluster", Value(name));
  context.Set("user", Value(name));
  if (config.namespace_ != "default") {
    context.Set("namespace", Value(config.namespace_));
  }
  Value root = Value::Object();
  root.Set("apiVersion", Value("v1"));
  root.Set("kind", Value("Config"));
  root.Set("clusters", named("cluster", std::move(cluster)));
  root.Set("users", named("user", std::move(user)));
  root.Set("contexts", named("context", std::move(context)));
  root.Set("current-context", Value(name));
  return text::ToYaml(root);
}

base::Result<void> WriteFileAtomically(const std::string& path, std::string_view text) {
  struct stat old{};
  const bool device = ::stat(path.c_str(), &old) == 0 && !S_ISREG(old.st_mode);
  // A rename would put a file in the place of a device or pipe such as /dev/null.
  const std::string fresh = device ? path : path + ".new-" + std::to_string(::getpid());
  const int fd = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) {
    return Error(Reason::kInternalError, "cannot write " + fresh + ": " + std::strerror(errno));
  }
  const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                       (device || ::fsync(fd) == 0);
  const int failure = errno;
  ::close(fd);
  if (!written || (!device && ::rename(fresh.c_str(), path.c_str()) != 0)) {
    const std::string cause = std::strerror(written ? errno : failure);
    if (!device) {
      ::unlink(fresh.c_str());
    }
    return Error(Reason::kInternalError, "cannot write " + path + ": " + cause);
  }
  return {};
}

}  // namespace allot::client
