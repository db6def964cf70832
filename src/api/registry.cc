#include "api/registry.h"

#include <algorithm>
#include <tuple>

namespace allot::api {

const SubresourceInfo* KindInfo::FindSubresource(std::string_view name) const {
  for (const SubresourceInfo& sub : subresources) {
    if (sub.name == name) {
      return &sub;
    }
  }
  return nullptr;
}

bool KindInfo::HasVerb(std::string_view verb) const {
  return std::ranges::find(verbs, verb) != verbs.end();
}

const KindInfo* FindResource(std::string_view group,
                             std::string_view version,
                             std::string_view resource) {
  const auto key = [](const KindInfo& row) {
    return std::tuple(row.group, row.version, row.resource);
  };
  const auto wanted = std::tuple(group, version, resource);
  const auto at = std::ranges::lower_bound(Kinds(), wanted, {}, key);
  return at != Kinds().end() && key(*at) == wanted ? &*at : nullptr;
}

const KindInfo* FindKind(std::string_view group, std::string_view version, std::string_view kind) {
  for (const KindInfo& row : Kinds()) {
    if (row.kind == kind && row.group == group && row.version == version) {
      return &row;
    }
  }
  return nullptr;
}

const KindInfo* FindType(const schema::TypeDesc& type) {
  for (const KindInfo& row : Kinds()) {
    if (row.type == &type) {
      return &row;
    }
  }
  return nullptr;
}

}  // namespace allot::api
