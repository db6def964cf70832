#include "client/connection_options.h"

#include <fstream>
#include <string>

namespace allot::client {
namespace {

std::string ReadToken(const std::string& path) {
  std::ifstream file(path);
  std::string token;
  std::getline(file, token, '\0');
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r' || token.back() == ' ')) {
    token.pop_back();
  }
  return token;
}

}  // namespace

net::HttpClientOptions ConnectionOptions(const ClientConfig& config, std::string_view user_agent) {
  net::HttpClientOptions options;
  options.server = config.server;
  options.tls.ca_pem = config.ca_pem;
  options.tls.certificate_pem = config.certificate_pem;
  options.tls.key_pem = config.key_pem;
  options.tls.server_name = config.server_name;
  options.tls.insecure_skip_verify = config.insecure_skip_tls_verify;
  options.bearer_token = [token = config.token, file = config.token_file] {
    return file.empty() ? token : ReadToken(file);
  };
  options.headers.Add("user-agent", user_agent);
  if (!config.impersonate_user.empty()) {
    options.headers.Add("impersonate-user", config.impersonate_user);
    for (const std::string& group : config.impersonate_groups) {
      options.headers.Add("impersonate-group", group);
    }
  }
  return options;
}

}  // namespace allot::client
