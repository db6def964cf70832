// RequestPath: what the path and method of a request ask for, before anything is looked up.
// Thread safety: values.
#pragma once

#include <string>
#include <string_view>

#include "net/http.h"

namespace allot::apiserver {

/// A path under /api or /apis that names a resource, or anything else (`resource_request` false).
struct RequestPath {
  bool resource_request = false;
  std::string group;  ///< "" for core
  std::string version;
  std::string name_space;   ///< "" for all namespaces and for cluster scope
  std::string resource;     ///< plural
  std::string name;         ///< "" for the collection
  std::string subresource;  ///< "" for the main resource
  std::string rest;         ///< what follows the subresource, no leading slash
};

/// Splits a decoded path. `/api/v1/namespaces/x` is the resource namespaces named x;
/// `/api/v1/namespaces/x/pods` is pods in namespace x.
[[nodiscard]] RequestPath ParsePath(std::string_view path);

/// As Go's conversion of query values: present and neither "false" nor "0".
[[nodiscard]] bool QueryBool(const net::QueryParameters& query, std::string_view name);

}  // namespace allot::apiserver
