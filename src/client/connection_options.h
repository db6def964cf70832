// From a kubeconfig's facts to the options of an HTTP connection.
// Thread safety: free functions.
#pragma once

#include <string_view>

#include "client/kubeconfig.h"
#include "net/http_client.h"

namespace allot::client {

/// Certificates, token (a token file is read again for each request) and impersonation headers.
[[nodiscard]] net::HttpClientOptions ConnectionOptions(const ClientConfig& config,
                                                       std::string_view user_agent);

}  // namespace allot::client
