// Discovery: which groups, versions and resources are served, in the plain and the aggregated form.
// Thread safety: immutable after construction.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "apiserver/exchange.h"
#include "apiserver/resources.h"

namespace allot::apiserver {

class Discovery {
 public:
  explicit Discovery(const ResourceSet& resources);

  /// Answers /, /api, /apis and what lies under them without naming a resource. False when the path
  /// is none of these.
  bool Serve(Exchange& exchange, std::string_view path) const;

 private:
  struct Document {
    std::string body;
    std::string etag;
  };

  std::map<std::string, std::string, std::less<>> plain_;  // by path, as JSON
  Document aggregated_core_;
  Document aggregated_groups_;
};

}  // namespace allot::apiserver
