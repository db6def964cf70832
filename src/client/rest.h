// RestClient: plain HTTP requests to one API server, for tools that work on any kind as JSON
// (kubectl-like verbs).
//
// Owns its event loop and thread. Thread safety: any thread; stream callbacks run on the loop's
// thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "client/kubeconfig.h"

namespace allot::client {

struct RestRequest {
  std::string method = "GET";
  std::string target;        // "/api/v1/namespaces?limit=5", percent-encoded
  std::string content_type;  // of the body
  std::string accept = "application/json";
  std::string body;
  std::chrono::milliseconds timeout{0};  // 0 = none
};

struct RestResponse {
  int status = 0;
  std::string content_type;
  std::string body;
  std::vector<std::string> warnings;  // texts of the Warning headers
};

class RestClient {
 public:
  /// Checks the configuration; connects at the first request.
  [[nodiscard]] static base::Result<std::unique_ptr<RestClient>> Create(
      const ClientConfig& config, std::string_view user_agent);
  virtual ~RestClient() = default;
  RestClient(const RestClient&) = delete;
  RestClient& operator=(const RestClient&) = delete;

  /// Sends a request and waits. Answers of 400 and above become the Status in the body.
  /// Errors: the API's own; kServiceUnavailable and kTimeout when the server cannot be reached.
  [[nodiscard]] virtual base::Result<RestResponse> Send(const RestRequest& request) = 0;

  /// Sends a request and hands out the answer line by line until it ends, `on_line` returns false,
  /// or stop.
  [[nodiscard]] virtual base::Result<void> Stream(
      const RestRequest& request,
      const std::function<bool(std::string_view line)>& on_line,
      const std::stop_token& stop) = 0;

  [[nodiscard]] virtual const ClientConfig& config() const = 0;

 protected:
  RestClient() = default;
};

/// The Status of an error answer: the metav1.Status in `body`, else one made from the code and the
/// text.
[[nodiscard]] base::Status StatusFromBody(int code, std::string_view body);

/// Percent-encodes a query value or path segment.
[[nodiscard]] std::string EscapeUrl(std::string_view text);

}  // namespace allot::client
