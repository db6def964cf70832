#include "api/object_key.h"

namespace allot::api {

std::string KeyOf(std::string_view ns, std::string_view name) {
  std::string key;
  key.reserve(ns.size() + name.size() + 1);
  if (!ns.empty()) {
    key.append(ns).push_back('/');
  }
  return key.append(name);
}

std::string KeyOf(const meta::ObjectMeta& metadata) {
  return KeyOf(metadata.namespace_, metadata.name);
}

std::pair<std::string_view, std::string_view> SplitKey(std::string_view key) {
  const std::size_t slash = key.find('/');
  if (slash == std::string_view::npos) {
    return {{}, key};
  }
  return {key.substr(0, slash), key.substr(slash + 1)};
}

}  // namespace allot::api
