#include "client/catalog.h"

#include <algorithm>

#include "api/meta/v1.gen.h"
#include "client/resources.h"
#include "text/json.h"
#include "text/value.h"

namespace allot::client {
namespace {

using text::Value;

constexpr std::string_view kKind = "APIGroupDiscoveryList";

std::span<const Value> ItemsOf(const Value& value, std::string_view key) {
  const Value* const found = value.Find(key);
  return found != nullptr && found->is_array() ? std::span<const Value>(found->items())
                                               : std::span<const Value>();
}

bool HasVerb(const Value& resource, std::string_view verb) {
  return std::ranges::any_of(ItemsOf(resource, "verbs"),
                             [&](const Value& one) { return one.AsString() == verb; });
}

/// Ours, when the server has it in our version.
const Resource* Own(std::string_view group, std::string_view version, std::string_view plural) {
  for (const Resource& resource : AllResources()) {
    if (resource.group == group && resource.version == version && resource.plural == plural) {
      return &resource;
    }
  }
  return nullptr;
}

bool IsOwnInAnotherVersion(std::string_view group, std::string_view plural, const Value& versions) {
  return std::ranges::any_of(versions.items(), [&](const Value& version) {
    return Own(group, version.StringAt({"version"}), plural) != nullptr &&
           std::ranges::any_of(ItemsOf(version, "resources"), [&](const Value& resource) {
             return resource.StringAt({"resource"}) == plural;
           });
  });
}

}  // namespace

base::Result<void> ResourceCatalog::Read(std::string_view document,
                                         std::vector<ServedResource>& out) {
  const auto list = text::ParseJson(document);
  if (!list || list->StringAt({"kind"}) != kKind) {
    return base::Error(base::Reason::kInternalError,
                       "the server gives no aggregated discovery document (it must be of "
                       "Kubernetes 1.27 or newer)");
  }
  for (const Value& group : ItemsOf(*list, "items")) {
    const std::string_view name = group.StringAt({"metadata", "name"});
    const Value* const versions = group.Find("versions");
    std::vector<std::string_view> seen;
    for (const Value& version : ItemsOf(group, "versions")) {
      const std::string_view version_name = version.StringAt({"version"});
      for (const Value& resource : ItemsOf(version, "resources")) {
        const std::string_view plural = resource.StringAt({"resource"});
        const Resource* found = Own(name, version_name, plural);
        if (std::ranges::find(seen, plural) != seen.end() ||
            (found == nullptr && IsOwnInAnotherVersion(name, plural, *versions))) {
          continue;
        }
        seen.push_back(plural);
        if (found == nullptr) {
          found = Keep(name,
                       version_name,
                       plural,
                       resource.StringAt({"responseKind", "kind"}),
                       resource.StringAt({"scope"}) == "Namespaced");
        }
        out.push_back({.resource = found,
                       .watch = HasVerb(resource, "list") && HasVerb(resource, "watch"),
                       .remove = HasVerb(resource, "delete"),
                       .remove_collection = HasVerb(resource, "deletecollection")});
      }
    }
  }
  return {};
}

const Resource* ResourceCatalog::Keep(std::string_view group,
                                      std::string_view version,
                                      std::string_view plural,
                                      std::string_view kind,
                                      bool namespaced) {
  const std::lock_guard lock(mutex_);
  for (const Kept& kept : kept_) {
    if (kept.group == group && kept.version == version && kept.plural == plural) {
      return &kept.resource;
    }
  }
  Kept& kept = kept_.emplace_back();
  kept.group = group;
  kept.version = version;
  kept.plural = plural;
  kept.kind = kind;
  kept.resource = {kept.group,
                   kept.version,
                   kept.plural,
                   kept.kind,
                   namespaced,
                   &api::Desc<api::meta::PartialObjectMetadata>()};
  return &kept.resource;
}

}  // namespace allot::client
