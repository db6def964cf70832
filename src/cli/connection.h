// Connection: which server a verb talks to (kubectl's rules for flags, $KUBECONFIG and
// ~/.kube/config).
//
// Order: --kubeconfig, $KUBECONFIG (first file that exists), ./allot.kubeconfig, ~/.kube/config.
// Thread safety: one thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "cli/io.h"
#include "client/rest.h"
#include "text/value.h"

namespace allot::cli {

/// Flags that every verb with a server has.
struct ConnectionFlags {
  std::string kubeconfig;
  std::string context;
  std::string server;
  std::string token;
  std::string as;
  std::string namespace_;
  bool all_namespaces = false;
};

class Connection {
 public:
  /// Errors: kNotFound with the places that were looked at; those of LoadKubeconfig.
  [[nodiscard]] static base::Result<Connection> Open(const Io& io, const ConnectionFlags& flags);

  [[nodiscard]] client::RestClient& rest() { return *rest_; }
  /// The namespace to work in; "" with --all-namespaces.
  [[nodiscard]] const std::string& namespace_() const { return namespace__; }
  [[nodiscard]] bool all_namespaces() const { return all_namespaces_; }

  /// GETs `target` and parses the JSON answer; warnings of the server go to io.err.
  [[nodiscard]] base::Result<text::Value> GetJson(const std::string& target,
                                                  std::string_view accept = "application/json");
  /// Sends a request and parses the JSON answer; warnings of the server go to io.err.
  [[nodiscard]] base::Result<text::Value> SendJson(client::RestRequest request);

 private:
  const Io* io_ = nullptr;
  std::unique_ptr<client::RestClient> rest_;
  std::string namespace__;
  bool all_namespaces_ = false;
};

/// "Error from server (NotFound): pods \"x\" not found" or "error: ...", as kubectl words it, with
/// a line end.
[[nodiscard]] std::string ErrorText(const base::Status& status);

}  // namespace allot::cli
