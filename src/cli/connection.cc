#include "cli/connection.h"

#include <utility>

#include <unistd.h>

#include "client/kubeconfig.h"
#include "text/json.h"

namespace allot::cli {
namespace {

bool Exists(const std::string& path) {
  return ::access(path.c_str(), R_OK) == 0;
}

base::Result<std::string> FindKubeconfig(const Io& io, const ConnectionFlags& flags) {
  if (!flags.kubeconfig.empty()) {
    return flags.kubeconfig;
  }
  std::string tried;
  std::string list = io.environment("KUBECONFIG");
  const bool named = !list.empty();
  if (!named) {
    list = "./allot.kubeconfig:" + io.environment("HOME") + "/.kube/config";
  }
  while (!list.empty()) {
    const std::size_t colon = list.find(':');
    const std::string path = list.substr(0, colon);
    list = colon == std::string::npos ? "" : list.substr(colon + 1);
    if (Exists(path)) {
      return path;
    }
    tried += (tried.empty() ? "" : ", ") + path;
  }
  return base::Error(base::Reason::kNotFound,
                     "no kubeconfig found (" + std::string(named ? "$KUBECONFIG" : "looked at") +
                         ": " + tried +
                         "); start a server with `allot up` or name one with --kubeconfig");
}

}  // namespace

base::Result<Connection> Connection::Open(const Io& io, const ConnectionFlags& flags) {
  client::ClientConfig config;
  if (flags.server.empty() || !flags.kubeconfig.empty()) {
    ALLOT_ASSIGN_OR_RETURN(const std::string path, FindKubeconfig(io, flags));
    ALLOT_ASSIGN_OR_RETURN(config, client::LoadKubeconfig(path, {.context = flags.context}));
  }
  if (!flags.server.empty()) {
    config.server = flags.server;
  }
  if (!flags.token.empty()) {
    config.token = flags.token;
    config.certificate_pem.clear();
    config.key_pem.clear();
  }
  if (!flags.as.empty()) {
    config.impersonate_user = flags.as;
  }
  Connection connection;
  connection.io_ = &io;
  connection.all_namespaces_ = flags.all_namespaces;
  connection.namespace__ =
      flags.all_namespaces ? "" : (flags.namespace_.empty() ? config.namespace_ : flags.namespace_);
  ALLOT_ASSIGN_OR_RETURN(connection.rest_, client::RestClient::Create(config, "allot"));
  return connection;
}

base::Result<text::Value> Connection::GetJson(const std::string& target, std::string_view accept) {
  return SendJson({.target = target, .accept = std::string(accept)});
}

base::Result<text::Value> Connection::SendJson(client::RestRequest request) {
  ALLOT_ASSIGN_OR_RETURN(const client::RestResponse response, rest_->Send(request));
  for (const std::string& warning : response.warnings) {
    io_->err("Warning: " + warning + "\n");
  }
  return text::ParseJson(response.body);
}

std::string ErrorText(const base::Status& status) {
  const std::string_view reason = base::ReasonText(status.reason());
  const bool local = status.code() == 0 || (status.reason() == base::Reason::kServiceUnavailable &&
                                            status.details() == nullptr);
  if (reason.empty() || local) {
    return "error: " + status.message() + "\n";
  }
  return "Error from server (" + std::string(reason) + "): " + status.message() + "\n";
}

}  // namespace allot::cli
