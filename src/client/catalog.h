// ResourceCatalog: the resources of a foreign server, read from its discovery documents.
// Thread safety: any thread; what it hands out lives as long as it does.
#pragma once

#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "client/client.h"

namespace allot::client {

/// What to ask /api and /apis for: the aggregated document.
inline constexpr std::string_view kDiscoveryType =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

class ResourceCatalog {
 public:
  /// Appends the resources of one aggregated document. Of each the version of ours is taken where
  /// the server has it, else the server's first. Errors: kInternalError when it is none.
  [[nodiscard]] base::Result<void> Read(std::string_view document,
                                        std::vector<ServedResource>& out);

 private:
  struct Kept {
    std::string group, version, plural, kind;
    Resource resource;
  };
  const Resource* Keep(std::string_view group,
                       std::string_view version,
                       std::string_view plural,
                       std::string_view kind,
                       bool namespaced);

  std::mutex mutex_;
  std::deque<Kept> kept_;
};

}  // namespace allot::client
