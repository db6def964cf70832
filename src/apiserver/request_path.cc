#include "apiserver/request_path.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace allot::apiserver {
namespace {

/// The parts between slashes; an empty one in the middle is kept, and names nothing.
std::vector<std::string> SplitPath(std::string_view path) {
  std::vector<std::string> parts;
  if (path.starts_with('/')) {
    path.remove_prefix(1);
  }
  if (path.ends_with('/')) {
    path.remove_suffix(1);
  }
  std::size_t at = 0;
  while (at < path.size()) {
    const std::size_t slash = std::min(path.find('/', at), path.size());
    parts.emplace_back(path.substr(at, slash - at));
    at = slash + 1;
  }
  return parts;
}

/// These follow a namespace name as its subresources, not as resources inside the namespace.
bool IsNamespaceSubresource(std::string_view part) {
  return part == "status" || part == "finalize";
}

}  // namespace

RequestPath ParsePath(std::string_view path) {
  RequestPath out;
  std::vector<std::string> parts = SplitPath(path);
  std::size_t at = 0;
  if (parts.size() >= 3 && parts[0] == "api") {
    out.version = parts[1];
    at = 2;
  } else if (parts.size() >= 4 && parts[0] == "apis") {
    out.group = parts[1];
    out.version = parts[2];
    at = 3;
  } else {
    return out;
  }
  out.resource_request = true;
  if (parts[at] == "namespaces" && parts.size() > at + 2 &&
      !IsNamespaceSubresource(parts[at + 2])) {
    out.name_space = parts[at + 1];
    at += 2;
  }
  const auto take = [&](std::string& to) {
    if (at < parts.size()) {
      to = std::move(parts[at++]);
    }
  };
  take(out.resource);
  take(out.name);
  take(out.subresource);
  for (; at < parts.size(); ++at) {
    out.rest += (out.rest.empty() ? "" : "/") + parts[at];
  }
  if (out.resource == "namespaces" && out.group.empty()) {
    out.name_space = out.name;  // a namespace lies in itself, as upstream's request info has it
  }
  return out;
}

bool QueryBool(const net::QueryParameters& query, std::string_view name) {
  const std::optional<std::string_view> value = query.Find(name);
  return value && *value != "false" && *value != "0";
}

}  // namespace allot::apiserver
