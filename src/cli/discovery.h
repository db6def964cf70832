// Discovery: the resources a server has, and how people name them (pods, po, pod,
// resourceclaims.resource.k8s.io). Thread safety: one thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "cli/connection.h"

namespace allot::cli {

struct ApiResource {
  std::string group;  // "" = core
  std::string version;
  std::string plural;
  std::string singular;
  std::string kind;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  std::vector<std::string> verbs;
  bool namespaced = true;

  /// "v1", "resource.k8s.io/v1".
  [[nodiscard]] std::string ApiVersion() const {
    return group.empty() ? version : group + "/" + version;
  }
  /// "pods", "resourceclaims.resource.k8s.io".
  [[nodiscard]] std::string FullName() const {
    return group.empty() ? plural : plural + "." + group;
  }
  /// "pod", "resourceclaim.resource.k8s.io": the prefix of -o name.
  [[nodiscard]] std::string ShortForm() const {
    return group.empty() ? singular : singular + "." + group;
  }
  /// "/api/v1/namespaces/ns/pods/name"; without namespace or name where those are "".
  [[nodiscard]] std::string Path(std::string_view ns, std::string_view name = {}) const;
};

class Discovery {
 public:
  /// Asks the server for all its resources (two requests).
  [[nodiscard]] static base::Result<Discovery> Load(Connection& connection);

  /// The resource that `text` names, as kubectl resolves it: plural, singular, short name or kind,
  /// any of them with ".group" or ".version.group". Errors: kNotFound with kubectl's text and a
  /// near name.
  [[nodiscard]] base::Result<const ApiResource*> Find(std::string_view text) const;
  /// The resource of a manifest. Errors: kNotFound with kubectl's text (no matches for kind ...).
  [[nodiscard]] base::Result<const ApiResource*> FindKind(std::string_view api_version,
                                                          std::string_view kind) const;
  [[nodiscard]] const std::vector<ApiResource>& all() const { return resources_; }

 private:
  void AddGroup(const text::Value& group);

  std::vector<ApiResource> resources_;  // preferred versions before others
};

/// A server and what it has: what nearly every verb begins with.
struct Server {
  Connection connection;
  Discovery discovery;

  /// Errors: those of Connection::Open and Discovery::Load.
  [[nodiscard]] static base::Result<Server> Open(const Io& io, const ConnectionFlags& flags);
};

}  // namespace allot::cli
