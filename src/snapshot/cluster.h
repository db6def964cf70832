// Cluster: objects of a cluster read from files: dumps of kubectl, manifests, lists, any mix.
//
// The same object twice (kind, namespace, name): the later one counts. Thread safety: values.
// Lifetime: a cluster owns its objects; moving it does not move them.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/core/v1.gen.h"
#include "api/resource/v1.gen.h"
#include "base/arena.h"
#include "base/status.h"

namespace allot::text {
class Value;
}

namespace allot::snapshot {

class Cluster {
 public:
  Cluster();
  ~Cluster();
  Cluster(Cluster&&) noexcept;
  Cluster& operator=(Cluster&&) noexcept;

  /// Reads every object of a YAML or JSON text (several documents, `kind: List`, JSON lines).
  /// Fields that the API server would default are filled in. `source` names the text in errors.
  /// Errors: kBadRequest with source and document.
  [[nodiscard]] base::Result<void> Add(std::string_view text, std::string_view source);

  std::vector<const api::core::Node*> nodes;
  std::vector<const api::core::Pod*> pods;
  std::vector<const api::resource::ResourceSlice*> slices;
  std::vector<const api::resource::DeviceClass*> classes;
  std::vector<const api::resource::ResourceClaim*> claims;
  std::vector<const api::resource::ResourceClaimTemplate*> templates;
  std::vector<const api::resource::DeviceTaintRule*> rules;
  /// Kinds that were left out, with how often they occurred.
  std::map<std::string, std::size_t> ignored;

  [[nodiscard]] base::Arena& arena() { return *arena_; }

 private:
  [[nodiscard]] base::Result<void> AddValue(const text::Value& value, const std::string& where);
  template <typename T>
  [[nodiscard]] base::Result<void> Keep(const text::Value& value,
                                        const std::string& where,
                                        std::vector<const T*>& list);

  std::unique_ptr<base::Arena> arena_;
  /// Where an object is in its list, by kind, namespace and name.
  std::map<std::string, std::map<std::pair<std::string_view, std::string_view>, std::size_t>>
      index_;
};

}  // namespace allot::snapshot
