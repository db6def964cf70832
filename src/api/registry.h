// Registry of kinds: what the API server serves, as data (schemas/resources.yaml).
//
// One row a resource and version: names for discovery and routes, verbs, subresources and the table
// of its type. Which of them a server offers is decided by its runtime configuration and gates;
// this is the whole list. Thread safety: constant data.
#pragma once

#include <span>
#include <string_view>

#include "schema/type_desc.h"

namespace allot::api {

/// `resource/name` and the kind of its bodies.
struct SubresourceInfo {
  std::string_view name;  // "status", "binding", ...
  std::string_view group;
  std::string_view version;
  std::string_view kind;
  std::span<const std::string_view> verbs;
  const schema::TypeDesc* type = nullptr;  // of the body
};

struct KindInfo {
  std::string_view group;  // "" = core
  std::string_view version;
  std::string_view api_version;  // "v1", "resource.k8s.io/v1"
  std::string_view kind;         // "ResourceClaim"
  std::string_view
      list_kind;  // "ResourceClaimList"; empty for kinds that are only created (reviews)
  std::string_view resource;  // plural, "resourceclaims"
  std::string_view
      qualified_resource;  // "pods", "resourceclaims.resource.k8s.io": how messages name it
  std::string_view singular;
  bool namespaced = true;
  bool served_by_default = true;  // by a stock server of this Kubernetes version
  std::span<const std::string_view> verbs;
  std::span<const std::string_view> short_names;
  std::span<const std::string_view> categories;
  std::span<const SubresourceInfo> subresources;
  std::string_view storage_version_hash;
  std::string_view gate;  // served only with this gate; empty = always
  const schema::TypeDesc* type = nullptr;
  const schema::TypeDesc* list_type = nullptr;  // null without list_kind

  /// Null when there is no such subresource.
  [[nodiscard]] const SubresourceInfo* FindSubresource(std::string_view name) const;
  [[nodiscard]] bool HasVerb(std::string_view verb) const;
};

/// Every row, by group, version and resource.
[[nodiscard]] std::span<const KindInfo> Kinds();
/// Null when there is no such resource. Cost: O(log n).
[[nodiscard]] const KindInfo* FindResource(std::string_view group,
                                           std::string_view version,
                                           std::string_view resource);
/// The row of a kind, null when there is none. Cost: O(n) over a few dozen rows.
[[nodiscard]] const KindInfo* FindKind(std::string_view group,
                                       std::string_view version,
                                       std::string_view kind);
/// The row whose objects have this table, null when there is none.
[[nodiscard]] const KindInfo* FindType(const schema::TypeDesc& type);

}  // namespace allot::api
