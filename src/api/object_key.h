// The key of an object among its kind: "namespace/name", or the name alone of what has no
// namespace. Caches and queues go by it, texts for people show it. Thread safety: stateless.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "api/meta/v1.gen.h"

namespace allot::api {

[[nodiscard]] std::string KeyOf(std::string_view ns, std::string_view name);
[[nodiscard]] std::string KeyOf(const meta::ObjectMeta& metadata);
/// The namespace (empty when there is none) and the name. Lifetime: the key.
[[nodiscard]] std::pair<std::string_view, std::string_view> SplitKey(std::string_view key);

}  // namespace allot::api
