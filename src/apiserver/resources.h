// ResourceSet: what this server serves, each resource with its strategy, its place in the store
// and, where the served kind is not the stored one, its conversion. Thread safety: immutable after
// Make.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/gates.h"
#include "api/registry.h"
#include "api/strategy.h"
#include "apiserver/any_object.h"
#include "base/status.h"
#include "store/store.h"

namespace allot::apiserver {

/// Between a served kind and the kind that is stored for it. Both directions fill an empty draft
/// and may share memory with `from`, which the caller keeps alive.
struct Conversion {
  const schema::TypeDesc* stored = nullptr;
  void (*to_stored)(const void* from, AnyDraft& to) = nullptr;
  void (*from_stored)(const void* from, AnyDraft& to) = nullptr;
};

struct Resource {
  const api::KindInfo* info = nullptr;
  /// Null: nothing is stored (bindings and reviews).
  const api::Strategy* strategy = nullptr;
  /// Null: the served kind is the stored one.
  const Conversion* conversion = nullptr;
  store::ResourceId store_id{};
  std::string storage_path;

  [[nodiscard]] const schema::TypeDesc& stored_type() const {
    return conversion != nullptr ? *conversion->stored : *info->type;
  }
  /// The key inside the resource: "namespace/name" or "name".
  [[nodiscard]] std::string KeyOf(std::string_view ns, std::string_view name) const;
  /// The key as upstream prints it: "/registry/configmaps/ns/name".
  [[nodiscard]] std::string RegistryKey(std::string_view ns, std::string_view name) const;
};

/// `--runtime-config`: which versions and resources are served.
class RuntimeConfig {
 public:
  RuntimeConfig() = default;
  /// Parses `api/all=false,resource.k8s.io/v1beta1=true,...`. Errors: kBadRequest.
  [[nodiscard]] static base::Result<RuntimeConfig> Parse(std::string_view text);
  [[nodiscard]] bool Serves(const api::KindInfo& info) const;

 private:
  struct Setting {
    std::string name;
    bool on = true;
  };
  [[nodiscard]] const Setting* Find(std::string_view name) const;

  std::vector<Setting> settings_;
};

class ResourceSet {
 public:
  /// Registers the stored resources with the store. Errors: of the store.
  [[nodiscard]] static base::Result<ResourceSet> Make(store::Store& store,
                                                      const api::GateSet& gates,
                                                      const RuntimeConfig& config);

  [[nodiscard]] std::span<const Resource> all() const { return resources_; }
  /// Null when this server does not serve it.
  [[nodiscard]] const Resource* Find(std::string_view group,
                                     std::string_view version,
                                     std::string_view plural) const;
  [[nodiscard]] bool HasGroup(std::string_view group) const;

 private:
  std::vector<Resource> resources_;
};

/// The conversion of events.k8s.io/v1 Event, which is stored as core/v1 Event.
[[nodiscard]] const Conversion& EventConversion();

}  // namespace allot::apiserver
