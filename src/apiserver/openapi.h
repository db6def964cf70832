// OpenAPI v3 documents, one a group version, made from the descriptor tables at first need.
//
// They hold what kubectl uses: the schema of every type with patch and list keys, defaults and docs
// (validation, explain, three-way apply), and a PATCH operation a kind (capability probe).
// Thread safety: loop thread only.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "apiserver/exchange.h"
#include "apiserver/resources.h"

namespace allot::apiserver {

class OpenApi {
 public:
  /// REQUIRES: `resources` outlives it.
  OpenApi(const ResourceSet& resources, std::string version);

  /// Answers /openapi/v3 and /openapi/v3/...
  void Serve(Exchange& exchange, std::string_view path) const;

  /// The document of "api/v1" or "apis/<group>/<version>"; empty when nothing is served there.
  [[nodiscard]] std::string MakeDocument(std::string_view name) const;

 private:
  struct Document {
    std::string body;
    std::string hash;
  };
  const Document* Find(std::string_view name) const;
  void ServeIndex(Exchange& exchange) const;

  const ResourceSet& resources_;
  std::string version_;
  /// Made at first need, then kept: by name, "apis/resource.k8s.io/v1".
  mutable std::map<std::string, Document, std::less<>> documents_;
};

}  // namespace allot::apiserver
